package request

import (
	"context"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// maxPredicted bounds how many folds of one request are looked at beforehand.
const maxPredicted = 4

// PredictFolds returns what Fit would fold for a request that would show this: nil for nothing.
// The cuts are those that Fit would choose; no model is asked, so that the tokens after it
// are those of the fold without one.
func (f *Compactor) PredictFolds(ctx context.Context, head store.Head, shown compact.Shown,
	q FitRequest) (*scrollback.Foreseen, error) {
	var out *scrollback.Foreseen
	hurry := make(chan struct{})
	close(hurry)
	memory := f.takeMemory(head.ID)
	defer f.memories.put(head.ID, memory, 1)
	rows := sync.OnceValues(func() ([]scrollback.Kept, error) {
		return f.readKept(ctx, head)
	})
	for range maxPredicted {
		w := window.Assemble(shown.Window)
		fits := window.Fits(w.Weight, q.Settings.Budget) && !shown.More
		if fits && (!shown.IsDue(w) || shown.Branch.LiveWeight().Tokens < shown.Branch.View.RetryAt ||
			f.locks.CountUsers(head.ID) > 0) {
			return out, nil
		}
		in := compact.Input{Shown: shown, Reason: compact.WhenDue, Conversation: head.ID, Hurry: hurry, Memory: memory,
			Writers: func() []compact.Summarizer { return f.findSummarizers(ctx, head.Conversation, q.Settings) },
			Now:     f.store.Now(), NewID: f.store.NewID, Count: token.Count, ModelTokens: q.Settings.ModelTokens,
			Price:        f.resolver.AddPrice,
			Load:         func(ids []scrollback.SegmentID) ([]scrollback.Segment, error) { return f.store.ReadSegments(ctx, ids) },
			Kept:         rows,
			Measure:      func(scrollback.Segment, []scrollback.Message) (int64, string, error) { return 0, "", nil },
			MeasureTable: func(scrollback.Segment, []scrollback.Segment) (int64, string, error) { return 0, "", nil }}
		if !fits {
			in.Reason = compact.MustFit
		}
		beside := fits && q.Beside
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
		out.LastSeq = max(out.LastSeq, r.LastSeq)
		out.TokensAfter = r.TokensAfter
		out.More = shown.More
		out.Messages = out.LastSeq - out.FirstSeq + 1
		if beside || shown.More {
			return out, nil
		}
		shown = compact.ShownAfter(&shown, &made)
	}
	out.More = true
	return out, nil
}

// readKept reads what is kept of the messages that a head shows or hides.
func (f *Compactor) readKept(ctx context.Context, head store.Head) ([]scrollback.Kept, error) {
	rows, known, err := f.store.Kept.ReadRows(ctx, head, head.Branch, head.Branch.HeadSeq, f.kept.get(head.ID))
	if err == nil {
		f.kept.put(head.ID, known, int64(known.Len()))
	}
	return rows, err
}

// takeMemory returns what earlier folds of a conversation found out, which nobody else has until it is put back.
func (f *Compactor) takeMemory(id scrollback.ConversationID) *compact.Memory {
	if m := f.memories.take(id); m != nil {
		return m
	}
	return compact.NewMemory()
}
