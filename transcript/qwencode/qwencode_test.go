package qwencode_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/qwencode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures are four sessions that Qwen Code 0.24.4 wrote (resumed, a fork of it, a long one, one with a sub-agent),
// and two by its source: a rewind with a compression, and an old one.
var fixtures = tooltest.Case{Tool: qwencode.Tool{}, FS: os.DirFS("testdata/projects"), Mutants: 700}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

// What describes a session, that a fork is told by its root, and what calls used.
func TestDetails(t *testing.T) {
	heads := map[string]transcript.Entry{}
	used := map[scrollback.MessageID]*scrollback.Usage{}
	for _, e := range tooltest.ReadEntries(t, qwencode.Tool{}, fixtures.FS) {
		if e.Conversation != nil {
			heads[e.Source] = e
		}
		if e.Message.ID != "" && e.Message.Usage != nil {
			used[e.Message.ID] = e.Message.Usage
		}
	}
	first := heads["0fa66b86-76dd-43d2-9247-2e71ca6eb2e9"]
	fork := heads["a4aebc36-f157-417a-a754-07b155af5759"]
	if first.Origin == nil || fork.Origin == nil || first.Origin.Root != fork.Origin.Root ||
		first.Origin.Folder != "/home/me/harbour" || first.Conversation.Model != "stub-1" {
		t.Errorf("%+v, %+v", first.Origin, fork.Origin)
	}
	if rewound := heads["rewound0-0000-4000-8000-000000000001"]; rewound.Conversation.Title != "The dot" ||
		rewound.Origin.GitBranch != "main" {
		t.Errorf("%+v of %+v", rewound.Conversation, rewound.Origin)
	}
	agent := heads["ba437ce0-36a6-4d9a-8432-aeaac64fc3c3/agent-general-purpose-call_mx33nt416"]
	if want := (transcript.AgentOf{Source: "ba437ce0-36a6-4d9a-8432-aeaac64fc3c3", CallID: "call_mx33nt416"}); agent.Agent ==
		nil || *agent.Agent != want {
		t.Errorf("the sub-agent: %+v", agent)
	}
	for id, want := range map[scrollback.MessageID]scrollback.Usage{
		"c6f1a311-06ea-4b0f-8339-eb9999a23c08": {InputTokens: 110, CachedTokens: 100, OutputTokens: 5, ReasoningTokens: 1,
			TotalTokens: 115},
		"r5": {InputTokens: 10, OutputTokens: 7, ReasoningTokens: 2, TotalTokens: 17},
	} {
		if got := used[id]; got == nil || *got != want {
			t.Errorf("%s used %+v, want %+v", id, got, want)
		}
	}
}

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(string) string { return "" }}
	if d := cmp.Diff([]string{"/home/u/.qwen/projects", "/home/u/.qwen/tmp"}, qwencode.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
}

// What is written comes back as it was; thoughts of another model are not sent again.
func TestWrite(t *testing.T) {
	file := tooltest.RunExporter(t, qwencode.Tool{}, qwencode.Tool{}, "01a1fb8d-0000-7000-8000-00000000000d.jsonl")
	if bytes.Contains(file, []byte(`"thought"`)) {
		t.Errorf("a thought would be sent: %s", file)
	}
	if !qwencode.IsSessionID("01a1fb8d-0000-7000-8000-00000000000d") || qwencode.IsSessionID("../harbour") {
		t.Error("ids of sessions are taken for none, or others for them")
	}
}
