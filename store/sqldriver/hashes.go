package sqldriver

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

const (
	hashBytes = 4 << 20 // that one step reads, if no message is larger
	hashRun   = 256     // messages whose hashes one row has
	hashHops  = 1000    // branches and conversations that one step looks into
)

// Verify implements [driver.Hashes].
func (db hashes) Verify(ctx context.Context, q driver.MessageQuery) (driver.Verified, error) {
	c, err := sqlrow.Verify(ctx, db.Read, q)
	if err != nil {
		return driver.Verified{}, db.wrap("sqldriver.Verify", err)
	}
	slices.SortFunc(c.Damaged, func(a, b driver.Damaged) int { return cmp.Compare(a.Seq, b.Seq) })
	return driver.Verified{Damaged: c.Damaged, Without: int64(len(c.Without))}, nil
}

// Refill implements [driver.Hashes].
func (db hashes) Refill(ctx context.Context) error {
	return db.write(ctx, "sqldriver.Refill", sqlrow.RestartHashing)
}

// hashPlace is how far hashes are made: up to a message of a branch of a conversation.
type hashPlace struct {
	conversation scrollback.ConversationID
	branch       scrollback.BranchID
	seq          int64
	ended        bool
}

func (p *hashPlace) scan(r sqlrow.Scanner) error {
	return r.Scan(&p.conversation, &p.branch, &p.seq, &p.ended)
}

// hashing is a step under way: what it has read, to be written in one transaction.
type hashing struct {
	db   hashes
	at   hashPlace
	left int // messages that it may still read
	room int // bytes
	runs []newHashes
}

// newHashes are hashes of messages that follow each other.
type newHashes struct {
	conversation scrollback.ConversationID
	branch       scrollback.BranchID
	first, last  int64
	hashes       []byte
}

// Fill implements [driver.Hashes]. What is hashed is read before the transaction, because it
// never changes; what a purge has taken away meanwhile is noticed in it.
func (db hashes) Fill(ctx context.Context, limit int) (driver.Filled, error) {
	const op = "sqldriver.Fill"
	var from hashPlace
	err := db.Read.Row(ctx, from.scan, `SELECT conversation_id, branch, seq, ended FROM message_hashing WHERE id = 1`)
	if err != nil || from.ended {
		return driver.Filled{Done: true}, db.wrap(op, err)
	}
	h := &hashing{db: db, at: from, left: limit, room: hashBytes}
	for hops := 0; err == nil && h.left > 0 && h.room > 0 && hops < hashHops && !h.at.ended; hops++ {
		err = h.step(ctx)
	}
	if err != nil {
		return driver.Filled{}, db.wrap(op, err)
	}
	out := driver.Filled{Done: h.at.ended}
	for _, run := range h.runs {
		out.Made += run.last - run.first + 1
	}
	err = db.write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error { return h.store(ctx, tx, from) })
	if scrollback.CodeOf(err) == scrollback.Conflict {
		return driver.Filled{}, nil // somebody else was here, or a purge was: the next step looks again
	}
	if err != nil {
		return driver.Filled{}, err
	}
	return out, nil
}

// step reads some messages of a branch or, at its end, goes on to the next one.
func (h *hashing) step(ctx context.Context) error {
	if h.at.branch != "" {
		n, err := h.read(ctx)
		if err != nil || n > 0 {
			return err
		}
	}
	if h.at.conversation != "" {
		found, err := h.next(ctx, &h.at.branch,
			`SELECT id FROM branches WHERE conversation_id = $1 AND id > $2 ORDER BY id LIMIT 1`,
			h.at.conversation, h.at.branch)
		if err != nil || found {
			return err
		}
	}
	h.at.branch = ""
	found, err := h.next(ctx, &h.at.conversation, `SELECT id FROM conversations WHERE id > $1 ORDER BY id LIMIT 1`,
		h.at.conversation)
	h.at.ended = err == nil && !found
	return err
}

// next moves to the id that a query finds, and to the beginning of what it names.
func (h *hashing) next(ctx context.Context, to any, query string, args ...any) (found bool, err error) {
	err = h.db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		found = true
		h.at.seq = 0
		return r.Scan(to)
	}, query, args...)
	return found, err
}

// errEnough ends the reading of rows.
var errEnough = errors.New("enough was read")

// read hashes messages behind the place, and moves it behind them.
func (h *hashing) read(ctx context.Context) (n int, err error) {
	var rows sqlrow.Checked
	last := h.at.seq
	err = h.db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		if h.room <= 0 {
			return errEnough
		}
		before := len(rows.Without)
		if err := rows.Check(r); err != nil {
			return err
		}
		n++
		if h.left--; len(rows.Without) > before {
			h.room -= rows.Without[before].Bytes
		}
		row, ok := r.(sqlrow.Row)
		if seq, whole := row[3].(int64); ok && whole {
			last = max(last, seq)
		}
		return nil
	}, `SELECT `+sqlrow.StoredColumns+` FROM messages WHERE branch = $1 AND seq > $2 ORDER BY seq LIMIT $3`, h.at.branch,
		h.at.seq, h.left)
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err == nil {
		err = rows.Beside(ctx, h.db.Read)
	}
	if err != nil || last == h.at.seq { // without progress, as where seqs cannot be read, it would never end
		return 0, err
	}
	h.at.seq = last
	for _, one := range rows.Without {
		if one.Branch != h.at.branch {
			continue // it is damaged already; the doctor says so
		}
		if k := len(h.runs) - 1; k >= 0 && h.runs[k].branch == one.Branch && h.runs[k].last+1 == one.Seq &&
			one.Seq-h.runs[k].first < hashRun {
			h.runs[k].last = one.Seq
			h.runs[k].hashes = append(h.runs[k].hashes, one.Hash...)
			continue
		}
		h.runs = append(h.runs, newHashes{h.at.conversation, one.Branch, one.Seq, one.Seq, one.Hash})
	}
	return n, nil
}

// store writes the hashes, unless another server has gone on from there or a conversation is gone.
// The conversations are locked first, as a purge does, so that one waits for the other.
func (h *hashing) store(ctx context.Context, tx *sqlrow.Session, from hashPlace) error {
	gone := scrollback.Errorf(scrollback.Conflict, "sqldriver.Fill", "what was to be hashed is no longer there")
	var locked scrollback.ConversationID
	for _, run := range h.runs {
		if run.conversation != locked {
			if err := loadRow(ctx, tx, run.conversation, new(sqlrow.Conversation)); err != nil {
				return scrollback.Wrap(scrollback.Conflict, "sqldriver.Fill", err)
			}
			locked = run.conversation
		}
		var n int64
		err := tx.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&n) },
			`SELECT count(*) FROM messages WHERE branch = $1 AND seq >= $2 AND seq <= $3`, run.branch, run.first, run.last)
		if err != nil {
			return err
		}
		if n != run.last-run.first+1 {
			return gone
		}
	}
	ended := int64(0)
	if h.at.ended {
		ended = 1
	}
	res, err := tx.Exec(ctx, `UPDATE message_hashing SET conversation_id = $1, branch = $2, seq = $3, ended = $4
		WHERE id = 1 AND conversation_id = $5 AND branch = $6 AND seq = $7 AND ended = 0`,
		h.at.conversation, h.at.branch, h.at.seq, ended, from.conversation, from.branch, from.seq)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, gone)
	}
	for _, run := range h.runs {
		err := tx.Run(ctx, sqlrow.InsertHashes, run.conversation, run.branch, run.first, run.last, run.hashes)
		if err != nil {
			return err
		}
	}
	return nil
}
