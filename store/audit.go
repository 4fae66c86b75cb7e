package store

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Audit walks everything that is kept; see [driver.AuditWalk]. A message whose
// words search should find, and does not, is a flaw of the index. It writes
// nothing.
func (s *Store) Audit(ctx context.Context, w driver.AuditWalk) error {
	message := w.Message
	w.Message = func(m scrollback.Message, indexed bool) error {
		if !indexed && terms.Join(IndexText(m.Parts), 1) != "" {
			err := w.Flaw(driver.Flaw{Kind: driver.FlawIndex, Where: "message " + string(m.ID), Detail: "search does not find it"})
			if err != nil {
				return err
			}
		}
		return message(m, indexed)
	}
	return s.d.Audit(ctx, w)
}

// Base is the weight of a branch's path up to where it leaves its parent. It is
// internal when that place does not exist.
func (s *Store) Base(ctx context.Context, b scrollback.Branch) (scrollback.Weight, error) {
	const op = "store.Base"
	broken := func(format string, args ...any) (scrollback.Weight, error) {
		return scrollback.Weight{}, scrollback.Errorf(scrollback.Internal, op, format, args...)
	}
	if b.Parent == "" {
		if b.AtSeq != 0 {
			return broken("it leaves at #%d, and has no parent", b.AtSeq)
		}
		return scrollback.Weight{}, nil
	}
	seen := map[scrollback.BranchID]bool{b.ID: true}
	for p := b; ; {
		if p.Parent == "" {
			if b.AtSeq == 0 {
				return scrollback.Weight{}, nil
			}
			return broken("its path ends above #%d", b.AtSeq)
		}
		if seen[p.Parent] {
			return broken("its path comes back to branch %s", p.Parent)
		}
		seen[p.Parent] = true
		next, err := s.d.Branch(ctx, p.Parent)
		switch {
		case scrollback.CodeOf(err) == scrollback.NotFound:
			return broken("its parent, branch %s, is missing", p.Parent)
		case err != nil:
			return scrollback.Weight{}, err
		case b.AtSeq > next.HeadSeq:
			return broken("it leaves branch %s at #%d, which ends at #%d", next.ID, b.AtSeq, next.HeadSeq)
		}
		if p = next; b.AtSeq <= p.AtSeq {
			continue
		}
		ms, err := s.d.Messages(ctx, driver.MessageQuery{Branch: p.ID, From: b.AtSeq, To: b.AtSeq})
		switch {
		case err != nil:
			return scrollback.Weight{}, err
		case len(ms) == 0:
			return broken("branch %s has no message #%d to leave at", p.ID, b.AtSeq)
		}
		return ms[0].Sum, nil
	}
}
