package usage

// Groups are the commands as a newcomer meets them, each with an example. ID and REF
// stand for what the reader has.
var Groups = []struct {
	Name     string
	Commands []Example
}{
	{"Chat", []Example{
		{"chat", `scrollback chat --resume`},
		{"run", `scrollback run "The spare key is under the third bollard."`},
		{"serve", `scrollback serve --addr 127.0.0.1:7078`},
		{"mcp", `scrollback mcp --conversation latest`},
	}},
	{"Notebooks", []Example{
		{"notebook new", `scrollback notebook new plan.ipynb --title "The plan"`},
		{"notebook", `scrollback notebook plan.ipynb`},
		{"notebook run", `scrollback notebook run plan.ipynb "The spare key is under the third bollard."`},
		{"notebook show", `scrollback notebook show plan.ipynb`},
		{"notebook compress", `scrollback notebook compress plan.ipynb`},
	}},
	{"Read", []Example{
		{"list", `scrollback list --max 10`},
		{"show", `scrollback show latest --after 0`},
		{"search", `scrollback search "spare key"`},
		{"context", `scrollback context latest`},
		{"context show", `scrollback context show latest`},
		{"context list", `scrollback context list latest`},
		{"context receipts", `scrollback context receipts latest`},
		{"context read", `scrollback context read REF`},
		{"context tail", `scrollback context tail REF --lines 20`},
		{"context grep", `scrollback context grep latest "third.*bollard"`},
	}},
	{"Compact", []Example{
		{"compact", `scrollback compact latest --force`},
		{"uncompact", `scrollback uncompact latest`},
		{"pin", `scrollback pin latest 1`},
		{"clear", `scrollback clear latest`},
	}},
	{"Go back", []Example{
		{"rewind", `scrollback rewind latest 2`},
		{"branches", `scrollback branches latest`},
		{"fork", `scrollback fork latest 1 --title "Another way"`},
	}},
	{"Move", []Example{
		{"export", `scrollback export latest -o talk.jsonl`},
		{"archive", `scrollback archive latest`},
		{"import", `scrollback import talk.jsonl`},
		{"watch", `scrollback watch --mask`},
		{"migrate",
			`scrollback migrate --from sqlite:///srv/scrollback.db --to postgres://scrollback@db/scrollback --finish`},
	}},
	{"Share", []Example{
		{"keys", `scrollback keys`},
		{"keys add", `scrollback keys add --name laptop --role write --expires 90d`},
		{"keys list", `scrollback keys list`},
		{"keys limit", `scrollback keys limit laptop --chats 100/h --tokens-per-day 500000`},
		{"keys revoke", `scrollback keys revoke laptop`},
	}},
	{"Care", []Example{
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
	{"Shell", []Example{
		{"completion", `scrollback completion bash`},
		{"man", `scrollback man`},
	}},
}

// Example is a command, and a line to type.
type Example struct{ Command, Line string }

// Variables are those the program reads from the environment.
var Variables = [][2]string{
	{"SCROLLBACK_DATA", "folder that holds the data"},
	{"SCROLLBACK_STORE", "database: postgres://…, sqlite:///…"},
	{"SCROLLBACK_OBJECTS", "where the bytes of artifacts are kept: s3://…, file:///…"},
	{"SCROLLBACK_DOWNLOADS", "server or signed: whether artifacts are fetched from the bucket"},
	{"SCROLLBACK_CONFIG", "config file"},
	{"SCROLLBACK_MODEL", "model, as provider/name; offline needs no key"},
	{"SCROLLBACK_LIMIT", "window of the model in tokens"},
	{"SCROLLBACK_ADDR", "address that serve listens on"},
	{"SCROLLBACK_POLICY", "how new conversations are compacted"},
	{"SCROLLBACK_SUMMARY_MODEL", "models to ask for summaries, separated by commas"},
	{"SCROLLBACK_TITLES", "where titles come from: model, prompt or off"},
	{"SCROLLBACK_TITLE_MODEL", "model to ask for titles"},
	{"SCROLLBACK_SEARXNG", "address of a SearXNG server that searches the web"},
	{"SCROLLBACK_WEB_SEARCH", "who searches the web: auto, provider, searxng or off"},
	{"SCROLLBACK_RATE_LIMIT", "chats that each key, or else address, may begin, such as 100/h"},
	{"SCROLLBACK_GRACE", "how long serve goes on once it is told to end, such as 5s"},
	{"SCROLLBACK_LOG_LEVEL", "what is logged: debug, info, warn or error"},
	{"SCROLLBACK_LOG_FORMAT", "form of the log: text or json"},
	{"OPENAI_API_KEY, …", "key of a provider: its name in capitals, then _API_KEY"},
}
