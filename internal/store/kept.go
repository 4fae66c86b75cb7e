package store

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Kept lists and changes what is kept of conversations.
type Kept struct {
	s *Store

	// whole says that what older programs stored was looked through.
	whole *atomic.Bool
}

// Bounds of a list.
const (
	keptRows    = 4000  // the newest rows of a path that are read
	keptScanned = 20000 // the newest messages of a path that are looked through while rows are missing

	fillEach   = 64 // messages in one step beside a compaction
	fillMoment = 100 * time.Millisecond
)

// List lists what is kept on the path of a branch up to a seq, in whatever state, by seq; what was said twice
// stands twice. Of a path with more than 4,000 rows it is what the newest of them say.
func (p Kept) List(ctx context.Context, h Head, b scrollback.Branch, to int64) ([]scrollback.Kept, error) {
	return p.ListScanning(ctx, h, b, to, keptScanned)
}

// ListScanning is List, and looks for what ends something in at most the newest messages that are not compacted.
func (p Kept) ListScanning(ctx context.Context, h Head, b scrollback.Branch,
	to, most int64) ([]scrollback.Kept, error) {
	rows, _, err := p.ReadRows(ctx, h, b, to, KnownKept{})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	// What ends something is stored when it is folded; until then it is read where it was said.
	for from := max(b.View.Boundary+1, to-most+1, rows[0].Seq); from <= to; from += chunk {
		ms, err := p.s.ReadMessages(ctx, b.ID, from, min(to, from+chunk-1))
		if err != nil {
			return nil, err
		}
		for i := range ms {
			rows = append(rows, kept.ListEndRows(&ms[i])...)
		}
	}
	return kept.Settle(rows), nil
}

// KnownKept are the rows of a conversation as they were read. They never change, so that the next time only those
// that came since are read. The zero value has none.
type KnownKept struct{ rows []scrollback.Kept }

// Len returns how many rows there are.
func (k KnownKept) Len() int { return len(k.rows) }

// ReadRows reads the rows that List settles, but for those that were read the last time, and returns besides what is
// known by then.
func (p Kept) ReadRows(ctx context.Context, h Head, b scrollback.Branch, to int64,
	last KnownKept) ([]scrollback.Kept, KnownKept, error) {
	stored, err := p.s.d.Log.ReadKept(ctx, driver.KeptQuery{Branch: b.ID, To: to, Limit: keptRows, Known: last.rows,
		Conversations: append([]scrollback.ConversationID{h.ID}, h.Ancestors...)})
	if err != nil {
		return nil, last, err
	}
	older, err := p.scanOlder(ctx, b, to)
	if err != nil {
		return nil, last, err
	}
	rows := slices.Concat(older, stored)
	rows = slices.DeleteFunc(rows, func(k scrollback.Kept) bool { // a fork has what was said before it was one
		return k.Change != "" && k.Conversation != h.ID && k.CreatedAt > h.CreatedAt
	})
	return rows, KnownKept{stored}, nil
}

// FillSome looks for what is kept of messages that an older program stored, for a moment: a store that no server tends
// becomes whole by and by.
func (p Kept) FillSome(ctx context.Context) error {
	for began := time.Now(); !p.whole.Load() && time.Since(began) < fillMoment; {
		step, err := p.s.d.Admin.FillKept(ctx, fillEach, kept.ListAllRows)
		if err != nil {
			return err
		}
		p.whole.Store(step.Done)
		if step.Made == 0 && !step.Done { // somebody else was here
			return nil
		}
	}
	return nil
}

// scanOlder looks through messages themselves while the rows of those that older programs stored are
// still being made.
func (p Kept) scanOlder(ctx context.Context, b scrollback.Branch, to int64) ([]scrollback.Kept, error) {
	if p.whole.Load() {
		return nil, nil
	}
	step, err := p.s.d.Admin.FillKept(ctx, 0, nil)
	if err != nil || step.Done {
		p.whole.Store(err == nil)
		return nil, err
	}
	var out []scrollback.Kept
	var before *scrollback.Message
	for from := max(1, to-keptScanned+1); from <= to; from += chunk {
		ms, err := p.s.ReadMessages(ctx, b.ID, from, min(to, from+chunk-1))
		if err != nil {
			return nil, err
		}
		for i := range ms {
			out = append(out, kept.ListAllRows(&ms[i], before)...)
			before = &ms[i]
		}
	}
	return out, nil
}

// ListChanges lists what people said about what is kept on the path of a branch, oldest first.
func (p Kept) ListChanges(ctx context.Context, h Head, b scrollback.Branch) ([]scrollback.Kept, error) {
	rows, err := p.s.d.Log.ReadKept(ctx, driver.KeptQuery{Branch: b.ID, To: b.HeadSeq, Limit: keptRows,
		Conversations: append([]scrollback.ConversationID{h.ID}, h.Ancestors...), Changes: true})
	return slices.DeleteFunc(rows, func(k scrollback.Kept) bool {
		return k.Conversation != h.ID && k.CreatedAt > h.CreatedAt
	}), err
}

// ListOwnChanges lists what people said in one conversation about messages on the path of a branch up to a
// seq, oldest first.
func (p Kept) ListOwnChanges(ctx context.Context, id scrollback.ConversationID, b scrollback.BranchID,
	to int64) ([]scrollback.Kept, error) {
	return p.s.d.Log.ReadKept(ctx, driver.KeptQuery{Branch: b, To: to, Limit: keptRows,
		Conversations: []scrollback.ConversationID{id}, Changes: true})
}

// Change notes what a person says about an entry of a list, and returns the entry as it is then.
func (p Kept) Change(ctx context.Context, h Head, k scrollback.Kept, state scrollback.KeptState,
	by scrollback.KeyID) (scrollback.Kept, error) {
	k.Conversation = h.ID
	k.State = state
	row := k
	row.By = scrollback.KeptByPerson
	row.SaidBy = by
	row.CreatedAt = p.s.Now()
	row.Change = p.s.newID()
	return k, p.s.d.Log.ChangeKept(ctx, driver.KeptChange{Row: row, Now: row.CreatedAt})
}

// Add keeps a sentence of a message, whatever the rules say of it. The message must hold the text.
func (p Kept) Add(ctx context.Context, h Head, m *scrollback.Message, kind scrollback.KeptKind, text string,
	by scrollback.KeyID) (scrollback.Kept, error) {
	const op = "store.Kept.Add"
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case text == "" || len(text) > scrollback.MaxKeptText:
		return scrollback.Kept{}, scrollback.ParamErrorf(op, "text", i18n.KeptTextIsTooLong, scrollback.MaxKeptText)
	case !strings.Contains(strings.Join(strings.Fields(m.Parts.Text()), " "), text):
		return scrollback.Kept{}, scrollback.ParamErrorf(op, "text", i18n.KeptTextIsNotInMessage, m.Seq)
	}
	k := scrollback.Kept{ID: scrollback.NewKeptID(m.ID, kind, text), Kind: kind, Text: text, Message: m.ID, Role: m.Role,
		Branch: m.Branch, Seq: m.Seq, By: scrollback.KeptByPerson, SaidBy: by, CreatedAt: p.s.Now()}
	return p.Change(ctx, h, k, scrollback.KeptOpen, by)
}

// keptWork is the filling as it is claimed.
const keptWork = "kept"

// FillInBackground looks for what is kept of messages that an older program stored, beside those who
// use the store, with pauses, by one server at a time. It returns when the end is reached, which is done, or another
// server does it, or ctx ends; what is left is done later.
func (p Kept) FillInBackground(ctx context.Context, log *slog.Logger) (done bool) {
	claim, err := p.s.Claims.ClaimWork(ctx, "", keptWork)
	if err == nil && claim == nil {
		return false
	}
	defer claim.Release()
	for err == nil && ctx.Err() == nil && !done {
		var step driver.FillResult
		step, err = p.s.d.Admin.FillKept(ctx, hashEach, kept.ListAllRows)
		done = step.Done
		select {
		case <-ctx.Done():
		case <-time.After(hashPause):
		}
	}
	if err != nil && ctx.Err() == nil {
		log.Warn("older messages could not be looked through for what is to be kept", "error", err)
	}
	return done && err == nil
}
