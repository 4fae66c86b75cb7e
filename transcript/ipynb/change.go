package ipynb

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

// cellAt returns a cell by its index.
func (n *notebook) cellAt(i int) (*cellItem, error) {
	if i < 0 || i >= len(n.cells) {
		return nil, scrollback.Errorf(scrollback.NotFound, "ipynb", i18n.NotebookHasTooManyCells, len(n.cells))
	}
	return n.cells[i], nil
}

// SetInteraction implements transcript.Notebook.
func (n *notebook) SetInteraction(i int, list []transcript.Entry) error {
	c, err := n.cellAt(i)
	if err != nil {
		return err
	}
	own, rest := cell.SplitOwn(list)
	was := c.readCell()
	if own == nil && was.talk.IsSame(rest) {
		return nil
	}
	if was.cell.Role == scrollback.RoleSystem {
		return scrollback.Errorf(scrollback.Invalid, "ipynb.SetInteraction", i18n.SystemCellHasNoInteraction)
	}
	raws, _, notes, err := was.talk.ChangeTo(n.file.Form, metaDepth+2, rest)
	if err != nil {
		return err
	}
	meta := splice.GetField(c.Raw, "metadata")
	o := cell.ReadMeta(meta).Ours
	o.Said = notes
	if own != nil {
		if meta, o.Own, err = cell.SetOwn(n.file.Form, meta, was.cell, *own); err != nil {
			return err
		}
	}
	if meta, err = n.withMessages(meta, o, raws); err != nil {
		return err
	}
	c.Raw = n.file.SetField(c.Raw, cellDepth, "metadata", meta)
	c.read = nil
	if c.kind == "code" {
		return n.showAnswer(c, cell.NewestAnswer(rest))
	}
	return nil
}

// withMessages puts an interaction and our own field into the metadata of a cell.
func (n *notebook) withMessages(meta json.RawMessage, o cell.Ours, raws []json.RawMessage) (json.RawMessage, error) {
	if len(meta) == 0 {
		meta = json.RawMessage("{}")
	}
	if len(raws) > 0 {
		meta = n.file.SetField(meta, metaDepth, cell.InteractionField, n.file.MakeList(raws, metaDepth+1))
	} else {
		meta = n.file.SetField(meta, metaDepth, cell.InteractionField, nil)
	}
	return cell.SetOurs(n.file.Form, meta, o)
}

// output is an answer as Jupyter shows it: the plain text is for its Notebook, which hides
// Markdown in files that it does not trust.
type output struct {
	Data     map[string][]string `json:"data"`
	Metadata map[string]bool     `json:"metadata"`
	Type     string              `json:"output_type"`
}

// showAnswer puts the newest answer under a cell, in place of the one before.
func (n *notebook) showAnswer(c *cellItem, answer string) error {
	outputs := splice.ListValues(splice.GetField(c.Raw, "outputs"))
	at := slices.IndexFunc(outputs, func(raw json.RawMessage) bool {
		return string(splice.GetField(splice.GetField(raw, "metadata"), cell.OursField)) == "true"
	})
	switch {
	case answer == "" && at < 0:
		if splice.GetField(c.Raw, "outputs") != nil {
			return nil
		}
	case answer == "":
		outputs = slices.Delete(outputs, at, at+1)
	default:
		raw, err := n.file.MarshalAt(output{map[string][]string{"text/markdown": splitLines(answer),
			"text/plain": splitLines(answer)},
			map[string]bool{cell.OursField: true}, "display_data"},
			metaDepth+1)
		if err != nil {
			return err
		}
		if at < 0 {
			outputs = append(outputs, raw)
		} else {
			outputs[at] = raw
		}
	}
	c.Raw = n.file.SetField(c.Raw, cellDepth, "outputs", n.file.MakeList(outputs, metaDepth))
	return nil
}

// splitLines returns a text as its lines, each with its end.
func splitLines(s string) []string {
	return slices.DeleteFunc(strings.SplitAfter(s, "\n"), func(line string) bool { return line == "" })
}

// SetStale implements transcript.Notebook.
func (n *notebook) SetStale(i int, stale bool) error {
	c, err := n.cellAt(i)
	if err != nil {
		return err
	}
	was := splice.GetField(c.Raw, "metadata")
	o := cell.ReadMeta(was).Ours
	if o.Stale == stale {
		return nil
	}
	o.Stale = stale
	meta, err := cell.SetOurs(n.file.Form, was, o)
	if err == nil && !bytes.Equal(was, meta) {
		c.Raw = n.file.SetField(c.Raw, cellDepth, "metadata", meta)
		c.read = nil
	}
	return err
}
