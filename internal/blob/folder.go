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

// folderBucket is a bucket whose objects are files below a folder. The layout is that of gocloud.dev's
// fileblob, which wrote it before. The folder is opened for every call: somebody may have put
// another one in its place, such as a backup.
type folderBucket struct{ dir string }

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
	return folderBucket{dir}, nil
}

// notedPrefix ends the names of files beside objects in which fileblob keeps their media type. Nothing
// here writes any, but a folder that another program made may have them.
const notedPrefix = ".attrs"

// withFile calls fn with the folder and the name of an object's file there.
func (f folderBucket) withFile(key string, fn func(root *os.Root, name string) error) error {
	name := escapeKey(key)
	if strings.HasSuffix(name, notedPrefix) {
		return fmt.Errorf("keys do not end in %s: %s", notedPrefix, key)
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

func (f folderBucket) Open(_ context.Context, key string) (Reader, error) {
	opened, err := f.openFile(key)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (f folderBucket) openFile(key string) (opened *file, err error) {
	err = f.withFile(key, func(root *os.Root, name string) (err error) {
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

// fileSection is a range of a file.
type fileSection struct {
	*io.SectionReader
	io.Closer
}

func (f folderBucket) OpenRange(_ context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	whole, err := f.openFile(key)
	if err != nil {
		return nil, err
	}
	return fileSection{io.NewSectionReader(whole, offset, length), whole}, nil
}

func (f folderBucket) Attributes(_ context.Context, key string) (Attributes, error) {
	var out Attributes
	err := f.withFile(key, func(root *os.Root, name string) error {
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

func (f folderBucket) Write(ctx context.Context, key string, r io.Reader, _ string) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return f.withFile(key, func(root *os.Root, name string) error {
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

func (f folderBucket) Delete(_ context.Context, key string) error {
	return f.withFile(key, func(root *os.Root, name string) error {
		if err := root.Remove(name); err != nil {
			return err
		}
		if err := root.Remove(name + notedPrefix); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func (f folderBucket) Close() error { return nil }

func (f folderBucket) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
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
		w := folderWalk{ctx: ctx, root: root, prefix: prefix, yield: yield}
		w.walkFolder("", "")
	}
}

// folderWalk lists the objects of a folder.
type folderWalk struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call
	root   *os.Root
	prefix string
	yield  func(Object, error) bool
}

// walkEntry is a file or a folder, by the key that its name stands for. The keys of folders end in "/",
// so that what is in them is in its place in the order.
type walkEntry struct {
	key, name string
	isDir     bool
}

// walkFolder lists what is in the folder of a name, whose key is the beginning of all keys there. It
// reports whether to go on.
func (w *folderWalk) walkFolder(name, key string) bool {
	if err := w.ctx.Err(); err != nil {
		return w.yield(Object{}, err) && false
	}
	dir, err := w.root.Open(path.Join(".", name))
	if err != nil {
		return w.skipError(err)
	}
	found, err := dir.ReadDir(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return w.skipError(err)
	}
	var entries []walkEntry
	for _, e := range found {
		in := walkEntry{key + unescapeName(e.Name()), path.Join(name, e.Name()), e.IsDir()}
		if in.isDir {
			in.key += "/"
		}
		wanted := strings.HasPrefix(in.key, w.prefix) || in.isDir && strings.HasPrefix(w.prefix, in.key)
		if wanted && (in.isDir || !strings.HasSuffix(in.name, notedPrefix)) {
			entries = append(entries, in)
		}
	}
	slices.SortFunc(entries, func(a, b walkEntry) int { return strings.Compare(a.key, b.key) })
	for _, e := range entries {
		if e.isDir {
			if !w.walkFolder(e.name, e.key) {
				return false
			}
			continue
		}
		info, err := w.root.Lstat(e.name)
		switch {
		case err != nil:
			if !w.skipError(err) {
				return false
			}
		case !w.yield(Object{Key: e.key, Size: info.Size()}, nil):
			return false
		}
	}
	return true
}

// skipError goes on past what was removed meanwhile, and past folders that are somebody else's, such as
// the lost+found of a disk. Anything else ends the list.
func (w *folderWalk) skipError(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return true
	}
	w.yield(Object{}, err)
	return false
}
