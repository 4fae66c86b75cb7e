package exported

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Pieces are the messages that one of a service's becomes: an answer with results in it is
// several. The first has its id, the others that with a number.
type Pieces struct {
	ID      string
	Role    scrollback.Role // of everything but results
	At      int64           // Unix ms
	Entries []transcript.Entry

	calls []call
}

type call struct {
	id, name string
	answered bool
}

// entryFor returns the message that the next part belongs to: the last one if it is of that role.
func (p *Pieces) entryFor(role scrollback.Role) *transcript.Entry {
	if n := len(p.Entries); n > 0 && p.Entries[n-1].Message.Role == role {
		return &p.Entries[n-1]
	}
	id := p.ID
	if n := len(p.Entries); n > 0 {
		id = fmt.Sprintf("%s#%d", id, n+1)
	}
	p.Entries = append(p.Entries, transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(id), Role: role,
		CreatedAt: p.At}})
	return &p.Entries[len(p.Entries)-1]
}

// OwnEntry returns the message that what is said next belongs to.
func (p *Pieces) OwnEntry() *transcript.Entry { return p.entryFor(p.Role) }

// AddPart adds a part that is not a result.
func (p *Pieces) AddPart(part scrollback.Part) {
	e := p.OwnEntry()
	e.Message.Parts = append(e.Message.Parts, part)
}

// AddText adds a text, unless it is empty.
func (p *Pieces) AddText(text string) {
	if strings.TrimSpace(text) != "" {
		p.AddPart(scrollback.Text{Text: text})
	}
}

// AddReasoning adds reasoning, unless it is empty.
func (p *Pieces) AddReasoning(text string) {
	if strings.TrimSpace(text) != "" {
		p.AddPart(scrollback.Reasoning{Text: text})
	}
}

// AddCall adds a call. One without an id gets one.
func (p *Pieces) AddCall(id, name string, arguments json.RawMessage) {
	if name == "" {
		name = "tool"
	}
	if id == "" || p.findCall(func(c call) bool { return c.id == id }) != nil {
		id = fmt.Sprintf("%s#call%d", p.ID, len(p.calls)+1)
	}
	p.calls = append(p.calls, call{id: id, name: name})
	p.AddPart(scrollback.ToolCall{ID: id, Name: name, Arguments: arguments})
}

// AddResult adds what a call returned: the one that it names, else the first of that tool
// without a result, else the first without one. What belongs to no call is said by the role that
// says the rest.
func (p *Pieces) AddResult(callID, tool, text string, failed bool) {
	found := p.findCall(func(c call) bool { return callID != "" && c.id == callID })
	if found == nil && callID == "" {
		if found = p.findCall(func(c call) bool { return !c.answered && c.name == tool }); found == nil {
			found = p.findCall(func(c call) bool { return !c.answered })
		}
	}
	if found == nil || found.answered {
		p.AddText(text)
		return
	}
	found.answered = true
	e := p.entryFor(scrollback.RoleTool)
	e.Message.Parts = append(e.Message.Parts,
		scrollback.ToolResult{CallID: found.id, Name: found.name, Text: text, IsError: failed})
}

// AnswerNewest adds what the newest call returned.
func (p *Pieces) AnswerNewest(text string, failed bool) {
	if n := len(p.calls); n > 0 {
		p.AddResult(p.calls[n-1].id, "", text, failed)
	}
}

func (p *Pieces) findCall(is func(call) bool) *call {
	for i := range p.calls {
		if is(p.calls[i]) {
			return &p.calls[i]
		}
	}
	return nil
}

// FinishMessage sets the model of what the model said, and on the last message how it ended and
// what meta keeps.
func (p *Pieces) FinishMessage(model string, status scrollback.Status, meta json.RawMessage) {
	for i := range p.Entries {
		if m := &p.Entries[i].Message; m.Role == scrollback.RoleAssistant {
			m.Model = model
		}
	}
	if len(p.Entries) == 0 {
		return
	}
	last := &p.Entries[len(p.Entries)-1].Message
	if last.Meta = meta; last.Role == scrollback.RoleAssistant {
		last.Status = status
	}
}

// EncloseFile adds an attachment that was found beside the export, or mentions it: kind is what
// it is, name what the service calls it.
func (p *Pieces) EncloseFile(a *Assets, kind, id, name string) {
	a.EncloseFile(p.OwnEntry(), kind, id, name)
}

// EncloseFile adds the file of an id to a message, or mentions it.
func (a *Assets) EncloseFile(e *transcript.Entry, kind, id, name string) {
	base, b, there := a.FindFile(id)
	if there && (name == "" || name == id) {
		name = base
	}
	switch {
	case !there:
		MentionMissing(e, kind, name, NotThere)
	case b == nil:
		MentionMissing(e, kind, name, TooLarge)
	default:
		AttachFile(e, name, b)
	}
}
