package librechat

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// message makes the messages of one of the file.
func (r *reader) message(m *message) []transcript.Entry {
	p := &pieces{reader: r, Pieces: exported.Pieces{ID: m.ID, Role: scrollback.RoleAssistant,
		At: exported.Moment(m.CreatedAt)}}
	if m.byUser() {
		p.Role = scrollback.RoleUser
	}
	for _, raw := range m.Content {
		p.part(raw)
	}
	if len(p.Entries) == 0 {
		p.Say(m.Text)
	}
	seen := map[file]bool{}
	for _, f := range append(m.Files, m.Attached...) {
		if (f.Name != "" || f.ID != "") && !seen[f] {
			p.Enclose(r.assets, f.kind(), f.ID, cmp.Or(f.Name, f.ID))
		}
		seen[f] = true
	}
	if len(p.Entries) == 0 {
		r.talk.Count("empty")
		return nil
	}
	if p.At > 0 && (r.first == 0 || p.At < r.first) {
		r.first = p.At
	}
	r.last = max(r.last, p.At)
	if p.Role != scrollback.RoleAssistant {
		return p.Entries
	}
	if m.Model != "" {
		r.model = m.Model
	}
	status := scrollback.Status("")
	finish := m.Finish
	switch {
	case m.Error:
		status = scrollback.StatusFailed
	case m.Unfinished:
		status = scrollback.StatusInterrupted
	}
	if finish == "stop" {
		finish = ""
	}
	p.Finish(m.Model, status, exported.Meta(metaKey, struct {
		Finish string `json:"finish_reason,omitempty"`
		Sender string `json:"sender,omitempty"`
	}{finish, m.Sender}))
	return p.Entries
}

// pieces are the messages that one of the file becomes.
type pieces struct {
	exported.Pieces
	*reader
}

func (f file) kind() string {
	if strings.HasPrefix(f.Type, "image/") {
		return "image"
	}
	return "file"
}

// part is a piece of a message's content.
type part struct {
	Type  string          `json:"type"`
	Text  json.RawMessage `json:"text"`
	Think json.RawMessage `json:"think"`
	Error json.RawMessage `json:"error"`
	Call  *toolCall       `json:"tool_call"`
	File  file            `json:"image_file"`
	URL   json.RawMessage `json:"image_url"`
}

type toolCall struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Type     string          `json:"type"`
	Args     json.RawMessage `json:"args"`
	Output   json.RawMessage `json:"output"`
	Function struct {
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"arguments"`
		Output json.RawMessage `json:"output"`
	} `json:"function"`
	Code struct {
		Input   json.RawMessage `json:"input"`
		Outputs []struct {
			Logs string `json:"logs"`
		} `json:"outputs"`
	} `json:"code_interpreter"`
}

// value is a text, or what an object has as its value.
func value(raw json.RawMessage) string {
	var text string
	var object struct {
		Value string `json:"value"`
	}
	if !exported.Field(raw, &text) && exported.Field(raw, &object) {
		return object.Value
	}
	return text
}

// part adds one piece of a message's content.
func (p *pieces) part(raw json.RawMessage) {
	var text string
	if exported.Field(raw, &text) {
		p.Say(text)
		return
	}
	var c part
	if exported.Decode(raw, &c) != nil {
		return
	}
	switch c.Type {
	case "text":
		p.Say(value(c.Text))
	case "think":
		p.Think(value(c.Think))
	case "error":
		p.Say(cmp.Or(value(c.Error), value(c.Text)))
	case "tool_call":
		if c.Call != nil {
			p.call(c.Call)
		}
	case "image_file":
		p.Enclose(p.assets, "image", c.File.ID, cmp.Or(c.File.Name, c.File.ID))
	case "image_url":
		p.image(c.URL)
	case "agent_update", "summary":
		p.talk.Count(c.Type)
	default:
		kind := strings.ToValidUTF8(c.Type[:min(len(c.Type), 40)], "")
		p.talk.Count("part of type " + cmp.Or(kind, "no type"))
		if s := value(c.Text); s != "" {
			p.Say(s)
		} else if kind != "" {
			p.Say("[" + kind + "]\n" + string(exported.Raw(raw)))
		}
	}
}

// call adds a call of a tool, and what it returned.
func (p *pieces) call(c *toolCall) {
	name := cmp.Or(c.Name, c.Function.Name, c.Type)
	args := c.Args
	output := c.Output
	if len(args) == 0 {
		args = c.Function.Args
	}
	if len(args) == 0 {
		args = c.Code.Input
	}
	if len(output) == 0 {
		output = c.Function.Output
	}
	p.Call(c.ID, name, exported.Arguments(args, "input"))
	var text string
	switch {
	case exported.Field(output, &text):
	case len(output) > 0 && string(output) != "null":
		text = string(exported.Raw(output))
	default:
		for _, o := range c.Code.Outputs {
			text += o.Logs
		}
	}
	if text != "" {
		p.Answer(text, false)
	}
}

// image adds an image that stands in the message, or mentions its address.
func (p *pieces) image(raw json.RawMessage) {
	var address string
	var object struct {
		URL string `json:"url"`
	}
	if !exported.Field(raw, &address) && exported.Field(raw, &object) {
		address = object.URL
	}
	if b, ok := exported.DataURL(address); ok {
		exported.Attach(p.Own(), "", b)
		return
	}
	exported.Mention(p.Own(), "image", address[:min(len(address), 200)], exported.NotThere)
}
