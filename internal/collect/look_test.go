package collect_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cline"
	"github.com/scrollback-ai/scrollback/transcript/foreign/foreigntest"
	"github.com/scrollback-ai/scrollback/transcript/goose"
)

// agents is what is known of the tools after everything was brought.
func (d *testMachine) agent(tool string) collect.Agent {
	d.Helper()
	all, err := d.collector().ListAgents(d.Context(), "")
	if err != nil {
		d.Fatal(err)
	}
	for _, a := range all {
		if a.Tool == tool {
			return a
		}
	}
	d.Fatalf("nothing is known of %s", tool)
	return collect.Agent{}
}

// A session is missing here only as long as it has something to bring: not one in which nothing
// is said, that cannot be read, or that was purged here.
func TestNothingIsBehindForEver(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("diaries/a.diary", "/work", "monday")
	d.write("diaries/silent.diary", "/work")
	d.write("diaries/torn.diary", "/work", "FAULT")
	d.write("diaries/purged.diary", "/work", "tuesday")
	if a := d.agent("diary"); a.Behind != 2 || a.Empty != 1 || len(a.Problems) != 1 ||
		a.Problems[0].Reason != "the page is torn out" {
		t.Errorf("before: %+v", a)
	}
	d.bring()
	for _, o := range d.origins() {
		if o.ID == "purged" {
			if _, err := d.sb.Purge(d.Context(), o.Conversation); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.bring()
	if a := d.agent("diary"); a.Behind != 0 || a.Here != 1 || len(a.Problems) != 1 {
		t.Errorf("after: %+v", a)
	}
	d.add("diaries/a.diary", "wednesday\n")
	if a := d.agent("diary"); a.Behind != 1 {
		t.Errorf("grown: %+v", a)
	}
}

// A task of Roo whose history is empty says what its page shows, and the database of Cline's
// sessions is not read as goose's.
func TestFoldersOfCline(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("cline/tasks/0199-a/api_conversation_history.json", "[]")
	d.write("cline/tasks/0199-a/ui_messages.json", `[{"ts":1767000000000,"type":"say","say":"text","text":"Why is it slow?"},
		{"ts":1767000001000,"type":"say","say":"api_req_started","text":"{}"},
		{"ts":1767000002000,"type":"say","say":"text","text":"It waits for the disk."},
		{"ts":1767000003000,"type":"ask","ask":"followup","text":"{\"question\":\"Which disk?\"}"},
		{"ts":1767000004000,"type":"say","say":"user_feedback","text":"The old one."},
		{"ts":1767000005000,"type":"say","say":"text","text":"I se","partial":true}]`)
	for _, name := range []string{"api_conversation_history.json", "ui_messages.json"} { // nobody is writing them
		if err := os.Chtimes(filepath.Join(d.home, "cline/tasks/0199-a", name), talkBegan, talkBegan); err != nil {
			t.Fatal(err)
		}
	}
	db := filepath.Join(d.home, "cline/db/sessions.db")
	if err := os.MkdirAll(filepath.Dir(db), 0o700); err != nil {
		t.Fatal(err)
	}
	foreigntest.RunStatements(t, db,
		"CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, is_subagent INTEGER, messages_path TEXT)")
	for _, path := range []string{"cline", "cline/db", "cline/db/sessions.db"} {
		d.o.Path = filepath.Join(d.home, path)
		d.o.Tools = []transcript.Tool{goose.Tool{}, cline.Tool{}}
		r, err := d.collector().Import(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Tools {
			if f.Tool != "cline" || f.Failed > 0 || f.Messages != 4 {
				t.Errorf("%s: %+v", path, f)
			}
		}
	}
	if tool, _, err := collect.RecognizeTool([]transcript.Tool{goose.Tool{}}, db); tool != nil || err != nil {
		t.Errorf("it is %v's, %v", tool, err)
	}
	if d.said("disk") != 2 || d.said("old") != 1 {
		t.Error("what the page shows is not here")
	}
}
