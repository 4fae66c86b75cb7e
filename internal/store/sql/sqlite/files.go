package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"

	modernc "modernc.org/sqlite"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// fileSuffixes are the files of an open database, behind its own name: itself, its log and the
// index of the log. They stay the same files as long as one connection is open.
var fileSuffixes = [...]string{"", "-wal", "-shm"}

// openFiles are the files that a database has open. It compares them with what is at their
// paths by the identity that the system gives to files, and never opens one: closing a file
// gives up every lock that the process has on it.
type openFiles struct {
	path  string
	files [len(fileSuffixes)]os.FileInfo
}

// statOpenFiles records the files of a database that some connection of this process has open.
func statOpenFiles(path string) (h openFiles, err error) {
	h.path = path
	for i, part := range fileSuffixes {
		info, err := os.Stat(path + part)
		if err != nil {
			return h, err
		}
		h.files[i] = info
	}
	return h, nil
}

// checkUnchanged returns how long the database is, and an error if a file is no longer the one at
// its path.
func (h *openFiles) checkUnchanged() (size int64, err error) {
	for i, part := range fileSuffixes {
		info, err := os.Stat(h.path + part)
		switch {
		case err == nil && !os.SameFile(info, h.files[i]):
			return 0, displacedError("%s was replaced by another file", h.path+part)
		case err != nil && isMissing(h.path+part):
			return 0, displacedError("%s was deleted", h.path+part)
		case err != nil:
			return 0, scrollback.Errorf(scrollback.Unavailable, "sqlite", i18n.DatabaseCannotBeReached, err)
		case i == 0 && info.Size() == 0:
			// A connection to an empty file would delete the log beside it.
			return 0, displacedError("%s was emptied", h.path)
		case i == 0:
			size = info.Size()
		}
	}
	return size, nil
}

// isMissing reports whether a file is missing, and not only out of reach: the folder that would
// hold it is there, or missing too.
func isMissing(path string) bool {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	folder, err := os.Stat(filepath.Dir(path))
	return err == nil && !folder.IsDir()
}

func displacedError(format scrollback.TextID, args ...any) error {
	return scrollback.Errorf(scrollback.Unavailable, "sqlite", format, args...).WithReason(scrollback.ErrDisplaced)
}

// connector opens connections to one file, and none when something else is at its path.
// A nil allow allows all.
type connector struct {
	dsn   string
	allow func() error
}

// Connect implements [driver.Connector].
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	allow := c.allow
	if allow == nil {
		allow = func() error { return nil }
	}
	if err := allow(); err != nil {
		return nil, err
	}
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if err := allow(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements [driver.Connector].
func (*connector) Driver() driver.Driver { return &modernc.Driver{} }
