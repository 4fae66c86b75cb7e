package notebook

import (
	"iter"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

// Messages yields the messages of cells in order: each cell's own, and what was said to it.
// The system cells before anything else are left out: they are [Instructions]. Line is the
// number of the cell, from 1.
func Messages(cells []transcript.Cell) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for i, c := range cells {
			if i < countLeading(cells) || isBlank(c) && len(c.Interaction) == 0 {
				continue
			}
			for _, e := range cellMessages(c) {
				e.Line = i + 1
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// countLeading counts the system cells, and the empty ones, before anything else.
func countLeading(cells []transcript.Cell) int {
	for i, c := range cells {
		if !isBlank(c) && c.Role != scrollback.RoleSystem {
			return i
		}
	}
	return len(cells)
}

func isBlank(c transcript.Cell) bool { return strings.TrimSpace(c.Text) == "" && len(c.Images) == 0 }

// cellMessages returns a cell's own message and what was said to it. Results that follow each other
// are one message, and what says nothing is none.
func cellMessages(c transcript.Cell) []transcript.Entry {
	said := cell.ReadableEntries(c.Interaction)
	if !isBlank(c) {
		c.Interaction = said
		said = cell.CellMessages(c, ownMessage(c))
	}
	var out []transcript.Entry
	for _, e := range said {
		e.Message.Seq = 0
		m := &e.Message
		last := len(out) - 1
		if strings.TrimSpace(m.Parts.Text()) == "" && isTextOnly(m.Parts) {
			continue
		}
		if m.Role == scrollback.RoleTool && last >= 0 && out[last].Message.Role == scrollback.RoleTool {
			before := &out[last].Message
			before.Parts = append(before.Parts[:len(before.Parts):len(before.Parts)], m.Parts...)
			continue
		}
		out = append(out, e)
	}
	return out
}

func isTextOnly(ps scrollback.Parts) bool {
	for _, p := range ps {
		switch p.(type) {
		case scrollback.Text, scrollback.Reasoning:
		case scrollback.Image, scrollback.File, scrollback.ToolCall, scrollback.ToolResult:
			return false
		}
	}
	return true
}

// ownMessage returns a cell's own message.
func ownMessage(c transcript.Cell) transcript.Entry {
	if c.Role == "" || c.Role == scrollback.RoleTool { // a result without its call is what somebody says
		c.Role = scrollback.RoleUser
	}
	return cell.CellParts(c)
}

// PromptOf returns what a cell asks, with the bytes of its attachments; what its marks name is to be
// read again.
func PromptOf(c transcript.Cell) transcript.Entry {
	c.References = nil
	return ownMessage(c)
}

// SaysSame reports whether a stored message is what a cell asks; a long text is kept as a file.
func SaysSame(e transcript.Entry, c transcript.Cell) bool {
	prompt := strings.TrimSpace(PromptOf(c).Message.Parts.Text())
	if e.Message.Role != scrollback.RoleUser {
		return false
	}
	for _, b := range e.Bytes {
		if prompt != "" && strings.TrimSpace(string(b)) == prompt {
			return true
		}
	}
	return strings.TrimSpace(e.Message.Parts.Text()) == prompt
}

// TiedConversations returns the conversations that a notebook may be tied to, best first. An id that is not a
// UUID always stands for the same one.
func TiedConversations(t transcript.Tie) (out []scrollback.ConversationID) {
	if t.Conversation != "" {
		out = append(out, t.Conversation)
	}
	if t.ID == "" {
		return out
	}
	id, err := uuid.Parse(t.ID)
	if err != nil {
		id = uuid.NewSHA1(uuid.NameSpaceOID, []byte("notebook\x00"+t.ID))
	}
	if name := scrollback.ConversationID(id.String()); name != t.Conversation {
		out = append(out, name)
	}
	return out
}

// SubAgent is what a sub-agent is told of itself.
const SubAgent = "You are a sub-agent: another conversation has given you a part of its work. Do that part, and end with the result as it is to be passed on."

// Instructions returns what the model of a notebook is to keep to: the file's own, its leading
// system cells, and that it is a sub-agent if it is one.
func Instructions(t transcript.Tie, cells []transcript.Cell) string {
	all := []string{t.Instructions}
	for _, c := range cells[:countLeading(cells)] {
		all = append(all, c.Text)
	}
	if t.AgentOf != "" {
		all = append(all, SubAgent)
	}
	var out []string
	for _, text := range all {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n\n")
}

// isPrompt reports whether a cell can be run.
func isPrompt(c transcript.Cell) bool {
	return !c.Markup && c.Role == scrollback.RoleUser && !isBlank(c)
}

// Choose returns the cells that a number from 1, "last" or "all" means, from 0: not_found for
// a number that no cell has, and invalid for a cell that cannot be run.
func Choose(cells []transcript.Cell, which string) ([]int, error) {
	const op = "notebook.Choose"
	var all []int
	for i, c := range cells {
		if isPrompt(c) {
			all = append(all, i)
		}
	}
	switch which {
	case "all", "last":
		if len(all) == 0 {
			return nil, scrollback.ParamErrorf(op, "cell",
				i18n.NoCellCanBeRun)
		}
		if which == "last" {
			all = all[len(all)-1:]
		}
		return all, nil
	}
	n, err := strconv.Atoi(which)
	switch {
	case err != nil:
		return nil, scrollback.ParamErrorf(op, "cell", i18n.CellFlagTakes, which)
	case n < 1 || n > len(cells):
		return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.NoCellNumbered, n, len(cells))
	}
	switch c := cells[n-1]; {
	case c.Role != scrollback.RoleUser:
		return nil, scrollback.ParamErrorf(op, "cell", i18n.CellRoleCannotBeRun, n, c.Role)
	case c.Markup:
		return nil, scrollback.ParamErrorf(op, "cell", i18n.CellIsTextNotPrompt, n)
	case isBlank(c):
		return nil, scrollback.ParamErrorf(op, "cell", i18n.CellIsEmpty, n)
	}
	return []int{n - 1}, nil
}

// ChooseCells returns the cells that are to be run, as [Choose] has them; none if the prompt is to
// become a new one. Empty means new with a prompt, else last.
func (f *File) ChooseCells(which, prompt string) ([]int, error) {
	const op = "notebook.Wanted"
	if which == "" {
		which = "last"
		if prompt != "" {
			which = "new"
		}
	}
	switch {
	case which == "new" && strings.TrimSpace(prompt) == "":
		return nil, scrollback.ParamErrorf(op, "message", i18n.MessageIsEmpty)
	case which == "new":
		return nil, f.Writable()
	case prompt != "":
		return nil, scrollback.ParamErrorf(op, "cell", i18n.PromptIsForNewCell, which)
	}
	return Choose(f.Cells(), which)
}
