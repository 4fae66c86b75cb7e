package ipynb

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

var fields = cell.Fields{Title: "title"}

// Tie implements transcript.Notebook.
func (n *notebook) Tie() transcript.Tie {
	return fields.ReadTie(splice.GetField(n.file.Shell, "metadata"))
}

// SetTie implements transcript.Notebook.
func (n *notebook) SetTie(t transcript.Tie) error {
	return fields.SetTie(n.file, t)
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
func New(t transcript.Tie) transcript.Notebook { return newEmpty(t, nil) }

func newEmpty(t transcript.Tie, meta json.RawMessage) *notebook {
	m := metadata{Language: &language{"markdown"}, Ours: cell.NewOurs(t, false, meta), Title: t.Title}
	if splice.GetField(splice.GetField(meta, Name), "language_info") != nil {
		m.Language = nil
	}
	form := splice.Form{Indent: " ", Newline: "\n"}
	raw, err := form.MarshalAt(m, 1)
	if err == nil {
		raw = cell.RestoreMeta(form, raw, splice.GetField(meta, Name))
		raw = slices.Concat([]byte("{\n \"cells\": [],\n \"metadata\": "), raw,
			[]byte(",\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n"))
		var n *notebook
		if n, err = openNotebook(raw); err == nil {
			return n
		}
	}
	panic(err) // it is made of texts and of JSON that was stored
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
		n, err := openNotebook(b)
		if err != nil {
			yield(cell.BrokenFile(err), nil)
			return
		}
		in := cell.NewReading(n.Tie(), Name, n.file.Line, yield)
		for _, i := range n.items {
			in.BeginItem(i.Item)
			switch {
			case i.kind == "raw":
			case i.bad != "":
				in.EmitBad(i.bad)
			case !i.isValid():
				in.EmitBad("not UTF-8")
			default:
				s := i.readCell()
				in.EmitCell(s.cell, s.own, s.talk.All, "")
			}
		}
	}
}

// Write implements transcript.Exporter.
func (Format) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	n := newEmpty(cell.ConversationTie(c), c.Meta)
	n.mostIDs = maxIDs
	return cell.Export(w, n.file, entries, func(g cell.Group) ([]splice.Item, error) {
		if err := n.appendCell(g.ToCell(), g.Own); err != nil {
			return nil, err
		}
		last := n.items[len(n.items)-1]
		n.dropped += len(n.items) - 1
		// what is written is not needed any more
		n.items = []*cellItem{{}}
		n.cells = nil
		return []splice.Item{last.Item}, nil
	})
}
