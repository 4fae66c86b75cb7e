package words

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/server/language"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// RetryInChat is what a person types in a chat to have the last question answered again.
const RetryInChat = "/retry"

// Ways are what a person types to get out of a refusal that comes again, each with a place
// for a message: going back to it, and going on without it.
type Ways struct{ Back, Without string }

// WaysInChat are the commands of a chat.
var WaysInChat = Ways{Back: "/rewind %d", Without: "/without %d"}

// Failure is what went wrong with a turn, one line each: the reason, what the provider
// said, and what can be done about it. again is what to type for another try, or empty.
func (t Texts) Failure(f scrollback.Failure, again string, ways Ways) []string {
	if t.Language == Chinese.Language {
		f = language.Chinese.Failure(f)
	}
	lines := []string{columns.Plain(f.Message)}
	if f.Cause != "" {
		lines = append(lines, fmt.Sprintf(t.Trouble.Cause, columns.Plain(f.Cause)))
	}
	if todo := t.advice(f); todo != "" {
		lines = append(lines, fmt.Sprintf(t.Trouble.Todo, todo))
	}
	if !f.Permanent {
		return append(lines, t.again(again)...)
	}
	if f.Suspect > 0 && ways.Without != "" {
		lines = append(lines, fmt.Sprintf(t.Trouble.Without, f.Suspect, fmt.Sprintf(ways.Without, f.Suspect)))
	}
	if f.Suspect > 1 && ways.Back != "" {
		lines = append(lines, fmt.Sprintf(t.Trouble.Back, f.Suspect, fmt.Sprintf(ways.Back, f.Suspect-1)))
	}
	return lines
}

func (t Texts) advice(f scrollback.Failure) string {
	if form := t.Trouble.Setting[f.Advice]; form != "" && f.Setting != "" {
		return fmt.Sprintf(form, columns.Plain(f.Setting))
	}
	return t.Trouble.Advice[f.Advice]
}

func (t Texts) again(command string) []string {
	if command == "" {
		return nil
	}
	return []string{fmt.Sprintf(t.Trouble.Again, command)}
}

// TroubleOf is what there is to say about a turn besides what it wrote, one line each.
func (t Texts) TroubleOf(e scrollback.TurnEntry, again string, ways Ways) []string {
	if !e.Retry {
		again = ""
	}
	switch reason := t.Trouble.Reasons[e.FinishReason]; {
	case e.Error != nil:
		return t.Failure(*e.Error, again, ways)
	case reason != "":
		return append([]string{reason}, t.again(again)...)
	}
	return t.again(again)
}

// Left is what became of a turn, for a chat that is resumed: how it ended, why, and what
// to do.
func (t Texts) Left(e scrollback.TurnEntry) string {
	lines := t.TroubleOf(e, RetryInChat, WaysInChat)
	state := cmp.Or(t.Trouble.States[e.State], string(e.State))
	if len(lines) > 0 {
		state = fmt.Sprintf(t.Trouble.Why, state, strings.Join(lines, "\n  "))
	}
	return fmt.Sprintf(t.Trouble.Mark, state)
}

// Unfinished marks a message that is not complete; empty for one that is.
func (t Texts) Unfinished(s scrollback.Status) string {
	if s == scrollback.StatusComplete {
		return ""
	}
	return fmt.Sprintf(t.Trouble.Mark, cmp.Or(t.Trouble.States[scrollback.TurnState(s)], string(s)))
}
