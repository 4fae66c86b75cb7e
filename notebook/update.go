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
	"github.com/scrollback-ai/scrollback/transcript"
)

// update changes the notebook and writes it. If the file is another than the one that was
// read, the change is made to that: find says at which cell, and false if it is not in there
// any more. The notebook is then written beside it.
func (f *File) update(find func(transcript.Notebook) (cell int, ok bool), change func(n transcript.Notebook, cell int) error) error {
	b, err := f.read()
	gone := scrollback.CodeOf(err) == scrollback.NotFound
	if err != nil && !gone {
		return err
	}
	if !gone && sha256.Sum256(b) != f.sum {
		if now, err := opened(f.Name, b); err != nil {
			f.aside()
		} else if _, ok := find(now); ok {
			f.Notebook, f.sum = now, sha256.Sum256(b)
		} else {
			f.aside()
		}
	}
	cell, ok := find(f.Notebook)
	if !ok {
		return scrollback.Errorf(scrollback.Internal, "notebook.Write", "the cell is not in the notebook")
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
		f.Notebook, err = opened(f.Name, before)
		return errors.Join(scrollback.ParamErrorf("notebook.Write", "file", "%s would have %d bytes; a notebook has at most %d", f.Name, len(after), int64(MaxBytes)).Because(scrollback.ErrTooLarge), err)
	}
	if err := replace(f.disk, f.Path, f.mode, after); err != nil {
		return scrollback.Wrap(scrollback.Unavailable, "notebook.Write", err)
	}
	f.sum = sha256.Sum256(after)
	return nil
}

// aside writes to a new file next to the notebook from now on.
func (f *File) aside() {
	f.Path = f.sibling("run")
	f.Beside = f.Path
	f.sum = [sha256.Size]byte{}
}

// sibling is the path of a file that does not exist yet, next to the notebook.
func (f *File) sibling(why string) string {
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
