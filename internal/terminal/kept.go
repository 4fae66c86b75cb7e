package terminal

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// KeptList is what is kept word for word, as it is shown.
type KeptList struct {
	Kept          []scrollback.Kept
	Numbers       bool // by which a chat names them
	Conversations bool // they are of several
	States        bool // some may not stand
}

// keptTextWidth is how much of a sentence a list shows.
const keptTextWidth = 100

// WriteKept lists what is kept: its kind, where it was said, the sentence, and its id.
func WriteKept(w io.Writer, t words.Texts, l KeptList) error {
	if len(l.Kept) == 0 {
		_, err := fmt.Fprintln(w, t.Say(i18n.ChatNothingKept))
		return err
	}
	var rows [][]string
	for i, k := range l.Kept {
		var row []string
		if l.Numbers {
			row = append(row, strconv.Itoa(i+1))
		}
		row = append(row, t.Named("kept-kind", string(k.Kind)))
		if l.States {
			row = append(row, t.Named("kept-state", string(k.State)))
		}
		if l.Conversations {
			row = append(row, string(k.Conversation))
		}
		row = append(row, fmt.Sprintf("#%d", k.Seq), columns.ClipText(k.Text, keptTextWidth))
		if !l.Numbers {
			row = append(row, string(k.ID))
		}
		rows = append(rows, row)
	}
	if l.Numbers {
		return columns.WriteTable(w, rows, 0)
	}
	return columns.WriteTable(w, rows)
}

// keptChanges are what "/kept WHAT N" does.
var keptChanges = map[string]scrollback.KeptState{"drop": scrollback.KeptDropped, "done": scrollback.KeptDone,
	"open": scrollback.KeptOpen}

// listKept lists what is kept, or changes one sentence of the list that was shown last.
func (c *chat) listKept(ctx context.Context, w io.Writer, arg string) error {
	const op = "terminal.kept"
	if arg != "" {
		what, which, _ := strings.Cut(arg, " ")
		state, known := keptChanges[what]
		n, err := strconv.Atoi(strings.TrimSpace(which))
		if !known || err != nil {
			return scrollback.ParamErrorf(op, "argument", i18n.ChatMissing, "/kept", i18n.ChatTakesKept)
		}
		if c.keptOf != c.id || n < 1 || n > len(c.kept) {
			return scrollback.ParamErrorf(op, "argument", i18n.ChatNotInKeptList, n)
		}
		k, err := c.o.View.Kept().SetState(ctx, c.id, c.kept[n-1], state)
		if err != nil {
			return err
		}
		// The numbers stay those of the list that the person has seen.
		return WriteKept(w, c.o.Texts, KeptList{Kept: []scrollback.Kept{k}, States: true})
	}
	list, err := c.o.View.Kept().List(ctx, c.id, false)
	if err != nil {
		return err
	}
	c.kept = nil
	for _, k := range list {
		c.kept = append(c.kept, k.ID)
	}
	c.keptOf = c.id
	return WriteKept(w, c.o.Texts, KeptList{Kept: list, Numbers: true})
}
