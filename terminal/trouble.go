package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// RetryInChat is what a person types in a chat to have the last question answered again.
const RetryInChat = "/retry"

// Failure is what went wrong with a turn, one line each: the reason, what the provider
// said, and what can be done about it. again is what to type for another try, or empty.
func (t Texts) Failure(f scrollback.Failure, again string) []string {
	lines := []string{Plain(f.Message)}
	if f.Cause != "" {
		lines = append(lines, fmt.Sprintf(t.Trouble.Cause, Plain(f.Cause)))
	}
	if todo := t.advice(f); todo != "" {
		lines = append(lines, fmt.Sprintf(t.Trouble.Todo, todo))
	}
	return append(lines, t.again(again)...)
}

func (t Texts) advice(f scrollback.Failure) string {
	if form := t.Trouble.Setting[f.Advice]; form != "" && f.Setting != "" {
		return fmt.Sprintf(form, Plain(f.Setting))
	}
	return t.Trouble.Advice[f.Advice]
}

func (t Texts) again(command string) []string {
	if command == "" {
		return nil
	}
	return []string{fmt.Sprintf(t.Trouble.Again, command)}
}

// trouble is what there is to say about a turn besides what it wrote, one line each.
func (t Texts) trouble(e scrollback.TurnEntry, again string) []string {
	if !e.Retry {
		again = ""
	}
	switch reason := t.Trouble.Reasons[e.FinishReason]; {
	case e.Error != nil:
		return t.Failure(*e.Error, again)
	case reason != "":
		return append([]string{reason}, t.again(again)...)
	}
	return t.again(again)
}

// Unanswered writes a turn without a stored answer, as [Message] writes messages.
// again is what to type to have it answered again.
func Unanswered(w io.Writer, t Texts, e scrollback.TurnEntry, again string) error {
	state := cmp.Or(t.Trouble.States[e.State], string(e.State))
	fmt.Fprintf(w, "– %s · %s · %s\n", scrollback.RoleAssistant, When(cmp.Or(e.EndedAt, e.StartedAt)), state)
	if e.Reasoning != "" {
		fmt.Fprintf(w, "(reasoning) %s\n", Clip(e.Reasoning, 200))
	}
	if e.Content != "" {
		fmt.Fprintln(w, Plain(e.Content))
	}
	for _, c := range e.ToolCalls {
		fmt.Fprintf(w, "→ %s %s\n", Plain(c.Name), Plain(string(c.Arguments)))
	}
	for _, line := range t.trouble(e, again) {
		fmt.Fprintf(w, "! %s\n", line)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// Page writes a page of messages with the turns between them.
func Page(w io.Writer, t Texts, p scrollback.MessagePage, again string) error {
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

// left is what became of a turn, for a chat that is resumed: how it ended, why, and what
// to do.
func (t Texts) left(e scrollback.TurnEntry) string {
	lines := t.trouble(e, RetryInChat)
	state := cmp.Or(t.Trouble.States[e.State], string(e.State))
	if len(lines) > 0 {
		state = fmt.Sprintf(t.Trouble.Why, state, strings.Join(lines, "\n  "))
	}
	return fmt.Sprintf(t.Trouble.Mark, state)
}

// unfinished marks a message that is not complete; empty for one that is.
func (t Texts) unfinished(s scrollback.Status) string {
	if s == scrollback.StatusComplete {
		return ""
	}
	return fmt.Sprintf(t.Trouble.Mark, cmp.Or(t.Trouble.States[scrollback.TurnState(s)], string(s)))
}
