package i18n

// Sentences of errors of recall.
var (
	ShortestAnswerTooLong = problem("shortest-answer-too-long",
		"even the shortest answer has %d bytes, and %d bytes and %d tokens is all there is room for; ask for less",
		"最短的结果也有 %d 字节，而这里只有 %d 字节和 %d 个 token 的空间，请缩小范围")
	LimitOutOfRange = problem("limit-out-of-range",
		"limit must be 1 to %d",
		"limit 必须在 1 到 %d 之间")
	RecallScopeIsOneOf = problem("recall-scope-is-one-of",
		"a scope is conversation, project or all, not %q",
		"范围是 conversation、project 或 all，不能是 %q")
	MaySearchOnlyItsProject = problem("may-search-only-its-project",
		"this conversation may search only its project",
		"此对话只能搜索它所在的项目")
	MaySearchOnlyItself = problem("may-search-only-itself",
		"this conversation may search only itself",
		"此对话只能搜索它自己")
	NoToolNamed = problem("no-tool-named",
		"there is no tool named %s",
		"没有名为 %s 的工具")
	ArgumentsOfWrongShape = problem("arguments-of-wrong-shape",
		"the arguments are not of the tool's shape: %s",
		"参数不符合工具的格式：%s")
	FolderMustBeAbsolute = problem("folder-must-be-absolute",
		"folder must be an absolute path, not %q",
		"folder 必须是绝对路径，不能是 %q")
	ScopeIsOneOf = problem("scope-is-one-of",
		"a scope is folder, project or all, not %q",
		"范围只能是 folder、project 或 all，不能是 %q")
	AttachmentHasNoLeaves = problem("attachment-has-no-leaves",
		"%s is an attachment; only compacted messages have leaves",
		"%s 是附件，只有已压缩的消息才由分段组成")
	NumbersHaveNoLeaves = problem("numbers-have-no-leaves",
		"%s are messages themselves; only compacted messages have leaves",
		"%s 本身就是消息，只有已压缩的消息才由分段组成")
	NumbersMalformed = problem("numbers-malformed",
		"%q is not a ref (history:<id>, artifact:<id>), and names no messages (392, 392-410): this conversation has #1 to #%d",
		"%q 不是引用（history:<id>、artifact:<id>），也不是消息的编号（392、392-410）：此对话有消息 #1 到 #%d")
	TooManyNumbers = problem("too-many-numbers",
		"%s are more than %d messages, which is as many as are read at once; this conversation has the messages #1 to #%d",
		"%s 超过 %d 条消息，一次最多读取这么多；此对话有消息 #1 到 #%d")
	NoMessageNumbered = problem("no-message-numbered",
		"there is no message #%d: this conversation has the messages #1 to #%d",
		"没有消息 #%d：此对话有消息 #1 到 #%d")
	MessageWasRewound = problem("message-was-rewound",
		"message #%d was taken back by a rewind and is on branch %s: the conversation as it is now has the messages #1 to #%d",
		"消息 #%d 已被回退，在分支 %s 上：当前的对话有消息 #1 到 #%d")
	NoMessagesNumbered = problem("no-messages-numbered",
		"there is no message #%d: this conversation has no messages",
		"没有消息 #%d：此对话还没有消息")
	AllMessagesRewound = problem("all-messages-rewound",
		"message #%d was taken back by a rewind and is on branch %s: the conversation as it is now has no messages",
		"消息 #%d 已被回退，在分支 %s 上：当前的对话没有消息")
	BinsOutOfRange = problem("bins-out-of-range",
		"bins must be 1 to %d",
		"bins 必须在 1 到 %d 之间")
	NotACursorOfOurs = problem("not-a-cursor-of-ours",
		"this is not a cursor of ours",
		"这不是有效的游标")
	RefKindIsOneOf = problem("ref-kind-is-one-of",
		"a kind of ref is history or artifact",
		"引用的类型是 history 或 artifact")
	CallArgumentsNeedObject = problem("call-arguments-need-object",
		"the arguments of your call %s: send one JSON object. You sent: %s",
		"这次调用的参数有误（%s）：请发送一个 JSON 对象。收到的是：%s")
	AroundOutOfRange = problem("around-out-of-range",
		"around must be 0 to %d",
		"around 必须在 0 到 %d 之间")
	OrderIsOneOf = problem("order-is-one-of",
		"order must be %s or %s",
		"order 必须是 %s 或 %s")
	OffsetOutOfRange = problem("offset-out-of-range",
		"offset must be 0 to %d",
		"offset 必须在 0 到 %d 之间")
	FromMustBeBeforeTo = problem("from-must-be-before-to",
		"from must be a time before to, in Unix ms",
		"from 必须早于 to，单位为 Unix 毫秒")
	QueryTooLong = problem("query-too-long",
		"a query is at most %d bytes",
		"查询最长 %d 字节")
	NoConversationMentionsName = problem("no-conversation-mentions-name",
		"no conversation mentions %s",
		"没有对话提到 %s")
)
