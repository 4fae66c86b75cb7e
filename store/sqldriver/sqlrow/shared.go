package sqlrow

import (
	"context"
	"database/sql"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Querier is what a shared session runs statements on: a pool, a connection, a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Statement is one of an exchange with a server. Changed, unless it is nil, judges how many
// rows it changed.
type Statement struct {
	Query   string
	Args    []any
	Changed func(rows int64) error
}

// Exchange is a transaction on a server that is far away: it runs statements together, hands on
// the rows of the last, which are there until each returns, and returns how many rows that changed.
type Exchange func(ctx context.Context, all []Statement, each func(Row) error) (int64, error)

// Variant is a piece of statements that a database says in its own way.
type Variant struct{ Of, Is string }

// Shared is what a database needs that many servers write to: its transactions run beside
// each other, and its driver prepares statements itself.
type Shared struct {
	// Variants are replaced in the text of every statement.
	Variants []Variant
	// Branches allots the number of a new branch.
	Branches func(ctx context.Context) (int64, error)

	once  sync.Once
	pairs *strings.Replacer
	texts sync.Map // by the text before
}

// text is a statement as the database wants it.
func (d *Shared) text(query string) string {
	if t, ok := d.texts.Load(query); ok {
		return t.(string)
	}
	d.once.Do(func() {
		var list []string
		for _, v := range d.Variants {
			list = append(list, v.Of, v.Is)
		}
		d.pairs = strings.NewReplacer(list...)
	})
	t := d.pairs.Replace(query)
	d.texts.Store(query, t)
	return t
}

// Reading is a session that reads.
func (d *Shared) Reading(on Querier) *Session { return &Session{shared: d, plain: on} }

// Writing is a session for one transaction that writes: rows that it knows stay as they are
// until the transaction ends. A statement that nobody waits for the result of is sent with the
// next one; what is left in the end [Session.Left] returns.
func (d *Shared) Writing(on Exchange) *Session {
	return &Session{shared: d, writing: on, locks: true}
}

// Left are the statements that were not sent yet, with others behind them.
func (s *Session) Left(more ...Statement) []Statement {
	left := append(s.left, more...)
	s.left = nil
	return left
}

// Judged reports whether the result of one of them matters.
func Judged(all []Statement) bool {
	return slices.ContainsFunc(all, func(s Statement) bool { return s.Changed != nil })
}

// later leaves a statement for the next exchange.
func (s *Session) later(query string, args []any, changed func(int64) error) error {
	bound, err := outward(args)
	if err == nil {
		s.left = append(s.left, Statement{s.shared.text(query), bound, changed})
	}
	return err
}

// exchange runs a statement behind those that were left.
func (s *Session) exchange(ctx context.Context, query string, args []any, each func(Row) error) (int64, error) {
	if err := s.later(query, args, nil); err != nil {
		return 0, err
	}
	return s.writing(ctx, s.Left(), each)
}

// RunOne runs a statement that changes one row; missed is the error if it changes none.
func (s *Session) RunOne(ctx context.Context, missed error, query string, args ...any) error {
	judge := func(rows int64) error {
		if rows == 0 {
			return missed
		}
		return nil
	}
	if s.writing != nil {
		return s.later(query, args, judge)
	}
	res, err := s.Exec(ctx, query, args...)
	if err != nil {
		return err
	}
	rows, err := res.RowsAffected()
	if err != nil {
		return err
	}
	return judge(rows)
}

// Branch allots the number of a new branch; none says that the caller counts.
func Branch(ctx context.Context, s *Session) (n int64, none bool, err error) {
	if s.shared == nil {
		return 0, true, nil
	}
	n, err = s.shared.Branches(ctx)
	return n, false, err
}

// alone locks a name, which the first to come adds.
const alone = `INSERT INTO numbers (name, last) VALUES ($1, 0) ON CONFLICT (name) DO UPDATE SET last = numbers.last`

// Alone lets one transaction at a time go on that names the same thing, for what a row that
// is not there yet cannot be locked for. Where one writes at a time it does nothing.
func (s *Session) Alone(ctx context.Context, what string) error {
	if !s.locks {
		return nil
	}
	return s.Run(ctx, alone, what)
}

// Hold runs a query whose rows it locks, where others write meanwhile.
func (s *Session) Hold(ctx context.Context, query string, args ...any) error {
	if !s.locks {
		return nil
	}
	return s.Rows(ctx, func(Scanner) error { return nil }, query+lock, args...)
}

// Snapshot is a transaction that reads, and sees the database as it is at one moment.
func (s *Session) Snapshot() *sql.TxOptions {
	if s.shared == nil {
		return &sql.TxOptions{ReadOnly: true} // where every transaction does
	}
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

// Adds reports whether the database adds to the sums of a day itself.
func (s *Session) Adds() bool { return s.locks }

const lock = ` FOR UPDATE`

// rowsShared reads the result of a query of a shared session that writes.
func (s *Session) rowsShared(ctx context.Context, scan func(Scanner) error, query string, args []any) error {
	_, err := s.exchange(ctx, query, args, func(row Row) error {
		inward(row)
		return scan(row)
	})
	return err
}

// outward are arguments as a shared database stores them: truth as a number, and texts
// without what it refuses.
func outward(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, arg := range args {
		v, err := asStored(arg)
		if err != nil {
			return nil, err
		}
		if text, ok := v.(string); ok {
			v = escaped(text)
		}
		out[i] = v
	}
	return out, nil
}

// inward is a row as it was given.
func inward(row Row) {
	for i, v := range row {
		if text, ok := v.(string); ok {
			row[i] = unescaped(text)
		}
	}
}

// escape marks what stands for something that PostgreSQL does not store in a text: a zero
// byte, or one that is not UTF-8. It is of the private use area, and so hardly ever meant.
const escape = '\uf8f7'

// escaped is a text without zero bytes and without bytes that are not UTF-8; unescaped
// returns the text as it was.
func escaped(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && !strings.ContainsRune(s, escape) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == escape:
			b.WriteString(string(escape) + "-")
		case r == 0, r == utf8.RuneError && n == 1:
			b.WriteRune(escape)
			b.WriteString(hex.EncodeToString([]byte{s[0]}))
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func unescaped(s string) string {
	if !strings.ContainsRune(s, escape) {
		return s
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, string(escape))
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest, ok := strings.CutPrefix(after, "-"); ok {
			b.WriteRune(escape)
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
		b.WriteRune(escape) // not written by us
		s = after
	}
}
