package vault

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Patience is how long one call of the system about a file may take, unless somebody says otherwise.
const Patience = 20 * time.Second

// hanging bounds how many calls may be in the system at a time: those that never return keep their places.
const hanging = 8

// tempPrefix begins the names of files that are still being written.
const tempPrefix = ".part-"

// folder has its objects in files below a folder. The folder is opened for every call: the disk that it is on may go.
type folder struct {
	dir      string
	patience time.Duration
	slots    chan struct{}
}

// NewFolder returns the objects in a folder, which has to be there: one that is missing is unavailable, and not made.
// A call of the system that takes longer than patience is left to itself; with zero that is [Patience].
func NewFolder(dir string, patience time.Duration) (Objects, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	if patience == 0 {
		patience = Patience
	}
	f := &folder{dir: dir, patience: patience, slots: make(chan struct{}, hanging)}
	if err := f.do(context.Background(), func(*os.Root) error { return nil }); err != nil {
		return nil, err
	}
	return f, nil
}

// do runs fn with the folder, away from the caller, who waits only so long. fn must not touch what the caller goes on
// with if it fails.
func (f *folder) do(ctx context.Context, fn func(root *os.Root) error) error {
	timer := time.NewTimer(f.patience)
	defer timer.Stop()
	select {
	case f.slots <- struct{}{}:
	case <-timer.C:
		return f.explain(ErrNotHere)
	case <-ctx.Done():
		return scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	}
	ended := make(chan error, 1)
	go func() {
		defer func() { <-f.slots }()
		root, err := os.OpenRoot(f.dir)
		if err != nil {
			ended <- errNoRoot{err}
			return
		}
		err = fn(root)
		_ = root.Close() // what was written is on the disk already
		ended <- err
	}()
	select {
	case err := <-ended:
		return f.explain(err)
	case <-timer.C:
		return f.explain(ErrNotHere)
	case <-ctx.Done():
		return scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	}
}

// errNoRoot says that the folder itself cannot be opened.
type errNoRoot struct{ error }

// explain gives an error of a call its code.
func (f *folder) explain(err error) error {
	var none errNoRoot
	switch {
	case err == nil:
		return nil
	case errors.As(err, &none) && errors.Is(none.error, fs.ErrNotExist):
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.VaultNoFolder, f.dir)
	case errors.As(err, &none):
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.VaultFolderFails, f.dir, none.error)
	case errors.Is(err, errTooLong):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", blob.ErrMissing, err)
	case errors.Is(err, ErrNotHere):
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.VaultFolderHangs, f.dir).WithReason(ErrNotHere)
	}
	return scrollback.Errorf(scrollback.Unavailable, op, i18n.VaultFolderFails, f.dir, err)
}

func (f *folder) List(ctx context.Context) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		waiting := []string{"."}
		for len(waiting) > 0 {
			dir := waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			files, folders, err := f.listOne(ctx, dir)
			if errors.Is(err, blob.ErrMissing) && dir != "." { // it was removed meanwhile
				continue
			}
			if err != nil {
				yield(Object{}, err)
				return
			}
			waiting = append(waiting, folders...)
			for _, o := range files {
				if !yield(o, nil) {
					return
				}
			}
		}
	}
}

// listOne lists one folder.
func (f *folder) listOne(ctx context.Context, dir string) (files []Object, folders []string, err error) {
	type found struct {
		files   []Object
		folders []string
	}
	result := make(chan found, 1)
	err = f.do(ctx, func(root *os.Root) error {
		opened, err := root.Open(dir)
		if err != nil {
			return closedFolder(dir, err)
		}
		entries, err := opened.ReadDir(-1)
		if err = errors.Join(err, opened.Close()); err != nil {
			return closedFolder(dir, err)
		}
		var out found
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.IsDir() {
				out.folders = append(out.folders, name)
				continue
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			out.files = append(out.files, Object{name, info.Size()})
		}
		result <- out
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	select {
	case out := <-result:
		return out.files, out.folders, nil
	default: // a folder of somebody else's
		return nil, nil, nil
	}
}

// closedFolder makes nothing of a folder that may not be read if it is none of ours, such as the lost+found of a disk.
func closedFolder(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) && dir != "." && !isOurFolder(dir) {
		return nil
	}
	return err
}

func (f *folder) Read(ctx context.Context, key string, limit int64) ([]byte, error) {
	result := make(chan []byte, 1)
	err := f.do(ctx, func(root *os.Root) error {
		file, err := root.Open(filepath.FromSlash(key))
		if err != nil {
			return err
		}
		out, err := readAtMost(file, limit)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
		result <- out
		return nil
	})
	if err != nil {
		return nil, err
	}
	return <-result, nil
}

func (f *folder) Put(ctx context.Context, key string, content []byte) error {
	return f.do(ctx, func(root *os.Root) error {
		name := filepath.FromSlash(key)
		dir := filepath.Dir(name)
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		temp := filepath.Join(dir, tempPrefix+strings.ToLower(rand.Text()))
		defer func() { _ = root.Remove(temp) }() // it has another name by then, or none is wanted
		if err := writeSynced(root, temp, content); err != nil {
			return err
		}
		if err := nameFile(root, temp, name, content); err != nil {
			return err
		}
		if opened, err := root.Open(dir); err == nil {
			_ = opened.Sync() // not every system can do that with a folder
			_ = opened.Close()
		}
		return nil
	})
}

// writeSynced writes a new file that is on the disk when it returns.
func writeSynced(root *os.Root, name string, content []byte) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// nameFile gives a file that was written its name, and never takes the place of one that is there.
func nameFile(root *os.Root, temp, name string, content []byte) error {
	err := root.Link(temp, name)
	if err == nil {
		return nil
	}
	there, readErr := root.ReadFile(name)
	switch {
	case readErr == nil && bytes.Equal(there, content):
		return nil
	case readErr == nil || !errors.Is(readErr, fs.ErrNotExist):
		return fs.ErrExist
	}
	return root.Rename(temp, name) // not every disk has links
}

func (f *folder) Delete(ctx context.Context, key string) error {
	err := f.do(ctx, func(root *os.Root) error { return root.Remove(filepath.FromSlash(key)) })
	if errors.Is(err, blob.ErrMissing) {
		return nil
	}
	return err
}
