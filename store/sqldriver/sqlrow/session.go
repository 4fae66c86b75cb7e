// Package sqlrow reads and writes rows of a SQL database: statements that are
// prepared once, and the columns of each table as types of the root.
//
// Words it adds: session (prepared statements on something that runs them).
//
// Invariants: the columns of a table, the function that scans them and the one that
// lists their values are in the same order; a JSON column that cannot be read is an
// error that says so.
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

// Session runs statements, each prepared once. Later, Waiting, Forget and CatchUp
// are for one goroutine, the rest for any number.
type Session struct {
	on    Runner
	mu    sync.Mutex
	stmts map[string]*sql.Stmt
	ahead []statement // to be run at the end of the transaction
}

// statement is one to be run later.
type statement struct {
	query string
	args  []any
}

// NewSession makes a session without statements.
func NewSession(on Runner) *Session { return &Session{on: on, stmts: map[string]*sql.Stmt{}} }

func (s *Session) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := s.on.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

// Run runs a statement that returns nothing.
func (s *Session) Run(ctx context.Context, query string, args ...any) error {
	_, err := s.Exec(ctx, query, args...)
	return err
}

// Exec runs a statement and returns what it changed.
func (s *Session) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

// Rows calls scan for each row of a query.
func (s *Session) Rows(ctx context.Context, scan func(Scanner) error, query string, args ...any) error {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
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

// Later leaves a statement for the end of the transaction, before its commit.
// Full-text rows go this way: any savepoint among them would make SQLite's index
// write itself out piece by piece.
func (s *Session) Later(query string, args ...any) {
	s.ahead = append(s.ahead, statement{query, args})
}

// Waiting returns how many statements were left for later.
func (s *Session) Waiting() int { return len(s.ahead) }

// Forget drops all but the first n of them.
func (s *Session) Forget(n int) { s.ahead = s.ahead[:n] }

// CatchUp runs what was left for later.
func (s *Session) CatchUp(ctx context.Context) error {
	for _, st := range s.ahead {
		if err := s.Run(ctx, st.query, st.args...); err != nil {
			return err
		}
	}
	return nil
}

// Queries lists the statements that were prepared.
func (s *Session) Queries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.stmts))
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
	s.stmts = map[string]*sql.Stmt{}
	return errors.Join(errs...)
}

// Scanner is a row being read.
type Scanner interface{ Scan(dest ...any) error }
