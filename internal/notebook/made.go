package notebook

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/ipynb"
	"github.com/scrollback-ai/scrollback/transcript/mtm"
)

// newMode is the mode of notebooks that are made.
const newMode = 0o644

// blanks make notebooks without cells, by the end of a file's name.
var blanks = map[string]func(transcript.Tie) transcript.Notebook{".ipynb": ipynb.New, ".mtm": mtm.New}

// newBlank returns a notebook without cells, which asks for the folder that it is in.
func newBlank(name, title string) (transcript.Notebook, error) {
	make := blanks[strings.ToLower(filepath.Ext(name))]
	if make == nil {
		return nil, scrollback.ParamErrorf("notebook.New", "file", i18n.NotebookNameHasNoEnding,
			name)
	}
	tie := transcript.Tie{Title: title}
	if strings.EqualFold(filepath.Ext(name), ".mtm") { // which reads no list of folders as none at all
		tie.ID = uuid.NewString()
		tie.Roots = []string{"."}
	}
	return make(tie), nil
}

// New makes a notebook without cells, by default with the title that is the file's name;
// conflict if there is a file.
func New(name, title string) (*File, error) { return createOn(osDisk{}, name, title) }

func createOn(d disk, name, title string) (*File, error) {
	const op = "notebook.New"
	if title == "" {
		title = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	n, err := newBlank(name, title)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	f := &File{Notebook: n, Name: name, Path: path, disk: d, now: time.Now, mode: newMode}
	if err := createEmpty(path); err != nil {
		return nil, err
	}
	if err := f.writeFile(op); err != nil {
		return nil, errors.Join(err, os.Remove(path)) // it is empty: nobody could open it
	}
	return f, nil
}

// createEmpty makes an empty file at a path where none may be.
func createEmpty(path string) error {
	const op = "notebook.New"
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, newMode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return scrollback.Errorf(scrollback.Conflict, op, i18n.IsThereAlready, path)
	case errors.Is(err, fs.ErrNotExist):
		return scrollback.Errorf(scrollback.NotFound, op, i18n.NoFolderThere, filepath.Dir(path))
	case err != nil:
		return scrollback.Errorf(scrollback.Refused, op, i18n.CannotBeWritten, path, err)
	}
	return scrollback.Wrap(scrollback.Unavailable, op, file.Close())
}

// writeFile writes the notebook as it is.
func (f *File) writeFile(op string) error {
	b := f.Notebook.Bytes()
	if err := replaceFile(f.disk, f.Path, f.mode, b, nil); err != nil {
		return scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	f.sum = sha256.Sum256(b)
	return nil
}

// Digest is what stands for the folded messages of a notebook in a compressed one.
type Digest struct {
	Summary      string
	Conversation scrollback.ConversationID
	Refs         []scrollback.Ref // of what is folded, oldest first
	Live         int              // messages at the end of the path that are not folded
}

// WriteCompressed writes a notebook beside this one, and returns its path: the digest as a
// system cell, the leading system cells, and the cells that hold live messages.
func (f *File) WriteCompressed(d Digest) (string, error) {
	cells := f.Cells()
	path := f.siblingPath("compressed")
	title := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	n, err := newBlank(path, title)
	if err != nil {
		return "", err
	}
	add := func(c transcript.Cell) {
		if err == nil {
			_, err = n.Append(c)
		}
	}
	add(transcript.Cell{Markup: true, Role: scrollback.RoleSystem, Text: d.cellText(filepath.Base(f.Path))})
	first := countLeading(cells)
	for _, c := range cells[:first] {
		if !isBlank(c) {
			add(c)
		}
	}
	for _, c := range cells[max(first, liveFrom(cells, d.Live)):] {
		c.Stale = false
		add(c)
	}
	if err != nil {
		return "", err
	}
	out := &File{Notebook: n, Name: path, Path: path, disk: f.disk, mode: f.mode | 0o200}
	return path, out.writeFile("notebook.Compressed")
}

// liveFrom returns the first cell that holds any of the last live messages of the path.
func liveFrom(cells []transcript.Cell, live int) int {
	i := len(cells)
	for i > 0 && live > 0 {
		i--
		live -= len(cellMessages(cells[i]))
	}
	return i
}

// cellText returns the cell that a compressed notebook begins with.
func (d Digest) cellText(original string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "What was said before, in short:\n\n%s\n\n---\n\nThis is a summary of %s (conversation %s).",
		strings.TrimSpace(d.Summary), original, d.Conversation)
	if len(d.Refs) > 0 {
		b.WriteString(" The original messages can be read with:\n")
		for _, ref := range d.Refs {
			fmt.Fprintf(&b, "\n- `scrollback context read %s`", ref)
		}
	}
	b.WriteByte('\n')
	return b.String()
}
