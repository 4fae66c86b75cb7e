// Package offline is the built-in model: deterministic, without key or network.
// It makes the whole loop runnable and testable, and says plainly what it is.
//
// It takes the newest user message as the question, weighs every sentence of the
// window by the rare terms it shares with it, and quotes up to three of them with
// their seq. When the window has no good match it calls context_search, then
// context_grep, once each per question, and answers from what they return. A plain
// statement is acknowledged and never searched for.
//
// Words it adds: question (the newest user message, split into terms), sentence (what
// is scored and quoted), pool (all sentences a request offers), strong (a sentence
// that lacks no rare term of the question).
//
// Invariants: the same request gives the same deltas; it never quotes a question
// as an answer, nor its own earlier words; it quotes only what is in the request.
//
// It may not know the store, conversations, HTTP or the clock beyond a pause
// between pieces.
package offline

import (
	"context"
	"iter"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// Name is how a conversation names this model.
const Name = "offline"

// Its window and longest answer, in tokens.
const (
	limitTokens  = 32768
	outputTokens = 2048
)

// Options tune the model. Pace is the pause between two pieces of text.
type Options struct {
	Pace time.Duration
}

// Model is the built-in model. It holds no state between requests.
type Model struct {
	pace time.Duration
}

var _ model.Model = (*Model)(nil)

// New makes the model; nil options are fine.
func New(o *Options) *Model {
	if o == nil {
		o = &Options{}
	}
	return &Model{pace: o.Pace}
}

// Facts returns what is known about the model.
func (m *Model) Facts() model.Facts {
	return model.Facts{Name: Name, Limit: limitTokens, MaxOutput: outputTokens, NoSummaries: true, Here: true,
		Offline: true}
}

// Deterministic reports whether equal requests get equal replies.
func (m *Model) Deterministic() bool { return true }

// Stream replies to the request, or calls a recall tool.
func (m *Model) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if ctx.Err() != nil {
			yield(model.Delta{}, checkContext(ctx))
			return
		}
		a := decideReply(r)
		if a.call != nil {
			spent := weighText(a.call.Name) + weighText(string(a.call.Arguments))
			if yield(model.Delta{Call: a.call}, nil) {
				m.yieldEnd(ctx, yield, closingDelta(r, spent, scrollback.FinishToolCalls))
			}
			return
		}
		most := int64(outputTokens)
		if r.MaxOutputTokens > 0 {
			most = min(most, r.MaxOutputTokens)
		}
		finish := scrollback.FinishStop
		spent := int64(0)
		for piece := range cutPieces(a.text) {
			w := weighText(piece)
			if spent > 0 {
				if toTokens(spent+w) > most {
					finish = scrollback.FinishLength
					break
				}
				if !m.waitPace(ctx) {
					yield(model.Delta{}, checkContext(ctx))
					return
				}
			}
			spent += w
			if !yield(model.Delta{Text: piece}, nil) {
				return
			}
		}
		m.yieldEnd(ctx, yield, closingDelta(r, spent, finish))
	}
}

// yieldEnd yields the closing delta, unless the context ended first.
func (m *Model) yieldEnd(ctx context.Context, yield func(model.Delta, error) bool, d model.Delta) {
	if ctx.Err() != nil {
		yield(model.Delta{}, checkContext(ctx))
		return
	}
	yield(d, nil)
}

// waitPace waits between two pieces; false means that the context has ended.
func (m *Model) waitPace(ctx context.Context) bool {
	if m.pace > 0 {
		timer := time.NewTimer(m.pace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

func checkContext(ctx context.Context) error {
	return scrollback.Wrap(scrollback.Canceled, "offline.Stream", ctx.Err())
}

func closingDelta(r model.Request, spent int64, finish string) model.Delta {
	u := scrollback.Usage{OutputTokens: toTokens(spent), Estimated: true}
	for _, it := range r.Items {
		u.InputTokens += it.Weight.Tokens
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return model.Delta{Usage: &u, Finish: finish}
}
