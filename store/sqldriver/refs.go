package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// PutArtifact implements [driver.Refs].
func (db refs) PutArtifact(ctx context.Context, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error {
	return db.write(ctx, "sqldriver.PutArtifact", func(ctx context.Context, tx *sqlrow.Session) error {
		if mentionedBy != "" {
			var c sqlrow.Conversation
			if err := loadConversation(ctx, tx, mentionedBy, &c); err != nil {
				return err
			}
		}
		return insertArtifact(ctx, tx, a, mentionedBy)
	})
}

// InsertArtifact stores an artifact that may be there, and stays as long as the transaction does.
var InsertArtifact = `INSERT INTO artifacts (id, media_type, name, size, created_at) VALUES (` + sqlrow.Marks(5) +
	`) ON CONFLICT DO NOTHING`

func insertArtifact(ctx context.Context, tx *sqlrow.Session, a scrollback.Artifact,
	mentionedBy scrollback.ConversationID) error {
	err := tx.Run(ctx, InsertArtifact,
		a.ID, a.MediaType, a.Name, a.Size, a.CreatedAt)
	if err != nil || mentionedBy == "" {
		return err
	}
	return tx.Run(ctx, `INSERT INTO mentions (conversation_id, artifact, name, created_at) VALUES (`+sqlrow.Marks(4)+
		`) ON CONFLICT DO NOTHING`,
		mentionedBy, a.ID, a.Name, a.CreatedAt)
}

// Sources implements [driver.Refs].
func (db refs) Sources(ctx context.Context, in []scrollback.ConversationID, names []string) ([]driver.Source, error) {
	out, err := sqlrow.Sources(ctx, db.Read, in, names)
	return out, db.wrap("sqldriver.Sources", err)
}

// List implements [driver.Refs].
func (db refs) List(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	out, err := sqlrow.Refs(ctx, db.Read, q)
	return out, db.wrap("sqldriver.Refs", err)
}

// Commit implements [driver.Views].
func (db views) Commit(ctx context.Context, c driver.Commit) error {
	return db.write(ctx, "sqldriver.Commit", func(ctx context.Context, tx *sqlrow.Session) error {
		w := &logWriter{tx: tx, dialect: db.Dialect}
		if err := loadConversation(ctx, tx, c.Conversation, &w.c); err != nil {
			return err
		}
		if err := loadBranch(ctx, tx, c.Branch, &w.b); err != nil {
			return err
		}
		if w.b.ViewVersion != c.IfViewVersion {
			return scrollback.Errorf(scrollback.Conflict, "sqldriver.Commit", "the view of branch %s changed meanwhile",
				c.Branch)
		}
		for i := range c.Segments {
			v, err := sqlrow.SegmentValues(&c.Segments[i])
			if err != nil {
				return err
			}
			if err := tx.Run(ctx, `INSERT INTO segments (`+sqlrow.SegmentColumns+`) VALUES (`+sqlrow.Marks(22)+`)`,
				v...); err != nil {
				return err
			}
		}
		var col sqlrow.Columns
		receipt := col.JSON(c.Receipt)
		before := col.JSON(w.b.View)
		if col.Err != nil {
			return col.Err
		}
		err := tx.Run(ctx, sqlrow.InsertReceipt,
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
		w.c.News.Fold(c.Receipt)
		return w.setView(ctx, view, c.Now)
	})
}

func (w *logWriter) setView(ctx context.Context, v scrollback.View, now int64) error {
	if err := w.show(ctx, v); err != nil {
		return err
	}
	return touchConversation(ctx, w.tx, &w.c, now)
}

// show stores another view of the branch.
func (w *logWriter) show(ctx context.Context, v scrollback.View) error {
	view, err := sqlrow.JSON(v)
	if err != nil {
		return err
	}
	w.b.View = v
	w.b.ViewVersion++
	change := sqlrow.Change{8: view, 9: w.b.ViewVersion}
	return w.tx.Patch(ctx, sqlrow.Branches.At(w.b.ID), change,
		`UPDATE branches SET view = $2, view_version = $3 WHERE id = $1`,
		w.b.ID, view, w.b.ViewVersion)
}

// leaveOut stores which messages the branch leaves out.
func (w *logWriter) leaveOut(ctx context.Context, without []int64) error {
	if slices.Equal(w.b.View.Without, without) {
		return nil
	}
	return w.show(ctx, w.b.View.Leaving(without))
}

// Unfold implements [driver.Views].
func (db views) Unfold(ctx context.Context, u driver.Unfold) (scrollback.Receipt, error) {
	const op = "sqldriver.Unfold"
	var out scrollback.Receipt
	err := db.write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		out = scrollback.Receipt{}
		w := &logWriter{tx: tx, dialect: db.Dialect}
		if err := loadBranch(ctx, tx, u.Branch, &w.b); err != nil {
			return err
		}
		if err := loadConversation(ctx, tx, w.b.Conversation, &w.c); err != nil {
			return err
		}
		var n int64
		var receipt, before string
		err := tx.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&n, &receipt, &before) },
			`SELECT n, receipt, view_before FROM receipts WHERE conversation_id = $1 AND branch = $2 AND undone_at = 0
			AND segments > 0 ORDER BY n DESC LIMIT 1`, w.c.ID, u.Branch)
		switch {
		case errors.Is(err, sql.ErrNoRows) && u.View == nil:
			return scrollback.Errorf(scrollback.NotFound, op, "there is no compaction to undo")
		case errors.Is(err, sql.ErrNoRows) && u.IfViewVersion != w.b.ViewVersion:
			return scrollback.Errorf(scrollback.Conflict, op, "the view of branch %s changed meanwhile", u.Branch)
		case errors.Is(err, sql.ErrNoRows):
			w.c.News.Kinds = driver.KindFolded | driver.KindUndone
			return w.setView(ctx, u.View.Leaving(w.b.View.Without), u.Now)
		case err != nil:
			return err
		}
		var view scrollback.View
		var col sqlrow.Columns
		col.Parse(receipt, &out)
		col.Parse(before, &view)
		if col.Err != nil {
			return col.Err
		}
		if err := sqlrow.Undo(ctx, tx, n, w.b.View, u.Now); err != nil {
			return err
		}
		w.c.News.Fold(out)
		w.c.News.Kinds |= driver.KindUndone
		return w.setView(ctx, view.Leaving(w.b.View.Without), u.Now)
	})
	return out, err
}

// Segments implements [driver.Views].
func (db views) Segments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	out := make([]scrollback.Segment, len(ids))
	for i, id := range ids {
		err := db.Read.Row(ctx, sqlrow.ScanSegment(&out[i]), `SELECT `+sqlrow.SegmentColumns+` FROM segments WHERE id = $1`,
			id)
		if errors.Is(err, sql.ErrNoRows) {
			err = scrollback.Errorf(scrollback.NotFound, "sqldriver.Segments", "no segment %s", id)
		}
		if err != nil {
			return nil, db.wrap("sqldriver.Segments", err)
		}
	}
	return out, nil
}

// Refold implements [driver.Views].
func (db views) Refold(ctx context.Context, r driver.Refold) (out scrollback.Receipt, err error) {
	err = db.write(ctx, "sqldriver.Refold", func(ctx context.Context, tx *sqlrow.Session) error {
		w := &logWriter{tx: tx, dialect: db.Dialect}
		if err := loadBranch(ctx, tx, r.Branch, &w.b); err != nil {
			return err
		}
		if err := loadConversation(ctx, tx, w.b.Conversation, &w.c); err != nil {
			return err
		}
		if r.IfViewVersion != w.b.ViewVersion {
			return scrollback.Errorf(scrollback.Conflict, "sqldriver.Refold", "the view of branch %s changed meanwhile",
				r.Branch)
		}
		f, err := sqlrow.Redo(ctx, tx, r)
		if err != nil {
			return err
		}
		out = f.Receipt
		w.c.News.Fold(out)
		return w.setView(ctx, f.After.Leaving(w.b.View.Without), r.Now)
	})
	return out, err
}

// Folds implements [driver.Views].
func (db views) Folds(ctx context.Context, q driver.FoldQuery) ([]driver.Fold, error) {
	out, err := sqlrow.Folds(ctx, db.Read, q)
	return out, db.wrap("sqldriver.Folds", err)
}

// Receipts implements [driver.Views].
func (db views) Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error) {
	out, err := sqlrow.Receipts(ctx, db.Read, id, limit)
	return out, db.wrap("sqldriver.Receipts", err)
}
