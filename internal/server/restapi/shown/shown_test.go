package shown

import (
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/server/markdown"
)

const id = scrollback.ConversationID("01a204b3-3c59-7736-968c-8090cec2cfbc")

const answer = "# One\n\nSee #2 and #9, 字 𝒳.\n\n```go\nx := 1\n\ny := 2\n```\n\n- a\n- b\n\nThe end.\n"

// deltas returns a text as events, size characters each.
func deltas(text string, size int) []scrollback.Event {
	var out []scrollback.Event
	runes := []rune(text)
	for i := 0; i < len(runes); i += size {
		out = append(out, scrollback.DeltaEvent{Content: string(runes[i:min(i+size, len(runes))]), At: i})
	}
	return out
}

// drawn returns what an answer makes of events: the text that blocks cover, and their HTML.
func drawn(t *testing.T, text string, got []Frame) (covered, html string) {
	t.Helper()
	runes := []rune(text)
	end := 0
	for i, b := range got {
		if b.Type != "block" || b.Index != i || b.At != end {
			t.Fatalf("block %d is %+v, behind %d", i, b, end)
		}
		covered += string(runes[b.At:b.End])
		html += b.HTML
		end = b.End
	}
	return covered, html
}

func TestAnswer(t *testing.T) {
	r := markdown.New()
	want := r.RenderHTML(strings.TrimSuffix(answer, "The end.\n"),
		markdown.Options{Conversation: string(id), Head: 3, Prefix: "live"})
	for _, size := range []int{1, 4, 1000} {
		a := NewAnswerDrawer(r, id)
		a.TakeEvent(scrollback.TurnEvent{Seq: 3})
		var got []Frame
		for _, ev := range deltas(answer, size) {
			got = append(got, a.TakeEvent(ev)...)
		}
		covered, html := drawn(t, answer, got)
		if covered != strings.TrimSuffix(answer, "The end.\n") || html != want {
			t.Errorf("in pieces of %d it covers %q:\n%s\nand not\n%s", size, covered, html, want)
		}
		if !strings.Contains(html, `data-seq="2"`) || strings.Contains(html, `data-seq="9"`) {
			t.Errorf("its mentions are %s", html)
		}
		a.TakeEvent(scrollback.MessageEvent{Seq: 4})
		if got := a.TakeEvent(scrollback.DeltaEvent{Content: "a\n\nb\n"}); len(got) != 1 || got[0].Index != 0 ||
			len(a.ClosedBlocks()) != 1 {
			t.Errorf("the next step has %+v", got)
		}
	}
}

// A client that resumes after an event, or comes late, gets the same blocks.
func TestReadingOn(t *testing.T) {
	r := markdown.New()
	events := append([]scrollback.Event{scrollback.TurnEvent{Seq: 3}}, deltas(answer, 3)...)
	whole := NewAnswerDrawer(r, id)
	for _, ev := range events {
		whole.TakeEvent(ev)
	}
	for n := range len(events) {
		a := NewAnswerDrawer(r, id)
		a.CatchUp(numbered(events), n)
		if n == 0 {
			continue // it begins with the first event
		}
		got := append([]Frame{}, a.ClosedBlocks()...)
		for _, ev := range events[n:] {
			got = append(got, a.TakeEvent(ev)...)
		}
		if covered, html := drawn(t, answer, got); html == "" || len(got) != len(whole.ClosedBlocks()) {
			t.Fatalf("behind event %d the blocks cover %q", n, covered)
		}
	}
	late := NewAnswerDrawer(r, id)
	late.CatchUp(numbered([]scrollback.Event{scrollback.TurnEvent{Seq: 3}, scrollback.SnapshotEvent{Content: "x"}}), 5)
	got := late.TakeEvent(scrollback.SnapshotEvent{Content: answer, At: utf8.RuneCountInString(answer)})
	if _, html := drawn(t, answer, got); !strings.Contains(html, "<li>b</li>") {
		t.Errorf("a snapshot is drawn as %s", html)
	}
	gap := NewAnswerDrawer(r, id)
	if got := gap.TakeEvent(scrollback.DeltaEvent{Content: "a\n\nb\n", At: 7}); len(got) > 0 {
		t.Errorf("behind a gap there is %+v", got)
	}
}

func numbered(events []scrollback.Event) iter.Seq2[engine.SequencedEvent, error] {
	return func(yield func(engine.SequencedEvent, error) bool) {
		for i, ev := range events {
			if !yield(engine.SequencedEvent{N: i + 1, Event: ev}, nil) {
				return
			}
		}
	}
}

func TestDrawn(t *testing.T) {
	p := scrollback.MessagePage{Messages: []scrollback.Message{
		{Seq: 1, Role: scrollback.RoleUser, ConversationID: id, Parts: scrollback.Parts{scrollback.Text{Text: "one\ntwo"},
			scrollback.Image{}, scrollback.Text{Text: "a file", Reference: &scrollback.Reference{}}}},
		{Seq: 2, Role: scrollback.RoleAssistant, ConversationID: id,
			Parts: scrollback.Parts{scrollback.Reasoning{Text: "*x*"}, scrollback.Text{Text: "one\n*two*"}}},
		{Seq: 3, Role: scrollback.RoleTool, Parts: scrollback.Parts{scrollback.ToolResult{Text: "*x*"}}},
		{Seq: 4, Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: strings.Repeat("a", maxPage)}}},
	}}
	got := DrawnPage(markdown.New(), p, 4).Messages
	if h := got[0].HTML; len(h) != 3 || *h[0] != "<p>one<br>\ntwo</p>\n" || h[1] != nil || h[2] != nil {
		t.Errorf("a person's message is %v", h)
	}
	if h := got[1].HTML; len(h) != 2 || h[0] != nil || *h[1] != "<p>one\n<em>two</em></p>\n" {
		t.Errorf("an answer is %v", h)
	}
	if got[2].HTML != nil || got[3].HTML != nil {
		t.Errorf("a tool's is %v, and what is too much %v", got[2].HTML, got[3].HTML)
	}
}
