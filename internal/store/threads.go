package store

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Index returns what a [threading.Matcher] asks, as it is now: which requests still run is judged by the time of the
// call. Make one for each match.
func (p Threads) Index() threading.Index { return p.s.d.Threads.IndexAt(p.s.Now()) }

// Write stores rows that belong to no turn, as those of a side call do: all of them, or nothing. A second atom at a
// place is conflict: the request is to be matched again. Those of a turn go with it, in [BeginRequest] and
// [FinishRequest].
func (p Threads) Write(ctx context.Context, rows threading.Rows) error {
	return p.s.d.Threads.WriteThread(ctx, rows)
}

// ListLeaves lists the turns of a conversation that stood beside its path and were no turns of it: they are neither
// listed nor found.
func (p Threads) ListLeaves(ctx context.Context, id scrollback.ConversationID) ([]scrollback.TurnID, error) {
	return p.s.d.Threads.ListLeaves(ctx, id)
}

// FindSpan returns when the first and the last request of a client's conversation came, in Unix ms, by the
// name that the client gives it; zeros if none came.
func (p Threads) FindSpan(ctx context.Context, name string) (first, last int64, err error) {
	return p.s.d.Threads.FindSpan(ctx, name)
}

// CountAsked counts that a request came which was matched and of which nothing is stored.
func (p Threads) CountAsked(ctx context.Context, m *threading.Match) error {
	scope, body := m.Asked()
	return p.s.d.Threads.CountAsked(ctx, scope, body, p.s.Now())
}
