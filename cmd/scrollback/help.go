package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/manual"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

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
	for _, g := range manual.Groups {
		for _, e := range g.Commands {
			if e.Command == name {
				_, err := fmt.Fprintf(ctx.Stdout, "\nExample:\n  %s\n", e.Line)
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
	for _, g := range manual.Groups {
		fmt.Fprintf(w, "\n%s\n", g.Name)
		var rows [][]string
		for _, e := range g.Commands {
			if help, ok := about[e.Command]; ok {
				rows = append(rows, []string{"  " + e.Command, help})
			}
		}
		if err := columns.Table(w, rows); err != nil {
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
	if err := columns.Table(w, rows); err != nil {
		return err
	}
	fmt.Fprint(w, "\nEnvironment; a flag overrides it, and it overrides the config file\n")
	rows = nil
	for _, v := range manual.Variables {
		rows = append(rows, []string{"  " + v[0], v[1]})
	}
	if err := columns.Table(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "\nscrollback help COMMAND explains a command, with an example.\n")
	return err
}
