package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
)

// runner is what a session prepares statements on.
type runner interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// session runs statements, each prepared once.
type session struct {
	on    runner
	mu    sync.Mutex
	stmts map[string]*sql.Stmt
	ahead []statement // to be run at the end of the batch
}

// statement is one to be run later.
type statement struct {
	query string
	args  []any
}

// later runs a statement at the end of the batch, before its commit, unless the
// job that asks for it fails. Full-text rows go this way: any savepoint among them
// would make the index write itself out piece by piece.
func (s *session) later(query string, args ...any) {
	s.ahead = append(s.ahead, statement{query, args})
}

// catchUp runs what was left for later.
func (s *session) catchUp(ctx context.Context) error {
	for _, st := range s.ahead {
		if err := s.run(ctx, st.query, st.args...); err != nil {
			return err
		}
	}
	return nil
}

func newSession(on runner) *session { return &session{on: on, stmts: map[string]*sql.Stmt{}} }

func (s *session) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
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

func (s *session) run(ctx context.Context, query string, args ...any) error {
	_, err := s.exec(ctx, query, args...)
	return err
}

func (s *session) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(ctx, args...)
}

// rows calls scan for each row of a query.
func (s *session) rows(ctx context.Context, scan func(scanner) error, query string, args ...any) error {
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

// row scans the only row of a query; sql.ErrNoRows when there is none.
func (s *session) row(ctx context.Context, scan func(scanner) error, query string, args ...any) error {
	found := false
	err := s.rows(ctx, func(r scanner) error { found = true; return scan(r) }, query, args...)
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

func (s *session) close() error {
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

// scanner is a row being read.
type scanner interface{ Scan(dest ...any) error }
