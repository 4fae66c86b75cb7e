package window_test

import (
	"fmt"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// Carried messages and the newest of the pinned ones that find room stand before the
// live ones, in the order of the log; the others are accounted for.
func TestVerbatim(t *testing.T) {
	said := func(tokens int64, seqs ...int64) (out []scrollback.Message) {
		for _, seq := range seqs {
			out = append(out, scrollback.Message{Seq: seq, Role: scrollback.RoleUser, Weight: scrollback.Weight{Tokens: tokens},
				Parts: scrollback.Parts{scrollback.Text{Text: fmt.Sprint("number ", seq)}}})
		}
		return out
	}
	in := window.Input{Carried: said(500, 4), Pinned: append(said(30, 1, 2, 3), said(20, 5)...), PinnedTokens: 50,
		Live: said(10, 8, 9)}
	w := window.Assemble(in)
	var seqs, out []int64
	for _, it := range w.Items {
		seqs = append(seqs, it.Seq)
	}
	for _, e := range w.Excluded {
		if e.FirstSeq != e.LastSeq || e.Reason != "pinned, and no room" {
			t.Errorf("%+v", e)
		}
		out = append(out, e.FirstSeq)
	}
	if fmt.Sprint(seqs, out) != "[3 4 5 8 9] [1 2]" || w.Weight.Tokens != 570 {
		t.Errorf("shown %v of %d tokens, left out %v", seqs, w.Weight.Tokens, out)
	}
	if in.Live[0].Seq != 8 || in.Carried[0].Seq != 4 || in.Pinned[0].Seq != 1 {
		t.Errorf("the input has changed: %+v", in)
	}
}
