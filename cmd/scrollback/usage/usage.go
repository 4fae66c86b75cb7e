// Package usage explains the command line: the overview, the help of a command, the manual
// page, in English and Chinese, all from the one description that the parser reads.
//
// Words it adds: application (the commands, flags and arguments, as the parser knows them).
//
// Invariants: what the parser takes is what is explained; a test holds that the catalogue has
// every sentence. Rows fit the terminal, by columns and not by characters. The
// manual page holds nothing that troff would take for a request of its own.
//
// It may not run anything, nor know the environment.
package usage

import (
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// Page is how the command line is explained.
type Page struct {
	W        io.Writer
	Width    int // of a row, in columns
	Language i18n.Language
}

// say returns a sentence in the language of the page.
func (p Page) say(id i18n.ID) string { return p.Language.Say(id) }

// Known reports whether the catalogue has the help that a tag of the command line names.
func Known(help string) bool { return i18n.Under("help", help) != "" }

// Lists are what texts of the help name that others list: {name} in a text stands for the list of a name, and
// {name or} for the same with "or" before the last.
type Lists map[string][]string

// fill puts the lists into a text.
func (ls Lists) fill(l i18n.Language, text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	comma := ", "
	or := " or "
	if l == i18n.Chinese {
		comma = "、"
		or = " 或 "
	}
	for name, list := range ls {
		last := len(list) - 1
		text = strings.ReplaceAll(text, "{"+name+" or}", strings.Join(list[:last], comma)+or+list[last])
		text = strings.ReplaceAll(text, "{"+name+"}", strings.Join(list, comma))
	}
	return text
}

// Explain puts the help of all commands in place of the names that their tags give it.
func Explain(l i18n.Language, n *line.Node, lists Lists) {
	say := func(id string) string { return lists.fill(l, l.Of("help", id)) }
	n.Help = say(n.Help)
	for _, f := range n.Flags {
		f.Help = say(f.Help)
	}
	for _, a := range n.Positional {
		a.Help = say(a.Help)
	}
	for _, c := range n.Children {
		Explain(l, c, lists)
	}
}

// heading returns a heading.
func (p Page) heading(id i18n.ID) string { return p.Language.Say(i18n.HelpHeading, id) }

// Name returns a command as it is typed.
func Name(n *line.Node) string {
	var words []string
	for ; n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(words, " ")
}

// Overview is what a newcomer to the program reads first.
func (p Page) Overview(root *line.Node) error {
	fmt.Fprintln(p.W, p.say(i18n.HelpAbout))
	fmt.Fprintf(p.W, "\n%s\n", p.say(i18n.HelpStartWith))
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
			name, _, _ := strings.Cut(e.Command, " ") // of a group
			if help, ok := about[name]; ok {
				rows = append(rows, [2]string{name, help})
				delete(about, name)
			}
		}
		p.rows(rows)
	}
	fmt.Fprintf(p.W, "\n%s\n", p.say(i18n.HelpGlobalFlags))
	p.rows(flags(root.Flags))
	fmt.Fprintf(p.W, "\n%s\n", p.say(i18n.HelpEnvironment))
	p.rows(p.variables())
	_, err := fmt.Fprintf(p.W, "\n%s\n", p.say(i18n.HelpOfCommand))
	return err
}

// Command explains a command.
func (p Page) Command(n *line.Node) error {
	fmt.Fprintf(p.W, "%s %s\n\n", p.heading(i18n.HelpUsage), synopsis(n))
	p.rows([][2]string{{"", n.Help}})
	p.part(i18n.HelpArguments, arguments(n))
	p.part(i18n.HelpCommands, children(n))
	own := n.Flags
	for up := n.Parent; up != nil && up.Parent != nil; up = up.Parent {
		own = append(own, up.Flags...)
	}
	p.part(i18n.HelpFlags, flags(own))
	if group := n.Parent; group != nil && group.DefaultCmd == n {
		p.part(i18n.HelpAlso, siblings(n))
	}
	root := n
	for root.Parent != nil {
		root = root.Parent
	}
	p.part(i18n.HelpGlobalFlags, flags(root.Flags))
	for _, g := range Groups {
		for _, e := range g.Commands {
			if e.Command == Name(n) {
				fmt.Fprintf(p.W, "\n%s\n  %s\n", p.heading(i18n.HelpExample), e.Line)
			}
		}
	}
	return nil
}

func (p Page) part(name i18n.ID, rows [][2]string) {
	if len(rows) > 0 {
		fmt.Fprintf(p.W, "\n%s\n", p.heading(name))
		p.rows(rows)
	}
}

// mostName is the most that a name may push the sentences to the right, in columns.
const mostName = 28

// rows writes names with their sentences beside them.
func (p Page) rows(rows [][2]string) {
	left := 0
	for _, r := range rows {
		if w := columns.TextWidth(r[0]); w <= mostName {
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
		for _, row := range columns.WrapLine(r[1], max(p.Width-1-left, mostName)) {
			if columns.TextWidth(head) > left-2 && head != "" {
				fmt.Fprintln(p.W, head)
				head = ""
			}
			fmt.Fprintln(p.W, strings.TrimRight(head+strings.Repeat(" ", max(left-columns.TextWidth(head), 0))+row, " "))
			head = ""
		}
	}
}

// variables returns those that the program reads, with what they are.
func (p Page) variables() [][2]string {
	var rows [][2]string
	for _, v := range Variables {
		rows = append(rows, [2]string{v.Name, p.say(v.About)})
	}
	return rows
}

func flags(all []*line.Flag) [][2]string {
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

func arguments(n *line.Node) [][2]string {
	var rows [][2]string
	for _, a := range n.Positional {
		rows = append(rows, [2]string{a.Summary(), a.Help})
	}
	return rows
}

func children(n *line.Node) [][2]string {
	var rows [][2]string
	for _, c := range n.Children {
		if !c.Hidden {
			rows = append(rows, [2]string{c.Name, c.Help})
		}
	}
	return rows
}

func siblings(n *line.Node) [][2]string {
	var rows [][2]string
	for _, c := range n.Parent.Children {
		if c != n {
			rows = append(rows, [2]string{Name(c), c.Help})
		}
	}
	return rows
}

// synopsis returns a command with what it takes.
func synopsis(n *line.Node) string {
	out := strings.TrimSpace("scrollback " + Name(n))
	for _, a := range n.Positional {
		out += " " + a.Summary()
	}
	if len(n.Children) > 0 {
		out += " COMMAND"
	}
	return out + " [--flags]"
}
