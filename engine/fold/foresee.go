package fold

import (
	"context"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/setting"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// foreseenMost bounds how many folds of one request are looked at beforehand.
const foreseenMost = 4

// Foresee returns what Fit would fold for a request that would show this: nil for nothing.
// The cuts are those that Fit would choose; no model is asked, so that the tokens after it
// are those of the fold without one.
func (f *Folder) Foresee(ctx context.Context, head store.Head, shown compact.Shown,
	q Fitting) (*scrollback.Foreseen, error) {
	var out *scrollback.Foreseen
	hurry := make(chan struct{})
	close(hurry)
	memory := f.memories.take(head.ID)
	if memory == nil {
		memory = compact.NewMemory()
	}
	defer f.memories.put(head.ID, memory)
	for range foreseenMost {
		w := window.Assemble(shown.Window)
		fits := window.Fits(w.Weight, q.Setting.Budget) && !shown.More
		if fits && (!shown.Due(w) || shown.Branch.LiveWeight().Tokens < shown.Branch.View.RetryAt ||
			f.locks.Users(head.ID) > 0) {
			return out, nil
		}
		in := compact.Input{Shown: shown, Reason: compact.WhenDue, Conversation: head.ID, Hurry: hurry, Memory: memory,
			Writers: func() []compact.Summarizer { return f.writers(ctx, head.Conversation, q.Setting) },
			Now:     f.store.Now(), NewID: f.store.NewID, Count: token.Count, ModelTokens: q.Setting.ModelTokens,
			Price:        f.resolver.Priced,
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
		out.LastSeq = max(out.LastSeq, r.LastSeq)
		out.TokensAfter = r.TokensAfter
		out.More = shown.More
		out.Messages = out.LastSeq - out.FirstSeq + 1
		if beside || shown.More {
			return out, nil
		}
		shown = compact.After(&shown, &made)
	}
	out.More = true
	return out, nil
}

// Glance is Shown for a request that is only looked at, again with each key that is pressed:
// what is live is read once. A view that is not stored has a negative version.
func (f *Folder) Glance(ctx context.Context, h store.Head, sh setting.Resolved) (compact.Shown, error) {
	if h.Branch.ViewVersion < 0 {
		return f.Shown(ctx, h, sh)
	}
	key := glance{version: h.Version, branch: h.Branch.ID, head: h.Branch.HeadSeq, view: h.Branch.ViewVersion,
		most: pieceOf(sh)}
	last := f.glances.take(h.ID)
	if last == nil || last.key() != key {
		snap, err := f.store.Views.Snapshot(ctx, h, key.most)
		if err != nil {
			return compact.Shown{}, err
		}
		last = &key
		last.snap = &snap
	}
	f.glances.put(h.ID, last)
	return f.surround(*last.snap, h, sh), nil
}

// glance is a snapshot, and what it depends on.
type glance struct {
	version, head, view, most int64
	branch                    scrollback.BranchID
	snap                      *store.Snapshot
}

func (g *glance) key() glance {
	out := *g
	out.snap = nil
	return out
}

// recent is what was found out about the conversations that somebody writes to at the
// moment.
type recent[T any] struct {
	mu sync.Mutex
	of map[scrollback.ConversationID]T
}

// recentMost bounds how many conversations that is.
const recentMost = 4

// take returns what is known of a conversation, which nobody else has until it is put
// back; the zero value for nothing.
func (r *recent[T]) take(id scrollback.ConversationID) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.of[id]
	delete(r.of, id)
	return out
}

func (r *recent[T]) put(id scrollback.ConversationID, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil || len(r.of) >= recentMost {
		r.of = map[scrollback.ConversationID]T{}
	}
	r.of[id] = v
}
