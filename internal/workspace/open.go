package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// File is a regular file or a folder within the roots, open for reading.
type File struct {
	Source string // how it is named: its path, behind its root's name where there are several
	Folder string // the absolute path of the folder it is in, or of the folder itself
	Size   int64  // bytes of a file
	Dir    bool

	file *os.File
	root *os.Root
	path string
}

// Open opens what a name means: a path relative to a root, one that begins with the name
// of a root, an absolute one or a file: URI inside a root, or one relative to near, the
// absolute path of a folder, if that is not empty. Its errors are ErrNoFolder,
// ErrOutside, ErrMissing, ErrIrregular, or say that it is not readable.
func (f *Folders) Open(name, near string) (*File, error) {
	spots, err := f.findSpots(name, near)
	if err != nil {
		return nil, err
	}
	// What is said in the end is what went wrong where there was something.
	err = ErrMissing
	for _, at := range spots {
		for _, form := range unicodeForms(at.path) {
			file, openErr := f.openSpot(rootPath{at.root, form})
			if openErr == nil {
				return file, nil
			}
			if errors.Is(err, ErrMissing) {
				err = openErr
			}
		}
	}
	return nil, err
}

// openSpot opens one place, and where its links leave its root the place they lead to.
func (f *Folders) openSpot(at rootPath) (*File, error) {
	if f.roots[at.root].dir == nil {
		return nil, ErrMissing
	}
	file, err := f.openAt(at)
	if errors.Is(withoutPath(err), errLeads) {
		to, ok := f.followLink(at)
		if !ok {
			return nil, errLeads
		}
		if file, err = f.openAt(to); err == nil {
			file.Source = f.sourceName(at) // as it was named
		}
	}
	return file, withoutPath(err)
}

func (f *Folders) openAt(at rootPath) (*File, error) {
	root := f.roots[at.root].dir
	name := filepath.FromSlash(at.path)
	// Opening a device can do things: it is looked at first, and again when it is open.
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = ErrIrregular
	}
	if err != nil {
		return nil, err
	}
	// A pipe that took the file's place meanwhile must not wait for a writer.
	file, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = settledFile(file, info)
	}
	if err != nil {
		_ = file.Close() // only read
		return nil, err
	}
	folder := at.path
	if !info.IsDir() {
		folder = path.Dir(at.path)
	}
	return &File{Source: f.sourceName(at), Folder: filepath.Join(f.roots[at.root].path, filepath.FromSlash(folder)),
		Size: info.Size(), Dir: info.IsDir(), file: file, root: root, path: at.path}, nil
}

// settledFile refuses what is neither a folder nor a file whose bytes are on a disk:
// those of /proc say that they are empty and are not.
func settledFile(file *os.File, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return nil
	case !info.Mode().IsRegular():
		return ErrIrregular
	case info.Size() > 0:
		return nil
	}
	var one [1]byte
	if n, err := file.ReadAt(one[:], 0); n == 0 && (err == nil || err == io.EOF) {
		return nil
	}
	if again, err := file.Stat(); err == nil && again.Size() > 0 {
		return nil // it was written to just now
	}
	return ErrIrregular
}

// Read reads from a file, as [io.Reader] does.
func (f *File) Read(p []byte) (int, error) { return f.file.Read(p) }

// Close closes it.
func (f *File) Close() { _ = f.file.Close() } // only read

// List returns up to n entries of a folder, in no order.
func (f *File) List(n int) ([]fs.DirEntry, error) {
	out, err := f.file.ReadDir(n)
	if err == io.EOF {
		err = nil
	}
	return out, withoutPath(err)
}

// IsDir reports whether an entry of a folder is a folder; of a link, whether it leads to
// one within the root.
func (f *File) IsDir(e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := f.root.Stat(filepath.FromSlash(path.Join(f.path, e.Name())))
	return err == nil && info.IsDir()
}
