package threading_test

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/threading"
)

// A table that cannot be used says why, by the row.
func TestReadTable(t *testing.T) {
	for text, complaint := range map[string]string{
		"\nx = ":                         "line 2:",
		"[declared]\nturn = [\"a\"]":     "line 2: unknown field declared.turn",
		"[[side_call]]\nname = \"a\"":    "line 1: row 1",
		"[[side_call]]\npattern = \"a\"": "line 1: row 1",
		"#\n[[side_call]]\nname=\"a\"\npattern='b'\n\n [[ side_call ]]\nname=\"c\"\npattern='('": `line 6: row "c": error parsing`,
	} {
		if _, err := threading.ReadTable([]byte(text)); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := threading.ReadTable(nil); err != nil {
		t.Errorf("an empty table: %v", err)
	}
}

// What a client says of a request goes before its words, and words that the user only quotes in the midst of others
// make no side call where tools are offered.
func TestSideCalls(t *testing.T) {
	for _, c := range []struct {
		declared string
		last     string
		tools    bool
		warmUp   bool
		side     string
		summary  bool
	}{
		{last: "Hello"},
		{declared: "codex:turn", last: "Hello"},
		{declared: "codex:prewarm", last: "Hello", side: "prewarm"},
		{declared: "codex:compaction", last: "Hello", side: "summary", summary: true},
		{declared: "claude:main", last: "Hello"},
		{declared: "claude:side_reply", last: "Hello", side: "side_reply"},
		{declared: "other:thing", last: "Hello"},
		{declared: "claude:main", last: "Please quote CONTEXT CHECKPOINT COMPACTION to me."},
		{warmUp: true, side: "warm-up"},
		{last: "Generate a title for this conversation:\n", side: "title"},
		{last: "Generate a title for this conversation:\n", tools: true},
		{declared: "claude:main", last: "Generate a title for this conversation:\n"},
		{declared: "codex:turn", last: "Generate a concise, single-line task title of at most 36 characters.\n\nUser prompt:\nHi",
			side: "title"},
		{declared: "codex:turn", last: "Generate a concise, single-line task title for me", tools: true},
		{declared: "codex:turn", last: "Do not Generate a concise, single-line task title"},
		{last: "Write a brief catch-up for a user returning to this Codex task. In at most 40 words", side: "catch-up"},
		{last: "Do not Generate a title for this conversation"},
		{last: "<session>\r\nHello\r\n</session>\r\n\r\nWrite the title", side: "title"},
		{last: "Now produce the <state_snapshot> XML.", tools: true, side: "summary", summary: true},
		{last: "What does <state_snapshot> mean?", tools: true},
		{last: "You are performing a CONTEXT CHECKPOINT COMPACTION.", tools: true, side: "summary", summary: true},
	} {
		r := &threading.Request{Dialect: threading.Chat, Declared: c.declared, WarmUp: c.warmUp,
			Items: []threading.Item{user(c.last)}}
		if c.tools {
			r.Tools = []string{"ls"}
		}
		m := newDesk(t).begin(r, noon)
		if m.Side != c.side || m.Summary != c.summary || (m.Purpose == threading.WarmUp) != c.warmUp {
			t.Errorf("%s %q with tools %v: a %s %q, summary %v", c.declared, c.last, c.tools, m.Purpose, m.Side, m.Summary)
		}
	}
}
