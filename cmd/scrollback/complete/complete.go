// Package complete finds how a line of a shell may go on: commands, flags, the values that
// are known, conversations by id with their titles. The scripts that ask are here too.
//
// Words it adds: choice (a word the line may go on with, and what it is), source (what knows
// conversations and projects).
//
// Invariants: whatever is typed, a choice is printed on one line, the word first, a tab, and
// plain text; nothing is looked up that the place on the line cannot take; flags are offered
// after what they may stand behind. Files are left to the shell: the word ":files" says so.
//
// It may not know what the commands do, nor where data is.
package complete

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/clients"
	"github.com/scrollback-ai/scrollback/internal/install"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	formats "github.com/scrollback-ai/scrollback/transcript/all"
)

// Choice is a word that the line may go on with.
type Choice struct{ Word, About string }

// Files stands for the names of files, which the shell knows.
const Files = ":files"

// Sources are asked for what is stored, when the line may name it.
type Sources struct {
	Conversations, Projects func() []Choice
}

// Write prints the choices for a line; the last word of it is being typed.
func (s Sources) Write(w io.Writer, root *line.Node, words []string) error {
	typed := ""
	if n := len(words); n > 0 {
		words, typed = words[:n-1], words[n-1]
	}
	for _, c := range s.listChoices(root, words, typed) {
		about := strings.Join(strings.Fields(c.About), " ")
		if _, err := fmt.Fprintf(w, "%s\t%s\n", c.Word, about); err != nil {
			return err
		}
	}
	return nil
}

// listChoices returns those for what is typed behind the words of a line.
func (s Sources) listChoices(root *line.Node, words []string, typed string) []Choice {
	at := root
	taken := 0
	var flag *line.Flag // whose value comes next
	for _, word := range words {
		switch {
		case flag != nil:
			flag = nil
		case strings.HasPrefix(word, "-"):
			name, _, whole := strings.Cut(word, "=")
			if f := findFlag(at, name); f != nil && !f.IsBool() && !whole {
				flag = f
			}
		default:
			if next := childNamed(at, word); next != nil {
				at = next
				taken = 0
			} else {
				taken++
			}
		}
	}
	switch name, value, whole := strings.Cut(typed, "="); {
	case flag != nil:
		return matchChoices(s.valueChoices(flag.Value), typed, "")
	case strings.HasPrefix(typed, "-") && whole:
		if f := findFlag(at, name); f != nil {
			return matchChoices(s.valueChoices(f.Value), value, name+"=")
		}
		return nil
	case strings.HasPrefix(typed, "-"):
		return matchChoices(flagChoices(at), typed, "")
	}
	var out []Choice
	takes := commandArguments(at)
	if n := len(takes); n > 0 && taken >= n && takes[n-1].IsCumulative() {
		taken = n - 1 // one more of them
	}
	if taken < len(takes) {
		out = s.valueChoices(takes[taken])
	}
	if taken > 0 {
		return matchChoices(out, typed, "")
	}
	for _, c := range at.Children {
		if !c.Hidden {
			out = append(out, Choice{c.Name, c.Help})
		}
	}
	return matchChoices(out, typed, "")
}

// commandArguments returns the arguments at a command; those of its default stand for it.
func commandArguments(n *line.Node) []*line.Value {
	if len(n.Positional) == 0 && n.DefaultCmd != nil {
		return n.DefaultCmd.Positional
	}
	return n.Positional
}

func childNamed(n *line.Node, name string) *line.Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// allFlags returns the flags that may stand at a command.
func allFlags(n *line.Node) []*line.Flag {
	out := n.Flags
	if n.DefaultCmd != nil {
		out = append(append([]*line.Flag{}, out...), n.DefaultCmd.Flags...)
	}
	for up := n.Parent; up != nil; up = up.Parent {
		out = append(append([]*line.Flag{}, out...), up.Flags...)
	}
	return out
}

func findFlag(n *line.Node, name string) *line.Flag {
	for _, f := range allFlags(n) {
		if "--"+f.Name == name || f.Short != 0 && "-"+string(f.Short) == name {
			return f
		}
	}
	return nil
}

func flagChoices(n *line.Node) []Choice {
	var out []Choice
	for _, f := range allFlags(n) {
		if !f.Hidden {
			out = append(out, Choice{"--" + f.Name, f.Help})
		}
	}
	return out
}

// known returns the values that the parser does not list, by the name of their flag.
func known(flag string) []string {
	switch flag {
	case "policy":
		return compact.Names()
	case "format":
		return exports()
	case "from":
		return imports()
	case "client":
		return clients.Names()
	case "agent":
		return install.Agents()
	}
	return strings.Fields(fixed[flag])
}

// fixed are those that stand in no other table.
var fixed = map[string]string{
	"effort": "none minimal low medium high xhigh max",
	"role":   "user assistant tool", "kind": "history artifact",
	"order": "relevance time", "as": "trait instruction todo",
	"by": "day model project key conversation", "recall-scope": "conversation project all",
}

// exports returns the formats in which a conversation leaves.
func exports() []string {
	out := []string{transfer.BundleFormat}
	for _, f := range formats.Exporters() {
		out = append(out, f.Name())
	}
	return out
}

// imports returns the formats and tools that are read.
func imports() []string {
	out := []string{"all", transfer.BundleFormat}
	for _, f := range formats.Importers() {
		out = append(out, f.Name())
	}
	for _, tool := range formats.Tools() {
		if !slices.Contains(out, tool.Name()) {
			out = append(out, tool.Name())
		}
	}
	return out
}

// valueChoices returns those of a flag or an argument.
func (s Sources) valueChoices(v *line.Value) []Choice {
	switch v.Name {
	case "conversation", "resume", "into":
		return append(s.Conversations(), Choice{"latest", ""})
	case "project":
		return s.Projects()
	case "data", "root", "config", "file", "files", "output", "instructions", "path":
		return []Choice{{Files, ""}}
	}
	list := strings.Split(v.Enum, ",")
	if v.Enum == "" {
		list = known(v.Name)
	}
	var out []Choice
	for _, word := range list {
		out = append(out, Choice{Word: strings.TrimSpace(word)})
	}
	return out
}

// matchChoices returns the choices that begin as typed; if there are none, those whose description
// has what was typed, so that a conversation is found by its title.
func matchChoices(of []Choice, typed, before string) []Choice {
	var begin, about []Choice
	for _, c := range of {
		switch {
		case c.Word == Files, strings.HasPrefix(c.Word, typed):
			begin = append(begin, Choice{before + c.Word, c.About})
		case !strings.HasPrefix(typed, "-") && strings.Contains(strings.ToLower(c.About), strings.ToLower(typed)):
			about = append(about, Choice{before + c.Word, c.About})
		}
	}
	if len(begin) > 0 {
		return begin
	}
	return about
}
