package tied

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/notebook"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// View is a notebook as people see it. Behind counts the messages that the conversation has
// after those of the cells, or is -1 if it is on another path.
type View struct {
	File         string                    `json:"file"`
	Title        string                    `json:"title"`
	Conversation scrollback.ConversationID `json:"conversation_id,omitempty"`
	Cells        []notebook.Row            `json:"cells"`
	Running      bool                      `json:"running"`
	Behind       int64                     `json:"behind"`
	Window       *scrollback.Manifest      `json:"window"`
	Agents       []scrollback.Conversation `json:"agents,omitempty"` // its sub-agents, and theirs

	conversation scrollback.Conversation
}

// Show returns a notebook as it stands, after what a run that was cut off has left in its conversation was
// written into the file.
func (t *Notebook) Show(ctx context.Context) (View, error) {
	out := View{File: t.file.Path, Title: t.file.Tie().Title}
	_, err := t.findConversation(ctx)
	if err != nil || t.Conversation.ID == "" {
		out.Cells = t.file.Rows()
		return out, err
	}
	if out.Running, err = t.recoverReading(ctx); err != nil {
		return out, err
	}
	window, err := t.app.Context(ctx, t.Conversation.ID)
	if err != nil {
		return out, err
	}
	out.Conversation = t.Conversation.ID
	out.Window = &window
	out.Cells = t.file.Rows()
	if out.Behind, err = t.countBehind(ctx); err == nil {
		out.conversation = t.Conversation
		out.Agents, err = t.listAgents(ctx)
	}
	return out, err
}

// recoverReading is [Notebook.recoverCutOff] for a process that runs no cell itself.
func (t *Notebook) recoverReading(ctx context.Context) (running bool, err error) {
	release, err := t.file.Lock()
	switch scrollback.CodeOf(err) {
	case scrollback.Conflict:
		return true, nil
	case scrollback.Refused: // a file that cannot be written can still be shown
		return t.recoverCutOff(ctx)
	}
	if err != nil {
		return false, err
	}
	defer release()
	return t.recoverCutOff(ctx)
}

// mostAgents bounds how many sub-agents are shown.
const mostAgents = 1000

// listAgents returns the sub-agents of the conversation, and theirs.
func (t *Notebook) listAgents(ctx context.Context) (out []scrollback.Conversation, err error) {
	for of := []scrollback.ConversationID{t.Conversation.ID}; len(of) > 0 && len(out) < mostAgents; {
		page, _, err := t.app.List(ctx, scrollback.ListQuery{AgentOf: of, Limit: scrollback.ListMax})
		if err != nil {
			return nil, err
		}
		of = nil
		for _, c := range page {
			of = append(of, c.ID)
		}
		out = append(out, page...)
	}
	return out, nil
}

// countBehind counts what the conversation has after the cells, or after those before the first
// stale one; -1 if it is on another path. Cells below what was run last are not in it yet.
func (t *Notebook) countBehind(ctx context.Context) (int64, error) {
	cells := t.file.Cells()
	stale := slices.IndexFunc(cells, func(c transcript.Cell) bool { return c.Stale })
	tried := -1
	for _, n := range []int{len(cells), countAnswered(cells), stale, countAnswered(cells[:max(stale, 0)])} {
		if n < 0 || n == tried {
			continue
		}
		tried = n
		is, err := t.app.Transfer.FollowPath(ctx, t.app.View,
			transfer.FollowRequest{Conversation: t.Conversation.ID, Entries: notebook.Messages(cells[:n]), Look: true})
		if err != nil || is.Entire && is.Behind >= 0 {
			return is.Behind, err
		}
	}
	return -1, nil
}

// countAnswered counts the cells down to the last one to which something was said.
func countAnswered(cells []transcript.Cell) int {
	for i, c := range slices.Backward(cells) {
		if len(c.Interaction) > 0 {
			return i + 1
		}
	}
	return -1
}

// Write lists the cells for people.
func (n View) Write(w io.Writer, t words.Texts) error {
	rows := [][]string{t.Head(i18n.ColumnCell, i18n.ColumnRole, i18n.ColumnText, i18n.ColumnSaid, i18n.ColumnAnswer, "")}
	for _, c := range n.Cells {
		said := ""
		state := ""
		if c.Messages > 0 {
			said = strconv.Itoa(c.Messages)
		}
		if c.Calls > 0 {
			said += t.Say(i18n.NotebookCallsOf, t.Count(int64(c.Calls), i18n.CountOneCall, i18n.CountCalls))
		}
		if c.Cut {
			state = t.Say(i18n.NotebookInterrupted)
		}
		if c.Stale {
			state = strings.TrimSpace(t.Say(i18n.NotebookStaleCell) + " " + state)
		}
		rows = append(rows, []string{strconv.Itoa(c.Cell), t.Named("role", string(c.Role)), columns.ClipText(c.Line, 50),
			said,
			columns.ClipText(c.Answer, 50), state})
	}
	if err := columns.WriteTable(w, rows, 0); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if n.Window == nil {
		_, err := fmt.Fprintln(w, t.Say(i18n.NotebookNotRun))
		return err
	}
	fmt.Fprintln(w, t.Say(i18n.NotebookConversation, n.Conversation))
	switch {
	case n.Running:
		fmt.Fprintln(w, t.Say(i18n.NotebookRunning))
	case n.Behind < 0:
		fmt.Fprintln(w, t.Say(i18n.NotebookAway))
	case n.Behind > 0:
		fmt.Fprintln(w, t.Say(i18n.NotebookBehind, n.Behind))
	}
	if err := terminal.WriteContext(w, t, *n.Window); err != nil || len(n.Agents) == 0 {
		return err
	}
	fmt.Fprintln(w)
	return (terminal.Listing{Texts: t}).WriteConversations(w, []scrollback.Conversation{n.conversation}, n.Agents)
}
