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

// adoption is one batch of a history being brought in.
type adoption struct {
	*appender
	driver.Adoption
	hidden bool
	grown  map[scrollback.BranchID]bool
}

// AdoptHistory implements [driver.Log].
func (db log) AdoptHistory(ctx context.Context, a driver.Adoption) error {
	return db.write(ctx, "sqlstore.AdoptHistory", func(ctx context.Context, w *writeTx) error {
		j := &adoption{appender: &appender{writeTx: w}, Adoption: a, grown: map[scrollback.BranchID]bool{}}
		for _, step := range []func(context.Context) error{j.storeConversation, j.growBranches, j.storeSegments,
			j.changeViews, j.storeReceipts} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		for _, m := range a.Mentions {
			if err := j.insertArtifact(ctx, m, j.c.ID); err != nil {
				return err
			}
		}
		for _, r := range a.Readings {
			if err := j.insertReading(ctx, r); err != nil {
				return err
			}
		}
		for _, k := range a.Kept {
			if err := j.insertKept(ctx, k); err != nil {
				return err
			}
		}
		return j.storeEnd(ctx)
	})
}

func (j *adoption) newConflict(format scrollback.TextID, args ...any) error {
	return scrollback.Errorf(scrollback.Conflict, "sqlstore.AdoptHistory", format, args...)
}

// storeConversation finds or stores the conversation.
func (j *adoption) storeConversation(ctx context.Context) error {
	err := j.holdConversation(ctx, j.Conversation.ID, &j.c)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		j.c = conversationRow{Conversation: driver.HideConversation(j.Conversation, j.Now)}
		j.hidden = true
		return j.insertConversation(ctx, &j.c)
	}
	switch {
	case err != nil:
		return err
	case j.c.PurgedAt < 0:
		return j.newConflict("conversation %s is being purged", j.c.ID)
	case j.c.PurgedAt > 0:
		j.hidden = true
		return j.inheritMore(ctx)
	case j.Merge:
		if err := j.inheritMore(ctx); err != nil {
			return err
		}
	case slices.ContainsFunc(j.Conversation.Ancestors, j.checkForeign):
		return j.newConflict("conversation %s inherits of others here", j.c.ID)
	case j.c.DeletedAt != 0:
		return j.newConflict("conversation %s is in the trash", j.c.ID)
	}
	if err := j.holdBranch(ctx, j.c.Branch, &j.b); err != nil {
		return err
	}
	if _, err := j.closeLapsed(ctx, j.Now, j.Salvage); err != nil {
		return err
	}
	j.grown[j.b.ID] = j.grew
	return j.storeGrowth(ctx, j.Now)
}

// inheritMore lets a hidden conversation inherit from what the batch names besides.
func (j *adoption) inheritMore(ctx context.Context) error {
	all := driver.MergeAncestors(j.c.Ancestors, j.Conversation.Ancestors)
	if len(all) == len(j.c.Ancestors) {
		return nil
	}
	j.c.Ancestors = all
	return j.changeConversation(ctx, &j.c, conversationAncestors)
}

// checkForeign is the conflict of a conversation that does not inherit from another here.
func (j *adoption) checkForeign(id scrollback.ConversationID) bool {
	return !slices.Contains(j.c.Ancestors, id)
}

// growBranches lets branches grow.
func (j *adoption) growBranches(ctx context.Context) error {
	for _, g := range j.Branches {
		b := g.Branch
		err := j.holdBranch(ctx, b.ID, &b)
		switch {
		case scrollback.CodeOf(err) == scrollback.NotFound:
			b.Conversation = j.c.ID
			b.View = scrollback.View{}
			b.ViewVersion = 0
			of, err := j.completeBranch(ctx, &b)
			if err == nil {
				err = checkInherits("sqlstore.AdoptHistory", j.c.Conversation, of)
			}
			if err == nil {
				err = j.insertBranch(ctx, b)
			}
			if err != nil {
				return err
			}
		case err != nil:
			return err
		case b.Conversation != j.c.ID || b.Parent != g.Parent || b.AtSeq != g.AtSeq:
			return j.newConflict("branch %s is another one here", b.ID)
		}
		if b.HeadSeq != g.IfHead {
			return j.newConflict("branch %s ends with #%d, not #%d", b.ID, b.HeadSeq, g.IfHead)
		}
		j.b = b
		j.grown[b.ID] = j.grown[b.ID] || len(g.Entries) > 0
		entries, err := prepareEntries(g.Entries)
		if err == nil {
			_, err = j.appendEntries(ctx, entries)
		}
		if err != nil {
			return err
		}
		if err := j.storeGrowth(ctx, g.UpdatedAt); err != nil {
			return err
		}
	}
	return nil
}

// storeSegments stores those that are unknown.
func (j *adoption) storeSegments(ctx context.Context) error {
	for i := range j.Segments {
		s := &j.Segments[i]
		var known scrollback.Segment
		err := QueryRow(ctx, j.tx, func(r Row) error { return segmentTable.scan(&known, r) }, selectSegment, s.ID)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			if err := j.insertSegment(ctx, s); err != nil {
				return err
			}
		case err != nil:
			return err
		case known.Conversation != s.Conversation || known.Hash != s.Hash || known.SHA256 != s.SHA256:
			return j.newConflict("segment %s is another one here", s.ID)
		}
	}
	return nil
}

// changeViews changes what branches show.
func (j *adoption) changeViews(ctx context.Context) error {
	for _, v := range j.Views {
		if err := j.weighHidden(ctx, v.Branch, &v.View); err != nil {
			return err
		}
		if err := (&repairing{writeTx: j.writeTx, now: j.Now}).replaceView(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// weighHidden sets how much of a branch's path a view hides.
func (j *adoption) weighHidden(ctx context.Context, id scrollback.BranchID, v *scrollback.View) error {
	at := func(seq int64) (scrollback.Message, error) {
		ms, err := j.readPath(ctx, j.tx, driver.MessageQuery{Branch: id, From: seq, To: seq})
		if err == nil && len(ms) != 1 {
			err = scrollback.Errorf(scrollback.NotFound, "sqlstore.AdoptHistory", i18n.PathHasNoMessage, id, seq)
		}
		return append(ms, scrollback.Message{})[0], err
	}
	v.Sum = scrollback.Weight{}
	if v.Boundary == 0 {
		return nil
	}
	last, err := at(v.Boundary)
	v.Sum = last.Sum
	for _, seq := range v.Carried {
		if err != nil {
			break
		}
		last, err = at(seq)
		v.Sum = v.Sum.Sub(last.Weight)
	}
	return err
}

// storeReceipts enters receipts.
func (j *adoption) storeReceipts(ctx context.Context) error {
	for i := range j.Folds {
		f := &j.Folds[i]
		if err := j.weighHidden(ctx, f.Branch, &f.Before); err != nil {
			return err
		}
		receipt, err := encodeJSON(f.Receipt)
		if err != nil {
			return err
		}
		undone := int64(0)
		n := int64(0)
		if f.Undone {
			undone = j.Now
		}
		err = QueryRow(ctx, j.tx, scanInto(&n),
			`SELECT n FROM receipts WHERE conversation_id = $1 AND branch = $2 AND receipt = $3`, j.c.ID, f.Branch, receipt)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			brought := 0
			if f.Folded {
				brought = max(1, len(f.Receipt.Segments))
			}
			err = j.insertReceipt(ctx, storedReceipt{conversation: j.c.ID, branch: f.Branch, segments: brought,
				receipt: f.Receipt, before: f.Before, undoneAt: undone, createdAt: f.Receipt.CreatedAt})
		case err == nil && f.Undone:
			err = j.tx.Queue(ctx, `UPDATE receipts SET undone_at = $2 WHERE n = $1 AND undone_at = 0`, n, undone)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// storeEnd stores what the batch has changed of the conversation itself.
func (j *adoption) storeEnd(ctx context.Context) error {
	if j.Current == "" && (j.hidden || !j.grown[j.c.Branch]) {
		return nil
	}
	if j.hidden { // visible from here on
		if err := j.checkNoStone(ctx, "sqlstore.AdoptHistory", j.c.ID); err != nil {
			return err
		}
		version := j.c.Version
		ancestors := j.c.Ancestors
		j.c = conversationRow{Conversation: j.Conversation}
		j.c.Version = version
		j.c.Ancestors = ancestors
		j.c.PurgedAt = 0
		if !j.Merge {
			j.c.DeletedAt = 0
		}
	}
	moves := j.Current != "" && !j.hidden && j.Current != j.c.Branch
	if moves {
		if err := j.keepPins(ctx); err != nil {
			return err
		}
	}
	if j.Current != "" {
		j.c.Branch = j.Current
	}
	if err := j.holdBranch(ctx, j.c.Branch, &j.b); err != nil {
		return err
	}
	if j.b.Conversation != j.c.ID {
		return j.newConflict("branch %s is of another conversation", j.b.ID)
	}
	if moves {
		if err := j.showPins(ctx, j.b.ID, j.b.HeadSeq); err != nil {
			return err
		}
	}
	if err := j.editAdopted(ctx); err != nil {
		return err
	}
	j.edited = true
	var err error
	if j.c.LastTurn, err = j.turnAtHead(ctx, j.b); err != nil {
		return err
	}
	if err := j.storeLeftTurn(ctx); err != nil {
		return err
	}
	return j.storeHead(ctx, max(j.c.UpdatedAt, j.Conversation.UpdatedAt))
}

// editAdopted changes the conversation's own fields, and stores the clocks that came with the changes.
func (j *adoption) editAdopted(ctx context.Context) error {
	if j.Current == "" {
		return nil
	}
	if j.Edit != nil && !j.Merge {
		return j.editOwn(j.Edit)
	}
	if j.Edit != nil {
		edit := func(c *scrollback.Conversation) error { j.Edit(c); return nil }
		if err := editConversation(&j.c, edit); err != nil {
			return err
		}
		j.c.changed = nil
		j.c.pinned = nil
		j.c.unpinned = nil
	}
	for _, c := range j.Clocks {
		if err := j.putClock(ctx, c); err != nil {
			return err
		}
	}
	if !j.Merge {
		return nil
	}
	return j.showPins(ctx, j.b.ID, j.b.HeadSeq)
}

// storeLeftTurn stores the turn that left a draft, unless it is known.
func (j *adoption) storeLeftTurn(ctx context.Context) error {
	if j.Left == nil || j.Current == "" {
		return nil
	}
	t := *j.Left
	t.Conversation = j.c.ID
	err := j.holdTurn(ctx, t.ID, new(scrollback.Turn))
	if scrollback.CodeOf(err) != scrollback.NotFound {
		return err
	}
	if t.Branch == j.b.ID && t.LastSeq == j.b.HeadSeq {
		j.c.LastTurn = t.ID
	}
	return j.insertTurn(ctx, &t)
}

// ListStoredReceipts implements [driver.Views].
func (db views) ListStoredReceipts(ctx context.Context, id scrollback.ConversationID,
	skip, limit int) ([]scrollback.StoredReceipt, error) {
	var out []scrollback.StoredReceipt
	err := db.Readers.Query(ctx, func(r Row) error {
		var f scrollback.StoredReceipt
		err := r.Scan(&f.Branch, asJSON(&f.Receipt), asJSON(&f.Before), &f.Folded, &f.Undone)
		out = append(out, f)
		return err
	},
		`SELECT branch, receipt, view_before, segments > 0, undone_at <> 0 FROM receipts WHERE conversation_id = $1 ORDER BY n LIMIT $2 OFFSET $3`, id, limit, skip)
	return out, db.wrapError("sqlstore.ListStoredReceipts", err)
}

// FindOwners implements [driver.Log].
func (db log) FindOwners(ctx context.Context, ids []scrollback.MessageID) (
	map[scrollback.MessageID]scrollback.ConversationID, error) {
	out := map[scrollback.MessageID]scrollback.ConversationID{}
	for _, id := range ids {
		var of scrollback.ConversationID
		err := QueryRow(ctx, db.Readers, scanInto(&of),
			`SELECT b.conversation_id FROM messages m JOIN branches b ON b.id = m.branch WHERE m.id = $1`, id)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, db.wrapError("sqlstore.FindOwners", err)
		}
		out[id] = of
	}
	return out, nil
}
