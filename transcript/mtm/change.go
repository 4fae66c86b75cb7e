package mtm

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

// groupAt returns a cell by its index.
func (n *notebook) groupAt(i int) (*messageGroup, error) {
	if i < 0 || i >= len(n.cells) {
		return nil, scrollback.Errorf(scrollback.NotFound, "mtm", i18n.NotebookHasTooManyCells, len(n.cells))
	}
	return n.cells[i], nil
}

// SetInteraction implements transcript.Notebook.
func (n *notebook) SetInteraction(i int, list []transcript.Entry) error {
	g, err := n.groupAt(i)
	if err != nil {
		return err
	}
	own, rest := cell.SplitOwn(list)
	was := g.readMessages()
	meta := splice.GetField(g.head.Raw, "metadata")
	if own == nil && was.talk.IsSame(rest) {
		return nil
	}
	switch {
	case g.role == scrollback.RoleAssistant && len(rest) == 0:
		return scrollback.Errorf(scrollback.Invalid, "mtm.SetInteraction", i18n.ModelCellEmpty)
	case g.role == scrollback.RoleSystem:
		return scrollback.Errorf(scrollback.Invalid, "mtm.SetInteraction", i18n.SystemCellHasNoInteraction)
	}
	raws, kept, notes, err := was.talk.ChangeTo(n.file.Form, messageDepth, rest)
	if err != nil {
		return err
	}
	o := cell.ReadMeta(meta).Ours
	o.Said = notes
	if own != nil {
		if meta, o.Own, err = cell.SetOwn(n.file.Form, meta, was.cell, *own); err != nil {
			return err
		}
		g.contents = nil // the block is another
	}
	old := g.run
	if g.role == scrollback.RoleAssistant {
		old = append([]splice.Item{g.head}, g.run...)
	}
	run := old[:kept:kept]
	for _, raw := range raws[kept:] {
		run = append(run, n.file.NewItem(raw, false))
	}
	if g.role == scrollback.RoleAssistant {
		run[0].Lead = g.head.Lead
		g.head = run[0]
		run = run[1:]
	}
	g.run = run
	g.read = nil
	return n.setMeta(g, meta, o)
}

// setMeta writes the metadata of a cell.
func (n *notebook) setMeta(g *messageGroup, meta json.RawMessage, o cell.Ours) error {
	meta, err := cell.SetOurs(n.file.Form, meta, o)
	if err == nil && !bytes.Equal(splice.GetField(g.head.Raw, "metadata"), meta) {
		g.head.Raw = n.file.SetField(g.head.Raw, messageDepth, "metadata", meta)
	}
	g.read = nil
	return err
}

// SetStale implements transcript.Notebook.
func (n *notebook) SetStale(i int, stale bool) error {
	g, err := n.groupAt(i)
	if err != nil {
		return err
	}
	meta := splice.GetField(g.head.Raw, "metadata")
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
	own := cell.CellParts(c)
	g := cell.Group{Own: &own, Said: c.Interaction}
	if c.Role == scrollback.RoleAssistant {
		if g.Own = nil; len(g.Said) == 0 {
			g.Said = []transcript.Entry{own}
		}
	}
	if err := n.appendGroup(g, c.Stale); err != nil {
		return 0, err
	}
	return len(n.cells) - 1, nil
}

// appendGroup adds a group as the last cell.
func (n *notebook) appendGroup(g cell.Group, stale bool) error {
	messages, notes, err := cell.Write(g.Said)
	if err != nil {
		return err
	}
	o := cell.Ours{Stale: stale, Said: notes}
	first := len(n.groups)
	if g.Own != nil {
		c := cell.CellOf(*g.Own)
		if c.Role != scrollback.RoleUser && c.Role != scrollback.RoleSystem {
			return scrollback.Errorf(scrollback.Invalid, "mtm.Append", i18n.CellHasNoRole, c.Role)
		}
		messages = append([]wire.Message{{Role: string(c.Role), Content: cellContent(c)}}, messages...)
	} else if first > 0 && n.groups[first-1].accepts() {
		return scrollback.Errorf(scrollback.Invalid, "mtm.Append", i18n.ModelTextBelongsToCellBefore)
	}
	if len(messages) == 0 {
		return scrollback.Errorf(scrollback.Invalid, "mtm.Append", i18n.NothingToAppend)
	}
	for _, m := range messages {
		raw, err := n.file.MarshalAt(m, messageDepth)
		if err != nil {
			return err
		}
		n.addMessage(n.file.NewItem(raw, len(n.groups) == 0))
	}
	var meta json.RawMessage
	made := n.groups[first]
	if g.Own != nil {
		if meta, o.Own, err = cell.SetOwn(n.file.Form, nil, made.readMessages().cell, *g.Own); err != nil {
			return err
		}
	}
	return n.setMeta(made, meta, o)
}

// cellContent returns what a cell says as the content of a message.
func cellContent(c transcript.Cell) wire.Content {
	if c.Role == scrollback.RoleSystem && strings.HasPrefix(c.Text, cell.SystemPrefix) {
		c.Text = cell.SystemPrefix + c.Text // one is taken off
	}
	if c.Role == scrollback.RoleUser {
		c.Text = cell.EscapePrompt(c.Text)
	}
	c.References = nil
	e := cell.CellParts(c)
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
