package tooltest

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// checkConversation checks an entry that describes one.
func (c *checker) checkConversation(e transcript.Entry) {
	conv := e.Conversation
	c.checkTexts("conversation", conv.Title, conv.Model, conv.Instructions)
	c.checkObject("the conversation's meta", conv.Meta)
	c.checkTimes(conv.CreatedAt, conv.UpdatedAt)
	if o := e.Origin; o == nil {
		c.addFault("there is no Origin")
	} else {
		if o.ID != e.Source {
			c.addFault("the Origin's id is %q, the source %q", o.ID, e.Source)
		}
		if *o != (scrollback.Origin{ID: o.ID, Root: o.Root, Folder: o.Folder, GitBranch: o.GitBranch}) {
			c.addFault("the Origin has more than ID, Root, Folder and GitBranch")
		}
		c.checkTexts("origin", o.ID, o.Root, o.Folder, o.GitBranch)
	}
	if a := e.Agent; a != nil {
		if a.Source == e.Source {
			c.addFault("a sub-agent of itself")
		} else if c.threads[a.Source] == nil {
			c.addFault("a sub-agent of %q, which was not described before", a.Source)
		}
	}
}

func (c *checker) checkMessage(t *checkedThread, e transcript.Entry) {
	m := e.Message
	if _, err := scrollback.ParseRole(string(m.Role)); err != nil {
		c.addFault("%v", err)
	}
	if len(m.Parts) == 0 {
		c.addFault("a message without parts")
	}
	if m.Status != "" && !m.Status.Known() {
		c.addFault("the status %q", m.Status)
	}
	if m.Usage != nil && !m.Usage.InBounds() {
		if u, wrong := m.Usage.Checked(); !wrong || !u.InBounds() {
			c.addFault("impossible usage: %+v", *m.Usage)
		}
	}
	if m.Usage != nil && m.Role != scrollback.RoleAssistant {
		c.addFault("usage on a message of role %s", m.Role)
	}
	c.checkTimes(m.CreatedAt)
	c.checkObject("the message's meta", m.Meta)
	c.checkTexts("message", string(m.ID), m.Name, m.Model)
	for i := range e.Bytes {
		if i < 0 || i >= len(m.Parts) || !isAttachment(m.Parts[i]) {
			c.addFault("bytes of part %d, which is neither an image nor a file", i)
		}
	}
	for i, p := range m.Parts {
		_, has := e.Bytes[i]
		c.checkPart(t, p, has)
	}
	t.path = append(t.path, m)
}

func isAttachment(p scrollback.Part) bool {
	switch p.(type) {
	case scrollback.Image, scrollback.File:
		return true
	}
	return false
}

func (c *checker) checkPart(t *checkedThread, p scrollback.Part, bytes bool) {
	switch p := p.(type) {
	case scrollback.Text:
		c.checkTexts("text", p.Text)
		c.checkJSON(p.Opaque)
	case scrollback.Reasoning:
		c.checkTexts("reasoning", p.Text)
		c.checkJSON(p.Opaque)
	case scrollback.ToolCall:
		c.checkTexts("call", p.ID, p.Name)
		c.checkJSON(p.Opaque)
		if p.ID == "" || p.Name == "" {
			c.addFault("a call without an id or a name")
		}
		if !json.Valid(p.Arguments) {
			c.addFault("arguments that are not JSON: %.200s", p.Arguments)
		}
	case scrollback.ToolResult:
		c.checkTexts("result", p.CallID, p.Name, p.Text)
		c.checkJSON(p.Opaque)
		c.checkResult(t, p)
	case scrollback.Image:
		c.checkTexts("image", p.Name, p.MediaType, p.URL)
		if !bytes && p.URL == "" {
			c.addFault("an image without bytes or an address")
		}
	case scrollback.File:
		c.checkTexts("file", p.Name, p.MediaType)
		if !bytes {
			c.addFault("a file without bytes")
		}
	}
}

// checkResult checks that a result has the name of its call, if that is on the path.
func (c *checker) checkResult(t *checkedThread, r scrollback.ToolResult) {
	if r.CallID == "" {
		c.addFault("a result without the id of its call")
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
		c.addFault("the result of %s has the name %q, its call %q", r.CallID, r.Name, names)
	}
}

func (c *checker) checkTexts(what string, all ...string) {
	for _, s := range all {
		if !utf8.ValidString(s) {
			c.addFault("%s: text that is not UTF-8: %.100q", what, s)
		}
	}
}

func (c *checker) checkTimes(all ...int64) {
	for _, at := range all {
		if at < 0 || at > latest {
			c.addFault("the time %d", at)
		}
	}
}

func (c *checker) checkJSON(raw json.RawMessage) {
	if len(raw) > 0 && !json.Valid(raw) {
		c.addFault("a payload that is not JSON: %.100s", raw)
	}
}

func (c *checker) checkObject(what string, raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &fields) != nil {
		c.addFault("%s is not an object: %.100s", what, raw)
	}
}
