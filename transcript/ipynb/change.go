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

// at is a cell by its index.
func (n *notebook) at(i int) (*item, error) {
	if i < 0 || i >= len(n.cells) {
		return nil, scrollback.Errorf(scrollback.NotFound, "ipynb", i18n.NotebookHasTooManyCells, len(n.cells))
	}
	return n.cells[i], nil
}

// SetInteraction implements transcript.Notebook.
func (n *notebook) SetInteraction(i int, list []transcript.Entry) error {
	c, err := n.at(i)
	if err != nil {
		return err
	}
	own, rest := cell.Split(list)
	was := c.said()
	if own == nil && was.talk.Says(rest) {
		return nil
	}
	if was.cell.Role == scrollback.RoleSystem {
		return scrollback.Errorf(scrollback.Invalid, "ipynb.SetInteraction", i18n.SystemCellHasNoInteraction)
	}
	raws, _, notes, err := was.talk.Change(n.file.Form, metaDepth+2, rest)
	if err != nil {
		return err
	}
	meta := splice.Get(c.Raw, "metadata")
	o := cell.ReadMeta(meta).Ours
	o.Said = notes
	if own != nil {
		if meta, o.Own, err = cell.SetOwn(n.file.Form, meta, was.cell, *own); err != nil {
			return err
		}
	}
	if meta, err = n.said(meta, o, raws); err != nil {
		return err
	}
	c.Raw = n.file.Set(c.Raw, cellDepth, "metadata", meta)
	c.read = nil
	if c.kind == "code" {
		return n.show(c, cell.Newest(rest))
	}
	return nil
}

// said puts an interaction and our own field into the metadata of a cell.
func (n *notebook) said(meta json.RawMessage, o cell.Ours, raws []json.RawMessage) (json.RawMessage, error) {
	if len(meta) == 0 {
		meta = json.RawMessage("{}")
	}
	if len(raws) > 0 {
		meta = n.file.Set(meta, metaDepth, cell.InteractionField, n.file.List(raws, metaDepth+1))
	} else {
		meta = n.file.Set(meta, metaDepth, cell.InteractionField, nil)
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

// show puts the newest answer under a cell, in place of the one before.
func (n *notebook) show(c *item, answer string) error {
	outputs := splice.Values(splice.Get(c.Raw, "outputs"))
	at := slices.IndexFunc(outputs, func(raw json.RawMessage) bool {
		return string(splice.Get(splice.Get(raw, "metadata"), cell.OursField)) == "true"
	})
	switch {
	case answer == "" && at < 0:
		if splice.Get(c.Raw, "outputs") != nil {
			return nil
		}
	case answer == "":
		outputs = slices.Delete(outputs, at, at+1)
	default:
		raw, err := n.file.Marshal(output{map[string][]string{"text/markdown": split(answer), "text/plain": split(answer)},
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
	c.Raw = n.file.Set(c.Raw, cellDepth, "outputs", n.file.List(outputs, metaDepth))
	return nil
}

// split is a text as its lines, each with its end.
func split(s string) []string {
	return slices.DeleteFunc(strings.SplitAfter(s, "\n"), func(line string) bool { return line == "" })
}

// SetStale implements transcript.Notebook.
func (n *notebook) SetStale(i int, stale bool) error {
	c, err := n.at(i)
	if err != nil {
		return err
	}
	was := splice.Get(c.Raw, "metadata")
	o := cell.ReadMeta(was).Ours
	if o.Stale == stale {
		return nil
	}
	o.Stale = stale
	meta, err := cell.SetOurs(n.file.Form, was, o)
	if err == nil && !bytes.Equal(was, meta) {
		c.Raw = n.file.Set(c.Raw, cellDepth, "metadata", meta)
		c.read = nil
	}
	return err
}
