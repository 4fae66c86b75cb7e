package i18n

// Sentences of errors of requests to a server.
var (
	KindKey = label("kind-key",
		"key",
		"密钥")
	KindParameter = label("kind-parameter",
		"parameter",
		"参数")
	ServerToldToEnd = problem("server-told-to-end",
		"the server was told to end",
		"服务器收到了结束的信号")
	StoreTookTooLong = problem("store-took-too-long",
		"the store took more than %v",
		"存储用时超过 %v")
	TooMuchIsOpen = problem("too-much-is-open",
		"too much is open at once; try again in a moment",
		"同时打开的连接太多；请稍后再试")
	ConversationHasNoBranch = problem("conversation-has-no-branch",
		"this conversation has no branch %s",
		"此对话没有分支 %s")
	ConversationHasOnlyMessages = problem("conversation-has-only-messages",
		"this conversation has %d messages",
		"此对话有 %d 条消息")
	GiveRefOrSeq = problem("give-ref-or-seq",
		"give a ref, or the seq of a message",
		"请给出 ref 或消息的 seq")
	SeqCountsFromOne = problem("seq-counts-from-one",
		"seq counts from 1; before begins at 2, after and offset at 0",
		"seq 从 1 开始；before 从 2 开始，after 和 offset 从 0 开始")
	GiveOneOfSeqBeforeAfter = problem("give-one-of-seq-before-after",
		"give one of seq, before and after",
		"seq、before 和 after 只能给出一个")
	OffsetNeedsSeq = problem("offset-needs-seq",
		"an offset is of one message: give its seq",
		"offset 属于单条消息：请给出它的 seq")
	NoConversationYet = problem("no-conversation-yet",
		"there is no conversation yet",
		"还没有任何对话")
	NameConversationByWholeID = problem("name-conversation-by-whole-id",
		"name one conversation by its whole id",
		"请用完整的 id 指定一个对话")
	TopicIsMissing = problem("topic-is-missing",
		"say what to look for: topic is missing",
		"请说明要查找什么：缺少 topic")
	OriginalTooLargeForResource = problem("original-too-large-for-resource",
		"the original has %d bytes, and a resource at most %d: read it in pages with context_read",
		"原文有 %d 字节，而资源最多 %d 字节：请用 context_read 分页读取")
	NoSuchThing = problem("no-such-thing",
		"there is no %s",
		"没有 %s")
	NameTheConversation = problem("name-the-conversation",
		"name the conversation",
		"请指定对话")
	ValueIs = problem("value-is",
		"%s is %s",
		"%s 是 %s")
	ArgumentsAreNoObject = problem("arguments-are-no-object",
		"the arguments are not a JSON object",
		"参数不是 JSON 对象")
	TracesCannotBeSent = problem("traces-cannot-be-sent",
		"traces cannot be sent: %w",
		"无法发送追踪数据：%w")
	AttachmentNameTooLong = problem("attachment-name-too-long",
		"an attachment's name has at most %d characters",
		"附件名称最多 %d 个字符")
	UsageGroupedByUnknown = problem("usage-grouped-by-unknown",
		"usage is grouped by day, model, project, key, conversation, purpose and tool, not by %q",
		"用量可按 day、model、project、key、conversation、purpose 和 tool 分组，不能按 %q")
	FieldSaysKindOfPart = problem("field-says-kind-of-part",
		"%q says which kind of part it is: %s",
		"%q 说明这一部分的类型：%s")
	UnknownPartType = problem("unknown-part-type",
		"unknown type %q: a part is %s",
		"未知的类型 %q：部分的类型有 %s")
	FieldGivenTwice = problem("field-given-twice",
		"%q is given twice",
		"%q 给出了两次")
	FieldIsMissing = problem("field-is-missing",
		"%q is missing",
		"缺少 %q")
	FieldOutOfRange = problem("field-out-of-range",
		"%q is out of range",
		"%q 超出范围")
	BodyHasWrongType = problem("body-has-wrong-type",
		"the body must be %s, not %s",
		"请求正文必须是%s，不能是%s")
	FieldHasWrongType = problem("field-has-wrong-type",
		"%q must be %s, not %s",
		"%q 必须是%s，不能是%s")
	FieldMustBeWholeNumber = problem("field-must-be-whole-number",
		"%q must be a whole number, not %.20s",
		"%q 必须是整数，不能是 %.20s")
	IfMatchNamesNoVersion = problem("if-match-names-no-version",
		"If-Match does not name a version",
		"If-Match 没有给出版本")
	AfterIsNumberOfEvent = problem("after-is-number-of-event",
		"after is the number of an event, 0 or more",
		"after 是事件的编号，从 0 开始")
	RoleIsOneOf = problem("role-is-one-of",
		"a role is read, write or admin",
		"角色是 read、write 或 admin")
	RequestHasNoBody = problem("request-has-no-body",
		"the request has no body: send JSON",
		"请求没有正文，请发送 JSON")
	SendBodyAsJSON = problem("send-body-as-json",
		"send the body as application/json, not as %s",
		"请以 application/json 发送正文，不要用 %s")
	BodyIsNotUTF8 = problem("body-is-not-utf8",
		"the body is not UTF-8",
		"请求正文不是 UTF-8")
	BodyNestedTooDeep = problem("body-nested-too-deep",
		"the body is nested more than %d deep",
		"请求正文的嵌套超过 %d 层")
	BodyIsNotJSON = problem("body-is-not-json",
		"the body is not JSON: %w",
		"请求正文不是 JSON：%w")
	UnknownName = problem("unknown-name",
		"unknown %s %q%s",
		"未知的%s %q%s")
	QueryOfAddressUnreadable = problem("query-of-address-unreadable",
		"the query of the address cannot be read",
		"地址中的查询参数无法读取")
	ParameterGivenTwice = problem("parameter-given-twice",
		"%q is given more than once",
		"%q 给出了不止一次")
	ParameterHasWrongType = problem("parameter-has-wrong-type",
		"%q must be %s, not %.40q",
		"%q 必须是%s，不能是 %.40q")
	BodyEndedEarly = problem("body-ended-early",
		"the body ended early",
		"请求正文不完整")
	BodyOverLimit = problem("body-over-limit",
		"the body is over the limit of %d bytes (%s)",
		"请求正文超过 %d 字节的上限（%s）")
	ReachableWithoutKeys = problem("reachable-without-keys",
		"%s can be reached from other machines and there are no keys; make one (scrollback keys add), use 127.0.0.1 without trusted_proxies, or --insecure if you mean it",
		"其他机器可以访问 %s，而没有密钥；请创建一个（scrollback keys add），或使用 127.0.0.1 且不设 trusted_proxies；若确实如此打算，请加 --insecure")
	NoSuchThingNamed = problem("no-such-thing-named",
		"there is no %s %s",
		"没有 %s %s 这个接口")
	ServerIsReadOnly = problem("server-is-read-only",
		"this server was started with --read-only: it changes nothing",
		"此服务器以 --read-only 启动，不更改任何内容")
	QueryParameterMissing = problem("query-parameter-missing",
		"required query parameter is missing",
		"缺少必需的参数")
	FieldNotForRequest = problem("field-not-for-request",
		"%q is not for a request to set",
		"%q 不能由请求设置")
	KindText = label("kind-text",
		"a text",
		"文本")
	KindWholeNumber = label("kind-whole-number",
		"a whole number",
		"整数")
	KindNumber = label("kind-number",
		"a number",
		"数字")
	KindBoolean = label("kind-boolean",
		"true or false",
		"true 或 false")
	KindList = label("kind-list",
		"a list",
		"列表")
	KindObject = label("kind-object",
		"an object",
		"对象")
	KindNull = label("kind-null",
		"null",
		"null")
	KindField = label("kind-field",
		"field",
		"字段")
	OneOrTheOther = problem("one-or-the-other",
		"%s or %s",
		"%s或%s")
	NoneKnownHere = problem("none-known-here",
		": none is known here",
		"：这里没有可用的名称")
	DidYouMean = problem("did-you-mean",
		`: did you mean "%s"?`,
		"：您是指 “%s” 吗？")
	KnownAre = problem("known-are",
		": known are %s",
		"：可用的有 %s")
	EventNotEncoded = problem("event-not-encoded",
		"an event could not be encoded",
		"有一个事件无法编码")
)
