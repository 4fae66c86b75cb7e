package driver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Threads keeps what tells which conversation a client's request goes on with. A thread has the id of its
// conversation, and the request of a turn that of its turn. Rows of a turn are written with it, by
// [BeginRequest] and [FinishedStep]; a purge of a conversation removes those of its thread.
type Threads interface {
	// IndexAt returns the index as it is at a time, in Unix ms: which requests still run is judged by
	// [RequestState]. It reads when it is asked.
	IndexAt(now int64) threading.Index

	// WriteThread writes rows in one transaction. A second atom at a place is conflict, rows of a thread
	// that is not there, or no longer, are not_found, and then nothing is written.
	WriteThread(ctx context.Context, rows threading.Rows) error

	// ListLeaves lists the turns of a conversation that are leaves, by id.
	ListLeaves(ctx context.Context, id scrollback.ConversationID) ([]scrollback.TurnID, error)

	// FindSpan returns when the first and the last request came, in Unix ms, of the threads that a name has named in any
	// scope; zeros if none came.
	FindSpan(ctx context.Context, name string) (first, last int64, err error)

	// CountAsked counts that a request with a body came at a time, in Unix ms, of which nothing is stored. It
	// is remembered for AskedKept.
	CountAsked(ctx context.Context, scope threading.Scope, body threading.Hash, now int64) error
}

const (
	// AskedKept is how long at least a driver remembers that a body was asked, in ms.
	AskedKept = 10 * 60_000

	// SideCallMax is how long a request that is not a turn may run, in ms: nothing renews a lease of it.
	SideCallMax = 10 * 60_000
)

// RequestState returns how far a request has come that is stored as running. The turn is the one of its id; with none,
// it is a side call. A turn that is open runs until its lease ends; one whose owner is gone, or that ended
// and nothing was written of it, was interrupted if it has left anything, else it failed.
func RequestState(row threading.RequestRow, turn *scrollback.Turn, now int64) threading.State {
	switch {
	case turn == nil && row.At.UnixMilli()+SideCallMax > now:
		return threading.Running
	case turn == nil:
		return threading.Failed
	case HoldsConversation(*turn, now):
		return threading.Running
	case turn.State == scrollback.TurnComplete, turn.State == scrollback.TurnWaiting:
		return threading.Finished
	case turn.State != scrollback.TurnOpen && turn.State != scrollback.TurnInterrupted:
		return threading.Failed
	case turn.Reply != "" || !turn.Draft.IsEmpty():
		return threading.Interrupted
	}
	return threading.Failed
}
