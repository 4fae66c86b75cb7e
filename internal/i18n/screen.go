package i18n

// What commands say on the terminal.
var (
	MoreCursor = label("more-cursor",
		"more: --cursor %s",
		"还有更多：--cursor %s")
	MorePage = label("more-page",
		"more: --%s %d",
		"还有更多：--%s %d")
	MergeBrought = label("merge-brought",
		"New conversations: %s; with more than before: %s; messages: %s; purged: %s.",
		"新增对话 %s 个，增长的对话 %s 个，消息 %s 条；清除 %s 个。")
	MergeWouldBring = label("merge-would-bring",
		"Would come: new conversations: %s; with more than before: %s; messages: %s; purged: %s.",
		"将新增对话 %s 个，增长的对话 %s 个，消息 %s 条；清除 %s 个。")
	MergeRefused = label("merge-refused",
		"%s: %s does not fit to what is here, and was left out.",
		"%s：%s 与这里的内容不符，已略过。")
	MergeRefusedClock = label("merge-refused-clock",
		"%s: %s was changed by %s at %s, more than a day after now (%s), and was left out. Is that clock right?",
		"%s：%s 由 %s 于 %s 更改，比现在（%s）晚一天以上，已略过。那边的时钟正确吗？")
	MergeWaits = label("merge-waits",
		"%s is being answered here; merge again afterwards.",
		"%s 正在回答；请稍后再次合并。")
	SyncMoved = label("sync-moved",
		"Taken: %s, %s. Given: %s, %s.",
		"收到：%s，%s。送出：%s，%s。")
	SyncWouldMove = label("sync-would-move",
		"Would be taken: %s, %s. Would be given: %s, %s.",
		"将收到：%s，%s。将送出：%s，%s。")
	SyncNothingNew  = label("sync-nothing-new", "Nothing new.", "没有新内容。")
	SyncLastMet     = label("sync-last-met", "%s: last met %s", "%s：上次会合于 %s")
	SyncNeverMet    = label("sync-never-met", "%s: never met", "%s：尚未会合")
	SyncFilesToCome = label("sync-files-to-come", "files to come: %d", "未到的文件：%d")
	SyncPurged      = label("sync-purged",
		"%s conversations were purged elsewhere, and now here.",
		"有 %s 个对话在别处被彻底删除，这里也已删除。")
	SyncOlder = label("sync-older",
		"The remote is in an older state than it was; what it lacked was written again.",
		"远端处于比之前更旧的状态；所缺内容已重新写入。")
	SyncHeld = label("sync-held",
		"%s was purged elsewhere. That is one of more than ten at once, so none was taken; --accept-purges takes them.",
		"%s 在别处被彻底删除。一次超过十个，因此一个也没有执行；用 --accept-purges 执行。")
	SyncRefusedObject = label("sync-refused-object",
		"Refused: %s",
		"已拒绝：%s")
	SyncMissed = label("sync-missed",
		"Could not be carried: %s",
		"无法传送：%s")
	SyncIgnored = label("sync-ignored",
		"Not ours, left alone: %s",
		"不属于本程序，未动：%s")
	SyncDenied = label("sync-denied",
		"The key may not bring %d conversations, %d purges and %d projects there.",
		"此密钥不能把 %d 个对话、%d 次彻底删除和 %d 个项目带到那里。")
	SyncJoined = label("sync-joined",
		"This machine (%s) is a member now.",
		"本机（%s）现已加入。")
	SyncAdded   = label("sync-added", "%s is a member now.", "%s 现已加入。")
	SyncRemoved = label("sync-removed",
		"%s is no member any more: it can read nothing that is written from now on.",
		"%s 不再是成员：此后写入的内容它都无法读取。")
	SyncMade = label("sync-made",
		"The remote is made. Its recovery phrase is shown this once and stored nowhere; write it down:\n\n    %s\n\n"+
			"Another machine joins with it: scrollback sync init REMOTE --phrase -",
		"远端已建立。恢复短语只显示这一次，不会保存在任何地方，请记下：\n\n    %s\n\n"+
			"另一台机器用它加入：scrollback sync init REMOTE --phrase -")
	SyncThisMachine = label("sync-this-machine", "%s (this one)", "%s（本机）")
	ColumnMachine   = label("column-machine", "MACHINE", "机器")
	ColumnRecipient = label("column-recipient", "RECIPIENT", "接收者")
	BackupMade      = label("backup-made",
		"%s: %s with %s and %s, in %s.",
		"%s：%s，包含 %s和 %s，用时 %s。")
	IdentityMade = label("identity-made",
		"Made the identity of this machine: %s\nKeep a copy elsewhere: without it, nobody opens what is encrypted for it.\n"+
			"Its recipient: %s",
		"已创建本机的身份密钥：%s\n请在别处保存一份副本：没有它，就无法打开为它加密的内容。\n它的接收者：%s")
	IdentityLine = label("identity-line",
		"%s  (identity: %s)",
		"%s（身份密钥：%s）")
	BackupRemoved = label("backup-removed",
		"%s was older and is removed.",
		"%s 已过期，已删除。")
	BackupIsWhole = label("backup-is-whole",
		"Whole: made %s, with %s and %s.",
		"完整：创建于 %s，包含 %s和 %s。")
	BackupRestored = label("backup-restored",
		"Restored as it was at %s: %s and %s.",
		"已恢复到 %s 的状态：%s和 %s。")
	PurgeRemoved = label("purge-removed",
		"%s  %s and %s removed",
		"%s  已删除 %s和 %s")
	PurgeKept = label("purge-kept",
		"%s kept, because forks inherit what was said; only the forks can read it",
		"保留了 %s，因为分出的对话继承了这些内容；只有它们能读取")
	PurgeWaiting = label("purge-waiting",
		"%s too new to remove; the next doctor --repair removes the bytes",
		"%s太新，暂不删除；下一次 doctor --repair 会删除其字节")
	InTheTrash = label("in-the-trash",
		" (in the trash)",
		"（在回收站中）")
	HealthReady = label("health-ready",
		"ready",
		"就绪")
	KeysNone = label("keys-none",
		"no keys",
		"没有密钥")
	KeyRevoked = label("key-revoked",
		"%s (%s) is revoked",
		"%s（%s）已撤销")
	KeyShownOnce = label("key-shown-once",
		`This key is shown only now. Send it as "Authorization: Bearer KEY", or sign in with it on the page.`,
		"此密钥只显示这一次。请以 “Authorization: Bearer KEY” 发送，或用它在网页上登录。")
	KeyAllProjects = label("key-all-projects",
		"all projects",
		"全部项目")
	KeyUntilRevoked = label("key-until-revoked",
		"until it is revoked",
		"直到撤销")
	KeyUntil = label("key-until",
		"until %s",
		"有效至 %s")
	KeyNeverUsed = label("key-never-used",
		"never",
		"从未")
	KeyRevokedAt = label("key-revoked-at",
		"revoked %s",
		"已于 %s 撤销")
	KeyExpiredAt = label("key-expired-at",
		"expired %s",
		"已于 %s 过期")
	KeyLimits = label("key-limits",
		"key %s (%s) · chats: %s · tokens a day: %s · money a day: %s",
		"密钥 %s（%s）· 对话：%s · 每日 token：%s · 每日金额：%s")
	KeyDefaultLimit = label("key-default-limit",
		"default",
		"默认")
	KeyUnlimited = label("key-unlimited",
		"unlimited",
		"不限")
	KeyAnyNumberOfChats = label("key-any-number-of-chats",
		"any number of chats",
		"对话不限")
	KeyChats = label("key-chats",
		"%s chats",
		"对话 %s")
	KeyTokensPerDay = label("key-tokens-per-day",
		"%s tokens/d",
		"每日 %s 个 token")
	KeyMoneyPerDay = label("key-money-per-day",
		"%.2f %s/d",
		"每日 %.2f %s")
	RunConversation = label("run-conversation",
		"(conversation %s)",
		"（对话 %s）")
	ProjectDeleted = label("project-deleted",
		"nothing is stored of the project %s any more; its conversations stay",
		"项目 %s 的设置已全部删除；它的对话仍然保留")
	ProjectNothingStored = label("project-nothing-stored",
		"nothing: scrollback projects set %s",
		"未保存：scrollback projects set %s")
	UsageNone = label("usage-none",
		"No model has been asked yet.",
		"还没有调用过模型。")
	UsageTotal = label("usage-total",
		"total",
		"合计")
	UsageImported = label("usage-imported",
		"imported",
		"导入")
	ModelsExplained = label("models-explained",
		"* marks the default. Prices are per million tokens; ? means assumed. Set a provider's key to see its models.",
		"* 表示默认模型。价格按每百万 token 计；? 表示暂定。设置提供商的密钥即可看到它的模型。")
	DoctorProblem = label("doctor-problem",
		"problem",
		"问题")
	DoctorNote = label("doctor-note",
		"note",
		"说明")
	DoctorRepaired = label("doctor-repaired",
		"repaired",
		"已修复")
	DoctorAllIsWell = label("doctor-all-is-well",
		"All is well.",
		"一切正常。")
	DoctorAllIsWellCopy = label("doctor-all-is-well-copy",
		"All is well. The database as it was: %s",
		"一切正常。原来的数据库：%s")
	DoctorLeftCopy = label("doctor-left-copy",
		"%s left. The database as it was: %s",
		"还有 %s。原来的数据库：%s")
	DoctorRepairable = label("doctor-repairable",
		"%s. Nothing was changed; doctor --repair repairs what it can, once the database has been copied.",
		"%s。没有更改任何内容；doctor --repair 会先复制数据库，再修复能修复的部分。")
	DoctorNotRepairable = label("doctor-not-repairable",
		"%s, and nothing to repair from. Nothing was changed.",
		"%s，且没有可用来修复的内容。没有更改任何内容。")
	NotebookConversation = label("notebook-conversation",
		"conversation %s",
		"对话 %s")
	NotebookInterrupted = label("notebook-interrupted",
		"interrupted",
		"已中断")
	NotebookStaleCell = label("notebook-stale-cell",
		"stale",
		"过期")
	NotebookCallsOf = label("notebook-calls-of",
		" (%s)",
		"（%s）")
	CopyLine = label("copy-line",
		"%s  %s  %s bytes",
		"%s  %s  %s 字节")
	ImportedLine = label("imported-line",
		"%s  %s new, %s in all",
		"%s  新增 %s，共 %s")
	ImportAskedModels = label("import-asked-models",
		"models were asked for summaries in %s, and %s could be used; cost %s",
		"为写摘要向模型进行了 %s，其中 %s可用；费用 %s")
	ImportDryRun = label("import-dry-run",
		"Nothing was imported: this is what an import would read.",
		"没有导入任何内容：以上是导入时会读取的内容。")
	ImportFollowing = label("import-following",
		"following; end with Ctrl-C",
		"正在跟随；按 Ctrl-C 结束")
	ImportNotTalk = label("import-not-talk",
		"not talk: %s",
		"非对话内容：%s")
	ImportSumNothingNew = label("import-sum-nothing-new",
		"%s: nothing new",
		"%s：没有新内容")
	ImportSum = label("import-sum",
		"%s: %s in %s",
		"%s：%s，在 %s中")
	ImportSumFailed = label("import-sum-failed",
		"; %s failed",
		"；%s失败")
	ImportSumHere = label("import-sum-here",
		"; %s",
		"；%s")
	ImportBetween = label("import-between",
		"; ",
		"；")
	ImportToolNotes = label("import-tool-notes",
		"%s: %s",
		"%s：%s")
	ImportProgress = label("import-progress",
		"KiB of %s, %s of %s sessions",
		"KiB（%s），会话 %s / %s")
	ImportFileProgress = label("import-file-progress",
		"KiB, %s messages",
		"KiB，%s 条消息")
	AgentRegistered = label("agent-registered",
		"registered",
		"已注册")
	AgentNotRegistered = label("agent-not-registered",
		"not registered",
		"未注册")
	AgentsNotFound = label("agents-not-found",
		"not found: %s",
		"未找到：%s")
	AgentIn = label("agent-in",
		"in %s",
		"位于 %s")
	AgentNothingIn = label("agent-nothing-in",
		"nothing in %s",
		"%s 中没有内容")
	AgentGone = label("agent-gone",
		"%s here and not there any more",
		"%s在此处有，对方已不存在")
	AgentProblem = label("agent-problem",
		"%s %s: %s",
		"%s %s：%s")
	AgentBehind = label("agent-behind",
		"%s behind: scrollback import --from %s, or scrollback watch",
		"%s尚未导入：scrollback import --from %s，或 scrollback watch")
	PointerInEnvironment = label("pointer-in-environment",
		"%s of the environment",
		"环境变量 %s")
	PointerInFile = label("pointer-in-file",
		"%s in %s, line %d",
		"%s，位于 %s 第 %d 行")
	PointerToScrollback = label("pointer-to-scrollback",
		"goes through scrollback at %s (%s)",
		"经过 %s 的 scrollback（%s）")
	PointerToOther = label("pointer-to-other",
		"asks another server at %s (%s)",
		"访问 %s 的另一个服务器（%s）")
	PointerToNobody = label("pointer-to-nobody",
		"points at %s, where nothing answers: start the server there, or remove %s",
		"指向 %s，而那里没有响应：请在那里启动服务器，或删除 %s")
	AgentSettings = label("agent-settings",
		"settings %s",
		"设置 %s")
	AgentRegisterIn = label("agent-register-in",
		"to register: in %s: %s",
		"注册方法：在 %s 中：%s")
	AgentRegister = label("agent-register",
		"to register: %s",
		"注册方法：%s")
	ServeStarted = label("serve-started",
		"scrollback is at %s",
		"scrollback 位于 %s")
	ServeData = label("serve-data",
		"data: %s",
		"数据：%s")
	ServeModel = label("serve-model",
		"model: %s",
		"模型：%s")
	ConfigReadableByOthers = label("config-readable-by-others",
		"%s holds keys and others can read it; chmod 600 it",
		"%s 含有密钥，而其他用户可以读取；请执行 chmod 600")
	MoveCanChangeAgain = label("move-can-change-again",
		"The database can be changed again. What was copied stays where it is.",
		"数据库可以再次更改了。已复制的内容留在原处。")
	MoveCopied = label("move-copied",
		"Copied %s messages and %s other rows, %s in %s (%s).",
		"已复制 %s 条消息和 %s 行其他数据，共 %s，用时 %s（%s）。")
	MoveCopiedObjects = label("move-copied-objects",
		"Copied %s objects, %s; %s were there already.",
		"已复制 %s 个附件，共 %s；%s 个原已存在。")
	MoveDamaged = label("move-damaged",
		"%s artifacts are damaged where they are, and were copied as they are: the log names them.",
		"有 %s 个附件在原处已损坏，已原样复制：日志中列出了它们。")
	MoveCompared = label("move-compared",
		"Compared: %s conversations with %s messages are the same on both sides.",
		"已比较：%s 个对话（%s 条消息）两边相同。")
	MoveClosed = label("move-closed",
		"%s was closed %s ago and can only be read; all of it is on %s. Start the servers there.",
		"%s 已于 %s 前关闭，只能读取；全部内容都在 %s。请在那里启动服务器。")
	MoveStays = label("move-stays",
		"%s stays in use, and notes what changes. Run the command again to go on, and with --finish to close it.",
		"%s 继续使用，并记录更改。再次运行此命令可继续，加 --finish 则关闭它。")
	MoveProgress = label("move-progress",
		"%s: %s of %s conversations, %s messages, %s, %s",
		"%s：对话 %s / %s，%s 条消息，%s，%s")
	MoveLeft = label("move-left",
		", about %s left",
		"，约剩 %s")
	PageReasoning = label("page-reasoning",
		"(reasoning) %s",
		"（思考）%s")
	PageImage = label("page-image",
		"[image %s %s]",
		"[图片 %s %s]")
	PageFile = label("page-file",
		"[file %s %s]",
		"[文件 %s %s]")
	PageWhole = label("page-whole",
		"whole: %s",
		"全文：%s")
	ProgressOf = label("progress-of",
		"[%s%s] %s of %s %s",
		"[%s%s] %s / %s %s")
	ReceiptTokens = label("receipt-tokens",
		"#%d–#%d: %s → %s tokens",
		"#%d–#%d：%s → %s 个 token")
	ReceiptBetween = label("receipt-between",
		", ",
		"，")
)

// Numbers of things. English tells one from many.
var (
	CountOneMessage      = label("count-one-message", "%s message", "%s 条消息")
	CountMessages        = label("count-messages", "%s messages", "%s 条消息")
	CountOneArtifact     = label("count-one-artifact", "%s artifact", "%s 个附件")
	CountArtifacts       = label("count-artifacts", "%s artifacts", "%s 个附件")
	CountOneNewMessage   = label("count-one-new-message", "%s new message", "%s 条新消息")
	CountNewMessages     = label("count-new-messages", "%s new messages", "%s 条新消息")
	CountOneSource       = label("count-one-source", "%s source", "%s 个来源")
	CountSources         = label("count-sources", "%s sources", "%s 个来源")
	CountOneConversation = label("count-one-conversation", "%s conversation", "%s 个对话")
	CountConversations   = label("count-conversations", "%s conversations", "%s 个对话")
	CountOneCall         = label("count-one-call", "%s call", "%s 次调用")
	CountCalls           = label("count-calls", "%s calls", "%s 次调用")
	CountOneSummary      = label("count-one-summary", "%s summary", "%s 份摘要")
	CountSummaries       = label("count-summaries", "%s summaries", "%s 份摘要")
	CountOneWasHere      = label("count-one-was-here", "%s conversation was here already", "%s 个对话已导入过")
	CountWereHere        = label("count-were-here", "%s conversations were here already", "%s 个对话已导入过")
	CountOneIsGone       = label("count-one-is-gone", "%s conversation is", "%s 个对话")
	CountAreGone         = label("count-are-gone", "%s conversations are", "%s 个对话")
	CountOneSessionIs    = label("count-one-session-is", "%s session is", "%s 个会话")
	CountSessionsAre     = label("count-sessions-are", "%s sessions are", "%s 个会话")
	CountOneExcluded     = label("count-one-excluded", "%s session excluded", "%s 个会话被排除")
	CountExcluded        = label("count-excluded", "%s sessions excluded", "%s 个会话被排除")
	CountOneDeletedHere  = label("count-one-deleted-here", "%s session was deleted here", "%s 个会话在此处已删除")
	CountDeletedHere     = label("count-deleted-here", "%s sessions were deleted here", "%s 个会话在此处已删除")
	CountOneHeld         = label("count-one-held", "%s session has an answer that is not complete yet", "%s 个会话的回答尚未完成")
	CountHeld            = label("count-held", "%s sessions have an answer that is not complete yet", "%s 个会话的回答尚未完成")
	CountOneGoneThere    = label("count-one-gone-there", "%s conversation is not there any more; it stays here", "%s 个对话在对方已不存在；在此处保留")
	CountGoneThere       = label("count-gone-there", "%s conversations are not there any more; they stay here", "%s 个对话在对方已不存在；在此处保留")
	CountOneMasked       = label("count-one-masked", "%s secret masked", "遮盖了 %s 个密钥")
	CountMasked          = label("count-masked", "%s secrets masked", "遮盖了 %s 个密钥")
	CountOneLineSkipped  = label("count-one-line-skipped", "%s line skipped", "跳过 %s 行")
	CountLinesSkipped    = label("count-lines-skipped", "%s lines skipped", "跳过 %s 行")
	CountFailed          = label("count-failed", "%s failed", "%s 个失败")
	CountOneProblem      = label("count-one-problem", "%s problem", "%s 个问题")
	CountProblems        = label("count-problems", "%s problems", "%s 个问题")
)
