package copilotcli_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/copilotcli"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures are two sessions that Copilot CLI 1.0.102 wrote (resumed and compacted; with a sub-agent), and two by
// its description: a rewind, and an old one.
var fixtures = tooltest.Case{Tool: copilotcli.Tool{}, FS: os.DirFS("testdata/session-state"), Mutants: 700}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

// What describes a session and its sub-agent, and that each call of a model is counted once.
func TestDetails(t *testing.T) {
	heads := map[string]transcript.Entry{}
	var used []scrollback.Usage
	for _, e := range tooltest.ReadEntries(t, copilotcli.Tool{}, fixtures.FS) {
		if e.Conversation != nil {
			heads[e.Source] = e
		}
		if e.Message.Usage != nil {
			used = append(used, *e.Message.Usage)
		}
	}
	own := heads["621f2152-87fa-4f88-8880-1129c847f815"]
	agent := heads["621f2152-87fa-4f88-8880-1129c847f815/67973849-6af0-4e3f-9abf-0d0cecb13623"]
	if own.Conversation == nil || own.Origin.Folder != "/home/me/harbour" || own.Origin.GitBranch != "master" ||
		own.Conversation.Title != "delegate it" || own.Conversation.Model != "stub-1" {
		t.Errorf("%+v of %+v", own.Conversation, own.Origin)
	}
	if agent.Agent == nil || *agent.Agent != (transcript.AgentOf{Source: own.Source, CallID: "call_mx33ltl82"}) ||
		agent.Conversation.Title != "Count the files" {
		t.Errorf("%+v, %+v", agent.Agent, agent.Conversation)
	}
	if len(used) != 6 {
		t.Errorf("%d calls of a model were counted, want 6", len(used))
	}
	for _, u := range used {
		if u != (scrollback.Usage{InputTokens: 110, CachedTokens: 100, OutputTokens: 5, TotalTokens: 115}) {
			t.Errorf("%+v", u)
		}
	}
}

func TestHomes(t *testing.T) {
	vars := map[string]string{"COPILOT_HOME": "/c"}
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(k string) string { return vars[k] }}
	if d := cmp.Diff([]string{"/home/u/.copilot/session-state", "/c/session-state"}, copilotcli.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
}
