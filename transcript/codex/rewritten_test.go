package codex_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// Of a rollout that begins with compactions, what a person said is read once, however often
// they were compacted, and what follows them too.
func TestRewrittenByCompactions(t *testing.T) {
	const thread = "019ca000-0091-7000-8000-0000000000aa"
	record := func(kind, payload string) string {
		return `{"timestamp":"2026-03-01T12:00:05.000Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	said := func(text string) string {
		return `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`
	}
	compacted := func(summary string, history ...string) string {
		return record("compacted", `{"message":"`+summary+`","replacement_history":[`+strings.Join(history, ",")+`]}`)
	}
	head := record("session_meta", `{"id":"`+thread+`","timestamp":"2026-03-01T12:00:00.000Z","cwd":"/"}`)
	after := record("response_item", said("c")) +
		record("response_item", `{"type":"message","role":"assistant","content":"d"}`)
	for name, c := range map[string]struct{ file, want string }{
		"one":            {compacted("", said("a"), said("b")) + after, "abcd"},
		"a string":       {compacted("", `{"type":"message","role":"user","content":"a"}`, said("b")) + after, "abcd"},
		"two":            {compacted("", said("a")) + compacted("", said("a"), said("b")) + after, "abcd"},
		"the same twice": {compacted("", said("a"), said("a"), said("b")) + after, "aabcd"},
		"with a summary": {compacted("S", said("a")) + compacted("", said("a"), said("b")) + after, "aSbcd"},
		"later": {compacted("", said("a"), said("b")) + after + compacted("", said("a"), said("b"), said("c")),
			"abcd"},
		"in an envelope": {compacted("", said(`# Context from my IDE setup:\n\n## My request for Codex:\na`), said("b")) +
			after, "abcd"},
	} {
		files := fstest.MapFS{"rollout-2026-03-01T12-00-00-" + thread + ".jsonl": {Mode: 0o644, Data: []byte(head + c.file)}}
		got := ""
		for _, e := range tooltest.ReadEntries(t, codex.Tool{}, files) {
			got += e.Message.Parts.Text()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
