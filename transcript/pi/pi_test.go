package pi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/pi"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures are three sessions that pi 1.6.0 wrote (a resume, a fork, a named one with a command that was
// run by hand) and two by its description (a tree with a compaction, the first version).
var fixtures = tooltest.Case{Tool: pi.Tool{}, FS: os.DirFS("testdata/sessions"), Mutants: 700}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

// What describes a session of the real program, and what a call used.
func TestDetails(t *testing.T) {
	heads := map[string]transcript.Entry{}
	var answers []transcript.Entry
	for _, e := range tooltest.ReadEntries(t, pi.Tool{}, fixtures.FS) {
		if e.Conversation != nil {
			heads[e.Source] = e
		}
		if e.Message.ID == "c7395323" {
			answers = append(answers, e)
		}
	}
	named := heads["01a22bdd-795e-7692-b7d9-f142ca784044"]
	if named.Conversation.Title != "Named by me" || named.Conversation.Model != "stub-1" ||
		named.Origin.Folder != "/home/me/harbour" || string(named.Conversation.Meta) != `{"pi":{"provider":"s"}}` {
		t.Errorf("%+v of %+v", named.Conversation, named.Origin)
	}
	first := heads["01a22bdd-3948-72cb-9353-d5e3fc3f0c8f"]
	fork := heads["01a22bdd-6e50-710c-b893-37de15232a2d"]
	if first.Origin.Root == "" || first.Origin.Root != fork.Origin.Root {
		t.Errorf("a fork begins with %q, its source with %q", fork.Origin.Root, first.Origin.Root)
	}
	if len(answers) != 2 {
		t.Fatalf("%d answers", len(answers))
	}
	want := scrollback.Usage{InputTokens: 110, CachedTokens: 100, OutputTokens: 5, TotalTokens: 115, Cost: 0.00003,
		Currency: "USD"}
	if m := answers[0].Message; m.Usage == nil || *m.Usage != want || m.Model != "stub-1" {
		t.Errorf("%+v, %+v", m, m.Usage)
	}
}

// OpenClaw keeps what pi keeps, elsewhere.
func TestHomes(t *testing.T) {
	vars := map[string]string{}
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(k string) string { return vars[k] }}
	if d := cmp.Diff([]string{"/home/u/.pi/agent/sessions"}, pi.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
	vars["PI_CODING_AGENT_DIR"] = "/p"
	vars["PI_CODING_AGENT_SESSION_DIR"] = "/s"
	vars["OPENCLAW_STATE_DIR"] = "/c"
	if d := cmp.Diff([]string{"/p/sessions", "/s"}, pi.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
	want := []string{"/home/u/.openclaw/agents", "/home/u/.clawdbot/agents", "/c/agents"}
	if d := cmp.Diff(want, pi.OpenClaw().Homes(m)); d != "" {
		t.Error(d)
	}
}

// What is written comes back as it was; thoughts of another model are not sent again, and a cut answer is.
func TestWrite(t *testing.T) {
	file := tooltest.RunExporter(t, pi.Tool{}, pi.Tool{}, "session.jsonl")
	for raw := range bytes.Lines(file) {
		var l struct {
			Message struct {
				StopReason string
				Content    []struct{ Type, Text string }
			}
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		for _, b := range l.Message.Content {
			if b.Type == "thinking" {
				t.Errorf("a thought would be sent: %s", raw)
			}
			if b.Text == "It is a" && l.Message.StopReason != "stop" {
				t.Errorf("the cut answer is left out by the tool: %s", raw)
			}
		}
	}
}
