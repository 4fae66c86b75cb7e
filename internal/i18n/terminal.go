package i18n

// What the chat and the pages of the terminal say.
var (
	WindowHead = label("window-head",
		"%s · policy %s · window %s tokens (%s)",
		"%s · 策略 %s · 窗口 %s 个 token（%s）")
	WindowUsed = label("window-used",
		"%s of %s tokens of the budget, %s; the first %.0f %% are the same as in the request before",
		"%s / 预算 %s 个 token，占 %s；开头的 %.0f %% 与上一次请求相同")
	WindowFrom = label("window-from",
		"from the %s: %s tokens of instructions; %s",
		"来自 %s：%s 个 token 的指令；%s")
	WindowKeptApart = label("window-kept-apart",
		"%d kept sentences that still stand have no room: %s",
		"%d 句仍然有效的话没有空间：%s")
	WindowNoSettings = label("window-no-settings",
		"no settings",
		"没有设置")
	WindowFree = label("window-free",
		"free",
		"空闲")
	WindowBehind = label("window-behind",
		"#1–#%d behind %d",
		"#1–#%d，见 %d 个引用")
	WindowVersion = label("window-version",
		"version %d",
		"第 %d 版")
	WindowSame = label("window-same",
		"unchanged since version %d in #%d",
		"自第 %d 版起没有变化，见 #%d")
	ReferenceNoFolderGranted = label("reference-no-folder-granted",
		"refused: no folder was granted; --root or /add adds one",
		"已拒绝：没有授权任何文件夹；可用 --root 或 /add 添加")
	ReferenceOutsideRoots = label("reference-outside-roots",
		"refused: outside the roots; --root or /add adds one",
		"已拒绝：不在授权的文件夹内；可用 --root 或 /add 添加")
	ReferenceLine = label("reference-line",
		"%s: %s",
		"%s：%s")
	ReferenceUnchanged = label("reference-unchanged",
		"unchanged since version %d, in message #%d",
		"自第 %d 版起没有变化，见消息 #%d")
	ReferenceBetween = label("reference-between",
		"; ",
		"；")
	WebOn = label("web-on",
		"each question now searches the web first; /web ends that",
		"之后每次提问都会先联网搜索；再次输入 /web 关闭")
	WebOff = label("web-off",
		"questions no longer search the web",
		"提问时不再联网搜索")
	WebSearching = label("web-searching",
		"searching the web…",
		"正在联网搜索……")
	WebSearched = label("web-searched",
		"searched the web: %s",
		"已联网搜索：%s")
	WebNothing = label("web-nothing",
		"found nothing",
		"没有找到结果")
	WebFailed = label("web-failed",
		"no web search: %s",
		"未能联网搜索：%s")
	WebSources = label("web-sources",
		"Sources:",
		"来源：")
	ChatGreeting = label("chat-greeting",
		"scrollback · %s · /help lists the commands, Ctrl-D quits",
		"scrollback · %s · /help 列出命令，Ctrl-D 退出")
	ChatResumed = label("chat-resumed",
		"%s · %s messages",
		"%s · %s 条消息")
	ChatResumedOne = label("chat-resumed-one",
		"%s · 1 message",
		"%s · 1 条消息")
	ChatGone = label("chat-gone",
		"%s cannot be asked here (%s); going on with %s, and /model sets another",
		"模型 %s 在此不可用（%s），改用 %s 继续；/model 可更换")
	ChatEarlier = label("chat-earlier",
		"… %s earlier messages",
		"…… 之前还有 %s 条消息")
	ChatEnded = label("chat-ended",
		"To continue later: scrollback chat %s",
		"以后继续：scrollback chat %s")
	ChatPlaceholder = label("chat-placeholder",
		"Ask anything",
		"想问什么？")
	ChatWorking = label("chat-working",
		"answering… Esc stops",
		"正在回答…… Esc 停止")
	ChatLeave = label("chat-leave",
		"Ctrl-C again to quit",
		"再按一次 Ctrl-C 退出")
	ChatStopping = label("chat-stopping",
		"stopping…",
		"正在停止……")
	ChatInterrupted = label("chat-interrupted",
		"interrupted; what was written so far is saved",
		"已中断；已写出的部分已保存")
	ChatAssumed = label("chat-assumed",
		"the window of %s is not known: %s tokens are assumed; --limit sets it",
		"不知道 %s 的上下文窗口有多大，暂按 %s 个 token 计算；可用 --limit 指定")
	ChatCompacting = label("chat-compacting",
		"compacting…",
		"正在压缩……")
	ChatCompacted = label("chat-compacted",
		"compacted #%d–#%d: %s → %s tokens",
		"已压缩 #%d–#%d：%s → %s 个 token")
	ChatNothing = label("chat-nothing",
		"Nothing has been said yet.",
		"还没有任何内容。")
	ChatBehind = label("chat-behind",
		"the search index is being made (%.0f%% so far); what it lacks was searched too, the newest first",
		"搜索索引正在建立（已完成 %.0f%%）；尚未编入的消息也已查找，从最新的开始")
	ChatMeant = problem("chat-meant",
		"No such command: %s; did you mean %s? To send a line that begins with a slash, type two.",
		"没有命令 %s，您是指 %s 吗？要发送以斜杠开头的一行，请写两个斜杠。")
	ChatUnknown = problem("chat-unknown",
		"No such command: %s; /help lists them. To send a line that begins with a slash, type two.",
		"没有命令 %s；/help 列出全部命令。要发送以斜杠开头的一行，请写两个斜杠。")
	ChatMissing = problem("chat-missing",
		"%s needs %s",
		"%s 需要 %s")
	ChatModel = label("chat-model",
		"model: %s",
		"模型：%s")
	ChatTitled = label("chat-titled",
		"title: %s",
		"标题：%s")
	ChatStatus = label("chat-status",
		"%s · %s of %s tokens",
		"%s · %s / %s token")
	ChatNewThread = label("chat-new-thread",
		"new conversation",
		"新对话")
	ChatKeys = label("chat-keys",
		"Alt+Enter, or \\ at the end of a line: new line · Up, Down: earlier questions · @ and Tab: name a file · /: the commands · Esc: stop · Ctrl-C: stop, or twice to quit",
		"Alt+Enter 或行尾的 \\：换行 · 上下键：之前的提问 · @ 加 Tab：引用文件 · /：命令菜单 · Esc：停止 · Ctrl-C：停止，按两次退出")
	ChatOffline = label("chat-offline",
		"the built-in offline model only quotes what was said; choose a real one with --model or /model",
		"内置的 offline 模型只会引用说过的话；用 --model 或 /model 换成真正的模型")
	ChatUnchanged = label("chat-unchanged",
		"Nothing changed: %s.",
		"没有变化：%s。")
	ChatNoReceipts = label("chat-no-receipts",
		"Nothing has been compacted yet.",
		"还没有压缩过。")
	ChatNoPins = label("chat-no-pins",
		"Nothing is pinned.",
		"没有固定的消息。")
	ChatNothingKept = label("chat-nothing-kept",
		"Nothing is kept word for word yet.",
		"还没有逐字保留的内容。")
	ChatNotInKeptList = problem("chat-not-in-kept-list",
		"there is no %d in the last list; /kept shows it",
		"上次的列表中没有第 %d 项；用 /kept 查看")
	ChatNoRefs = label("chat-no-refs",
		"Nothing is compacted or attached.",
		"没有压缩的内容，也没有附件。")
	ChatNoHits = label("chat-no-hits",
		"Nothing found.",
		"没有找到。")
	ChatNoTalks = label("chat-no-talks",
		"No conversations yet. Start one: %s",
		"还没有对话。开始一个：%s")
	ChatNoneHere = label("chat-none-here",
		"No conversations here.",
		"这里没有对话。")
	ChatMatch = label("chat-match",
		"%s match",
		"共 %s 行")
	ChatMatches = label("chat-matches",
		"%s matches",
		"共 %s 行")
	ChatUnread = label("chat-unread",
		"; could not be read: %s",
		"；无法读取：%s")
	ChatMoreUnread = label("chat-more-unread",
		"; could not be read: %s and others",
		"；无法读取：%s 等")
	ChatCutShort = label("chat-cut-short",
		"; the search ran out of time, so there may be more",
		"；搜索超时，可能还有更多")
	ChatAbandoned = label("chat-abandoned",
		" · on an abandoned branch",
		" · 在已放弃的分支上")
	ChatNewFolder = label("chat-new-folder",
		"%s is new and holds no conversations; --data or SCROLLBACK_DATA names another folder.",
		"%s 是新的，里面还没有对话；可用 --data 或 SCROLLBACK_DATA 指定别的文件夹。")
	ChatCleared = label("chat-cleared",
		"cleared",
		"重新开始")
	ChatChecked = label("chat-checked",
		"checked",
		"已核对")
	ChatUndone = label("chat-undone",
		"undone",
		"已撤销")
	ChatInherited = label("chat-inherited",
		"inherited",
		"继承而来")
	ChatPick = label("chat-pick",
		"Conversations",
		"对话")
	ChatPickKeys = label("chat-pick-keys",
		"↑ ↓ choose · Enter continues · / filters · Esc starts a new one",
		"↑ ↓ 选择 · Enter 继续 · / 筛选 · Esc 开始新对话")
	ChatResumeHint = label("chat-resume-hint",
		"/resume N continues one of them",
		"/resume N 继续其中一个对话")
	ChatRewindHint = label("chat-rewind-hint",
		"what stands before a question goes back to where it was asked",
		"问题前的命令可回到提出它的时候")
	ChatBranchHint = label("chat-branch-hint",
		"/branches N switches to the Nth of them",
		"/branches N 切换到第 N 个分支")
	ChatCopyOf = label("chat-copy-of",
		"copy of %s",
		"%s的副本")
	ChatRewound = label("chat-rewound",
		"back at message %s; what followed stays on its branch",
		"回到第 %s 条消息；之后的内容留在它的分支上")
	ChatOnlyThought = label("chat-only-thought",
		"(the model only thought, and gave no answer; these are its thoughts)",
		"（模型只有思考，没有回答；以下是它的思考）")
	ChatSaved = label("chat-saved",
		"saved as %s",
		"已保存为 %s")
	ChatAdded = label("chat-added",
		"the conversation now works in %s too",
		"对话现在也在 %s 中工作")
	ChatNotGranted = label("chat-not-granted",
		"%s is not granted here, and the conversation goes on without it (--root grants it)",
		"此处未授权使用 %s，对话将在没有它的情况下继续（用 --root 授权）")
	ChatFolderGone = label("chat-folder-gone",
		"the folder %s is no longer there, and the conversation goes on without it",
		"文件夹 %s 已不存在，对话将在没有它的情况下继续")
	ChatTypePrompt = label("chat-type-prompt",
		"(type the message; Ctrl-D on a new line ends it)",
		"（请输入消息；在新的一行按 Ctrl-D 结束）")
	ChatNoInput = label("chat-no-input",
		"(nothing came on standard input within %s, so only the prompt is sent; --stdin wait waits for it, --stdin ignore does not look)",
		"（标准输入在 %s 内没有内容，因此只发送提示；--stdin wait 会一直等待，--stdin ignore 则不读取）")
	ChatNoFile = label("chat-no-file",
		"no file in the conversation's folders begins like this",
		"对话的文件夹中没有以此开头的文件")
	ChatMoreFiles = label("chat-more-files",
		"… %s more",
		"…… 还有 %s 个")
	ChatTakesFolder = label("chat-takes-folder",
		"DIR",
		"文件夹")
	ChatTakesConversation = label("chat-takes-conversation",
		"[ID|latest|N]",
		"[ID|latest|序号]")
	ChatTakesSeq = label("chat-takes-seq",
		"[SEQ]",
		"[消息号]")
	ChatTakesKept = label("chat-takes-kept",
		"[drop|done|open N]",
		"[drop|done|open 序号]")
	ChatTakesNumber = label("chat-takes-number",
		"[N]",
		"[序号]")
	ChatTakesFile = label("chat-takes-file",
		"FILE",
		"文件")
	ChatTakesAgent = label("chat-takes-agent",
		"AGENT",
		"代理")
	ChatTakesPattern = label("chat-takes-pattern",
		"PATTERN",
		"正则表达式")
	ChatTakesWords = label("chat-takes-words",
		"WORDS",
		"词语")
	ChatTakesName = label("chat-takes-name",
		"[NAME]",
		"[名称]")
	ChatTakesTitle = label("chat-takes-title",
		"TITLE",
		"标题")
	TroubleCause = label("trouble-cause",
		"the server said: %s",
		"服务器的说明：%s")
	TroubleTodo = label("trouble-todo",
		"what to do: %s",
		"怎么办：%s")
	TroubleAgain = label("trouble-again",
		"to have it answered again: %s",
		"要重新回答：%s")
	TroubleWithout = label("trouble-without",
		"to go on without message #%d: %s",
		"不带第 %d 条消息继续：%s")
	TroubleBack = label("trouble-back",
		"to go back before message #%d: %s",
		"回到第 %d 条消息之前：%s")
	TroubleLeftOut = label("trouble-left-out",
		"left out from the next message on: %s",
		"从下一条消息起不再发送：%s")
	TroubleNobody = label("trouble-nobody",
		"none",
		"无")
	TroubleMark = label("trouble-mark",
		"(%s)",
		"（%s）")
	TroubleWhy = label("trouble-why",
		"%s: %s",
		"%s：%s")
	TroubleInstead = label("trouble-instead",
		"extracts of the messages stand for them: %s",
		"改用消息原文的摘录：%s")
	NotebookCell = label("notebook-cell",
		"cell %d · %s",
		"单元格 %d · %s")
	NotebookElsewhere = label("notebook-elsewhere",
		"%d messages that were added to the conversation elsewhere are not in the notebook; they stay on a branch: scrollback branches %s",
		"有 %d 条消息是在别处加入对话的，不在笔记本中；它们留在一个分支上：scrollback branches %s")
	NotebookCopy = label("notebook-copy",
		"this is a copy of %s: it gets a conversation of its own",
		"这是 %s 的副本，将使用自己的对话")
	NotebookDiffers = label("notebook-differs",
		"conversation %s is not what the cells of this notebook say: it gets one of its own",
		"对话 %s 与此笔记本的单元格不一致，笔记本将使用自己的对话")
	NotebookTakenBack = label("notebook-taken-back",
		"cell %d: what was said before the program ended is now in the file",
		"单元格 %d：程序结束前说的内容已写入文件")
	NotebookLost = label("notebook-lost",
		"a cell that was being run is no longer in the notebook; what was said to it is in the conversation: scrollback show %s",
		"正在运行的单元格已不在笔记本中；对它的回答在对话里：scrollback show %s")
	NotebookBeside = label("notebook-beside",
		"the notebook was changed while the cell ran, so this run is in %s",
		"单元格运行时笔记本被修改，因此本次运行写入 %s")
	NotebookStale = label("notebook-stale",
		"what stands below was run before this cell changed; newly marked stale: %d",
		"下面的单元格是在此单元格改变之前运行的；新标记为过期：%d")
	NotebookBeyond = label("notebook-beyond",
		"the notebook asks for %s: %s",
		"笔记本要求使用 %s：%s")
	NotebookNoModel = label("notebook-no-model",
		"the notebook names the model %s, which is not set up here",
		"笔记本指定的模型 %s 在此处未配置")
	NotebookRunning = label("notebook-running",
		"A cell is being run.",
		"有单元格正在运行。")
	NotebookNotRun = label("notebook-not-run",
		"Not run yet.",
		"尚未运行。")
	NotebookBehind = label("notebook-behind",
		"%d messages behind the last cell are in the conversation only.",
		"最后一个单元格之后有 %d 条消息只在对话中。")
	NotebookAway = label("notebook-away",
		"The conversation is on another branch than the notebook, or its cells have changed since they were run.",
		"对话不在笔记本所在的分支上，或单元格在运行后被修改过。")
	NotebookMade = label("notebook-made",
		"wrote %s",
		"已写入 %s")
)

// Members of the family window-layer.
var (
	_ = label("window-layer/instructions", "instructions", "指令")
	_ = label("window-layer/environment", "environment", "环境")
	_ = label("window-layer/summary", "summary", "摘要")
	_ = label("window-layer/placeholders", "placeholders", "引用")
	_ = label("window-layer/messages", "messages", "消息")
	_ = label("window-layer/prompt", "prompt", "提问")
	_ = label("window-layer/request_only", "request_only", "仅此请求")
)

// Members of the family window-limit.
var (
	_ = label("window-limit/request", "request", "请求指定")
	_ = label("window-limit/conversation", "conversation", "对话设置")
	_ = label("window-limit/project", "project", "项目设置")
	_ = label("window-limit/flag", "flag", "选项指定")
	_ = label("window-limit/config", "config", "配置文件")
	_ = label("window-limit/list", "list", "服务器的模型列表")
	_ = label("window-limit/refusal", "refusal", "服务器拒绝时得知")
	_ = label("window-limit/catalog", "catalog", "内置目录")
	_ = label("window-limit/assumed", "assumed", "暂定")
)

// Members of the family window-reason.
var (
	_ = label("window-reason/folded", "compacted", "已压缩")
	_ = label("window-reason/left_out", "left out", "不再发送")
	_ = label("window-reason/not_compacted", "not compacted yet; the next turn goes on with it", "尚未压缩；下一轮会继续压缩")
	_ = label("window-reason/invalid", "an empty or failed reply", "空的或失败的回答")
	_ = label("window-reason/unfinished", "an interrupted reply", "中断的回答")
	_ = label("window-reason/pinned, and no room", "pinned, and no room", "已固定，但放不下")
)

// Members of the family chat-help.
var (
	_ = label("chat-help/help", "this list", "本列表")
	_ = label("chat-help/new", "begin a new conversation", "开始新对话")
	_ = label("chat-help/resume", "continue another conversation; without an argument, list them", "继续另一个对话；不带参数则列出")
	_ = label("chat-help/rewind", "go back to a message; without an argument, list the questions", "回到某条消息；不带参数则列出之前的提问")
	_ = label("chat-help/without", "leave a message out from the next one on; without an argument, list what is left out", "从下一条消息起不再发送某条消息；不带参数则列出")
	_ = label("chat-help/with", "take a message back that is left out", "重新发送某条消息")
	_ = label("chat-help/retry", "answer the last question again", "重新回答最后一个问题")
	_ = label("chat-help/branches", "list the branches, or switch to one", "列出分支，或切换到其中一个")
	_ = label("chat-help/fork", "continue in a new conversation, from here or from a message", "从这里或某条消息处另开一个对话继续")
	_ = label("chat-help/add", "add a folder to work in", "再加一个工作文件夹")
	_ = label("chat-help/handoff", "let another agent go on with the conversation (claude-code, codex …)", "让另一个代理继续此对话（claude-code、codex 等）")
	_ = label("chat-help/save", "write the conversation to a file (.bundle, .jsonl, .gemini.jsonl)", "把对话写入文件（.bundle、.jsonl 或 .gemini.jsonl）")
	_ = label("chat-help/context", "show what the next request sends", "显示下一次请求会发送的内容")
	_ = label("chat-help/compact", "compact old messages now; refs lead back to them", "立即压缩旧消息；原文可经引用读回")
	_ = label("chat-help/uncompact", "undo the newest compaction", "撤销最近一次压缩")
	_ = label("chat-help/clear", "compact everything so far and start afresh", "压缩到目前为止的全部内容，重新开始")
	_ = label("chat-help/receipts", "list the compactions and what they saved", "列出历次压缩及其节省的空间")
	_ = label("chat-help/pin", "keep a message in sight, or unpin it; without an argument, list the pins", "固定一条消息，压缩后仍逐字可见，再次执行则取消；不带参数则列出")
	_ = label("chat-help/kept", "list what is kept word for word; drop one of the list, tick a to-do off, or take that back", "列出逐字保留的内容；可移除其中一项、把待办标为完成或撤回")
	_ = label("chat-help/refs", "list what is compacted or attached", "列出已压缩或附加的内容")
	_ = label("chat-help/grep", "find lines of this conversation, compacted or not (RE2)", "在本对话中按正则表达式查找行，无论是否已压缩（RE2）")
	_ = label("chat-help/search", "find messages in all conversations by words", "按词语查找所有对话中的消息")
	_ = label("chat-help/model", "show the model, or choose another", "显示或更换模型")
	_ = label("chat-help/web", "search the web before each answer, or no longer", "回答前先联网搜索，再次执行则关闭")
	_ = label("chat-help/title", "give the conversation a title", "给对话起标题")
	_ = label("chat-help/quit", "quit", "退出")
	_ = label("chat-help/exit", "quit", "退出")
)

// Members of the family compaction-result.
var (
	_ = label("compaction-result/compacted", "compacted", "已压缩")
	_ = label("compaction-result/noop", "there is nothing to compact yet", "目前没有可压缩的内容")
	_ = label("compaction-result/inflated", "compacting would save next to nothing", "压缩几乎省不下空间")
	_ = label("compaction-result/empty_summary", "the model gave no usable summary", "模型没有给出可用的摘要")
	_ = label("compaction-result/model_error", "the model failed to write a summary", "模型未能写出摘要")
	_ = label("compaction-result/conflict", "the conversation changed meanwhile; try again", "对话同时发生了变化，请重试")
)

// Members of the family turn-state.
var (
	_ = label("turn-state/open", "still being answered", "正在回答")
	_ = label("turn-state/interrupted", "interrupted", "已中断")
	_ = label("turn-state/failed", "failed", "失败")
	_ = label("turn-state/over_budget", "does not fit the window", "超出窗口")
	_ = label("turn-state/complete", "ended early", "提前结束")
)

// Members of the family finish-reason.
var (
	_ = label("finish-reason/max_steps", "the model had used up its look-ups and was told to answer", "模型已用完查阅次数，只好直接作答")
	_ = label("finish-reason/length", "the answer reached the length the model may write", "回答达到了模型可写的最大长度")
	_ = label("finish-reason/truncated", "the answer broke off without an end", "回答没有写完就断开了")
	_ = label("finish-reason/bound", "the answer exceeded a bound and was stopped", "回答超出上限，已停止")
)

// Members of the family advice.
var (
	_ = label("advice/set_key", "set a key", "设置密钥")
	_ = label("advice/check_key", "check the key", "检查密钥")
	_ = label("advice/top_up", "top up the account, or use another key", "给账户充值，或换一个密钥")
	_ = label("advice/check_address", "check the address of the server, and whether it runs", "检查服务器地址，以及它是否在运行")
	_ = label("advice/choose_model", "choose another model: scrollback models lists them", "换一个模型：用 scrollback models 查看")
	_ = label("advice/raise_limit", "set a larger window, or shorten the request", "调大窗口，或缩短请求")
	_ = label("advice/rephrase", "say it in other words, or choose another model", "换一种说法，或换一个模型")
	_ = label("advice/wait", "wait a while, then try again", "稍等一会儿再试")
	_ = label("advice/retry", "try again", "再试一次")
	_ = label("advice/leave_out", "the same request will be refused again: choose another model, go back, or leave the message out", "同样的请求还会被拒绝：换一个模型，退回去，或者不带这条消息继续")
)

// Members of the family advice-setting.
var (
	_ = label("advice-setting/set_key", "set %s", "设置 %s")
	_ = label("advice-setting/check_key", "check the key in %s", "检查 %s 中的密钥")
	_ = label("advice-setting/top_up", "top up the account, or put another key in %s", "给账户充值，或在 %s 中换一个密钥")
	_ = label("advice-setting/check_address", "check the address in %s, and whether the server runs", "检查 %s 中的地址，以及服务器是否在运行")
	_ = label("advice-setting/raise_limit", "set a larger window with %s, or shorten the request", "用 %s 调大窗口，或缩短请求")
)
