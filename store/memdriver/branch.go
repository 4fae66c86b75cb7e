package memdriver

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// leave completes a branch by the message that it is to leave its parent at, and
// answers the conversation of the parent.
func (db *database) leave(op string, b *scrollback.Branch) (scrollback.ConversationID, error) {
	b.HeadSeq, b.Sum = b.AtSeq, scrollback.Weight{}
	if b.Parent == "" && b.AtSeq == 0 {
		return b.Conversation, nil
	}
	if parent := db.branches[b.Parent]; parent != nil {
		for _, r := range parent.rows {
			if r.Seq == b.AtSeq {
				b.Sum = r.Sum
				return parent.Conversation, nil
			}
		}
	}
	return "", scrollback.Errorf(scrollback.NotFound, op, "branch %s has no message %d of its own", b.Parent, b.AtSeq)
}

// Rewind implements [driver.Log].
func (db log) Rewind(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	const op = "memdriver.Rewind"
	end, err := db.write(ctx, op)
	defer end()
	if err != nil {
		return driver.Head{}, err
	}
	th, err := db.live(op, r.Conversation)
	if err != nil {
		return driver.Head{}, err
	}
	to := clone(r.To)
	if err := db.reachable(op, th, &to); err != nil {
		return driver.Head{}, err
	}
	last, salvaged := clone(db.lastTurn(th)), []driver.Entry(nil)
	if last != nil && last.State == scrollback.TurnOpen {
		if driver.Holds(*last, r.Now) {
			return driver.Head{}, scrollback.Errorf(scrollback.Conflict, op, "turn %s holds the conversation", last.ID)
		}
		salvaged = interrupt(last, r.Now, r.Salvage)
	}
	if err := db.fresh(op, salvaged); err != nil {
		return driver.Head{}, err
	}
	edited := clone(th.Conversation)
	if r.Edit != nil {
		r.Edit(&edited)
		keepLog(&edited, th.Conversation)
		edited.DeletedAt = th.DeletedAt
	}
	// From here on nothing fails.
	if last != nil {
		db.turns[last.ID] = last
	}
	th.Conversation = clone(edited)
	db.append(th, salvaged, r.Now)
	b := db.destination(th, to, r.Now)
	th.Branch, th.Messages, th.turn = b.ID, b.HeadSeq, ""
	if n := len(b.rows); n > 0 && db.turns[b.rows[n-1].TurnID] != nil {
		th.turn = b.rows[n-1].TurnID
	}
	th.touch(r.Now)
	return db.head(th), nil
}

// reachable completes a branch that a conversation is to go on with.
func (db log) reachable(op string, th *thread, to *scrollback.Branch) error {
	to.Conversation = th.ID
	of, err := db.leave(op, to)
	if err == nil {
		err = inherits(op, th, of)
	}
	return err
}

// forks says whether a conversation may begin behind a message of another.
func (db log) forks(op string, fork scrollback.Conversation, of scrollback.ConversationID) error {
	parent := of
	if fork.Parent != nil {
		parent = fork.Parent.ID
	}
	th, err := db.live(op, parent)
	if err != nil {
		return err
	}
	return inherits(op, th, of)
}

// inherits is not_found unless messages of another conversation may be on a path.
func inherits(op string, th *thread, of scrollback.ConversationID) error {
	if of != th.ID && !slices.Contains(th.Ancestors, of) {
		return scrollback.Errorf(scrollback.NotFound, op, "conversation %s inherits nothing of %s", th.ID, of)
	}
	return nil
}

// destination is the branch that a rewind leads to: one that stands there already,
// or a new one.
func (db log) destination(th *thread, to scrollback.Branch, now int64) *branch {
	if p := db.branches[to.Parent]; p != nil && p.Conversation == th.ID && p.HeadSeq == to.AtSeq {
		return p
	}
	for _, b := range db.own(th.ID) {
		if b.Parent == to.Parent && b.AtSeq == to.AtSeq && b.HeadSeq == b.AtSeq {
			return b
		}
	}
	b := &branch{Branch: to}
	b.UpdatedAt = now
	db.branches[b.ID] = b
	return b
}

// Purge implements [driver.Log].
func (db log) Purge(ctx context.Context, p driver.Purge) (driver.Purged, error) {
	const op = "memdriver.Purge"
	end, err := db.write(ctx, op)
	defer end()
	if err != nil {
		return driver.Purged{}, err
	}
	th := db.threads[p.Conversation]
	if th == nil {
		return driver.Purged{Done: true}, nil
	}
	if th.PurgedAt == 0 {
		if last := db.lastTurn(th); last != nil && driver.Holds(*last, p.Now) {
			return driver.Purged{}, scrollback.Errorf(scrollback.Conflict, op, "turn %s holds the conversation", last.ID)
		}
		if p.Spares(th.DeletedAt) {
			return driver.Purged{}, scrollback.Errorf(scrollback.Conflict, op, "conversation %s was taken out of the trash", th.ID)
		}
		db.forget(th, p.Now)
	}
	own := db.own(th.ID)
	kept := db.kept(own)
	var out driver.Purged
	for _, b := range own {
		if _, ok := kept[b.ID]; ok {
			out.Kept += kept[b.ID] - b.AtSeq
		}
		out.Removed += db.purge(b, kept[b.ID], int64(p.Limit)-out.Removed)
	}
	if out.Removed == int64(p.Limit) {
		return out, nil
	}
	db.finishPurge(th, kept, p.Now, &out)
	return out, nil
}

// forget makes a conversation unknown: only what others inherit of it stays.
func (db log) forget(th *thread, now int64) {
	for _, id := range th.turns {
		delete(db.turns, id)
	}
	th.turns, th.turn, th.receipts = nil, "", nil
	th.Conversation = scrollback.Conversation{ID: th.ID, Project: th.Project, Parent: th.Parent, Ancestors: th.Ancestors, Version: th.Version,
		Branch: th.Branch, Messages: th.Messages, CreatedAt: th.CreatedAt, DeletedAt: now, PurgedAt: -now, Roots: []string{}, PinnedSeqs: []int64{}}
}

// kept says how far each of a conversation's branches is inherited.
func (db log) kept(own []*branch) map[scrollback.BranchID]int64 {
	var branches, outside []scrollback.Branch
	for _, b := range own {
		branches = append(branches, b.Branch)
		for _, o := range db.branches {
			if o.Parent == b.ID && o.Conversation != b.Conversation {
				outside = append(outside, o.Branch)
			}
		}
	}
	return driver.Kept(branches, outside)
}

// purge removes at most limit of a branch's newest messages behind seq.
func (db log) purge(b *branch, seq, limit int64) int64 {
	first := slices.IndexFunc(b.rows, func(r *row) bool { return r.Seq > seq })
	if first < 0 || limit == 0 {
		return 0
	}
	first = max(first, len(b.rows)-int(limit))
	gone := map[*row]bool{}
	for _, r := range b.rows[first:] {
		gone[r] = true
	}
	b.rows = slices.Clone(b.rows[:first])
	db.rows = slices.DeleteFunc(slices.Clone(db.rows), func(r *row) bool { return gone[r] })
	return int64(len(gone))
}

// finishPurge removes what belonged to the messages that are gone.
func (db log) finishPurge(th *thread, kept map[scrollback.BranchID]int64, now int64, out *driver.Purged) {
	th.segments = slices.DeleteFunc(th.segments, func(id scrollback.SegmentID) bool {
		s := db.segments[id]
		gone := s.LastSeq > kept[s.Branch]
		if gone {
			delete(db.segments, id)
		}
		return gone
	})
	named := map[scrollback.ArtifactID]bool{}
	for _, b := range db.own(th.ID) {
		for _, r := range b.rows {
			for id := range r.Parts.Artifacts() {
				named[id] = true
			}
		}
		if len(b.rows) == 0 {
			delete(db.branches, b.ID)
			continue
		}
		last := b.rows[len(b.rows)-1]
		b.HeadSeq, b.Sum, b.View, b.UpdatedAt = last.Seq, last.Sum, scrollback.View{}, now
		b.ViewVersion++
	}
	th.mentions = slices.DeleteFunc(th.mentions, func(m mention) bool {
		if !named[m.artifact] {
			out.Loose = append(out.Loose, m.artifact)
		}
		return !named[m.artifact]
	})
	th.PurgedAt = now
	if len(kept) == 0 {
		delete(db.threads, th.ID)
	}
	out.Loose = slices.DeleteFunc(out.Loose, db.mentioned)
	for _, id := range out.Loose {
		delete(db.artifacts, id)
	}
	slices.SortFunc(out.Loose, cmp.Compare[scrollback.ArtifactID])
	out.Done = true
	for _, id := range th.Ancestors {
		if a := db.threads[id]; a != nil {
			if a.PurgedAt != 0 {
				out.Next = id
			}
			return
		}
	}
}

// mentioned says whether some conversation mentions an artifact.
func (db *database) mentioned(id scrollback.ArtifactID) bool {
	for _, th := range db.threads {
		if slices.ContainsFunc(th.mentions, func(m mention) bool { return m.artifact == id }) {
			return true
		}
	}
	return false
}
