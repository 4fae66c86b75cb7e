package clients

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
)

// standIn is a folder in place of a person's own, for programs whose settings nothing else can change: one file in it
// is another, all else is links to what is in the person's.
type standIn struct {
	folder, of string
	file       string // the one that is another
}

// standIn makes a stand-in of the folder name in home, in which file has another content, and returns what stands for
// home.
func (l *Launch) standIn(home, name, file string, content []byte) (string, error) {
	const op = "clients"
	if err := l.makeFolder(); err != nil {
		return "", err
	}
	s := &standIn{folder: filepath.Join(l.Folder, name), of: filepath.Join(home, name), file: file}
	if err := os.Mkdir(s.folder, 0o700); err != nil {
		return "", scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	entries, err := os.ReadDir(s.of)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		if e.Name() != file && err == nil {
			err = os.Symlink(filepath.Join(s.of, e.Name()), filepath.Join(s.folder, e.Name()))
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.folder, file), content, 0o600)
	}
	l.stands = s
	return l.Folder, scrollback.Wrap(scrollback.Unavailable, op, err)
}

// bringBack puts what the program has made in the stand-in into the person's folder: new files and folders, and files
// that it wrote in place of a link.
func (s *standIn) bringBack() error {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == s.file || e.Type()&fs.ModeSymlink != 0 {
			continue
		}
		if err := os.MkdirAll(s.of, 0o700); err != nil {
			return err
		}
		if err := copyTree(filepath.Join(s.folder, e.Name()), filepath.Join(s.of, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a file, or a folder with what is in it, over what is there. What is neither is left out.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, inside)
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case !info.Mode().IsRegular():
			return nil
		}
		return copyFile(name, target, info.Mode().Perm())
	})
}

// copyFile copies a file. Nobody sees half of it: it is written beside its place, and moved there.
func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), ".scrollback-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(mode), out.Close()); err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		_ = os.Remove(out.Name()) // the first error counts
	}
	return err
}
