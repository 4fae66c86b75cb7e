package sqlrow

import (
	"context"
	"database/sql"
)

// Inside is a session for one transaction of the pool that s runs on, with the statements of
// s; see [Session.Prepare]. They end with the transaction.
func (s *Session) Inside(tx *sql.Tx) *Session { return NewSession(inside{s, tx}) }

// Prepare prepares statements that transactions will need.
func (s *Session) Prepare(ctx context.Context, queries ...string) error {
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
