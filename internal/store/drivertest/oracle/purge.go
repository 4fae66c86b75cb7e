package oracle

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// PurgeConversation implements [driver.Log].
func (db log) PurgeConversation(ctx context.Context, p driver.Purge) (driver.PurgeResult, error) {
	const op = "oracle.PurgeConversation"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return driver.PurgeResult{}, err
	}
	step := purgeRun(db)
	th := db.threads[p.Conversation]
	if th == nil {
		return driver.PurgeResult{Done: true}, nil
	}
	if th.PurgedAt == 0 {
		for _, id := range th.turns {
			if driver.HoldsConversation(*db.turns[id], p.Now) {
				return driver.PurgeResult{}, scrollback.Errorf(scrollback.Conflict, op, "turn %s is open", id)
			}
		}
		if p.Spares(th.DeletedAt) {
			return driver.PurgeResult{}, scrollback.Errorf(scrollback.Conflict, op, "conversation %s was taken out of the trash",
				th.ID)
		}
		step.layStone(th, p)
		step.forgetConversation(th, p.Now)
	}
	db.changes.noteWritten(string(th.ID))
	db.threaded.Forget(threading.ThreadID(th.ID))
	own := db.listOwnBranches(th.ID)
	kept := step.inheritedSeqs(own)
	var out driver.PurgeResult
	for _, b := range own {
		if _, ok := kept[b.ID]; ok {
			out.Kept += kept[b.ID] - b.AtSeq
		}
		out.Removed += step.removeMessages(b, kept[b.ID], int64(p.Limit)-out.Removed)
	}
	db.dropVectors()
	if out.Removed == int64(p.Limit) {
		return out, nil
	}
	step.finishPurge(th, kept, p.Now, &out)
	return out, nil
}

// purgeRun is a purge under way.
type purgeRun struct{ *database }

// layStone leaves a stone of a conversation that is being purged, and removes its clocks.
func (db purgeRun) layStone(th *storedConversation, p driver.Purge) {
	owner := stamp.OfConversation(th.ID)
	s := stamp.Stone{ID: th.ID, Project: th.Project, Stamp: db.nextStamp(owner, p.Now)}
	if p.Stone != nil {
		s = *p.Stone
	}
	db.putStone(s)
	delete(db.clocks, owner)
}

// forgetConversation makes a conversation unknown: only what others inherit of it stays.
func (db purgeRun) forgetConversation(th *storedConversation, now int64) {
	for _, id := range th.turns {
		delete(db.turns, id)
		delete(db.steps, id)
	}
	db.origins = slices.DeleteFunc(db.origins, func(o scrollback.Origin) bool {
		if o.Conversation == th.ID {
			db.purged[[2]string{driver.PurgedKey(o.Tool, o.ID), th.Project}] = true
		}
		return o.Conversation == th.ID
	})
	th.turns = nil
	th.turn = ""
	th.receipts = nil
	th.texts = nil
	th.Conversation = scrollback.Conversation{ID: th.ID, Project: th.Project, Parent: th.Parent, Ancestors: th.Ancestors,
		Version: th.Version,
		Branch:  th.Branch, Messages: th.Messages, CreatedAt: th.CreatedAt, DeletedAt: now, PurgedAt: -now, Roots: []string{},
		PinnedSeqs: []int64{}}
	db.changes.addChange(driver.Change{Conversation: th.ID, Project: th.Project,
		Kinds: driver.KindTrashed | driver.KindPurged})
	th.was = th.Conversation
}

// inheritedSeqs returns how far each of a conversation's branches is inherited.
func (db purgeRun) inheritedSeqs(own []*branchRow) map[scrollback.BranchID]int64 {
	var branches, outside []scrollback.Branch
	for _, b := range own {
		branches = append(branches, b.Branch)
		for _, o := range db.branches {
			if o.Parent == b.ID && o.Conversation != b.Conversation {
				outside = append(outside, o.Branch)
			}
		}
	}
	return driver.FindNeededSeqs(branches, outside)
}

// removeMessages removes at most limit of a branch's newest messages behind seq.
func (db purgeRun) removeMessages(b *branchRow, seq, limit int64) int64 {
	first := slices.IndexFunc(b.rows, func(r *messageRow) bool { return r.Seq > seq })
	if first < 0 || limit == 0 {
		return 0
	}
	first = max(first, len(b.rows)-int(limit))
	gone := map[*messageRow]bool{}
	for _, r := range b.rows[first:] {
		gone[r] = true
	}
	b.rows = slices.Clone(b.rows[:first])
	db.rows = slices.DeleteFunc(slices.Clone(db.rows), func(r *messageRow) bool { return gone[r] })
	return int64(len(gone))
}

// finishPurge removes what belonged to the messages that are gone.
func (db purgeRun) finishPurge(th *storedConversation, kept map[scrollback.BranchID]int64, now int64,
	out *driver.PurgeResult) {
	th.segments = slices.DeleteFunc(th.segments, func(id scrollback.SegmentID) bool {
		s := db.segments[id]
		gone := s.LastSeq > kept[s.Branch]
		if gone {
			delete(db.segments, id)
		}
		return gone
	})
	maps.DeleteFunc(th.sources, func(_ string, s driver.SourceVersion) bool { return s.Seq > kept[s.Branch] })
	own := db.listOwnBranches(th.ID)
	db.kept = slices.DeleteFunc(slices.Clone(db.kept), func(k scrollback.Kept) bool {
		return len(kept) == 0 && k.Conversation == th.ID || k.Seq > kept[k.Branch] &&
			slices.ContainsFunc(own, func(b *branchRow) bool { return b.ID == k.Branch })
	})
	named := map[scrollback.ArtifactID]bool{}
	for _, b := range own {
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
		b.HeadSeq = last.Seq
		b.Sum = last.Sum
		b.View = scrollback.View{}
		b.UpdatedAt = now
		b.ViewVersion++
	}
	th.mentions = slices.DeleteFunc(th.mentions, func(m mentionRow) bool {
		if !named[m.artifact] {
			out.Loose = append(out.Loose, m.artifact)
		}
		return !named[m.artifact]
	})
	th.PurgedAt = now
	if len(kept) == 0 {
		delete(db.threads, th.ID)
		db.readings = slices.DeleteFunc(slices.Clone(db.readings),
			func(r driver.Reading) bool { return r.Conversation == th.ID })
	}
	out.Loose = slices.DeleteFunc(out.Loose, db.isMentioned)
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

// isMentioned reports whether some conversation mentions an artifact.
func (db purgeRun) isMentioned(id scrollback.ArtifactID) bool {
	for _, th := range db.threads {
		if slices.ContainsFunc(th.mentions, func(m mentionRow) bool { return m.artifact == id }) {
			return true
		}
	}
	return false
}
