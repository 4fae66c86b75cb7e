// Package ipynb reads and writes Jupyter's notebooks, nbformat 4, whose cells have the
// metadata of Mutsumi's: a role, and what a model and its tools said.
//
// Words it adds: output (what Jupyter shows under a cell: the newest answer is one).
//
// Invariants: code and Markdown cells are cells, of the user unless their metadata says
// otherwise; raw cells, what is no cell, and every field that is not set stay as they were.
// What is written is valid where the file was.
//
// It may not know the store, the network or the file system.
package ipynb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

// Name is the format's name, and MaxFile how long a file may be, in bytes.
const (
	Name    = "ipynb"
	MaxFile = transcript.MaxLine
)

// The depths at which things stand in a file.
const (
	cellDepth = 2
	metaDepth = 3
)

type notebook struct {
	file  *splice.File
	items []*item
	cells []*item
	ids   map[string]bool
}

// item is an entry of the list of cells.
type item struct {
	splice.Item
	kind string // code, markdown, raw or what else stands there
	bad  string // why it is no cell
	read *said  // once it was asked for
}

// said is a cell as it is read.
type said struct {
	cell transcript.Cell
	own  transcript.Entry
	raw  []json.RawMessage // the messages of the interaction
	all  []transcript.Entry
	of   []int // of how many messages each is made
}

// Open reads a file, which must not be changed any more. An error names its line and column.
func Open(b []byte) (transcript.Notebook, error) {
	n, err := open(b)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func open(b []byte) (*notebook, error) {
	if len(b) > MaxFile {
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open", "the notebook is longer than %d bytes", MaxFile)
	}
	f, list, err := splice.Open(b, "cells")
	if err != nil {
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open", "the notebook cannot be read: %w", err)
	}
	if major := splice.Get(f.Shell, "nbformat"); major != nil && string(major) != "4" {
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open", "only notebooks of nbformat 4 can be read, this one says %.20s", major)
	}
	n := &notebook{file: f, ids: map[string]bool{}}
	for _, it := range list {
		n.add(it)
	}
	return n, nil
}

func (n *notebook) add(it splice.Item) {
	i := &item{Item: it}
	members := splice.Members(it.Raw)
	var id string
	_ = json.Unmarshal(field(it.Raw, members, "cell_type"), &i.kind) // one of the wrong type is none
	if json.Unmarshal(field(it.Raw, members, "id"), &id) == nil {
		n.ids[id] = true
	}
	if i.kind != "raw" {
		if _, ok := lines(field(it.Raw, members, "source")); i.kind != "code" && i.kind != "markdown" || len(members) == 0 {
			i.bad = "this is not a cell"
		} else if !ok {
			i.bad = "the source of the cell is neither a text nor a list of texts"
		}
		if i.bad == "" {
			n.cells = append(n.cells, i)
		}
	}
	n.items = append(n.items, i)
}

// field is the value of the last member of a name, or nil.
func field(object []byte, members []splice.Member, name string) json.RawMessage {
	for _, m := range slices.Backward(members) {
		if m.Name == name {
			return object[m.Value.From:m.Value.To]
		}
	}
	return nil
}

// lines reads a text that may be a list of its lines.
func lines(raw json.RawMessage) (string, bool) {
	var one string
	if raw == nil || json.Unmarshal(raw, &one) == nil && string(raw) != "null" {
		return one, true
	}
	var list []string
	if string(raw) == "null" || json.Unmarshal(raw, &list) != nil {
		return "", false
	}
	return strings.Join(list, ""), true
}

// Bytes implements transcript.Notebook.
func (n *notebook) Bytes() []byte {
	all := make([]splice.Item, 0, len(n.items))
	for _, i := range n.items {
		all = append(all, i.Item)
	}
	return n.file.Bytes(all)
}

// Cells implements transcript.Notebook.
func (n *notebook) Cells() []transcript.Cell {
	out := make([]transcript.Cell, 0, len(n.cells))
	for _, i := range n.cells {
		out = append(out, i.said().cell)
	}
	return out
}

// said reads a cell.
func (i *item) said() *said {
	if i.read != nil {
		return i.read
	}
	members := splice.Members(i.Raw)
	metadata := field(i.Raw, members, "metadata")
	meta := cell.ReadMeta(metadata)
	s := &said{cell: transcript.Cell{Role: meta.Role, Markup: i.kind == "markdown", Stale: meta.Stale}}
	if json.Unmarshal(field(i.Raw, members, "id"), &s.cell.ID) != nil {
		s.cell.ID = ""
	}
	s.cell.Text, _ = lines(field(i.Raw, members, "source")) // it was read before
	if meta.Role == scrollback.RoleSystem {
		s.cell.Text = strings.TrimPrefix(s.cell.Text, cell.SystemPrefix)
	}
	attachments := field(i.Raw, members, "attachments")
	cell.Lift(&s.cell, func(name string) (string, []byte, bool) { return attached(splice.Get(attachments, name)) })
	s.raw = splice.Values(splice.Get(metadata, cell.InteractionField))
	s.all, s.of = cell.Interaction(s.raw, meta.Said)
	s.cell.Interaction = cell.Readable(s.all)
	s.cell.References = cell.References(meta.Ghost)
	s.own = cell.Own(s.cell, meta.Ours)
	s.cell.References = cell.Referring(s.own)
	i.read = s
	return s
}

// attached is the image of an attachment, which may be there in several types.
func attached(bundle json.RawMessage) (mediaType string, b []byte, ok bool) {
	var types map[string]json.RawMessage
	if bundle == nil || json.Unmarshal(bundle, &types) != nil {
		return "", nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if text, ok := lines(types[name]); ok && strings.HasPrefix(name, "image/") {
			b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
			if mediaType, ok = cell.Sniff(b); ok && err == nil {
				return mediaType, b, true
			}
		}
	}
	return "", nil, false
}

// at is a cell by its index.
func (n *notebook) at(i int) (*item, error) {
	if i < 0 || i >= len(n.cells) {
		return nil, scrollback.Errorf(scrollback.NotFound, "ipynb", "the notebook has %d cells", len(n.cells))
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
	kept := cell.Kept(was.all, rest)
	if own == nil && len(rest) == len(was.all) && kept == len(rest) {
		return nil
	}
	if was.cell.Role == scrollback.RoleSystem && len(rest) > 0 {
		return scrollback.Errorf(scrollback.Invalid, "ipynb.SetInteraction", "a system cell has no interaction")
	}
	messages, notes, err := cell.Write(rest)
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
	same := 0
	for k := range kept {
		same += was.of[k]
	}
	raws := was.raw[:same:same]
	for _, m := range messages[same:] {
		raw, err := n.file.Marshal(m, metaDepth+2)
		if err != nil {
			return err
		}
		raws = append(raws, raw)
	}
	if meta, err = n.said(meta, o, raws); err != nil {
		return err
	}
	c.Raw, c.read = n.file.Set(c.Raw, cellDepth, "metadata", meta), nil
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

// output is an answer as Jupyter shows it.
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
		raw, err := n.file.Marshal(output{map[string][]string{"text/markdown": split(answer)}, map[string]bool{cell.OursField: true}, "display_data"},
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
		c.Raw, c.read = n.file.Set(c.Raw, cellDepth, "metadata", meta), nil
	}
	return err
}

// valid reports whether an item can be a message.
func (i *item) valid() bool { return utf8.Valid(i.Raw) }
