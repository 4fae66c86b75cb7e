package usage

import "github.com/scrollback-ai/scrollback/internal/i18n"

// Groups are the commands as a newcomer meets them, each with an example. ID and REF
// stand for what the reader has.
var Groups = []struct {
	Name     i18n.ID
	Commands []Example
}{
	{i18n.GroupChat, []Example{
		{"chat", `scrollback chat --resume`},
		{"run", `scrollback run "The spare key is under the third bollard."`},
		{"serve", `scrollback serve --addr 127.0.0.1:7078`},
		{"install", `scrollback install --agent claude --dry-run`},
		{"uninstall", `scrollback uninstall --agent codex`},
		{"run-with", `scrollback run-with claude -p "Where is the spare key?"`},
		{"mcp", `scrollback mcp --conversation latest`},
	}},
	{i18n.GroupNotebooks, []Example{
		{"notebook new", `scrollback notebook new plan.ipynb --title "The plan"`},
		{"notebook", `scrollback notebook plan.ipynb`},
		{"notebook run", `scrollback notebook run plan.ipynb "The spare key is under the third bollard."`},
		{"notebook show", `scrollback notebook show plan.ipynb`},
		{"notebook compress", `scrollback notebook compress plan.ipynb`},
	}},
	{i18n.GroupRead, []Example{
		{"list", `scrollback list --max 10`},
		{"show", `scrollback show latest --after 0`},
		{"search", `scrollback search "spare key"`},
		{"context", `scrollback context latest`},
		{"context show", `scrollback context show latest`},
		{"context list", `scrollback context list latest`},
		{"context receipts", `scrollback context receipts latest`},
		{"context read", `scrollback context read REF`},
		{"context tail", `scrollback context tail latest 1-2 --lines 20`},
		{"context grep", `scrollback context grep latest "third.*bollard"`},
	}},
	{i18n.GroupCompact, []Example{
		{"compact", `scrollback compact latest --force`},
		{"uncompact", `scrollback uncompact latest`},
		{"pin", `scrollback pin latest 1`},
		{"kept", `scrollback kept latest`},
		{"clear", `scrollback clear latest`},
	}},
	{i18n.GroupGoBack, []Example{
		{"rewind", `scrollback rewind latest 2`},
		{"branches", `scrollback branches latest`},
		{"fork", `scrollback fork latest 1 --title "Another way"`},
	}},
	{i18n.GroupMove, []Example{
		{"export", `scrollback export latest -o talk.jsonl`},
		{"handoff", `scrollback handoff latest --to claude --print`},
		{"archive", `scrollback archive latest`},
		{"import", `scrollback import talk.jsonl`},
		{"watch", `scrollback watch --mask`},
		{"hook session-start", `scrollback hook session-start --agent claude-code`},
		{"hook prompt", `scrollback hook prompt --agent codex`},
		{"hook pre-compact", `scrollback hook pre-compact --agent qwen-code`},
		{"hook stop", `scrollback hook stop --agent claude-code`},
		{"hook log", `scrollback hook log --told`},
		{"hook off", `scrollback hook off --folder ~/private`},
		{"hook on", `scrollback hook on --agent codex`},
		{"place join", `scrollback place join . ~/old/shop`},
		{"place list", `scrollback place list`},
		{"place part", `scrollback place part .`},
		{"backup create", `scrollback backup create talks.backup --encrypt`},
		{"backup list", `scrollback backup list .`},
		{"backup verify", `scrollback backup verify talks.backup`},
		{"backup restore", `scrollback backup restore talks.backup --data restored`},
		{"merge", `scrollback merge restored`},
		{"sync init", `scrollback sync init .`},
		{"sync run", `scrollback sync run . --dry-run`},
		{"sync machines", `scrollback sync machines .`},
		{"sync add", `scrollback sync add . age1enmvqf7tyalsccuh6ll7sje9lyqyy929kpgwskxh59qek8vx8p3sxusnx7 --name desk`},
		{"sync remove", `scrollback sync remove . desk`},
		{"identity", `scrollback identity`},
		{"migrate",
			`scrollback migrate --from sqlite:///srv/scrollback.db --to postgres://scrollback@db/scrollback --finish`},
	}},
	{i18n.GroupShare, []Example{
		{"keys", `scrollback keys`},
		{"keys add", `scrollback keys add --name laptop --role write --expires 90d`},
		{"keys list", `scrollback keys list`},
		{"keys limit", `scrollback keys limit laptop --chats 100/h --tokens-per-day 500000`},
		{"keys revoke", `scrollback keys revoke laptop`},
	}},
	{i18n.GroupCare, []Example{
		{"rename", `scrollback rename latest "Where the key is"`},
		{"trash", `scrollback trash ID`},
		{"restore", `scrollback restore ID`},
		{"purge", `scrollback purge ID`},
		{"projects", `scrollback projects`},
		{"projects set", `scrollback projects set support --title "Support" --policy rolling`},
		{"projects show", `scrollback projects show support`},
		{"projects list", `scrollback projects list --json`},
		{"projects delete", `scrollback projects delete support`},
		{"usage", `scrollback usage --by day,model`},
		{"models", `scrollback models`},
		{"doctor", `scrollback doctor`},
		{"doctor check", `scrollback doctor check`},
		{"doctor agents", `scrollback doctor agents`},
		{"health", `scrollback health --addr 127.0.0.1:7078`},
		{"version", `scrollback version`},
		{"help", `scrollback help context grep`},
	}},
	{i18n.GroupShell, []Example{
		{"completion", `scrollback completion bash`},
		{"man", `scrollback man`},
	}},
}

// Example is a command, and a line to type.
type Example struct{ Command, Line string }

// Variables are those the program reads from the environment.
var Variables = []struct {
	Name  string
	About i18n.ID
}{
	{"SCROLLBACK_DATA", i18n.VariableData},
	{"SCROLLBACK_STORE", i18n.VariableStore},
	{"SCROLLBACK_OBJECTS", i18n.VariableObjects},
	{"SCROLLBACK_BACKUP", i18n.VariableBackup},
	{"SCROLLBACK_IDENTITY", i18n.VariableIdentity},
	{"SCROLLBACK_DOWNLOADS", i18n.VariableDownloads},
	{"SCROLLBACK_CONFIG", i18n.VariableConfig},
	{"SCROLLBACK_MODEL", i18n.VariableModel},
	{"SCROLLBACK_LIMIT", i18n.VariableLimit},
	{"SCROLLBACK_ADDR", i18n.VariableAddr},
	{"SCROLLBACK_POLICY", i18n.VariablePolicy},
	{"SCROLLBACK_SUMMARY_MODEL", i18n.VariableSummaryModel},
	{"SCROLLBACK_TITLES", i18n.VariableTitles},
	{"SCROLLBACK_TITLE_MODEL", i18n.VariableTitleModel},
	{"SCROLLBACK_SEARXNG", i18n.VariableSearxng},
	{"SCROLLBACK_WEB_SEARCH", i18n.VariableWebSearch},
	{"SCROLLBACK_RATE_LIMIT", i18n.VariableRateLimit},
	{"SCROLLBACK_GRACE", i18n.VariableGrace},
	{"SCROLLBACK_HOOKS", i18n.VariableHooks},
	{"SCROLLBACK_LOG_LEVEL", i18n.VariableLogLevel},
	{"SCROLLBACK_LOG_FORMAT", i18n.VariableLogFormat},
	{"OPENAI_API_KEY, …", i18n.VariableOpenaiApiKey},
}
