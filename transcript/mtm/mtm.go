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
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
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
	groups []*messageGroup
	cells  []*messageGroup
}

// messageGroup is a message with its run: a cell, or what no cell is made of.
type messageGroup struct {
	head splice.Item
	run  []splice.Item
	role scrollback.Role // empty if it is not a cell

	contents map[string]string // of files that the block of references leaves out
	read     *readGroup        // once it was asked for
}

// accepts reports whether what the model and its tools say next belongs to the group.
func (g *messageGroup) accepts() bool {
	return g.role == scrollback.RoleUser || g.role == scrollback.RoleAssistant
}

// readGroup is a group as it is read.
type readGroup struct {
	cell transcript.Cell
	own  transcript.Entry
	talk cell.Talk
	bad  string // why the cell cannot be read
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
		return nil, scrollback.Errorf(scrollback.Invalid, "mtm.Open", i18n.NotebookLongerThan, MaxFile)
	}
	f, list, err := splice.Open(b, "context")
	if err != nil {
		return nil, scrollback.Errorf(scrollback.Invalid, "mtm.Open", i18n.NotebookUnreadable, err)
	}
	n := &notebook{file: f}
	for _, it := range list {
		n.addMessage(it)
	}
	n.fillVersions()
	return n, nil
}

// addMessage puts a message into the group that it belongs to.
func (n *notebook) addMessage(it splice.Item) {
	var name string
	_ = json.Unmarshal(splice.GetField(it.Raw, "role"), &name) // one of the wrong type is none
	role := scrollback.Role(name)
	switch role {
	case scrollback.RoleUser, scrollback.RoleSystem:
	default:
		role = ""
		if len(n.groups) > 0 {
			if last := n.groups[len(n.groups)-1]; last.accepts() {
				last.run = append(last.run, it)
				return
			}
		}
		if name == string(scrollback.RoleAssistant) || name == string(scrollback.RoleTool) {
			role = scrollback.RoleAssistant
		}
	}
	g := &messageGroup{head: it, role: role}
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
	return n.file.WithItems(all)
}

// Cells implements transcript.Notebook.
func (n *notebook) Cells() []transcript.Cell {
	out := make([]transcript.Cell, 0, len(n.cells))
	for _, g := range n.cells {
		out = append(out, g.readMessages().cell)
	}
	return out
}

// readMessages reads a group.
func (g *messageGroup) readMessages() *readGroup {
	if g.read != nil {
		return g.read
	}
	meta := cell.ReadMeta(splice.GetField(g.head.Raw, "metadata"))
	s := &readGroup{cell: transcript.Cell{Role: g.role, Markup: g.role != scrollback.RoleUser, Stale: meta.Stale}}
	var run []json.RawMessage
	if g.role == scrollback.RoleAssistant {
		run = append(run, g.head.Raw)
	}
	for _, it := range g.run {
		run = append(run, it.Raw)
	}
	s.talk = cell.ReadTalk(run, meta.Ours)
	s.cell.Interaction = cell.ReadableEntries(s.talk.All)
	if g.role == scrollback.RoleAssistant {
		s.cell.Text = cell.Group{Said: s.cell.Interaction}.ToCell().Text
		if len(s.cell.Interaction) == 0 {
			s.bad = "the message cannot be read"
		}
	} else {
		s.bad = readContent(&s.cell, g.head.Raw)
		s.cell.References = cell.ReadReferences(cell.WithContents(meta.Ghost, g.contents))
		s.own = cell.OwnMessage(s.cell, meta.Ours)
		s.cell.References = cell.ReferenceTexts(s.own)
	}
	g.read = s
	return s
}

// readContent reads what a message of a person's or of the system's says. From the block of
// references on, it was written by a program.
func readContent(c *transcript.Cell, message json.RawMessage) (bad string) {
	var content wire.Content
	raw := splice.GetField(message, "content")
	if !utf8.Valid(message) {
		bad = "not UTF-8"
	}
	if raw != nil && json.Unmarshal(raw, &content) != nil {
		return "the content is neither a text nor a list of parts"
	}
	for _, p := range content {
		if p.ImageURL != nil {
			c.Text += cell.ImageMark("image", p.ImageURL.URL)
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
	cell.LiftImages(c, nil)
	return bad
}
