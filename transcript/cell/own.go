package cell

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
)

// OwnMessage returns the message that a cell itself is, as its note has it.
func OwnMessage(c transcript.Cell, o Ours) transcript.Entry {
	e := CellParts(c)
	if o.Own != nil {
		if noted, ok := o.Own.applyTo(e); ok && showsMessage(c, noted) {
			return noted
		}
	}
	return e
}

// showsMessage reports whether a cell is how a message looks; images that its marks brought need not
// be in it.
func showsMessage(c transcript.Cell, e transcript.Entry) bool {
	return looksLike(c, CellOf(e)) || looksLike(c, CellOf(withoutBrought(e)))
}

// withoutBrought returns a message without the images that its marks brought.
func withoutBrought(e transcript.Entry) transcript.Entry {
	var parts scrollback.Parts
	attached := map[int][]byte{}
	for i, p := range e.Message.Parts {
		if _, ok := p.(scrollback.Image); ok && i > 0 {
			if t, ok := e.Message.Parts[i-1].(scrollback.Text); ok && t.Reference != nil &&
				t.Reference.Kind == scrollback.ReferenceImage {
				continue
			}
		}
		if b, ok := e.Bytes[i]; ok {
			attached[len(parts)] = b
		}
		parts = append(parts, p)
	}
	e.Message.Parts = parts
	e.Bytes = attached
	return e
}

func looksLike(c, as transcript.Cell) bool {
	a, errA := marshalPlain(NewGhost(as.References))
	b, errB := marshalPlain(NewGhost(c.References))
	return errA == nil && errB == nil && string(a) == string(b) && as.Role == c.Role &&
		slices.Equal(visibleContent(as), visibleContent(c))
}

// visibleContent returns the texts and the images of a cell in their order, without names.
func visibleContent(c transcript.Cell) (out [][2]string) {
	c.References = nil
	c.Images = slices.Clone(c.Images)
	c.Bytes = maps.Clone(c.Bytes)
	LiftImages(&c, nil)
	e := CellParts(c)
	for i, p := range e.Message.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			out = append(out, [2]string{"", EscapePrompt(p.Text)})
		case scrollback.Image:
			out = append(out, [2]string{cmp.Or(p.MediaType, "image/png"), string(e.Bytes[i])})
		case scrollback.File, scrollback.ToolCall, scrollback.ToolResult, scrollback.Reasoning:
		}
	}
	return out
}

// EscapePrompt returns the text of a prompt in which nothing stands for the beginning of the block that a
// program adds.
func EscapePrompt(text string) string {
	return strings.ReplaceAll(text, BlockMark, "<content_reference >")
}

// noteOwn returns the note of the message that a cell is; nil if the cell does not show it.
func noteOwn(c transcript.Cell, e transcript.Entry) (*messageNote, error) {
	n, err := makeNote(e, CellParts(c), 1)
	if err != nil || n.isEmpty() || !showsMessage(c, e) {
		return nil, err
	}
	return &n, nil
}

// Group is a cell as messages: its own, and what was said to it. A cell of the model's has
// no message of its own.
type Group struct {
	Own  *transcript.Entry
	Said []transcript.Entry
}

// ToCell returns how a group looks.
func (g Group) ToCell() transcript.Cell {
	if g.Own != nil {
		c := CellOf(*g.Own)
		c.Markup = c.Role != scrollback.RoleUser
		c.Interaction = g.Said
		return c
	}
	c := transcript.Cell{Markup: true, Role: scrollback.RoleAssistant, Interaction: g.Said}
	for _, e := range g.Said {
		if s := CellOf(e).Text; s != "" && c.Text != "" {
			c.Text += "\n\n" + s
		} else {
			c.Text += s
		}
	}
	return c
}

// GroupCells returns the cells that messages become, each of at most [MaxGroup] bytes.
func GroupCells(entries iter.Seq2[transcript.Entry, error]) iter.Seq2[Group, error] {
	return func(yield func(Group, error) bool) {
		var g Group
		bytes := 0
		for e, err := range entries {
			if bytes += entrySize(e); err == nil && bytes > MaxGroup && (entrySize(e) > MaxGroup || g.accepts(e)) {
				err = newTooLongError(e.Message.Seq)
			}
			if err != nil {
				yield(Group{}, err)
				return
			}
			if g.accepts(e) {
				g.Said = append(g.Said, e)
				continue
			}
			if (g.Own != nil || g.Said != nil) && !yield(g, nil) {
				return
			}
			g = Group{Own: &e}
			bytes = entrySize(e)
			if isModelSide(e) {
				g = Group{Said: []transcript.Entry{e}}
			}
		}
		if g.Own != nil || g.Said != nil {
			yield(g, nil)
		}
	}
}

// isModelSide reports whether a message is of the model or of its tools.
func isModelSide(e transcript.Entry) bool {
	return e.Message.Role == scrollback.RoleAssistant || e.Message.Role == scrollback.RoleTool
}

// accepts reports whether a message is said to the group's cell.
func (g Group) accepts(e transcript.Entry) bool {
	return isModelSide(e) && (g.Own == nil || g.Own.Message.Role == scrollback.RoleUser)
}

// CellMessages returns those of a cell that was read.
func CellMessages(c transcript.Cell, own transcript.Entry) []transcript.Entry {
	if c.Role == scrollback.RoleAssistant && len(c.Interaction) > 0 {
		return c.Interaction
	}
	return append([]transcript.Entry{own}, c.Interaction...)
}

// SplitOwn takes the cell's own message off the beginning of what is set.
func SplitOwn(said []transcript.Entry) (own *transcript.Entry, rest []transcript.Entry) {
	if len(said) > 0 && said[0].Message.Role == scrollback.RoleUser {
		return &said[0], said[1:]
	}
	return nil, said
}

// NewestAnswer returns the text of the newest answer of an interaction.
func NewestAnswer(said []transcript.Entry) string {
	for _, e := range slices.Backward(said) {
		if s := e.Message.Parts.Text(); e.Message.Role == scrollback.RoleAssistant && s != "" {
			return s
		}
	}
	return ""
}

// ReadableEntries returns the entries of an interaction that could be read.
func ReadableEntries(all []transcript.Entry) (out []transcript.Entry) {
	for _, e := range all {
		if e.Bad == nil {
			out = append(out, e)
		}
	}
	return out
}

// ReferenceTexts returns the texts of a message that its marks brought.
func ReferenceTexts(e transcript.Entry) (out scrollback.Parts) {
	for _, p := range e.Message.Parts {
		if t, ok := p.(scrollback.Text); ok && t.Reference != nil {
			out = append(out, t)
		}
	}
	return out
}

// SetOwn writes the references of a cell's own message into the cell's metadata, and makes
// its note, which is nil if there is nothing to note.
func SetOwn(f splice.Form, meta json.RawMessage, c transcript.Cell,
	own transcript.Entry) (json.RawMessage, *messageNote, error) {
	c.References = ReferenceTexts(own)
	ghost := NewGhost(c.References)
	switch {
	case ghost == nil && splice.GetField(meta, GhostField) != nil:
		meta = f.SetField(meta, metaDepth, GhostField, nil)
	case ghost != nil:
		raw, err := f.MarshalAt(ghost, metaDepth+1)
		if err != nil {
			return nil, nil, err
		}
		meta = f.SetField(orEmptyObject(meta), metaDepth, GhostField, raw)
	}
	c.References = ReadReferences(splice.GetField(meta, GhostField))
	n, err := noteOwn(c, own)
	return meta, n, err
}
