package vscodechat_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
	"github.com/scrollback-ai/scrollback/transcript/vscodechat"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures are by descriptions of the format: no editor was run.
var fixtures = tooltest.Case{Tool: vscodechat.Tool{}, FS: os.DirFS("testdata/workspaceStorage"), Mutants: 700}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) { tooltest.CompareGolden(t, fixtures, "testdata/script.golden", *update) }

// What describes a session, and what a request used.
func TestDetails(t *testing.T) {
	var head transcript.Entry
	var used []scrollback.Usage
	var models []string
	for _, e := range tooltest.ReadEntries(t, vscodechat.Tool{}, fixtures.FS) {
		if e.Conversation != nil && e.Source == "c0000000-0000-4000-8000-000000000003" {
			head = e
		}
		if e.Message.Usage != nil {
			used = append(used, *e.Message.Usage)
		}
		if e.Message.Model != "" {
			models = append(models, e.Message.Model)
		}
	}
	if head.Conversation == nil || head.Origin.Folder != "/home/me/harbour" || head.Conversation.Title != "Files" ||
		head.Conversation.CreatedAt != 1772445600000 {
		t.Errorf("%+v of %+v", head.Conversation, head.Origin)
	}
	if d := cmp.Diff([]scrollback.Usage{{OutputTokens: 39, TotalTokens: 39}}, used); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"gpt-5", "gpt-5.1"}, slices.Compact(models)); d != "" {
		t.Error(d)
	}
}

// A chat that was exported has no id of its own.
func TestExport(t *testing.T) {
	raw, err := os.ReadFile("testdata/vscode-export.json")
	if err != nil {
		t.Fatal(err)
	}
	if !(vscodechat.Tool{}).Sniff("chat.json", raw) {
		t.Error("it is not known")
	}
	if faults := tooltest.FindFaults(vscodechat.Tool{}, "chat.json", raw); len(faults) > 0 {
		t.Error(faults)
	}
}

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(string) string { return "" }}
	homes := vscodechat.Tool{}.Homes(m)
	for _, want := range []string{"/home/u/.config/Code/User/workspaceStorage",
		"/home/u/.config/Code/User/globalStorage/emptyWindowChatSessions"} {
		if !slices.Contains(homes, want) {
			t.Errorf("%s is not among %v", want, homes)
		}
	}
}
