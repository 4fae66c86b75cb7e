package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
)

// TestDoorShowsForwarded tells what a request brought that went on as it stood.
func TestDoorShowsForwarded(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	const tools = `"tools":[{"type":"function","function":{"name":"ls"}}],`
	first := []string{sayAs("system", "Be brief."), sayAs("user", "The harbour opens at noon")}
	d.post("/v1/chat/completions", chatBody(tools, first...))
	d.post("/v1/chat/completions", chatBody(tools, append(first, sayAs("assistant", "You said The harbour opens at noon"),
		sayAs("user", "When does it open?"))...))
	v := d.sb.Engine.As(scrollback.Operator())
	none := int64(0)
	page, err := v.Turns().Page(t.Context(), d.only(), scrollback.PageQuery{After: &none})
	if err != nil || len(page.Messages) != 4 {
		t.Fatal(page, err)
	}
	for i, want := range []int64{1, 3} { // messages that each request brought
		turn := page.Messages[2*i].TurnID
		seen, err := v.Turns().Context(t.Context(), d.only(), turn, engine.PastRequest{Content: true})
		if err != nil || len(seen.Steps) != 1 {
			t.Fatal(seen, err)
		}
		m := seen.Steps[0]
		var said []string
		for _, it := range m.Items {
			said = append(said, it.Parts.Text())
			if it.Kind == scrollback.KindTools && (len(it.Tools) != 1 || it.Tools[0].Name != "ls") {
				t.Errorf("turn %d: tools are %v", i, it.Tools)
			}
		}
		text := strings.Join(said, "\n")
		if !m.Forwarded || m.Partial || m.Tokens < 10 || m.Bytes < 100 || !strings.Contains(text, "Be brief.") ||
			!strings.Contains(text, "The harbour opens") || strings.Contains(text, "When does") != (i == 1) {
			t.Errorf("turn %d: %+v", i, m)
		}
		for _, l := range m.Layers {
			for _, it := range l.Items {
				if it.Kind == scrollback.KindMessage && max(it.Seq, it.LastSeq) != want {
					t.Errorf("turn %d: messages up to #%d", i, it.LastSeq)
				}
			}
		}
	}
}

// TestDoorEarlyTitle gives a conversation the title that its client asked for before its first prompt.
func TestDoorEarlyTitle(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	asked := chatBody("", sayAs("system", "You are a title generator. You output ONLY a thread title."),
		sayAs("user", "Generate a title for this conversation:"), sayAs("user", "Where is the key?"))
	d.post("/v1/chat/completions", asked, "X-Session-Id", "s")
	d.post("/v1/chat/completions", chatBody("", sayAs("user", "Who has the boat?")), "X-Session-Id", "another")
	v := d.sb.Engine.As(scrollback.Operator())
	if c, err := v.Get(t.Context(), d.only()); err != nil || c.Title != "Who has the boat?" {
		t.Errorf("another conversation is called %q, %v", c.Title, err)
	}
	resp, _ := d.post("/v1/chat/completions", chatBody("", sayAs("user", "Where is the key?")), "X-Session-Id", "s")
	c, err := v.Get(t.Context(), scrollback.ConversationID(resp.Header.Get("X-Scrollback-Conversation")))
	if err != nil || c.Title != "You said Where is the key?" {
		t.Errorf("the title is %q, %v", c.Title, err)
	}
}

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
