package sqlrow

import (
	"context"
	"database/sql"
)

// Inside is a session for one transaction of the database that s runs on, with the statements
// of s. They end with the transaction.
func (s *Session) Inside(tx *sql.Tx) *Session { return NewSession(inside{s, tx}) }

// inside prepares nothing anew.
type inside struct {
	s  *Session
	tx *sql.Tx
}

// PrepareContext implements [Runner].
func (i inside) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	st, err := i.s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return i.tx.StmtContext(ctx, st), nil
}
