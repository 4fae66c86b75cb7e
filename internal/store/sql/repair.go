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

// repairing is a repair under way.
type repairing struct {
	*writeTx
	now int64
}

// Repair implements [driver.Admin].
func (db admin) Repair(ctx context.Context, m driver.Repair) error {
	return db.write(ctx, "sqlstore.Repair", func(ctx context.Context, w *writeTx) error {
		r := &repairing{w, m.Now}
		if err := w.forgetMet(ctx); err != nil { // another store may have what was lost here
			return err
		}
		switch {
		case m.Heads != "":
			return r.repairHeads(ctx, m.Heads)
		case m.View != nil:
			return r.replaceView(ctx, *m.View)
		case m.Recover != nil && m.Recover.Branch != "":
			return r.restoreBranch(ctx, m.Recover.Branch)
		case m.Recover != nil:
			return r.restoreConversation(ctx, m.Recover)
		case m.Sweep != nil:
			return r.sweepRows(ctx, m.Sweep)
		case m.Learned != "":
			return r.repairLearned(ctx, m.Learned)
		case m.Usage != nil:
			return r.repairUsage(ctx, *m.Usage)
		}
		return r.closeTurn(ctx, m)
	})
}

// replaceView replaces what a branch shows. The row is not read: the old view may be what cannot
// be read.
func (r *repairing) replaceView(ctx context.Context, v driver.ViewRepair) error {
	view, err := encodeJSON(v.View)
	if err != nil {
		return err
	}
	r.tx.Cache().Clear()
	n, err := r.tx.Exec(ctx,
		`UPDATE branches SET view = $2, view_version = view_version + 1 WHERE id = $1 AND view_version = $3`,
		v.Branch, view, v.IfViewVersion)
	if err != nil {
		return err
	}
	if n == 0 {
		return scrollback.Errorf(scrollback.Conflict, "sqlstore.Repair", i18n.BranchViewChangedMeanwhile, v.Branch)
	}
	return r.tx.Queue(ctx, `UPDATE conversations SET version = version + 1, updated_at = $2
		WHERE id = (SELECT conversation_id FROM branches WHERE id = $1)`, v.Branch, r.now)
}

// sweepRows removes rows that belong to nothing.
func (r *repairing) sweepRows(ctx context.Context, all []driver.StrayRow) error {
	for _, s := range all {
		if s.Conversation != "" {
			r.noteWritten(s.Conversation)
		}
		var err error
		switch {
		case s.Turn != "":
			r.tx.Cache().ofTurns().forget(s.Turn)
			err = r.tx.Queue(
				ctx,
				`DELETE FROM turns WHERE id = $1 AND NOT (EXISTS (SELECT 1 FROM conversations c WHERE c.id = turns.conversation_id)
				AND EXISTS (SELECT 1 FROM branches b WHERE b.id = turns.branch))`,
				s.Turn,
			)
			if err == nil {
				err = r.tx.Queue(ctx,
					`DELETE FROM turn_steps WHERE turn_id = $1 AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_steps.turn_id)`,
					s.Turn)
			}
		case s.Receipt != 0:
			err = r.tx.Queue(ctx, `DELETE FROM receipts WHERE n = $1
				AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = receipts.conversation_id)`, s.Receipt)
		case s.Hashes != "":
			err = r.tx.Queue(ctx, `DELETE FROM message_hashes WHERE conversation_id = $1 AND branch = $2
				AND NOT EXISTS (SELECT 1 FROM branches b WHERE b.id = message_hashes.branch AND b.conversation_id = message_hashes.conversation_id)`,
				s.Conversation, s.Hashes)
		case s.Source != "":
			err = r.tx.Queue(ctx, `DELETE FROM message_sources WHERE conversation_id = $1 AND source = $2
				AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = message_sources.conversation_id)`, s.Conversation, s.Source)
		case s.Kept != "":
			err = r.tx.Queue(ctx, `DELETE FROM kept WHERE conversation_id = $1 AND id = $2
				AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.branch = kept.branch AND m.seq = kept.seq)`, s.Conversation, s.Kept)
		case s.Vectors != 0:
			err = r.sweepVectors(ctx, s.Vectors)
		case s.Thread:
			err = r.sweepThread(ctx, s.Conversation)
		case s.Origins:
			err = r.sweepOrigins(ctx, s.Conversation)
		case s.Conversation != "":
			err = r.tx.Queue(ctx, `DELETE FROM mentions WHERE conversation_id = $1 AND artifact = $2
				AND NOT (EXISTS (SELECT 1 FROM conversations c WHERE c.id = mentions.conversation_id)
				AND EXISTS (SELECT 1 FROM artifacts a WHERE a.id = mentions.artifact))`, s.Conversation, s.Artifact)
		default:
			err = r.tx.Queue(ctx,
				`DELETE FROM artifacts WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.artifact = artifacts.id)`,
				s.Artifact)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closeTurn closes a turn whose owner is gone.
func (r *repairing) closeTurn(ctx context.Context, m driver.Repair) error {
	var t scrollback.Turn
	if err := r.holdTurn(ctx, m.Lease, &t); err != nil || t.State != scrollback.TurnOpen {
		return err
	}
	if driver.HoldsConversation(t, r.now) {
		return scrollback.Errorf(scrollback.Conflict, "sqlstore.Repair", i18n.TurnHoldsItsConversation, t.ID)
	}
	a, err := r.openLog(ctx, t.Conversation)
	if err != nil {
		return err
	}
	err = r.holdBranch(ctx, t.Branch, new(scrollback.Branch))
	missing := scrollback.CodeOf(err) == scrollback.NotFound
	switch {
	case missing && a.c.LastTurn != t.ID:
		t.State = scrollback.TurnInterrupted
		t.EndedAt = r.now
		return r.storeTurn(ctx, &t)
	case missing: // it held the conversation, and ends with it
		t.Branch = a.b.ID
		t.LastSeq = a.b.HeadSeq
		err = nil
	}
	if err == nil {
		err = a.interruptTurn(ctx, &t, r.now, m.Salvage)
	}
	if err != nil {
		return err
	}
	return a.storeHead(ctx, r.now)
}

// repairLearned removes what is known about a model if it cannot be read.
func (r *repairing) repairLearned(ctx context.Context, model string) error {
	k, err := findModel(ctx, r.tx, model)
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, "sqlstore.Repair", i18n.NothingKnownOfModel, model)
	}
	if err != nil || k.broken == nil {
		return err
	}
	return r.storeModel(ctx, model, k.Learned)
}

// repairUsage brings records of a day within their bounds, and writes sums that do not
// agree with them.
func (r *repairing) repairUsage(ctx context.Context, m driver.UsageRepair) error {
	var account driver.Account
	var broken []usageEntry
	found := false
	err := r.tx.Query(ctx, scanUsageDay(func(d scrollback.UsageDay, wrong bool) error {
		account.AddSums(d, wrong)
		found = true
		return nil
	}), r.Dialect.UsageDaysOfModel, m.Day, m.Model)
	if err == nil {
		err = r.tx.Query(ctx, func(row Row) error {
			var e usageEntry
			if err := e.scan(row); err != nil {
				return err
			}
			account.AddRecord(e.BookedRecord)
			if found = true; e.broken {
				broken = append(broken, e)
			}
			return nil
		}, selectUsage+` WHERE u.at >= $1 AND u.at < $2 AND u.model = $3 ORDER BY u.at, u.n`, m.Day*scrollback.DayMS,
			(m.Day+1)*scrollback.DayMS, m.Model)
	}
	if err == nil && !found {
		err = scrollback.Errorf(scrollback.NotFound, "sqlstore.Repair", i18n.NoUsageOfModelOnDay, m.Model, m.Day)
	}
	for _, e := range broken {
		if err == nil {
			err = r.tx.Queue(
				ctx,
				`UPDATE usage_records SET input_tokens = $2, cached_tokens = $3, cache_write_tokens = $4, output_tokens = $5, reasoning_tokens = $6,
				total_tokens = CASE WHEN total_tokens IS NULL THEN NULL ELSE $7 END, cost = $8, currency = $9, estimated = $10 WHERE n = $1`,
				e.n,
				e.InputTokens,
				e.CachedTokens,
				e.CacheWriteTokens,
				e.OutputTokens,
				e.ReasoningTokens,
				e.TotalTokens,
				e.Cost,
				e.Currency,
				e.Estimated,
			)
		}
	}
	all := account.CompareSums()
	if err != nil || !slices.ContainsFunc(all, func(j driver.CurrencyAccount) bool { return j.Wrong != "" }) {
		return err
	}
	if err := r.tx.Queue(ctx, `DELETE FROM usage_days WHERE day = $1 AND model = $2`, m.Day, m.Model); err != nil {
		return err
	}
	for _, j := range all {
		for _, d := range j.Sums {
			if err := r.storeUsageDay(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}
