package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var branchTable = table[scrollback.Branch]{columns: []column[scrollback.Branch]{
	{"id", func(b *scrollback.Branch) any { return &b.ID }},
	{"conversation_id", func(b *scrollback.Branch) any { return &b.Conversation }},
	{"parent_branch", func(b *scrollback.Branch) any { return &b.Parent }},
	{"at_seq", func(b *scrollback.Branch) any { return &b.AtSeq }},
	{"head_seq", func(b *scrollback.Branch) any { return &b.HeadSeq }},
	{"sum_tokens", func(b *scrollback.Branch) any { return &b.Sum.Tokens }},
	{"sum_bytes", func(b *scrollback.Branch) any { return &b.Sum.Bytes }},
	{"sum_images", func(b *scrollback.Branch) any { return &b.Sum.Images }},
	{"view", func(b *scrollback.Branch) any { return asJSON(&b.View) }},
	{"view_version", func(b *scrollback.Branch) any { return &b.ViewVersion }},
	{"updated_at", func(b *scrollback.Branch) any { return &b.UpdatedAt }},
	{"elsewhere", func(b *scrollback.Branch) any { return &b.Elsewhere }},
}}

// Columns of branches that change together.
var (
	branchGrowth = branchTable.subset("id", "head_seq", "sum_tokens", "sum_bytes", "sum_images", "updated_at")
	branchHead   = branchTable.subset("id", "head_seq", "sum_tokens", "sum_bytes", "sum_images")
	branchView   = branchTable.subset("id", "view", "view_version")
	branchOrigin = branchTable.subset("id", "parent_branch", "at_seq")
	branchWriter = branchTable.subset("id", "elsewhere")
	branchTrim   = branchTable.subset("id", "head_seq", "sum_tokens", "sum_bytes", "sum_images", "view", "view_version",
		"updated_at")
)

// BranchColumns are those of branches.
var BranchColumns = branchTable.columnList()

var selectBranch = `SELECT ` + BranchColumns + ` FROM branches WHERE id = $1`

func (w *writeTx) insertBranch(ctx context.Context, b scrollback.Branch) error {
	values, err := branchTable.values(&b)
	if err != nil {
		return err
	}
	n, err := w.Dialect.BranchNumber(ctx, w.tx)
	if err != nil {
		return err
	}
	w.noteWritten(b.Conversation)
	return w.tx.Cache().ofBranches().store(ctx, w.tx, b.ID, values,
		`INSERT INTO branches `+branchTable.insertClause("n"), append(values, n)...)
}

// changeBranch stores some columns of a branch.
func (w *writeTx) changeBranch(ctx context.Context, b *scrollback.Branch, columns table[scrollback.Branch]) error {
	values, err := columns.values(b)
	if err != nil {
		return err
	}
	w.noteWritten(b.Conversation)
	return w.tx.Cache().ofBranches().change(ctx, w.tx, b.ID, branchTable.columnIndexes(columns), values,
		`UPDATE branches SET `+columns.setClause()+` WHERE id = $1`, values...)
}

func (w *writeTx) deleteBranch(ctx context.Context, id scrollback.BranchID) error {
	w.tx.Cache().ofBranches().forget(id)
	return w.tx.Queue(ctx, `DELETE FROM branches WHERE id = $1`, id)
}

// findBranch reads a branch.
func (db *database) findBranch(ctx context.Context, id scrollback.BranchID, b *scrollback.Branch) error {
	return missingBranch(id, QueryRow(ctx, db.Readers, scanBranch(b), selectBranch, id))
}

// holdBranch reads a branch, which stays as it is until the transaction ends.
func (w *writeTx) holdBranch(ctx context.Context, id scrollback.BranchID, b *scrollback.Branch) error {
	return missingBranch(id, w.tx.Cache().ofBranches().read(ctx, w.tx, id, scanBranch(b), w.Dialect.HoldBranch))
}

func scanBranch(b *scrollback.Branch) func(Row) error {
	return func(r Row) error {
		*b = scrollback.Branch{}
		return branchTable.scan(b, r)
	}
}

func missingBranch(id scrollback.BranchID, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, "sqlstore", i18n.NoBranch, id)
	}
	return err
}

// FindBranch implements [driver.Log].
func (db log) FindBranch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	var b scrollback.Branch
	err := db.findBranch(ctx, id, &b)
	return b, db.wrapError("sqlstore.FindBranch", err)
}

// ListBranches implements [driver.Log].
func (db log) ListBranches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	out, err := listBranches(ctx, db.Readers, id)
	return out, db.wrapError("sqlstore.ListBranches", err)
}

func listBranches(ctx context.Context, r Reader, id scrollback.ConversationID) (out []scrollback.Branch, err error) {
	err = r.Query(ctx, branchTable.appendTo(&out),
		`SELECT `+BranchColumns+` FROM branches WHERE conversation_id = $1 ORDER BY id`, id)
	return out, err
}

// completeBranch completes a branch from the message at which it leaves its parent, and returns
// the parent's conversation.
func (w *writeTx) completeBranch(ctx context.Context,
	b *scrollback.Branch) (of scrollback.ConversationID, err error) {
	b.HeadSeq = b.AtSeq
	b.Sum = scrollback.Weight{}
	if b.Parent == "" && b.AtSeq == 0 {
		return b.Conversation, nil
	}
	var m scrollback.Message
	err = QueryRow(ctx, w.tx, scanMessage(&m), selectMessage, b.Parent, b.AtSeq)
	if errors.Is(err, sql.ErrNoRows) {
		err = scrollback.Errorf(scrollback.NotFound, "sqlstore", i18n.BranchHasNoOwnMessage, b.Parent, b.AtSeq)
	}
	b.Sum = m.Sum
	return m.ConversationID, err
}

// completeFork completes the first branch of a conversation. If it continues another, that one
// must not be in the trash, and whatever it inherits must still exist.
func (w *writeTx) completeFork(ctx context.Context, fork scrollback.Conversation, b *scrollback.Branch) error {
	const op = "sqlstore.CreateConversation"
	of, err := w.completeBranch(ctx, b)
	if err != nil || b.Parent == "" {
		return err
	}
	parent := of
	if fork.Parent != nil {
		parent = fork.Parent.ID
	}
	var c conversationRow
	if err := w.holdKnownConversation(ctx, parent, &c); err != nil {
		return err
	}
	if c.DeletedAt != 0 {
		return scrollback.Errorf(scrollback.NotFound, op, i18n.ConversationInTrash, c.ID)
	}
	return checkInherits(op, c.Conversation, of)
}

// checkInherits is not_found unless messages of another conversation may be on a path.
func checkInherits(op string, c scrollback.Conversation, of scrollback.ConversationID) error {
	if of != c.ID && !slices.Contains(c.Ancestors, of) {
		return scrollback.Errorf(scrollback.NotFound, op, i18n.ConversationInheritsNothing, c.ID, of)
	}
	return nil
}

// RewindHead implements [driver.Log].
func (db log) RewindHead(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	const op = "sqlstore.RewindHead"
	var out driver.Head
	err := db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		a, err := w.openLog(ctx, r.Conversation)
		if err != nil {
			return err
		}
		if a.c.DeletedAt != 0 {
			return scrollback.Errorf(scrollback.NotFound, op, i18n.ConversationInTrash, a.c.ID)
		}
		to := r.To
		if err := a.completeDestination(ctx, &to); err != nil {
			return err
		}
		if _, err := a.closeLapsed(ctx, r.Now, r.Salvage); err != nil {
			return err
		}
		if err := a.storeGrowth(ctx, r.Now); err != nil {
			return err
		}
		if err := a.goTo(ctx, to, r.Named, r.Now); err != nil {
			return err
		}
		a.edited = true
		if a.c.LastTurn, err = a.turnAtHead(ctx, a.b); err != nil {
			return err
		}
		if r.Edit != nil {
			if err := a.editOwn(r.Edit); err != nil {
				return err
			}
		}
		if err := a.storeHead(ctx, r.Now); err != nil {
			return err
		}
		out = a.head()
		return nil
	})
	return out, err
}

// goTo makes the branch current that a destination leads to.
func (a *appender) goTo(ctx context.Context, to scrollback.Branch, named bool, now int64) (err error) {
	was := a.b
	if a.b, err = a.findDestination(ctx, to, named, now); err != nil {
		return err
	}
	if a.b.ID != was.ID {
		if err = a.keepPins(ctx); err != nil {
			return err
		}
		a.c.Branch = a.b.ID
		if err = a.showPins(ctx, a.b.ID, a.b.HeadSeq); err != nil {
			return err
		}
	}
	return a.leaveOut(ctx, to.View.Without) // one that is there may have left out others
}

// completeDestination completes a branch with which the conversation is to continue.
func (a *appender) completeDestination(ctx context.Context, to *scrollback.Branch) error {
	to.Conversation = a.c.ID
	of, err := a.completeBranch(ctx, to)
	if err == nil {
		err = checkInherits("sqlstore.RewindHead", a.c.Conversation, of)
	}
	return err
}

// findDestination returns the branch that a rewind leads to: one that is already there, or to,
// which is then stored.
func (a *appender) findDestination(ctx context.Context, to scrollback.Branch, named bool,
	now int64) (there scrollback.Branch, err error) {
	err = QueryRow(ctx, a.tx, scanBranch(&there),
		`SELECT `+BranchColumns+` FROM branches WHERE id = $1 AND conversation_id = $2 AND head_seq = $3`,
		to.Parent, a.c.ID, to.AtSeq)
	switch {
	case errors.Is(err, sql.ErrNoRows) && named:
		err = QueryRow(ctx, a.tx, scanBranch(&there), selectBranch, to.ID)
		if err == nil && (there.Conversation != a.c.ID || there.Parent != to.Parent || there.AtSeq != to.AtSeq ||
			there.HeadSeq > there.AtSeq) {
			err = scrollback.Errorf(scrollback.Conflict, "sqlstore.RewindHead", i18n.BranchExists, to.ID)
		}
	case errors.Is(err, sql.ErrNoRows):
		err = QueryRow(ctx, a.tx, scanBranch(&there), `SELECT `+BranchColumns+` FROM branches
			WHERE conversation_id = $1 AND parent_branch = $2 AND at_seq = $3 AND head_seq = at_seq ORDER BY id LIMIT 1`, a.c.ID, to.Parent, to.AtSeq)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return there, err
	}
	to.UpdatedAt = now
	return to, a.insertBranch(ctx, to)
}

// turnAtHead is the turn that ended with the head of a branch, or none. One that is still open holds nothing
// there: it runs beside others.
func (a *appender) turnAtHead(ctx context.Context, b scrollback.Branch) (id scrollback.TurnID, err error) {
	err = QueryRow(ctx, a.tx, scanInto(&id),
		`SELECT t.id FROM messages m JOIN turns t ON t.id = m.turn_id WHERE m.branch = $1 AND m.seq = $2 AND t.state <> 'open'`, b.ID, b.HeadSeq)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}
