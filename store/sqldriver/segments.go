package sqldriver

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Commit implements driver.Log.
func (db *DB) Commit(ctx context.Context, c driver.Commit) error {
	return db.write(ctx, "sqldriver.Commit", func(ctx context.Context, tx *session) error {
		w := &logWriter{tx: tx, dialect: db.dialect}
		if err := loadConversation(ctx, tx, c.Conversation, &w.c); err != nil {
			return err
		}
		if err := loadBranch(ctx, tx, c.Branch, &w.b); err != nil {
			return err
		}
		if w.b.ViewVersion != c.IfViewVersion {
			return scrollback.Errorf(scrollback.Conflict, "sqldriver.Commit", "the view of branch %s changed meanwhile", c.Branch)
		}
		for i := range c.Segments {
			v, err := segmentValues(&c.Segments[i])
			if err != nil {
				return err
			}
			if err := tx.run(ctx, `INSERT INTO segments (`+segmentColumns+`) VALUES (`+marks(22)+`)`, v...); err != nil {
				return err
			}
		}
		var col columns
		receipt, before := col.json(c.Receipt), col.json(w.b.View)
		if col.err != nil {
			return col.err
		}
		err := tx.run(ctx, `INSERT INTO receipts (conversation_id, branch, segments, receipt, view_before, undone_at, created_at) VALUES (`+marks(7)+`)`,
			c.Conversation, c.Branch, len(c.Segments), receipt, before, 0, c.Now)
		if err != nil {
			return err
		}
		if err := enter(ctx, tx, w.c.Project, c.Usage, nil); err != nil {
			return err
		}
		view := c.View
		if len(c.Segments) == 0 {
			view = w.b.View.Remember(c.View)
		}
		return w.setView(ctx, view, c.Now)
	})
}

func (w *logWriter) setView(ctx context.Context, v scrollback.View, now int64) error {
	view, err := asJSON(v)
	if err != nil {
		return err
	}
	if err := w.tx.run(ctx, `UPDATE branches SET view = $2, view_version = view_version + 1 WHERE id = $1`, w.b.ID, view); err != nil {
		return err
	}
	return w.c.touch(ctx, w.tx, now)
}

// Unfold implements driver.Log.
func (db *DB) Unfold(ctx context.Context, u driver.Unfold) (scrollback.Receipt, error) {
	const op = "sqldriver.Unfold"
	var out scrollback.Receipt
	err := db.write(ctx, op, func(ctx context.Context, tx *session) error {
		out = scrollback.Receipt{}
		w := &logWriter{tx: tx, dialect: db.dialect}
		if err := loadBranch(ctx, tx, u.Branch, &w.b); err != nil {
			return err
		}
		if err := loadConversation(ctx, tx, w.b.Conversation, &w.c); err != nil {
			return err
		}
		var n int64
		var receipt, before string
		err := tx.row(ctx, func(r scanner) error { return r.Scan(&n, &receipt, &before) },
			`SELECT n, receipt, view_before FROM receipts WHERE conversation_id = $1 AND branch = $2 AND undone_at = 0
			AND segments > 0 ORDER BY n DESC LIMIT 1`, w.c.ID, u.Branch)
		switch {
		case errors.Is(err, sql.ErrNoRows) && u.View == nil:
			return scrollback.Errorf(scrollback.NotFound, op, "there is no fold to undo")
		case errors.Is(err, sql.ErrNoRows) && u.IfViewVersion != w.b.ViewVersion:
			return scrollback.Errorf(scrollback.Conflict, op, "the view of branch %s changed meanwhile", u.Branch)
		case errors.Is(err, sql.ErrNoRows):
			return w.setView(ctx, *u.View, u.Now)
		case err != nil:
			return err
		}
		var view scrollback.View
		var col columns
		col.parse(receipt, &out)
		col.parse(before, &view)
		if col.err != nil {
			return col.err
		}
		if err := tx.run(ctx, `UPDATE receipts SET undone_at = $2 WHERE n = $1`, n, u.Now); err != nil {
			return err
		}
		return w.setView(ctx, view, u.Now)
	})
	return out, err
}

// Segments implements driver.Find.
func (db *DB) Segments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	out := make([]scrollback.Segment, len(ids))
	for i, id := range ids {
		err := db.read.row(ctx, scanSegment(&out[i]), `SELECT `+segmentColumns+` FROM segments WHERE id = $1`, id)
		if errors.Is(err, sql.ErrNoRows) {
			err = scrollback.Errorf(scrollback.NotFound, "sqldriver.Segments", "no segment %s", id)
		}
		if err != nil {
			return nil, db.wrap("sqldriver.Segments", err)
		}
	}
	return out, nil
}

// Receipts implements driver.Find.
func (db *DB) Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error) {
	var out []scrollback.Receipt
	err := db.read.rows(ctx, func(r scanner) error {
		var receipt string
		var undone bool
		if err := r.Scan(&receipt, &undone); err != nil {
			return err
		}
		out = append(out, scrollback.Receipt{})
		last := &out[len(out)-1]
		err := fromJSON(receipt, last)
		last.Undone = undone
		return err
	}, `SELECT receipt, undone_at <> 0 FROM receipts WHERE conversation_id = $1 ORDER BY n DESC LIMIT $2`, id, limit)
	return out, db.wrap("sqldriver.Receipts", err)
}
