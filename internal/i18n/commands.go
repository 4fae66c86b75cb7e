package i18n

// Sentences of errors of the command line.
var (
	NoNumberInLastList = problem("no-number-in-last-list",
		"there is no number %d in the last list here, which has %d: run scrollback list again",
		"此终端上一次的列表没有第 %d 个，共 %d 个：请重新运行 scrollback list")
	NotHostAndPort = problem("not-host-and-port",
		"%q is not HOST:PORT",
		"%q 不是“主机:端口”")
	ClientUnknown = problem("client-unknown",
		"%q is not a program that is known here: %s",
		"不认识程序 %q：%s")
	ClientNotInstalled = problem("client-not-installed",
		"%s is not on PATH: install %s first",
		"PATH 中没有 %s：请先安装 %s")
	AgentIsOneOf = problem("agent-is-one-of",
		"no agent is called %q; known are %s",
		"没有名为 %q 的代理；已知的有 %s")
	HandedOverAs = problem("handed-over-as",
		"a conversation is handed over as native or brief, not %q",
		"对话以 native 或 brief 的方式移交，不能是 %q")
	NothingToHandOver = problem("nothing-to-hand-over",
		"nothing was said in it yet",
		"其中还没有任何内容")
	NothingSaidInFolder = problem("nothing-said-in-folder",
		"no conversation was held in %s: name one (scrollback list)",
		"没有在 %s 中进行过的对话：请指定一个（scrollback list）")
	NoSessionsFor = problem("no-sessions-for",
		"sessions of %s are not written here; of %s they are",
		"无法写出 %s 的会话；可以写出的有 %s")
	SayWhereToGoOn = problem("say-where-to-go-on",
		"it was held in %s, which is not on this machine: say with --folder where the agent goes on",
		"它在 %s 中进行，而本机没有该文件夹：请用 --folder 指定代理在哪里继续")
	AgentTakesNoPrompt = problem("agent-takes-no-prompt",
		"%s is not started with a prompt: paste the brief",
		"%s 不能带提示启动：请粘贴概要")
	FolderIsNotHere = label("folder-is-not-here",
		"It was held in %s, which is not on this machine; it goes on in %s.",
		"它在 %s 中进行，而本机没有该文件夹；将在 %s 中继续。")
	SessionIsBehind = label("session-is-behind",
		"It was handed over before, and has gone on here since: %s stays as it is.",
		"它曾被移交，此后又在这里继续：%s 保持原样。")
	ProgramIsNotHere = label("program-is-not-here",
		"%s is not on PATH: not proven.",
		"PATH 中没有 %s：未经验证。")
	SessionNotProven = label("session-not-proven",
		"%s could not be asked whether it sees the session: not proven.",
		"无法询问 %s 是否看到该会话：未经验证。")
	SessionNotTaken = label("session-not-taken",
		"%s does not take the session, which was removed again: %s",
		"%s 不接受该会话，已将其移除：%s")
	HandsOver = label("hands-over",
		"Hands over “%s” (%s; %d messages)",
		"移交“%s”（%s；%d 条消息）")
	WrittenAsSession = label("written-as-session",
		"as a session of %s: %s",
		"作为 %s 的会话：%s")
	SessionIsItsOwn = label("session-is-its-own",
		"which is a session of %s already",
		"它已经是 %s 的会话")
	PasteBrief = label("paste-brief",
		"Paste this as the first prompt of %s:",
		"将以下内容粘贴为 %s 的首条提示：")
	GoesOnWith = label("goes-on-with",
		"It goes on with:",
		"继续的命令：")
	ClientCannotStart = problem("client-cannot-start",
		"%s cannot be started: %s",
		"无法启动 %s：%s")
	NoServerRespondsAt = problem("no-server-responds-at",
		"no server responds at %s",
		"%s 没有服务器响应")
	RespondsButNotScrollback = problem("responds-but-not-scrollback",
		"what responds at %s is not scrollback (status %d)",
		"在 %s 响应的不是 scrollback（状态 %d）")
	FlagIsNoDay = problem("flag-is-no-day",
		"--%s %q is not a day: write it as 2026-01-31",
		"--%s %q 不是日期：请写成 2026-01-31 的形式")
	FromLaterThanTo = problem("from-later-than-to",
		"--from %s is later than --to %s",
		"--from %s 晚于 --to %s")
	FromNotComeYet = problem("from-not-come-yet",
		"--from %s has not come yet: today is %s",
		"--from %s 还没有到：今天是 %s")
	NoConversationInProjectYet = problem("no-conversation-in-project-yet",
		"there is no conversation in the project %s yet",
		"项目 %s 中还没有对话")
	NameConversationOnce = problem("name-conversation-once",
		"name the conversation once: %s, or --resume %s",
		"对话只需指定一次：%s，或 --resume %s")
	NameConversationOrProject = problem("name-conversation-or-project",
		"name a conversation, or a project with --project",
		"请指定一个对话，或用 --project 指定一个项目")
	ProjectKeptIsOnlyListed = problem("project-kept-is-only-listed",
		"what a project keeps is only listed; name the conversation to change something",
		"项目的保留内容只能列出；要更改请指定对话")
	KeepTakesSeqAndSentence = problem("keep-takes-seq-and-sentence",
		"--keep takes a message number and the sentence, such as --keep 3 'Never delete the backups.'",
		"--keep 需要消息号和原句，例如 --keep 3 '不要删除备份。'")
	AllIsForLists = problem("all-is-for-lists",
		"--all is for the list; leave it out when something is changed",
		"--all 用于列表；更改内容时请去掉")
	AllPrintsEverything = problem("all-prints-everything",
		"--all prints from the first message to the last: leave out --after and --before",
		"--all 从第一条消息显示到最后一条：请不要写 --after 和 --before")
	NewTitleIsEmpty = problem("new-title-is-empty",
		"the new title is empty",
		"新标题为空")
	ProblemsFound = problem("problems-found",
		"problems found",
		"发现问题")
	DatabaseNotCopiedBeforeRepair = problem("database-not-copied-before-repair",
		"nothing was changed, because the database could not be copied: %s",
		"没有更改任何内容，因为无法复制数据库：%s")
	RepairEndedEarly = problem("repair-ended-early",
		"%s (the repair ended early; the database as it was: %s)",
		"%s（修复提前结束；原来的数据库：%s）")
	DataFolderCannotBeMade = problem("data-folder-cannot-be-made",
		"the data folder %s cannot be made: %s",
		"无法创建数据文件夹 %s：%s")
	NoDatabaseCheckName = problem("no-database-check-name",
		"there is no database at %s: check its name (--store, SCROLLBACK_STORE or store in the config file); run, chat, import and serve make one",
		"%s 处没有数据库：请检查名称（--store、SCROLLBACK_STORE 或配置文件中的 store）；run、chat、import 和 serve 会新建数据库")
	DataFolderCannotBeUsed = problem("data-folder-cannot-be-used",
		"the data folder %s cannot be used: %s",
		"数据文件夹 %s 无法使用：%s")
	DataFolderIsFile = problem("data-folder-is-file",
		"the data folder %s is a file",
		"数据文件夹 %s 是一个文件")
	DataFolderBlockedByFile = problem("data-folder-blocked-by-file",
		"the data folder %s cannot be made: %s is a file",
		"无法创建数据文件夹 %s：%s 是一个文件")
	LifetimeIsTime = problem("lifetime-is-time",
		"%s is a time such as 12h, 90d or 2w, not %q",
		"%s 是一段时间，例如 12h、90d 或 2w，不能是 %q")
	CancelTakesOnlyFrom = problem("cancel-takes-only-from",
		"--cancel takes nothing but --from",
		"--cancel 只能与 --from 一起使用")
	NameDatabaseToCopyTo = problem("name-database-to-copy-to",
		"name the database to copy to: --to URL",
		"请指定要复制到的数据库：--to URL")
	ClearNamesNothingOfProject = problem("clear-names-nothing-of-project",
		"--clear %s: the project %s has nothing of this name",
		"--clear %s：项目 %s 没有这个名称的内容")
	RetryTakesConversationOnly = problem("retry-takes-conversation-only",
		"--retry takes a --conversation and no prompt",
		"--retry 需要 --conversation，且不带提示")
	WithoutAndWithNeedConversation = problem("without-and-with-need-conversation",
		"--without and --with take a --conversation",
		"--without 和 --with 需要同时给出 --conversation")
	WatchContradictsReadOnly = problem("watch-contradicts-read-only",
		"--watch imports, and --read-only changes nothing: leave one out",
		"--watch 会导入，而 --read-only 不做任何更改：请去掉其中一个")
	InputIsNotText = problem("input-is-not-text",
		"standard input is not text in UTF-8",
		"标准输入不是 UTF-8 文本")
	InputIsNeitherTextNorImage = problem("input-is-neither-text-nor-image",
		"standard input is neither text in UTF-8 nor an image (PNG, JPEG, GIF or WebP)",
		"标准输入既不是 UTF-8 文本，也不是图片（PNG、JPEG、GIF 或 WebP）")
	InputOverLimit = problem("input-over-limit",
		"standard input is over the limit of %d bytes",
		"标准输入超过 %d 字节的上限")
	NothingReadAsConversation = problem("nothing-read-as-conversation",
		"nothing in %s could be read as a conversation",
		"%s 中没有可作为对话读取的内容")
	SourcesNotImported = problem("sources-not-imported",
		"%d of %d sources could not be imported",
		"有 %d 个来源（共 %d 个）无法导入")
	IsFolder = problem("is-folder",
		"%s is a folder",
		"%s 是文件夹")
	BundleIsBinary = problem("bundle-is-binary",
		"a bundle is binary: name a file with -o, or pipe it on",
		"对话包是二进制文件：请用 -o 指定文件，或通过管道传递")
	FormatIsNotExported = problem("format-is-not-exported",
		"a conversation is not exported as %s: name a file that ends in one of %s, or say the format with --format",
		"对话不能导出为 %s：请给出以 %s 之一结尾的文件名，或用 --format 指定格式")
	FileNameMustEndInOneOf = problem("file-name-must-end-in-one-of",
		"%s: the file's name must end in one of %s",
		"%s：文件名必须以 %s 之一结尾")
	CannotWriteTo = problem("cannot-write-to",
		"cannot write to %s: %w",
		"无法写入 %s：%w")
	NotASeq = problem("not-a-seq",
		"%q is not a seq: 0, 1, 2 …",
		"%q 不是消息号：0、1、2 ……")
	NoBranchInList = problem("no-branch-in-list",
		"there is no branch %d: the list has %d",
		"没有第 %d 个分支：列表共有 %d 个")
	NoConversationsYet = problem("no-conversations-yet",
		"there are no conversations yet",
		"还没有对话")
)
