package postgres

import (
	"context"
	"database/sql"
	"sync"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// numberBlock is how many numbers of branches a server takes at once. What it does not use
// before it ends is never used.
const numberBlock = 64

// branchNumbers allots the numbers of branches: from the database in blocks, because the row that
// counts them would otherwise be held by every transaction that makes a branch.
type branchNumbers struct {
	db *sql.DB

	mu         sync.Mutex
	next, last int64
}

// nextNumber implements [sqlstore.Dialect]'s BranchNumber, outside of the transaction.
func (b *branchNumbers) nextNumber(ctx context.Context, _ sqlstore.Tx) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == b.last {
		var last int64
		err := b.db.QueryRowContext(ctx, `UPDATE numbers SET last = last + $1 WHERE name = 'branch' RETURNING last`,
			numberBlock).Scan(&last)
		if err != nil {
			return 0, err
		}
		b.next = last - numberBlock
		b.last = last
	}
	b.next++
	return b.next, nil
}
