package i18n

// Sentences of errors of turns and conversations.
var (
	NeedsAccess = problem("needs-access",
		"this needs %s access",
		"此操作需要 %s 权限")
	TokenBudgetUsedUp = problem("token-budget-used-up",
		"%s %s has used %d tokens today, and its budget is %d a day; it starts again at %s",
		"%s %s 今天已使用 %d 个 token，每日预算为 %d；%s 重新开始计算")
	MoneyBudgetUsedUp = problem("money-budget-used-up",
		"%s %s has used %.2f %s today, and its budget is %.2f a day; it starts again at %s",
		"%s %s 今天已花费 %.2f %s，每日预算为 %.2f；%s 重新开始计算")
	SayWhereTo = problem("say-where-to",
		"say where to: a seq, a branch, or both",
		"请说明目标：seq、branch，或两者")
	NoConversationInBacklog = problem("no-conversation-in-backlog",
		"no conversation %s in this backlog",
		"这里没有对话 %s")
	TurnIsBeingAnswered = problem("turn-is-being-answered",
		"a turn is being answered; stop it first",
		"有一轮正在回答，请先停止它")
	NoMessageToPinYet = problem("no-message-to-pin-yet",
		"a conversation that is being created has no message to pin",
		"正在创建的对话还没有可固定的消息")
	SubAgentsNotAllowed = problem("sub-agents-not-allowed",
		"sub-agents are not allowed here: start scrollback with --agents, or set agents.allowed in the configuration",
		"此处不允许子代理：请用 --agents 启动 scrollback，或在配置中设置 agents.allowed")
	SubAgentStaysInProject = problem("sub-agent-stays-in-project",
		"a sub-agent stays in the project of the conversation that it works for",
		"子代理只能留在它所服务的对话的项目中")
	NoProject = problem("no-project",
		"no project %s",
		"没有项目 %s")
	ConversationIDUnusable = problem("conversation-id-unusable",
		"the id of this conversation cannot be used",
		"此对话的 id 不能使用")
	BodyMustBeJSON = problem("body-must-be-json",
		"the body must be JSON, and the Content-Type say so",
		"请求体必须是 JSON，Content-Type 也须如此声明")
	BodyTooLarge = problem("body-too-large",
		"the body is larger than %d bytes",
		"请求体超过 %d 字节")
	BodyCannotBeRead = problem("body-cannot-be-read",
		"the body cannot be read: %s",
		"无法读取请求体：%s")
	BodyEncodingUnknown = problem("body-encoding-unknown",
		"a body may be compressed by gzip or zstd, and not by %q",
		"请求体只能用 gzip 或 zstd 压缩，不能用 %q")
	DoorModeIsOneOf = problem("door-mode-is-one-of",
		"%s is one of %s, not %q",
		"%s 只能是 %s 之一，不能是 %q")
	SideCallsCannotBeRead = problem("side-calls-cannot-be-read",
		"door.side_calls: %s cannot be used: %v",
		"door.side_calls：%s 无法使用：%v")
	ConversationNameInvalid = problem("conversation-name-invalid",
		"%s is the id of a conversation, or a name of at most %d characters on one line",
		"%s 应为对话的 id，或最多 %d 个字符的单行名称")
	AskedTooOften = problem("asked-too-often",
		"the same was asked too often within a minute",
		"一分钟内重复请求同样的内容过多")
	NoAnswerHere = problem("no-answer-here",
		"previous response with id %q not found",
		"找不到 id 为 %q 的先前回复")
	NothingAtProvider = problem("nothing-at-provider",
		"no file or container %q was made in your conversations",
		"您的对话中没有创建过文件或容器 %q")
	NoCallForResult = problem("no-call-for-result",
		"no tool call found for function call output with call_id %s",
		"没有与 call_id 为 %s 的函数输出对应的工具调用")
	MessageNotKnown = problem("message-not-known",
		"a message of the type %q is not understood; send response.create",
		"无法理解类型为 %q 的消息；请发送 response.create")
	ItemsAreSome = problem("items-are-some",
		"items is a list of 1 to %d items",
		"items 是含 1 到 %d 项的列表")
	MetadataInvalid = problem("metadata-invalid",
		"metadata has at most %d pairs: names of at most %d characters, and texts of at most %d",
		"metadata 最多有 %d 对：名称最多 %d 个字符，文本最多 %d 个字符")
	NoConversationNamed = problem("no-conversation-named",
		"there is no conversation %q",
		"没有对话 %q")
	StreamWasCut = problem("stream-was-cut",
		"the answer ended before it was complete",
		"回复在完成前中断")
	EngineIsClosed = problem("engine-is-closed",
		"the engine is closed",
		"引擎已关闭")
	NoTurnInConversation = problem("no-turn-in-conversation",
		"no turn %s in this conversation",
		"此对话中没有对话轮 %s")
	NoModelsSetUp = problem("no-models-set-up",
		"no models are set up, so there is no %q",
		"没有设置任何模型，因此没有 %q")
	BacklogDidNotEnd = problem("backlog-did-not-end",
		"the backlog did not end after %d compactions",
		"经过 %d 次压缩仍未处理完积压")
	RequestOverBudget = problem("request-over-budget",
		"the request weighs %d tokens, %d bytes and %d images; the budget is %d tokens (a window of %d less %d for the answer), %d bytes and %d images, and nothing more can be compacted; a larger window is set with --limit, where the model has one",
		"请求为 %d 个 token、%d 字节和 %d 张图片；预算为 %d 个 token（窗口 %d 减去为回答保留的 %d）、%d 字节和 %d 张图片，没有更多内容可以压缩；如果模型有更大的窗口，可用 --limit 设置")
	ServerRefusesAsTooLong = problem("server-refuses-as-too-long",
		"the model's server refuses the request as too long: it weighs %d tokens and keeps %d for the answer, the window is taken to be %d, and nothing more can be compacted; if the server has a larger window, set it there, and name it with --limit",
		"模型的服务器认为请求太长而拒绝：请求为 %d 个 token，为回答保留 %d 个，窗口按 %d 计算，没有更多内容可以压缩；如果服务器有更大的窗口，请在那里设置，并用 --limit 指明")
	TooManyPinnedMessages = problem("too-many-pinned-messages",
		"at most %d messages can be pinned, not %d",
		"最多可以固定 %d 条消息，不能是 %d 条")
	NoMessageOnPathOf = problem("no-message-on-path-of",
		"there is no message %d on this path, which has %d",
		"这条路径上没有第 %d 条消息，共有 %d 条")
	MessageIsToolCall = problem("message-is-tool-call",
		"message %d is a call of a tool or its result: pin what was said of it",
		"第 %d 条消息是工具调用或其结果，请固定与之相关的文字")
	PinnedMessagesTooHeavy = problem("pinned-messages-too-heavy",
		"the pinned messages weigh %d tokens, and at most %d (%v of the budget) are taken",
		"固定的消息共 %d 个 token，最多接受 %d 个（预算的 %v）")
	ConversationChangedPinAgain = problem("conversation-changed-pin-again",
		"the conversation was changed meanwhile; pin again",
		"此对话在此期间被更改，请重新固定")
	NothingStoredOfStep = problem("nothing-stored-of-step",
		"nothing is stored of a step %d of turn %s",
		"没有保存回合 %[2]s 的第 %[1]d 步")
	WhatTurnSentNotStored = problem("what-turn-sent-not-stored",
		"what turn %s sent to its model was not stored",
		"没有保存回合 %s 发送给模型的内容")
	LimitTooSmall = problem("limit-too-small",
		"a limit of %d tokens is too small: the least is %d",
		"%d 个 token 的窗口上限太小，至少为 %d")
	WindowBreaksProviderRule = problem("window-breaks-provider-rule",
		"the window breaks a rule of the provider: %w",
		"请求违反了服务商的规则：%w")
	ModelDeclinesByContentRules = problem("model-declines-by-content-rules",
		"the model declines this request because of its provider's rules on content",
		"模型因其提供方的内容规定拒绝了这个请求")
	ModelAnswerEmptyAgain = problem("model-answer-empty-again",
		"the model's answer was empty again",
		"模型的回答又是空的")
	WebSearchSwitchedOff = problem("web-search-switched-off",
		"web search is switched off here (web_search in the configuration)",
		"这里关闭了联网搜索（配置项 web_search）")
	NobodyCanSearchWeb = problem("nobody-can-search-web",
		"nobody can search the web for %s here: set searxng in the configuration to the address of a SearXNG server, or choose a model whose provider searches",
		"这里无法为 %s 联网搜索：请在配置项 searxng 中设置 SearXNG 服务器的地址，或选择由提供商负责搜索的模型")
	AgentsSettingOutOfRange = problem("agents-setting-out-of-range",
		"agents.%s is a number from 0, for its default, to %d",
		"agents.%s 是从 0（默认值）到 %d 的数")
	ResultAnswersNoOpenCall = problem("result-answers-no-open-call",
		"result %q answers no open call (open: %s)",
		"结果 %q 不对应任何未完成的调用（未完成：%s）")
	EveryOpenCallNeedsResult = problem("every-open-call-needs-result",
		"every open call needs its result: %s",
		"每个未完成的调用都需要结果：%s")
	NothingToAnswer = problem("nothing-to-answer",
		"there is nothing to answer: give a message",
		"没有可回答的内容，请给出消息")
	GiveMessageOrResults = problem("give-message-or-results",
		"give a message or tool results, not both",
		"请给出消息或工具结果，不要同时给出")
	MessageIDTooLong = problem("message-id-too-long",
		"the id of a message is at most 100 printable characters",
		"消息 id 最长 100 个可打印字符")
	TooManyResults = problem("too-many-results",
		"at most %d results are taken at once",
		"一次最多接受 %d 个结果")
	IdempotencyKeyTooLong = problem("idempotency-key-too-long",
		"an idempotency key is at most 200 bytes",
		"幂等键最长 200 字节")
	NoCallWaitsForResult = problem("no-call-waits-for-result",
		"no call waits for a result",
		"没有等待结果的调用")
	LastTurnWaitsForResults = problem("last-turn-waits-for-results",
		"the last turn waits for the results of %s",
		"上一轮对话在等待 %s 的结果")
	LastMessageAnsweredAlready = problem("last-message-answered-already",
		"the last message is answered already: give a message",
		"最后一条消息已经回答，请给出新消息")
	NeedsAccessToAllProjects = problem("needs-access-to-all-projects",
		"this needs access to all projects",
		"此操作需要所有项目的权限")
	NoConversation = problem("no-conversation",
		"no conversation %s",
		"没有对话 %s")
	MessageIsToBeAnswered = problem("message-is-to-be-answered",
		"message #%d is what is to be answered: say something else with it left out, or take it back",
		"要回答的正是第 %d 条消息：请另说一句再略去它，或不再略去它")
	MessageIsNotLeftOut = problem("message-is-not-left-out",
		"message #%d is not left out",
		"第 %d 条消息没有被略去")
	TooManyMessagesNamed = problem("too-many-messages-named",
		"at most %d messages can be named",
		"最多可以指定 %d 条消息")
	NoMessageNumberedOnPath = problem("no-message-numbered-on-path",
		"there is no message #%d on this path, which has %d",
		"这条路径上没有第 %d 条消息，共有 %d 条")
	ReplyBrokeOff = problem("reply-broke-off",
		"the reply broke off",
		"回复中断了")
	TurnWasInterrupted = problem("turn-was-interrupted",
		"the turn was interrupted",
		"这一轮对话被中断")
	FunctionsNeverEnd = problem("functions-never-end",
		"the model still calls functions after %d rounds",
		"%d 轮之后模型仍在调用函数")
	FunctionCannotBeTool = problem("function-cannot-be-tool",
		"the function %s cannot be a tool: %w",
		"函数 %s 不能作为工具：%w")
	NotAWholeID = problem("not-a-whole-id",
		"%q is not a whole id; here a prefix will not do",
		"%q 不是完整的 id，这里不能用前缀")
	NotARef = problem("not-a-ref",
		"%q is not a ref (history:<id>, artifact:<id>); numbers need a conversation",
		"%q 不是引用，引用的形式是 history:<id> 或 artifact:<id>；编号前须指明对话")
	RefIDMalformed = problem("ref-id-malformed",
		"%q is not a ref: the id after %q is malformed",
		"%q 不是引用：%q 之后的 id 格式不正确")
	UnknownEffort = problem("unknown-effort",
		"unknown effort %q (%s)",
		"未知的 effort %q（%s）")
	ThinkingBudgetImpossible = problem("thinking-budget-impossible",
		"a budget of %d tokens is not possible",
		"%d 个 token 的预算不可用")
	ThinkingContradictsEffort = problem("thinking-contradicts-effort",
		"thinking %v and the effort %q contradict each other",
		"thinking %v 与 effort %q 相互矛盾")
	TooManyTools = problem("too-many-tools",
		"at most %d tools can be given",
		"最多可以给出 %d 个工具")
	ToolNameInvalid = problem("tool-name-invalid",
		"tool %d: a name has 1 to 64 ASCII letters, digits, _ and -, and begins with a letter or _",
		"第 %d 个工具：名称由 1 到 64 个 ASCII 字母、数字、_ 和 - 组成，以字母或 _ 开头")
	ToolNameReserved = problem("tool-name-reserved",
		"tool %q: names that begin with %s are reserved",
		"工具 %q：以 %s 开头的名称是保留的")
	ToolGivenTwice = problem("tool-given-twice",
		"tool %q is given twice",
		"工具 %q 给出了两次")
	ToolDefinitionsTooLarge = problem("tool-definitions-too-large",
		"the definitions are %d bytes, at most %d can be given",
		"工具定义共 %d 字节，最多可以给出 %d 字节")
	NotATimeZone = problem("not-a-time-zone",
		"%q is no time zone: give a name such as Europe/Madrid or UTC",
		"%q 不是时区：请给出如 Asia/Shanghai 或 UTC 的名称")
	RateIsChatsPerTime = problem("rate-is-chats-per-time",
		"a rate is a number of chats per s, m, h or d, such as 20/h, or off, not %q",
		"频率是每 s、m、h 或 d 的对话次数，例如 20/h，或为 off，不能是 %q")
	TokensPerDayIsNumberOrNoLimit = problem("tokens-per-day-is-number-or-no-limit",
		"tokens_per_day is a number of tokens, or 0 for no limit",
		"tokens_per_day 是 token 数，0 表示不限")
	MoneyPerDayIsAmountOrNoLimit = problem("money-per-day-is-amount-or-no-limit",
		"money_per_day is an amount of money, or 0 for no limit",
		"money_per_day 是金额，0 表示不限")
	NotACurrency = problem("not-a-currency",
		"%.20q is not a currency",
		"%.20q 不是货币")
	NotASearXNGAddress = problem("not-a-sear-xng-address",
		"%s is the address of a SearXNG server, like http://127.0.0.1:8888",
		"%s 应为 SearXNG 服务器的地址，例如 http://127.0.0.1:8888")
	NoWordsToSearchFor = problem("no-words-to-search-for",
		"there are no words in the message to search for",
		"消息中没有可搜索的词")
	KindProject = label("kind-project",
		"project",
		"项目")
	ModelAnswerCut = problem("model-answer-cut",
		"the model reached the length its answer may have before it said anything: allow a longer answer, or less thinking",
		"模型还没说出任何内容就达到了回答的长度上限：请允许更长的回答，或减少思考")
	ModelAnswerHidden = problem("model-answer-hidden",
		"the model ended with thoughts it does not show and said nothing: ask it to answer, or choose another model",
		"模型只留下了不公开的思考，没有说出任何内容：请让它作答，或换一个模型")
	ModelAnswerEmpty = problem("model-answer-empty",
		"the model's answer was empty",
		"模型的回答为空")
	AnotherServerTookTurn = problem("another-server-took-turn",
		"another server took this turn over",
		"另一台服务器接管了这一轮对话")
)
