package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var clockTable = table[stamp.Clock]{columns: []column[stamp.Clock]{
	{"owner", func(c *stamp.Clock) any { return &c.Owner }},
	{"field", func(c *stamp.Clock) any { return &c.Field }},
	{"at", func(c *stamp.Clock) any { return &c.At }},
	{"by", func(c *stamp.Clock) any { return &c.By }},
	{"value", func(c *stamp.Clock) any { return &c.Value }},
}}

// ClockColumns are those of clocks.
var ClockColumns = clockTable.columnList()

// ReadClocks implements [driver.Log].
func (db log) ReadClocks(ctx context.Context, owner string) ([]stamp.Clock, error) {
	var out []stamp.Clock
	err := db.Readers.Query(ctx, clockTable.appendTo(&out),
		`SELECT `+ClockColumns+` FROM clocks WHERE owner = $1 ORDER BY field`, owner)
	return out, db.wrapError("sqlstore.ReadClocks", err)
}

// PutClocks implements [driver.Log].
func (db log) PutClocks(ctx context.Context, all []stamp.Clock) error {
	return db.write(ctx, "sqlstore.PutClocks", func(ctx context.Context, w *writeTx) error {
		for _, c := range all {
			if err := w.putClock(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// putClock stores a clock in the place of the one that the field had.
func (w *writeTx) putClock(ctx context.Context, c stamp.Clock) error {
	values, err := clockTable.values(&c)
	if err != nil {
		return err
	}
	w.noteWritten(scrollback.ConversationID(c.Owner))
	return w.tx.Queue(ctx, `INSERT INTO clocks `+clockTable.insertClause()+
		` ON CONFLICT (owner, field) DO UPDATE SET `+clockTable.upsertClause("owner", "field"), values...)
}

// nextStamp returns the stamp of a change to an owner that is made now, in Unix ms. One too far ahead, of a clock that
// was wrong, is not gone on from.
func (w *writeTx) nextStamp(ctx context.Context, owner string, now int64) (stamp.Stamp, error) {
	newest := int64(0)
	err := QueryRow(ctx, w.tx, scanInto(&newest),
		`SELECT coalesce(max(at), 0) FROM clocks WHERE owner = $1 AND at <= $2`, owner, now+stamp.Bound.Milliseconds())
	if err != nil {
		return stamp.Stamp{}, err
	}
	by, err := w.node(ctx, now)
	return stamp.Stamp{At: stamp.Next(now, newest), By: by}, err
}

// stampChanges gives the fields that an edit of an owner has changed a new stamp.
func (w *writeTx) stampChanges(ctx context.Context, owner string, now int64, changed []stamp.Change) error {
	if len(changed) == 0 {
		return nil
	}
	at, err := w.nextStamp(ctx, owner, now)
	for _, c := range changed {
		if err == nil {
			err = w.putClock(ctx, stamp.Clock{Owner: owner, Field: c.Field, Stamp: at, Value: c.Value})
		}
	}
	return err
}

// forgetClocks removes the clocks of an owner that is gone.
func (w *writeTx) forgetClocks(ctx context.Context, owner string) error {
	w.noteWritten(scrollback.ConversationID(owner))
	return w.tx.Queue(ctx, `DELETE FROM clocks WHERE owner = $1`, owner)
}

// takeSnapshot returns what a conversation has of fields with clocks.
func takeSnapshot(c *conversationRow) (stamp.Snapshot, error) {
	settings, err := encodeJSON(c.Settings)
	return stamp.TakeSnapshot(&c.Conversation, settings), err
}

// noteChanges notes what an edit has changed of a conversation, so that it gets its stamp when that is stored; pinned
// are the pins that it had.
func (c *conversationRow) noteChanges(before stamp.Snapshot, pinned []int64) error {
	after, err := takeSnapshot(c)
	if err != nil {
		return err
	}
	c.changed = append(c.changed, before.Changes(after)...)
	for _, seq := range pinned {
		if !slices.Contains(c.PinnedSeqs, seq) {
			c.unpinned = append(c.unpinned, seq)
		}
	}
	for _, seq := range c.PinnedSeqs {
		if !slices.Contains(pinned, seq) {
			c.pinned = append(c.pinned, seq)
		}
	}
	return nil
}

// stampConversation gives what edits have changed of a conversation a stamp. What is pinned is known by message: seqs
// are those on the path of its current branch.
func (w *writeTx) stampConversation(ctx context.Context, c *conversationRow, now int64) error {
	changed := c.changed
	for value, seqs := range map[string][]int64{stamp.Yes: c.pinned, stamp.No: c.unpinned} {
		for _, seq := range seqs {
			id, err := w.messageAt(ctx, c.Branch, seq)
			if err != nil {
				return err
			}
			if id != "" {
				changed = append(changed, stamp.Change{Field: stamp.PinField(id), Value: value})
			}
		}
	}
	c.changed = nil
	c.pinned = nil
	c.unpinned = nil
	return w.stampChanges(ctx, stamp.OfConversation(c.ID), now, changed)
}

// messageAt returns the id of a message on the path of a branch; empty if there is none.
func (w *writeTx) messageAt(ctx context.Context, branch scrollback.BranchID, seq int64) (scrollback.MessageID, error) {
	ms, err := w.readPath(ctx, w.tx, driver.MessageQuery{Branch: branch, From: seq, To: seq})
	if err != nil || len(ms) == 0 {
		return "", err
	}
	return ms[0].ID, nil
}

// keepPins remembers the pins of a conversation by message before its path changes: those that have no clock were set
// when it began, or by an older program.
func (a *appender) keepPins(ctx context.Context) error {
	for _, seq := range a.c.PinnedSeqs {
		id, err := a.messageAt(ctx, a.c.Branch, seq)
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		c := stamp.Clock{Owner: stamp.OfConversation(a.c.ID), Field: stamp.PinField(id), Value: stamp.Yes,
			Stamp: stamp.Stamp{At: a.c.CreatedAt}}
		values, err := clockTable.values(&c)
		if err != nil {
			return err
		}
		a.noteWritten(a.c.ID)
		if err := a.tx.Queue(ctx, `INSERT INTO clocks `+clockTable.insertClause()+` ON CONFLICT (owner, field) DO NOTHING`,
			values...); err != nil {
			return err
		}
	}
	return nil
}

// selectPins reads where pinned messages are, and since when they are pinned.
const selectPins = `SELECT m.branch, m.seq, k.at FROM clocks k JOIN messages m ON m.id = substr(k.field, 5)
	WHERE k.owner = $1 AND k.field > 'pin.' AND k.field < 'pin/' AND k.value = 'true'`

// showPins makes the pins of a conversation those on a path, of more than there may be the newest.
func (a *appender) showPins(ctx context.Context, branch scrollback.BranchID, head int64) error {
	var pins []placedPin
	err := a.tx.Query(ctx, func(r Row) error {
		var p placedPin
		err := r.Scan(&p.branch, &p.seq, &p.at)
		pins = append(pins, p)
		return err
	}, selectPins, stamp.OfConversation(a.c.ID))
	if err != nil {
		return err
	}
	if len(pins) == 0 {
		a.c.PinnedSeqs = []int64{}
		return nil
	}
	last := map[scrollback.BranchID]int64{} // of each branch, how far the path goes on it
	err = a.tx.Query(ctx, func(r Row) error {
		var branch scrollback.BranchID
		var to int64
		err := r.Scan(&branch, &to)
		last[branch] = to
		return err
	}, Path+` SELECT branch, last FROM path`, branch, 1, head)
	if err != nil {
		return err
	}
	pins = slices.DeleteFunc(pins, func(p placedPin) bool { return p.seq > last[p.branch] })
	slices.SortFunc(pins, func(x, y placedPin) int { return cmp.Or(cmp.Compare(y.at, x.at), cmp.Compare(y.seq, x.seq)) })
	shown := []int64{}
	for _, p := range pins[:min(len(pins), scrollback.PinsMax)] {
		shown = append(shown, p.seq)
	}
	slices.Sort(shown)
	a.c.PinnedSeqs = shown
	return nil
}

// placedPin is a pinned message, and since when it is.
type placedPin struct {
	branch  scrollback.BranchID
	seq, at int64
}
