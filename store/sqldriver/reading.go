package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"

	"github.com/scrollback-ai/scrollback"
)

// immutable is the mode of a file that no program has open.
const immutable = "immutable"

// ReadSQLite opens the file at path for reading only. It makes nothing, writes
// nothing and works while other programs write. A missing file, or one without
// anything, is not_found; one that is not ours, or of another version than this
// program writes, is refused.
func ReadSQLite(ctx context.Context, path string) (*DB, error) {
	const op = "sqldriver.ReadSQLite"
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, scrollback.Errorf(scrollback.NotFound, op, "there is no database at %s", path)
	}
	// SQLite keeps a log beside a database that some program has open; to read one
	// without, it would make it. One that nobody has open need not be locked.
	mode, still := immutable, path+"-wal"
	for _, name := range []string{path + "-wal", path + "-journal"} {
		if _, err := os.Stat(name); err == nil {
			mode, still = "ro", ""
		}
	}
	d := sqliteDialect
	db, err := sql.Open("sqlite", sqliteDSN(path, mode, 0))
	if err != nil {
		return nil, scrollback.Wrap(d.classify(err), op, err)
	}
	s, err := readSchema(ctx, db, path)
	switch {
	case err != nil:
		err = scrollback.Wrap(d.classify(err), op, err)
	case !s.ours || s.have == 0:
		err = scrollback.Errorf(scrollback.NotFound, op, "there is nothing in the database at %s yet", path)
	case s.have < s.newest:
		err = scrollback.Errorf(scrollback.Refused, op,
			"the database was written by an older scrollback (schema %d, this program's is %d); any command that writes brings it up to date", s.have, s.newest)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &DB{dialect: d, readers: db, read: newSession(db), still: still}, nil
}

// unchanged says that what was read without locks was not written meanwhile.
func (db *DB) unchanged(op string) error {
	if db.still == "" {
		return nil
	}
	if _, err := os.Stat(db.still); err == nil {
		return scrollback.Errorf(scrollback.Conflict, op, "another program began to write while the database was read; run it again")
	}
	return nil
}
