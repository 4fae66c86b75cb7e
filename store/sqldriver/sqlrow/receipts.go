package sqlrow

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Receipts are those of a conversation, newest first.
func Receipts(ctx context.Context, s *Session, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error) {
	var out []scrollback.Receipt
	err := s.Rows(ctx, func(r Scanner) error {
		var receipt string
		var undone bool
		if err := r.Scan(&receipt, &undone); err != nil {
			return err
		}
		out = append(out, scrollback.Receipt{})
		last := &out[len(out)-1]
		err := Parse(receipt, last)
		last.Undone = undone
		return err
	}, `SELECT receipt, undone_at <> 0 FROM receipts WHERE conversation_id = $1 ORDER BY n DESC LIMIT $2`, id, limit)
	return out, err
}

const foldColumns = `SELECT r.n, r.undone_at, r.receipt, r.view_before, r.view_after FROM receipts r `

func scanFold(out *[]driver.Fold) func(Scanner) error {
	return func(r Scanner) error {
		var f driver.Fold
		var receipt, before, after string
		if err := r.Scan(&f.Number, &f.UndoneAt, &receipt, &before, &after); err != nil {
			return err
		}
		var col Columns
		col.Parse(receipt, &f.Receipt)
		col.Parse(before, &f.Before)
		col.Parse(after, &f.After)
		*out = append(*out, f)
		return col.Err
	}
}

// Folds are those of a branch; see [driver.FoldQuery].
func Folds(ctx context.Context, s *Session, q driver.FoldQuery) ([]driver.Fold, error) {
	var out []driver.Fold
	query := foldColumns +
		`JOIN branches b ON b.id = $1 AND b.conversation_id = r.conversation_id WHERE r.branch = $1 AND r.segments > 0 `
	if q.Undone {
		query += `AND r.undone_at <> 0 AND r.view_after <> '' ORDER BY r.n DESC LIMIT $2`
	} else {
		query += `AND r.undone_at = 0 ORDER BY r.n DESC LIMIT $2`
	}
	err := s.Rows(ctx, scanFold(&out), query, q.Branch, q.Limit)
	return out, err
}

// InsertReceipt stores a receipt, with a number above those of its conversation.
var InsertReceipt = `INSERT INTO receipts (conversation_id, branch, segments, receipt, view_before, undone_at, created_at) VALUES (` + Marks(7) + `)`

// Undo marks a fold as undone, with the view that it is undone from.
func Undo(ctx context.Context, tx *Session, n int64, from scrollback.View, now int64) error {
	after, err := JSON(from)
	if err != nil {
		return err
	}
	return tx.Run(ctx, `UPDATE receipts SET undone_at = $2, view_after = $3 WHERE n = $1`, n, now, after)
}

// Redo marks a fold as not undone any more, and returns it.
func Redo(ctx context.Context, tx *Session, r driver.Refold) (driver.Fold, error) {
	var found []driver.Fold
	err := tx.Rows(ctx, scanFold(&found), foldColumns+
		`WHERE r.n = $1 AND r.branch = $2 AND r.undone_at <> 0 AND r.view_after <> ''`, r.Number, r.Branch)
	if err != nil {
		return driver.Fold{}, err
	}
	if len(found) == 0 {
		return driver.Fold{}, scrollback.Errorf(scrollback.Conflict, "sqldriver.Refold",
			"the compaction is not undone any more")
	}
	return found[0], tx.Run(ctx, `UPDATE receipts SET undone_at = 0, view_after = '' WHERE n = $1`, r.Number)
}
