package tooltest

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// conversation checks an entry that describes one.
func (c *checker) conversation(e transcript.Entry) {
	conv := e.Conversation
	c.texts("conversation", conv.Title, conv.Model, conv.Instructions)
	c.object("the conversation's meta", conv.Meta)
	c.times(conv.CreatedAt, conv.UpdatedAt)
	if o := e.Origin; o == nil {
		c.say("there is no Origin")
	} else {
		if o.ID != e.Source {
			c.say("the Origin's id is %q, the source %q", o.ID, e.Source)
		}
		if *o != (scrollback.Origin{ID: o.ID, Root: o.Root, Folder: o.Folder, GitBranch: o.GitBranch}) {
			c.say("the Origin has more than ID, Root, Folder and GitBranch")
		}
		c.texts("origin", o.ID, o.Root, o.Folder, o.GitBranch)
	}
	if a := e.Agent; a != nil {
		if a.Source == e.Source {
			c.say("a sub-agent of itself")
		} else if c.threads[a.Source] == nil {
			c.say("a sub-agent of %q, which was not described before", a.Source)
		}
	}
}

func (c *checker) message(t *thread, e transcript.Entry) {
	m := e.Message
	if _, err := scrollback.ParseRole(string(m.Role)); err != nil {
		c.say("%v", err)
	}
	if len(m.Parts) == 0 {
		c.say("a message without parts")
	}
	if m.Status != "" && !m.Status.Known() {
		c.say("the status %q", m.Status)
	}
	if m.Usage != nil && !m.Usage.InBounds() {
		if u, wrong := m.Usage.Checked(); !wrong || !u.InBounds() {
			c.say("impossible usage: %+v", *m.Usage)
		}
	}
	if m.Usage != nil && m.Role != scrollback.RoleAssistant {
		c.say("usage on a message of role %s", m.Role)
	}
	c.times(m.CreatedAt)
	c.object("the message's meta", m.Meta)
	c.texts("message", string(m.ID), m.Name, m.Model)
	for i := range e.Bytes {
		if i < 0 || i >= len(m.Parts) || !attachment(m.Parts[i]) {
			c.say("bytes of part %d, which is neither an image nor a file", i)
		}
	}
	for i, p := range m.Parts {
		_, has := e.Bytes[i]
		c.part(t, p, has)
	}
	t.path = append(t.path, m)
}

func attachment(p scrollback.Part) bool {
	switch p.(type) {
	case scrollback.Image, scrollback.File:
		return true
	}
	return false
}

func (c *checker) part(t *thread, p scrollback.Part, bytes bool) {
	switch p := p.(type) {
	case scrollback.Text:
		c.texts("text", p.Text)
		c.valid(p.Opaque)
	case scrollback.Reasoning:
		c.texts("reasoning", p.Text)
		c.valid(p.Opaque)
	case scrollback.ToolCall:
		c.texts("call", p.ID, p.Name)
		c.valid(p.Opaque)
		if p.ID == "" || p.Name == "" {
			c.say("a call without an id or a name")
		}
		if !json.Valid(p.Arguments) {
			c.say("arguments that are not JSON: %.200s", p.Arguments)
		}
	case scrollback.ToolResult:
		c.texts("result", p.CallID, p.Name, p.Text)
		c.valid(p.Opaque)
		c.result(t, p)
	case scrollback.Image:
		c.texts("image", p.Name, p.MediaType, p.URL)
		if !bytes && p.URL == "" {
			c.say("an image without bytes or an address")
		}
	case scrollback.File:
		c.texts("file", p.Name, p.MediaType)
		if !bytes {
			c.say("a file without bytes")
		}
	}
}

// result checks that a result has the name of its call, if that is on the path.
func (c *checker) result(t *thread, r scrollback.ToolResult) {
	if r.CallID == "" {
		c.say("a result without the id of its call")
	}
	var names []string
	for _, m := range t.path {
		for _, call := range m.Parts.Calls() {
			if call.ID == r.CallID {
				names = append(names, call.Name)
			}
		}
	}
	if len(names) > 0 && !slices.Contains(names, r.Name) {
		c.say("the result of %s has the name %q, its call %q", r.CallID, r.Name, names)
	}
}

func (c *checker) texts(what string, all ...string) {
	for _, s := range all {
		if !utf8.ValidString(s) {
			c.say("%s: text that is not UTF-8: %.100q", what, s)
		}
	}
}

func (c *checker) times(all ...int64) {
	for _, at := range all {
		if at < 0 || at > latest {
			c.say("the time %d", at)
		}
	}
}

func (c *checker) valid(raw json.RawMessage) {
	if len(raw) > 0 && !json.Valid(raw) {
		c.say("a payload that is not JSON: %.100s", raw)
	}
}

func (c *checker) object(what string, raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &fields) != nil {
		c.say("%s is not an object: %.100s", what, raw)
	}
}
