// Package sqlrow reads and writes rows of a SQL database: statements that are
// prepared once, and the columns of each table as types of the root.
//
// Words it adds: session (prepared statements on something that runs them), kept row (one
// that the writer knows without reading it).
//
// Invariants: the columns of a table, the function that scans them and the one that
// lists their values are in the same order; a JSON column that cannot be read is an
// error that says so; a kept row is what a fresh read would return.
//
// It may not know any one database, or what a statement is for.
package sqlrow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Runner is what a session prepares statements on.
type Runner interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// Pool is connections that read.
type Pool interface {
	BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error)
	Conn(ctx context.Context) (*sql.Conn, error)
	Close() error
}

// Session runs statements, each prepared once. One on a pool is for any number of
// goroutines; one on a connection of its own is for one, and keeps rows. One on a database
// that many servers share is made by [Shared].
type Session struct {
	on    Runner
	mu    sync.Mutex
	stmts map[string]*sql.Stmt

	shared  *Shared // with plain, or writing, instead of on
	plain   Querier
	writing Exchange
	left    []Statement // not sent yet
	locks   bool

	conn   driver.Conn // instead of on
	direct map[string]*direct
	kept   kept
	writes int64
}

// NewSession makes a session without statements.
func NewSession(on Runner) *Session { return &Session{on: on, stmts: map[string]*sql.Stmt{}} }

// NewDirect makes a session on a driver's connection, which nothing else may use
// meanwhile. It is the one that writes, and keeps rows.
func NewDirect(conn driver.Conn) *Session {
	return &Session{conn: conn, direct: map[string]*direct{}, kept: kept{rows: map[rowKey]Row{}}}
}

// stmt prepares a statement unless it is. Nobody waits for whoever prepares: a pool may wait
// for one that has a connection, and wants another statement.
func (s *Session) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if st := s.known(query); st != nil {
		return st, nil
	}
	st, err := s.on.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.stmts[query]; first != nil {
		return first, st.Close()
	}
	s.stmts[query] = st
	return st, nil
}

func (s *Session) known(query string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stmts[query]
}

func (s *Session) own(ctx context.Context, query string) (*direct, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.direct[query]; d != nil {
		return d, nil
	}
	d, err := prepare(ctx, s.conn, query)
	if err != nil {
		return nil, err
	}
	s.direct[query] = d
	return d, nil
}

// Inside is a session for one transaction of the pool that s runs on, with the statements of
// s; see [Session.Prepare]. They end with the transaction.
func (s *Session) Inside(tx *sql.Tx) *Session {
	if s.shared != nil {
		return s.shared.Reading(tx)
	}
	return NewSession(inside{s, tx})
}

// On is a session for a connection of the pool that s runs on.
func (s *Session) On(conn *sql.Conn) *Session {
	if s.shared != nil {
		return s.shared.Reading(conn)
	}
	return NewSession(conn)
}

// Prepare prepares statements that transactions will need.
func (s *Session) Prepare(ctx context.Context, queries ...string) error {
	if s.shared != nil {
		return nil
	}
	for _, q := range queries {
		if _, err := s.stmt(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// inside never takes a second connection: the pool may have no other.
type inside struct {
	s  *Session
	tx *sql.Tx
}

// PrepareContext implements [Runner].
func (i inside) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if st := i.s.known(query); st != nil {
		return i.tx.StmtContext(ctx, st), nil
	}
	return i.tx.PrepareContext(ctx, query)
}

// Run runs a statement that returns nothing.
func (s *Session) Run(ctx context.Context, query string, args ...any) error {
	if s.writing != nil {
		return s.later(query, args, nil)
	}
	_, err := s.Exec(ctx, query, args...)
	return err
}

// Exec runs a statement and returns what it changed. Kept rows of a table that it writes to
// are forgotten.
func (s *Session) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if s.writing != nil {
		n, err := s.exchange(ctx, query, args, nil)
		return driver.RowsAffected(n), err
	}
	if s.conn == nil {
		st, err := s.stmt(ctx, query)
		if err != nil {
			return nil, err
		}
		return st.ExecContext(ctx, args...)
	}
	d, err := s.own(ctx, query)
	if err != nil {
		return nil, err
	}
	s.kept.forget(d.writes)
	return s.exec(ctx, d, args)
}

func (s *Session) exec(ctx context.Context, d *direct, args []any) (sql.Result, error) {
	bound, err := d.bind(args)
	if err != nil {
		return nil, err
	}
	if d.writes != "" {
		s.writes++
	}
	return d.on.ExecContext(ctx, bound)
}

// Rows calls scan for each row of a query. A row is only there until scan returns.
func (s *Session) Rows(ctx context.Context, scan func(Scanner) error, query string, args ...any) error {
	if s.conn != nil {
		d, err := s.own(ctx, query)
		if err != nil {
			return err
		}
		return d.rows(ctx, scan, args)
	}
	if s.writing != nil {
		return s.rowsShared(ctx, scan, query, args)
	}
	rows, err := s.query(ctx, query, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row := make(Row, len(names))
	into := make([]any, len(names))
	for i := range row {
		into[i] = (*any)(&row[i]) // as the driver has it
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if s.shared != nil {
			inward(row)
		}
		if err := scan(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// query runs a query on what many goroutines use.
func (s *Session) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	if s.shared != nil {
		bound, err := outward(args)
		if err != nil {
			return nil, err
		}
		return s.plain.QueryContext(ctx, s.shared.text(query), bound...)
	}
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// Row scans the only row of a query; sql.ErrNoRows when there is none.
func (s *Session) Row(ctx context.Context, scan func(Scanner) error, query string, args ...any) error {
	found := false
	err := s.Rows(ctx, func(r Scanner) error { found = true; return scan(r) }, query, args...)
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// Writes returns how many statements wrote so far: what did not change it wrote nothing.
func (s *Session) Writes() int64 { return s.writes }

// Queries lists the statements that were prepared.
func (s *Session) Queries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.AppendSeq(slices.Sorted(maps.Keys(s.stmts)), maps.Keys(s.direct))
}

// Close ends the statements, not what they were prepared on.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, st := range s.stmts {
		if err := st.Close(); err != nil && !errors.Is(err, driver.ErrBadConn) {
			errs = append(errs, err)
		}
	}
	for _, d := range s.direct {
		errs = append(errs, d.on.Close())
	}
	s.stmts = map[string]*sql.Stmt{}
	s.direct = map[string]*direct{}
	return errors.Join(errs...)
}

// Scanner is a row being read.
type Scanner interface{ Scan(dest ...any) error }
