package main

import (
	"io"
	"os"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/complete"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/usage"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/clients"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/install"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"command-explain"`
}

// Run implements the command.
func (c *helpCmd) Run(g *globals, l *line.Line) error {
	about, err := l.Root.Trace(c.Command)
	if err != nil {
		return scrollback.ParamErrorf("scrollback", "command", "%s", usage.MeantAt(err, about))
	}
	return explainUsage(g.stdout, about)
}

// explainUsage prints help for the command that a line selects, or the overview.
func explainUsage(w io.Writer, l *line.Line) error {
	explainCommands(l.Root)
	p := usage.Page{W: w, Width: terminalWidth(w), Language: i18n.Language(localeLanguage())}
	if node := l.Selected(); node != nil {
		return p.Command(node)
	}
	return p.Overview(l.Root)
}

// explainCommands puts the help of all commands in place of its names. Only who prints it waits for that.
func explainCommands(root *line.Node) {
	usage.Explain(i18n.Language(localeLanguage()), root, helpLists())
}

// helpLists returns what the help lists: of formats, keepers are the tools whose conversations are looked for
// where they keep them, formats all others that are read; and the policies of compaction.
func helpLists() usage.Lists {
	machine := transcript.Machine{System: "linux", Home: "/home/somebody", Folders: []string{"/home/somebody/work"},
		Getenv: func(string) string { return "" }}
	var keepers, formats []string
	for _, tool := range all.Tools() {
		if len(tool.Homes(machine)) > 0 {
			keepers = append(keepers, tool.Name())
		} else {
			formats = append(formats, tool.Name())
		}
	}
	formats = append(formats, transfer.BundleFormat)
	for _, f := range all.Importers() {
		if !slices.Contains(keepers, f.Name()) {
			formats = append(formats, f.Name())
		}
	}
	return usage.Lists{"keepers": keepers, "formats": formats, "policies": compact.Names(), "clients": clients.Names(),
		"installs": install.Agents()}
}

// speaksChinese reports whether the program speaks Chinese.
func speaksChinese() bool { return localeLanguage() == words.Chinese }

type manCmd struct{}

// Run implements the command.
func (manCmd) Run(g *globals, l *line.Line) error {
	explainCommands(l.Root)
	return usage.Page{W: g.stdout, Language: i18n.Language(localeLanguage())}.Man(l.Root,
		"scrollback "+programVersion(),
		manualDate(os.Getenv("SOURCE_DATE_EPOCH")))
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"shell"`
}

// Run implements the command.
func (c *completionCmd) Run(g *globals) error { return complete.WriteScript(g.stdout, c.Shell) }

// completeCmd is what the scripts of completion run.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"what-stands-on-line-so-far"`
}

// Run implements the command. What cannot be looked up is not offered, and nothing is said
// about it: somebody is typing.
func (c *completeCmd) Run(g *globals, l *line.Line) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	explainCommands(l.Root)
	sources := complete.Sources{Conversations: func() (out []complete.Choice) {
		_ = g.withExisting(func(a *app) error {
			items, _, err := a.List(g.ctx, scrollback.ListQuery{Limit: scrollback.ListMax})
			for _, it := range items {
				out = append(out, complete.Choice{Word: shortID(g.ctx, a.View, it.ID),
					About: columns.ClipText(it.Title, aboutWidth)})
			}
			return err
		})
		return out
	}, Projects: func() (out []complete.Choice) {
		_ = g.withExisting(func(a *app) error {
			items, err := a.Projects().List(g.ctx)
			for _, it := range items {
				out = append(out, complete.Choice{Word: it.Name})
			}
			return err
		})
		return out
	}}
	return sources.Write(g.stdout, l.Root, words)
}

// aboutWidth is how much of a title stands beside an id, in columns.
const aboutWidth = 50
