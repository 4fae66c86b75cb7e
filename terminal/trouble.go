package terminal

import (
	"cmp"
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/terminal/columns"
	"github.com/scrollback-ai/scrollback/terminal/words"
)

// Unanswered writes a turn without a stored answer, as [Message] writes messages.
// again is what to type to have it answered again.
func Unanswered(w io.Writer, t words.Texts, e scrollback.TurnEntry, again string) error {
	state := cmp.Or(t.Trouble.States[e.State], string(e.State))
	fmt.Fprintf(w, "– %s · %s · %s\n", scrollback.RoleAssistant, columns.When(cmp.Or(e.EndedAt, e.StartedAt)), state)
	if e.Reasoning != "" {
		fmt.Fprintf(w, "(reasoning) %s\n", columns.Clip(e.Reasoning, 200))
	}
	if e.Content != "" {
		fmt.Fprintln(w, columns.Plain(e.Content))
	}
	for _, c := range e.ToolCalls {
		fmt.Fprintf(w, "→ %s %s\n", columns.Plain(c.Name), columns.Plain(string(c.Arguments)))
	}
	for _, line := range t.TroubleOf(e, again) {
		fmt.Fprintf(w, "! %s\n", line)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// Page writes a page of messages with the turns between them.
func Page(w io.Writer, t words.Texts, p scrollback.MessagePage, again string) error {
	for _, m := range p.Messages {
		if err := Message(w, m); err != nil {
			return err
		}
		for _, e := range p.After(m.Seq) {
			if err := Unanswered(w, t, e, again); err != nil {
				return err
			}
		}
	}
	return nil
}
