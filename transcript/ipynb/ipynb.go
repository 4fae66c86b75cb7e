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
	items []*cellItem
	cells []*cellItem
	ids   map[string]bool

	dropped int // items that were written and forgotten
	mostIDs int // how many ids are remembered; 0: all
}

// maxIDs is how many ids an export remembers. Those of later cells hold their number.
const maxIDs = 1 << 14

// cellItem is an entry of the list of cells.
type cellItem struct {
	splice.Item
	kind string    // code, markdown, raw or what else stands there
	bad  string    // why it is not a cell
	read *readCell // once it was asked for
}

// readCell is a cell as it is read.
type readCell struct {
	cell transcript.Cell
	own  transcript.Entry
	talk cell.Talk
}

// Open reads a file, which must not be changed any more. An error names its line and column.
func Open(b []byte) (transcript.Notebook, error) {
	n, err := openNotebook(b)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func openNotebook(b []byte) (*notebook, error) {
	if len(b) > MaxFile {
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open", i18n.NotebookLongerThan, MaxFile)
	}
	f, list, err := splice.Open(b, "cells")
	if err != nil {
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open", i18n.NotebookUnreadable, err)
	}
	if major := splice.GetField(f.Shell, "nbformat"); major != nil && string(major) != "4" {
		return nil, scrollback.Errorf(scrollback.Invalid, "ipynb.Open",
			i18n.NotebookFormatUnknown, major)
	}
	n := &notebook{file: f, ids: map[string]bool{}}
	for _, it := range list {
		n.addItem(it)
	}
	return n, nil
}

func (n *notebook) addItem(it splice.Item) {
	i := &cellItem{Item: it}
	members := splice.ListMembers(it.Raw)
	var id string
	_ = json.Unmarshal(memberValue(it.Raw, members, "cell_type"), &i.kind) // one of the wrong type is none
	if json.Unmarshal(memberValue(it.Raw, members, "id"), &id) == nil {
		if n.mostIDs == 0 || len(n.ids) < n.mostIDs {
			n.ids[id] = true
		}
	}
	if i.kind != "raw" {
		if _, ok := joinLines(memberValue(it.Raw, members, "source")); i.kind != "code" && i.kind != "markdown" ||
			len(members) == 0 {
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

// memberValue returns the value of the last member of a name, or nil.
func memberValue(object []byte, members []splice.Member, name string) json.RawMessage {
	for _, m := range slices.Backward(members) {
		if m.Name == name {
			return object[m.Value.From:m.Value.To]
		}
	}
	return nil
}

// joinLines reads a text that may be a list of its lines.
func joinLines(raw json.RawMessage) (string, bool) {
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
	return n.file.WithItems(all)
}

// Cells implements transcript.Notebook.
func (n *notebook) Cells() []transcript.Cell {
	out := make([]transcript.Cell, 0, len(n.cells))
	for _, i := range n.cells {
		out = append(out, i.readCell().cell)
	}
	return out
}

// readCell reads a cell.
func (i *cellItem) readCell() *readCell {
	if i.read != nil {
		return i.read
	}
	members := splice.ListMembers(i.Raw)
	metadata := memberValue(i.Raw, members, "metadata")
	meta := cell.ReadMeta(metadata)
	s := &readCell{cell: transcript.Cell{Role: meta.Role, Markup: i.kind == "markdown", Stale: meta.Stale}}
	if json.Unmarshal(memberValue(i.Raw, members, "id"), &s.cell.ID) != nil {
		s.cell.ID = ""
	}
	s.cell.Text, _ = joinLines(memberValue(i.Raw, members, "source")) // it was read before
	if meta.Role == scrollback.RoleSystem {
		s.cell.Text = strings.TrimPrefix(s.cell.Text, cell.SystemPrefix)
	}
	attachments := memberValue(i.Raw, members, "attachments")
	cell.LiftImages(&s.cell, func(name string) (string, []byte, bool) {
		return attachedImage(splice.GetField(attachments, name))
	})
	s.talk = cell.ReadTalk(splice.ListValues(splice.GetField(metadata, cell.InteractionField)), meta.Ours)
	s.cell.Interaction = cell.ReadableEntries(s.talk.All)
	s.cell.References = cell.ReadReferences(meta.Ghost)
	s.own = cell.OwnMessage(s.cell, meta.Ours)
	s.cell.References = cell.ReferenceTexts(s.own)
	i.read = s
	return s
}

// attachedImage returns the image of an attachment, which may be there in several types.
func attachedImage(bundle json.RawMessage) (mediaType string, b []byte, ok bool) {
	var types map[string]json.RawMessage
	if bundle == nil || json.Unmarshal(bundle, &types) != nil {
		return "", nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if text, ok := joinLines(types[name]); ok && strings.HasPrefix(name, "image/") {
			b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
			if mediaType, ok = cell.SniffImage(b); ok && err == nil {
				return mediaType, b, true
			}
		}
	}
	return "", nil, false
}

// isValid reports whether an item can be a message.
func (i *cellItem) isValid() bool { return utf8.Valid(i.Raw) }
