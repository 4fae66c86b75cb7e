package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// rescueFolder holds what was taken from files that are no longer at their paths.
const rescueFolder = "rescue"

// rescueRetry is how long after a failed rescue another one is tried.
const rescueRetry = 30 * time.Second

// checkFiles compares the open files with their paths. What it finds wrong stays so: what is
// at the path now is another database, or none.
func (w *writer) checkFiles(ctx context.Context) error {
	if err := w.Lost(); err != nil || w.wal == nil {
		return err
	}
	size, err := w.files.checkUnchanged()
	if err == nil && size < w.size {
		err = w.checkShorter(ctx)
	}
	if err == nil {
		err = w.wal.checkLog(func() (int64, error) { return w.countIndexedFrames(ctx) })
	}
	if err == nil {
		w.size = size
	}
	if errors.Is(err, scrollback.ErrDisplaced) {
		w.lost.Store(&err)
		w.onDisplaced()
	}
	return err
}

// countIndexedFrames returns how many frames the index of the log has.
func (w *writer) countIndexedFrames(ctx context.Context) (frames int64, err error) {
	err = w.tx.Query(ctx, func(r sqlstore.Row) error { return r.Scan(new(int64), &frames, new(int64)) },
		`PRAGMA wal_checkpoint(NOOP)`)
	return frames, err
}

// Lost returns why nothing can be written any more, or nil.
func (w *writer) Lost() error {
	if err := w.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// checkShorter returns an error if a database that has become shorter lacks pages: another
// program may have vacuumed it. A connection of its own looks, which remembers none.
func (w *writer) checkShorter(ctx context.Context) error {
	db := sql.OpenDB(&connector{dsn: fileDSN(w.files.path, "ro", 0)})
	var word string
	err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&word)
	if err = errors.Join(err, db.Close()); err == nil && word != "ok" {
		err = errors.New(word)
	}
	if err != nil {
		return displacedError("%s was cut short: %w", w.files.path, err)
	}
	return nil
}

// checkStillOpen is called when something could not be read: it has the writer check the files
// at once, and returns an error if they are no longer those at their paths.
func (w *writer) checkStillOpen() error {
	err := w.Lost()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), checkEvery)
		defer cancel()
		err = w.Write(ctx, func(context.Context, sqlstore.Tx) error { return nil })
	}
	if errors.Is(err, scrollback.ErrDisplaced) {
		return err
	}
	return nil
}

// checkAndRescue checks whether the files are still there, and copies what they hold if they are
// not.
func (w *writer) checkAndRescue(ctx context.Context) {
	if !errors.Is(w.checkFiles(ctx), scrollback.ErrDisplaced) || w.rescued || time.Since(w.rescueTried) < rescueRetry {
		return
	}
	w.rescueTried = time.Now()
	to, err := w.rescueDatabase(ctx)
	w.rescued = err == nil
	if err != nil {
		w.log.Error("what the database still holds could not be rescued", "reason", w.Lost(), "error", err)
		return
	}
	w.log.Error("the database that is open is no longer the one at its path; what could be read of it was copied, and nothing more is written until the program is started again",
		"reason", w.Lost(), "rescue", to)
}

// rescueDatabase copies what the open files hold into a folder of its own, which can be opened
// like any other: in rescue/ beside the database, or, when that folder is gone or nothing can
// be kept in it, in one beside the folder.
func (w *writer) rescueDatabase(ctx context.Context) (string, error) {
	folder := filepath.Dir(w.files.path)
	within := filepath.Join(folder, rescueFolder)
	err := os.Mkdir(within, 0o700) // and not the folder around it
	if err == nil || errors.Is(err, fs.ErrExist) {
		var to string
		if to, err = w.rescueInto(ctx, within); err == nil || ctx.Err() != nil {
			return to, err
		}
	}
	// The folder may be on its way out, with all that is put into it.
	to, again := w.rescueInto(ctx, folder+"-"+rescueFolder)
	if again != nil {
		return "", errors.Join(err, again)
	}
	return to, nil
}

// rescueInto copies what the open files hold into a new folder in another one.
func (w *writer) rescueInto(ctx context.Context, in string) (string, error) {
	at, err := newFolder(in)
	if err != nil {
		return "", err
	}
	to := filepath.Join(at, filepath.Base(w.files.path))
	if err := copyFile(ctx, w.conn, to); err != nil {
		return "", errors.Join(err, removeEmpty(at))
	}
	err = syncFile(to)
	for range 3 {
		err = errors.Join(err, syncFolder(at))
		at = filepath.Dir(at)
	}
	if _, gone := os.Stat(to); gone != nil {
		return "", errors.Join(err, gone)
	}
	return to, err
}

// newFolder makes a folder that is named after the time.
func newFolder(in string) (string, error) {
	if err := os.MkdirAll(in, 0o700); err != nil {
		return "", err
	}
	for {
		at := filepath.Join(in, time.Now().UTC().Format("20060102T150405.000Z"))
		if err := os.Mkdir(at, 0o700); !errors.Is(err, fs.ErrExist) {
			return at, err
		}
	}
}

func removeEmpty(folder string) error {
	if err := os.Remove(folder); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
