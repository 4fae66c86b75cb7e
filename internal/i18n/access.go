package i18n

// Sentences of errors of keys and limits.
var (
	RequestNeedsKey = problem("request-needs-key",
		"this needs a key: send it as Authorization: Bearer KEY, or sign in",
		"需要密钥：请以 Authorization: Bearer KEY 发送，或先登录")
	SendOneKey = problem("send-one-key",
		"send one key, as Authorization: Bearer KEY",
		"请只发送一个密钥，形式为 Authorization: Bearer KEY")
	SignInIsForPageOnly = problem("sign-in-is-for-page-only",
		"a sign-in is for the page of this server; send a key instead",
		"登录只供此服务器自己的页面使用，请改为发送密钥")
	SignInSendsJSONOrFile = problem("sign-in-sends-json-or-file",
		"with a sign-in, send application/json, or a file as application/octet-stream",
		"以登录方式访问时，请发送 application/json；文件请以 application/octet-stream 发送")
	AgentsOnlyOnTheirMachine = problem("agents-only-on-their-machine",
		"the agents of a machine are shown on that machine only",
		"一台机器上的代理只在该机器上显示")
	AgentsAreNotHere = problem("agents-are-not-here",
		"this server does not run where somebody's agents are",
		"此服务器所在之处没有个人的代理")
	AnswersOnlyToThisMachine = problem("answers-only-to-this-machine",
		"this server answers only to a name of this machine",
		"此服务器只接受以本机名称发来的请求")
	DoesNotAnswerToName = problem("does-not-answer-to-name",
		"this server does not answer to this name; its names are in the setting hosts",
		"此服务器不接受以这个名称发来的请求，可用的名称在配置项 hosts 中")
	AnotherSiteMayNotUseServer = problem("another-site-may-not-use-server",
		"a page of another site may not use this server",
		"其他网站的页面不能使用此服务器")
	ServerKeepsNoKeys = problem("server-keeps-no-keys",
		"this server keeps no keys",
		"此服务器没有密钥库")
	KeyOutlastsItsMaker = problem("key-outlasts-its-maker",
		"a key may not outlast the one that makes it",
		"密钥的有效期不能长于创建它的密钥")
	NoSuchKey = problem("no-such-key",
		"no such key",
		"没有这个密钥")
	KeyIsWrong = problem("key-is-wrong",
		"this key is wrong, has expired or was revoked",
		"此密钥有误、已过期或已被撤销")
	SignInHasEnded = problem("sign-in-has-ended",
		"the sign-in has ended; sign in again",
		"登录已失效，请重新登录")
	TrustedProxiesInvalid = problem("trusted-proxies-invalid",
		"trusted_proxies holds addresses and networks such as 10.0.0.0/8, not %q",
		"trusted_proxies 中是地址和网段，例如 10.0.0.0/8，不能是 %q")
	NotSignedIn = problem("not-signed-in",
		"not signed in",
		"尚未登录")
	NoUsableKeyNamed = problem("no-usable-key-named",
		"no key has this id, and none that can be used has this name: %.100q",
		"没有 id 为此的密钥，也没有使用此名称的有效密钥：%.100q")
	KeyNameInvalid = problem("key-name-invalid",
		"a key's name is one line of 1 to %d characters",
		"密钥的名称是一行文字，1 到 %d 个字符")
	KeyHasTooManyProjects = problem("key-has-too-many-projects",
		"a key has at most %d projects",
		"一个密钥最多有 %d 个项目")
	KeyProjectNameInvalid = problem("key-project-name-invalid",
		"a project's name is one line of 1 to %d characters",
		"项目名称是一行文字，1 到 %d 个字符")
	KeyExpiresInPast = problem("key-expires-in-past",
		"a key expires later than now",
		"密钥的到期时间必须晚于现在")
)
