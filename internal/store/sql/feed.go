package sqlstore

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var changeTable = table[driver.Change]{columns: []column[driver.Change]{
	{"conversation_id", func(c *driver.Change) any { return &c.Conversation }},
	{"project", func(c *driver.Change) any { return &c.Project }},
	{"moved_from", func(c *driver.Change) any { return &c.From }},
	{"kinds", func(c *driver.Change) any { return &c.Kinds }},
	{"turn_id", func(c *driver.Change) any { return &c.Turn }},
	{"state", func(c *driver.Change) any { return &c.State }},
	{"first_seq", func(c *driver.Change) any { return &c.FirstSeq }},
	{"last_seq", func(c *driver.Change) any { return &c.LastSeq }},
	{"ref", func(c *driver.Change) any { return &c.Ref }},
}}

// ChangeColumns are those of changes, without the number.
var ChangeColumns = changeTable.columnList()

// pruneEvery is after how many writes of a process old changes are removed; with its first
// write too, because most processes do not write much.
const pruneEvery = 256

// recordChange writes a change, unless it says nothing: in the transaction that it reports. Numbers
// grow by one, and the newest change is never removed, so that no number comes twice.
func (w *writeTx) recordChange(ctx context.Context, c driver.Change) error {
	if c.Kinds == 0 {
		return nil
	}
	values, err := changeTable.values(&c)
	if err != nil {
		return err
	}
	w.told = append(w.told, string(c.Conversation))
	return w.tx.Queue(ctx, w.Dialect.InsertChange, values...)
}

// pruneChanges removes all but the newest changes.
func (w *writeTx) pruneChanges(ctx context.Context, kept int) error {
	if err := w.keepChanged(ctx, kept); err != nil {
		return err
	}
	return w.tx.Queue(ctx, `DELETE FROM changes WHERE n <= (SELECT max(n) FROM changes) - $1`, kept)
}

// ListChanges implements [driver.Log].
func (db log) ListChanges(ctx context.Context, after int64, limit int) ([]driver.Change, error) {
	const op = "sqlstore.ListChanges"
	if err := db.numberCommits(ctx); err != nil {
		return nil, db.wrapError(op, err)
	}
	var out []driver.Change
	var n int64
	var head scrollback.ChangedHead
	var agent scrollback.AgentRef
	var there bool
	err := db.Readers.Query(ctx, changeTable.scanEachWith(func(c driver.Change) error {
		c.N = n
		if there {
			now := head
			if agent.ID != "" {
				now.AgentOf = &scrollback.AgentRef{ID: agent.ID, TurnID: agent.TurnID, CallID: agent.CallID}
			}
			c.Now = &now
		}
		out = append(out, c)
		return nil
	}, &n, &there, &head.In, &head.Title, &head.Version, &head.Branch, &head.Messages, &head.UpdatedAt, &head.DeletedAt,
		&agent.ID, &agent.TurnID, &agent.CallID),
		`SELECT h.conversation_id, h.project, h.moved_from, h.kinds, h.turn_id, h.state, h.first_seq, h.last_seq, h.ref, h.n,
		c.id IS NOT NULL, coalesce(c.project, ''), coalesce(c.title, ''), coalesce(c.version, 0), coalesce(c.branch, ''), coalesce(c.messages, 0),
		coalesce(c.updated_at, 0), coalesce(c.deleted_at, 0),
		coalesce(c.agent_of, ''), coalesce(c.agent_turn, ''), coalesce(c.agent_call, '')
		FROM changes h LEFT JOIN conversations c ON c.id = h.conversation_id AND c.purged_at = 0 WHERE h.n > $1 ORDER BY h.n LIMIT $2`, after, limit)
	return out, db.wrapError(op, err)
}

// ReadChangeSpan implements [driver.Log].
func (db log) ReadChangeSpan(ctx context.Context) (oldest, newest int64, err error) {
	const op = "sqlstore.ReadChangeSpan"
	err = db.numberCommits(ctx)
	if err == nil {
		err = QueryRow(ctx, db.Readers, scanInto(&oldest, &newest),
			`SELECT coalesce((SELECT min(n) FROM changes), 0), coalesce((SELECT max(n) FROM changes), 0)`)
	}
	return oldest, newest, db.wrapError(op, err)
}

// Committed implements [driver.Log].
func (db log) Committed() <-chan struct{} {
	if db.Order != nil {
		return db.Order.News()
	}
	return db.committed
}
