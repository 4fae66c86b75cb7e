package cell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
)

// maxMeta is how much of a notebook's metadata a conversation's meta keeps, in bytes.
const maxMeta = 32 << 10

// Reading yields the messages of a notebook, cell by cell.
type Reading struct {
	yield  func(transcript.Entry, error) bool
	source string
	line   int // that was read last
	at     int // where the cell begins
	gone   bool
}

// NewReading begins with what a notebook says of itself. line is where its list begins.
func NewReading(t transcript.Tie, format string, line int, yield func(transcript.Entry, error) bool) *Reading {
	r := &Reading{yield: yield, line: line, source: string(t.Conversation)}
	if r.source == "" {
		r.source = t.ID
	}
	c := &scrollback.Conversation{Title: t.Title, Model: t.Model, Instructions: t.Instructions,
		Meta: ConversationMeta(t.Meta)}
	if t.Conversation == "" {
		c.Meta = foreignMeta(t.Meta, format)
	}
	r.emitEntry(transcript.Entry{Source: r.source, Conversation: c})
	return r
}

// foreignMeta returns the metadata of another program's notebook as meta of a conversation.
func foreignMeta(meta json.RawMessage, format string) json.RawMessage {
	if len(splice.ListMembers(meta)) == 0 || len(meta) > maxMeta {
		return nil
	}
	out, err := marshalPlain(map[string]json.RawMessage{format: meta})
	if err != nil {
		return nil
	}
	return out
}

func (r *Reading) emitEntry(e transcript.Entry) {
	if !r.gone {
		r.gone = !r.yield(e, nil)
	}
}

// BeginItem says which item is read next, and Past which is behind it.
func (r *Reading) BeginItem(it splice.Item) {
	r.at = r.line + bytes.Count(it.Lead, []byte("\n"))
	r.PassItem(it)
}

// PassItem counts the lines of an item.
func (r *Reading) PassItem(it splice.Item) {
	r.line += bytes.Count(it.Lead, []byte("\n")) + bytes.Count(it.Raw, []byte("\n"))
}

// EmitBad says that the item cannot be read.
func (r *Reading) EmitBad(reason string) {
	r.emitEntry(transcript.Entry{Bad: &transcript.Bad{Line: r.at, Reason: reason}})
}

// EmitCell yields the messages of a cell: its own, unless it says nothing, and what was said to
// it. bad is why its own cannot be read.
func (r *Reading) EmitCell(c transcript.Cell, own transcript.Entry, said []transcript.Entry, bad string) {
	if bad != "" {
		r.EmitBad(bad)
	} else if c.Role != scrollback.RoleAssistant || len(said) == 0 {
		if len(own.Message.Parts) > 0 {
			r.emitMessage(own)
		}
	}
	for _, e := range said {
		if e.Bad != nil {
			r.EmitBad(e.Bad.Reason)
			continue
		}
		r.emitMessage(e)
	}
}

func (r *Reading) emitMessage(e transcript.Entry) {
	if len(e.Message.Parts) == 0 {
		e.Message.Parts = scrollback.Parts{} // an answer may say nothing
	}
	e.Line = r.at
	e.Source = r.source
	r.emitEntry(e)
}

// BrokenFile returns a file that cannot be read at all.
func BrokenFile(err error) transcript.Entry {
	var at *splice.Fault
	if errors.As(err, &at) {
		return transcript.Entry{Bad: &transcript.Bad{Line: at.Line,
			Reason: fmt.Sprintf("column %d: %s", at.Column, at.Reason)}}
	}
	return transcript.Entry{Bad: &transcript.Bad{Line: 1, Reason: scrollback.PublicMessage(err)}}
}

// ConversationTie returns what a conversation's export says of itself. Folders stay at home.
func ConversationTie(c scrollback.Conversation) transcript.Tie {
	t := transcript.Tie{ID: string(c.ID), Conversation: c.ID, Title: c.Title, Model: c.Model, Instructions: c.Instructions}
	if c.AgentOf != nil {
		t.AgentOf = string(c.AgentOf.ID)
	}
	return t
}
