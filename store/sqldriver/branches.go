package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlindex"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

func insertBranch(ctx context.Context, tx *sqlrow.Session, b scrollback.Branch) error {
	view, err := sqlrow.JSON(b.View)
	if err != nil {
		return err
	}
	n, err := sqlindex.Number(ctx, tx)
	if err != nil {
		return err
	}
	v := []any{b.ID, b.Conversation, b.Parent, b.AtSeq, b.HeadSeq, b.Sum.Tokens, b.Sum.Bytes, b.Sum.Images, view,
		b.ViewVersion, b.UpdatedAt}
	return tx.Put(ctx, sqlrow.Branches.At(v[0]), v,
		`INSERT INTO branches (`+sqlrow.BranchColumns+`, n) VALUES (`+sqlrow.Marks(12)+`)`, append(v, n)...)
}

func loadBranch(ctx context.Context, s *sqlrow.Session, id scrollback.BranchID, b *scrollback.Branch) error {
	err := s.Known(ctx, sqlrow.ScanBranch(b), sqlrow.Branches.At(id))
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, "sqldriver", "no branch %s", id)
	}
	return err
}

// Branch implements [driver.Reader].
func (db reader) Branch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	var b scrollback.Branch
	return b, db.wrap("sqldriver.Branch", loadBranch(ctx, db.Read, id, &b))
}

// Branches implements [driver.Reader].
func (db reader) Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	out, err := branchesOf(ctx, db.Read, id)
	return out, db.wrap("sqldriver.Branches", err)
}

func branchesOf(ctx context.Context, s *sqlrow.Session, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	var out []scrollback.Branch
	err := s.Rows(ctx, collectBranches(&out),
		`SELECT `+sqlrow.BranchColumns+` FROM branches WHERE conversation_id = $1 ORDER BY id`, id)
	return out, err
}

func collectBranches(out *[]scrollback.Branch) func(sqlrow.Scanner) error {
	return func(r sqlrow.Scanner) error {
		*out = append(*out, scrollback.Branch{})
		return sqlrow.ScanBranch(&(*out)[len(*out)-1])(r)
	}
}

// leave completes a branch from the message at which it leaves its parent, and returns
// the parent's conversation.
func leave(ctx context.Context, tx *sqlrow.Session, b *scrollback.Branch) (of scrollback.ConversationID, err error) {
	b.HeadSeq = b.AtSeq
	b.Sum = scrollback.Weight{}
	if b.Parent == "" && b.AtSeq == 0 {
		return b.Conversation, nil
	}
	var m scrollback.Message
	err = tx.Row(ctx, sqlrow.ScanMessage(&m),
		`SELECT `+sqlrow.MessageColumns+` FROM messages WHERE branch = $1 AND seq = $2`, b.Parent, b.AtSeq)
	if errors.Is(err, sql.ErrNoRows) {
		err = scrollback.Errorf(scrollback.NotFound, "sqldriver", "branch %s has no message %d of its own", b.Parent, b.AtSeq)
	}
	b.Sum = m.Sum
	return m.ConversationID, err
}

// forks completes the first branch of a conversation. If it continues another, that one
// must not be in the trash, and whatever it inherits must still exist.
func forks(ctx context.Context, tx *sqlrow.Session, fork scrollback.Conversation, b *scrollback.Branch) error {
	const op = "sqldriver.Create"
	of, err := leave(ctx, tx, b)
	if err != nil || b.Parent == "" {
		return err
	}
	parent := of
	if fork.Parent != nil {
		parent = fork.Parent.ID
	}
	var c sqlrow.Conversation
	if err := loadConversation(ctx, tx, parent, &c); err != nil {
		return err
	}
	if c.DeletedAt != 0 {
		return scrollback.Errorf(scrollback.NotFound, op, "conversation %s is in the trash", c.ID)
	}
	return inherits(op, c.Conversation, of)
}

// inherits is not_found unless messages of another conversation may be on a path.
func inherits(op string, c scrollback.Conversation, of scrollback.ConversationID) error {
	if of != c.ID && !slices.Contains(c.Ancestors, of) {
		return scrollback.Errorf(scrollback.NotFound, op, "conversation %s inherits nothing of %s", c.ID, of)
	}
	return nil
}

// Rewind implements [driver.Log].
func (db log) Rewind(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	const op = "sqldriver.Rewind"
	var out driver.Head
	err := db.write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		w, err := openLog(ctx, tx, db.Dialect, r.Conversation)
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
		if err := w.leaveOut(ctx, to.View.Without); err != nil { // one that is there may have left out others
			return err
		}
		w.c.Branch = w.b.ID
		w.edited = true
		if w.c.LastTurn, err = w.turnAt(ctx, w.b); err != nil {
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

// reachable completes a branch with which the conversation is to continue.
func (w *logWriter) reachable(ctx context.Context, to *scrollback.Branch) error {
	to.Conversation = w.c.ID
	of, err := leave(ctx, w.tx, to)
	if err == nil {
		err = inherits("sqldriver.Rewind", w.c.Conversation, of)
	}
	return err
}

// destination is the branch that a rewind leads to: one that is already there, or to,
// which is then stored.
func (w *logWriter) destination(ctx context.Context, to scrollback.Branch,
	now int64) (there scrollback.Branch, err error) {
	err = w.tx.Row(ctx, sqlrow.ScanBranch(&there),
		`SELECT `+sqlrow.BranchColumns+` FROM branches WHERE id = $1 AND conversation_id = $2 AND head_seq = $3`,
		to.Parent, w.c.ID, to.AtSeq)
	if errors.Is(err, sql.ErrNoRows) {
		err = w.tx.Row(ctx, sqlrow.ScanBranch(&there), `SELECT `+sqlrow.BranchColumns+` FROM branches
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
	err = w.tx.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&id) },
		`SELECT t.id FROM messages m JOIN turns t ON t.id = m.turn_id WHERE m.branch = $1 AND m.seq = $2`, b.ID, b.HeadSeq)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}
