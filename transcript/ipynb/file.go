package ipynb

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

var fields = cell.Fields{Title: "title"}

// Tie implements transcript.Notebook.
func (n *notebook) Tie() transcript.Tie {
	return fields.Tie(splice.Get(n.file.Shell, "metadata"))
}

// SetTie implements transcript.Notebook.
func (n *notebook) SetTie(t transcript.Tie) error {
	was := splice.Get(n.file.Shell, "metadata")
	meta, err := fields.SetTie(n.file.Form, was, t)
	if err == nil && !bytes.Equal(was, meta) {
		n.file.Shell = n.file.Set(n.file.Shell, 0, "metadata", meta)
	}
	return err
}

// metadata is what a new notebook says of itself. That its cells are Markdown makes editors
// show prompts as such.
type metadata struct {
	Language *language `json:"language_info,omitempty"`
	Ours     any       `json:"scrollback,omitempty"`
	Title    string    `json:"title,omitempty"`
}

type language struct {
	Name string `json:"name"`
}

// New returns a notebook without cells, of nbformat 4.5.
func New(t transcript.Tie) transcript.Notebook { return empty(t, nil) }

func empty(t transcript.Tie, meta json.RawMessage) *notebook {
	m := metadata{Language: &language{"markdown"}, Ours: cell.NewOurs(t, false, meta), Title: t.Title}
	if splice.Get(splice.Get(meta, Name), "language_info") != nil {
		m.Language = nil
	}
	form := splice.Form{Indent: " ", Newline: "\n"}
	raw, err := form.Marshal(m, 1)
	if err == nil {
		raw = cell.Restore(form, raw, splice.Get(meta, Name))
		raw = slices.Concat([]byte("{\n \"cells\": [],\n \"metadata\": "), raw, []byte(",\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n"))
		var n *notebook
		if n, err = open(raw); err == nil {
			return n
		}
	}
	panic(err) // it is made of texts and of JSON that was stored
}

// Append implements transcript.Notebook.
func (n *notebook) Append(c transcript.Cell) (int, error) {
	if c.Role == "" {
		c.Role = scrollback.RoleUser
	}
	if err := n.append(c, nil); err != nil {
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

// append adds a cell as the last one; own is the message that it is, if there is more to be
// said of it.
func (n *notebook) append(c transcript.Cell, own *transcript.Entry) error {
	w := written{Type: "code", Metadata: json.RawMessage("{}")}
	text := c.Text
	switch {
	case c.Role == scrollback.RoleSystem:
		w.Type, text = "markdown", cell.SystemPrefix+text
	case c.Markup || c.Role != scrollback.RoleUser:
		w.Type = "markdown"
	}
	if w.Type == "code" {
		null := json.RawMessage("null")
		w.Count, w.Outputs, text = &null, &[]string{}, cell.Inline(c)
	} else {
		for i, p := range c.Images {
			if w.Attachments == nil {
				w.Attachments = map[string]map[string]string{}
			}
			w.Attachments[p.Name] = map[string]string{p.MediaType: base64.StdEncoding.EncodeToString(c.Bytes[i])}
		}
	}
	w.Source = append([]string{}, split(text)...)
	minor, err := strconv.Atoi(string(splice.Get(n.file.Shell, "nbformat_minor")))
	if err == nil && minor >= 5 {
		w.ID = n.fresh(c.ID, text)
	}
	raw, err := n.file.Marshal(w, cellDepth)
	if err != nil {
		return err
	}
	meta := n.file.Set(json.RawMessage("{}"), metaDepth, cell.RoleField, json.RawMessage(strconv.Quote(string(c.Role))))
	n.add(n.file.Another(n.file.Set(raw, cellDepth, "metadata", meta), len(n.items) == 0))
	made := n.cells[len(n.cells)-1]
	if own == nil && len(c.References) > 0 {
		e := cell.Parts(c)
		own = &e
	}
	notes := cell.Ours{Stale: c.Stale}
	if own != nil {
		if meta, notes.Own, err = cell.SetOwn(n.file.Form, meta, made.said().cell, *own); err != nil {
			return err
		}
	}
	if len(c.Interaction) == 0 {
		meta, err = cell.SetOurs(n.file.Form, meta, notes)
	} else {
		meta, err = n.interaction(meta, notes, c.Interaction)
	}
	if err != nil {
		return err
	}
	made.Raw, made.read = n.file.Set(made.Raw, cellDepth, "metadata", meta), nil
	if made.kind == "code" && len(c.Interaction) > 0 {
		return n.show(made, cell.Newest(c.Interaction))
	}
	return nil
}

// interaction puts a new interaction into the metadata of a cell.
func (n *notebook) interaction(meta json.RawMessage, o cell.Ours, said []transcript.Entry) (json.RawMessage, error) {
	messages, notes, err := cell.Write(said)
	if err != nil {
		return nil, err
	}
	o.Said = notes
	var raws []json.RawMessage
	for _, m := range messages {
		raw, err := n.file.Marshal(m, metaDepth+2)
		if err != nil {
			return nil, err
		}
		raws = append(raws, raw)
	}
	return n.said(meta, o, raws)
}

// fresh is an id that no cell has: the one that is wanted, or one made of the text.
func (n *notebook) fresh(want, text string) string {
	if want != "" && len(want) <= 64 && !n.ids[want] && plainID(want) {
		return want
	}
	for i := len(n.items); ; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", i, text))
		if id := hex.EncodeToString(sum[:4]); !n.ids[id] {
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

// Format is the format. The zero value is ready.
type Format struct{}

// Name implements transcript.Importer.
func (Format) Name() string { return Name }

// Sniff implements transcript.Importer: an object with cells or nbformat.
func (Format) Sniff(head []byte) bool {
	d := transcript.NewDocument(bytes.NewReader(head), transcript.MaxLine)
	for {
		name, err := d.Next()
		if err != nil {
			return false
		}
		if name == "cells" || name == "nbformat" {
			return true
		}
		if _, err := d.Value(); err != nil {
			return bytes.Contains(head, []byte(`"nbformat"`)) || bytes.Contains(head, []byte(`"cell_type"`))
		}
	}
}

// Read implements transcript.Importer.
func (Format) Read(r io.Reader) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		b, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		n, err := open(b)
		if err != nil {
			yield(cell.Broken(err), nil)
			return
		}
		in := cell.NewReading(n.Tie(), Name, n.file.Line, yield)
		for _, i := range n.items {
			in.At(i.Item)
			switch {
			case i.kind == "raw":
			case i.bad != "":
				in.Bad(i.bad)
			case !i.valid():
				in.Bad("not UTF-8")
			default:
				s := i.said()
				in.Cell(s.cell, s.own, s.all, "")
			}
		}
	}
}

// Write implements transcript.Exporter.
func (Format) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	n := empty(cell.TieOf(c), c.Meta)
	for g, err := range cell.Groups(entries) {
		if err == nil {
			err = n.append(g.Cell(), g.Own)
		}
		if err != nil {
			return err
		}
	}
	_, err := w.Write(n.Bytes())
	return err
}
