// Package usage explains the command line: the overview, the help of a command, the manual
// page, in English and Chinese, all from the one description that the parser reads.
//
// Words it adds: application (the commands, flags and arguments, as the parser knows them).
//
// Invariants: what the parser takes is what is explained; a test holds every sentence
// against the Chinese table. Rows fit the terminal, by columns and not by characters. The
// manual page holds nothing that troff would take for a request of its own.
//
// It may not run anything, nor know the environment.
package usage

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// Page is how the command line is explained.
type Page struct {
	W       io.Writer
	Width   int  // of a row, in columns
	Chinese bool // else English
}

// say is a sentence in the language of the page.
func (p Page) say(s string) string {
	if p.Chinese {
		return cmp.Or(helps[s], phrases[s], s)
	}
	return s
}

// Known reports whether a sentence has its Chinese.
func Known(s string) bool { return helps[s] != "" }

// colon is a heading.
func (p Page) colon(s string) string {
	if p.Chinese {
		return p.say(s) + "："
	}
	return s + ":"
}

// Name is a command as it is typed.
func Name(n *kong.Node) string {
	var words []string
	for ; n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(words, " ")
}

// Overview is what a newcomer to the program reads first.
func (p Page) Overview(root *kong.Node) error {
	fmt.Fprintln(
		p.W,
		p.say(
			"scrollback keeps every conversation with a language model for ever, and sends the model\nthe best of it that fits its window. What no longer fits is compacted, never lost.",
		),
	)
	fmt.Fprintf(p.W, "\n%s\n", p.say("Start with these; no key is needed:"))
	for _, line := range []string{`run "The spare key is under the third bollard."`, "chat --resume", "serve"} {
		fmt.Fprintln(p.W, "  scrollback "+line)
	}
	about := map[string]string{}
	for _, n := range root.Children {
		about[n.Name] = n.Help
	}
	for _, g := range Groups {
		fmt.Fprintf(p.W, "\n%s\n", p.say(g.Name))
		var rows [][2]string
		for _, e := range g.Commands {
			if help, ok := about[e.Command]; ok {
				rows = append(rows, [2]string{e.Command, help})
			}
		}
		p.rows(rows)
	}
	fmt.Fprintf(p.W, "\n%s\n", p.say("Flags of every command, before or after its name"))
	p.rows(flags(root.Flags))
	fmt.Fprintf(p.W, "\n%s\n", p.say("Environment; a flag overrides it, and it overrides the config file"))
	p.rows(Variables)
	_, err := fmt.Fprintf(p.W, "\n%s\n", p.say("scrollback help COMMAND explains a command, with an example."))
	return err
}

// Command explains a command.
func (p Page) Command(n *kong.Node) error {
	fmt.Fprintf(p.W, "%s %s\n\n", p.colon("Usage"), synopsis(n))
	p.rows([][2]string{{"", n.Help}})
	p.part("Arguments", arguments(n))
	p.part("Commands", children(n))
	own := n.Flags
	for up := n.Parent; up != nil && up.Parent != nil; up = up.Parent {
		own = append(own, up.Flags...)
	}
	p.part("Flags", flags(own))
	root := n
	for root.Parent != nil {
		root = root.Parent
	}
	p.part("Flags of every command, before or after its name", flags(root.Flags))
	if group := n.Parent; group != nil && group.DefaultCmd == n {
		p.part("Also", siblings(n))
	}
	for _, g := range Groups {
		for _, e := range g.Commands {
			if e.Command == Name(n) {
				fmt.Fprintf(p.W, "\n%s\n  %s\n", p.colon("Example"), e.Line)
			}
		}
	}
	return nil
}

func (p Page) part(name string, rows [][2]string) {
	if len(rows) > 0 {
		fmt.Fprintf(p.W, "\n%s\n", p.colon(name))
		p.rows(rows)
	}
}

// mostName is the most that a name may push the sentences to the right, in columns.
const mostName = 28

// rows writes names with their sentences beside them.
func (p Page) rows(rows [][2]string) {
	left := 0
	for _, r := range rows {
		if w := columns.Width(r[0]); w <= mostName {
			left = max(left, w)
		}
	}
	if left > 0 {
		left += 4 // before and behind the name
	}
	for _, r := range rows {
		head := ""
		if r[0] != "" {
			head = "  " + r[0]
		}
		for _, row := range columns.Wrap(p.say(r[1]), max(p.Width-1-left, mostName)) {
			if columns.Width(head) > left-2 && head != "" {
				fmt.Fprintln(p.W, head)
				head = ""
			}
			fmt.Fprintln(p.W, strings.TrimRight(head+strings.Repeat(" ", max(left-columns.Width(head), 0))+row, " "))
			head = ""
		}
	}
}

func flags(all []*kong.Flag) [][2]string {
	var rows [][2]string
	for _, f := range all {
		if f.Hidden || f.Name == "help" {
			continue
		}
		name := "--" + f.Name
		if f.Short != 0 {
			name = fmt.Sprintf("-%c, %s", f.Short, name)
		}
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		rows = append(rows, [2]string{name, f.Help})
	}
	return rows
}

func arguments(n *kong.Node) [][2]string {
	var rows [][2]string
	for _, a := range n.Positional {
		rows = append(rows, [2]string{a.Summary(), a.Help})
	}
	return rows
}

func children(n *kong.Node) [][2]string {
	var rows [][2]string
	for _, c := range n.Children {
		if !c.Hidden {
			rows = append(rows, [2]string{c.Name, c.Help})
		}
	}
	return rows
}

func siblings(n *kong.Node) [][2]string {
	var rows [][2]string
	for _, c := range n.Parent.Children {
		if c != n {
			rows = append(rows, [2]string{Name(c), c.Help})
		}
	}
	return rows
}

// synopsis is a command with what it takes.
func synopsis(n *kong.Node) string {
	out := strings.TrimSpace("scrollback " + Name(n))
	for _, a := range n.Positional {
		out += " " + a.Summary()
	}
	if len(n.Children) > 0 {
		out += " COMMAND"
	}
	return out + " [--flags]"
}
