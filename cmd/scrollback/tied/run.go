package tied

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/notebook"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// patchConversation changes the conversation.
func (t *Notebook) patchConversation(ctx context.Context, ifVersion int64,
	edit func(*scrollback.Conversation) error) error {
	c, err := t.app.Patch(ctx, t.Conversation.ID, ifVersion, edit)
	if err == nil {
		t.Conversation = c
	}
	return err
}

// followPath brings the conversation onto the path of cells, and says what stays behind.
func (t *Notebook) followPath(ctx context.Context, cells []transcript.Cell) (transfer.Followed, error) {
	if m := readMeta(t.Conversation); m.Branch == t.Conversation.Branch && m.Seq > 0 && t.Conversation.Messages > m.Seq {
		t.printNote(i18n.NotebookElsewhere, t.Conversation.Messages-m.Seq, t.Conversation.ID)
	}
	cell := 0
	entries := func(yield func(transcript.Entry, error) bool) {
		for e, err := range notebook.Messages(cells) {
			if cell = e.Line; !yield(e, err) {
				return
			}
		}
	}
	is, err := t.app.Transfer.FollowPath(ctx, t.app.View,
		transfer.FollowRequest{Conversation: t.Conversation.ID, Entries: entries})
	switch {
	case err == nil:
		t.Conversation = is.Conversation
	case scrollback.CodeOf(err) == scrollback.Invalid && cell > 0:
		err = scrollback.ParamErrorf("scrollback", "cell", i18n.CellFailed, cell, err)
	}
	return is, err
}

// RunAll runs cells in order, or else a new one with a prompt, up to the first that fails.
func (t *Notebook) RunAll(ctx context.Context, cells []int, prompt string) error {
	if len(cells) == 0 {
		cell, err := t.file.Append(prompt)
		if err != nil {
			return err
		}
		cells = []int{cell}
	}
	// Somebody may move cells while others run.
	marks := make([]notebook.Mark, len(cells))
	for i, all := 0, t.file.Cells(); i < len(cells); i++ {
		marks[i] = notebook.MarkOf(all, cells[i])
	}
	for _, m := range marks {
		cell, ok := m.FindIn(t.file.Cells())
		if !ok {
			return scrollback.Errorf(scrollback.Conflict, "scrollback",
				i18n.CellWasChanged, m.Cell+1)
		}
		if len(cells) > 1 {
			t.printNote(i18n.NotebookCell, cell+1, columns.ClipText(t.file.Rows()[cell].Line, titleWidth))
		}
		if err := t.runCell(ctx, cell); err != nil {
			return err
		}
	}
	return nil
}

// titleWidth is how much of a cell's first line stands above its answer, in columns.
const titleWidth = 100

// runCell runs a cell: its prompt is a turn after the cells before it, whose messages become its
// interaction.
func (t *Notebook) runCell(ctx context.Context, cell int) error {
	tie := t.file.Tie()
	tie.Conversation = t.Conversation.ID
	r, err := t.file.Begin(cell, tie)
	if err != nil {
		return err
	}
	cells := t.file.Cells()
	cell, ok := r.FindIn(cells) // it may have been read again
	if !ok {
		return scrollback.Errorf(scrollback.Internal, "scrollback", i18n.CellNotInNotebook)
	}
	is, err := t.followPath(ctx, cells[:cell])
	if err != nil {
		return err
	}
	message, err := t.cellPrompt(ctx, cells[cell])
	if err != nil {
		return err
	}
	m := notebookMeta{File: t.file.Path, Running: &runningCell{Mark: r.Mark, After: is.Seq}}
	if err := t.patchConversation(ctx, is.Version,
		func(c *scrollback.Conversation) error { return setMeta(c, m) }); err != nil {
		return err
	}
	ask := engine.TurnRequest{Conversation: t.Conversation.ID, Message: message, Overrides: t.o.Overrides}
	t.o.Printer.Again = "scrollback notebook run " + quoteName(t.file.Name) + " --cell " + strconv.Itoa(cell+1)
	k := &turnKeeper{Notebook: t, run: r}
	t.o.Printer.Saw = func(ev scrollback.Event) { k.seeEvent(context.WithoutCancel(ctx), ev) }
	answered := t.o.Printer.RunTurn(ctx, t.app.View, ask)
	t.o.Printer.Saw = nil
	return errors.Join(answered, k.endTurn(context.WithoutCancel(ctx)))
}

// quoteName returns a file's name as it is typed.
func quoteName(name string) string {
	if strings.ContainsAny(name, " '\"$`\\&|;<>()*?[]#~!") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// cellPrompt returns what a cell asks, with its attachments.
func (t *Notebook) cellPrompt(ctx context.Context, c transcript.Cell) (scrollback.Parts, error) {
	e := notebook.PromptOf(c)
	for i, p := range e.Message.Parts {
		image, ok := p.(scrollback.Image)
		if !ok {
			continue
		}
		art, err := t.app.Upload(ctx, t.Conversation.ID, strings.NewReader(string(e.Bytes[i])), image.Name)
		if err != nil {
			return nil, err
		}
		e.Message.Parts[i] = scrollback.Image{Artifact: art.ID, Name: art.Name, Detail: image.Detail}
	}
	return e.Message.Parts, t.app.Limits().Check(e.Message.Parts)
}

// turnKeeper writes what is said in a turn into its cell, step by step.
type turnKeeper struct {
	*Notebook
	run   *notebook.Run
	begun bool
	after int64 // the prompt's seq
	err   error
}

// seeEvent looks at an event of the turn.
func (k *turnKeeper) seeEvent(ctx context.Context, ev scrollback.Event) {
	switch ev := ev.(type) {
	case scrollback.TurnEvent:
		k.begun = true
		k.after = ev.Seq
	case scrollback.MessageEvent:
		k.err = k.keepTurn(ctx)
	}
}

// keepTurn writes what is stored of the turn.
func (k *turnKeeper) keepTurn(ctx context.Context) error {
	said, err := collectMessages(k.app.Transfer.EntriesSince(ctx, k.app.View, k.Conversation.ID, k.after-1))
	if err != nil || len(said) < 2 {
		return err
	}
	return k.run.WriteMessages(said)
}

// endTurn writes what the turn came to, and notes in the conversation that the cell is done.
func (k *turnKeeper) endTurn(ctx context.Context) error {
	if k.begun {
		k.err = k.keepTurn(ctx)
	}
	if k.file.Beside != "" {
		k.printComplaint(i18n.NotebookBeside, columns.StripControls(k.file.Beside))
		k.file.Beside = ""
	}
	if k.err != nil {
		return k.err // the conversation still knows what the file lacks
	}
	if n := k.run.StaleCount(); n > 0 && k.begun {
		k.printNote(i18n.NotebookStale, n)
	}
	now, err := k.app.Get(ctx, k.Conversation.ID)
	if err == nil && now.Settings.Agents {
		err = k.writeAgents(ctx)
	}
	if err != nil {
		return err
	}
	return k.noteProgress(ctx, now)
}

// noteProgress notes in the conversation how far the notebook has it.
func (t *Notebook) noteProgress(ctx context.Context, now scrollback.Conversation) error {
	return t.patchConversation(ctx, 0, func(c *scrollback.Conversation) error {
		return setMeta(c, notebookMeta{File: readMeta(*c).File, Branch: now.Branch, Seq: now.Messages})
	})
}

// writeAgents writes into the file which sub-agents were started.
func (k *turnKeeper) writeAgents(ctx context.Context) error {
	started, _, err := k.app.List(ctx, scrollback.ListQuery{AgentOf: []scrollback.ConversationID{k.Conversation.ID},
		Limit: scrollback.ListMax})
	tie := k.file.Tie()
	known := len(tie.Agents)
	for _, c := range slices.Backward(started) { // oldest first
		if !slices.Contains(tie.Agents, string(c.ID)) {
			tie.Agents = append(tie.Agents, string(c.ID))
		}
	}
	if err != nil || len(tie.Agents) == known {
		return err
	}
	return k.file.WriteTie(tie)
}

// collectMessages reads a prompt and what follows it, up to the next thing that a user says.
func collectMessages(entries iter.Seq2[transcript.Entry, error]) (out []transcript.Entry, err error) {
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

// recoverCutOff writes what was said in a run that was cut off into the file. It reports whether
// the run goes on, in another process.
func (t *Notebook) recoverCutOff(ctx context.Context) (running bool, err error) {
	m := readMeta(t.Conversation)
	if turn, err := t.app.Turns().Running(ctx, t.Conversation.ID); err != nil || turn != nil {
		return turn != nil, err
	}
	if m.Running == nil || m.File != t.file.Path {
		return false, nil
	}
	if err := t.closeRun(ctx); err != nil {
		return false, err
	}
	said, err := collectMessages(t.app.Transfer.EntriesSince(ctx, t.app.View, t.Conversation.ID, m.Running.After))
	if err != nil {
		return false, err
	}
	r := t.file.Resume(m.Running.Mark)
	prompt, ok := r.Prompt()
	switch {
	case len(said) < 2: // nothing came of it
	case !ok:
		t.printNote(i18n.NotebookLost, t.Conversation.ID)
	case notebook.SaysSame(said[0], prompt): // else somebody has gone elsewhere since
		if err := t.file.Writable(); err != nil {
			return false, err
		}
		if err := r.WriteMessages(said); err != nil {
			return false, err
		}
		t.printNote(i18n.NotebookTakenBack, m.Running.Cell+1)
	}
	m.Running = nil
	m.Branch = t.Conversation.Branch
	m.Seq = t.Conversation.Messages
	return false, t.patchConversation(ctx, 0, func(c *scrollback.Conversation) error { return setMeta(c, m) })
}

// closeRun makes what a run that was cut off had written a message of the conversation.
func (t *Notebook) closeRun(ctx context.Context) error {
	last, err := t.app.Store.Turns.GetLast(ctx, t.Conversation.ID)
	if scrollback.CodeOf(err) == scrollback.NotFound || err == nil && !t.app.Store.Turns.IsExpired(last) {
		return nil
	}
	if err != nil {
		return err
	}
	head, err := t.app.Bulk().Head(ctx, t.Conversation.ID, scrollback.AccessWrite)
	if err != nil {
		return err
	}
	closed, err := t.app.Store.AppendMessages(ctx, head, nil)
	if err == nil {
		t.Conversation = closed.Head.Conversation
	}
	return err
}
