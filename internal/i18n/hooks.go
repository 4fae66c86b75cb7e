package i18n

// Sentences about hooks: what other agents are told unasked.
var (
	HooksScopeIsHereOrAll = problem("hooks-scope-is-here-or-all",
		"hooks.scope is here or all, not %q",
		"hooks.scope 只能是 here 或 all，不能是 %q")
	HooksTokensAreAtMost = problem("hooks-tokens-are-at-most",
		"hooks.tokens is a number from 1 to %d",
		"hooks.tokens 是 1 到 %d 的数字")
	LedgerCannotBeOpened = problem("ledger-cannot-be-opened",
		"%s cannot be opened: %s",
		"无法打开 %s：%s")
	NoHookWasRun = label("no-hook-was-run",
		"No agent has asked yet.",
		"还没有智能体来问过。")
	PlacesNone = label("places-none",
		"Nothing was joined or parted, and no repository is known on other machines.",
		"没有合并或分开的位置，也没有可在其他机器上识别的仓库。")
	PlaceJoined = label("place-joined",
		"joined  %s",
		"合并  %s")
	PlaceParted = label("place-parted",
		"parted  %s",
		"分开  %s")
	PlaceKnown = label("place-known",
		"known   %s  as %s",
		"识别  %s  即 %s")
	PlaceIsNow = label("place-is-now",
		"The place of %s now is: %s",
		"%s 所在的位置现在包括：%s")
	PlaceJoinsTwo = problem("place-joins-two",
		"name two folders",
		"请给出两个文件夹")
	PlacesAreOne = problem("places-are-one",
		"%s and %s are one place already",
		"%s 与 %s 已属于同一位置")
	HooksAreOffFor = label("hooks-are-off-for",
		"Nothing is told any more: %s",
		"不再告知任何内容：%s")
	HooksAreOnFor = label("hooks-are-on-for",
		"May be told again: %s",
		"可以再次告知：%s")
)

// The help of the hook command.
var (
	_ = label("help/answer-what-other-agents-ask",
		"Answer what other agents ask before they work.",
		"在其他智能体工作之前回答它们的询问。")
	_ = label("help/say-where-work-stood",
		"At the start of a session: say where work stood in its folder.",
		"会话开始时：说明该文件夹中工作的进展。")
	_ = label("help/say-what-answers-prompt",
		"At a prompt: say the one or two earlier messages that answer it, or nothing.",
		"收到提示词时：给出能回答它的一两条早先消息，或什么都不说。")
	_ = label("help/say-what-summary-keeps",
		"Before an agent compacts: ask its summary to keep what matters.",
		"智能体压缩之前：请其摘要保留要紧的内容。")
	_ = label("help/import-what-was-said",
		"When an agent stops: import what was said, behind its back.",
		"智能体停下时：在后台导入所说的内容。")
	_ = label("help/list-what-agents-were-told",
		"List what agents were told, and why or why not.",
		"列出告知过智能体的内容及其原因。")
	_ = label("help/tell-agents-nothing",
		"Tell agents nothing in this folder, or of what a flag names.",
		"在此文件夹中不再告知智能体任何内容，或针对标志所指定的对象。")
	_ = label("help/tell-agents-again",
		"Let agents be told again.",
		"允许再次告知智能体。")
	_ = label("help/agent-that-asks",
		"The agent that asks, as `import --from` names it.",
		"询问的智能体，名称与 `import --from` 相同。")
	_ = label("help/only-when-something-was-told",
		"Only when something was told.",
		"仅列出确实告知了内容的。")
	_ = label("help/folder-silence",
		"The folder, with all worktrees of its repository.",
		"该文件夹，以及其仓库的所有工作树。")
	_ = label("help/project-silence",
		"The project whose conversations are not told of.",
		"其对话不再被告知的项目。")
	_ = label("help/agent-silence",
		"The agent that is told nothing.",
		"不再被告知的智能体。")
)
