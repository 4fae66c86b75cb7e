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

// on is the message that the next part belongs to: the last one if it is of that role.
func (p *Pieces) on(role scrollback.Role) *transcript.Entry {
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

// Own is the message that what is said next belongs to.
func (p *Pieces) Own() *transcript.Entry { return p.on(p.Role) }

// Add adds a part that is not a result.
func (p *Pieces) Add(part scrollback.Part) {
	e := p.Own()
	e.Message.Parts = append(e.Message.Parts, part)
}

// Say adds a text, unless it is empty.
func (p *Pieces) Say(text string) {
	if strings.TrimSpace(text) != "" {
		p.Add(scrollback.Text{Text: text})
	}
}

// Think adds reasoning, unless it is empty.
func (p *Pieces) Think(text string) {
	if strings.TrimSpace(text) != "" {
		p.Add(scrollback.Reasoning{Text: text})
	}
}

// Call adds a call. One without an id gets one.
func (p *Pieces) Call(id, name string, arguments json.RawMessage) {
	if name == "" {
		name = "tool"
	}
	if id == "" || p.find(func(c call) bool { return c.id == id }) != nil {
		id = fmt.Sprintf("%s#call%d", p.ID, len(p.calls)+1)
	}
	p.calls = append(p.calls, call{id: id, name: name})
	p.Add(scrollback.ToolCall{ID: id, Name: name, Arguments: arguments})
}

// Result adds what a call returned: the one that it names, else the first of that tool
// without a result, else the first without one. What belongs to no call is said by whoever
// says the rest.
func (p *Pieces) Result(callID, tool, text string, failed bool) {
	found := p.find(func(c call) bool { return callID != "" && c.id == callID })
	if found == nil && callID == "" {
		if found = p.find(func(c call) bool { return !c.answered && c.name == tool }); found == nil {
			found = p.find(func(c call) bool { return !c.answered })
		}
	}
	if found == nil || found.answered {
		p.Say(text)
		return
	}
	found.answered = true
	e := p.on(scrollback.RoleTool)
	e.Message.Parts = append(e.Message.Parts,
		scrollback.ToolResult{CallID: found.id, Name: found.name, Text: text, IsError: failed})
}

// Answer adds what the newest call returned.
func (p *Pieces) Answer(text string, failed bool) {
	if n := len(p.calls); n > 0 {
		p.Result(p.calls[n-1].id, "", text, failed)
	}
}

func (p *Pieces) find(is func(call) bool) *call {
	for i := range p.calls {
		if is(p.calls[i]) {
			return &p.calls[i]
		}
	}
	return nil
}

// Finish sets the model of what the model said, and on the last message how it ended and
// what meta keeps.
func (p *Pieces) Finish(model string, status scrollback.Status, meta json.RawMessage) {
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

// Enclose adds an attachment that was found beside the export, or mentions it: kind is what
// it is, name what the service calls it.
func (p *Pieces) Enclose(a *Assets, kind, id, name string) { a.Enclose(p.Own(), kind, id, name) }

// Enclose adds the file of an id to a message, or mentions it.
func (a *Assets) Enclose(e *transcript.Entry, kind, id, name string) {
	base, b, there := a.Find(id)
	if there && (name == "" || name == id) {
		name = base
	}
	switch {
	case !there:
		Mention(e, kind, name, NotThere)
	case b == nil:
		Mention(e, kind, name, TooLarge)
	default:
		Attach(e, name, b)
	}
}
