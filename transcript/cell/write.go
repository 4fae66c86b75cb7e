package cell

import (
	"bufio"
	"io"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
)

// MaxGroup bounds the texts and attachments of one cell that is exported, in bytes. Only one
// cell is in memory at a time.
const MaxGroup = transcript.MaxLine

// Export writes the cells that messages become into a file without items, one at a time.
// add makes the items of a cell.
func Export(w io.Writer, f *splice.File, entries iter.Seq2[transcript.Entry, error],
	add func(Group) ([]splice.Item, error)) error {
	out := bufio.NewWriter(w)
	any := false
	for g, err := range GroupCells(entries) {
		var items []splice.Item
		if err == nil {
			items, err = add(g)
		}
		if err != nil {
			return err
		}
		if before, _ := f.AroundItems(true); !any && len(items) > 0 {
			any = true
			_, _ = out.Write(before) // its error comes again at the end
		}
		for _, it := range items {
			_, _ = out.Write(it.Lead)
			if _, err := out.Write(it.Raw); err != nil {
				return err
			}
		}
	}
	before, after := f.AroundItems(any)
	if !any {
		_, _ = out.Write(before)
	}
	_, _ = out.Write(after)
	return out.Flush()
}

// entrySize is about how many bytes a message takes in a file.
func entrySize(e transcript.Entry) (n int) {
	for _, p := range e.Message.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			n += len(p.Text)
		case scrollback.Reasoning:
			n += len(p.Text)
		case scrollback.ToolCall:
			n += len(p.Arguments)
		case scrollback.ToolResult:
			n += len(p.Text)
		case scrollback.Image, scrollback.File: // their bytes are beside them
		}
	}
	for _, b := range e.Bytes {
		n += len(b)
	}
	return n
}

func newTooLongError(seq int64) error {
	return scrollback.Errorf(scrollback.Invalid, "cell.Export",
		i18n.NotebookCellTooLarge, seq,
		MaxGroup).
		WithReason(scrollback.ErrTooLarge)
}
