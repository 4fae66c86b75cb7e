package sqldriver

import (
	"context"

	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlaudit"
)

// Walk implements [driver.Audit].
func (db audit) Walk(ctx context.Context, w driver.AuditWalk) error {
	const op = "sqldriver.Audit"
	conn, err := db.Readers.Conn(ctx)
	if err != nil {
		return db.wrap(op, err)
	}
	defer conn.Close()
	stopped, err := sqlaudit.Audit{Dialect: db.Dialect.Audit, Conn: conn, Read: db.Read}.Walk(ctx, w)
	if stopped != nil {
		return stopped
	}
	if err != nil {
		return db.wrap(op, err)
	}
	if db.Unchanged == nil {
		return nil
	}
	return db.Unchanged()
}

// Copy implements [driver.Audit].
func (db audit) Copy(ctx context.Context, path string) error {
	return db.wrap("sqldriver.Copy", db.database.Copy(ctx, path))
}
