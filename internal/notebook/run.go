package notebook

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Run is a cell that is being run: what is said to it goes into the file as it grows.
type Run struct {
	file  *File
	stale int
	Mark
}

// Mark is how a cell is found again in a file that may have changed: by its id, its place
// and its text.
type Mark struct {
	Cell int    `json:"cell"` // from 0
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
}

// MarkOf returns the mark of a cell.
func MarkOf(cells []transcript.Cell, i int) Mark {
	return Mark{Cell: i, ID: cells[i].ID, Text: cells[i].Text}
}

// FindIn finds the cell among others. One whose text has changed is not that cell.
func (m Mark) FindIn(cells []transcript.Cell) (int, bool) {
	same := func(c transcript.Cell) bool { return isPrompt(c) && c.Text == m.Text }
	if m.ID != "" {
		if i := slices.IndexFunc(cells, func(c transcript.Cell) bool { return c.ID == m.ID }); i >= 0 {
			return i, same(cells[i])
		}
	}
	if m.Cell < len(cells) && same(cells[m.Cell]) && cells[m.Cell].ID == m.ID {
		return m.Cell, true
	}
	i := slices.IndexFunc(cells, same)
	if i < 0 || slices.ContainsFunc(cells[i+1:], same) {
		return 0, false
	}
	return i, true
}

// Begin prepares a cell to be run and writes the notebook with what it is tied to; nothing is
// written if that is there already. An error means that the file cannot be written.
func (f *File) Begin(cell int, tie transcript.Tie) (*Run, error) {
	if err := f.Writable(); err != nil {
		return nil, err
	}
	r := &Run{file: f, Mark: MarkOf(f.Cells(), cell)}
	return r, f.updateFile(r.findCell, func(n transcript.Notebook, _ int) error { return updateTie(n, tie) })
}

// Resume returns a run that another process did not end.
func (f *File) Resume(m Mark) *Run { return &Run{file: f, Mark: m} }

func updateTie(n transcript.Notebook, tie transcript.Tie) error {
	was := n.Tie()
	if was.Conversation == tie.Conversation && was.Title == tie.Title && slices.Equal(was.Agents, tie.Agents) {
		return nil
	}
	return n.SetTie(tie)
}

func (r *Run) findCell(n transcript.Notebook) (int, bool) { return r.FindIn(n.Cells()) }

// Prompt returns the cell in the file as it was read; false if it is not in there any more.
func (r *Run) Prompt() (transcript.Cell, bool) {
	cells := r.file.Cells()
	i, ok := r.FindIn(cells)
	if !ok {
		return transcript.Cell{}, false
	}
	return cells[i], true
}

// WriteMessages writes what was said to the cell so far. What was said to the cells below it is kept
// and marked stale, and the cell itself is not stale any more.
func (r *Run) WriteMessages(said []transcript.Entry) error {
	marked := 0
	err := r.file.updateFile(r.findCell, func(n transcript.Notebook, cell int) error {
		marked = 0 // it may be another file than before
		if err := n.SetInteraction(cell, said); err != nil {
			return err
		}
		for i, c := range n.Cells() {
			stale := c.Stale
			switch {
			case i == cell:
				stale = false
			case i > cell:
				stale = stale || isPrompt(c) && len(c.Interaction) > 0
			}
			if stale == c.Stale {
				continue
			}
			if err := n.SetStale(i, stale); err != nil {
				return err
			}
			if stale {
				marked++
			}
		}
		return nil
	})
	if err == nil {
		r.stale += marked
	}
	return err
}

// StaleCount counts the cells that the run has marked as stale.
func (r *Run) StaleCount() int { return r.stale }

// WriteTie writes what the notebook is tied to, if that is not there already.
func (f *File) WriteTie(tie transcript.Tie) error {
	if err := f.Writable(); err != nil {
		return err
	}
	return f.updateFile(func(transcript.Notebook) (int, bool) { return 0, true },
		func(n transcript.Notebook, _ int) error { return updateTie(n, tie) })
}

// Append adds a prompt as the last cell, writes the notebook, and returns its cell.
func (f *File) Append(prompt string) (cell int, err error) {
	if err := f.Writable(); err != nil {
		return 0, err
	}
	err = f.updateFile(func(transcript.Notebook) (int, bool) { return 0, true }, func(n transcript.Notebook, _ int) error {
		cell, err = n.Append(transcript.Cell{Role: scrollback.RoleUser, Text: prompt})
		return err
	})
	return cell, err
}
