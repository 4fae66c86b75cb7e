package codex_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// A thread that the tool made of a session of another tool says so; a ledger that is damaged or
// odd costs what it damaged.
func TestThreadsMadeOfOtherSessions(t *testing.T) {
	const thread = "019ca000-0091-7000-8000-0000000000aa"
	record := func(more string) string {
		return `{"source_path":"/home/a/.claude/projects/-w/11111111-2222-4333-8444-555555555555.jsonl",` +
			`"imported_thread_id":"` + thread + `"` + more + `}`
	}
	for name, c := range map[string]struct {
		ledger string
		copied bool
		title  string
	}{
		"as it is":  {`{"records":[` + record(`,"imported_at":1790932099,"title":"Tides"`) + `]}`, true, "Tides"},
		"as a list": {`[` + record("") + `]`, true, ""},
		"odd fields": {`{"version":2,"records":[7,null,{"imported_thread_id":5},` +
			record(`,"imported_at":"soon","title":null`) + `]}`, true, ""},
		"torn":           {`{"records":[` + record("") + `,{"source_pa`, true, ""},
		"capitals":       {`{"records":[` + strings.Replace(record(""), "00aa", "00AA", 1) + `]}`, true, ""},
		"no JSON":        {"\x00\x00", false, ""},
		"empty":          {"", false, ""},
		"no records":     {`{"records":{"a":1}}`, false, ""},
		"another thread": {`{"records":[` + strings.Replace(record(""), "00aa", "00bb", 1) + `]}`, false, ""},
	} {
		files := promptOf(t, true, "how high is the tide?")
		files["external_agent_session_imports.json"] = &fstest.MapFile{Mode: 0o644, Data: []byte(c.ledger)}
		said := false
		for _, e := range tooltest.ReadEntries(t, codex.Tool{}, files) {
			if e.Conversation == nil {
				said = said || e.Message.Parts.Text() == "how high is the tide?"
				continue
			}
			meta := string(e.Conversation.Meta)
			marked := strings.Contains(meta, `"copy_of":{`) &&
				strings.Contains(meta, `"session":"11111111-2222-4333-8444-555555555555"`)
			if e.Copy != c.copied || marked != c.copied || e.Conversation.Title != c.title {
				t.Errorf("%s: copy %v, title %q, meta %s", name, e.Copy, e.Conversation.Title, meta)
			}
		}
		if !said {
			t.Errorf("%s: what was said is not there", name)
		}
	}

	// What the ledger says later changes the session's stamp, and nobody else's.
	files := promptOf(t, true, "how high is the tide?")
	stamp := func() (all []string) {
		for s, err := range (codex.Tool{}).Sessions(t.Context(), transcript.Place{FS: files, Name: "."}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s.Stamp)
		}
		return all
	}
	before := stamp()
	files["external_agent_session_imports.json"] = &fstest.MapFile{Mode: 0o644,
		Data: []byte(`{"records":[` + record("") + `]}`)}
	if after := stamp(); len(before) != 1 || before[0] == after[0] {
		t.Errorf("the stamps were %v and are %v", before, after)
	}
}
