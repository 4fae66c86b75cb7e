package notebook

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
)

// mostTries bounds how often a change is made again because somebody else wrote the file
// while it was made.
const mostTries = 10

// errOvertaken is returned where the file is no longer the one that was changed.
var errOvertaken = errors.New("the file has changed")

// updateFile changes the notebook and writes it. If the file is another than the one that was
// read, the change is made to that: find says at which cell, and false if it is not in there
// any more. The notebook is then written beside it. A file that keeps changing meanwhile is
// a conflict, and nothing is written.
func (f *File) updateFile(find func(transcript.Notebook) (cell int, ok bool),
	change func(n transcript.Notebook, cell int) error) error {
	for range mostTries {
		if err := f.tryUpdate(find, change); !errors.Is(err, errOvertaken) {
			return err
		}
	}
	return scrollback.Errorf(scrollback.Conflict, "notebook.Write", i18n.NotebookNotWritten, f.Name)
}

// tryUpdate is one attempt of an update; after an error the notebook is as it was.
func (f *File) tryUpdate(find func(transcript.Notebook) (cell int, ok bool),
	change func(n transcript.Notebook, cell int) error) error {
	b, err := f.readFile()
	gone := scrollback.CodeOf(err) == scrollback.NotFound
	if err != nil && !gone {
		return err
	}
	if !gone && sha256.Sum256(b) != f.sum {
		if now, err := parseNotebook(f.Name, b); err != nil {
			f.switchToSibling()
		} else if _, ok := find(now); ok {
			f.Notebook = now
			f.sum = sha256.Sum256(b)
		} else {
			f.switchToSibling()
		}
	}
	cell, ok := find(f.Notebook)
	if !ok {
		return scrollback.Errorf(scrollback.Internal, "notebook.Write", i18n.CellNotInNotebook)
	}
	before := f.Notebook.Bytes()
	if err := change(f.Notebook, cell); err != nil {
		return err
	}
	after := f.Notebook.Bytes()
	if f.sum == sha256.Sum256(after) && !gone {
		return nil
	}
	if len(after) > MaxBytes {
		f.Notebook, err = parseNotebook(f.Name, before)
		return errors.Join(scrollback.ParamErrorf("notebook.Write", "file",
			i18n.NotebookWouldBeTooLarge, f.Name, len(after),
			int64(MaxBytes)).WithReason(scrollback.ErrTooLarge), err)
	}
	err = replaceFile(f.disk, f.Path, f.mode, after, f.checkUnchanged)
	if errors.Is(err, errOvertaken) {
		if f.Notebook, err = parseNotebook(f.Name, before); err != nil {
			return err
		}
		return errOvertaken
	}
	if err != nil {
		return scrollback.Wrap(scrollback.Unavailable, "notebook.Write", err)
	}
	f.sum = sha256.Sum256(after)
	return nil
}

// checkUnchanged reports whether the file is still the one that a change was made to, or is not
// there.
func (f *File) checkUnchanged() error {
	b, err := f.readFile()
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		return nil
	case err != nil:
		return err
	case sha256.Sum256(b) != f.sum:
		return errOvertaken
	}
	return nil
}

// switchToSibling writes to a new file next to the notebook from now on.
func (f *File) switchToSibling() {
	f.Path = f.siblingPath("run")
	f.Beside = f.Path
	f.sum = [sha256.Size]byte{}
}

// siblingPath returns the path of a file that does not exist yet, next to the notebook.
func (f *File) siblingPath(why string) string {
	ext := filepath.Ext(f.Path)
	base := strings.TrimSuffix(f.Path, ext) + "-" + why + "-" + f.now().Format("20060102-150405")
	for n := 1; ; n++ {
		name := base + ext
		if n > 1 {
			name = base + "-" + strconv.Itoa(n) + ext
		}
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}
