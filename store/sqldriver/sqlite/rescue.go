package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// rescueFolder holds what was taken from files that are no longer at their paths.
const rescueFolder = "rescue"

// rescueAgain is how long after a failed rescue another one is tried.
const rescueAgain = 30 * time.Second

// inspect compares the open files with their paths. What it finds wrong stays so: what is
// at the path now is another database, or none.
func (w *writer) inspect(ctx context.Context) error {
	if err := w.Lost(); err != nil {
		return err
	}
	size, err := w.held.same()
	if err == nil && size < w.size {
		size, err = w.judgeShorter(ctx)
	}
	if err == nil {
		w.size = size
	}
	if errors.Is(err, scrollback.ErrDisplaced) {
		w.lost.Store(&err)
		w.displaced()
	}
	return err
}

// Lost is why nothing can be written any more, or nil.
func (w *writer) Lost() error {
	if err := w.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// judgeShorter returns the size of a database that has become shorter if it still holds
// all of its pages: another program may have vacuumed it. Those that are only in the log
// are copied first.
func (w *writer) judgeShorter(ctx context.Context) (int64, error) {
	w.upkeep.measure(ctx, w.tx, `PRAGMA wal_checkpoint(PASSIVE)`)
	var pages, size int64
	err := w.conn.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&pages)
	if err == nil {
		err = w.conn.QueryRowContext(ctx, `PRAGMA page_size`).Scan(&size)
	}
	if err != nil {
		return 0, displaced("%s was cut short: %w", w.held.path, err)
	}
	now, err := w.held.same()
	if err == nil && (pages == 0 || now < pages*size) {
		err = displaced("%s was cut short", w.held.path)
	}
	return now, err
}

// watch looks whether the files are still there, and copies what they hold if they are
// not.
func (w *writer) watch(ctx context.Context) {
	if !errors.Is(w.inspect(ctx), scrollback.ErrDisplaced) || w.rescued || time.Since(w.tried) < rescueAgain {
		return
	}
	w.tried = time.Now()
	to, err := w.rescue(ctx)
	w.rescued = err == nil
	if err != nil {
		w.log.Error("what the database still holds could not be rescued", "reason", w.Lost(), "error", err)
		return
	}
	w.log.Error("the database is no longer at its path; what it held was rescued, and nothing more is written until the program is started again",
		"reason", w.Lost(), "rescue", to)
}

// rescue copies what the open files hold into a folder of its own, which can be opened
// like any other: in rescue/ beside the database, or, when that folder is gone, in one
// beside the folder.
func (w *writer) rescue(ctx context.Context) (string, error) {
	folder := filepath.Dir(w.held.path)
	at := filepath.Join(folder, rescueFolder)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		at = folder + "-" + rescueFolder
	}
	at, err := newFolder(at)
	if err != nil {
		return "", err
	}
	to := filepath.Join(at, filepath.Base(w.held.path))
	if err := copyFile(ctx, w.conn, to); err != nil {
		return "", errors.Join(err, removeEmpty(at))
	}
	return to, errors.Join(syncFile(to), syncFolder(at), syncFolder(filepath.Dir(at)), syncFolder(filepath.Dir(filepath.Dir(at))))
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
