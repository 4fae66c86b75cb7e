// Package tied runs the cells of a notebook in the conversation that it is tied to.
//
// Words it adds: tied (a notebook with its conversation), running (what a conversation
// notes about a cell while it is run), taken back (what a run that was cut off has left in
// the conversation, written into the file).
//
// Invariants: an id in a file opens a conversation only if the notebook was run in it or says
// what is said there; the file names its conversation before there is one, so that no run is
// lost between the two; what is said to a cell is stored before it is written to the file.
package tied

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/notebook"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
)

// Options say how cells are run.
type Options struct {
	Printer   *terminal.Printer
	Overrides engine.Overrides
	Roots     []string // that are granted
}

// Notebook is a notebook with the conversation that it is tied to.
type Notebook struct {
	Conversation scrollback.Conversation // without an id while there is none

	app  *local.Scrollback
	file *notebook.File
	o    Options
}

// New returns a notebook whose conversation is not known yet.
func New(s *local.Scrollback, f *notebook.File, o Options) *Notebook {
	return &Notebook{app: s, file: f, o: o}
}

// notebookMeta is what the meta of a conversation says about its notebook: which file it is,
// where the conversation stood when a cell was run last, and the cell that is being run.
type notebookMeta struct {
	File    string              `json:"file"`
	Branch  scrollback.BranchID `json:"branch,omitempty"`
	Seq     int64               `json:"seq,omitempty"`
	Running *runningCell        `json:"running,omitempty"`
}

// runningCell is a cell that is being run: its prompt comes after message After.
type runningCell struct {
	notebook.Mark
	After int64 `json:"after"`
}

const field = "notebook"

func readMeta(c scrollback.Conversation) (m notebookMeta) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Meta, &fields) == nil && fields[field] != nil && json.Unmarshal(fields[field], &m) != nil {
		m = notebookMeta{}
	}
	return m
}

func setMeta(c *scrollback.Conversation, m notebookMeta) error {
	fields := map[string]json.RawMessage{}
	if len(c.Meta) > 0 && json.Unmarshal(c.Meta, &fields) != nil {
		return scrollback.Errorf(scrollback.Conflict, "scrollback",
			i18n.MetaHoldsNoNotebook, c.ID)
	}
	var err error
	if fields[field], err = json.Marshal(m); err == nil {
		c.Meta, err = json.Marshal(fields)
	}
	return scrollback.Wrap(scrollback.Internal, "scrollback", err)
}

func (t *Notebook) notebookTexts() words.Texts { return t.o.Printer.Texts }

func (t *Notebook) printNote(text i18n.ID, args ...any) {
	t.o.Printer.PrintNote("%s", t.notebookTexts().Say(text, args...))
}

// findConversation finds the conversation that the notebook is tied to; if there is none, it returns the
// id of one to make.
func (t *Notebook) findConversation(ctx context.Context) (scrollback.ConversationID, error) {
	for _, id := range notebook.TiedConversations(t.file.Tie()) {
		c, err := t.app.Get(ctx, id)
		switch code := scrollback.CodeOf(err); {
		case code == scrollback.NotFound:
			return id, nil
		case code == scrollback.Invalid:
			continue // it cannot be an id
		case err != nil:
			return "", err
		case c.DeletedAt != 0:
			return "", scrollback.Errorf(scrollback.Conflict, "scrollback",
				i18n.NotebookConversationInTrash, id)
		}
		ours, err := t.isNotebookOf(ctx, c)
		if err != nil {
			return "", err
		}
		if ours {
			t.Conversation = c
			return "", nil
		}
	}
	return scrollback.ConversationID(t.app.Store.NewID()), nil
}

// isNotebookOf reports whether a conversation that the file names is the notebook's: it was run in it, from
// this place or from one where it is no longer, or else its cells say what is said there.
func (t *Notebook) isNotebookOf(ctx context.Context, c scrollback.Conversation) (bool, error) {
	m := readMeta(c)
	if m.File == t.file.Path {
		return true, nil
	}
	if m.File != "" {
		if other, err := notebook.Open(m.File); err == nil && slices.Contains(notebook.TiedConversations(other.Tie()), c.ID) {
			t.printNote(i18n.NotebookCopy, columns.StripControls(m.File))
			return false, nil
		}
	}
	if c.Messages == 0 {
		return true, nil
	}
	is, err := t.app.Transfer.FollowPath(ctx, t.app.View,
		transfer.FollowRequest{Conversation: c.ID, Entries: notebook.Messages(t.file.Cells()), Look: true})
	if err == nil && is.Same > 0 && (is.Entire || is.Behind == 0) {
		return true, nil
	}
	t.printNote(i18n.NotebookDiffers, c.ID)
	return false, err
}

// Open finds the conversation of the notebook or makes it, and makes it as the file has it: with its folders,
// instructions and title. What a run that was cut off has left is taken into the file first.
func (t *Notebook) Open(ctx context.Context) error {
	id, err := t.findConversation(ctx)
	if err != nil {
		return err
	}
	tie := t.file.Tie()
	roots, beyond := notebook.Narrow(t.o.Roots, tie.Roots, t.file.Folder())
	for _, b := range beyond {
		t.printComplaint(i18n.NotebookBeyond, columns.StripControls(b.Asked), t.notebookTexts().Reason(b.Why))
	}
	instructions := notebook.Instructions(tie, t.file.Cells())
	if id == "" {
		if running, err := t.recoverCutOff(ctx); err != nil {
			return err
		} else if running {
			return scrollback.Errorf(scrollback.Conflict, "scrollback",
				i18n.NotebookIsBeingRun)
		}
		return t.patchConversation(ctx, 0, func(c *scrollback.Conversation) error {
			m := readMeta(*c)
			m.File = t.file.Path
			c.Roots = roots
			c.Instructions = instructions
			return setMeta(c, m)
		})
	}
	if err := t.file.Writable(); err != nil {
		return err
	}
	fresh := scrollback.Conversation{ID: id, Title: tie.Title, Instructions: instructions, Roots: roots,
		Model: t.chooseModel(tie.Model)}
	if fresh.Title == "" {
		fresh.Title = t.file.Base()
	}
	if err := setMeta(&fresh, notebookMeta{File: t.file.Path}); err != nil {
		return err
	}
	// The file names the conversation before there is one: if it ends in between, the next
	// run makes it.
	tie.Conversation = id
	if err := t.file.WriteTie(tie); err != nil {
		return err
	}
	made, _, err := t.app.Create(ctx, fresh)
	if scrollback.CodeOf(err) == scrollback.NotFound { // the id was used by one that is gone
		fresh.ID = scrollback.ConversationID(t.app.Store.NewID())
		tie.Conversation = fresh.ID
		if err = t.file.WriteTie(tie); err == nil {
			made, _, err = t.app.Create(ctx, fresh)
		}
	}
	t.Conversation = made
	return err
}

// printComplaint writes a line that is also for those who read JSON.
func (t *Notebook) printComplaint(text i18n.ID, args ...any) {
	p := *t.o.Printer
	p.JSON = false
	p.PrintNote("%s", p.Texts.Say(text, args...))
}

// chooseModel returns a model that the notebook names, if it is set up here.
func (t *Notebook) chooseModel(name string) string {
	if name == "" || t.o.Overrides.Model != "" {
		return ""
	}
	if t.app.CheckModel(name) == nil {
		return name
	}
	t.printNote(i18n.NotebookNoModel, columns.StripControls(name))
	return ""
}
