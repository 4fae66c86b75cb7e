package codex

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// originator is who wrote a rollout of ours. Only there are events of reasoning read, because
// the items would be sent to a model that did not make them, and messages beside items.
const originator = "scrollback"

// ownFields is what an item of a rollout of ours holds besides, and the tool reads over: a message
// that the items do not say as it is, on the first of them; and on the others that they are
// a part of it.
type ownFields struct {
	Message *message `json:"message,omitempty"`
	Part    bool     `json:"part,omitempty"`
}

// message is a message as it is, but for its usage.
type message struct {
	Role    scrollback.Role   `json:"role"`
	Name    string            `json:"name,omitempty"`
	Content json.RawMessage   `json:"content"`
	Model   string            `json:"model,omitempty"`
	Status  scrollback.Status `json:"status,omitempty"`
}

var errNotOurs = errors.New("the message beside it is not one of ours")

// takeOwn takes a message as it is.
func (t *threadBuilder) takeOwn(l *line, o *ownFields) error {
	if o.Message == nil {
		return nil
	}
	m := o.Message
	var parts scrollback.Parts
	if json.Unmarshal(m.Content, &parts) != nil {
		return errNotOurs
	}
	data, err := transcript.DecodeAttached(m.Content, parts)
	if err != nil {
		return errNotOurs
	}
	n := l.newMessage("", m.Role, t.tools.noteParts(parts))
	n.entry.Bytes = data
	n.entry.Message.Name = m.Name
	n.entry.Message.Model = m.Model
	n.entry.Message.Status = m.Status
	if !n.isComplete() {
		return errNotOurs
	}
	t.closeAnswer()
	n.typed = m.Role == scrollback.RoleUser
	if t.pending != nil && m.Role == scrollback.RoleAssistant {
		n.entry.Message.Usage = t.pending
	}
	t.pending = nil
	t.spare = nil
	t.addNode(n)
	if m.Role != scrollback.RoleAssistant {
		t.last = -1
	}
	return nil
}

// noteParts notes the names of calls, and gives results those of their calls.
func (c *threadCalls) noteParts(parts scrollback.Parts) scrollback.Parts {
	out := slices.Clone(parts)
	for i, p := range out {
		switch p := p.(type) {
		case scrollback.ToolCall:
			c.names[p.ID] = p.Name
		case scrollback.ToolResult:
			if name, known := c.names[p.CallID]; known {
				p.Name = name
				out[i] = p
			}
		}
	}
	return out
}

// isComplete reports whether a message has all that one of ours has.
func (n *node) isComplete() bool {
	m := n.entry.Message
	if _, err := scrollback.ParseRole(string(m.Role)); err != nil || len(m.Parts) == 0 {
		return false
	}
	if m.Status != "" && !m.Status.Known() {
		return false
	}
	for i, p := range m.Parts {
		_, has := n.entry.Bytes[i]
		ok := !has
		switch p := p.(type) {
		case scrollback.ToolCall:
			ok = ok && p.ID != "" && p.Name != "" && json.Valid(p.Arguments)
		case scrollback.ToolResult:
			ok = ok && p.CallID != ""
		case scrollback.Image:
			ok = has || p.URL != ""
		case scrollback.File:
			ok = has
		}
		if !ok {
			return false
		}
	}
	return true
}

// readsAs reports whether lines read as a message, and as nothing else.
func (w *rolloutWriter) readsAs(lines []line, e transcript.Entry) bool {
	t := newThreadBuilder(w.id)
	t.beginPath()
	t.head.Originator = originator
	t.model = w.model
	for id, name := range w.said {
		t.tools.names[id] = name
	}
	for i := range lines {
		if t.takeLine(&lines[i]) != nil {
			return false
		}
	}
	t.finishPath(true, false)
	if len(t.talk.nodes) != 1 || t.talk.nodes[0].entry.Message.CreatedAt != w.at {
		return false
	}
	a, errA := transcript.HashLikeness(t.talk.nodes[0].entry)
	b, errB := transcript.HashLikeness(e)
	return errA == nil && errB == nil && a == b
}
