package request

import (
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// PreviewRequest is the request that is asked about: that of a conversation as it is, or with the
// messages of a draft behind it, the last of which is what the person is writing.
type PreviewRequest struct {
	Head     store.Head
	Settings Settings
	Draft    []scrollback.Message // with their weights
	Content  bool
	Beside   bool // folds that the request does not need are made beside it
}

// Preview returns the account of a request that is not sent.
func (x *Previewer) Preview(ctx context.Context, q PreviewRequest) (scrollback.Manifest, error) {
	shown, err := x.compactor.ReadShown(ctx, q.Head, q.Settings)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	prev, err := x.findPrevious(ctx, q.Head.ID)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	prompt := q.appendDraft(&shown.Branch, &shown.Window)
	l := Layout{Input: shown.Window, Window: window.Assemble(shown.Window)}
	if newest, err := x.previewNewest(ctx, &q, shown, l.Window); err != nil {
		return scrollback.Manifest{}, err
	} else if newest != nil {
		l.Input = newest.Input
		l.Window = newest.Window
	}
	var compacts *scrollback.Foreseen
	if prompt > 0 {
		compacts, err = x.compactor.PredictFolds(ctx, q.Head, shown, FitRequest{Settings: q.Settings, Beside: q.Beside})
		if err != nil {
			return scrollback.Manifest{}, err
		}
		if sent := (FittedWindow{Input: l.Input, Window: l.Window}); compacts == nil && dropPins(&sent) { // as Fit does
			l.Input = sent.Input
			l.Window = sent.Window
		}
		if err := x.RepeatUnshown(ctx, shown.Branch, &l, &q.Settings); err != nil {
			return scrollback.Manifest{}, err
		}
	}
	m := BuildManifest(q.Head.Conversation, q.Settings, l.Window,
		x.TakeFingerprint(q.Head.ID, l.Window).ReusedTokens(prev))
	m.Over = max(0, m.Tokens-m.Budget)
	window.AccountReferences(&m, l.Window,
		func(text string) int64 { return q.Settings.ModelTokens(int64(token.Count(text))) })
	if shown.More && l.Input.NotCompacted == nil {
		live := shown.Window.Live
		m.Excluded = append(m.Excluded, scrollback.Excluded{FirstSeq: live[len(live)-1].Seq + 1, LastSeq: q.Head.Messages,
			Reason: scrollback.ExcludedNotCompacted})
	}
	if q.Content {
		if m.Items, err = x.listContent(ctx, l.Window, q.Settings.Factor); err != nil {
			return m, err
		}
	}
	if prompt == 0 {
		return m, nil
	}
	m.Compacts = compacts
	q.markDraft(&m, prompt)
	return m, nil
}

// previewNewest returns the window of a request that goes out while what an import left is being compacted; nil for any
// other.
func (x *Previewer) previewNewest(ctx context.Context, q *PreviewRequest, shown compact.Shown,
	w scrollback.Window) (*FittedWindow, error) {
	if !q.Beside || !shown.More && window.Fits(w.Weight, q.Settings.Budget) || !hasImported(shown.Window.Live) {
		return nil, nil
	}
	stored := len(shown.Window.Live) - len(q.Draft)
	if !shown.More && len(q.Draft) > 0 {
		in := shown.Window
		in.Live = in.Live[:stored]
		if window.Fits(window.Assemble(in).Weight, q.Settings.Budget) { // the draft is too much, and not the import
			return nil, nil
		}
	}
	return x.compactor.showNewest(ctx, q.Head, shown, nil, shown.Window.Live[stored:])
}

// IsBlank reports whether a draft says nothing yet.
func IsBlank(ps scrollback.Parts) bool {
	return !slices.ContainsFunc(ps, func(p scrollback.Part) bool {
		t, ok := p.(scrollback.Text)
		return !ok || strings.TrimSpace(t.Text) != ""
	})
}

// findPrevious marks the last request of a conversation; nil for none.
func (x *Previewer) findPrevious(ctx context.Context, id scrollback.ConversationID) (*scrollback.WindowMark, error) {
	last, err := x.store.Turns.GetLast(ctx, id)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return nil, nil
	}
	return last.Window, err
}

// appendDraft puts the draft behind what a branch shows, as if it had been sent, and returns the
// seq that it would have; 0 without one.
func (q *PreviewRequest) appendDraft(b *scrollback.Branch, in *window.Input) int64 {
	if len(q.Draft) == 0 {
		return 0
	}
	in.Live = slices.Clone(in.Live)
	for _, m := range q.Draft {
		b.HeadSeq++
		b.Sum = b.Sum.Add(m.Weight)
		m.Seq = b.HeadSeq
		m.Branch = b.ID
		m.ConversationID = q.Head.ID
		m.Status = scrollback.StatusComplete
		in.Live = append(in.Live, m)
	}
	in.PromptSeq = b.HeadSeq
	return b.HeadSeq
}

// markDraft marks what is not in the log yet: it has no number.
func (q *PreviewRequest) markDraft(m *scrollback.Manifest, prompt int64) {
	unsent := prompt - int64(len(q.Draft))
	for _, l := range m.Layers {
		for i := range l.Items {
			if it := &l.Items[i]; it.Seq > unsent && it.LastSeq == 0 {
				if it.Draft = it.Seq == prompt; it.Draft {
					m.Draft += it.Tokens
				}
				it.Seq = 0
			}
		}
	}
	for i := range m.Items {
		if it := &m.Items[i]; it.Seq > unsent && it.Ref == "" {
			it.Draft = it.Seq == prompt
			it.Seq = 0
			it.LastSeq = 0
		}
	}
}
