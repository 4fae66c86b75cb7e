package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/terminal"
)

// groups are the commands as a newcomer meets them, each with an example. ID and REF
// stand for what the reader has.
var groups = []struct {
	name     string
	commands []example
}{
	{"Chat", []example{
		{"chat", `scrollback chat --resume`},
		{"run", `scrollback run "The spare key is under the third bollard."`},
		{"serve", `scrollback serve --addr 127.0.0.1:7078`},
		{"mcp", `scrollback mcp --conversation latest`},
	}},
	{"Notebooks", []example{
		{"notebook new", `scrollback notebook new plan.ipynb --title "The plan"`},
		{"notebook", `scrollback notebook plan.ipynb`},
		{"notebook run", `scrollback notebook run plan.ipynb "The spare key is under the third bollard."`},
		{"notebook show", `scrollback notebook show plan.ipynb`},
		{"notebook compress", `scrollback notebook compress plan.ipynb`},
	}},
	{"Read", []example{
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
	{"Compact", []example{
		{"compact", `scrollback compact latest --force`},
		{"uncompact", `scrollback uncompact latest`},
		{"pin", `scrollback pin latest 1`},
		{"clear", `scrollback clear latest`},
	}},
	{"Go back", []example{
		{"rewind", `scrollback rewind latest 2`},
		{"branches", `scrollback branches latest`},
		{"fork", `scrollback fork latest 1 --title "Another way"`},
	}},
	{"Move", []example{
		{"export", `scrollback export latest -o talk.jsonl`},
		{"archive", `scrollback archive latest`},
		{"import", `scrollback import talk.jsonl`},
	}},
	{"Share", []example{
		{"keys", `scrollback keys`},
		{"keys add", `scrollback keys add --name laptop --role write --expires 90d`},
		{"keys list", `scrollback keys list`},
		{"keys limit", `scrollback keys limit laptop --chats 100/h --tokens-per-day 500000`},
		{"keys revoke", `scrollback keys revoke laptop`},
	}},
	{"Care", []example{
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
		{"version", `scrollback version`},
		{"help", `scrollback help context grep`},
	}},
}

type example struct{ command, line string }

// variables are those the program reads from the environment.
var variables = [][2]string{
	{"SCROLLBACK_DATA", "folder that holds the data"},
	{"SCROLLBACK_OBJECTS", "where the bytes of artifacts are kept: s3://…, file:///…"},
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
	{"SCROLLBACK_LOG_LEVEL", "what is logged: debug, info, warn or error"},
	{"SCROLLBACK_LOG_FORMAT", "form of the log: text or json"},
	{"OPENAI_API_KEY, …", "key of a provider: its name in capitals, then _API_KEY"},
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to explain."`
}

// Run implements the command.
func (c *helpCmd) Run(ctx *kong.Context) error {
	about, err := kong.Trace(ctx.Kong, c.Command)
	if err == nil {
		err = about.Error
	}
	if err != nil {
		return scrollback.ParamErrorf("scrollback", "command", "%w", err)
	}
	return explainUsage(kong.HelpOptions{Compact: true, ValueFormatter: kong.DefaultHelpValueFormatter}, about)
}

// explainUsage prints help for the command that ctx selects, or the overview.
func explainUsage(o kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		return overview(ctx.Stdout, ctx.Model.Node)
	}
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	if group := node.Parent; group.DefaultCmd == node {
		fmt.Fprintf(ctx.Stdout, "\nAlso:\n")
		for _, c := range group.Children {
			if c != node {
				fmt.Fprintf(ctx.Stdout, "  %-18s %s\n", commandName(c), c.Help)
			}
		}
	}
	name := commandName(node)
	for _, g := range groups {
		for _, e := range g.commands {
			if e.command == name {
				_, err := fmt.Fprintf(ctx.Stdout, "\nExample:\n  %s\n", e.line)
				return err
			}
		}
	}
	return nil
}

// commandName is a command as it is typed.
func commandName(n *kong.Node) string {
	var words []string
	for ; n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(words, " ")
}

// overview is what a newcomer to the program reads first.
func overview(w io.Writer, root *kong.Node) error {
	fmt.Fprintln(w, `scrollback keeps every conversation with a language model for ever, and sends the model
the best of it that fits its window. What no longer fits is compacted, never lost.

Start with these; no key is needed:
  scrollback run "The spare key is under the third bollard."
  scrollback chat --resume
  scrollback serve`)
	about := map[string]string{}
	for _, n := range root.Children {
		about[n.Name] = n.Help
	}
	for _, g := range groups {
		fmt.Fprintf(w, "\n%s\n", g.name)
		var rows [][]string
		for _, e := range g.commands {
			if help, ok := about[e.command]; ok {
				rows = append(rows, []string{"  " + e.command, help})
			}
		}
		if err := terminal.Table(w, rows); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "\nFlags of every command, before or after its name\n")
	var rows [][]string
	for _, f := range root.Flags {
		name := "  --" + f.Name
		if !f.IsBool() {
			name += " " + f.PlaceHolder
		}
		if f.Name != "help" {
			rows = append(rows, []string{name, f.Help})
		}
	}
	if err := terminal.Table(w, rows); err != nil {
		return err
	}
	fmt.Fprint(w, "\nEnvironment; a flag overrides it, and it overrides the config file\n")
	rows = nil
	for _, v := range variables {
		rows = append(rows, []string{"  " + v[0], v[1]})
	}
	if err := terminal.Table(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "\nscrollback help COMMAND explains a command, with an example.\n")
	return err
}
