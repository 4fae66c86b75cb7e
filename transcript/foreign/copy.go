package foreign

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxCopy bounds the databases that are copied.
const maxCopy = 4 << 30

// copyDatabase copies a database and what stands beside it into a folder of its own, which done
// removes. A change that was cut short is taken back in the copy.
func copyDatabase(path string) (copied string, done func(), err error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, err
	}
	before, err := readState(real)
	if err != nil {
		return "", nil, err
	}
	if before.size > maxCopy {
		return "", nil, fmt.Errorf("%w: it is too large for a copy", ErrBusy)
	}
	folder, err := os.MkdirTemp("", "scrollback-foreign-")
	if err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(folder) } // what is left is the system's to clean up
	defer func() {
		if err != nil {
			remove()
		}
	}()
	copied = filepath.Join(folder, "copy.db")
	for _, part := range []string{"", "-wal", "-journal"} {
		if err := copyFile(real+part, copied+part); err != nil && (part == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", nil, err
		}
	}
	if now, err := readState(real); err != nil || !now.isSame(before) || now.journal != before.journal {
		return "", nil, errMoved
	}
	if before.journal {
		if err := rollBackJournal(copied); err != nil {
			return "", nil, err
		}
	}
	return copied, remove, nil
}

// copyFile copies a file.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, 2*maxCopy))
	return errors.Join(err, out.Close())
}

// rollBackJournal lets SQLite undo, in a copy, the change that its journal is about.
func rollBackJournal(copied string) (err error) {
	db, err := sql.Open("sqlite", copied)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var n int
	return db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&n)
}
