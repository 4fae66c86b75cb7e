package postgres

import (
	"context"
	"database/sql"
	"sync"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// blockOf is how many numbers of branches a server takes at once. What it does not use
// before it ends is never used.
const blockOf = 64

// branches allots the numbers of branches: from the database in blocks, because the row that
// counts them would otherwise be held by every transaction that makes a branch.
type branches struct {
	db *sql.DB

	mu         sync.Mutex
	next, last int64
}

// number implements [sqlstore.Dialect]'s BranchNumber, outside of the transaction.
func (b *branches) number(ctx context.Context, _ sqlstore.Tx) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == b.last {
		var last int64
		err := b.db.QueryRowContext(ctx, `UPDATE numbers SET last = last + $1 WHERE name = 'branch' RETURNING last`,
			blockOf).Scan(&last)
		if err != nil {
			return 0, err
		}
		b.next = last - blockOf
		b.last = last
	}
	b.next++
	return b.next, nil
}
