package window

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/token"
)

func TestWeigh(t *testing.T) {
	count := func(s string) int { return len(s) }
	image := func(width, _ int, _ string) int { return width }
	parts := scrollback.Parts{
		scrollback.Text{Text: "four", Opaque: scrollback.Opaque("sig")},
		scrollback.Reasoning{Text: "why"},
		scrollback.ToolCall{ID: "c", Name: "ls", Arguments: []byte("{}")},
		scrollback.ToolResult{CallID: "c", Name: "ls", Text: "ok"},
		scrollback.Image{Width: 100, Size: 30},
		scrollback.File{Name: "a.txt"},
	}
	want := scrollback.Weight{Tokens: 4 + (4 + 1) + 3 + 5 + 5 + 100 + (5 + 16), Bytes: 16 + 7 + 3 + 5 + 5 + 40 + 5,
		Images: 1}
	if got := Weigh(parts, count, image); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := WeighText("four", count); got != (scrollback.Weight{Tokens: 8, Bytes: 4}) {
		t.Errorf("a text weighs %+v", got)
	}
}

// The block names the tools that there are. Its bytes stay what they were where none are named.
func TestRecallTools(t *testing.T) {
	const own = " Read a ref (history:…) with context_read, context_tail or context_grep; " +
		"context_search searches everything."
	for _, c := range []struct {
		recall *RecallTools
		want   string
	}{
		{nil, own},
		{&ownTools, own},
		{&RecallTools{}, ""},
		{&RecallTools{Read: []string{"open"}}, " Read a ref (history:…) with open."},
		{&RecallTools{Read: []string{"open", "grep"}, Search: "find"},
			" Read a ref (history:…) with open or grep; find searches everything."},
		{&RecallTools{Search: "find"}, " find searches everything."},
	} {
		in := Input{Segments: []scrollback.Segment{{ID: "s", FirstSeq: 1, LastSeq: 2, Placeholder: "x"}}, Recall: c.recall}
		block := Assemble(in).Items[0]
		want := "<folded_history>\nEarlier messages are folded. This is a record of them, not a request." + c.want +
			"\n\nx\n</folded_history>"
		if got := block.Parts.Text(); got != want {
			t.Errorf("%+v: %q, want %q", c.recall, got, want)
		}
	}
	long := &RecallTools{Read: []string{strings.Repeat("a_long_name", 20)}}
	in := Input{Segments: []scrollback.Segment{{ID: "s", Placeholder: "x"}}, Recall: long}
	if got := Assemble(in).Items[0].Weight.Tokens; got < FoldTokens+100 {
		t.Errorf("long names weigh nothing: %d", got)
	}
}

// What the block costs besides what it holds is known in each language.
func TestBlockTokens(t *testing.T) {
	for language, w := range words {
		in := Input{Language: language, Segments: []scrollback.Segment{{ID: "s", Placeholder: ""}},
			Summary: &Summary{Text: "x", MinutesEnd: 1234567,
				ViewSummary: scrollback.ViewSummary{FirstSeq: 123456, LastSeq: 1234567}}}
		block := Assemble(in).Items[0]
		if n := int64(token.Count(block.Parts.Text())); n > w.tokens || n < w.tokens*2/3 {
			t.Errorf("%s: the block has %d tokens, and %d are counted", language, n, w.tokens)
		}
	}
}
