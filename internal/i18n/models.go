package i18n

// Sentences of errors of models and their providers.
var (
	UnknownModel = problem("unknown-model",
		"unknown model %q: offline, or PROVIDER/NAME as in openai/gpt-5, of %s",
		"未知的模型 %q：请用 offline，或如 openai/gpt-5 的 提供商/名称，提供商有 %s")
	ModelAnswerStopped = problem("model-answer-stopped",
		"the model's answer was stopped: it went beyond %s",
		"模型的回答被停止：超出了 %s")
	ProviderDeclinesByContentRules = problem("provider-declines-by-content-rules",
		"%s declines this request because of its rules on content",
		"%s 因其内容规则拒绝了此请求")
	ToolCallUnreadable = problem("tool-call-unreadable",
		"%s could not answer: the model called a tool in a form that cannot be read",
		"%s 无法回答：模型以无法读取的形式调用了工具")
	AnswerGoesOnInAnotherRequest = problem("answer-goes-on-in-another-request",
		"the answer goes on in another request",
		"回答在另一个请求中继续")
	ModelFailed = problem("model-failed",
		"the model %s failed: %w",
		"模型 %s 出错：%w")
	ModelPanicked = problem("model-panicked",
		"the model %s panicked: %v",
		"模型 %s 运行时崩溃：%v")
	NothingToSayToModel = problem("nothing-to-say-to-model",
		"there is nothing to say to the model",
		"没有可以发给模型的内容")
	OllamaModelDoesNotTake = problem("ollama-model-does-not-take",
		"ollama: the model does not take %s",
		"ollama：此模型不接受 %s")
	OllamaRequiresSigningIn = problem("ollama-requires-signing-in",
		`ollama requires signing in: run "ollama signin", or set OLLAMA_API_KEY`,
		"ollama 需要登录：请运行 “ollama signin”，或设置 OLLAMA_API_KEY")
	OllamaModelCannotCallTools = problem("ollama-model-cannot-call-tools",
		`the model %s cannot call tools: choose one that can ("ollama show NAME" lists it under capabilities)`,
		"模型 %s 不能调用工具：请换一个可以的（“ollama show 名称” 的 capabilities 中会列出）")
	OllamaModelCannotChat = problem("ollama-model-cannot-chat",
		"the model %s cannot chat: it was made for something else",
		"模型 %s 不能对话：它有其他用途")
	OllamaTakesOneImage = problem("ollama-takes-one-image",
		"ollama: the model takes one image only",
		"ollama：此模型只接受一张图片")
	OllamaHasTooLittleMemory = problem("ollama-has-too-little-memory",
		"ollama has too little memory for the model with so large a window: set a smaller one",
		"对于这么大的窗口，ollama 的内存不足：请设置更小的窗口")
	EmbeddingsAreNotWhole = problem("embeddings-are-not-whole",
		"the server did not return one vector of the same length for each of %d texts, but %d",
		"服务器没有为 %d 段文本各返回一个等长的向量，而是返回了 %d 个")
	ModelCannotEmbed = problem("model-cannot-embed",
		"%s has no embeddings: name a model of Ollama or of a server with OpenAI's API",
		"%s 没有向量接口：请指定 Ollama 或兼容 OpenAI 接口的服务器上的模型")
	OllamaDoesNotHaveModel = problem("ollama-does-not-have-model",
		`ollama does not have the model %s: run "ollama pull %s"`,
		"ollama 没有模型 %s：请运行 “ollama pull %s”")
	OllamaDoesNotRespond = problem("ollama-does-not-respond",
		"ollama could not answer: nothing at its address speaks Ollama's API; is it right? (%s)",
		"ollama 无法回答：其地址上没有 Ollama 的接口，地址对吗？（%s）")
	OllamaSaysTooLong = problem("ollama-says-too-long",
		"ollama says that the request is too long for the window that the model has",
		"ollama 表示请求超过了模型的窗口")
	ProviderHadNoRoomForAnswer = problem("provider-had-no-room-for-answer",
		"%s had no room left for an answer: the request is too long for the model",
		"%s 没有留给回答的空间：请求对模型来说太长")
	NamesNoModel = problem("names-no-model",
		"%q names no model: write %sNAME",
		"%q 没有指明模型，请写成 %s名称")
	ProviderNeedsAccount = problem("provider-needs-account",
		"%s needs the name of an account: set %s",
		"%s 需要账户名称：请设置 %s")
	ProviderNeedsAddress = problem("provider-needs-address",
		"%s needs an address: set %s",
		"%s 需要地址：请设置 %s")
	ProviderNeedsKey = problem("provider-needs-key",
		"%s needs a key: set %s",
		"%s 需要密钥：请设置 %s")
	NotAnAddressOfAPI = problem("not-an-address-of-api",
		"%s is not an address like https://host/v1",
		"%s 不是形如 https://host/v1 的地址")
	ProviderGivesNoLongAnswer = problem("provider-gives-no-long-answer",
		"%s gives no answer as long as was asked for",
		"%s 不提供所要求长度的回答")
	ProviderWantsOtherRoles = problem("provider-wants-other-roles",
		"%s wants the roles of messages in another order",
		"%s 要求消息的角色按另一种顺序排列")
	ProviderDoesNotSpeakAPI = problem("provider-does-not-speak-api",
		"%s does not speak this API",
		"%s 不支持此接口")
	ProviderTakesNoImage = problem("provider-takes-no-image",
		"%s does not take an image of the request",
		"%s 不接受请求中的一张图片")
	ProviderSaysTooLong = problem("provider-says-too-long",
		"%s says that the request is too long for the model",
		"%s 表示请求对模型来说太长")
	ProviderDoesNotTakeParameter = problem("provider-does-not-take-parameter",
		"%s does not take the parameter %s",
		"%s 不接受参数 %s")
	ProviderAsksToWait = problem("provider-asks-to-wait",
		"%s asks to wait",
		"%s 要求稍候")
	ProviderAsksToWaitFor = problem("provider-asks-to-wait-for",
		"%s asks to wait %s",
		"%s 要求等待 %s")
	ProviderCouldNotAnswer = problem("provider-could-not-answer",
		"%s could not answer: %s",
		"%s 无法回答：%s")
	ProviderAccountIsEmpty = problem("provider-account-is-empty",
		"%s says that the account has no money or quota left: top it up, or set another key%s",
		"%s 表示账户余额或配额已用完：请充值，或换一个密钥%s")
	ProviderNeedsKeyNoneIsSet = problem("provider-needs-key-none-is-set",
		"%s needs a key, and none is set%s",
		"%s 需要密钥，但没有设置%s")
	ProviderRefusesKey = problem("provider-refuses-key",
		"%s refuses the key%s",
		"%s 拒绝了该密钥%s")
	ProviderModelCannotCallTools = problem("provider-model-cannot-call-tools",
		"%s says that the model cannot call tools, which a conversation needs: choose one that can, or allow them where it is served (vLLM: --enable-auto-tool-choice and --tool-call-parser, llama.cpp: --jinja)",
		"%s 表示此模型不能调用工具，而对话需要工具：请换一个可以调用工具的模型，或在提供服务处启用（vLLM：--enable-auto-tool-choice 和 --tool-call-parser，llama.cpp：--jinja）")
	ProviderDoesNotKnowModel = problem("provider-does-not-know-model",
		"%s does not know the model",
		"%s 没有这个模型")
	ProviderDoesNotKnowModelOrAddress = problem("provider-does-not-know-model-or-address",
		"%s does not know the model, or is at another address%s",
		"%s 没有这个模型，或地址不对%s")
	ProviderDoesNotAllowThis = problem("provider-does-not-allow-this",
		"%s does not allow this with the key%s",
		"%s 不允许用该密钥这样做%s")
	ProviderAddressNotValid = problem("provider-address-not-valid",
		"the address of %s is not valid%s",
		"%s 的地址无效%s")
	KeyHasControlCharacter = problem("key-has-control-character",
		"the key of %s contains a line break or another control character%s",
		"%s 的密钥包含换行或其他控制字符%s")
	TitleDidNotEnd = problem("title-did-not-end",
		"the answer did not end by itself (%s)",
		"回答不是自行结束的（%s）")
	ProviderIsLate = problem("provider-is-late",
		"it did not begin its answer in time",
		"对方没有及时开始回答")
	ProviderFellSilent = problem("provider-fell-silent",
		"it fell silent",
		"对方没有继续回应")
	ProviderEndedBeforeBeginning = problem("provider-ended-before-beginning",
		"it ended its response before it began",
		"对方在开始之前就结束了回应")
	ProviderRedirectsElsewhere = problem("provider-redirects-elsewhere",
		"it redirects to another server, to which nothing is sent",
		"对方重定向到另一台服务器，不会向那里发送任何内容")
	ProviderRedirectsInCircles = problem("provider-redirects-in-circles",
		"it redirects in circles",
		"对方循环重定向")
	ProviderRedirectsWithoutBody = problem("provider-redirects-without-body",
		"it redirects without the request's body",
		"对方的重定向不带请求正文")
	NothingListensAtProvider = problem("nothing-listens-at-provider",
		"nothing listens at its address; is it running?",
		"它的地址上没有服务，它在运行吗？")
	ProviderHostUnknown = problem("provider-host-unknown",
		"the host in its address is unknown",
		"它的地址中的主机未知")
	ProviderSpeaksPlainHTTP = problem("provider-speaks-plain-http",
		"it speaks plain http, and its address says https",
		"对方使用普通 http，而地址写的是 https")
	NoCommonTLS = problem("no-common-tls",
		"no common version of TLS was found",
		"没有找到共同的 TLS 版本")
	ProviderTookTooLong = problem("provider-took-too-long",
		"it took too long",
		"对方耗时过长")
	ProviderConnectionFailed = problem("provider-connection-failed",
		"the connection to it failed",
		"无法与对方建立连接")
	ProviderHasFault = problem("provider-has-fault",
		"it has a fault of its own",
		"对方出现故障")
	_ = problem("provider-broke-its-answer-off",
		"it broke its answer off",
		"对方中断了回答")
	_ = problem("provider-certificate-of-another-host",
		"its certificate cannot be trusted: it belongs to another host",
		"对方的证书不可信：证书属于另一台主机")
	_ = problem("provider-certificate-expired",
		"its certificate cannot be trusted: it has expired, or is not valid yet",
		"对方的证书不可信：证书已过期或尚未生效")
	_ = problem("provider-certificate-signer-unknown",
		"its certificate cannot be trusted: it is signed by nobody known",
		"对方的证书不可信：签发者未知")
	_ = problem("provider-certificate-invalid",
		"its certificate cannot be trusted: it is not valid",
		"对方的证书不可信：证书无效")
	ProviderBrokeOff = problem("provider-broke-off",
		"it broke its answer off with an error",
		"对方因错误中断了回答")
	ProviderDidNotTakeRequest = problem("provider-did-not-take-request",
		"it did not take the request",
		"对方没有接受请求")
	ProviderSentUnreadable = problem("provider-sent-unreadable",
		"it sent something that cannot be read",
		"对方发来的内容无法读取")
	ProviderSpeaksHTTPS = problem("provider-speaks-https",
		"it speaks https, and its address says http",
		"对方使用 https，而地址写的是 http")
	ProviderSentPage = problem("provider-sent-page",
		"it sent a web page and not an answer: is its address right?",
		"对方返回的是网页而不是回答，地址对吗？")
)
