package backup

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/identity"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// Shelf is a folder or a bucket with backups.
type Shelf struct {
	folder string         // empty for a bucket
	store  *objects.Store // nil for a folder
}

// IsShelf reports whether a place that a person names is a shelf: a folder that is there, a path that ends in a
// separator, or a URL.
func IsShelf(at string) bool {
	if strings.Contains(at, "://") || strings.HasSuffix(at, "/") || strings.HasSuffix(at, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(at)
	return err == nil && info.IsDir()
}

// OpenShelf opens a shelf. A folder has to be there.
func OpenShelf(ctx context.Context, at string) (*Shelf, error) {
	u, err := url.Parse(at)
	if strings.Contains(at, "://") && (err != nil || u.Scheme != "file") {
		place, err := objects.ParsePlace("", at, cloud.Buckets())
		if err != nil {
			return nil, err
		}
		if place.IsMemory() {
			return nil, scrollback.ParamErrorf(op, "to", i18n.ObjectsIsURL)
		}
		s, err := objects.Open(ctx, place, false)
		return &Shelf{store: s}, err
	}
	folder := at
	if strings.Contains(at, "://") {
		folder = filepath.FromSlash(u.Path)
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	switch info, err := os.Stat(folder); {
	case errors.Is(err, os.ErrNotExist):
		return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.NoBackupFolder, folder)
	case err != nil:
		return nil, wrapWrite(err)
	case !info.IsDir():
		return nil, scrollback.ParamErrorf(op, "to", i18n.NoBackupFolder, folder)
	}
	return &Shelf{folder: folder}, nil
}

// Close ends the use of a shelf.
func (s *Shelf) Close() error {
	if s.store == nil {
		return nil
	}
	return s.store.Bucket.Close()
}

// The ends of the names of backups.
const (
	suffix          = ".backup"
	encryptedSuffix = ".age"
)

const nameTime = "20060102T150405Z"

// names are those of backups on shelves.
var names = lazyregexp.New(`^scrollback-(\d{8}T\d{6}Z)(?:-\d{1,2})?\.backup(\.age)?$`)

// nameAt returns the name of a backup, the nth of its second.
func nameAt(at time.Time, n int) string {
	name := "scrollback-" + at.UTC().Format(nameTime)
	if n > 0 {
		name += "-" + string(rune('0'+n/10)) + string(rune('0'+n%10))
	}
	return name + suffix
}

// List returns the backups of a shelf, newest first.
func (s *Shelf) List(ctx context.Context) (out []Entry, err error) {
	add := func(name string, size int64) {
		found := names().FindStringSubmatch(name)
		if found == nil {
			return
		}
		if at, err := time.Parse(nameTime, found[1]); err == nil {
			out = append(out, Entry{Name: name, Bytes: size, MadeAt: at.UnixMilli(), Encrypted: found[2] != ""})
		}
	}
	if s.folder == "" {
		for o, err := range s.store.Bucket.List(ctx, "") {
			if err != nil {
				return nil, s.store.ExplainError(op, err)
			}
			add(o.Key, o.Size)
		}
	} else {
		all, err := os.ReadDir(s.folder)
		if err != nil {
			return nil, wrapWrite(err)
		}
		for _, e := range all {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				add(e.Name(), info.Size())
			}
		}
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return strings.Compare(stem(b.Name), stem(a.Name))
	})
	return out, nil
}

// stem returns a name without its ends, which has the order of times.
func stem(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, encryptedSuffix), suffix)
}

// removeOlder removes backups that were made before a time, but for one.
func (s *Shelf) removeOlder(ctx context.Context, before time.Time, but string) (removed []string, err error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.Name == but || e.MadeAt >= before.UnixMilli() {
			continue
		}
		if s.folder == "" {
			err = s.store.ExplainError(op, s.store.Bucket.Delete(ctx, e.Name))
		} else {
			err = wrapWrite(os.Remove(filepath.Join(s.folder, e.Name)))
		}
		if err != nil {
			return removed, err
		}
		removed = append(removed, e.Name)
	}
	return removed, nil
}

// Verify reads a backup of the shelf to its end. What is not the name of one is not found.
func (s *Shelf) Verify(ctx context.Context, name string, keys identity.Keys) (c Contents, err error) {
	if !names().MatchString(name) {
		return c, scrollback.Errorf(scrollback.NotFound, op, i18n.NoBackupAt, name)
	}
	r, err := s.open(ctx, name)
	if err != nil {
		return c, err
	}
	defer func() { _ = r.Close() }() // it was read
	if c, err = read(contextReader{ctx, r}, keys, nil); err != nil && ctx.Err() != nil {
		err = scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	}
	return c, err
}

// open opens a backup of the shelf.
func (s *Shelf) open(ctx context.Context, name string) (io.ReadCloser, error) {
	if s.store == nil {
		f, err := os.Open(filepath.Join(s.folder, name))
		if errors.Is(err, os.ErrNotExist) {
			err = scrollback.Errorf(scrollback.NotFound, op, i18n.NoBackupAt, name)
		}
		return f, wrapWrite(err)
	}
	r, err := s.store.Bucket.Open(ctx, name)
	if err != nil {
		return nil, s.store.ExplainError(op, err)
	}
	return r, nil
}

// Open opens a backup to be read: a file, or an object by its URL.
func Open(ctx context.Context, at string) (io.ReadCloser, error) {
	u, err := url.Parse(at)
	if !strings.Contains(at, "://") || err == nil && u.Scheme == "file" {
		if strings.Contains(at, "://") {
			at = filepath.FromSlash(u.Path)
		}
		f, err := os.Open(at)
		switch info, statErr := os.Stat(at); {
		case errors.Is(err, os.ErrNotExist):
			return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.NoBackupAt, at)
		case err == nil && statErr == nil && info.IsDir():
			_ = f.Close() // it is a folder
			return nil, scrollback.ParamErrorf(op, "file", i18n.IsFolder, at)
		}
		return f, wrapWrite(err)
	}
	if err != nil {
		return nil, scrollback.ParamErrorf(op, "file", i18n.ObjectsIsURL)
	}
	name := path.Base(u.Path)
	u.Path = path.Dir(u.Path)
	shelf, err := OpenShelf(ctx, u.String())
	if err != nil {
		return nil, err
	}
	r, err := shelf.store.Bucket.Open(ctx, name)
	if err != nil {
		return nil, errors.Join(shelf.store.ExplainError(op, err), shelf.Close())
	}
	return shelfReader{r, shelf}, nil
}

// shelfReader reads an object, and ends the use of its shelf.
type shelfReader struct {
	io.ReadCloser
	shelf *Shelf
}

func (r shelfReader) Close() error { return errors.Join(r.ReadCloser.Close(), r.shelf.Close()) }
