package exchange

import (
	"context"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// digestBatch is how many digests that were worked out are stored at once: what is cut off goes on behind them.
const digestBatch = 256

// Mark returns a mark of what a side holds: while it stays the same, nothing that travels has changed. It is one small
// read, whatever the side holds. It may change though nothing has. A copy of a store has the same marks until one of
// both goes on, and then others: so what is known of a store at a mark holds for a backup of it too.
func (s Side) Mark(ctx context.Context) (string, error) { return s.Store.Move.ReadMark(ctx) }

// Changed returns what was written of what travels since Mark returned a mark. It costs what has changed.
func (s Side) Changed(ctx context.Context, mark string) (store.Changed, error) {
	return s.Store.Move.ReadChanged(ctx, mark)
}

// Summaries lists all conversations and all stones of a side with their digests, by id. Only those that have changed
// since this was asked before are read; what they come to is stored, unless the store may only be read or
// is being moved.
func (s Side) Summaries(ctx context.Context) ([]merge.Summary, error) {
	known, err := s.Store.Move.ReadDigests(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]merge.Summary, 0, len(known.All))
	fresh := store.Digests{At: known.At}
	stores := true
	flush := func(all bool) error {
		if !stores {
			return nil
		}
		err := s.Store.Move.StoreDigests(ctx, fresh, all)
		fresh.All = fresh.All[:0]
		if scrollback.CodeOf(err) == scrollback.Refused || errors.Is(err, scrollback.ErrMoving) {
			stores = false
			return nil
		}
		return err
	}
	changed := false
	for _, d := range known.All {
		var hash merge.Hash
		if d.Digest == "" || hash.UnmarshalText([]byte(d.Digest)) != nil {
			changed = true
			of, err := s.summarize(ctx, d.ID)
			if err != nil {
				return nil, err
			}
			one := store.StoredDigest{ID: d.ID}
			if of != nil {
				out = append(out, *of)
				one.Digest = of.Digest.String()
			}
			if fresh.All = append(fresh.All, one); len(fresh.All) == digestBatch {
				if err := flush(false); err != nil {
					return nil, err
				}
			}
			continue
		}
		out = append(out, merge.Summary{ID: d.ID, Digest: hash})
	}
	if !changed {
		return out, nil
	}
	return out, flush(true)
}

// summarize reads a conversation, and the stone of it, and returns what they come to; nil if there is neither.
func (s Side) summarize(ctx context.Context, id scrollback.ConversationID) (*merge.Summary, error) {
	c, err := s.readConversation(ctx, id)
	if err != nil {
		return nil, err
	}
	var t merge.Tally
	if c != nil {
		t = c.tally()
	}
	stone, err := s.Store.ReadStone(ctx, id)
	switch {
	case err == nil:
		h := newStone(stone).Element()
		t = t.Replace(nil, &h)
	case scrollback.CodeOf(err) != scrollback.NotFound:
		return nil, err
	case c == nil || !c.seen:
		return nil, nil // what is only there for others counts with them
	}
	return &merge.Summary{ID: id, Digest: t.Digest(id)}, nil
}

// meeting is what a side need not read of another one to take what it has.
type meeting struct {
	mark  string                             // of the other side, before anything was read
	known string                             // one of its marks: what it held then is here; or empty
	only  map[scrollback.ConversationID]bool // with that, what was written there since
	equal map[scrollback.ConversationID]bool // without it, of which both sides hold the same
}

// beginMeeting finds out of which conversations there is nothing to take: of a store that was met before those that
// have not changed since, and of any other those of which both sides hold the same.
func beginMeeting(ctx context.Context, from, into Side) (*meeting, error) {
	m := &meeting{}
	var err error
	if m.mark, err = from.Mark(ctx); err != nil {
		return nil, err
	}
	all, err := into.Store.Move.ListMet(ctx)
	if err != nil {
		return nil, err
	}
	for _, known := range all {
		changed, err := from.Changed(ctx, known)
		if err != nil {
			return nil, err
		}
		if changed.Everything || m.known != "" && len(changed.Conversations) >= len(m.only) {
			continue // copies of a store may have met this one at several marks
		}
		m.known = known
		m.only = map[scrollback.ConversationID]bool{}
		for _, id := range changed.Conversations {
			m.only[id] = true
		}
	}
	if m.known != "" {
		return m, nil
	}
	m.equal, err = compareSummaries(ctx, from, into)
	return m, err
}

// compareSummaries finds of which conversations two sides hold the same.
func compareSummaries(ctx context.Context, a, b Side) (map[scrollback.ConversationID]bool, error) {
	ofA, err := a.Summaries(ctx)
	if err != nil {
		return nil, err
	}
	ofB, err := b.Summaries(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[scrollback.ConversationID]merge.Hash, len(ofA))
	for _, s := range ofA {
		known[s.ID] = s.Digest
	}
	out := map[scrollback.ConversationID]bool{}
	for _, s := range ofB {
		if known[s.ID] == s.Digest {
			out[s.ID] = true
		}
	}
	return out, nil
}

// isEqual reports whether there is nothing to take of a conversation by itself.
func (m *meeting) isEqual(id scrollback.ConversationID) bool {
	if m.known != "" {
		return !m.only[id]
	}
	return m.equal[id]
}

// listTheirs lists the conversations of the other side, or none if there is nothing to take of any.
func (m *meeting) listTheirs(ctx context.Context, from Side) ([]scrollback.Conversation, error) {
	if m.known != "" && len(m.only) == 0 {
		return nil, nil
	}
	return from.Store.Move.ListAll(ctx)
}

// end notes that all was taken that the other side held when the meeting began, unless something was left out.
func (m *meeting) end(ctx context.Context, into Side, q Request, r *merge.Outcome) error {
	if q.Look || len(r.Refused) > 0 || len(r.Waiting) > 0 || len(r.Held) > 0 || m.mark == m.known {
		return nil
	}
	return into.Store.Move.PutMet(ctx, m.mark, m.known)
}
