package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"

	modernc "modernc.org/sqlite"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// newCopier copies to new files what readers see; see [driver.Admin].
func newCopier(readers *sql.DB) func(ctx context.Context, path string) error {
	return func(ctx context.Context, path string) error {
		conn, err := readers.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		return copyFile(ctx, conn, path)
	}
}

func copyFile(ctx context.Context, conn *sql.Conn, path string) (err error) {
	// An incomplete copy never has the name of a complete one; this name is also a lock.
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		defer func() {
			if err != nil {
				_ = os.Remove(part)
			}
		}()
		err = f.Close()
	}
	if err == nil {
		if _, err = os.Lstat(path); err == nil {
			err = fs.ErrExist
		} else if errors.Is(err, fs.ErrNotExist) {
			err = copySnapshot(ctx, conn, part)
		}
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if errors.Is(err, fs.ErrExist) {
		return scrollback.Errorf(scrollback.Conflict, "sqlite.Copy", i18n.FileExistsAt, path)
	}
	return err
}

// copySnapshot copies from one snapshot of the database.
func copySnapshot(ctx context.Context, conn *sql.Conn, path string) error {
	if _, err := conn.ExecContext(ctx, beginReading); err != nil {
		return err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // it wrote nothing
	return copyPages(ctx, conn, path)
}

// pagesPerStep is how many pages a step of a copy takes; between steps it may be
// ended.
const pagesPerStep = 4096

// copyPages copies page by page. The reading transaction of conn keeps the snapshot as it
// is: nobody waits for the copy, and it never starts over.
func copyPages(ctx context.Context, conn *sql.Conn, path string) error {
	var version int64
	// the transaction begins with its first read
	if err := conn.QueryRowContext(ctx, `PRAGMA schema_version`).Scan(&version); err != nil {
		return err
	}
	return conn.Raw(func(c any) error {
		from, ok := c.(interface {
			NewBackup(uri string) (*modernc.Backup, error)
		})
		if !ok {
			return scrollback.Errorf(scrollback.Internal, "sqlite.Copy", i18n.CannotBeCopied, c)
		}
		b, err := from.NewBackup((&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=rw"}).String())
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if err = ctx.Err(); err == nil {
				more, err = b.Step(pagesPerStep)
			}
		}
		return errors.Join(err, b.Finish())
	})
}
