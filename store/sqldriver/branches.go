package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

func insertBranch(ctx context.Context, tx *session, b scrollback.Branch) error {
	view, err := asJSON(b.View)
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO branches (`+branchColumns+`) VALUES (`+marks(11)+`)`, b.ID, b.Conversation, b.Parent,
		b.AtSeq, b.HeadSeq, b.Sum.Tokens, b.Sum.Bytes, b.Sum.Images, view, b.ViewVersion, b.UpdatedAt)
}

func loadBranch(ctx context.Context, s *session, id scrollback.BranchID, b *scrollback.Branch) error {
	err := s.row(ctx, scanBranch(b), `SELECT `+branchColumns+` FROM branches WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, "sqldriver", "no branch %s", id)
	}
	return err
}

// Branch implements driver.Find.
func (db *DB) Branch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	var b scrollback.Branch
	return b, db.wrap("sqldriver.Branch", loadBranch(ctx, db.read, id, &b))
}

// Branches implements driver.Find.
func (db *DB) Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	out, err := branchesOf(ctx, db.read, id)
	return out, db.wrap("sqldriver.Branches", err)
}

func branchesOf(ctx context.Context, s *session, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	var out []scrollback.Branch
	err := s.rows(ctx, collectBranches(&out), `SELECT `+branchColumns+` FROM branches WHERE conversation_id = $1 ORDER BY id`, id)
	return out, err
}

func collectBranches(out *[]scrollback.Branch) func(scanner) error {
	return func(r scanner) error {
		*out = append(*out, scrollback.Branch{})
		return scanBranch(&(*out)[len(*out)-1])(r)
	}
}

// leave completes a branch by the message that it is to leave its parent at, and
// answers the conversation of the parent.
func leave(ctx context.Context, tx *session, b *scrollback.Branch) (of scrollback.ConversationID, err error) {
	b.HeadSeq, b.Sum = b.AtSeq, scrollback.Weight{}
	if b.Parent == "" && b.AtSeq == 0 {
		return b.Conversation, nil
	}
	var m scrollback.Message
	err = tx.row(ctx, scanMessage(&m), `SELECT `+messageColumns+` FROM messages WHERE branch = $1 AND seq = $2`, b.Parent, b.AtSeq)
	if errors.Is(err, sql.ErrNoRows) {
		err = scrollback.Errorf(scrollback.NotFound, "sqldriver", "branch %s has no message %d of its own", b.Parent, b.AtSeq)
	}
	b.Sum = m.Sum
	return m.ConversationID, err
}

// forks completes a first branch; one with a parent needs a living one.
func forks(ctx context.Context, tx *session, b *scrollback.Branch) error {
	of, err := leave(ctx, tx, b)
	if err != nil || b.Parent == "" {
		return err
	}
	var c conversation
	if err := loadConversation(ctx, tx, of, &c); err != nil {
		return err
	}
	if c.DeletedAt != 0 {
		return scrollback.Errorf(scrollback.NotFound, "sqldriver.Create", "conversation %s is in the trash", c.ID)
	}
	return nil
}

// Rewind implements driver.Log.
func (db *DB) Rewind(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	const op = "sqldriver.Rewind"
	var out driver.Head
	err := db.write(ctx, op, func(ctx context.Context, tx *session) error {
		w, err := openLog(ctx, tx, db.dialect, r.Conversation)
		if err != nil {
			return err
		}
		if w.c.DeletedAt != 0 {
			return scrollback.Errorf(scrollback.NotFound, op, "conversation %s is in the trash", w.c.ID)
		}
		to := r.To
		if err := w.reachable(ctx, &to); err != nil {
			return err
		}
		if _, err := w.settle(ctx, r.Now, r.Salvage); err != nil {
			return err
		}
		if err := w.store(ctx, r.Now); err != nil {
			return err
		}
		if w.b, err = w.destination(ctx, to, r.Now); err != nil {
			return err
		}
		w.c.Branch, w.edited = w.b.ID, true
		if w.c.turn, err = w.turnAt(ctx, w.b); err != nil {
			return err
		}
		if r.Edit != nil {
			w.edit(r.Edit)
			w.edited = true
		}
		if err := w.close(ctx, r.Now); err != nil {
			return err
		}
		out = w.head()
		return nil
	})
	return out, err
}

// reachable completes a branch that the conversation is to go on with.
func (w *logWriter) reachable(ctx context.Context, to *scrollback.Branch) error {
	to.Conversation = w.c.ID
	of, err := leave(ctx, w.tx, to)
	if err == nil && of != w.c.ID && !slices.Contains(w.c.Ancestors, of) {
		err = scrollback.Errorf(scrollback.NotFound, "sqldriver.Rewind", "conversation %s inherits nothing of %s", w.c.ID, of)
	}
	return err
}

// destination is the branch that a rewind leads to: one that stands there already,
// or to, which is stored then.
func (w *logWriter) destination(ctx context.Context, to scrollback.Branch, now int64) (there scrollback.Branch, err error) {
	err = w.tx.row(ctx, scanBranch(&there), `SELECT `+branchColumns+` FROM branches WHERE id = $1 AND conversation_id = $2 AND head_seq = $3`,
		to.Parent, w.c.ID, to.AtSeq)
	if errors.Is(err, sql.ErrNoRows) {
		err = w.tx.row(ctx, scanBranch(&there), `SELECT `+branchColumns+` FROM branches
			WHERE conversation_id = $1 AND parent_branch = $2 AND at_seq = $3 AND head_seq = at_seq ORDER BY id LIMIT 1`, w.c.ID, to.Parent, to.AtSeq)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return there, err
	}
	to.UpdatedAt = now
	return to, insertBranch(ctx, w.tx, to)
}

// turnAt is the turn that ended with the head of a branch, or none.
func (w *logWriter) turnAt(ctx context.Context, b scrollback.Branch) (id scrollback.TurnID, err error) {
	err = w.tx.row(ctx, func(r scanner) error { return r.Scan(&id) },
		`SELECT t.id FROM messages m JOIN turns t ON t.id = m.turn_id WHERE m.branch = $1 AND m.seq = $2`, b.ID, b.HeadSeq)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}
