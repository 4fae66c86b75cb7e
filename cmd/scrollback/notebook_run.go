package main

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/notebook"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transfer"
)

type notebookRunCmd struct {
	File   string `arg:"" help:"Notebook (.ipynb or .mtm)."`
	Prompt string `arg:"" optional:"" help:"What to ask in a new cell, with --cell new; - for standard input."`
	Cell   string `help:"Cell to run: its number in notebook show, last, all, or new for the PROMPT. Default: new with a PROMPT, else last." placeholder:"N|last|all|new"`
}

// Run implements the command.
func (c *notebookRunCmd) Run(g *globals) (err error) {
	f, err := notebook.Open(c.File)
	if err != nil {
		return err
	}
	cells, err := c.choose(g, f)
	if err != nil {
		return err
	}
	if err := g.grant(false, f.Folder()); err != nil {
		return err
	}
	g.brief = true
	return g.with(func(a *app) error {
		t := &tied{g: g, app: a, file: f, p: g.printer()}
		if c.Prompt != "" {
			if err := a.Limits().Check(scrollback.Say(c.Prompt)); err != nil {
				return err
			}
		}
		if err := t.open(g.ctx); err != nil {
			return err
		}
		if c.Prompt != "" {
			cell, err := f.Append(c.Prompt)
			if err != nil {
				return err
			}
			cells = []int{cell}
		}
		for _, cell := range cells {
			if len(cells) > 1 {
				t.note(t.texts().Cell, cell+1, terminal.Clip(f.Rows()[cell].Line, 100))
			}
			if err = t.run(g.ctx, cell); err != nil {
				break
			}
		}
		t.note("(conversation %s)", t.conversation.ID)
		if err == nil {
			a.settle(g.ctx, g.set.SummaryTimeout, func() { t.note("%s", t.p.Texts.Compacting) })
		}
		return err
	})
}

// choose returns the cells to run; none if a new one is to be.
func (c *notebookRunCmd) choose(g *globals, f *notebook.File) ([]int, error) {
	if c.Cell == "" {
		c.Cell = "last"
		if c.Prompt != "" {
			c.Cell = "new"
		}
	}
	if c.Cell != "new" {
		if c.Prompt != "" {
			return nil, scrollback.ParamErrorf("scrollback", "cell", "a prompt is for --cell new; cell %s has its own", c.Cell)
		}
		return notebook.Choose(f.Cells(), c.Cell)
	}
	if c.Prompt == "" || c.Prompt == "-" {
		var err error
		if c.Prompt, err = g.prompt(); err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(c.Prompt) == "" {
		return nil, scrollback.ParamErrorf("scrollback", "message", "the message is empty")
	}
	return nil, f.Writable()
}

// tied is a notebook with the conversation that it is tied to.
type tied struct {
	*app
	g            *globals
	file         *notebook.File
	p            *terminal.Printer
	conversation scrollback.Conversation
	made         bool
}

// notebookMeta is what the meta of a conversation says about its notebook: which file it is,
// where the conversation stood when a cell was run last, and the cell that is being run.
type notebookMeta struct {
	File    string              `json:"file"`
	Branch  scrollback.BranchID `json:"branch,omitempty"`
	Seq     int64               `json:"seq,omitempty"`
	Running *notebookRunning    `json:"running,omitempty"`
}

// notebookRunning is a cell that is being run: its prompt comes after message After.
type notebookRunning struct {
	notebook.Mark
	After int64 `json:"after"`
}

const notebookField = "notebook"

func notebookOf(c scrollback.Conversation) (m notebookMeta) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Meta, &fields) == nil && fields[notebookField] != nil && json.Unmarshal(fields[notebookField], &m) != nil {
		m = notebookMeta{}
	}
	return m
}

func setNotebook(c *scrollback.Conversation, m notebookMeta) error {
	fields := map[string]json.RawMessage{}
	if len(c.Meta) > 0 && json.Unmarshal(c.Meta, &fields) != nil {
		return scrollback.Errorf(scrollback.Conflict, "scrollback", "the meta of conversation %s is not an object, so no notebook can be noted in it", c.ID)
	}
	var err error
	if fields[notebookField], err = json.Marshal(m); err == nil {
		c.Meta, err = json.Marshal(fields)
	}
	return scrollback.Wrap(scrollback.Internal, "scrollback", err)
}

func (t *tied) texts() terminal.NotebookTexts { return t.p.Texts.Notebook }

func (t *tied) note(format string, args ...any) { t.p.Note(format, args...) }

// found finds the conversation that the notebook is tied to, if there is one; otherwise the
// conversation has no id.
func (t *tied) found(ctx context.Context) error {
	_, err := t.find(ctx)
	return err
}

// find is found; if there is none, it returns the id of one to make.
func (t *tied) find(ctx context.Context) (scrollback.ConversationID, error) {
	for _, id := range notebook.Names(t.file.Tie()) {
		c, err := t.Get(ctx, id)
		switch code := scrollback.CodeOf(err); {
		case code == scrollback.NotFound:
			return id, nil
		case code == scrollback.Invalid:
			continue // it cannot be an id
		case err != nil:
			return "", err
		case c.DeletedAt != 0:
			return "", scrollback.Errorf(scrollback.Conflict, "scrollback", "conversation %s of this notebook is in the trash: restore it first", id)
		}
		ours, err := t.means(ctx, c)
		if err != nil {
			return "", err
		}
		if ours {
			t.conversation = c
			return "", nil
		}
	}
	return scrollback.ConversationID(t.Store.NewID()), nil
}

// means reports whether a conversation that the file names is the notebook's: it was run in it, from
// this place or from one where it is no longer, or else its cells say what is said there.
func (t *tied) means(ctx context.Context, c scrollback.Conversation) (bool, error) {
	m := notebookOf(c)
	if m.File == t.file.Path {
		return true, nil
	}
	if m.File != "" {
		if other, err := notebook.Open(m.File); err == nil && slices.Contains(notebook.Names(other.Tie()), c.ID) {
			t.note(t.texts().Copy, terminal.Plain(m.File))
			return false, nil
		}
	}
	if c.Messages == 0 {
		return true, nil
	}
	is, err := t.Transfer.Follow(ctx, t.View, transfer.FollowRequest{Conversation: c.ID, Entries: notebook.Path(t.file.Cells()), Look: true})
	if err == nil && is.Same > 0 && (is.Entire || is.Behind == 0) {
		return true, nil
	}
	t.note(t.texts().Differs, c.ID)
	return false, err
}

// open finds the conversation of the notebook or makes it, and makes it as the file has it: with its folders,
// instructions and title. What a run that was cut off has left is taken into the file first.
func (t *tied) open(ctx context.Context) error {
	id, err := t.find(ctx)
	if err != nil {
		return err
	}
	tie := t.file.Tie()
	roots, beyond := notebook.Narrow(t.g.roots, tie.Roots, t.file.Folder())
	for _, b := range beyond {
		t.complain(t.texts().Beyond, terminal.Plain(b.Asked), b.Why)
	}
	instructions := notebook.Instructions(tie, t.file.Cells())
	if id == "" {
		if running, err := t.takeBack(ctx); err != nil {
			return err
		} else if running {
			return scrollback.Errorf(scrollback.Conflict, "scrollback", "a cell of this notebook is being run; wait for it, or stop it")
		}
		return t.patch(ctx, 0, func(c *scrollback.Conversation) error {
			m := notebookOf(*c)
			m.File, c.Roots, c.Instructions = t.file.Path, roots, instructions
			return setNotebook(c, m)
		})
	}
	if err := t.file.Writable(); err != nil {
		return err
	}
	fresh := scrollback.Conversation{ID: id, Title: tie.Title, Instructions: instructions, Roots: roots, Model: t.model(tie.Model)}
	if fresh.Title == "" {
		fresh.Title = baseOf(t.file.Path)
	}
	if err := setNotebook(&fresh, notebookMeta{File: t.file.Path}); err != nil {
		return err
	}
	// The file names the conversation before there is one: if it ends in between, the next
	// run makes it.
	tie.Conversation = id
	if err := t.file.Tied(tie); err != nil {
		return err
	}
	made, _, err := t.Create(ctx, fresh)
	if scrollback.CodeOf(err) == scrollback.NotFound { // the id was used by one that is gone
		fresh.ID = scrollback.ConversationID(t.Store.NewID())
		tie.Conversation = fresh.ID
		if err = t.file.Tied(tie); err == nil {
			made, _, err = t.Create(ctx, fresh)
		}
	}
	t.conversation = made
	return err
}

// complain writes a line that is also for those who read JSON.
func (t *tied) complain(format string, args ...any) {
	p := *t.p
	p.JSON = false
	p.Note(format, args...)
}

// model is a model that the notebook names, if it is set up here.
func (t *tied) model(name string) string {
	if name == "" || t.g.Model != "" {
		return ""
	}
	if t.Fits(scrollback.Conversation{Model: name}) == nil {
		return name
	}
	t.note(t.texts().NoModel, terminal.Plain(name))
	return ""
}

// patch changes the conversation.
func (t *tied) patch(ctx context.Context, ifVersion int64, edit func(*scrollback.Conversation) error) error {
	c, err := t.Patch(ctx, t.conversation.ID, ifVersion, edit)
	if err == nil {
		t.conversation = c
	}
	return err
}

// follow brings the conversation onto the path of cells, and says what stays behind.
func (t *tied) follow(ctx context.Context, cells []transcript.Cell) (transfer.Followed, error) {
	if m := notebookOf(t.conversation); m.Branch == t.conversation.Branch && m.Seq > 0 && t.conversation.Messages > m.Seq {
		t.note(t.texts().Elsewhere, t.conversation.Messages-m.Seq, t.conversation.ID)
	}
	is, err := t.Transfer.Follow(ctx, t.View, transfer.FollowRequest{Conversation: t.conversation.ID, Entries: notebook.Path(cells)})
	if err == nil {
		t.conversation = is.Conversation
	}
	return is, err
}

// run runs a cell: its prompt is a turn after the cells before it, whose messages become its
// interaction.
func (t *tied) run(ctx context.Context, cell int) error {
	tie := t.file.Tie()
	tie.Conversation = t.conversation.ID
	r, err := t.file.Begin(cell, tie)
	if err != nil {
		return err
	}
	cells := t.file.Cells()
	is, err := t.follow(ctx, cells[:cell])
	if err != nil {
		return err
	}
	message, err := t.prompt(ctx, cells[cell])
	if err != nil {
		return err
	}
	m := notebookMeta{File: t.file.Path, Running: &notebookRunning{Mark: r.Mark, After: is.Seq}}
	if err := t.patch(ctx, is.Version, func(c *scrollback.Conversation) error { return setNotebook(c, m) }); err != nil {
		return err
	}
	ask := engine.TurnRequest{Conversation: t.conversation.ID, Message: message, Overrides: t.g.shape()}
	t.p.Again = "scrollback notebook run " + quoted(t.file.Name) + " --cell " + strconv.Itoa(cell+1)
	k := &keeping{tied: t, run: r}
	t.p.Saw = func(ev scrollback.Event) { k.saw(context.WithoutCancel(ctx), ev) }
	answered := t.p.Turn(ctx, t.View, ask)
	t.p.Saw = nil
	return errors.Join(answered, k.end(context.WithoutCancel(ctx)))
}

// quoted is a file's name as it is typed.
func quoted(name string) string {
	if strings.ContainsAny(name, " '\"$`\\&|;<>()*?[]#~!") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// prompt is what a cell asks, with its attachments.
func (t *tied) prompt(ctx context.Context, c transcript.Cell) (scrollback.Parts, error) {
	e := notebook.Prompt(c)
	for i, p := range e.Message.Parts {
		image, ok := p.(scrollback.Image)
		if !ok {
			continue
		}
		art, err := t.Upload(ctx, t.conversation.ID, strings.NewReader(string(e.Bytes[i])), image.Name)
		if err != nil {
			return nil, err
		}
		e.Message.Parts[i] = scrollback.Image{Artifact: art.ID, Name: art.Name, Detail: image.Detail}
	}
	return e.Message.Parts, t.Limits().Check(e.Message.Parts)
}

// keeping writes what is said in a turn into its cell, step by step.
type keeping struct {
	*tied
	run   *notebook.Run
	begun bool
	after int64 // the prompt's seq
	err   error
}

// saw looks at an event of the turn.
func (k *keeping) saw(ctx context.Context, ev scrollback.Event) {
	switch ev := ev.(type) {
	case scrollback.TurnEvent:
		k.begun, k.after = true, ev.Seq
	case scrollback.MessageEvent:
		k.err = k.keep(ctx)
	}
}

// keep writes what is stored of the turn.
func (k *keeping) keep(ctx context.Context) error {
	said, err := collect(k.Transfer.Since(ctx, k.View, k.conversation.ID, k.after-1))
	if err != nil || len(said) < 2 {
		return err
	}
	return k.run.Keep(said)
}

// end writes what the turn came to, and notes in the conversation that the cell is done.
func (k *keeping) end(ctx context.Context) error {
	if k.begun {
		k.err = k.keep(ctx)
	}
	if k.file.Beside != "" {
		k.complain(k.texts().Beside, terminal.Plain(k.file.Beside))
		k.file.Beside = ""
	}
	if k.err != nil {
		return k.err // the conversation still knows what the file lacks
	}
	if n := k.run.Stale(); n > 0 && k.begun {
		k.note(k.texts().Stale, n)
	}
	now, err := k.Get(ctx, k.conversation.ID)
	if err != nil {
		return err
	}
	return k.patch(ctx, 0, func(c *scrollback.Conversation) error {
		return setNotebook(c, notebookMeta{File: notebookOf(*c).File, Branch: now.Branch, Seq: now.Messages})
	})
}

// collect reads a prompt and what follows it, up to the next thing that a user says.
func collect(entries iter.Seq2[transcript.Entry, error]) (out []transcript.Entry, err error) {
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		if e.Message.Role == scrollback.RoleUser && len(out) > 0 {
			break
		}
		out = append(out, e)
	}
	return out, nil
}

// takeBack writes what was said in a run that was cut off into the file. It reports whether
// the run goes on, in another process.
func (t *tied) takeBack(ctx context.Context) (running bool, err error) {
	m := notebookOf(t.conversation)
	if turn, err := t.Turns().Running(ctx, t.conversation.ID); err != nil || turn != nil {
		return turn != nil, err
	}
	if m.Running == nil || m.File != t.file.Path {
		return false, nil
	}
	said, err := collect(t.Transfer.Since(ctx, t.View, t.conversation.ID, m.Running.After))
	if err != nil {
		return false, err
	}
	r := t.file.Resume(m.Running.Mark)
	prompt, ok := r.Prompt()
	switch {
	case len(said) < 2: // nothing came of it
	case !ok:
		t.note(t.texts().Lost, t.conversation.ID)
	case notebook.Says(said[0], prompt): // else somebody has gone elsewhere since
		if err := t.file.Writable(); err != nil {
			return false, err
		}
		if err := r.Keep(said); err != nil {
			return false, err
		}
		t.note(t.texts().TakenBack, m.Running.Cell+1)
	}
	m.Running, m.Branch, m.Seq = nil, t.conversation.Branch, t.conversation.Messages
	return false, t.patch(ctx, 0, func(c *scrollback.Conversation) error { return setNotebook(c, m) })
}
