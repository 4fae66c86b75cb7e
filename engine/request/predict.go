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
	memory := f.memories.take(head.ID)
	if memory == nil {
		memory = compact.NewMemory()
	}
	defer f.memories.put(head.ID, memory)
	rows := sync.OnceValues(func() ([]scrollback.Kept, error) {
		return f.store.Kept.ReadRows(ctx, head, head.Branch, head.Branch.HeadSeq)
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
		beside := fits && q.Beside && shown.AsksModels() && len(in.Writers()) > 0
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

// ReadShownCached is Shown for a request that is only looked at, again with each key that is pressed:
// what is live is read once. A view that is not stored has a negative version.
func (f *Compactor) ReadShownCached(ctx context.Context, h store.Head, settings Settings) (compact.Shown, error) {
	if h.Branch.ViewVersion < 0 {
		return f.ReadShown(ctx, h, settings)
	}
	key := cachedSnapshot{version: h.Version, branch: h.Branch.ID, head: h.Branch.HeadSeq, view: h.Branch.ViewVersion,
		most: maxPieceTokens(settings)}
	last := f.snapshots.take(h.ID)
	if last == nil || !last.isFor(&key) {
		snap, err := f.store.Views.Snapshot(ctx, h, key.most)
		if err != nil {
			return compact.Shown{}, err
		}
		last = &key
		last.snap = &snap
		if last.kept, err = f.readKeptChanges(ctx, h); err != nil {
			return compact.Shown{}, err
		}
	}
	f.snapshots.put(h.ID, last)
	shown := f.addSurroundings(*last.snap, h, settings)
	shown.Window.Kept = last.kept
	return shown, nil
}

// cachedSnapshot is a snapshot, and what it depends on.
type cachedSnapshot struct {
	version, head, view, most int64
	branch                    scrollback.BranchID
	snap                      *store.Snapshot
	kept                      []scrollback.Kept // what people said about what is kept
}

// isFor reports whether it is the snapshot of a key, which has none itself.
func (g *cachedSnapshot) isFor(key *cachedSnapshot) bool {
	return g.version == key.version && g.head == key.head && g.view == key.view && g.most == key.most &&
		g.branch == key.branch
}

// recentCache is what was found out about the conversations that somebody writes to at the
// moment.
type recentCache[T any] struct {
	mu sync.Mutex
	of map[scrollback.ConversationID]T
}

// maxRecent bounds how many conversations that is.
const maxRecent = 4

// take returns what is known of a conversation, which nobody else has until it is put
// back; the zero value for nothing.
func (r *recentCache[T]) take(id scrollback.ConversationID) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.of[id]
	delete(r.of, id)
	return out
}

func (r *recentCache[T]) put(id scrollback.ConversationID, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil || len(r.of) >= maxRecent {
		r.of = map[scrollback.ConversationID]T{}
	}
	r.of[id] = v
}
