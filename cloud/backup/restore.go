package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/identity"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// Verify reads a backup to its end and compares all of it with its sums. An encrypted one is opened with keys.
func Verify(ctx context.Context, at string, keys identity.Keys) (c Contents, err error) {
	err = withOpen(ctx, at, func(r io.Reader) error {
		c, err = read(r, keys, nil)
		return err
	})
	return c, err
}

// withOpen opens a backup, which is read until ctx ends.
func withOpen(ctx context.Context, at string, fn func(r io.Reader) error) error {
	r, err := Open(ctx, at)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was read
	err = fn(contextReader{ctx, r})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// contextReader reads until a context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// Restore puts what a backup has where there is nothing yet; a store that holds something is conflict. All of the file
// is checked before anything is written.
func (s Store) Restore(ctx context.Context, at string) (c Contents, err error) {
	path, kind, err := s.file()
	if err != nil {
		return c, err
	}
	if kind == onSQLite {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return c, wrapWrite(err)
		}
	}
	if err := s.checkEmpty(ctx, path); err != nil {
		return c, err
	}
	if _, err := Verify(ctx, at, s.Keys); err != nil {
		return c, err
	}
	to, err := s.openObjects(ctx, false)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, to.Bucket.Close()) }()
	if err := to.ProbeStore(ctx, true); err != nil {
		return c, err
	}
	in := os.TempDir()
	if kind == onSQLite {
		in = filepath.Dir(path) // the file gets its name there
	}
	work, err := makeWorkFolder(in)
	if err != nil {
		return c, err
	}
	defer func() { _ = os.RemoveAll(work) }() // the next one removes it
	draft := filepath.Join(work, databaseEntry)
	err = withOpen(ctx, at, func(r io.Reader) error {
		c, err = read(r, s.Keys, func(key string, size int64, r io.Reader) error {
			if key == "" {
				return writeFile(draft, r)
			}
			return putObject(ctx, to, key, r)
		})
		return err
	})
	if err != nil {
		return c, err
	}
	// A newer program's is refused here, an older one's brought up to date.
	if _, _, err := s.countRows(ctx, draft); err != nil {
		return c, err
	}
	return c, s.place(ctx, draft, path)
}

// putObject writes an object. What is there under its name has the same bytes, or was cut short.
func putObject(ctx context.Context, to *objects.Store, key string, r io.Reader) error {
	if err := to.Bucket.Write(ctx, key, r, ""); err != nil {
		return wrapWrite(to.ExplainError(op, err))
	}
	if to.Durable == nil {
		return nil
	}
	return wrapWrite(to.Durable(key))
}

func writeFile(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return wrapWrite(err)
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	return wrapWrite(errors.Join(err, f.Close()))
}

// openTarget opens the database that is restored to.
func (s Store) openTarget(ctx context.Context, path string) (*move.Side, error) {
	if path == "" {
		return postgres.OpenSide(ctx, s.Database, onPostgres, &postgres.Options{Log: s.log()})
	}
	return sqlite.OpenSide(ctx, path, path, &sqlite.Options{Log: s.log()})
}

// checkEmpty returns conflict if there is something in the store.
func (s Store) checkEmpty(ctx context.Context, path string) error {
	if path != "" {
		if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
			return nil
		}
	}
	side, err := s.openTarget(ctx, path)
	if err != nil {
		return err
	}
	err = side.CheckEmpty(ctx)
	if scrollback.CodeOf(err) == scrollback.Refused {
		err = scrollback.Errorf(scrollback.Conflict, op, i18n.RestoreIntoFilledStore)
	}
	return errors.Join(err, side.Close())
}

// place gives a database its place. Where nothing is yet, it becomes the file; else it is copied into what is there,
// which others may have open.
func (s Store) place(ctx context.Context, draft, path string) (err error) {
	if path != "" {
		placed, err := placeFile(draft, path)
		if err != nil || placed {
			return err
		}
	}
	from, err := sqlite.OpenSide(ctx, draft, draft, &sqlite.Options{Log: s.log()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := s.openTarget(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	_, err = move.CopyWhole(ctx, from, to, nil)
	return err
}

// placeFile gives a file the name of a database, unless there is one. Programs that make one hold the same lock.
func placeFile(draft, path string) (placed bool, err error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err == nil && !held {
		err = fmt.Errorf("%s.lock is held", path)
	}
	if err != nil {
		return false, scrollback.Errorf(scrollback.Unavailable, op, i18n.DatabaseCannotBeLocked, err)
	}
	defer func() { _ = lock.Unlock() }() // it is closed
	if info, err := os.Lstat(path); err == nil && info.Size() > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, wrapWrite(err)
	}
	if err := os.Rename(draft, path); err != nil {
		return false, wrapWrite(err)
	}
	return true, wrapWrite(objects.SyncFile(filepath.Dir(path), filepath.Base(path)))
}
