package fold

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// foreseenMost bounds how many folds of one request are looked at beforehand.
const foreseenMost = 4

// Foresee returns what Fit would fold for a request that would show this: nil for nothing.
// The cuts are those that Fit would choose; no model is asked, so that the tokens after it
// are those of the fold without one.
func (f *Folder) Foresee(ctx context.Context, head store.Head, shown compact.Shown, q Fitting) (*scrollback.Foreseen, error) {
	var out *scrollback.Foreseen
	hurry := make(chan struct{})
	close(hurry)
	for range foreseenMost {
		w := window.Assemble(shown.Window)
		fits := window.Fits(w.Weight, q.Setting.Budget) && !shown.More
		if fits && (!shown.Due(w) || shown.Branch.LiveWeight().Tokens < shown.Branch.View.RetryAt || f.locks.Users(head.ID) > 0) {
			return out, nil
		}
		in := compact.Input{Shown: shown, Reason: compact.WhenDue, Conversation: head.ID, Hurry: hurry,
			Writers: func() []compact.Summarizer { return f.writers(ctx, head.Conversation, q.Setting) },
			Now:     f.store.Now(), NewID: f.store.NewID, Count: token.Count, ModelTokens: q.Setting.ModelTokens, Price: f.resolver.Priced,
			Load:         func(ids []scrollback.SegmentID) ([]scrollback.Segment, error) { return f.store.Segments(ctx, ids) },
			Measure:      func(scrollback.Segment, []scrollback.Message) (int64, string, error) { return 0, "", nil },
			MeasureTable: func(scrollback.Segment, []scrollback.Segment) (int64, string, error) { return 0, "", nil }}
		if !fits {
			in.Reason = compact.MustFit
		}
		beside := fits && q.Beside && shown.Asks() && len(in.Writers()) > 0
		if beside && out != nil {
			return out, nil
		}
		made, err := compact.Run(ctx, in)
		if err != nil || made.Receipt.Result != scrollback.ResultCompacted {
			return out, err
		}
		r := made.Receipt
		if out == nil {
			out = &scrollback.Foreseen{FirstSeq: r.FirstSeq, TokensBefore: r.TokensBefore, Beside: beside}
		}
		out.LastSeq, out.TokensAfter, out.More = max(out.LastSeq, r.LastSeq), r.TokensAfter, shown.More
		out.Messages = out.LastSeq - out.FirstSeq + 1
		if beside || shown.More {
			return out, nil
		}
		shown = shown.After(&made)
	}
	out.More = true
	return out, nil
}
