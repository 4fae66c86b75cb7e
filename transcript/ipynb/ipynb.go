// Package ipynb reads and writes Jupyter's notebooks, nbformat 4, whose cells have the
// metadata of Mutsumi's: a role, and what a model and its tools said.
//
// Words it adds: output (what Jupyter shows under a cell: the newest answer is one).
//
// Invariants: code and Markdown cells are cells, of the user unless their metadata says
// otherwise; raw cells, what is not a cell, and every field that is not set stay as they were.
// What is written is valid where the file was.
//
// It may not know the store, the network or the file system.
package ipynb

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
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

	dropped int // items that were written and forgotten
	mostIDs int // how many ids are remembered; 0: all
}

// mostIDs is how many ids an export remembers. Those of later cells hold their number.
const mostIDs = 1 << 14

// item is an entry of the list of cells.
type item struct {
	splice.Item
	kind string // code, markdown, raw or what else stands there
	bad  string // why it is not a cell
	read *said  // once it was asked for
}

// said is a cell as it is read.
type said struct {
	cell transcript.Cell
	own  transcript.Entry
	talk cell.Talk
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
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open", i18n.NotebookLongerThan, MaxFile)
	}
	f, list, err := splice.Open(b, "cells")
	if err != nil {
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open", i18n.NotebookUnreadable, err)
	}
	if major := splice.Get(f.Shell, "nbformat"); major != nil && string(major) != "4" {
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open",
			i18n.NotebookFormatUnknown, major)
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
		if n.mostIDs == 0 || len(n.ids) < n.mostIDs {
			n.ids[id] = true
		}
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
	s.talk = cell.ReadTalk(splice.Values(splice.Get(metadata, cell.InteractionField)), meta.Ours)
	s.cell.Interaction = cell.Readable(s.talk.All)
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

// valid reports whether an item can be a message.
func (i *item) valid() bool { return utf8.Valid(i.Raw) }
