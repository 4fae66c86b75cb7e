package transfer

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// maxFollowers bounds how many conversations a source is compared with at once.
const maxFollowers = 256

// followerState is a conversation that begins as a source does. It is only read.
type followerState struct {
	*importing
	off    int // messages of the source's current path behind those that it shares
	entire bool
}

// matchPrefix compares a source whose first message is known with the conversations that have it,
// all at once, and returns where the source leaves them: the one that has all of it, else the
// one that goes along with its current path the farthest; nil if none does.
func (b *sessionImport) matchPrefix(ctx context.Context, s *sessionSource) (*followerState, error) {
	all, err := b.listFollowers(ctx, s)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	told := 0
	for entry, err := range leaveOutTold(b.Tool.Read(ctx, b.Place, b.Session.Session)) {
		if err == nil {
			err = checkContext(ctx)
		}
		if err != nil {
			return nil, scrollback.Wrap(scrollback.Unavailable, "transfer.Bring", err)
		}
		if entry.Source != s.Source || entry.Bad != nil || entry.Conversation != nil {
			continue
		}
		if entry.End != nil {
			break
		}
		if entry.Rewind == nil {
			told++
		}
		if b.q.Mask {
			mask.MaskEntry(&entry)
		}
		for _, f := range all {
			if err := f.followEntry(ctx, b.im, entry); err != nil {
				return nil, err
			}
		}
	}
	return b.bestFollower(ctx, s, all, told)
}

// listFollowers returns the conversations whose sources begin with the same message, each once.
func (b *sessionImport) listFollowers(ctx context.Context, s *sessionSource) ([]*followerState, error) {
	if s.Root == "" {
		return nil, nil
	}
	like, err := b.im.Origins(ctx, b.im.view, OriginQuery{Tool: s.Tool, Root: s.Root, Limit: maxFollowers})
	if err != nil {
		return nil, err
	}
	var all []*followerState
	for _, o := range like {
		if slices.ContainsFunc(all, func(f *followerState) bool { return f.ID == o.Conversation }) {
			continue
		}
		h, err := b.im.view.Bulk().Head(ctx, o.Conversation, scrollback.AccessWrite)
		if scrollback.CodeOf(err) == scrollback.NotFound { // purged meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		f := &followerState{importing: &importing{firsts: map[pathPoint]*storedMessage{}, head: h, at: h.Branch},
			entire: true}
		f.ID = h.ID
		all = append(all, f)
	}
	return all, nil
}

// followEntry follows the source by one entry.
func (f *followerState) followEntry(ctx context.Context, im *importer, entry transcript.Entry) error {
	if entry.Rewind != nil {
		n := max(*entry.Rewind, 0)
		f.off = max(n-len(f.seqs), 0)
		f.seqs = f.seqs[:min(n, len(f.seqs))]
		f.known = nil
		return nil
	}
	if f.off > 0 {
		f.off++
		return nil
	}
	_, e, err := readMessage(entry)
	if err != nil {
		return err
	}
	found, err := im.followPath(ctx, f.importing, e)
	if err == nil && !found {
		f.off = 1
		f.entire = false
		f.known = nil
	}
	return err
}

// bestFollower returns the follower that a source is, or leaves. Of several it is the one that the source
// was before, or whose own the last shared message is, or that is oldest.
func (b *sessionImport) bestFollower(ctx context.Context, s *sessionSource, all []*followerState,
	told int) (*followerState, error) {
	var best *followerState
	rank := func(f *followerState) (out [4]int64, err error) {
		if f.entire = f.entire && told > 0; f.entire {
			out[0] = 1
		}
		if out[1] = int64(len(f.seqs)); f.ID == s.was.Conversation {
			out[2] = 2
		} else if f.newestSeq() > 0 {
			m, err := b.im.store.ReadMessageAt(ctx, f.at, f.newestSeq())
			if err != nil {
				return out, err
			}
			if m.ConversationID == f.ID {
				out[2] = 1
			}
		}
		out[3] = -f.head.CreatedAt
		return out, nil
	}
	var most [4]int64
	for _, f := range all {
		r, err := rank(f)
		if err != nil {
			return nil, err
		}
		if len(f.seqs) > 0 && (best == nil || slices.Compare(r[:], most[:]) > 0) {
			best = f
			most = r
		}
	}
	return best, nil
}
