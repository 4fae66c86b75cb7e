// Package foreign reads the SQLite databases of other programs: in place, without a lock,
// and without writing a byte to them or beside them.
//
// Words it adds: log (the -wal beside a database, which may hold its newest rows), journal
// (the -journal beside a database, while a change of it is not complete).
//
// Invariants: SQLite is given one virtual file that can only be read: the database with
// the pages of its log laid over it, up to the last commit. It cannot lock, create or delete
// anything. What is read is the state of one moment: if the files changed in a way that
// could mix two states, everything is read again.
//
// It may not know any tool. A database that this process itself has open may not be read
// with it: closing a file gives up the locks that a process has on it.
package foreign

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	"modernc.org/sqlite/vfs"
)

// What can be wrong with a database, for errors.Is.
var (
	ErrNot     = errors.New("not an SQLite database")
	ErrDamaged = errors.New("the database is damaged")
	ErrUnknown = errors.New("the database is of a version that is not known")
	ErrLarge   = fmt.Errorf("a row is larger than %d MB, and is not read", MaxRow>>20)
	ErrBusy    = errors.New("the database is changed faster than it can be read; try again")
)

// MaxRow bounds a value of a row, and the row; SQLite refuses a larger one before it takes memory
// for it.
const MaxRow = 64 << 20

// MaxBytes bounds what one call of [ReadDatabase] may take out of a database.
const MaxBytes = 2 << 30

// How often a database that changes meanwhile is read in place, and then as a copy.
const (
	inPlace = 4
	asCopy  = 2
)

// ReadDatabase calls f with the database at path as it is at one moment. If the database changes
// in a way that disturbs, f is called again: it should only gather what it needs, from the
// beginning, and keep nothing that an earlier call gathered. A file that is not there is
// fs.ErrNotExist, one that may not be read fs.ErrPermission.
func ReadDatabase(ctx context.Context, path string, f func(*DB) error) error {
	for try := range inPlace + asCopy {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try*try) * 10 * time.Millisecond):
			}
		}
		again, err := readOnce(ctx, path, try >= inPlace, f)
		if !again || ctx.Err() != nil {
			return explainError(path, err)
		}
	}
	return explainError(path, ErrBusy)
}

// readOnce reads a database, and reports whether it has to be read again.
func readOnce(ctx context.Context, path string, copied bool, f func(*DB) error) (again bool, err error) {
	if copied {
		copied, done, err := copyDatabase(path)
		if err != nil {
			return errors.Is(err, errMoved), err
		}
		defer done()
		path = copied
	}
	files, err := openFiles(path)
	if err != nil {
		return errors.Is(err, errMoved), err
	}
	defer files.closeAll()
	err = files.serveDatabase(ctx, f)
	return !files.isUnmoved(), err
}

// serveDatabase calls f with the database that files hold.
func (o *databaseFiles) serveDatabase(ctx context.Context, f func(*DB) error) (err error) {
	name, served, err := vfs.New(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, served.Close()) }()
	db, err := sql.Open("sqlite", "file:"+virtual+"?mode=ro&immutable=1&vfs="+name+
		"&_defensive=1&_dqs=0&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=temp_store(MEMORY)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	d := &DB{ctx: ctx, db: db, left: MaxBytes, columns: map[string][]string{}}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&d.version); err != nil {
		return err
	}
	if err := d.readTables(); err != nil {
		return err
	}
	return f(d)
}

// explainError says in words what is wrong with a database.
func explainError(path string, err error) error {
	var code *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the database %s may not be read by this user: %w", path, err)
	case errors.Is(err, ErrNot), errors.Is(err, ErrDamaged), errors.Is(err, ErrBusy):
		return fmt.Errorf("%s: %w", path, err)
	case errors.As(err, &code):
		switch code.Code() & 0xff {
		case sqlite3.SQLITE_TOOBIG:
			return fmt.Errorf("%s: %w", path, ErrLarge)
		case sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%s: %w", path, ErrNot)
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
			return fmt.Errorf("%s: %w (%w)", path, ErrDamaged, err)
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}
