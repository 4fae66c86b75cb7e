package i18n

// Sentences of errors of imports and the files of other programs.
var (
	IsNotThere = problem("is-not-there",
		"%s is not there",
		"%s 不存在")
	ProjectByIsFolder = problem("project-by-is-folder",
		"--project-by is folder, not %q",
		"--project-by 只能是 folder，不能是 %q")
	NeitherToolNorFolderThere = problem("neither-tool-nor-folder-there",
		"%q is neither a tool (%s) nor a folder that is there",
		"%q 既不是工具（%s），也不是存在的文件夹")
	LooksLikeToolWithoutTalk = problem("looks-like-tool-without-talk",
		"%s looks like %s, but no talk could be read in it",
		"%s 看起来是 %s，但其中没有可读取的对话")
	SessionsCouldNotBeImported = problem("sessions-could-not-be-imported",
		"%d of %d sessions could not be imported",
		"有 %d 个会话（共 %d 个）无法导入")
	NothingIsConversationOf = problem("nothing-is-conversation-of",
		"nothing in %s is a conversation of %s",
		"%s 中没有 %s 的对话")
	NothingInFolderIsConversationOf = problem("nothing-in-folder-is-conversation-of",
		"nothing in %s is a conversation of %s; a folder is looked through %d levels deep, for what these tools keep, zips and files that end in %s",
		"%s 中没有 %s 的对话；文件夹会查找 %d 层：这些工具保存的内容、zip，以及以 %s 结尾的文件")
	NoConversationsFoundForTools = problem("no-conversations-found-for-tools",
		"no conversations of %s were found; scrollback doctor agents --json lists all places tried",
		"没有找到 %s 的对话；scrollback doctor agents --json 列出查找过的位置")
	ToolKeepsNothingHere = problem("tool-keeps-nothing-here",
		"name a file: %s keeps nothing on this machine by itself",
		"请指定文件：%s 不会自行在本机保存内容")
	NoConversationsInPlaces = problem("no-conversations-in-places",
		"no conversations of %s in %s",
		"没有 %s 的对话，查找过 %s")
	NameFileOrTools = problem("name-file-or-tools",
		"name a file or a folder, or the tools whose files to find: --from all",
		"请指定文件或文件夹，或要查找其文件的工具：--from all")
	NameFileNotTool = problem("name-file-not-tool",
		"name a file: %q is not one of the tools (%s)",
		"请指定文件：%q 不是这些工具之一（%s）")
	IntoAndAsCopyNeedSingleFile = problem("into-and-as-copy-need-single-file",
		"--into and --as-copy are for a single file, and not for what a tool keeps",
		"--into 和 --as-copy 用于单个文件，不用于工具保存的内容")
	PollIsTime = problem("poll-is-time",
		"--poll is a time from 1s, such as 30s or 5m, not %q",
		"--poll 是从 1s 起的一段时间，例如 30s 或 5m，不能是 %q")
	UnknownTool = problem("unknown-tool",
		"unknown tool %q (%s)",
		"未知的工具 %q（%s）")
	NeitherToolNorAbsoluteFolder = problem("neither-tool-nor-absolute-folder",
		"%q is neither a tool (%s) nor an absolute folder",
		"%q 既不是工具（%s），也不是绝对路径的文件夹")
	TooManySessions = problem("too-many-sessions",
		"there are more than %d sessions",
		"会话超过 %d 个")
	MayNotBeRead = problem("may-not-be-read",
		"%s may not be read: the rights are missing",
		"%s 无法读取：没有权限")
	NeitherFolderNorFile = problem("neither-folder-nor-file",
		"%s is neither a folder nor a file",
		"%s 既不是文件夹也不是文件")
	NothingCouldBeRead = problem("nothing-could-be-read",
		"nothing could be read; line %d: %s",
		"什么都无法读取，第 %d 行：%s")
	FileIsEmpty = problem("file-is-empty",
		"the file is empty",
		"文件为空")
	FileHasNoTalk = problem("file-has-no-talk",
		"no message could be read: the file looks like %s, but there is no talk in it",
		"没有可读取的消息：文件看起来是 %s，但其中没有对话")
	FileHasNoConversation = problem("file-has-no-conversation",
		"there is no conversation in the file",
		"文件中没有对话")
	CopySealBroken = problem("copy-seal-broken",
		"the full copy was cut off or changed: its seal does not match",
		"完整副本被截断或更改：封印不符")
	InteractionLacksRole = problem("interaction-lacks-role",
		"an interaction has no message of role %q",
		"交互中没有角色为 %q 的消息")
	NotebookCellTooLarge = problem("notebook-cell-too-large",
		"message %d belongs to a cell of more than %d bytes, which no notebook can hold: export another format",
		"消息 %d 所在的单元格超过 %d 字节，笔记本无法容纳：请改用其他格式导出")
	NotebookHasTooManyCells = problem("notebook-has-too-many-cells",
		"the notebook has %d cells",
		"笔记本有 %d 个单元格")
	SystemCellHasNoInteraction = problem("system-cell-has-no-interaction",
		"a system cell has no interaction",
		"系统单元格没有交互")
	NotebookLongerThan = problem("notebook-longer-than",
		"the notebook is longer than %d bytes",
		"笔记本超过 %d 字节")
	NotebookUnreadable = problem("notebook-unreadable",
		"the notebook cannot be read: %w",
		"无法读取笔记本：%w")
	NotebookFormatUnknown = problem("notebook-format-unknown",
		"only notebooks of nbformat 4 can be read, this one says %.20s",
		"只能读取 nbformat 4 的笔记本，此文件为 %.20s")
	CellHasNoRole = problem("cell-has-no-role",
		"a cell has no role %q",
		"单元格没有角色 %q")
	ModelTextBelongsToCellBefore = problem("model-text-belongs-to-cell-before",
		"what the model says belongs to the cell before it",
		"模型所说的内容属于它前面的单元格")
	NothingToAppend = problem("nothing-to-append",
		"there is nothing to append",
		"没有可追加的内容")
	ModelCellEmpty = problem("model-cell-empty",
		"a cell of the model's cannot be empty",
		"模型的单元格不能为空")
	ZipEntryEncrypted = problem("zip-entry-encrypted",
		"%.80q in the zip is encrypted; unpack it with its password, and import the folder",
		"zip 中的 %.80q 已加密；请用密码解压，再导入文件夹")
	ZipEntryUnpacksTooLarge = problem("zip-entry-unpacks-too-large",
		"%.80q in the zip would unpack to more than %d times of what it takes",
		"zip 中的 %.80q 解压后会超过其大小的 %d 倍")
	ZipEntryPackedUnknown = problem("zip-entry-packed-unknown",
		"%.80q in the zip is packed in a way that is not known; unpack it, and import the folder",
		"zip 中的 %.80q 使用了未知的压缩方式；请解压后导入文件夹")
	ZipEntryDamaged = problem("zip-entry-damaged",
		"%.80q in the zip is damaged: %v",
		"zip 中的 %.80q 已损坏：%v")
	ZipNamesTooLong = problem("zip-names-too-long",
		"the zip lists more than %d MB of names",
		"zip 的文件列表超过 %d MB")
	ZipDamaged = problem("zip-damaged",
		"the zip is damaged, or not all of it is there: %v",
		"zip 已损坏或不完整：%v")
	ZipHasTooManyFiles = problem("zip-has-too-many-files",
		"the zip has more than %d files",
		"zip 中的文件超过 %d 个")
	ZipNameLeadsOutside = problem("zip-name-leads-outside",
		"the zip has a name that leads outside: %.80q",
		"zip 中有指向外部的名称：%.80q")
	ZipFilesLargerThanZip = problem("zip-files-larger-than-zip",
		"the zip says that its files take more bytes than it has",
		"zip 声称其文件占用的字节数超过它本身")
	ZipUnpacksTooLarge = problem("zip-unpacks-too-large",
		"the zip would unpack to more than %d GB",
		"zip 解压后会超过 %d GB")
	BranchEndsBeforeMessage = problem("branch-ends-before-message",
		"branch %s ends before message %d",
		"分支 %s 在消息 %d 之前就结束了")
	ConversationHasNoCopyYet = problem("conversation-has-no-copy-yet",
		"conversation %s has no full copy yet",
		"对话 %s 还没有完整副本")
	ContinuedWhileImported = problem("continued-while-imported",
		"somebody continued conversation %s while it was imported; import the file again",
		"导入期间有人继续了对话 %s，请重新导入文件")
	DeletedHereNotImportedAgain = problem("deleted-here-not-imported-again",
		"%s was purged, and is not imported again by itself: scrollback import --again FILE brings it back",
		"%s 已被彻底删除，不会自动再次导入；要让它回来，请运行 scrollback import --again 文件")
	CannotBeRead = problem("cannot-be-read",
		"%s cannot be read: %s",
		"%s 无法读取：%s")
	ConversationInForeignProject = problem("conversation-in-foreign-project",
		"conversation %s is in a project that is not yours; %s",
		"对话 %s 所在的项目不属于您；%s")
	ConversationInAnotherProject = problem("conversation-in-another-project",
		"conversation %s is in another project; %s",
		"对话 %s 在另一个项目中；%s")
	ConversationInheritsFromOthers = problem("conversation-inherits-from-others",
		"conversation %s inherits from others here; %s",
		"对话 %s 在这里继承自其他对话；%s")
	ConversationDiffersHere = problem("conversation-differs-here",
		"conversation %s says something else here, %s; %s",
		"对话 %s 在这里的内容不同，%s；%s")
	BundleChangedWhileRead = problem("bundle-changed-while-read",
		"the bundle changed while it was read",
		"对话包在读取时发生了变化")
	ArtifactHasWrongSize = problem("artifact-has-wrong-size",
		"artifact %s has %d bytes instead of %d",
		"附件 %s 有 %d 字节，应为 %d 字节")
	OnlyBundleHoldsSegmentFiles = problem("only-bundle-holds-segment-files",
		"only a bundle holds the files of segments",
		"只有对话包包含片段的文件")
	UnknownFormat = problem("unknown-format",
		"unknown format %q (%s)",
		"未知的格式 %q（%s）")
	ReaderGoesBack = problem("reader-goes-back",
		"the reader goes back to message %d of %d",
		"读取器退回到消息 %d（共 %d 条）")
	TooManyCopiesWait = problem("too-many-copies-wait",
		"%d full copies wait to be written already",
		"已有 %d 份完整副本等待写出")
	BundleBringsOwnSummaries = problem("bundle-brings-own-summaries",
		"a bundle brings its own summaries",
		"对话包自带摘要")
	BundleCannotBeMasked = problem("bundle-cannot-be-masked",
		"a bundle comes as it is: it cannot be masked",
		"对话包按原样导入，不能遮盖")
	OnlyBundleBringsIDs = problem("only-bundle-brings-i-ds",
		"only a bundle brings ids that a copy could change",
		"只有对话包带有可在复制时更改的 id")
	BundleCannotBeAdded = problem("bundle-cannot-be-added",
		"a bundle keeps its own conversation: it cannot be added to another",
		"对话包保留自己的对话，不能加入另一个对话")
	FileLooksLike = problem("file-looks-like",
		"the file looks like %s, which cannot be read",
		"此文件看起来是 %s，无法读取")
	NothingInFile = problem("nothing-in-file",
		"there is nothing in the file",
		"文件是空的")
	DatabaseOfNoKnownTool = problem("database-of-no-known-tool",
		"the file is a database, but damaged, or not one of the tools' that are known; name the tool to hear what is missing (%s)",
		"文件是数据库，但已损坏，或不属于任何已知的工具；请指明工具，以了解缺少什么（%s）")
	FileOfNoKnownFormat = problem("file-of-no-known-format",
		"the file is of no format that can be read (%s); line 1 is: %s",
		"文件不是可读取的格式（%s），第 1 行是：%s")
	FileKey = problem("file-key",
		"key",
		"密钥")
	FileParameter = problem("file-parameter",
		"parameter",
		"参数")
	FileChatSessionGitHubCopilotInVSCode = problem("file-chat-session-git-hub-copilot-in-vs-code",
		"a chat session of GitHub Copilot in VS Code",
		"VS Code 中 GitHub Copilot 的聊天会话")
	FileSessionGitHubCopilotCLI = problem("file-session-git-hub-copilot-cli",
		"a session of GitHub Copilot CLI",
		"GitHub Copilot CLI 的会话")
	FileTranscriptCursorAgent = problem("file-transcript-cursor-agent",
		"a transcript of Cursor's agent",
		"Cursor 代理的对话记录")
	FileChatQwenCode = problem("file-chat-qwen-code",
		"a chat of Qwen Code",
		"Qwen Code 的聊天")
	FileExportDeepSeek = problem("file-export-deep-seek",
		"an export of DeepSeek",
		"DeepSeek 的导出文件")
	FileExportGrok = problem("file-export-grok",
		"an export of Grok",
		"Grok 的导出文件")
	FileContextFileKimiCLI = problem("file-context-file-kimi-cli",
		"a context file of Kimi CLI",
		"Kimi CLI 的上下文文件")
	FileWireFileKimiCLI = problem("file-wire-file-kimi-cli",
		"a wire file of Kimi CLI",
		"Kimi CLI 的通信记录")
	FileThreadJan = problem("file-thread-jan",
		"a thread of Jan",
		"Jan 的对话")
	FileConversationLMStudio = problem("file-conversation-lm-studio",
		"a conversation of LM Studio",
		"LM Studio 的对话")
	FileSessionPi = problem("file-session-pi",
		"a session of Pi",
		"Pi 的会话")
	FileChatSillyTavern = problem("file-chat-silly-tavern",
		"a chat of SillyTavern",
		"SillyTavern 的聊天")
	FileGoogleTakeoutGeminiApps = problem("file-google-takeout-gemini-apps",
		"a Google Takeout of Gemini Apps",
		"Gemini 应用的 Google Takeout 导出")
	FileConversationAntigravity = problem("file-conversation-antigravity",
		"a conversation of Antigravity",
		"Antigravity 的对话")
	FileMemoryTrae = problem("file-memory-trae",
		"a memory of Trae, which has no talk",
		"Trae 的记忆，其中没有对话")
	FileBackupCherryStudio = problem("file-backup-cherry-studio",
		"a backup of Cherry Studio",
		"Cherry Studio 的备份")
)
