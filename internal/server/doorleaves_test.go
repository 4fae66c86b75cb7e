package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
)

// TestDoorLeaves keeps turns out of lists and searches that stood beside the path and were no turns of it, whether they
// came before the path went on or after; what a person edited away is listed and found.
func TestDoorLeaves(t *testing.T) {
	for _, late := range []bool{false, true} {
		d := newDoorRig(t, door.Options{})
		v := d.sb.Engine.As(scrollback.Operator())
		const tools = `"tools":[{"type":"function","function":{"name":"ls"}}],`
		const other = `"tools":[{"type":"function","function":{"name":"rate"}}],`
		history := []string{}
		say := func(text string) {
			history = append(history, sayAs("user", text))
			d.post("/v1/chat/completions", chatBody(tools, history...), "X-Session-Id", "s1")
			history = append(history, sayAs("assistant", "You said "+text))
		}
		found := func(words string) int {
			r, err := v.Recall().Search(t.Context(), scrollback.SearchQuery{Query: words})
			if err != nil {
				t.Fatal(err)
			}
			return len(r.Hits)
		}
		branches := func() int {
			all, err := v.Branches().List(t.Context(), d.only())
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		say("The harbour opens at noon")
		say("Two ships wait")
		beside := append(slices.Clone(history), sayAs("user", "Rate the zebra suggestion"))
		if !late {
			d.post("/v1/chat/completions", chatBody(other, beside...), "X-Session-Id", "s1")
			if found("zebra") == 0 {
				t.Error("the newest turn is not found")
			}
		}
		say("Three ships wait")
		if late {
			d.post("/v1/chat/completions", chatBody(other, beside...), "X-Session-Id", "s1")
		}
		say("Four ships wait")
		say("Five ships wait")
		if n := found("zebra"); n != 0 {
			t.Errorf("late %v: a leaf is found %d times", late, n)
		}
		if n := branches(); n != 1 {
			t.Errorf("late %v: %d branches are listed", late, n)
		}
		talk := strings.Join(d.conversations()[0], "\n")
		if strings.Contains(talk, "zebra") || !strings.Contains(talk, "You said Five ships wait") {
			t.Errorf("late %v: the path is %s", late, talk)
		}
		history = append(history[:len(history)-2], sayAs("user", "No, a walrus waits"))
		d.post("/v1/chat/completions", chatBody(tools, history...), "X-Session-Id", "s1")
		if branches() != 2 || found("Five ships") == 0 {
			t.Errorf("late %v: what was edited away is not listed, or not found", late)
		}
	}
}
