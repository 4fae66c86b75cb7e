package sqlite

import (
	"context"
	"database/sql"
	sqlfault "database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"syscall"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// ErrUnwritable is the reason of an error about a database that exists and cannot be
// opened for writing, because it or its folder may only be read.
var ErrUnwritable = errors.New("it may only be read")

// markUnwritable adds the reason to an error that has it.
func markUnwritable(err error) error {
	var known *scrollback.Error
	var code *modernc.Error
	refused := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if errors.As(err, &code) {
		switch code.Code() & 0xff {
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
			refused = true
		}
	}
	if refused && errors.As(err, &known) && known.Reason == nil {
		return known.WithReason(ErrUnwritable)
	}
	return err
}

// immutable is the mode of a file that no program has open.
const immutable = "immutable"

// OpenReadOnly opens the file at path for reading only. It makes nothing, writes nothing
// and works while other programs write, and in a folder that may only be read. A missing
// or empty file is not_found; one that is not ours, or of another version than this
// program writes, is refused.
func OpenReadOnly(ctx context.Context, path string) (*driver.Driver, error) {
	return openReadOnly(ctx, &readOnlyConnector{path: path, wait: busyTimeout})
}

// OpenReadOnlyAtOnce is OpenReadOnly for who cannot wait: what another program has locked is unavailable at once.
func OpenReadOnlyAtOnce(ctx context.Context, path string) (*driver.Driver, error) {
	return openReadOnly(ctx, &readOnlyConnector{path: path})
}

func openReadOnly(ctx context.Context, at *readOnlyConnector) (*driver.Driver, error) {
	path := at.path
	const op = "sqlite.OpenReadOnly"
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.NoDatabaseAt, path)
	}
	if err := checkReadable(path); err != nil {
		return nil, scrollback.Errorf(scrollback.Unavailable, op,
			i18n.DatabaseMayNotBeRead, path)
	}
	var unchanged func() error
	if at.isUnused() {
		unchanged = at.checkStillUnused
	}
	db := sql.OpenDB(at)
	s, err := readSchema(ctx, db, path)
	if err == nil && s.ours && s.version < s.newest {
		err = olderFileError(ctx, db, path, s)
	}
	switch {
	case err != nil && errors.Is(markUnwritable(scrollback.Wrap(classifyError(err), op, err)), ErrUnwritable):
		err = scrollback.Errorf(scrollback.Unavailable, op,
			i18n.WriteAheadLogNotReadIn, path, err)
	case err != nil && scrollback.CodeOf(scrollback.Wrap(classifyError(err), op, err)) == scrollback.Internal:
		err = scrollback.Errorf(scrollback.Internal, op,
			i18n.DatabaseDamagedBeyondReading, path, err)
	case err != nil:
		err = scrollback.Wrap(classifyError(err), op, err)
	case !s.ours || s.version == 0:
		err = nothingYetError(path)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return sqlstore.New(sqlstore.Database{Dialect: dialect, Readers: newReaders(db), Copy: newCopier(db),
		Unchanged: unchanged}), nil
}

// checkReadable returns why a file may not be read, if its rights or its folder's forbid that: what
// SQLite says then is the same as for a log that is missing.
func checkReadable(path string) error {
	file, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return err
	case err != nil:
		return nil // SQLite says what is wrong
	}
	return file.Close()
}

func nothingYetError(path string) error {
	return scrollback.Errorf(scrollback.NotFound, "sqlite.OpenReadOnly", i18n.NothingInDatabaseAtYet,
		path)
}

// olderFileError returns the error for a file with fewer migrations than this program has: one that
// holds something, or one whose making was cut short.
func olderFileError(ctx context.Context, db *sql.DB, path string, s schema) error {
	var kept int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'conversations'`).Scan(&kept)
	if err == nil && kept > 0 {
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM conversations LIMIT 1)`).Scan(&kept)
	}
	switch {
	case err != nil:
		return err
	case kept == 0:
		return nothingYetError(path)
	}
	return scrollback.Errorf(scrollback.Refused, "sqlite.OpenReadOnly",
		i18n.DatabaseTooOld, s.version, s.newest)
}

// readOnlyConnector opens connections that only read. SQLite keeps a log beside a database that
// some program has open, and to read one without, it would make it: a database that
// nobody has open is read without locks. When somebody begins to write, or puts another
// file there, connections are opened again.
type readOnlyConnector struct {
	path string
	wait int // for locks, in ms
}

// isUnused reports that no program has the database open, as far as its files show.
func (v *readOnlyConnector) isUnused() bool {
	if info, err := os.Stat(v.path + "-journal"); err == nil && info.Size() > 0 {
		return false
	}
	log, err := os.Stat(v.path + "-wal")
	_, indexed := os.Stat(v.path + "-shm")
	return err != nil || log.Size() == 0 && indexed != nil
}

// checkStillUnused returns an error if a log that did not exist when reading began has appeared.
func (v *readOnlyConnector) checkStillUnused() error {
	if v.isUnused() {
		return nil
	}
	return scrollback.Errorf(scrollback.Conflict, "sqlite.Audit",
		i18n.AnotherProgramWroteMeanwhile)
}

// Connect implements [sqlfault.Connector].
func (v *readOnlyConnector) Connect(context.Context) (sqlfault.Conn, error) {
	file, err := os.Stat(v.path)
	if err != nil {
		return nil, err
	}
	quiet := v.isUnused()
	mode := "ro"
	if quiet {
		mode = immutable
	}
	conn, err := v.Driver().Open(fileDSNWaiting(v.path, mode, 0, v.wait))
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(driverConn)
	if !ok {
		return nil, errors.Join(scrollback.Errorf(scrollback.Internal, "sqlite", i18n.DriverLacksMethods, conn), conn.Close())
	}
	return &readOnlyConn{driverConn: whole, connector: v, file: file, unused: quiet}, nil
}

// Driver implements [sqlfault.Connector].
func (*readOnlyConnector) Driver() sqlfault.Driver { return &modernc.Driver{} }

// driverConn is what is used of the library's.
type driverConn interface {
	sqlfault.Conn
	sqlfault.ConnBeginTx
	sqlfault.ConnPrepareContext
	sqlfault.ExecerContext
	sqlfault.QueryerContext
	sqlfault.SessionResetter
	sqlfault.Validator
	NewBackup(uri string) (*modernc.Backup, error)
}

// readOnlyConn is a connection that is given up when what it was opened on has changed.
type readOnlyConn struct {
	driverConn
	connector *readOnlyConnector
	file      os.FileInfo
	unused    bool
}

// ResetSession implements [sqlfault.SessionResetter].
func (c *readOnlyConn) ResetSession(ctx context.Context) error {
	now, err := os.Stat(c.connector.path)
	switch {
	case err != nil, !os.SameFile(now, c.file):
		return sqlfault.ErrBadConn
	case c.unused && (!c.connector.isUnused() || now.Size() != c.file.Size() || !now.ModTime().Equal(c.file.ModTime())):
		return sqlfault.ErrBadConn
	}
	return c.driverConn.ResetSession(ctx)
}
