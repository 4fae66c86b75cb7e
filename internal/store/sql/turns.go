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

var turnTable = table[scrollback.Turn]{columns: []column[scrollback.Turn]{
	{"id", func(t *scrollback.Turn) any { return &t.ID }},
	{"conversation_id", func(t *scrollback.Turn) any { return &t.Conversation }},
	{"branch", func(t *scrollback.Turn) any { return &t.Branch }},
	{"seq", func(t *scrollback.Turn) any { return &t.Seq }},
	{"user_message", func(t *scrollback.Turn) any { return &t.UserMessage }},
	{"state", func(t *scrollback.Turn) any { return &t.State }},
	{"owner", func(t *scrollback.Turn) any { return &t.Owner }},
	{"lease_until", func(t *scrollback.Turn) any { return &t.LeaseUntil }},
	{"cancel", func(t *scrollback.Turn) any { return &t.Cancel }},
	{"draft", func(t *scrollback.Turn) any { return asJSON(&t.Draft) }},
	{"open_calls", func(t *scrollback.Turn) any { return asJSON(&t.OpenCalls) }},
	{"reply", func(t *scrollback.Turn) any { return &t.Reply }},
	{"finish_reason", func(t *scrollback.Turn) any { return &t.FinishReason }},
	{"failure", func(t *scrollback.Turn) any { return asJSON(&t.Failure) }},
	{"idem_key", func(t *scrollback.Turn) any { return &t.Idempotency.Key }},
	{"idem_hash", func(t *scrollback.Turn) any { return &t.Idempotency.Hash }},
	{"window_mark", func(t *scrollback.Turn) any { return asJSON(&t.Window) }},
	{"started_at", func(t *scrollback.Turn) any { return &t.StartedAt }},
	{"ended_at", func(t *scrollback.Turn) any { return &t.EndedAt }},
	{"last_seq", func(t *scrollback.Turn) any { return &t.LastSeq }},
	{"meta", func(t *scrollback.Turn) any { return asJSON(&t.Meta) }},
}}

// Columns of turns that change together.
var (
	turnStep = turnTable.subset("id", "branch", "state", "lease_until", "draft", "open_calls", "reply", "finish_reason",
		"failure", "window_mark", "ended_at", "last_seq", "meta")
	turnDraft     = turnTable.subset("id", "draft", "lease_until")
	turnDraftMeta = turnTable.subset("id", "draft", "lease_until", "meta")
)

// TurnColumns are those of turns, without what the first step sent.
var TurnColumns = turnTable.columnList()

var selectTurn = `SELECT ` + TurnColumns + ` FROM turns WHERE id = $1`

func scanTurn(t *scrollback.Turn) func(Row) error {
	return func(r Row) error {
		*t = scrollback.Turn{}
		return turnTable.scan(t, r)
	}
}

// findTurn reads a turn.
func (db *database) findTurn(ctx context.Context, id scrollback.TurnID, t *scrollback.Turn) error {
	return missingTurn(id, QueryRow(ctx, db.Readers, scanTurn(t), selectTurn, id))
}

// holdTurn reads a turn, which stays as it is until the transaction ends.
func (w *writeTx) holdTurn(ctx context.Context, id scrollback.TurnID, t *scrollback.Turn) error {
	return missingTurn(id, w.tx.Cache().ofTurns().read(ctx, w.tx, id, scanTurn(t), w.Dialect.HoldTurn))
}

// holdOwnedTurn reads an open turn for its owner, and holds it.
func (w *writeTx) holdOwnedTurn(ctx context.Context, id scrollback.TurnID, owner string, t *scrollback.Turn) error {
	err := w.holdTurn(ctx, id, t)
	if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
		return err
	}
	return checkOwner(id, owner, t)
}

// checkOwner is conflict unless a turn is there, and open for its owner.
func checkOwner(id scrollback.TurnID, owner string, t *scrollback.Turn) error {
	if t.ID == "" || t.Owner != owner || t.State != scrollback.TurnOpen {
		return scrollback.Errorf(scrollback.Conflict, "sqlstore", i18n.TurnOfAnotherOwner,
			id).WithReason(scrollback.ErrLostLease)
	}
	return nil
}

func missingTurn(id scrollback.TurnID, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, "sqlstore", i18n.NoTurn, id)
	}
	return err
}

func (w *writeTx) insertTurn(ctx context.Context, t *scrollback.Turn) error {
	values, err := turnTable.values(t)
	if err != nil {
		return err
	}
	return w.tx.Cache().ofTurns().store(ctx, w.tx, t.ID, values, `INSERT INTO turns `+turnTable.insertClause(), values...)
}

// storeTurn stores what may change of a turn.
func (w *writeTx) storeTurn(ctx context.Context, t *scrollback.Turn) error {
	return w.changeTurn(ctx, t, turnStep)
}

// storeTurnSending is storeTurn, and stores what its first step sent unless that is empty.
func (w *writeTx) storeTurnSending(ctx context.Context, t *scrollback.Turn, sent string) error {
	if sent == "" {
		return w.storeTurn(ctx, t)
	}
	values, err := turnStep.values(t)
	if err != nil {
		return err
	}
	args := append(slices.Clip(values), sent)
	return w.tx.Cache().ofTurns().change(ctx, w.tx, t.ID, turnTable.columnIndexes(turnStep), values,
		`UPDATE turns SET `+turnStep.setClause()+`, sent = `+parameter(len(args))+` WHERE id = $1`, args...)
}

// changeTurn stores some columns of a turn.
func (w *writeTx) changeTurn(ctx context.Context, t *scrollback.Turn, columns table[scrollback.Turn]) error {
	values, err := columns.values(t)
	if err != nil {
		return err
	}
	return w.tx.Cache().ofTurns().change(ctx, w.tx, t.ID, turnTable.columnIndexes(columns), values,
		`UPDATE turns SET `+columns.setClause()+` WHERE id = $1`, values...)
}

// Begin implements [driver.Turns].
func (db turns) Begin(ctx context.Context, b driver.BeginRequest) (driver.BeginResult, error) {
	var out driver.BeginResult
	entries, err := prepareEntries(b.Entries)
	if err != nil {
		return out, db.wrapError("sqlstore.Begin", err)
	}
	err = db.write(ctx, "sqlstore.Begin", func(ctx context.Context, w *writeTx) error {
		out = driver.BeginResult{}
		a, err := w.openLog(ctx, b.Turn.Conversation)
		if err != nil {
			return err
		}
		if out.Replayed, err = w.findReplay(ctx, b, &out.Turn); err != nil || out.Replayed {
			out.Head = a.head()
			return err
		}
		if a.c.DeletedAt != 0 {
			return scrollback.Errorf(scrollback.NotFound, "sqlstore.Begin", i18n.ConversationInTrash, a.c.ID)
		}
		if b.At != nil {
			err = a.goBeside(ctx, *b.At, b.Now)
		} else {
			out.Previous, err = a.admitTurn(ctx, b)
		}
		if err != nil {
			return err
		}
		if b.Tally != nil {
			if out.Tallied, err = w.countTally(ctx, *b.Tally); err != nil {
				return err
			}
		}
		if err := a.prepareBranch(ctx, b, entries); err != nil {
			return err
		}
		if out.Messages, err = a.appendEntries(ctx, entries); err != nil {
			return err
		}
		t := b.Turn
		t.Branch = a.b.ID
		t.Seq = a.b.HeadSeq
		t.LastSeq = a.b.HeadSeq
		t.State = scrollback.TurnOpen
		if err := w.insertTurn(ctx, &t); err != nil {
			return err
		}
		if b.At == nil {
			a.c.LastTurn = t.ID
		}
		if err := w.writeThread(ctx, b.Thread); err != nil {
			return err
		}
		a.c.news.Turn = t.ID
		a.c.news.State = t.State
		a.c.news.Kinds = a.c.news.Kinds | driver.KindTurned
		out.Turn = t
		if err := a.storeHead(ctx, b.Now); err != nil {
			return err
		}
		out.Head = a.head()
		return nil
	})
	if err != nil {
		return driver.BeginResult{}, err
	}
	return out, nil
}

// prepareBranch changes the conversation as a turn that begins asks for, and the branch that its entries come to.
func (a *appender) prepareBranch(ctx context.Context, b driver.BeginRequest, entries []preparedEntry) error {
	if b.Edit != nil {
		if err := a.editOwn(b.Edit); err != nil {
			return err
		}
	}
	if b.Without != nil {
		if err := a.leaveOut(ctx, *b.Without); err != nil {
			return err
		}
	}
	return a.leaveElsewhere(ctx, entries, b.Now)
}

// admitTurn judges a turn that is to hold the conversation, and returns the newest one before it.
func (a *appender) admitTurn(ctx context.Context, b driver.BeginRequest) (*scrollback.Turn, error) {
	if b.IfBranch != "" && (b.IfBranch != a.b.ID || b.IfHead != a.b.HeadSeq) {
		return nil, scrollback.Errorf(scrollback.Conflict, "sqlstore.Begin", i18n.HeadIsAnother, a.b.HeadSeq, b.IfHead)
	}
	previous, err := a.closeLapsed(ctx, b.Now, b.Salvage)
	if err != nil || b.Admit == nil {
		return previous, err
	}
	return previous, b.Admit(previous)
}

// goBeside makes the branch current with which a turn beside others begins.
func (a *appender) goBeside(ctx context.Context, at scrollback.Branch, now int64) error {
	if err := a.completeDestination(ctx, &at); err != nil {
		return err
	}
	last, err := a.holdLastTurn(ctx)
	if err != nil {
		return err
	}
	was := a.c.Branch
	if err := a.goTo(ctx, at, false, now); err != nil {
		return err
	}
	a.edited = a.c.Branch != was
	if a.edited && (last == nil || last.State != scrollback.TurnOpen) {
		a.c.LastTurn, err = a.turnAtHead(ctx, a.b)
	}
	return err
}

// findReplay looks for a turn that the same key began.
func (w *writeTx) findReplay(ctx context.Context, b driver.BeginRequest, t *scrollback.Turn) (bool, error) {
	want := b.Turn.Idempotency
	if want.Key == "" {
		return false, nil
	}
	err := QueryRow(ctx, w.tx, scanTurn(t), `SELECT `+TurnColumns+` FROM turns
		WHERE conversation_id = $1 AND idem_key = $2 AND idem_key <> '' AND started_at >= $3 ORDER BY started_at DESC, id DESC LIMIT 1`,
		b.Turn.Conversation, want.Key, b.KeysSince)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil && t.Idempotency.Hash != want.Hash {
		err = scrollback.Errorf(scrollback.Conflict, "sqlstore.Begin", i18n.IdempotencyKeyUsedOtherwise)
	}
	return err == nil, err
}

// SaveDraft implements [driver.Turns].
func (db turns) SaveDraft(ctx context.Context, s driver.SavedDraft) (stop bool, err error) {
	err = db.write(ctx, "sqlstore.SaveDraft", func(ctx context.Context, w *writeTx) error {
		stop = false
		var t scrollback.Turn
		if err := w.holdOwnedTurn(ctx, s.Turn, s.Owner, &t); err != nil {
			return err
		}
		stop = t.Cancel
		t.Draft = s.Draft
		t.LeaseUntil = s.LeaseUntil
		if s.Meta == nil {
			return w.changeTurn(ctx, &t, turnDraft)
		}
		t.Meta = s.Meta
		return w.changeTurn(ctx, &t, turnDraftMeta)
	})
	return stop, err
}

// FinishStep implements [driver.Turns].
func (db turns) FinishStep(ctx context.Context, f driver.FinishedStep) (driver.AppendResult, error) {
	var out driver.AppendResult
	entries, err := prepareEntries(f.Entries)
	if err != nil {
		return out, db.wrapError("sqlstore.FinishStep", err)
	}
	sent, err := prepareStep(f.Sent, f.Texts)
	if err != nil {
		return out, db.wrapError("sqlstore.FinishStep", err)
	}
	err = db.write(ctx, "sqlstore.FinishStep", func(ctx context.Context, w *writeTx) error {
		out = driver.AppendResult{}
		taught, err := w.queueLesson(ctx, f.Usage, f.Learn)
		if err != nil {
			return err
		}
		var t scrollback.Turn
		a, err := w.openTurn(ctx, f.Turn, f.Owner, &t)
		if err != nil {
			return err
		}
		var own scrollback.Branch
		if own, out.Messages, err = a.appendOfTurn(ctx, &t, entries, !driver.IsGivenUp(f.State),
			f.Now); err != nil {
			return err
		}
		t.State = f.State
		t.OpenCalls = f.OpenCalls
		t.FinishReason = f.FinishReason
		t.Failure = f.Failure
		t.Draft = scrollback.Draft{}
		t.LeaseUntil = f.LeaseUntil
		if f.Window != nil {
			t.Window = f.Window
		}
		a.c.news.Turn = t.ID
		if f.Meta != nil {
			t.Meta = f.Meta
		}
		if t.State != scrollback.TurnOpen {
			t.EndedAt = f.Now
			a.c.news.State = t.State
			a.c.news.Kinds = a.c.news.Kinds | driver.KindTurned
			if err := a.settleLastTurn(ctx, &t); err != nil {
				return err
			}
		}
		if err := w.storeTurnSending(ctx, &t, sent.inTurn()); err != nil {
			return err
		}
		if err := w.storeStep(ctx, &t, sent); err != nil {
			return err
		}
		if err := w.writeThread(ctx, f.Thread); err != nil {
			return err
		}
		if err := w.enterUsage(ctx, a.c.Project, f.Usage, taught); err != nil {
			return err
		}
		if err := a.storeHead(ctx, f.Now); err != nil {
			return err
		}
		out.Head = a.head()
		if own.ID != a.b.ID {
			out.Head.Branch = own
		}
		return nil
	})
	if err != nil {
		return driver.AppendResult{}, err
	}
	return out, nil
}

// TakeOver implements [driver.Turns].
func (db turns) TakeOver(ctx context.Context, o driver.Takeover) (t scrollback.Turn, err error) {
	err = db.write(ctx, "sqlstore.TakeOver", func(ctx context.Context, w *writeTx) error {
		t = scrollback.Turn{}
		if err := w.holdTurn(ctx, o.Turn, &t); err != nil || t.State != scrollback.TurnOpen ||
			driver.HoldsConversation(t, o.Now) {
			return err
		}
		a, err := w.openLog(ctx, t.Conversation)
		if err == nil {
			err = a.interruptTurn(ctx, &t, o.Now, o.Salvage)
		}
		if err != nil {
			return err
		}
		return a.storeHead(ctx, o.Now)
	})
	return t, err
}

// Stop implements [driver.Turns].
func (db turns) Stop(ctx context.Context, id scrollback.TurnID) error {
	return db.write(ctx, "sqlstore.Stop", func(ctx context.Context, w *writeTx) error {
		var t scrollback.Turn
		if err := w.holdTurn(ctx, id, &t); err != nil {
			return err
		}
		w.tx.Cache().ofTurns().forget(id)
		return w.tx.Queue(ctx, `UPDATE turns SET cancel = 1 WHERE id = $1 AND state = 'open'`, id)
	})
}

// Get implements [driver.Turns].
func (db turns) Get(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	var t scrollback.Turn
	return t, db.wrapError("sqlstore.Get", db.findTurn(ctx, id, &t))
}

// GetLast implements [driver.Turns].
func (db turns) GetLast(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	var t scrollback.Turn
	var c conversationRow
	if err := db.findKnownConversation(ctx, id, &c); err != nil {
		return t, db.wrapError("sqlstore.GetLast", err)
	}
	if c.LastTurn == "" {
		return t, scrollback.Errorf(scrollback.NotFound, "sqlstore.GetLast", i18n.ConversationHadNoTurnYet, id)
	}
	return t, db.wrapError("sqlstore.GetLast", db.findTurn(ctx, c.LastTurn, &t))
}

// troubledTurns follows the path of branch $1 as [driver.Log]'s Messages does, and repeats the
// condition of the index word for word: without that the index is not used. A path leaves
// an ancestor at leaves, and the branch itself never.
var troubledTurns = `WITH RECURSIVE path (branch, parent, at_seq, leaves) AS (
		SELECT id, parent_branch, at_seq, head_seq + 1 FROM branches WHERE id = $1
		UNION ALL
		SELECT b.id, b.parent_branch, b.at_seq, p.at_seq FROM path p JOIN branches b ON b.id = p.parent WHERE p.at_seq >= $2 AND b.at_seq < p.at_seq
	) SELECT ` + TurnColumns + ` FROM (SELECT branch AS of, leaves, CASE WHEN leaves < $3 THEN leaves ELSE $3 END AS until FROM path) p
	JOIN turns ON branch = p.of AND last_seq BETWEEN $2 AND p.until
	WHERE (state IN ('failed', 'over_budget', 'interrupted') OR finish_reason IN ('max_steps', 'length')) AND state <> 'open'
		AND (last_seq < p.leaves OR last_seq > seq)
	ORDER BY last_seq DESC, id DESC LIMIT $4`

// ListUnsuccessful implements [driver.Turns].
func (db turns) ListUnsuccessful(ctx context.Context, q driver.TurnQuery) ([]scrollback.Turn, error) {
	var out []scrollback.Turn
	err := db.Readers.Query(ctx, turnTable.appendTo(&out), troubledTurns, q.Branch, q.From, q.To, q.Limit)
	slices.Reverse(out)
	return out, db.wrapError("sqlstore.ListUnsuccessful", err)
}
