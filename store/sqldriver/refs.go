package sqldriver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

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

func insertArtifact(ctx context.Context, tx *sqlrow.Session, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error {
	err := tx.Run(ctx, `INSERT INTO artifacts (id, media_type, name, size, created_at) VALUES (`+sqlrow.Marks(5)+`) ON CONFLICT DO NOTHING`,
		a.ID, a.MediaType, a.Name, a.Size, a.CreatedAt)
	if err != nil || mentionedBy == "" {
		return err
	}
	return tx.Run(ctx, `INSERT INTO mentions (conversation_id, artifact, name, created_at) VALUES (`+sqlrow.Marks(4)+`) ON CONFLICT DO NOTHING`,
		mentionedBy, a.ID, a.Name, a.CreatedAt)
}

// Sources implements [driver.Refs].
func (db refs) Sources(ctx context.Context, in []scrollback.ConversationID, names []string) ([]driver.Source, error) {
	out, err := sqlrow.Sources(ctx, db.Read, in, names)
	return out, db.wrap("sqldriver.Sources", err)
}

// Segments and mentioned artifacts as refs; both have the columns of a
// scrollback.RefEntry.
const (
	segmentRefs = `SELECT 'history:' || id, 'history', conversation_id, branch, first_seq, last_seq, from_time, to_time,
		bytes, messages, 'text/markdown', summary, sha256, created_at FROM segments`
	artifactRefs = `SELECT 'artifact:' || m.artifact, 'artifact', m.conversation_id, '', 0, 0, 0, 0,
		a.size, 0, a.media_type, m.name, a.id, m.created_at FROM mentions m JOIN artifacts a ON a.id = m.artifact`
)

// List implements [driver.Refs]. Each kind of each conversation yields at most a page, in
// order; the pages are merged here.
func (db refs) List(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	in := slices.Compact(slices.Sorted(slices.Values(q.Conversations)))
	read := db.listRefs
	if q.Ref != "" {
		read = db.oneRef
		if len(in) == 0 {
			in = []scrollback.ConversationID{""} // any
		}
	}
	var out []scrollback.RefEntry
	for _, id := range in {
		if err := read(ctx, q, id, &out); err != nil {
			return nil, db.wrap("sqldriver.Refs", err)
		}
	}
	slices.SortFunc(out, func(a, b scrollback.RefEntry) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Ref, a.Ref), cmp.Compare(b.Conversation, a.Conversation))
	})
	return out[:min(len(out), q.Limit)], nil
}

// listRefs adds a page of what one conversation mentions.
func (db refs) listRefs(ctx context.Context, q driver.RefQuery, id scrollback.ConversationID, out *[]scrollback.RefEntry) error {
	if q.Kind == "" || q.Kind == scrollback.RefHistory {
		at, before := refBound(q.Before, scrollback.RefHistory)
		err := db.Read.Rows(ctx, collectRefs(out), segmentRefs+` WHERE conversation_id = $1 AND (created_at, id) < ($2, $3)
			ORDER BY created_at DESC, id DESC LIMIT $4`, id, at, before, q.Limit)
		if err != nil {
			return err
		}
	}
	if q.Kind == "" || q.Kind == scrollback.RefArtifact {
		at, before := refBound(q.Before, scrollback.RefArtifact)
		return db.Read.Rows(ctx, collectRefs(out), artifactRefs+` WHERE m.conversation_id = $1 AND (m.created_at, m.artifact) < ($2, $3)
			ORDER BY m.created_at DESC, m.artifact DESC LIMIT $4`, id, at, before, q.Limit)
	}
	return nil
}

// oneRef adds q.Ref if the conversation mentions it; an empty id is any.
func (db refs) oneRef(ctx context.Context, q driver.RefQuery, id scrollback.ConversationID, out *[]scrollback.RefEntry) error {
	kind, name, _ := strings.Cut(string(q.Ref), ":")
	if q.Kind != "" && q.Kind != kind {
		return nil
	}
	at, before := refBound(q.Before, kind)
	switch kind {
	case scrollback.RefHistory:
		of, args := mentionedIn("conversation_id", q.Projects, []any{name, id, at, before, q.Limit})
		return db.Read.Rows(ctx, collectRefs(out), segmentRefs+` WHERE id = $1 AND ($2 = '' OR conversation_id = $2)
			AND (created_at, id) < ($3, $4)`+of+` LIMIT $5`, args...)
	case scrollback.RefArtifact:
		const bound, order = ` AND (m.created_at, m.artifact) < ($2, $3)`, ` ORDER BY m.created_at DESC, m.conversation_id DESC LIMIT $4`
		if id == "" {
			of, args := mentionedIn("m.conversation_id", q.Projects, []any{name, at, before, q.Limit})
			return db.Read.Rows(ctx, collectRefs(out), artifactRefs+` WHERE m.artifact = $1`+bound+of+order, args...)
		}
		of, args := mentionedIn("m.conversation_id", q.Projects, []any{name, at, before, q.Limit, id})
		return db.Read.Rows(ctx, collectRefs(out), artifactRefs+` WHERE m.artifact = $1`+bound+` AND m.conversation_id = $5`+of+order, args...)
	}
	return nil
}

// mentionedIn is the condition that the conversation in a column is of one of some
// projects, or empty for nil, and the arguments with theirs.
func mentionedIn(column string, projects []string, args []any) (string, []any) {
	of, args := among(projects, args)
	if of == "" {
		return "", args
	}
	return ` AND EXISTS (SELECT 1 FROM conversations WHERE conversations.id = ` + column + of + `)`, args
}

// refBound is a place in a list of refs as a place among the refs of one kind, by time and
// the id that follows the kind.
func refBound(k *driver.ListKey, kind string) (at int64, id string) {
	const everyID = "\U0010FFFF" // and none is below the empty one
	if k == nil {
		return 1 << 62, everyID
	}
	if id, ok := strings.CutPrefix(k.ID, kind+":"); ok {
		return k.At, id
	}
	if kind+":" < k.ID {
		return k.At, everyID
	}
	return k.At, ""
}

func collectRefs(out *[]scrollback.RefEntry) func(sqlrow.Scanner) error {
	return func(r sqlrow.Scanner) error {
		var e scrollback.RefEntry
		if err := r.Scan(&e.Ref, &e.Kind, &e.Conversation, &e.Branch, &e.FirstSeq, &e.LastSeq, &e.From, &e.To,
			&e.Bytes, &e.Messages, &e.MediaType, &e.Hint, &e.SHA256, &e.CreatedAt); err != nil {
			return err
		}
		if e.Kind == scrollback.RefHistory {
			e.Hint = scrollback.Hint(e.Hint)
		}
		*out = append(*out, e)
		return nil
	}
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
			return scrollback.Errorf(scrollback.Conflict, "sqldriver.Commit", "the view of branch %s changed meanwhile", c.Branch)
		}
		for i := range c.Segments {
			v, err := sqlrow.SegmentValues(&c.Segments[i])
			if err != nil {
				return err
			}
			if err := tx.Run(ctx, `INSERT INTO segments (`+sqlrow.SegmentColumns+`) VALUES (`+sqlrow.Marks(22)+`)`, v...); err != nil {
				return err
			}
		}
		var col sqlrow.Columns
		receipt, before := col.JSON(c.Receipt), col.JSON(w.b.View)
		if col.Err != nil {
			return col.Err
		}
		err := tx.Run(ctx, `INSERT INTO receipts (conversation_id, branch, segments, receipt, view_before, undone_at, created_at) VALUES (`+sqlrow.Marks(7)+`)`,
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
	view, err := sqlrow.JSON(v)
	if err != nil {
		return err
	}
	if err := w.tx.Run(ctx, `UPDATE branches SET view = $2, view_version = view_version + 1 WHERE id = $1`, w.b.ID, view); err != nil {
		return err
	}
	return touchConversation(ctx, w.tx, &w.c, now)
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
			return w.setView(ctx, *u.View, u.Now)
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
		return w.setView(ctx, view, u.Now)
	})
	return out, err
}

// Segments implements [driver.Views].
func (db views) Segments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	out := make([]scrollback.Segment, len(ids))
	for i, id := range ids {
		err := db.Read.Row(ctx, sqlrow.ScanSegment(&out[i]), `SELECT `+sqlrow.SegmentColumns+` FROM segments WHERE id = $1`, id)
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
			return scrollback.Errorf(scrollback.Conflict, "sqldriver.Refold", "the view of branch %s changed meanwhile", r.Branch)
		}
		f, err := sqlrow.Redo(ctx, tx, r)
		if err != nil {
			return err
		}
		out = f.Receipt
		w.c.News.Fold(out)
		return w.setView(ctx, f.After, r.Now)
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
