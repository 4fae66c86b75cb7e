package sillytavern_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/sillytavern"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// fixtures are by a sample and by descriptions: the program was not run.
var fixtures = tooltest.Case{Tool: sillytavern.Tool{}, FS: os.DirFS("testdata/chats"), Mutants: 500}

func TestSuite(t *testing.T) { tooltest.Run(t, fixtures) }

func TestScript(t *testing.T) {
	entries := tooltest.ReadEntries(t, sillytavern.Tool{}, fixtures.FS)
	want := []string{
		"Bosun/Bosun - 2026-3-2@10h00m.jsonl: Bosun: Who are you?",
		"assistant | Ahoy!",
		"user | Who are you?",
		"assistant | The bosun.",
		"back to 2",
		"assistant | thinks Be brisk. | Your bosun!",
		"user | Which quay?",
		"assistant | Seven.",
		"end[hidden or system message:1 image in another file:1]",
	}
	if d := cmp.Diff(want, tooltest.ScriptLines(entries)); d != "" {
		t.Error(d)
	}
	local := func(hour, minute, second, ms int) int64 {
		return time.Date(2026, time.March, 2, hour, minute, second, ms*int(time.Millisecond), time.Local).UnixMilli()
	}
	if c := entries[0].Conversation; c.CreatedAt != local(10, 0, 0, 0) || c.Model != "m-1" ||
		string(c.Meta) != `{"sillytavern":{"character":"Bosun"}}` {
		t.Errorf("%+v", c)
	}
	var at []int64
	for _, e := range entries {
		if e.Message.Role != "" {
			at = append(at, e.Message.CreatedAt)
		}
	}
	if d := cmp.Diff([]int64{local(10, 0, 0, 0), 1772445630000, 1772445650000, 1772445660000, 1772445720000,
		local(10, 3, 4, 5)}, at); d != "" {
		t.Error(d)
	}
}

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/u", Getenv: func(string) string { return "" }}
	if d := cmp.Diff([]string{"/home/u/SillyTavern/data", "/home/u/SillyTavern/public/chats"},
		sillytavern.Tool{}.Homes(m)); d != "" {
		t.Error(d)
	}
}
