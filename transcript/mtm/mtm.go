// Package mtm reads and writes Mutsumi's notebooks: a JSON object with metadata and a
// context, which is a list of messages.
//
// Words it adds: run (the messages of the model and its tools behind a user's message: they
// are the interaction of its cell).
//
// Invariants: a user's message is a cell, a system message a markup cell, and a run behind
// neither is a markup cell of the model's. What no cell is made of, and every field that
// is not set, stays as it was.
//
// It may not know the store, the network or the file system.
package mtm

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
	"github.com/scrollback-ai/scrollback/wire"
)

// Name is the format's name, and MaxFile how long a file may be, in bytes.
const (
	Name    = "mtm"
	MaxFile = transcript.MaxLine
)

// messageDepth is how deep a message stands in a file.
const messageDepth = 2

type notebook struct {
	file   *splice.File
	groups []*group
	cells  []*group
}

// group is a message with its run: a cell, or what no cell is made of.
type group struct {
	head splice.Item
	run  []splice.Item
	role scrollback.Role // empty if it is no cell

	read *said // once it was asked for
}

// takes reports whether what the model and its tools say next belongs to the group.
func (g *group) takes() bool {
	return g.role == scrollback.RoleUser || g.role == scrollback.RoleAssistant
}

// said is a group as it is read.
type said struct {
	cell transcript.Cell
	own  transcript.Entry
	all  []transcript.Entry // the interaction, with what could not be read
	of   []int              // of how many messages each is made
	bad  string             // why the cell cannot be read
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
		return nil, scrollback.Errorf(scrollback.Invalid, "mtm.Open", "the notebook is longer than %d bytes", MaxFile)
	}
	f, list, err := splice.Open(b, "context")
	if err != nil {
		return nil, scrollback.Errorf(scrollback.Invalid, "mtm.Open", "the notebook cannot be read: %w", err)
	}
	n := &notebook{file: f}
	for _, it := range list {
		n.add(it)
	}
	return n, nil
}

// add puts a message into the group that it belongs to.
func (n *notebook) add(it splice.Item) {
	var name string
	_ = json.Unmarshal(splice.Get(it.Raw, "role"), &name) // one of the wrong type is none
	role := scrollback.Role(name)
	switch role {
	case scrollback.RoleUser, scrollback.RoleSystem:
	default:
		role = ""
		if len(n.groups) > 0 {
			if last := n.groups[len(n.groups)-1]; last.takes() {
				last.run = append(last.run, it)
				return
			}
		}
		if name == string(scrollback.RoleAssistant) || name == string(scrollback.RoleTool) {
			role = scrollback.RoleAssistant
		}
	}
	g := &group{head: it, role: role}
	n.groups = append(n.groups, g)
	if role != "" {
		n.cells = append(n.cells, g)
	}
}

// Bytes implements transcript.Notebook.
func (n *notebook) Bytes() []byte {
	var all []splice.Item
	for _, g := range n.groups {
		all = append(append(all, g.head), g.run...)
	}
	return n.file.Bytes(all)
}

// Cells implements transcript.Notebook.
func (n *notebook) Cells() []transcript.Cell {
	out := make([]transcript.Cell, 0, len(n.cells))
	for _, g := range n.cells {
		out = append(out, g.said().cell)
	}
	return out
}

// said reads a group.
func (g *group) said() *said {
	if g.read != nil {
		return g.read
	}
	meta := cell.ReadMeta(splice.Get(g.head.Raw, "metadata"))
	s := &said{cell: transcript.Cell{Role: g.role, Markup: g.role != scrollback.RoleUser, Stale: meta.Stale}}
	var run []json.RawMessage
	if g.role == scrollback.RoleAssistant {
		run = append(run, g.head.Raw)
	}
	for _, it := range g.run {
		run = append(run, it.Raw)
	}
	s.all, s.of = cell.Interaction(run, meta.Said)
	s.cell.Interaction = cell.Readable(s.all)
	if g.role == scrollback.RoleAssistant {
		s.cell.Text = cell.Group{Said: s.cell.Interaction}.Cell().Text
		if len(s.cell.Interaction) == 0 {
			s.bad = "the message cannot be read"
		}
	} else {
		s.bad = readContent(&s.cell, g.head.Raw)
		s.cell.References = cell.References(meta.Ghost)
		s.own = cell.Own(s.cell, meta.Ours)
		s.cell.References = cell.Referring(s.own)
	}
	g.read = s
	return s
}

// readContent reads what a message of a person's or of the system's says. From the block of
// references on, it was written by a program.
func readContent(c *transcript.Cell, message json.RawMessage) (bad string) {
	var content wire.Content
	raw := splice.Get(message, "content")
	if !utf8.Valid(message) {
		bad = "not UTF-8"
	}
	if raw != nil && json.Unmarshal(raw, &content) != nil {
		return "the content is neither a text nor a list of parts"
	}
	for _, p := range content {
		if p.ImageURL != nil {
			c.Text += cell.Mark("image", p.ImageURL.URL)
			continue
		}
		c.Text += p.Text
	}
	if c.Role == scrollback.RoleSystem {
		c.Text = strings.TrimPrefix(c.Text, cell.SystemPrefix)
		return bad
	}
	if i := strings.Index(c.Text, cell.BlockMark); i >= 0 {
		c.Text = strings.TrimSuffix(c.Text[:i], "\n")
	}
	cell.Lift(c, nil)
	return bad
}

// at is a cell by its index.
func (n *notebook) at(i int) (*group, error) {
	if i < 0 || i >= len(n.cells) {
		return nil, scrollback.Errorf(scrollback.NotFound, "mtm", "the notebook has %d cells", len(n.cells))
	}
	return n.cells[i], nil
}

// SetInteraction implements transcript.Notebook.
func (n *notebook) SetInteraction(i int, list []transcript.Entry) error {
	g, err := n.at(i)
	if err != nil {
		return err
	}
	own, rest := cell.Split(list)
	was := g.said()
	meta := splice.Get(g.head.Raw, "metadata")
	if own == nil && len(rest) == len(was.all) && cell.Kept(was.all, rest) == len(rest) {
		return nil
	}
	if g.role == scrollback.RoleAssistant && len(rest) == 0 {
		return scrollback.Errorf(scrollback.Invalid, "mtm.SetInteraction", "a cell of the model's cannot be empty")
	}
	messages, notes, err := cell.Write(rest)
	if err != nil {
		return err
	}
	o := cell.ReadMeta(meta).Ours
	o.Said = notes
	if own != nil {
		if meta, o.Own, err = cell.SetOwn(n.file.Form, meta, was.cell, *own); err != nil {
			return err
		}
	}
	kept := 0
	for k := range cell.Kept(was.all, rest) {
		kept += was.of[k]
	}
	var run []splice.Item
	if g.role == scrollback.RoleAssistant {
		run = append(run, g.head)
	}
	run = append(run, g.run...)[:kept:kept]
	for _, m := range messages[kept:] {
		raw, err := n.file.Marshal(m, messageDepth)
		if err != nil {
			return err
		}
		run = append(run, n.file.Another(raw, false))
	}
	if g.role == scrollback.RoleAssistant {
		run[0].Lead = g.head.Lead
		g.head, run = run[0], run[1:]
	}
	g.run, g.read = run, nil
	return n.setMeta(g, meta, o)
}

// setMeta writes the metadata of a cell.
func (n *notebook) setMeta(g *group, meta json.RawMessage, o cell.Ours) error {
	meta, err := cell.SetOurs(n.file.Form, meta, o)
	if err == nil && !bytes.Equal(splice.Get(g.head.Raw, "metadata"), meta) {
		g.head.Raw = n.file.Set(g.head.Raw, messageDepth, "metadata", meta)
	}
	g.read = nil
	return err
}

// SetStale implements transcript.Notebook.
func (n *notebook) SetStale(i int, stale bool) error {
	g, err := n.at(i)
	if err != nil {
		return err
	}
	meta := splice.Get(g.head.Raw, "metadata")
	o := cell.ReadMeta(meta).Ours
	if o.Stale == stale {
		return nil
	}
	o.Stale = stale
	return n.setMeta(g, meta, o)
}

// Append implements transcript.Notebook.
func (n *notebook) Append(c transcript.Cell) (int, error) {
	if c.Role == "" {
		c.Role = scrollback.RoleUser
	}
	own := cell.Parts(c)
	g := cell.Group{Own: &own, Said: c.Interaction}
	if c.Role == scrollback.RoleAssistant {
		if g.Own = nil; len(g.Said) == 0 {
			g.Said = []transcript.Entry{own}
		}
	}
	if err := n.append(g, c.Stale); err != nil {
		return 0, err
	}
	return len(n.cells) - 1, nil
}

// append adds a group as the last cell.
func (n *notebook) append(g cell.Group, stale bool) error {
	messages, notes, err := cell.Write(g.Said)
	if err != nil {
		return err
	}
	o := cell.Ours{Stale: stale, Said: notes}
	first := len(n.groups)
	if g.Own != nil {
		c := cell.Of(*g.Own)
		if c.Role != scrollback.RoleUser && c.Role != scrollback.RoleSystem {
			return scrollback.Errorf(scrollback.Invalid, "mtm.Append", "a cell has no role %q", c.Role)
		}
		messages = append([]wire.Message{{Role: string(c.Role), Content: contentOf(c)}}, messages...)
	} else if first > 0 && n.groups[first-1].takes() {
		return scrollback.Errorf(scrollback.Invalid, "mtm.Append", "what the model says belongs to the cell before it")
	}
	if len(messages) == 0 {
		return scrollback.Errorf(scrollback.Invalid, "mtm.Append", "there is nothing to append")
	}
	for _, m := range messages {
		raw, err := n.file.Marshal(m, messageDepth)
		if err != nil {
			return err
		}
		n.add(n.file.Another(raw, len(n.groups) == 0))
	}
	var meta json.RawMessage
	made := n.groups[first]
	if g.Own != nil {
		if meta, o.Own, err = cell.SetOwn(n.file.Form, nil, made.said().cell, *g.Own); err != nil {
			return err
		}
	}
	return n.setMeta(made, meta, o)
}

// contentOf is what a cell says as the content of a message.
func contentOf(c transcript.Cell) wire.Content {
	if c.Role == scrollback.RoleSystem && strings.HasPrefix(c.Text, cell.SystemPrefix) {
		c.Text = cell.SystemPrefix + c.Text // one is taken off
	}
	if c.Role == scrollback.RoleUser {
		c.Text = cell.Spell(c.Text)
	}
	c.References = nil
	e := cell.Parts(c)
	var out wire.Content
	for i, p := range e.Message.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			out = append(out, wire.ContentPart{Type: "text", Text: p.Text})
		case scrollback.Image:
			out = append(out, cell.ImagePart(p, e.Bytes[i]))
		case scrollback.File, scrollback.ToolCall, scrollback.ToolResult, scrollback.Reasoning:
		}
	}
	if len(out) == 0 {
		return wire.NoText()
	}
	return out
}
