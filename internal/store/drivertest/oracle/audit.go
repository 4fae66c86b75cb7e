package oracle

import (
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// WalkRows implements [driver.Admin]. Rows in memory belong together by construction,
// so it finds no flaw. The walk may ask the database: the lock is not held.
func (db admin) WalkRows(ctx context.Context, w driver.AuditWalk) error {
	p, err := db.copyAudited(ctx)
	if err != nil {
		return err
	}
	if err := w.Total(int64(len(p.rows))); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(p.threads)) {
		if err := (admin{p}).walkThread(p.threads[id], w); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.segments)) {
		if err := w.Segment(p.segments[id]); err != nil {
			return err
		}
	}
	mentions := map[scrollback.ArtifactID]int64{}
	for _, th := range p.threads {
		for _, m := range th.mentions {
			mentions[m.artifact]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.artifacts)) {
		if err := w.Artifact(p.artifacts[id], mentions[id]); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.turns)) {
		if t := p.turns[id]; t.State == scrollback.TurnOpen {
			if err := w.Turn(*t); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyAudited copies what an audit walks.
func (db admin) copyAudited(ctx context.Context) (*database, error) {
	end, err := db.beginRead(ctx, "oracle.Audit")
	defer end()
	if err != nil {
		return nil, err
	}
	p := newDatabase()
	p.rows = slices.Clone(db.rows) // rows never change
	for id, th := range db.threads {
		p.threads[id] = &storedConversation{Conversation: deepCopy(th.Conversation), mentions: slices.Clone(th.mentions)}
	}
	for id, b := range db.branches {
		p.branches[id] = &branchRow{Branch: deepCopy(b.Branch), number: b.number, rows: slices.Clone(b.rows)}
	}
	for id, t := range db.turns {
		p.turns[id] = deepCopy(t)
	}
	for id, s := range db.segments {
		p.segments[id] = deepCopy(s)
	}
	p.artifacts = maps.Clone(db.artifacts)
	return p, nil
}

func (db admin) walkThread(th *storedConversation, w driver.AuditWalk) error {
	if err := w.Conversation(th.Conversation); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(db.branches)) {
		b := db.branches[id]
		if b.Conversation != th.ID {
			continue
		}
		if err := w.Branch(b.Branch); err != nil {
			return err
		}
		for _, r := range b.rows {
			if err := w.Message(deepCopy(r.Message)); err != nil {
				return err
			}
		}
	}
	return nil
}

// CopyDatabase implements [driver.Admin]: there is no file to copy.
func (db admin) CopyDatabase(ctx context.Context, path string) error {
	const op = "oracle.CopyDatabase"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	return scrollback.Errorf(scrollback.Refused, op, "a database in memory cannot be copied to a file")
}

// Repair implements [driver.Admin]. Rows in memory belong together by construction: for
// heads, lost rows, books and most strays it can only report that they are sound, or that
// the thing is unknown.
func (db admin) Repair(ctx context.Context, m driver.Repair) error {
	const op = "oracle.Repair"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err == nil {
		db.met = nil
	}
	switch {
	case err != nil:
	case m.Heads != "":
		err = db.checkExists(op, m.Heads)
	case m.View != nil:
		err = db.setView(op, *m.View, m.Now)
	case m.Recover != nil && m.Recover.Branch != "":
		var b *branchRow
		if b, err = db.findBranch(op, m.Recover.Branch); err == nil && len(b.rows) == 0 {
			err = scrollback.Errorf(scrollback.NotFound, op, "branch %s has no messages", b.ID)
		}
	case m.Recover != nil:
		err = db.checkExists(op, m.Recover.Conversation)
	case m.Sweep != nil:
		for _, s := range m.Sweep {
			if s.Artifact != "" && s.Conversation == "" && !purgeRun(db).isMentioned(s.Artifact) {
				delete(db.artifacts, s.Artifact)
			}
		}
	case m.Learned != "":
		if _, known := db.learned[m.Learned]; !known {
			err = scrollback.Errorf(scrollback.NotFound, op, "nothing is known of model %s", m.Learned)
		}
	case m.Usage != nil:
		if !slices.ContainsFunc(db.days, func(d scrollback.UsageDay) bool {
			return d.Day == m.Usage.Day && d.Model == m.Usage.Model
		}) {
			err = scrollback.Errorf(scrollback.NotFound, op, "no usage of model %s on day %d", m.Usage.Model, m.Usage.Day)
		}
	default:
		err = db.mendLease(op, m)
	}
	return err
}

// checkExists returns an error for an unknown conversation; a purged one counts as known.
func (db admin) checkExists(op string, id scrollback.ConversationID) error {
	if db.threads[id] == nil {
		return scrollback.Errorf(scrollback.NotFound, op, "no conversation %s", id)
	}
	return nil
}

// setView replaces what a branch shows, unless somebody else has.
func (db admin) setView(op string, v driver.ViewRepair, now int64) error {
	b := db.branches[v.Branch]
	if b == nil || b.ViewVersion != v.IfViewVersion {
		return scrollback.Errorf(scrollback.Conflict, op, "the view of branch %s has changed", v.Branch)
	}
	b.View = deepCopy(v.View)
	b.ViewVersion++
	if th := db.threads[b.Conversation]; th != nil {
		th.Version++
		th.UpdatedAt = now
	}
	return nil
}

func (db admin) mendLease(op string, m driver.Repair) error {
	t := db.turns[m.Lease]
	if t == nil {
		return scrollback.Errorf(scrollback.NotFound, op, "no turn %s", m.Lease)
	}
	if t.State != scrollback.TurnOpen {
		return nil
	}
	if driver.HoldsConversation(*t, m.Now) {
		return scrollback.Errorf(scrollback.Conflict, op, "turn %s holds its conversation", t.ID)
	}
	th, err := db.findConversation(op, t.Conversation)
	if err != nil {
		return err
	}
	closed := deepCopy(t)
	salvaged := interruptTurn(closed, m.Now, m.Salvage)
	if err := db.checkFresh(op, salvaged); err != nil {
		return err
	}
	db.concludeLast(th, closed, salvaged, m.Now)
	db.changes.touchConversation(th, m.Now)
	return nil
}
