package sqlstore

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// purgeTx is one step of a purge under way.
type purgeTx struct {
	*writeTx
	c        conversationRow
	branches []scrollback.Branch
	kept     map[scrollback.BranchID]int64 // how far each is inherited
	left     int                           // messages this step may still remove
	out      driver.PurgeResult
}

// PurgeConversation implements [driver.Log].
func (db log) PurgeConversation(ctx context.Context, p driver.Purge) (driver.PurgeResult, error) {
	const op = "sqlstore.PurgeConversation"
	var out driver.PurgeResult
	err := db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		j := &purgeTx{writeTx: w, left: p.Limit}
		err := j.purgeNext(ctx, p)
		out = j.out
		return err
	})
	if err != nil {
		return driver.PurgeResult{}, err
	}
	return out, nil
}

func (j *purgeTx) purgeNext(ctx context.Context, p driver.Purge) error {
	err := j.holdConversation(ctx, p.Conversation, &j.c)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		j.out.Done = true
		return nil
	}
	j.noteWritten(p.Conversation)
	if err == nil && j.c.PurgedAt == 0 {
		err = j.hideConversation(ctx, p)
	}
	if err == nil {
		j.branches, err = listBranches(ctx, j.tx, j.c.ID)
	}
	if err != nil {
		return err
	}
	var outside []scrollback.Branch
	for _, b := range j.branches {
		if err := j.tx.Query(ctx, branchTable.appendTo(&outside), `SELECT `+BranchColumns+` FROM branches
			WHERE parent_branch = $1 AND parent_branch <> '' AND conversation_id <> $2`, b.ID, j.c.ID); err != nil {
			return err
		}
	}
	j.kept = driver.FindNeededSeqs(j.branches, outside)
	for _, b := range j.branches {
		if kept, ok := j.kept[b.ID]; ok {
			j.out.Kept += kept - b.AtSeq
		}
		if err := j.deleteMessages(ctx, b); err != nil {
			return err
		}
	}
	if err := j.deleteAtoms(ctx); err != nil {
		return err
	}
	if j.left == 0 {
		return nil // there may be more
	}
	return j.finishPurge(ctx, p.Now)
}

// hideConversation makes the conversation unknown: only what others inherit of it stays.
func (j *purgeTx) hideConversation(ctx context.Context, p driver.Purge) error {
	const op = "sqlstore.PurgeConversation"
	now := p.Now
	if p.Spares(j.c.DeletedAt) {
		return scrollback.Errorf(scrollback.Conflict, op, i18n.ConversationTakenOutOfTrash, j.c.ID)
	}
	var open []scrollback.Turn
	if err := j.tx.Query(ctx, turnTable.appendTo(&open),
		`SELECT `+TurnColumns+` FROM turns WHERE conversation_id = $1 AND state = 'open'`, j.c.ID); err != nil {
		return err
	}
	for _, t := range open {
		if driver.HoldsConversation(t, now) {
			return scrollback.Errorf(scrollback.Conflict, op, i18n.TurnIsOpen, j.c.ID)
		}
	}
	j.c.Conversation = scrollback.Conversation{ID: j.c.ID, Project: j.c.Project, Parent: j.c.Parent,
		Ancestors: j.c.Ancestors, Version: j.c.Version,
		Branch: j.c.Branch, Messages: j.c.Messages, CreatedAt: j.c.CreatedAt, DeletedAt: now, Roots: []string{},
		PinnedSeqs: []int64{}}
	if err := j.layStone(ctx, p); err != nil {
		return err
	}
	j.c.LastTurn = ""
	j.c.PurgedAt = -now
	if err := j.storeConversation(ctx, &j.c, now); err != nil {
		return err
	}
	if err := j.dropSteps(ctx, j.c.ID); err != nil {
		return err
	}
	if err := j.hideThread(ctx); err != nil {
		return err
	}
	if err := j.dropOrigins(ctx, j.c.ID, j.c.Project); err != nil {
		return err
	}
	j.tx.Cache().ofTurns().clear()
	if err := j.tx.Queue(ctx, `DELETE FROM turns WHERE conversation_id = $1`, j.c.ID); err != nil {
		return err
	}
	return j.tx.Queue(ctx, `DELETE FROM receipts WHERE conversation_id = $1`, j.c.ID)
}

// deleteMessages removes the newest messages of a branch that nobody inherits, also from the
// search index. It holds the only statement that deletes messages.
func (j *purgeTx) deleteMessages(ctx context.Context, b scrollback.Branch) error {
	var n int
	var from int64
	err := j.tx.Query(ctx, func(r Row) error {
		n++
		return r.Scan(&from)
	}, `SELECT seq FROM messages WHERE branch = $1 AND seq > $2 ORDER BY seq DESC LIMIT $3`, b.ID, j.kept[b.ID], j.left)
	if err != nil || n == 0 {
		return err
	}
	j.left -= n
	j.out.Removed += int64(n)
	if err := NotePurged(ctx, &j.Dialect, j.tx, b.ID, from); err != nil {
		return err
	}
	if err := j.dropHashes(ctx, j.c.ID, b.ID, from); err != nil {
		return err
	}
	if err := j.dropVectors(ctx, b.ID, from); err != nil {
		return err
	}
	if err := j.tx.Queue(ctx, `DELETE FROM kept WHERE branch = $1 AND seq >= $2`, b.ID, from); err != nil {
		return err
	}
	return j.tx.Queue(ctx, `DELETE FROM messages WHERE branch = $1 AND seq >= $2`, b.ID, from)
}

// finishPurge removes what belonged to the messages, and the conversation itself if nobody
// inherits anything from it.
func (j *purgeTx) finishPurge(ctx context.Context, now int64) error {
	for _, b := range j.branches {
		kept := j.kept[b.ID]
		if err := j.tx.Queue(ctx, `DELETE FROM segments WHERE conversation_id = $1 AND branch = $2 AND last_seq > $3`, j.c.ID,
			b.ID, kept); err != nil {
			return err
		}
		if err := j.tx.Queue(ctx, `DELETE FROM message_sources WHERE conversation_id = $1 AND branch = $2 AND seq > $3`, j.c.ID,
			b.ID, kept); err != nil {
			return err
		}
		if err := j.trimBranch(ctx, b, now); err != nil {
			return err
		}
	}
	if err := j.dropMentions(ctx); err != nil {
		return err
	}
	end := func() error { j.c.PurgedAt = now; return j.storeConversation(ctx, &j.c, now) }
	if len(j.kept) == 0 {
		end = func() error {
			for _, table := range []string{"kept", "readings"} {
				if err := j.tx.Queue(ctx, `DELETE FROM `+table+` WHERE conversation_id = $1`, j.c.ID); err != nil {
					return err
				}
			}
			return j.deleteConversation(ctx, j.c.ID)
		}
	}
	if err := end(); err != nil {
		return err
	}
	j.out.Done = true
	for _, id := range j.c.Ancestors {
		var a conversationRow
		err := j.holdConversation(ctx, id, &a)
		if scrollback.CodeOf(err) == scrollback.NotFound {
			continue
		}
		if err == nil && a.PurgedAt != 0 {
			j.out.Next = id
		}
		return err
	}
	return nil
}

// trimBranch ends a branch where others leave it, or removes it.
func (j *purgeTx) trimBranch(ctx context.Context, b scrollback.Branch, now int64) error {
	kept, ok := j.kept[b.ID]
	if !ok {
		return j.deleteBranch(ctx, b.ID)
	}
	var last scrollback.Message
	if err := QueryRow(ctx, j.tx, scanMessage(&last), selectMessage, b.ID, kept); err != nil {
		return err
	}
	b.HeadSeq = kept
	b.Sum = last.Sum
	b.View = scrollback.View{}
	b.ViewVersion++
	b.UpdatedAt = now
	return j.changeBranch(ctx, &b, branchTrim)
}

// dropMentions removes the mentions of artifacts that no remaining message names.
func (j *purgeTx) dropMentions(ctx context.Context) error {
	var mentioned []scrollback.ArtifactID
	err := j.tx.Query(ctx, listInto(&mentioned), `SELECT artifact FROM mentions WHERE conversation_id = $1 ORDER BY artifact`, j.c.ID)
	if err != nil || len(mentioned) == 0 {
		return err
	}
	named := map[scrollback.ArtifactID]bool{}
	for _, b := range j.branches {
		err := j.tx.Query(ctx, func(r Row) error {
			var ps scrollback.Parts
			err := r.Scan(asJSON(&ps))
			for id := range ps.Artifacts() {
				named[id] = true
			}
			return err
		}, `SELECT parts FROM messages WHERE branch = $1 AND seq <= $2`, b.ID, j.kept[b.ID])
		if err != nil {
			return err
		}
	}
	for _, id := range slices.DeleteFunc(mentioned, func(id scrollback.ArtifactID) bool { return named[id] }) {
		if err := j.tx.Queue(ctx, `DELETE FROM mentions WHERE conversation_id = $1 AND artifact = $2`, j.c.ID, id); err != nil {
			return err
		}
		if err := lockRows(ctx, j.tx, j.Dialect.HoldArtifact, id); err != nil {
			return err
		}
		n, err := j.tx.Exec(ctx,
			`DELETE FROM artifacts WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.artifact = artifacts.id)`, id)
		if err != nil {
			return err
		}
		if n > 0 {
			j.out.Loose = append(j.out.Loose, id)
		}
	}
	return nil
}
