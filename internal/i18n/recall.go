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
