package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// repairHeads makes what a conversation and its branches say about their ends agree with their
// messages.
func (r *repairing) repairHeads(ctx context.Context, id scrollback.ConversationID) error {
	var c conversationRow
	if err := r.holdConversation(ctx, id, &c); err != nil {
		return err
	}
	branches, err := listBranches(ctx, r.tx, id)
	if err != nil {
		return err
	}
	for i := range branches {
		if err := r.repairHead(ctx, &branches[i]); err != nil {
			return err
		}
	}
	if c.PurgedAt != 0 || len(branches) == 0 {
		return nil
	}
	was := c
	if err := r.repairCurrent(ctx, &c, branches); err != nil ||
		was.Branch == c.Branch && was.Messages == c.Messages && was.LastTurn == c.LastTurn {
		return err
	}
	return r.storeConversation(ctx, &c, r.now)
}

// repairCurrent finds a conversation's current branch and what goes with it.
func (r *repairing) repairCurrent(ctx context.Context, c *conversationRow, branches []scrollback.Branch) error {
	b := branches[0]
	for _, o := range branches {
		if o.ID == c.Branch || b.ID != c.Branch && o.UpdatedAt >= b.UpdatedAt {
			b = o
		}
	}
	err := error(nil)
	if c.LastTurn != "" {
		err = r.holdTurn(ctx, c.LastTurn, new(scrollback.Turn))
	}
	if c.Branch != b.ID || scrollback.CodeOf(err) == scrollback.NotFound {
		c.LastTurn, err = (&appender{writeTx: r.writeTx}).turnAtHead(ctx, b)
	}
	c.Branch = b.ID
	c.Messages = b.HeadSeq
	return err
}

// restoreConversation brings back a conversation, or empties what cannot be read of it.
func (r *repairing) restoreConversation(ctx context.Context, m *driver.LostRow) error {
	var c conversationRow
	err := r.holdConversation(ctx, m.Conversation, &c)
	if err == nil && c.hasValidMeta() {
		return nil
	}
	lost := scrollback.CodeOf(err) == scrollback.NotFound
	if !lost {
		if err := r.emptyUnreadable(ctx, m.Conversation); err != nil {
			return err
		}
		if err := r.holdConversation(ctx, m.Conversation, &c); err != nil {
			return err
		}
	}
	branches, err := listBranches(ctx, r.tx, m.Conversation)
	if err != nil {
		return err
	}
	if len(branches) == 0 {
		return noConversation(m.Conversation)
	}
	if lost {
		c = conversationRow{Conversation: m.As}
		c.ID = m.Conversation
		c.CreatedAt = r.now
		c.UpdatedAt = r.now
		c.Version = 1
	}
	if err := r.findAncestors(ctx, &c, branches); err != nil {
		return err
	}
	if err := r.repairCurrent(ctx, &c, branches); err != nil {
		return err
	}
	if !lost {
		return r.storeConversation(ctx, &c, r.now)
	}
	return r.insertConversation(ctx, &c)
}

// findAncestors finds out what a conversation inherits, and when it began.
func (r *repairing) findAncestors(ctx context.Context, c *conversationRow, branches []scrollback.Branch) error {
	for _, b := range branches {
		if first, err := r.findStart(ctx, b.ID); err == nil {
			c.CreatedAt = min(c.CreatedAt, first.at)
		}
		if b.Parent == "" || c.Parent != nil && len(c.Ancestors) > 0 {
			continue
		}
		var p scrollback.Branch
		err := r.holdBranch(ctx, b.Parent, &p)
		if scrollback.CodeOf(err) == scrollback.NotFound || p.Conversation == c.ID {
			continue
		}
		var of conversationRow
		if err == nil {
			err = r.holdConversation(ctx, p.Conversation, &of)
		}
		if err != nil {
			return err
		}
		c.Parent = &scrollback.ParentRef{ID: of.ID, Branch: p.ID, Seq: b.AtSeq}
		c.Ancestors = append([]scrollback.ConversationID{of.ID}, of.Ancestors...)
	}
	return nil
}

// emptyUnreadable empties the columns of a conversation that cannot be read.
func (r *repairing) emptyUnreadable(ctx context.Context, id scrollback.ConversationID) error {
	var c scrollback.Conversation
	var meta any // a raw message would accept anything
	for _, column := range []struct {
		name, empty string
		into        any
	}{{"roots", "[]", &c.Roots}, {"settings", "{}", &c.Settings}, {"pinned_seqs", "[]", &c.PinnedSeqs},
		{"meta", "{}", &meta},
		{"parent", "", &c.Parent}, {"ancestors", "", &c.Ancestors}, {"environment", "", &c.Environment}} {
		var text string
		err := QueryRow(ctx, r.tx, scanInto(&text),
			`SELECT `+column.name+` FROM conversations WHERE id = $1`, id)
		if err != nil {
			return err
		}
		if decodeJSON(text, column.into) == nil {
			continue
		}
		r.tx.Cache().ofConversations().forget(id)
		r.noteWritten(id)
		if err := r.tx.Queue(ctx, `UPDATE conversations SET `+column.name+` = $2 WHERE id = $1`, id, column.empty); err != nil {
			return err
		}
	}
	return nil
}

// branchEnd is the end of a branch: its newest message as the log has it.
type branchEnd struct {
	seq      int64
	own, sum scrollback.Weight
}

// listEnds returns a branch's newest own messages, at most two, newest first.
func (r *repairing) listEnds(ctx context.Context, b scrollback.Branch) (out []branchEnd, err error) {
	err = r.tx.Query(ctx, func(row Row) error {
		var e branchEnd
		err := row.Scan(&e.seq, &e.own.Tokens, &e.own.Bytes, &e.own.Images, &e.sum.Tokens, &e.sum.Bytes, &e.sum.Images)
		out = append(out, e)
		return err
	}, `SELECT seq, own_tokens, own_bytes, own_images, sum_tokens, sum_bytes, sum_images FROM messages
		WHERE branch = $1 AND seq > $2 ORDER BY seq DESC LIMIT 2`, b.ID, b.AtSeq)
	return out, err
}

// repairHead makes a branch end with its newest message.
func (r *repairing) repairHead(ctx context.Context, b *scrollback.Branch) error {
	end, err := r.listEnds(ctx, *b)
	if err != nil {
		return err
	}
	is := *b
	if len(end) == 0 {
		if _, err := r.completeBranch(ctx, &is); scrollback.CodeOf(err) == scrollback.NotFound {
			return nil // where it leaves its parent is another question
		} else if err != nil {
			return err
		}
	} else {
		is.HeadSeq = end[0].seq
		is.Sum = end[0].sum
		if is.HeadSeq == b.HeadSeq && len(end) > 1 && end[1].seq == is.HeadSeq-1 && end[1].sum.Add(end[0].own) != is.Sum {
			return nil // it may be the message that is wrong
		}
	}
	if is.HeadSeq == b.HeadSeq && is.Sum == b.Sum {
		return nil
	}
	*b = is
	return r.changeBranch(ctx, b, branchHead)
}

// branchStart is a branch's first own message.
type branchStart struct {
	conversation scrollback.ConversationID
	seq, at      int64
	before       scrollback.Weight // the sum of what it follows
}

// findStart is not_found for a branch without messages.
func (r *repairing) findStart(ctx context.Context, id scrollback.BranchID) (out branchStart, err error) {
	var own, sum scrollback.Weight
	err = QueryRow(ctx, r.tx, func(row Row) error {
		return row.Scan(&out.conversation, &out.seq, &out.at, &own.Tokens, &own.Bytes, &own.Images, &sum.Tokens, &sum.Bytes,
			&sum.Images)
	}, `SELECT conversation_id, seq, created_at, own_tokens, own_bytes, own_images, sum_tokens, sum_bytes, sum_images FROM messages
		WHERE branch = $1 AND seq > 0 ORDER BY seq LIMIT 1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = scrollback.Errorf(scrollback.NotFound, "sqlstore.Repair", i18n.BranchHasNoMessages, id)
	}
	out.before = sum.Sub(own)
	return out, err
}

// mayFollow reports whether a branch with this beginning may leave another there.
func (r *repairing) mayFollow(ctx context.Context, first branchStart, parent scrollback.BranchID) (bool, error) {
	var sum scrollback.Weight
	err := QueryRow(ctx, r.tx, scanInto(&sum.Tokens, &sum.Bytes, &sum.Images),
		`SELECT sum_tokens, sum_bytes, sum_images FROM messages WHERE branch = $1 AND seq = $2`, parent, first.seq-1)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil && sum == first.before, err
}

// restoreBranch brings back a branch, or corrects where it begins.
func (r *repairing) restoreBranch(ctx context.Context, id scrollback.BranchID) error {
	first, err := r.findStart(ctx, id)
	if err != nil {
		return err
	}
	var b scrollback.Branch
	err = r.holdBranch(ctx, id, &b)
	known := err == nil
	switch {
	case known && b.AtSeq == 0 && b.Parent == "":
		return nil // what comes before its messages may be lost
	case known && b.AtSeq == first.seq-1 && b.AtSeq > 0:
		if ok, err := r.mayFollow(ctx, first, b.Parent); ok || err != nil {
			return err
		}
	case known:
	case scrollback.CodeOf(err) == scrollback.NotFound:
		b = scrollback.Branch{ID: id, Conversation: first.conversation, UpdatedAt: r.now}
	default:
		return err
	}
	b.AtSeq = first.seq - 1
	if b.Parent, err = r.findParent(ctx, b, first); err != nil {
		return err
	}
	if known {
		return r.changeBranch(ctx, &b, branchOrigin)
	}
	if err := r.insertBranch(ctx, b); err != nil {
		return err
	}
	return r.repairHead(ctx, &b)
}

// findParent finds the only branch that one with this beginning can have left.
func (r *repairing) findParent(ctx context.Context, b scrollback.Branch,
	first branchStart) (found scrollback.BranchID, err error) {
	if b.AtSeq == 0 {
		return "", nil
	}
	var c conversationRow
	if err := r.holdConversation(ctx, b.Conversation, &c); err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
		return "", err
	}
	for _, id := range append([]scrollback.ConversationID{b.Conversation}, c.Ancestors...) {
		branches, err := listBranches(ctx, r.tx, id)
		if err != nil {
			return "", err
		}
		for _, p := range branches {
			ok, err := r.mayFollow(ctx, first, p.ID)
			if err == nil && ok {
				ok, err = r.isApart(ctx, p, b.ID)
			}
			switch {
			case err != nil:
				return "", err
			case ok && found != "":
				return "", scrollback.Errorf(scrollback.Conflict, "sqlstore.Repair", i18n.BranchLeftOneOfTwo, b.ID, found,
					p.ID)
			case ok:
				found = p.ID
			}
		}
	}
	if found == "" {
		err = scrollback.Errorf(scrollback.Conflict, "sqlstore.Repair", i18n.BranchFollowsNothing, b.ID)
	}
	return found, err
}

// isApart reports whether the path of a branch does not lead to another.
func (r *repairing) isApart(ctx context.Context, b scrollback.Branch, from scrollback.BranchID) (bool, error) {
	for b.ID != from {
		var p scrollback.Branch
		err := r.holdBranch(ctx, b.Parent, &p)
		if scrollback.CodeOf(err) == scrollback.NotFound || err == nil && p.ID != from && p.AtSeq >= b.AtSeq {
			return true, nil // it ends there
		}
		if err != nil {
			return false, err
		}
		b = p
	}
	return false, nil
}
