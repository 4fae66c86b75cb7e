package backup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// workPrefix begins the names of folders in which backups are made.
const workPrefix = ".scrollback-backup-"

// staleTime is how old such a folder is when the program that made it cannot be at work any more.
const staleTime = 24 * time.Hour

// makeWorkFolder makes a folder for the copy of a database, and removes those that killed programs have left.
func makeWorkFolder(in string) (string, error) {
	left, _ := filepath.Glob(filepath.Join(in, workPrefix+"*")) // the pattern is a good one, or in has odd letters
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && time.Since(info.ModTime()) > staleTime {
			_ = os.RemoveAll(path) // it is in nobody's way
		}
	}
	dir, err := os.MkdirTemp(in, workPrefix)
	return dir, wrapWrite(err)
}

// CreateFile makes a backup as a new file, which only its owner may read. One that exists is conflict.
func (s Store) CreateFile(ctx context.Context, path string) (m Made, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return m, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = scrollback.Errorf(scrollback.Conflict, op, i18n.FileExistsAt, path)
		}
		return m, wrapWrite(err)
	}
	work, err := makeWorkFolder(filepath.Dir(path))
	if err != nil {
		return m, err
	}
	defer func() { _ = os.RemoveAll(work) }() // its name begins with a dot, and the next one removes it
	draft := filepath.Join(work, "backup")
	f, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return m, wrapWrite(err)
	}
	m.BackupContents, err = s.writeEncrypted(ctx, work, f)
	if err == nil {
		err = wrapWrite(f.Sync())
	}
	if info, failed := f.Stat(); failed == nil {
		m.Bytes = info.Size()
	}
	if err = errors.Join(err, wrapWrite(f.Close())); err != nil {
		return m, err
	}
	m.Name = path
	return m, moveNew(draft, path)
}

// moveNew gives a file its name, unless another one has it.
func moveNew(draft, path string) error {
	err := os.Link(draft, path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // not every disk has links
		if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(draft, path)
		} else if err == nil {
			err = fs.ErrExist
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return scrollback.Errorf(scrollback.Conflict, op, i18n.FileExistsAt, path)
	}
	if err == nil {
		err = objects.SyncFile(filepath.Dir(path), filepath.Base(path))
	}
	return wrapWrite(err)
}

// writeEncrypted writes a backup, encrypted if that is wanted. The copy of the database is then made where the
// database is: what it holds must not be readable on the disk that the backup goes to.
func (s Store) writeEncrypted(ctx context.Context, work string, to io.Writer) (c Contents, err error) {
	if !s.Encrypt {
		return s.write(ctx, work, to)
	}
	path, kind, err := s.file()
	if err != nil {
		return c, err
	}
	in := os.TempDir()
	if kind == onSQLite {
		in = filepath.Dir(path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return c, scrollback.Errorf(scrollback.NotFound, op, i18n.NoDatabaseAt, path)
		}
	}
	if work, err = makeWorkFolder(in); err != nil {
		return c, err
	}
	defer func() { _ = os.RemoveAll(work) }() // the next one removes it
	out, err := s.Keys.Encrypt(to)
	if err != nil {
		return c, err
	}
	if c, err = s.write(ctx, work, out); err != nil {
		return c, err
	}
	c.Encrypted = true
	return c, wrapWrite(out.Close())
}

// write writes a backup. Work is a folder for the copy of the database.
func (s Store) write(ctx context.Context, work string, to io.Writer) (c Contents, err error) {
	from, err := s.openObjects(ctx, true)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, from.Bucket.Close()) }()
	if err := from.ProbeStore(ctx, false); err != nil {
		return c, err
	}
	c.Head = Head{Format: Format, Version: Version, MadeAt: time.Now().UnixMilli(), Program: s.Program}
	// The database first: what it names is there by then, and stays.
	copied := filepath.Join(work, databaseEntry)
	if c.Database, err = s.copyDatabase(ctx, copied); err != nil {
		return c, err
	}
	if c.Conversations, c.Messages, err = s.countRows(ctx, copied); err != nil {
		return c, err
	}
	w, err := newWriter(to)
	if err != nil {
		return c, err
	}
	if err := w.addJSON(headEntry, c.Head); err != nil {
		return c, err
	}
	if c.DatabaseBytes, err = w.addFile(databaseEntry, copied); err != nil {
		return c, err
	}
	if err := os.Remove(copied); err != nil {
		return c, wrapWrite(err)
	}
	if err := w.addObjects(ctx, from); err != nil {
		return c, err
	}
	for _, sum := range w.sums {
		if strings.HasPrefix(sum.Name, objectFolder) {
			c.Objects++
			c.ObjectBytes += sum.Size
		}
	}
	return c, w.end()
}

// addFile adds a file, and returns how many bytes it has.
func (w *writer) addFile(name, path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, wrapWrite(err)
	}
	defer func() { _ = f.Close() }() // read-only
	info, err := f.Stat()
	if err != nil {
		return 0, wrapWrite(err)
	}
	return info.Size(), w.add(name, info.Size(), f)
}

// CreateOn makes a backup on a shelf, under a name with its time. Older ones than keep are removed then; 0 keeps all.
func (s Store) CreateOn(ctx context.Context, shelf *Shelf, keep time.Duration) (m Made, err error) {
	for n := 0; ; n++ {
		name := nameAt(time.Now(), n)
		if s.Encrypt {
			name += encryptedSuffix
		}
		m, err = s.createOn(ctx, shelf, name)
		if scrollback.CodeOf(err) != scrollback.Conflict || n == maxSameNames {
			break
		}
	}
	if err == nil && keep > 0 {
		m.Removed, err = shelf.removeOlder(ctx, time.Now().Add(-keep), m.Name)
	}
	return m, err
}

// maxSameNames bounds the attempts to find a free name.
const maxSameNames = 20

func (s Store) createOn(ctx context.Context, shelf *Shelf, name string) (m Made, err error) {
	if shelf.folder != "" {
		m, err = s.CreateFile(ctx, filepath.Join(shelf.folder, name))
		m.Name = name
		return m, err
	}
	switch there, err := blob.Exists(ctx, shelf.store.Bucket, name); {
	case err != nil:
		return m, shelf.store.ExplainError(op, err)
	case there:
		return m, scrollback.Errorf(scrollback.Conflict, op, i18n.FileExistsAt, name)
	}
	work, err := makeWorkFolder(os.TempDir())
	if err != nil {
		return m, err
	}
	defer func() { _ = os.RemoveAll(work) }() // the next one removes it
	r, w := io.Pipe()
	written := make(chan error, 1)
	counted := &countingWriter{w: w}
	go func() {
		var err error
		m.BackupContents, err = s.writeEncrypted(ctx, work, counted)
		w.CloseWithError(err)
		written <- err
	}()
	kind := mediaType
	if s.Encrypt {
		kind = "application/octet-stream"
	}
	err = shelf.store.Bucket.Write(ctx, name, r, kind)
	_ = r.Close() // the writer ends then, if it has not
	if failed := <-written; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return m, failed
	}
	m.Name = name
	m.Bytes = counted.n
	return m, wrapWrite(shelf.store.ExplainError(op, err))
}

const mediaType = "application/zstd"

// countingWriter counts what is written.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
