package usage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/internal/nearest"
)

// What other programs call what this one has under another name, by that name.
var (
	flagSynonyms = map[string][]string{
		"addr": {"port", "host", "listen", "bind", "address"}, "store": {"db", "database", "dsn"},
		"data": {"dir", "data-dir", "home"},
		"tz":   {"timezone", "time-zone", "zone"}, "model": {"engine"}, "limit": {"context", "context-size", "window"},
		"output": {"out", "file"},
		"from":   {"source", "tool"}, "project": {"workspace"},
	}
	commandSynonyms = map[string][]string{
		"list": {"ls", "conversations", "history"}, "trash": {"rm", "delete", "remove", "del"}, "search": {"find", "grep"},
		"serve": {"server", "start", "web", "ui", "daemon"}, "run": {"ask", "prompt", "exec"},
		"chat":   {"new", "talk", "repl", "resume", "continue"},
		"rename": {"mv", "title"}, "uncompact": {"undo"},
		"kept": {"keep", "remembered", "memory", "todos"},
		"show": {"cat", "view", "print", "get", "log", "tail", "head", "messages"}, "usage": {"stats", "cost", "costs"},
		"doctor": {"check", "fsck"}, "restore": {"undelete"}, "fork": {"copy", "duplicate"}, "export": {"save", "dump"},
		"import": {"load"},
	}
)

// Meant returns what the parser says of a line, with what was probably meant: the name that is
// nearest, or the one that is known elsewhere by what was typed.
func Meant(err error) string {
	var at *line.Error
	if !errors.As(err, &at) || at.Line == nil {
		return err.Error()
	}
	return MeantAt(err, at.Line)
}

// MeantAt is [Meant] of an error at a place in a line.
func MeantAt(err error, at *line.Line) string {
	said, _, _ := strings.Cut(err.Error(), ", did you mean ")
	node := at.Selected()
	if node == nil {
		node = at.Root
	}
	if name, ok := strings.CutPrefix(said, "unknown flag "); ok {
		typed := strings.TrimLeft(name, "-")
		if near := nearestOf(typed, flagNames(at.Flags()), flagSynonyms); near != "" {
			return suggest(said, "--"+near)
		}
		for _, c := range node.Children { // flags of a command that is not named yet
			if near := nearestOf(typed, flagNames(c.Flags), flagSynonyms); near != "" && !c.Hidden {
				return suggest(said, c.Name+" --"+near)
			}
		}
		return said
	}
	name, ok := strings.CutPrefix(said, "unexpected argument ")
	if !ok || len(node.Children) == 0 {
		return said
	}
	said = "unknown command " + strings.TrimSpace(strings.TrimPrefix(Name(node), "scrollback")+" "+name)
	var names []string
	for _, c := range node.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	if near := nearestOf(name, names, commandSynonyms); near != "" {
		return suggest(said, near)
	}
	return said
}

// suggest adds what was probably meant to what is said.
func suggest(said, near string) string { return fmt.Sprintf("%s, did you mean %q?", said, near) }

// leastPrefix is how much of a name is enough to mean all of it.
const leastPrefix = 3

// nearestOf returns the known name that is meant by what was typed, or empty.
func nearestOf(typed string, known []string, synonyms map[string][]string) string {
	for _, k := range known {
		if slices.Contains(synonyms[k], strings.ToLower(typed)) {
			return k
		}
	}
	if near := nearest.FindNearest(typed, known); near != "" {
		return near
	}
	begun := slices.DeleteFunc(slices.Clone(known),
		func(k string) bool { return !strings.HasPrefix(k, strings.ToLower(typed)) })
	if len(typed) >= leastPrefix && len(begun) == 1 {
		return begun[0]
	}
	return ""
}

func flagNames(flags []*line.Flag) (names []string) {
	for _, f := range flags {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}
