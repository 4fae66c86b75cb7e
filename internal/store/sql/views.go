package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var segmentTable = table[scrollback.Segment]{columns: []column[scrollback.Segment]{
	{"id", func(s *scrollback.Segment) any { return &s.ID }},
	{"conversation_id", func(s *scrollback.Segment) any { return &s.Conversation }},
	{"branch", func(s *scrollback.Segment) any { return &s.Branch }},
	{"first_seq", func(s *scrollback.Segment) any { return &s.FirstSeq }},
	{"last_seq", func(s *scrollback.Segment) any { return &s.LastSeq }},
	{"level", func(s *scrollback.Segment) any { return &s.Level }},
	{"messages", func(s *scrollback.Segment) any { return &s.Messages }},
	{"children", func(s *scrollback.Segment) any { return asJSON(&s.Children) }},
	{"hash", func(s *scrollback.Segment) any { return &s.Hash }},
	{"from_time", func(s *scrollback.Segment) any { return &s.From }},
	{"to_time", func(s *scrollback.Segment) any { return &s.To }},
	{"summary", func(s *scrollback.Segment) any { return &s.Summary }},
	{"summary_by", func(s *scrollback.Segment) any { return &s.SummaryBy }},
	{"summary_of", func(s *scrollback.Segment) any { return &s.SummaryOf }},
	{"prompt_version", func(s *scrollback.Segment) any { return &s.PromptVersion }},
	{"placeholder", func(s *scrollback.Segment) any { return &s.Placeholder }},
	{"tokens_before", func(s *scrollback.Segment) any { return &s.TokensBefore }},
	{"tokens_after", func(s *scrollback.Segment) any { return &s.TokensAfter }},
	{"renderer", func(s *scrollback.Segment) any { return &s.Renderer }},
	{"bytes", func(s *scrollback.Segment) any { return &s.Bytes }},
	{"sha256", func(s *scrollback.Segment) any { return &s.SHA256 }},
	{"created_at", func(s *scrollback.Segment) any { return &s.CreatedAt }},
}}

var selectSegment = `SELECT ` + segmentTable.columnList() + ` FROM segments WHERE id = $1`

// insertSegment inserts a segment. One whose id follows from what it says may be there, from a fold that was undone.
func (w *writeTx) insertSegment(ctx context.Context, s *scrollback.Segment) error {
	if ids.IsDerived(s.ID) {
		var known scrollback.Segment
		err := QueryRow(ctx, w.tx, func(r Row) error { return segmentTable.scan(&known, r) }, selectSegment, s.ID)
		switch {
		case err == nil && driver.IsSameSegment(known, *s):
			return nil
		case err == nil:
			return scrollback.Errorf(scrollback.Conflict, "sqlstore.CommitFold", i18n.DifferentThingHere, "segment", s.ID)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	values, err := segmentTable.values(s)
	if err != nil {
		return err
	}
	w.noteWritten(s.Conversation)
	return w.tx.Queue(ctx, `INSERT INTO segments `+segmentTable.insertClause(), values...)
}

// storedReceipt is a receipt as it is inserted, with a number above those of its conversation.
type storedReceipt struct {
	conversation scrollback.ConversationID
	branch       scrollback.BranchID
	segments     int // that it brought
	receipt      scrollback.Receipt
	before       scrollback.View
	undoneAt     int64
	createdAt    int64
}

var receiptTable = table[storedReceipt]{columns: []column[storedReceipt]{
	{"conversation_id", func(r *storedReceipt) any { return &r.conversation }},
	{"branch", func(r *storedReceipt) any { return &r.branch }},
	{"segments", func(r *storedReceipt) any { return &r.segments }},
	{"receipt", func(r *storedReceipt) any { return asJSON(&r.receipt) }},
	{"view_before", func(r *storedReceipt) any { return asJSON(&r.before) }},
	{"undone_at", func(r *storedReceipt) any { return &r.undoneAt }},
	{"created_at", func(r *storedReceipt) any { return &r.createdAt }},
}}

// ReceiptColumns are those of receipts, without the number and the view after an undoing.
var ReceiptColumns = receiptTable.columnList()

func (w *writeTx) insertReceipt(ctx context.Context, r storedReceipt) error {
	values, err := receiptTable.values(&r)
	if err != nil {
		return err
	}
	w.noteWritten(r.conversation)
	return w.tx.Queue(ctx, w.Dialect.InsertReceipt, values...)
}

var foldTable = table[driver.Fold]{columns: []column[driver.Fold]{
	{"n", func(f *driver.Fold) any { return &f.Number }},
	{"undone_at", func(f *driver.Fold) any { return &f.UndoneAt }},
	{"receipt", func(f *driver.Fold) any { return asJSON(&f.Receipt) }},
	{"view_before", func(f *driver.Fold) any { return asJSON(&f.Before) }},
	{"view_after", func(f *driver.Fold) any { return asJSON(&f.After) }},
}}

// openView holds a branch and its conversation, of which the view is to change.
func (w *writeTx) openView(ctx context.Context, id scrollback.BranchID) (*appender, error) {
	a := &appender{writeTx: w}
	err := w.holdBranch(ctx, id, &a.b)
	if err == nil {
		err = w.holdKnownConversation(ctx, a.b.Conversation, &a.c)
	}
	return a, err
}

// storeView stores another view of the branch, as a commit.
func (a *appender) storeView(ctx context.Context, v scrollback.View, now int64) error {
	if err := a.changeView(ctx, v); err != nil {
		return err
	}
	return a.touchConversation(ctx, &a.c, now)
}

// changeView stores another view of the branch.
func (a *appender) changeView(ctx context.Context, v scrollback.View) error {
	a.b.View = v
	a.b.ViewVersion++
	return a.changeBranch(ctx, &a.b, branchView)
}

// leaveOut stores which messages the branch leaves out.
func (a *appender) leaveOut(ctx context.Context, without []int64) error {
	if slices.Equal(a.b.View.Without, without) {
		return nil
	}
	return a.changeView(ctx, a.b.View.WithLeftOut(without))
}

// CommitFold implements [driver.Views].
func (db views) CommitFold(ctx context.Context, c driver.FoldCommit) error {
	return db.write(ctx, "sqlstore.CommitFold", func(ctx context.Context, w *writeTx) error {
		a := &appender{writeTx: w}
		if err := w.holdKnownConversation(ctx, c.Conversation, &a.c); err != nil {
			return err
		}
		if err := w.holdBranch(ctx, c.Branch, &a.b); err != nil {
			return err
		}
		if a.b.ViewVersion != c.IfViewVersion {
			return scrollback.Errorf(scrollback.Conflict, "sqlstore.CommitFold", i18n.BranchViewChangedMeanwhile,
				c.Branch)
		}
		for i := range c.Segments {
			if err := w.insertSegment(ctx, &c.Segments[i]); err != nil {
				return err
			}
		}
		for _, k := range c.Kept {
			if err := w.insertKept(ctx, k); err != nil {
				return err
			}
		}
		err := w.insertReceipt(ctx, storedReceipt{conversation: c.Conversation, branch: c.Branch, segments: len(c.Segments),
			receipt: c.Receipt, before: a.b.View, createdAt: c.Now})
		if err != nil {
			return err
		}
		if err := w.enterUsage(ctx, a.c.Project, c.Usage, lesson{}); err != nil {
			return err
		}
		view := c.View
		if len(c.Segments) == 0 {
			view = a.b.View.WithFailuresOf(c.View)
		}
		a.c.news.NoteFold(c.Receipt)
		return a.storeView(ctx, view, c.Now)
	})
}

// UndoFold implements [driver.Views].
func (db views) UndoFold(ctx context.Context, u driver.FoldUndo) (scrollback.Receipt, error) {
	const op = "sqlstore.UndoFold"
	var out scrollback.Receipt
	err := db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		out = scrollback.Receipt{}
		a, err := w.openView(ctx, u.Branch)
		if err != nil {
			return err
		}
		var found []driver.Fold
		err = w.tx.Query(ctx, foldTable.appendTo(&found), `SELECT `+foldTable.columnList()+` FROM receipts
			WHERE conversation_id = $1 AND branch = $2 AND undone_at = 0 AND segments > 0 ORDER BY n DESC LIMIT 1`, a.c.ID, u.Branch)
		switch {
		case err != nil:
			return err
		case len(found) == 0 && u.View == nil:
			return scrollback.Errorf(scrollback.NotFound, op, i18n.NoCompactionToUndo)
		case len(found) == 0 && u.IfViewVersion != a.b.ViewVersion:
			return scrollback.Errorf(scrollback.Conflict, op, i18n.BranchViewChangedMeanwhile, u.Branch)
		case len(found) == 0:
			a.c.news.Kinds = driver.KindFolded | driver.KindUndone
			return a.storeView(ctx, u.View.WithLeftOut(a.b.View.Without), u.Now)
		}
		undone := found[0]
		after, err := encodeJSON(a.b.View)
		if err != nil {
			return err
		}
		err = w.tx.Queue(ctx, `UPDATE receipts SET undone_at = $2, view_after = $3 WHERE n = $1`, undone.Number, u.Now, after)
		if err != nil {
			return err
		}
		out = undone.Receipt
		a.c.news.NoteFold(out)
		a.c.news.Kinds |= driver.KindUndone
		return a.storeView(ctx, undone.Before.WithLeftOut(a.b.View.Without), u.Now)
	})
	return out, err
}

// RedoFold implements [driver.Views].
func (db views) RedoFold(ctx context.Context, r driver.FoldRedo) (out scrollback.Receipt, err error) {
	const op = "sqlstore.RedoFold"
	err = db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		a, err := w.openView(ctx, r.Branch)
		if err != nil {
			return err
		}
		if r.IfViewVersion != a.b.ViewVersion {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.BranchViewChangedMeanwhile, r.Branch)
		}
		var found []driver.Fold
		err = w.tx.Query(ctx, foldTable.appendTo(&found), `SELECT `+foldTable.columnList()+` FROM receipts
			WHERE n = $1 AND branch = $2 AND undone_at <> 0 AND view_after <> ''`, r.Number, r.Branch)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.CompactionNotUndoneAnyMore)
		}
		if err := w.tx.Queue(ctx, `UPDATE receipts SET undone_at = 0, view_after = '' WHERE n = $1`, r.Number); err != nil {
			return err
		}
		out = found[0].Receipt
		a.c.news.NoteFold(out)
		return a.storeView(ctx, found[0].After.WithLeftOut(a.b.View.Without), r.Now)
	})
	return out, err
}

// ReadSegments implements [driver.Views].
func (db views) ReadSegments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	const op = "sqlstore.ReadSegments"
	out := make([]scrollback.Segment, len(ids))
	for i, id := range ids {
		err := QueryRow(ctx, db.Readers, func(r Row) error { return segmentTable.scan(&out[i], r) }, selectSegment, id)
		if errors.Is(err, sql.ErrNoRows) {
			err = scrollback.Errorf(scrollback.NotFound, op, i18n.NoSegment, id)
		}
		if err != nil {
			return nil, db.wrapError(op, err)
		}
	}
	return out, nil
}

// The folds of a branch. Both name its conversation, by whose index they are found.
var (
	selectFolds = `SELECT r.n, r.undone_at, r.receipt, r.view_before, r.view_after FROM receipts r
		JOIN branches b ON b.id = $1 AND b.conversation_id = r.conversation_id WHERE r.branch = $1 AND r.segments > 0
		AND r.undone_at = 0 ORDER BY r.n DESC LIMIT $2`
	selectUndoneFolds = `SELECT r.n, r.undone_at, r.receipt, r.view_before, r.view_after FROM receipts r
		JOIN branches b ON b.id = $1 AND b.conversation_id = r.conversation_id WHERE r.branch = $1 AND r.segments > 0
		AND r.undone_at <> 0 AND r.view_after <> '' ORDER BY r.n DESC LIMIT $2`
)

// ListFolds implements [driver.Views].
func (db views) ListFolds(ctx context.Context, q driver.FoldQuery) ([]driver.Fold, error) {
	query := selectFolds
	if q.Undone {
		query = selectUndoneFolds
	}
	var out []driver.Fold
	err := db.Readers.Query(ctx, foldTable.appendTo(&out), query, q.Branch, q.Limit)
	return out, db.wrapError("sqlstore.ListFolds", err)
}

// ListReceipts implements [driver.Views].
func (db views) ListReceipts(ctx context.Context, id scrollback.ConversationID,
	limit int) ([]scrollback.Receipt, error) {
	var out []scrollback.Receipt
	err := db.Readers.Query(ctx, func(r Row) error {
		var receipt scrollback.Receipt
		err := r.Scan(asJSON(&receipt), &receipt.Undone)
		out = append(out, receipt)
		return err
	}, `SELECT receipt, undone_at <> 0 FROM receipts WHERE conversation_id = $1 ORDER BY n DESC LIMIT $2`, id, limit)
	return out, db.wrapError("sqlstore.ListReceipts", err)
}
