package store

import (
	"context"
	"math"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Walk walks everything that is stored; see [AuditWalk]. It writes nothing.
func (a Audit) Walk(ctx context.Context, w AuditWalk) error { return a.s.d.Admin.WalkRows(ctx, w) }

// WeighBase returns the weight of a branch's path up to where it leaves its parent. It is
// internal when that place does not exist.
func (a Audit) WeighBase(ctx context.Context, b scrollback.Branch) (scrollback.Weight, error) {
	const op = "store.WeighBase"
	broken := func(text i18n.ID, args ...any) (scrollback.Weight, error) {
		return scrollback.Weight{}, scrollback.Errorf(scrollback.Internal, op, text, args...)
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
		next, err := a.s.d.Log.FindBranch(ctx, p.Parent)
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
		ms, err := a.s.d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: p.ID, From: b.AtSeq, To: b.AtSeq})
		switch {
		case err != nil:
			return scrollback.Weight{}, err
		case len(ms) == 0:
			return broken("branch %s has no message #%d to leave at", p.ID, b.AtSeq)
		}
		return ms[0].Sum, nil
	}
}

// CopyDatabase writes a copy of the whole database to a new file; see [driver.Admin].
func (a Audit) CopyDatabase(ctx context.Context, path string) error {
	return a.s.d.Admin.CopyDatabase(ctx, path)
}

// Repair repairs one thing; see [Repair]. The store sets the clock, the salvage and what a
// recovered conversation says of itself.
func (a Audit) Repair(ctx context.Context, m Repair) error {
	m.Now = a.s.Now()
	m.Salvage = a.s.salvageDraft
	if m.Recover != nil {
		r := *m.Recover
		r.As = scrollback.Conversation{Title: recoveredTitle}
		if err := completeConversation("store.Repair", &r.As); err != nil {
			return err
		}
		m.Recover = &r
	}
	return a.s.d.Admin.Repair(ctx, m)
}

// recoveredTitle is the title of a conversation whose own was lost.
const recoveredTitle = "Recovered"

// RepairView cuts what a branch shows before the first segment that cannot be read,
// and at its head; if that is unclear, the branch shows everything. A summary that
// cannot be read is replaced by the one before it.
func (a Audit) RepairView(ctx context.Context, id scrollback.BranchID) error {
	b, err := a.s.d.Log.FindBranch(ctx, id)
	if err != nil {
		return err
	}
	to := b.HeadSeq
	sound := b.View.Boundary <= b.HeadSeq
	for _, item := range b.View.Segments {
		lost, err := a.lostSegment(ctx, item.ID)
		if err != nil {
			return err
		}
		if lost {
			to = min(to, item.FirstSeq-1)
			sound = false
			break
		}
	}
	v, err := a.s.Views.cutView(ctx, b, to)
	if err == nil && v.Summary != nil {
		var lost bool
		if lost, err = a.lostSegment(ctx, v.Summary.Segment); err == nil && lost {
			sound = false
			v.Summary, err = a.s.Views.summaryBefore(ctx,
				&scrollback.ViewSummary{FirstSeq: v.Summary.FirstSeq, LastSeq: math.MaxInt64}, v)
		}
	}
	switch code := scrollback.CodeOf(err); {
	case err != nil && code != scrollback.NotFound && code != scrollback.Internal:
		return err
	case err != nil:
		v = scrollback.View{}
	case sound:
		return nil
	}
	return a.Repair(ctx, driver.Repair{View: &driver.ViewRepair{Branch: id, IfViewVersion: b.ViewVersion, View: v}})
}

// lostSegment reports whether an error says that a segment is missing or unreadable.
func (a Audit) lostSegment(ctx context.Context, id scrollback.SegmentID) (bool, error) {
	_, err := a.s.d.Views.ReadSegments(ctx, []scrollback.SegmentID{id})
	switch scrollback.CodeOf(err) {
	case scrollback.NotFound, scrollback.Internal:
		return true, nil
	}
	return false, err
}

// CheckIndex holds the search index against the log: flaw is called for messages that search
// does not find as it should, and left are purged messages whose words it still has. progress
// gets how many messages were checked, of about how many.
func (a Audit) CheckIndex(ctx context.Context, progress func(done, total int64),
	flaw func(m scrollback.Message, detail string) error) (left int64, err error) {
	return a.s.index.Check(ctx, progress, flaw)
}

// RebuildIndex rebuilds the search index while it is in use; searches find everything
// meanwhile. progress gets how far it is.
func (a Audit) RebuildIndex(ctx context.Context, progress func(done, total int64)) error {
	return a.s.index.Rebuild(ctx, progress)
}

// MaintainIndex ends the work on the search index that waits for a quiet time: it forgets what was
// purged.
func (a Audit) MaintainIndex(ctx context.Context) error { return a.s.index.MaintainAll(ctx) }
