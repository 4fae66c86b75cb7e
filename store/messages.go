package store

import (
	"context"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// chunk bounds how many messages one read brings into memory.
const chunk = 512

// Path is the spans of a branch's path that hold seqs from..to, root first.
// Walking starts at the branch, so a short way near the head stays cheap however
// long the path is.
func (s *Store) Path(ctx context.Context, b scrollback.Branch, from, to int64) ([]scrollback.Span, error) {
	var spans []scrollback.Span
	end, head := min(to, b.HeadSeq), b
	for hops := 0; end >= from && end > 0; hops++ {
		if hops == maxHops {
			return nil, endless("store.Path", head)
		}
		if first := max(from, b.AtSeq+1); first <= end {
			spans = append(spans, scrollback.Span{Conversation: b.Conversation, Branch: b.ID, From: first, To: end})
		}
		if b.Parent == "" {
			break
		}
		end = min(end, b.AtSeq)
		if end < from {
			break
		}
		var err error
		if b, err = s.d.Branch(ctx, b.Parent); err != nil {
			return nil, err
		}
	}
	slices.Reverse(spans)
	return spans, nil
}

// maxHops bounds how many branches a path has: only a damaged one has more.
const maxHops = 100_000

func endless(op string, b scrollback.Branch) error {
	return scrollback.Errorf(scrollback.Internal, op, "the path of branch %s does not end", b.ID)
}

// Walk reads the messages of spans in order, a bounded piece at a time.
func (s *Store) Walk(ctx context.Context, spans []scrollback.Span) iter.Seq2[scrollback.Message, error] {
	return func(yield func(scrollback.Message, error) bool) {
		for _, sp := range spans {
			for from := sp.From; from <= sp.To; {
				ms, err := s.d.Messages(ctx, driver.MessageQuery{Branch: sp.Branch, From: from, To: sp.To, Limit: chunk})
				if err == nil && len(ms) == 0 {
					err = scrollback.Errorf(scrollback.Internal, "store.Walk", "branch %s has no message %d", sp.Branch, from)
				}
				if err != nil {
					yield(scrollback.Message{}, err)
					return
				}
				for _, m := range ms {
					if !yield(m, nil) {
						return
					}
				}
				from = ms[len(ms)-1].Seq + 1
			}
		}
	}
}

// All reads the whole path of a conversation's current branch.
func (s *Store) All(ctx context.Context, id scrollback.ConversationID) iter.Seq2[scrollback.Message, error] {
	return func(yield func(scrollback.Message, error) bool) {
		h, err := s.d.Head(ctx, id)
		var spans []scrollback.Span
		if err == nil {
			spans, err = s.Path(ctx, h.Branch, 1, h.Branch.HeadSeq)
		}
		if err != nil {
			yield(scrollback.Message{}, err)
			return
		}
		for m, err := range s.Walk(ctx, spans) {
			if !yield(m, err) {
				return
			}
		}
	}
}

// At is the message with the given seq on a branch's path.
func (s *Store) At(ctx context.Context, b scrollback.Branch, seq int64) (scrollback.Message, error) {
	spans, err := s.Path(ctx, b, seq, seq)
	if err != nil {
		return scrollback.Message{}, err
	}
	ms, err := gather(s.Walk(ctx, spans))
	if err == nil && len(ms) == 0 {
		err = scrollback.Errorf(scrollback.NotFound, "store.At", "there is no message %d on this path", seq)
	}
	if err != nil {
		return scrollback.Message{}, err
	}
	return ms[0], nil
}

// BranchMessages reads one branch's own messages with seq in [from, to].
func (s *Store) BranchMessages(ctx context.Context, b scrollback.BranchID, from, to int64) ([]scrollback.Message, error) {
	return gather(s.Walk(ctx, []scrollback.Span{{Branch: b, From: from, To: to}}))
}

func gather(seq iter.Seq2[scrollback.Message, error]) ([]scrollback.Message, error) {
	var out []scrollback.Message
	for m, err := range seq {
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// PageQuery pages through a path by seq: those After (0 for the first), or the
// newest Before, or with neither the newest of all. Messages come ascending.
type PageQuery struct {
	Branch scrollback.BranchID // empty: the current one
	After  *int64
	Before int64
	Limit  int // 0 means 50, at most 200
}

// Page answers messages and the seq to go on from in the same direction, or 0.
func (s *Store) Page(ctx context.Context, id scrollback.ConversationID, q PageQuery) ([]scrollback.Message, int64, error) {
	h, err := s.d.Head(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	b := h.Branch
	if q.Branch != "" && q.Branch != b.ID {
		b, err = s.d.Branch(ctx, q.Branch)
		if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
			return nil, 0, err
		}
		if err != nil || b.Conversation != id {
			return nil, 0, scrollback.Errorf(scrollback.NotFound, "store.Page", "no branch %s in this conversation", q.Branch)
		}
	}
	limit := int64(pageSize(q.Limit))
	to := b.HeadSeq
	if q.Before > 0 {
		to = min(to, q.Before-1)
	}
	from := max(1, to-limit+1)
	if q.After != nil {
		from = max(1, *q.After+1)
		to = min(from+limit-1, b.HeadSeq)
	}
	spans, err := s.Path(ctx, b, from, to)
	if err != nil {
		return nil, 0, err
	}
	ms, err := gather(s.Walk(ctx, spans))
	switch {
	case err != nil || len(ms) == 0:
		return ms, 0, err
	case q.After != nil && to < b.HeadSeq:
		return ms, to, nil
	case q.After == nil && from > 1:
		return ms, from, nil
	}
	return ms, 0, nil
}
