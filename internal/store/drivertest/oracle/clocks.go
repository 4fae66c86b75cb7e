package oracle

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// nodeName is the id of a database in memory, of which there is no copy.
const nodeName = "node"

// ReadClocks implements [driver.Log].
func (db log) ReadClocks(ctx context.Context, owner string) ([]stamp.Clock, error) {
	end, err := db.beginRead(ctx, "oracle.ReadClocks")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []stamp.Clock
	for _, c := range db.clocks[owner] {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b stamp.Clock) int { return cmp.Compare(a.Field, b.Field) })
	return out, nil
}

// ReadStone implements [driver.Log].
func (db log) ReadStone(ctx context.Context, id scrollback.ConversationID) (stamp.Stone, error) {
	const op = "oracle.ReadStone"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return stamp.Stone{}, err
	}
	s, ok := db.stones[id]
	if !ok {
		return s, scrollback.Errorf(scrollback.NotFound, op, "no stone of %s", id)
	}
	return s, nil
}

// ListStones implements [driver.Log].
func (db log) ListStones(ctx context.Context, after scrollback.ConversationID, limit int) ([]stamp.Stone, error) {
	end, err := db.beginRead(ctx, "oracle.ListStones")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []stamp.Stone
	for id, s := range db.stones {
		if id > after {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b stamp.Stone) int { return cmp.Compare(a.ID, b.ID) })
	return out[:min(len(out), limit)], nil
}

// PutStone implements [driver.Log].
func (db log) PutStone(ctx context.Context, s stamp.Stone) error {
	const op = "oracle.PutStone"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	if th := db.threads[s.ID]; th != nil && th.PurgedAt == 0 {
		return scrollback.Errorf(scrollback.Conflict, op, "conversation %s is here", s.ID)
	}
	db.putStone(s)
	return nil
}

// Node implements [driver.Log].
func (db log) Node(ctx context.Context) (string, error) {
	end, err := db.beginWrite(ctx, "oracle.Node")
	defer end()
	return nodeName, err
}

// putStone stores a stone, unless the one that is here beats it.
func (db *database) putStone(s stamp.Stone) {
	if was, ok := db.stones[s.ID]; !ok || s.Beats(was) {
		db.stones[s.ID] = s
	}
}

// nextStamp returns the stamp of a change to an owner that began at created.
func (db *database) nextStamp(owner string, created, now int64) stamp.Stamp {
	newest := created
	for _, c := range db.clocks[owner] {
		newest = max(newest, c.At)
	}
	return stamp.Stamp{At: stamp.Next(now, newest), By: nodeName}
}

// stampChanges gives the fields that an edit of an owner has changed a new stamp.
func (db *database) stampChanges(owner string, created, now int64, changed []stamp.Change) {
	if len(changed) == 0 {
		return
	}
	at := db.nextStamp(owner, created, now)
	for _, c := range changed {
		db.putClock(stamp.Clock{Owner: owner, Field: c.Field, Stamp: at, Value: c.Value})
	}
}

// putClock stores a clock in the place of the one that the field had.
func (db *database) putClock(c stamp.Clock) {
	if db.clocks[c.Owner] == nil {
		db.clocks[c.Owner] = map[string]stamp.Clock{}
	}
	db.clocks[c.Owner][c.Field] = c
}

// checkNoStone is conflict if a conversation was purged.
func (db *database) checkNoStone(op string, id scrollback.ConversationID) error {
	if _, ok := db.stones[id]; ok {
		return scrollback.Errorf(scrollback.Conflict, op, "conversation %s was purged", id)
	}
	return nil
}
