package i18n

// Sentences of setting agents up.
var (
	InstallNoFile = problem("install-no-file",
		"%s is no file",
		"%s 不是文件")
	InstallTooLarge = problem("install-too-large",
		"%s is too large for a file of settings",
		"%s 太大，不像设置文件")
	InstallFileFault = problem("install-file-fault",
		"%s: %v",
		"%s：%v")
	InstallReadOnly = problem("install-read-only",
		"%s may not be written by its owner, and stays",
		"%s 的所有者没有写入权限，保持不变")
	InstallChangedMeanwhile = problem("install-changed-meanwhile",
		"%s changed while it was looked at, and stays; run this again",
		"%s 在处理期间发生了变化，保持不变；请再运行一次")
	InstallNewerRecord = problem("install-newer-record",
		"%s was written by a newer scrollback",
		"%s 由更新版本的 scrollback 写入")
	InstallBusy = problem("install-busy",
		"another install or uninstall is at work on %s",
		"另一个 install 或 uninstall 正在处理 %s")
	InstallNobody = problem("install-nobody",
		"no agent was found on this machine; --agent names one: %s",
		"本机没有找到任何代理；可用 --agent 指定：%s")
	InstallUnknownAgent = problem("install-unknown-agent",
		"%q is not an agent that can be set up: %s",
		"无法设置代理 %q：可以设置的有 %s")
	InstallRefused = problem("install-refused",
		"%d files were refused; nothing in them was changed",
		"拒绝了 %d 个文件，其中内容没有改变")

	InstallElsewhere = problem("install-elsewhere",
		"this looks like a container, or like a home folder that is somebody else's or mounted from elsewhere; --here writes all the same",
		"这里看起来是容器，或者主文件夹属于他人或从别处挂载；加上 --here 才会写入")

	InstallNotOurs = note("install-not-ours",
		"somebody else wrote it",
		"由他人写入")
	InstallChangedByOthers = note("install-changed-by-others",
		"somebody changed it since",
		"之后被他人更改")
	InstallServerKept = note("install-server-kept",
		"a server scrollback that somebody else wrote is there, and stays",
		"已有他人写入的 scrollback 服务器，予以保留")

	InstallGets = label("install-gets",
		"%s gets %s",
		"%s 将得到：%s")
	InstallMCP = label("install-mcp",
		"the MCP server",
		"MCP 服务器")
	InstallHooks = label("install-hooks",
		"hooks (%s)",
		"钩子（%s）")
	InstallDone = label("install-done",
		"Done. scrollback uninstall leaves each file as it was before.",
		"完成。scrollback uninstall 会让每个文件恢复原样。")
	InstallNothingToDo = label("install-nothing-to-do",
		"Everything is as it should be; nothing was written.",
		"一切就绪，没有写入任何内容。")
	InstallNothingWritten = label("install-nothing-written",
		"Nothing was written.",
		"没有写入任何内容。")
	InstallTakenOut = label("install-taken-out",
		"Done. The data stays.",
		"完成。数据保留不变。")
	InstallNothingOut = label("install-nothing-out",
		"Nothing of scrollback is there.",
		"没有找到 scrollback 写入的内容。")
	InstallForeign = label("install-foreign",
		"%s has a server scrollback already, which somebody else set up: it stays.",
		"%s 已有他人设置的 scrollback 服务器，予以保留。")
	InstallCodexTrust = label("install-codex-trust",
		"Codex asks once whether to trust 2 hooks: answer \"Trust all\". Before that none runs, in codex exec none ever; --trust answers for you.",
		"Codex 会询问一次是否信任 2 个钩子：请选择“Trust all”。在此之前钩子都不会运行，codex exec 也不会；--trust 可代为回答。")
	InstallOpenClaw = label("install-open-claw",
		"OpenClaw loads the plugin, and lets it see prompts, after: %s && %s",
		"执行以下命令后，OpenClaw 才会加载插件并让它看到提问：%s && %s")
	InstallOpenClawRewrites = label("install-open-claw-rewrites",
		"OpenClaw rewrote its settings when it took the plugin; comments in them are gone.",
		"OpenClaw 在接受插件时重写了自己的设置，其中的注释已丢失。")
	InstallCallFailed = label("install-call-failed",
		"%s did not work: %s",
		"%s 没有成功：%s")
	InstallGoesOut = label("install-goes-out",
		"What hooks recall goes with your prompt to the provider of that agent; scrollback itself sends nothing.",
		"钩子找回的内容会随你的提问发送给该代理的服务商；scrollback 自身不发送任何内容。")
	InstallRestart = label("install-restart",
		"Agents that run already have it from their next start.",
		"正在运行的代理下次启动后生效。")
	InstallMended = label("install-mended",
		"%s called %s, which is not there any more; it calls this program from now on.",
		"%s 此前调用的 %s 已不存在；今后将调用本程序。")
	InstallGone = label("install-gone",
		"%s calls %s, which is not there any more: scrollback install %s mends it",
		"%s 调用的 %s 已不存在：运行 scrollback install %s 即可修复")
	InstallNewer = label("install-newer",
		"%s %d.%d.%d is newer than what was tried: it is set up like the newest that was; scrollback doctor agents says whether it asks.",
		"%s %d.%d.%d 比验证过的版本新：按验证过的最新版本设置；是否会来询问，见 scrollback doctor agents。")
	InstallNotTried = label("install-not-tried",
		"%s: this was written by its documentation, and not tried.",
		"%s：按其文档写入，未经实际验证。")

	SetupServerOnly = label("setup-server-only",
		"set up: MCP server",
		"已设置：MCP 服务器")
	SetupHooks = label("setup-hooks",
		"set up: MCP server, hooks (%s)",
		"已设置：MCP 服务器、钩子（%s）")
	SetupMoved = label("setup-moved",
		"calls %s, which is not there any more: scrollback install mends it",
		"调用的 %s 已不存在：运行 scrollback install 即可修复")
	SetupOther = label("setup-other",
		"calls another program, %s",
		"调用的是另一个程序 %s")
	SetupUntrusted = label("setup-untrusted",
		"hooks are not trusted by Codex, which skips them (%s): answer \"Trust all\", or scrollback install --trust",
		"Codex 不信任这些钩子，会跳过它们（%s）：请选择“Trust all”，或运行 scrollback install --trust")
	SetupDoubled = label("setup-doubled",
		"set up twice, also in %s",
		"重复设置，%s 中也有")
	SetupOff = label("setup-off",
		"hooks are switched off in %s",
		"钩子在 %s 中被关闭")
	SetupSilenced = label("setup-silenced",
		"hooks are off here: scrollback hook on --agent %s",
		"钩子已在此关闭：scrollback hook on --agent %s")
	SetupAsked = label("setup-asked",
		"hooks were asked %d times, last %s, spoke %d times, %d ms median",
		"钩子被调用 %d 次，最近一次 %s，答复 %d 次，中位数 %d 毫秒")
	SetupNeverAsked = label("setup-never-asked",
		"hooks were never asked since they were set up: restart the agent",
		"钩子设置后从未被调用：请重新启动该代理")
	SetupSlow = label("setup-slow",
		"too slow: %d of %d answers came after their time and were dropped",
		"太慢：%d / %d 次答复超时，已丢弃")
	HooksAskServer = label("hooks-ask-server",
		"hooks: the scrollback that runs here looks things up for them",
		"钩子：由正在此运行的 scrollback 代为查找")
	HooksLookUpAlone = label("hooks-look-up-alone",
		"hooks: each looks things up by itself; no scrollback serve or watch runs here",
		"钩子：各自查找；此处没有运行 scrollback serve 或 watch")
	HooksNeedServer = label("hooks-need-server",
		"hooks: with PostgreSQL they say nothing unless scrollback serve or watch runs here",
		"钩子：使用 PostgreSQL 时，须在此运行 scrollback serve 或 watch，否则不答复")
	SetupService = label("setup-service",
		"set up: a service that keeps collecting",
		"已设置：持续收集的服务")
	SetupGaveUp = label("setup-gave-up",
		"the service could not start, and gave up at %s: %s; scrollback install --watch starts it again",
		"服务无法启动，已于 %s 放弃：%s；运行 scrollback install --watch 可重新启动")
	WatchGivesUp = label("watch-gives-up",
		"This was tried %d times and gives up; scrollback doctor agents says why.",
		"已尝试 %d 次，现放弃；原因见 scrollback doctor agents。")
	SetupUnreadable = label("setup-unreadable",
		"%s is not in the form that the agent reads, which passes over all of it",
		"%s 的格式代理无法读取，会忽略其全部内容")

	_ = label("install-event/session-start", "start", "开始")
	_ = label("install-event/prompt", "prompt", "提问")
	_ = label("install-event/pre-compact", "compaction", "压缩")
	_ = label("install-event/stop", "end", "结束")

	_ = label("install/new", "new", "新建")
	_ = label("install/insert", "insert", "插入")
	_ = label("install/change", "change", "更改")
	_ = label("install/same", "as it is", "不变")
	_ = label("install/kept", "kept", "保留")
	_ = label("install/delete", "delete", "删除")
	_ = label("install/restore", "as it was before", "恢复原样")
	_ = label("install/take-out", "take out", "移除")
	_ = label("install/refused", "refused", "拒绝")
)

// Why a file of settings is not changed.
var (
	_ = note("settings-too-large", "the file is too large", "文件太大")
	_ = note("settings-cannot-change", "%q cannot be changed here without changing more", "在此更改 %q 会连带更改其他内容")
	_ = note("settings-there-already", "%q is there already", "已有 %q")
	_ = note("settings-not-there", "%q is not there", "没有 %q")
	_ = note("settings-not-table", "%q is not a table", "%q 不是表")
	_ = note("settings-not-list", "%q is not a list", "%q 不是列表")
	_ = note("settings-twice", "%q stands here twice", "%q 在此出现两次")
	_ = note("settings-no-item", "%q has no such item", "%q 中没有这一项")
	_ = note("settings-behind-end", "something stands behind the end", "末尾之后还有内容")
	_ = note("settings-comment", "a comment stands here, and this file may have none", "此处有注释，而该文件不允许注释")
	_ = note("settings-comment-end", "a comment does not end", "注释没有结束")
	_ = note("settings-early", "the file ends too early", "文件过早结束")
	_ = note("settings-deep", "the file is nested too deeply", "文件嵌套太深")
	_ = note("settings-comma", "a comma is missing", "缺少逗号")
	_ = note("settings-last-comma", "a comma stands behind the last value, and this file may have none",
		"最后一个值之后有逗号，而该文件不允许")
	_ = note("settings-name", "a name is missing", "缺少名称")
	_ = note("settings-quoted-name", "a name in quotes is missing", "缺少带引号的名称")
	_ = note("settings-colon", "a colon is missing", "缺少冒号")
	_ = note("settings-text-line", "a text does not end in its line", "文本没有在本行结束")
	_ = note("settings-text-end", "a text does not end", "文本没有结束")
	_ = note("settings-escape", "a text has an escape that is not known", "文本中有未知的转义")
	_ = note("settings-value", "a value is missing", "缺少值")
	_ = note("settings-documents", "more than one document stands here", "此处有不止一个文档")
	_ = note("settings-file-table", "the file is not a table", "文件不是表")
	_ = note("settings-table-begins", "the table begins in a way that is not known", "表的开头形式未知")
	_ = note("settings-no-line", "%q has no line of its own here", "%q 在此没有单独的行")
	_ = note("settings-lists", "lists cannot be changed here", "此处的列表无法更改")
	_ = note("settings-no-head", "%q is not a table with a header of its own here", "%q 在此不是有独立表头的表")
	_ = note("settings-toml", "malformed TOML: %s", "TOML 格式错误：%s")
	_ = note("settings-yaml", "malformed YAML: %s", "YAML 格式错误：%s")
)
