package memdriver

import (
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Audit implements [driver.Audit]. Rows in memory belong together by construction,
// so it finds no flaw. The walk may ask the database: the lock is not held.
func (db *DB) Audit(ctx context.Context, w driver.AuditWalk) error {
	p, err := db.picture(ctx)
	if err != nil {
		return err
	}
	if err := w.Total(int64(len(p.rows))); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(p.threads)) {
		if err := p.walkThread(p.threads[id], w); err != nil {
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

// picture copies what an audit walks.
func (db *DB) picture(ctx context.Context) (*DB, error) {
	end, err := db.read(ctx, "memdriver.Audit")
	defer end()
	if err != nil {
		return nil, err
	}
	p := New()
	p.rows = slices.Clone(db.rows) // rows never change
	for id, th := range db.threads {
		p.threads[id] = &thread{Conversation: clone(th.Conversation), mentions: slices.Clone(th.mentions)}
	}
	for id, b := range db.branches {
		p.branches[id] = &branch{Branch: clone(b.Branch), rows: slices.Clone(b.rows)}
	}
	for id, t := range db.turns {
		p.turns[id] = clone(t)
	}
	for id, s := range db.segments {
		p.segments[id] = clone(s)
	}
	p.artifacts = maps.Clone(db.artifacts)
	return p, nil
}

func (db *DB) walkThread(th *thread, w driver.AuditWalk) error {
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
			if err := w.Message(clone(r.Message), len(r.terms) > 0); err != nil {
				return err
			}
		}
	}
	return nil
}
