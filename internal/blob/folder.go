package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// folder is a bucket whose objects are files below a folder. The layout is that of gocloud.dev's
// fileblob, which wrote it before. The folder is opened for every call: somebody may have put
// another one in its place, such as a backup.
type folder struct{ dir string }

// OpenFolder opens the bucket in a folder, which has to be there.
func OpenFolder(dir string) (Bucket, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	return folder{dir}, nil
}

// noted ends the names of files beside objects in which fileblob keeps their media type. Nothing
// here writes any, but a folder that another program made may have them.
const noted = ".attrs"

// in calls fn with the folder and the name of an object's file there.
func (f folder) in(key string, fn func(root *os.Root, name string) error) error {
	name := escape(key)
	if strings.HasSuffix(name, noted) {
		return fmt.Errorf("keys do not end in %s: %s", noted, key)
	}
	root, err := os.OpenRoot(f.dir)
	if err == nil {
		err = errors.Join(fn(root, filepath.FromSlash(name)), root.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return err
}

// file reads an object from its file.
type file struct {
	*os.File
	size int64
}

func (f *file) Size() int64       { return f.size }
func (f *file) MediaType() string { return unknownType }

func (f folder) Open(_ context.Context, key string) (Reader, error) {
	opened, err := f.open(key)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (f folder) open(key string) (opened *file, err error) {
	err = f.in(key, func(root *os.Root, name string) (err error) {
		opened, err = openFile(root, name)
		return err
	})
	return opened, err
}

// openFile opens a file for reading. A folder is an object that is missing.
func openFile(root *os.Root, name string) (*file, error) {
	opened, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return &file{opened, info.Size()}, nil
}

// section is a range of a file.
type section struct {
	*io.SectionReader
	io.Closer
}

func (f folder) OpenRange(_ context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	whole, err := f.open(key)
	if err != nil {
		return nil, err
	}
	return section{io.NewSectionReader(whole, offset, length), whole}, nil
}

func (f folder) Attributes(_ context.Context, key string) (Attributes, error) {
	var out Attributes
	err := f.in(key, func(root *os.Root, name string) error {
		info, err := root.Stat(name)
		if err == nil && info.IsDir() {
			err = &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
		}
		if err == nil {
			out = Attributes{Size: info.Size(), ModTime: info.ModTime()}
		}
		return err
	})
	return out, err
}

func (f folder) Write(ctx context.Context, key string, r io.Reader, _ string) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return f.in(key, func(root *os.Root, name string) error {
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		temporary, into, err := createBeside(root, name)
		if err != nil {
			return err
		}
		_, err = io.Copy(into, r)
		err = errors.Join(err, into.Close())
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = root.Rename(temporary, name)
		}
		if err != nil {
			_ = root.Remove(temporary) // what went wrong first is what matters
		}
		return err
	})
}

// createBeside makes a new file next to a file, on the same disk.
func createBeside(root *os.Root, name string) (string, *os.File, error) {
	const attempts = 10_000
	for range attempts {
		temporary := name + "." + strconv.FormatInt(time.Now().UnixNano(), 16) + ".tmp"
		f, err := root.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666) // as other files of the folder are made
		if !errors.Is(err, fs.ErrExist) {
			return temporary, f, err
		}
	}
	return "", nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
}

func (f folder) Delete(_ context.Context, key string) error {
	return f.in(key, func(root *os.Root, name string) error {
		if err := root.Remove(name); err != nil {
			return err
		}
		if err := root.Remove(name + noted); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func (f folder) Close() error { return nil }

func (f folder) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		root, err := os.OpenRoot(f.dir)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Object{}, err)
			return
		}
		defer func() { _ = root.Close() }() // only read
		w := walk{ctx: ctx, root: root, prefix: prefix, yield: yield}
		w.below("", "")
	}
}

// walk lists the objects of a folder.
type walk struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	root   *os.Root
	prefix string
	yield  func(Object, error) bool
}

// entry is a file or a folder, by the key that its name stands for. The keys of folders end in "/",
// so that what is in them is in its place in the order.
type entry struct {
	key, name string
	isDir     bool
}

// below lists what is in the folder of a name, whose key is the beginning of all keys there. It
// reports whether to go on.
func (w *walk) below(name, key string) bool {
	if err := w.ctx.Err(); err != nil {
		return w.yield(Object{}, err) && false
	}
	dir, err := w.root.Open(path.Join(".", name))
	if err != nil {
		return w.skip(err)
	}
	found, err := dir.ReadDir(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return w.skip(err)
	}
	var entries []entry
	for _, e := range found {
		in := entry{key + unescape(e.Name()), path.Join(name, e.Name()), e.IsDir()}
		if in.isDir {
			in.key += "/"
		}
		wanted := strings.HasPrefix(in.key, w.prefix) || in.isDir && strings.HasPrefix(w.prefix, in.key)
		if wanted && (in.isDir || !strings.HasSuffix(in.name, noted)) {
			entries = append(entries, in)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for _, e := range entries {
		if e.isDir {
			if !w.below(e.name, e.key) {
				return false
			}
			continue
		}
		info, err := w.root.Lstat(e.name)
		switch {
		case err != nil:
			if !w.skip(err) {
				return false
			}
		case !w.yield(Object{Key: e.key, Size: info.Size()}, nil):
			return false
		}
	}
	return true
}

// skip goes on past what was removed meanwhile, and past folders that are somebody else's, such as
// the lost+found of a disk. Anything else ends the list.
func (w *walk) skip(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return true
	}
	w.yield(Object{}, err)
	return false
}
