package codex

import (
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// user takes a message in the role of a person. Newer versions say of each element who
// wrote it; in older ones an event repeats what a person said, and what looks as if the
// harness had put it in is no talk without one.
func (t *teller) user(l *line, it item) {
	kinds := it.Said.Kinds
	told := len(it.Said.Items) > 0 || len(kinds) > 0
	var only []bool
	any := false
	for i := range max(len(it.Said.Items), len(kinds)) {
		typed := i < len(kinds) && strings.HasPrefix(kinds[i], "user.")
		if i < len(it.Said.Items) && it.Said.Items[i].Provenance.Type != "" {
			typed = it.Said.Items[i].Provenance.Type == "user"
		}
		only, any = append(only, typed), any || typed
	}
	if told && !any {
		t.surroundings(it)
		t.leave("reminder")
		return
	}
	pieces := t.content(it.Content, fitting(only, it))
	n := l.message(it.ID, scrollback.RoleUser, nil)
	n.typed = true
	for _, p := range pieces {
		n.add(p)
	}
	text := n.entry.Message.Parts.Text()
	if !told && t.injected(text) {
		t.surroundings(it)
		t.doubt = &n
		return
	}
	t.pending, t.spare = nil, nil
	t.add(n)
	t.last = -1
}

// fitting are the elements that count, if there is one word on each.
func fitting(only []bool, it item) []bool {
	if n := strings.Count(string(it.Content), `"type"`); only == nil || n > len(only) {
		return nil
	}
	return only
}

// harness are how the harness begins what it says in the role of a person.
var harness = []string{"<environment_context>", "<turn_aborted>", "<subagent_notification>", "<user_instructions>",
	"<user_shell_command>", "<skill>", "# AGENTS.md instructions for ", "<model_switch>", "<hook_prompt"}

// element is an element of markup from its beginning to its end.
var element = regexp.MustCompile(`\A\s*<([a-z][a-z0-9_]*)[ >]`)

// injected reports whether a text looks as if the harness had put it in.
func (t *teller) injected(text string) bool {
	text = strings.TrimSpace(text)
	for _, begin := range harness {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	m := element.FindStringSubmatch(text)
	return t.events && m != nil && strings.Contains(m[1], "_") && strings.HasSuffix(text, "</"+m[1]+">")
}

// confirm takes the event that repeats what a person said.
func (t *teller) confirm(text string) {
	t.events = true
	if t.doubt == nil {
		return
	}
	n := *t.doubt
	if strings.TrimSpace(n.entry.Message.Parts.Text()) != strings.TrimSpace(text) {
		return
	}
	t.doubt = nil
	t.pending, t.spare = nil, nil
	t.add(n)
	t.last = -1
}

// folder is how the harness says where it works.
var folder = regexp.MustCompile(`<cwd>([^<]+)</cwd>`)

// surroundings takes where it is worked from what the harness says, if nothing else has told.
func (t *teller) surroundings(it item) {
	if t.folder != "" {
		return
	}
	if m := folder.FindStringSubmatch(joined(it.Content)); m != nil {
		t.folder = strings.TrimSpace(m[1])
	}
}
