package sqlstore

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RestartFilling lets the search for what is kept of older messages begin again.
const RestartFilling = `UPDATE kept_filling SET conversation_id = '', branch = '', seq = 0, ended = 0 WHERE id = 1`

// keptStep is a step under way: what it has found, to be written in one transaction.
type keptStep struct {
	logWalk
	find  driver.KeptFinder
	found []scrollback.Kept
	read  int64
}

// FillKept implements [driver.Admin]. Messages are read before the transaction, because they never
// change; what a purge has taken away meanwhile is noticed in it.
func (db admin) FillKept(ctx context.Context, limit int, find driver.KeptFinder) (driver.FillResult, error) {
	const op = "sqlstore.FillKept"
	var from walkPlace
	err := QueryRow(ctx, db.Readers, from.scan, `SELECT conversation_id, branch, seq, ended FROM kept_filling WHERE id = 1`)
	if err != nil || from.ended || limit == 0 {
		return driver.FillResult{Done: err == nil && from.ended}, db.wrapError(op, err)
	}
	h := &keptStep{logWalk: logWalk{db: db, at: from, left: limit, room: walkBytes}, find: find}
	if err := h.readStep(ctx, h.findNext); err != nil {
		return driver.FillResult{}, db.wrapError(op, err)
	}
	err = db.write(ctx, op, func(ctx context.Context, w *writeTx) error { return h.storeFound(ctx, w, from) })
	if scrollback.CodeOf(err) == scrollback.Conflict {
		return driver.FillResult{}, nil // somebody else was here
	}
	if err != nil {
		return driver.FillResult{}, err
	}
	return driver.FillResult{Made: h.read, Done: h.at.ended}, nil
}

// findNext looks through messages behind the place, and moves it behind them.
func (h *keptStep) findNext(ctx context.Context) (int, error) {
	var ms []scrollback.Message
	err := h.db.Readers.Query(ctx, messageTable.appendTo(&ms), `SELECT `+MessageColumns+` FROM messages
		WHERE branch = $1 AND seq >= $2 ORDER BY seq LIMIT $3`, h.at.branch, h.at.seq, min(h.left, keptEach)+1)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range ms {
		m := &ms[i]
		if m.Seq <= h.at.seq {
			continue
		}
		var before *scrollback.Message
		if i > 0 {
			before = &ms[i-1]
		}
		for _, k := range h.find(m, before) {
			h.found = append(h.found, placeKept(k, m))
		}
		h.at.seq = m.Seq
		h.left--
		h.room -= int(m.Weight.Bytes)
		n++
	}
	h.read += int64(n)
	return n, nil
}

// keptEach is how many messages are in memory at once.
const keptEach = 128

// storeFound writes what was found, unless another server has gone on from there. Of messages that are gone,
// nothing is kept.
func (h *keptStep) storeFound(ctx context.Context, w *writeTx, from walkPlace) error {
	n, err := w.tx.Exec(ctx, `UPDATE kept_filling SET conversation_id = $1, branch = $2, seq = $3, ended = $4
		WHERE id = 1 AND conversation_id = $5 AND branch = $6 AND seq = $7 AND ended = 0`,
		h.at.conversation, h.at.branch, h.at.seq, h.at.ended, from.conversation, from.branch, from.seq)
	if err != nil {
		return err
	}
	if n == 0 {
		return scrollback.Errorf(scrollback.Conflict, "sqlstore.FillKept", i18n.KeptSoughtElsewhere)
	}
	for _, k := range h.found {
		if err := w.holdConversation(ctx, k.Conversation, new(conversationRow)); err != nil {
			if scrollback.CodeOf(err) == scrollback.NotFound {
				continue
			}
			return err
		}
		var m scrollback.Message
		err := w.tx.Query(ctx, scanMessage(&m), selectMessage, k.Branch, k.Seq)
		if err == nil && m.ID == k.Message {
			err = w.insertKept(ctx, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
