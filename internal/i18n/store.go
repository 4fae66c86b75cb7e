package i18n

// Sentences of errors of what is stored.
var (
	MessagesMissing = problem("messages-missing",
		"of %d messages %d are there",
		"%d 条消息中只有 %d 条")
	ConversationTakenOutOfTrash = problem("conversation-taken-out-of-trash",
		"conversation %s was taken out of the trash",
		"对话 %s 已从回收站取出")
	ThreadPlaceTaken = problem("thread-place-taken",
		"there is an atom of a request at %d of branch %s already", "分支 %[2]s 的 %[1]d 处已有请求的片段")
	TurnIsOpen = problem("turn-is-open",
		"a turn is open in conversation %s",
		"对话 %s 中有一轮正在进行")
	ParentConversationInTrash = problem("parent-conversation-in-trash",
		"the conversation that this sub-agent works for is in the trash: restore %s",
		"这个子代理所服务的对话在回收站中：请恢复 %s")
	ChatLimitReached = problem("chat-limit-reached",
		"the limit of %s chats is reached; the next one can begin in %s",
		"已达到 %s 次对话的上限，%s 后可以再次开始")
	ModelNeedsName = problem("model-needs-name",
		"a model has a name",
		"模型需要名称")
	ConversationInTrashRestoreFirst = problem("conversation-in-trash-restore-first",
		"conversation %s is in the trash: restore it first",
		"对话 %s 在回收站中，请先还原")
	NoBranchInConversation = problem("no-branch-in-conversation",
		"no branch %s in this conversation",
		"此对话中没有分支 %s")
	AnotherRequestCreatesConversation = problem("another-request-creates-conversation",
		"another request creates conversation %s",
		"另一个请求正在创建对话 %s")
	ConversationWasPurged = problem("conversation-was-purged",
		"conversation %s was purged: it comes back under another id only (import --again, or --as-copy of a bundle)",
		"对话 %s 已被彻底删除：它只能以另一个 id 回来（import --again，或对 bundle 使用 --as-copy）")
	ConversationIsHere = problem("conversation-is-here",
		"conversation %s is here",
		"对话 %s 就在这里")
	MetaMustBeObject = problem("meta-must-be-object",
		"meta must be a JSON object",
		"meta 必须是 JSON 对象")
	MetaTooLarge = problem("meta-too-large",
		"meta is at most %d bytes",
		"meta 最多 %d 字节")
	TitleTooLong = problem("title-too-long",
		"a title is at most %d characters",
		"标题最多 %d 个字符")
	InstructionsTooLong = problem("instructions-too-long",
		"instructions are at most %d characters",
		"指令最多 %d 个字符")
	RecallScopeSettingIsOneOf = problem("recall-scope-setting-is-one-of",
		"recall_scope is conversation, project or all, not %q",
		"recall_scope 是 conversation、project 或 all，不能是 %q")
	KeepIsOneOf = problem("keep-is-one-of",
		"keep is conversation or project, not %q",
		"keep 是 conversation 或 project，不能是 %q")
	DoorIsOfProject = problem("door-is-of-project",
		"door is a setting of projects and keys; a conversation has none",
		"door 是项目和密钥的设置，对话没有此设置")
	LimitIsNumberOfTokens = problem("limit-is-number-of-tokens",
		"a limit is a number of tokens, or 0 for the model's own",
		"窗口上限是 token 数，0 表示采用模型自己的上限")
	TooManyPins = problem("too-many-pins",
		"at most %d messages can be pinned",
		"最多可以固定 %d 条消息")
	ConversationAtVersion = problem("conversation-at-version",
		"the conversation is at version %d",
		"此对话的版本是 %d")
	NoConversationWithPrefix = problem("no-conversation-with-prefix",
		"no conversation %q (an id can be cut to %d characters, not less)",
		"没有对话 %q（id 可以缩短到 %d 个字符，不能更短）")
	IDIsAmbiguous = problem("id-is-ambiguous",
		"%s is ambiguous; ids that begin so:%s",
		"%s 不唯一，以此开头的 id 有：%s")
	ListCountsFromOne = problem("list-counts-from-one",
		"the list counts from 1, not %d",
		"列表从 1 开始编号，不能是 %d")
	ListHasNoNumber = problem("list-has-no-number",
		"the list has no number %d",
		"列表中没有第 %d 项")
	ConversationIDMustBeUUID = problem("conversation-id-must-be-uuid",
		"the id of a conversation must be a UUID",
		"对话的 id 必须是 UUID")
	WindowLimitReached = problem("window-limit-reached",
		"the limit of %d in a window of %d s is reached",
		"已达到每 %[2]d 秒 %[1]d 次的上限")
	ValueNotAsStored = problem("value-not-as-stored",
		"%s is not as it was stored (see scrollback doctor)",
		"%s 与保存时不同（见 scrollback doctor）")
	ValuesNotAsStored = problem("values-not-as-stored",
		"%s are not as they were stored (see scrollback doctor)",
		"%s 与保存时不同（见 scrollback doctor）")
	ArtifactsCannotBeRead = problem("artifacts-cannot-be-read",
		"artifacts cannot be read",
		"无法读取附件")
	ArtifactTextUnreadable = problem("artifact-text-unreadable",
		"the text of an artifact cannot be read",
		"无法读取附件的文本")
	BranchHasNoMessages = problem("branch-has-no-messages",
		"branch %s has no messages",
		"分支 %s 没有消息")
	NothingKnownOfModel = problem("nothing-known-of-model",
		"nothing is known of model %s",
		"对模型 %s 一无所知")
	NoUsageOfModelOnDay = problem("no-usage-of-model-on-day",
		"no usage of model %s on day %d",
		"没有模型 %s 在第 %d 天的用量")
	NoTurn = problem("no-turn",
		"no turn %s",
		"没有对话轮 %s")
	TurnHoldsItsConversation = problem("turn-holds-its-conversation",
		"turn %s holds its conversation",
		"对话轮 %s 正在占用它的对话")
	HeadIsAnother = problem("head-is-another",
		"the head is %d, not %d",
		"最新的消息是第 %d 条，不是第 %d 条")
	TurnExists = problem("turn-exists",
		"turn %s exists",
		"对话轮 %s 已存在")
	ConversationInheritsNothing = problem("conversation-inherits-nothing",
		"conversation %s inherits nothing of %s",
		"对话 %s 没有继承 %s 的任何内容")
	BranchHasNoOwnMessage = problem("branch-has-no-own-message",
		"branch %s has no message %d of its own",
		"分支 %s 自己没有第 %d 条消息")
	NothingStoredOfProject = problem("nothing-stored-of-project",
		"nothing is stored of the project %s",
		"没有保存项目 %s 的任何设置")
	ConversationInTrash = problem("conversation-in-trash",
		"conversation %s is in the trash",
		"对话 %s 在回收站中")
	BranchExists = problem("branch-exists",
		"branch %s exists",
		"分支 %s 已存在")
	KeyNameTaken = problem("key-name-taken",
		"there is a key with the name %s",
		"已有名为 %s 的密钥")
	TooManyKeys = problem("too-many-keys",
		"there are %d keys; revoke one that nobody needs",
		"已有 %d 个密钥，请先撤销一个不再需要的")
	DatabaseIsClosed = problem("database-is-closed",
		"the database is closed",
		"数据库已关闭")
	MessageExists = problem("message-exists",
		"there is already a message %s",
		"已有消息 %s")
	NoBranch = problem("no-branch",
		"no branch %s",
		"没有分支 %s")
	BranchIsAnother = problem("branch-is-another",
		"the branch is %s, not %s",
		"当前分支是 %s，不是 %s")
	PathHasNoMessage = problem("path-has-no-message",
		"the path of branch %s has no message %d",
		"分支 %s 的路径上没有第 %d 条消息")
	CompactionNotUndoneAnyMore = problem("compaction-not-undone-any-more",
		"the compaction is not undone any more",
		"这次压缩已不处于撤销状态")
	NoSegment = problem("no-segment",
		"no segment %s",
		"没有片段 %s")
	ConversationHadNoTurn = problem("conversation-had-no-turn",
		"conversation %s had no turn",
		"对话 %s 还没有任何一轮")
	TurnNamed = problem("turn-named",
		"turn %s",
		"第 %s 轮对话冲突")
	NoMessageOnPath = problem("no-message-on-path",
		"there is no message %d on this path",
		"这条路径上没有第 %d 条消息")
	PathHasTooFewMessages = problem("path-has-too-few-messages",
		"the path of branch %s has %d of %d messages from #%d",
		"分支 %s 的路径从 #%[4]d 起，%[3]d 条消息中只有 %[2]d 条")
	DifferentThingHere = problem("different-thing-here",
		"there is a different %s %v here",
		"这里已有不同的 %s %v")
	TokensPerDayIsNumberOrNoBound = problem("tokens-per-day-is-number-or-no-bound",
		"tokens_per_day is a number of tokens, or 0 for no bound",
		"tokens_per_day 是 token 数，0 表示不限")
	MoneyPerDayIsAmountOrNoBound = problem("money-per-day-is-amount-or-no-bound",
		"money_per_day is an amount of money, or 0 for no bound",
		"money_per_day 是金额，0 表示不限")
	MoneyPerDayNeedsCurrency = problem("money-per-day-needs-currency",
		"money_per_day needs a currency, such as USD",
		"money_per_day 需要货币，例如 USD")
	CurrencyTooLong = problem("currency-too-long",
		"a currency is at most %d characters",
		"货币名称最多 %d 个字符")
	OriginIncomplete = problem("origin-incomplete",
		"an origin needs a tool, an id and a conversation",
		"来源需要工具、id 和对话")
	ProjectAtVersion = problem("project-at-version",
		"the project is at version %d",
		"此项目的版本是 %d")
	ProjectNeedsName = problem("project-needs-name",
		"a project has a name",
		"项目必须有名称")
	ProjectCannotBeNamed = problem("project-cannot-be-named",
		"a project cannot be named %s",
		"项目不能命名为 %s")
	ProjectNameTooLong = problem("project-name-too-long",
		"a project's name is at most %d characters",
		"项目名称最多 %d 个字符")
	ProjectNameIsOneLine = problem("project-name-is-one-line",
		"a project's name must be a single line of text",
		"项目名称必须是单行文本")
	ProjectHasNoPinOrTools = problem("project-has-no-pin-or-tools",
		"a project has no pin and no tools: those are a conversation's own",
		"项目不能设置 pinned 和 tools，它们只属于各个对话")
	NoCompactionToUndo = problem("no-compaction-to-undo",
		"there is no compaction to undo",
		"没有可撤销的压缩")
	NoCompactionToRedo = problem("no-compaction-to-redo",
		"there is no compaction to do again",
		"没有可以重做的压缩")
	UndoneCompactionsNoLongerFit = problem("undone-compactions-no-longer-fit",
		"the compactions that were undone no longer fit what the conversation shows",
		"撤销的压缩已不再适合此对话当前显示的内容")
	NoUndoneCompactionMadeSegment = problem("no-undone-compaction-made-segment",
		"no compaction that can be done again made segment %s",
		"片段 %s 不属于任何可以重做的压缩")
	ConversationMentionsNo = problem("conversation-mentions-no",
		"this conversation mentions no %s%s",
		"此对话没有提到 %s%s")
	RefIsAmbiguous = problem("ref-is-ambiguous",
		"%s:%s could be %s or %s",
		"%s:%s 可能是 %s 或 %s")
	NoConversationMentionsRef = problem("no-conversation-mentions-ref",
		"no conversation mentions %s%s",
		"没有对话提到 %s%s")
	NoDayOrMonth = problem("no-day-or-month",
		"%s:%s names no day or month, as 2026-03-05 or 2026-03 would",
		"%s:%s 不是日期或月份，应如 2026-03-05 或 2026-03")
	PathHasGaps = problem("path-has-gaps",
		"the path of branch %s has gaps around message %d",
		"分支 %s 的路径在消息 %d 附近有缺口")
	QueryHasNoWord = problem("query-has-no-word",
		"there is no word to look for in the query",
		"查询中没有可搜索的词")
	StoreNeedsDriverAndCounter = problem("store-needs-driver-and-counter",
		"a store needs a driver and a token counter",
		"存储需要驱动和 token 计数器")
	CompactionsDoNotEnd = problem("compactions-do-not-end",
		"the compactions of branch %s do not end",
		"分支 %s 的压缩记录没有尽头")
	SegmentNotCompactedHere = problem("segment-not-compacted-here",
		"segment %s is not compacted in this conversation",
		"片段 %s 在此对话中没有被压缩")
)

// What is kept of messages word for word.
var (
	KeptTextIsTooLong = problem("kept-text-is-too-long",
		"it must be a sentence of 1 to %d bytes",
		"必须是 1 到 %d 字节的句子")
	KeptTextIsNotInMessage = problem("kept-text-is-not-in-message",
		"message #%d does not say that, word for word",
		"消息 #%d 中没有这句原话")
	KeptKindIsOneOf = problem("kept-kind-is-one-of",
		"it is todo, trait or instruction",
		"可以是 todo、trait 或 instruction")
	KeptStateIsOneOf = problem("kept-state-is-one-of",
		"it is open, done or dropped",
		"可以是 open、done 或 dropped")
	KeptMessageNotThere = problem("kept-message-not-there",
		"there is no message #%d; the newest is #%d",
		"没有消息 #%d；最新的是 #%d")
	NothingKeptUnderID = problem("nothing-kept-under-id",
		"nothing is kept under the id %s",
		"没有标识为 %s 的保留内容")
	KeptIDIsAmbiguous = problem("kept-id-is-ambiguous",
		"several ids of what is kept begin with %s",
		"有多个保留内容的标识以 %s 开头")
	OnlyTodosAreDone = problem("only-todos-are-done",
		"only a to-do can be done; drop what is no longer to be kept",
		"只有待办可以标为完成；不再保留的内容请移除")
)
