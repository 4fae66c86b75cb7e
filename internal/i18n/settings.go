package i18n

// Sentences of errors of the config file and the environment.
var (
	PlaceIsNotTOML = problem("place-is-not-toml",
		"line %d, column %d is not TOML",
		"第 %d 行第 %d 列不是 TOML")
	FileIsNotTOML = problem("file-is-not-toml",
		"not a TOML file",
		"不是 TOML 文件")
	UnknownSetting = problem("unknown-setting",
		"unknown key %s",
		"未知的设置 %s")
	SettingMustBe = problem("setting-must-be",
		"%s must be a %s",
		"%s 必须是%s")
	SettingMustBeTable = problem("setting-must-be-table",
		"%s must be a table",
		"%s 必须是表")
	DataFlagEmpty = problem("data-flag-empty",
		"--data is empty: name a folder, or leave it out",
		"--data 为空：请指定文件夹，或不写这个选项")
	TrashDaysIsNumberOfDays = problem("trash-days-is-number-of-days",
		"trash_days is a number of days, or 0 for never",
		"trash_days 是天数，0 表示从不")
	LimitVariableIsNoNumber = problem("limit-variable-is-no-number",
		"SCROLLBACK_LIMIT=%q is not a number of tokens",
		"SCROLLBACK_LIMIT=%q 不是 token 数")
	LimitSettingIsNumberOfTokens = problem("limit-setting-is-number-of-tokens",
		"limit is a number of tokens, or 0 for the model's own",
		"limit 是 token 数，0 表示模型自身的窗口")
	SummaryTimeoutIsTime = problem("summary-timeout-is-time",
		"summary_timeout is a time such as 30s or 2m, or 0s for not waiting, not %q",
		"summary_timeout 是一段时间，例如 30s 或 2m，0s 表示不等待，不能是 %q")
	LogLevelIsOneOf = problem("log-level-is-one-of",
		"log_level is debug, info, warn or error, not %q",
		"log_level 是 debug、info、warn 或 error，不能是 %q")
	LogFormatIsTextOrJSON = problem("log-format-is-text-or-json",
		"log_format is text or json, not %q",
		"log_format 是 text 或 json，不能是 %q")
	WebSearchIsOneOf = problem("web-search-is-one-of",
		"web_search is one of %s, not %q",
		"web_search 是 %s 之一，不能是 %q")
	DownloadsIsServerOrSigned = problem("downloads-is-server-or-signed",
		"downloads is server or signed, not %q",
		"downloads 应为 server 或 signed，不能是 %q")
	GraceIsTime = problem("grace-is-time",
		"grace is a time such as 5s, at most 10m, not %q",
		"grace 是一段时间，例如 5s，最长 10m，不能是 %q")
	TitlesIsModelPromptOrOff = problem("titles-is-model-prompt-or-off",
		"titles is model, prompt or off, not %q",
		"titles 是 model、prompt 或 off，不能是 %q")
	PolicyOfSetting = problem("policy-of-setting",
		"%spolicy %s: %s",
		"%s策略 %s：%s")
	ProjectsSetting = problem("projects-setting",
		"projects.%q: %s",
		"projects.%q：%s")
	ImportProjectByIsFolder = problem("import-project-by-is-folder",
		"import.project_by is folder, not %q",
		"import.project_by 只能是 folder，不能是 %q")
	ImportPollIsTime = problem("import-poll-is-time",
		"import.poll is a time from 1s, such as 30s or 5m, not %q",
		"import.poll 是从 1s 起的一段时间，例如 30s 或 5m，不能是 %q")
	LimitsSettingOutOfRange = problem("limits-setting-out-of-range",
		"limits.%s is a number from 0, for its default, to 1099511627776",
		"limits.%s 是 0（默认）到 1099511627776 的数值")
	NoSuchProviderInSetting = problem("no-such-provider-in-setting",
		"providers.%q: there is no such provider (%s)",
		"providers.%q：没有这个提供商（%s）")
	ModelSettingNeedsProvider = problem("model-setting-needs-provider",
		"models.%q is not named provider/name",
		"models.%q 的名称不是 provider/name 的形式")
	ModelSettingBelowZero = problem("model-setting-below-zero",
		"models.%q: a number is below zero",
		"models.%q：有数值小于零")
	StrictIsOneOf = problem("strict-is-one-of",
		"models.%q: strict is %s or %s, not %q",
		"models.%q：strict 是 %s 或 %s，不能是 %q")
	ReplySettingOutOfRange = problem("reply-setting-out-of-range",
		"reply.%s is a number from 0, for its default, to 2147483648",
		"reply.%s 是 0（默认）到 2147483648 的数值")
)

// The types of settings: members of the family setting-kind.
var (
	_ = label("setting-kind/text", "text", "文本")
	_ = label("setting-kind/text or list of texts", "text or list of texts", "文本或文本的列表")
	_ = label("setting-kind/true or false", "true or false", "真或假（true 或 false）")
	_ = label("setting-kind/whole number", "whole number", "整数")
	_ = label("setting-kind/number", "number", "数字")
)
