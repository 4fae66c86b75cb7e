package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// transaction is one on a connection; it begins with the first statement. A statement that nobody
// waits for the result of is sent with the next one, or with the commit. It implements
// [sqlstore.Tx]: nothing is kept, because others write meanwhile.
type transaction struct {
	conn    *pgx.Conn
	begun   bool
	waiting []waitingStatement // not sent yet
}

// waitingStatement is a statement to be sent. each, unless it is nil, gets its rows. changed, unless it
// is nil, judges how many rows it changed. refused, unless it is nil, is the error if it refuses a message
// whose id is taken.
type waitingStatement struct {
	text    string
	args    []any
	each    func(sqlstore.Row) error
	changed func(rows int64) error
	refused error
}

const (
	beginStatement  = `begin isolation level read committed`
	commitStatement = `commit`
)

// errRolledBack is a commit that was none: the server undoes a transaction in which a statement has
// failed, and calls that a success.
var errRolledBack = errors.New("the transaction was undone, because a statement of it had failed")

// Cache implements [sqlstore.Tx].
func (t *transaction) Cache() *sqlstore.RowCache { return nil }

// Query implements [sqlstore.Reader].
func (t *transaction) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	if err := t.QueueQuery(ctx, scan, query, args...); err != nil {
		return err
	}
	_, err := t.sendWaiting(ctx)
	return err
}

// QueueQuery implements [sqlstore.Tx].
func (t *transaction) QueueQuery(_ context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	return t.queueStatement(waitingStatement{text: query, each: func(row sqlstore.Row) error {
		unescapeRow(row)
		return scan(row)
	}}, args)
}

// Exec implements [sqlstore.Tx].
func (t *transaction) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	if err := t.queueStatement(waitingStatement{text: statement}, args); err != nil {
		return 0, err
	}
	return t.sendWaiting(ctx)
}

// Queue implements [sqlstore.Tx].
func (t *transaction) Queue(_ context.Context, statement string, args ...any) error {
	return t.queueStatement(waitingStatement{text: statement}, args)
}

// QueueOne implements [sqlstore.Tx].
func (t *transaction) QueueOne(_ context.Context, missed error, statement string, args ...any) error {
	if statement == statements.InsertMessage {
		return t.queueStatement(waitingStatement{text: statement, refused: missed}, args)
	}
	return t.queueStatement(waitingStatement{text: statement, changed: func(rows int64) error {
		if rows == 0 {
			return missed
		}
		return nil
	}}, args)
}

// usageLanes is how many rows there are for the sums of a day.
const usageLanes = 16

// lanesGiven counts the connections that have a lane. It begins by chance, because servers do not know of
// each other.
var lanesGiven = func() *atomic.Int64 {
	n := new(atomic.Int64)
	n.Store(rand.Int64N(usageLanes))
	return n
}()

// lane is the one of this connection. Connections of a server that write at once have one each: with one
// by chance for each transaction, most would wait for another one.
func (t *transaction) lane() int64 {
	const name = "usage lane"
	known := t.conn.PgConn().CustomData()
	lane, ok := known[name].(int64)
	if !ok {
		lane = lanesGiven.Add(1) % usageLanes
		known[name] = lane
	}
	return lane
}

// queueStatement leaves a statement to be sent with the next one.
func (t *transaction) queueStatement(s waitingStatement, args []any) (err error) {
	if s.text == statements.StoreUsageDay {
		args = append(slices.Clip(args), t.lane())
	}
	if s.args, err = bindArgs(args); err == nil {
		t.waiting = append(t.waiting, s)
	}
	return err
}

// sendWaiting runs the statements that wait together, hands on their rows, which are there until each
// returns, and returns how many rows the last has changed.
func (t *transaction) sendWaiting(ctx context.Context) (n int64, err error) {
	last := len(t.waiting) - 1
	all := append(mergeStatements(t.waiting[:last]), t.waiting[last])
	t.waiting = nil
	if !t.begun {
		all = append([]waitingStatement{{text: beginStatement}}, all...)
		t.begun = true
	}
	var batch pgx.Batch
	for _, s := range all {
		batch.Queue(s.text, s.args...)
	}
	sent := t.conn.SendBatch(ctx, &batch)
	for _, s := range all {
		if s.each != nil {
			n, err = readRows(sent, s.each)
		} else {
			var tag pgconn.CommandTag
			tag, err = sent.Exec()
			n = tag.RowsAffected()
			if err == nil && s.text == commitStatement && tag.String() != "COMMIT" {
				err = errRolledBack
			}
		}
		switch {
		case err == nil && s.changed != nil:
			err = s.changed(n)
		case s.refused != nil && isRefusedMessage(err):
			err = s.refused
		}
		if err != nil {
			break
		}
	}
	if closed := sent.Close(); err == nil {
		err = closed
	}
	return n, err
}

// readRows hands on the rows of the next result.
func readRows(sent pgx.BatchResults, each func(sqlstore.Row) error) (int64, error) {
	rows, err := sent.Query()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return 0, err
		}
		row := make(sqlstore.Row, len(values))
		for i, v := range values {
			if row[i], err = columnValue(v); err != nil {
				return 0, err
			}
		}
		if err := each(row); err != nil {
			return 0, err
		}
	}
	return rows.CommandTag().RowsAffected(), rows.Err()
}

// columnValue returns a value as database/sql would have it.
func columnValue(v any) (sqldriver.Value, error) {
	switch v := v.(type) {
	case int32:
		return int64(v), nil
	case pgtype.Numeric:
		return v.Value()
	}
	return v, nil
}

// commitWaiting ends a transaction, with what waits; what is to be judged before that is sent
// before. Once the commit was sent and the connection is lost, nobody knows what became of it,
// and it is not repeated.
func (t *transaction) commitWaiting(ctx context.Context) error {
	if !t.begun && len(t.waiting) == 0 {
		return nil
	}
	if slices.ContainsFunc(t.waiting, func(s waitingStatement) bool { return s.changed != nil }) {
		if _, err := t.sendWaiting(ctx); err != nil {
			return t.failUncommitted(ctx, err)
		}
	}
	t.waiting = append(t.waiting, waitingStatement{text: commitStatement})
	_, err := t.sendWaiting(ctx)
	if err != nil {
		t.rollBack(ctx)
	}
	return err
}

// failUncommitted ends a transaction that failed before its commit: it may be run again.
func (t *transaction) failUncommitted(ctx context.Context, err error) error {
	t.rollBack(ctx)
	if isConnectionLost(err) && ctx.Err() == nil {
		return retryableError{err}
	}
	return err
}

// rollBack ends a transaction that failed. A connection on which that fails is closed, and the
// transaction with it.
func (t *transaction) rollBack(ctx context.Context) {
	if !t.begun || t.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
	defer cancel()
	if _, err := t.conn.Exec(ctx, `rollback`); err != nil {
		_ = t.conn.Close(ctx)
	}
}

// bindArgs returns arguments as PostgreSQL stores them: texts without what it refuses.
func bindArgs(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, arg := range args {
		v, err := sqlstore.BindValue(arg)
		if err != nil {
			return nil, err
		}
		if text, ok := v.(string); ok {
			v = escapeText(text)
		}
		out[i] = v
	}
	return out, nil
}

// unescapeRow restores a row as it was given.
func unescapeRow(row sqlstore.Row) {
	for i, v := range row {
		if text, ok := v.(string); ok {
			row[i] = unescapeText(text)
		}
	}
}

// escapeMark marks what stands for something that PostgreSQL does not store in a text: a zero
// byte, or one that is not UTF-8. It is of the private use area, and so hardly ever meant.
const escapeMark = '\uf8f7'

// escapeText returns a text without zero bytes and without bytes that are not UTF-8; unescapeText
// returns the text as it was.
func escapeText(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && !strings.ContainsRune(s, escapeMark) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == escapeMark:
			b.WriteString(string(escapeMark) + "-")
		case r == 0, r == utf8.RuneError && n == 1:
			b.WriteRune(escapeMark)
			b.WriteString(hex.EncodeToString([]byte{s[0]}))
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func unescapeText(s string) string {
	if !strings.ContainsRune(s, escapeMark) {
		return s
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, string(escapeMark))
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest, ok := strings.CutPrefix(after, "-"); ok {
			b.WriteRune(escapeMark)
			s = rest
			continue
		}
		if len(after) >= 2 {
			if raw, err := hex.DecodeString(after[:2]); err == nil {
				b.Write(raw)
				s = after[2:]
				continue
			}
		}
		b.WriteRune(escapeMark) // not written by us
		s = after
	}
}
