package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
)

// WriteFile replaces a file within the roots, or makes it in a folder that is there:
// whatever happens, it holds either what it held or the whole content. A name means what
// it does to Open; where nothing has it, it is that of a new file. A link within the roots
// stays and the file it leads to is replaced. Its errors are Refused outside the roots,
// Invalid for what is not a file, NotFound without the folder, or those of the system.
func (f *Folders) WriteFile(name string, content []byte) error {
	at, err := f.target(name)
	if err == nil {
		err = f.replace(at, content)
	}
	const op = "workspace.WriteFile"
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrOutside), errors.Is(err, ErrNoFolder):
		return refused(op, name)
	case errors.Is(err, ErrIrregular):
		return scrollback.ParamErrorf(op, "path", "%s is not a regular file", name)
	case errors.Is(err, ErrMissing):
		return scrollback.Errorf(scrollback.NotFound, op, "%s: no such folder", path.Dir(filepath.ToSlash(name)))
	}
	return fmt.Errorf("%s cannot be written: %w", name, err)
}

// target is where a name is written to: the first place where it is there, else the first
// one in a root that can be read. No link is left in it.
func (f *Folders) target(name string) (spot, error) {
	spots, err := f.spots(name, "")
	if err != nil {
		return spot{}, err
	}
	var fresh *spot
	for _, at := range spots {
		root := f.roots[at.root].dir
		if root == nil {
			continue
		}
		real, ok := f.follow(at)
		if !ok {
			return spot{}, ErrOutside
		}
		info, err := f.roots[real.root].dir.Stat(filepath.FromSlash(real.path))
		switch {
		case err == nil && !info.Mode().IsRegular():
			return spot{}, ErrIrregular
		case err == nil:
			return real, nil
		case !errors.Is(plain(err), ErrMissing):
			return spot{}, plain(err)
		case fresh == nil:
			fresh = &real
		}
	}
	if fresh == nil {
		return spot{}, ErrMissing
	}
	return *fresh, nil
}

// replace writes a file under another name beside it, which then takes its place.
func (f *Folders) replace(at spot, content []byte) (err error) {
	root, name := f.roots[at.root].dir, filepath.FromSlash(at.path)
	mode := fs.FileMode(0o666) // less what the process takes away
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm()
		// A file that must not be written to must not be replaced either.
		old, err := root.OpenFile(name, os.O_WRONLY|noWait, 0)
		if err != nil {
			return plain(err)
		}
		_ = old.Close() // nothing was written to it
	}
	temp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.tmp", rand.Text()))
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return plain(err)
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	folder, err := root.Open(filepath.Dir(name))
	if err != nil {
		return nil // it is written; a folder that cannot be opened cannot be synced
	}
	defer folder.Close()
	_ = folder.Sync() // some systems cannot sync folders
	return nil
}
