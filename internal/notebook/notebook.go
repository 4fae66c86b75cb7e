// Package notebook is a file of cells as a conversation: which messages the cells before
// one are, and how what is said to a cell comes back into the file.
//
// Words it adds: prompt cell (one that can be run: what a user says), path (the messages
// of the cells before one), beside (the file next to a notebook that somebody changed while
// one of its cells ran).
//
// Invariants: a file at a notebook's path is always the old one or the new one, whole; what
// others have written to it since it was read is never replaced; nothing is asked of a model
// for a file that cannot be written; what a file asks for grants nothing.
//
// It reads and writes files, but may not know the store, models or turns.
package notebook

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/ipynb"
	"github.com/scrollback-ai/scrollback/transcript/mtm"
)

// MaxBytes bounds a notebook.
const MaxBytes = 64 << 20

// formats are those of notebooks, by the end of a file's name.
var formats = map[string]func([]byte) (transcript.Notebook, error){
	".ipynb": func(b []byte) (transcript.Notebook, error) { return ipynb.Open(b) },
	".mtm":   func(b []byte) (transcript.Notebook, error) { return mtm.Open(b) },
}

// File is an open notebook. It is not safe for concurrent use.
type File struct {
	transcript.Notebook
	Name   string // as it was named
	Path   string // absolute, without links
	Beside string // what is written instead, once somebody else has changed the file beyond recognition

	sum  [sha256.Size]byte // of what is on the disk, as far as we know
	mode fs.FileMode
	disk disk
	now  func() time.Time
}

// Open reads a notebook: not_found if there is none, and invalid for what is not a notebook;
// the error says where in the file.
func Open(name string) (*File, error) {
	const op = "notebook.Open"
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.NoFileThere, name)
	case err != nil:
		return nil, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	f := &File{Name: name, Path: path, disk: osDisk{}, now: time.Now}
	b, err := f.readFile()
	if err == nil {
		f.Notebook, err = parseNotebook(name, b)
	}
	f.sum = sha256.Sum256(b)
	return f, err
}

// parseNotebook returns the notebook that a file's bytes are.
func parseNotebook(name string, b []byte) (transcript.Notebook, error) {
	open := formats[strings.ToLower(filepath.Ext(name))]
	if open == nil {
		return nil, scrollback.ParamErrorf("notebook.Open", "file", i18n.NotebookNameHasNoEnding,
			name)
	}
	n, err := open(b)
	if err != nil {
		return nil, scrollback.ParamErrorf("notebook.Open", "file", "%s: %w", name, err)
	}
	return n, nil
}

// readFile reads what is at the path now.
func (f *File) readFile() ([]byte, error) {
	const op = "notebook.Open"
	file, err := os.OpenFile(f.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold it up
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, scrollback.Wrap(scrollback.NotFound, op, err)
		}
		return nil, scrollback.Wrap(scrollback.Refused, op, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, scrollback.Wrap(scrollback.Unavailable, op, err)
	case info.IsDir():
		return nil, scrollback.ParamErrorf(op, "file", i18n.FolderIsNoNotebook, f.Name)
	case !info.Mode().IsRegular():
		return nil, scrollback.ParamErrorf(op, "file", i18n.IsNotAFile, f.Name)
	case info.Size() > MaxBytes:
		return nil, scrollback.ParamErrorf(op, "file", i18n.NotebookTooLarge, f.Name, info.Size(),
			int64(MaxBytes)).WithReason(scrollback.ErrTooLarge)
	}
	f.mode = info.Mode().Perm()
	b, err := io.ReadAll(io.LimitReader(file, MaxBytes+1)) // it may be growing
	if err == nil && len(b) > MaxBytes {
		return nil, scrollback.ParamErrorf(op, "file", i18n.NotebookLargerThan, f.Name,
			int64(MaxBytes)).WithReason(scrollback.ErrTooLarge)
	}
	return b, scrollback.Wrap(scrollback.Unavailable, op, err)
}

// Folder returns the folder that the notebook is in.
func (f *File) Folder() string { return filepath.Dir(f.Path) }

// Base returns the name of the file without its folder and its ending.
func (f *File) Base() string { return strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path)) }

// Writable returns an error unless the file can be replaced: refused for a file or a folder
// that is read-only.
func (f *File) Writable() error {
	const op = "notebook.Writable"
	if f.mode&0o222 == 0 {
		return scrollback.Errorf(scrollback.Refused, op, i18n.NotebookIsReadOnly,
			f.Name)
	}
	file, err := os.OpenFile(f.Path, os.O_WRONLY, 0)
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = probeReplace(f.disk, f.Path)
	}
	if err != nil {
		return scrollback.Errorf(scrollback.Refused, op, i18n.CannotBeWritten, f.Name, err)
	}
	return nil
}
