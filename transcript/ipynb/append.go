package ipynb

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

// Append implements transcript.Notebook.
func (n *notebook) Append(c transcript.Cell) (int, error) {
	if c.Role == "" {
		c.Role = scrollback.RoleUser
	}
	if err := n.appendCell(c, nil); err != nil {
		return 0, err
	}
	return len(n.cells) - 1, nil
}

// written is a new cell.
type written struct {
	Attachments map[string]map[string]string `json:"attachments,omitempty"`
	Type        string                       `json:"cell_type"`
	Count       *json.RawMessage             `json:"execution_count,omitempty"`
	ID          string                       `json:"id,omitempty"`
	Metadata    json.RawMessage              `json:"metadata"`
	Outputs     *[]string                    `json:"outputs,omitempty"`
	Source      []string                     `json:"source"`
}

// appendCell adds a cell as the last one; own is the message that it is, if there is more to be
// said of it.
func (n *notebook) appendCell(c transcript.Cell, own *transcript.Entry) error {
	w := written{Type: "code", Metadata: json.RawMessage("{}")}
	text := c.Text
	switch {
	case c.Role == scrollback.RoleSystem:
		w.Type = "markdown"
		text = cell.SystemPrefix + text
	case c.Markup || c.Role != scrollback.RoleUser:
		w.Type = "markdown"
	}
	if w.Type == "code" {
		null := json.RawMessage("null")
		w.Count = &null
		w.Outputs = &[]string{}
		text = cell.InlineImages(c)
	} else {
		for i, p := range c.Images {
			if w.Attachments == nil {
				w.Attachments = map[string]map[string]string{}
			}
			w.Attachments[p.Name] = map[string]string{p.MediaType: base64.StdEncoding.EncodeToString(c.Bytes[i])}
		}
	}
	w.Source = append([]string{}, splitLines(text)...)
	minor, err := strconv.Atoi(string(splice.GetField(n.file.Shell, "nbformat_minor")))
	if err == nil && minor >= 5 {
		w.ID = n.uniqueID(c.ID, text)
	}
	raw, err := n.file.MarshalAt(w, cellDepth)
	if err != nil {
		return err
	}
	meta := n.file.SetField(json.RawMessage("{}"), metaDepth, cell.RoleField,
		json.RawMessage(strconv.Quote(string(c.Role))))
	n.addItem(n.file.NewItem(n.file.SetField(raw, cellDepth, "metadata", meta), len(n.items) == 0))
	made := n.cells[len(n.cells)-1]
	if own == nil && len(c.References) > 0 {
		e := cell.CellParts(c)
		own = &e
	}
	notes := cell.Ours{Stale: c.Stale}
	if own != nil {
		if meta, notes.Own, err = cell.SetOwn(n.file.Form, meta, made.readCell().cell, *own); err != nil {
			return err
		}
	}
	if len(c.Interaction) == 0 {
		meta, err = cell.SetOurs(n.file.Form, meta, notes)
	} else {
		meta, err = n.withInteraction(meta, notes, c.Interaction)
	}
	if err != nil {
		return err
	}
	made.Raw = n.file.SetField(made.Raw, cellDepth, "metadata", meta)
	made.read = nil
	if made.kind == "code" && len(c.Interaction) > 0 {
		return n.showAnswer(made, cell.NewestAnswer(c.Interaction))
	}
	return nil
}

// withInteraction puts a new interaction into the metadata of a cell.
func (n *notebook) withInteraction(meta json.RawMessage, o cell.Ours,
	said []transcript.Entry) (json.RawMessage, error) {
	raws, _, notes, err := cell.Talk{}.ChangeTo(n.file.Form, metaDepth+2, said)
	if err != nil {
		return nil, err
	}
	o.Said = notes
	return n.withMessages(meta, o, raws)
}

// uniqueID returns an id that no cell has: the one that is wanted, or one made of the text.
func (n *notebook) uniqueID(want, text string) string {
	if want != "" && len(want) <= 64 && !n.ids[want] && plainID(want) {
		return want
	}
	for i := n.dropped + len(n.items); ; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", i, text))
		id := hex.EncodeToString(sum[:4])
		if n.mostIDs > 0 && len(n.ids) >= n.mostIDs {
			return id + "-" + strconv.Itoa(i)
		}
		if !n.ids[id] {
			return id
		}
	}
}

func plainID(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return true
}
