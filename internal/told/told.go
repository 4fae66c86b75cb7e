// Package told knows the texts that this program gives to other agents, and takes them out of what they kept.
//
// Invariant: of a text only what was given goes, with what the agent put around it; every other byte stays.
//
// It may not know who gives them, and when.
package told

import "strings"

// What stands around the data of a text. It says who put it there, asks for nothing and forbids nothing, and never
// changes: it is part of what agents keep in their caches, and it is known by it.
const (
	Head = "scrollback, installed by this user, found in earlier conversations here (a record):"
	Tail = "More: context_read, context_search."
)

// around are what agents put around a text.
var around = [][2]string{
	{"<hook_context>", "</hook_context>"}, {"<system_reminder>", "</system_reminder>"},
	{"<system-reminder>", "</system-reminder>"}, {"<qwen:user-prompt-submit-context>", "</qwen:user-prompt-submit-context>"},
	{"SessionStart hook additional context: ", ""}, {"UserPromptSubmit hook additional context: ", ""},
}

// Has reports whether a text was given, or holds one that was.
func Has(s string) bool { return strings.Contains(s, Head) }

// IsAll reports whether a text was given, and holds nothing else.
func IsAll(s string) bool { return Has(s) && strings.TrimSpace(Without(s)) == "" }

// Without returns a text without what was given.
func Without(s string) string {
	for from := 0; ; {
		at := strings.Index(s[from:], Head)
		if at < 0 {
			return s
		}
		begin := from + at
		end, ok := endOf(s, begin)
		if !ok {
			from = begin + len(Head)
			continue
		}
		before := s[:begin]
		after := s[end:]
		for again := true; again; {
			again = false
			for _, a := range around {
				b, opened := strings.CutSuffix(strings.TrimRight(before, " \n"), strings.TrimRight(a[0], " "))
				c, closed := strings.CutPrefix(strings.TrimLeft(after, " \n"), a[1])
				if opened && closed {
					before = b
					after = c
					again = true
				}
			}
		}
		if before = strings.TrimRight(before, "\n"); before == "" {
			after = strings.TrimLeft(after, "\n")
		}
		s = before + after
		from = len(before)
	}
}

// endOf returns where a text ends that begins at a place: behind its third line.
func endOf(s string, begin int) (end int, ok bool) {
	rest := s[begin+len(Head):]
	data, found := strings.CutPrefix(strings.TrimPrefix(rest, "\r"), "\n")
	if !found || !strings.HasPrefix(data, "[{") {
		return 0, false
	}
	_, tail, found := strings.Cut(data, "\n")
	if !found || !strings.HasPrefix(tail, Tail) {
		return 0, false
	}
	return len(s) - len(tail) + len(Tail), true
}
