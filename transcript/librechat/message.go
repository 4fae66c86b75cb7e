package librechat

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// makeMessages makes the messages of one of the file.
func (r *talkReader) makeMessages(m *message) []transcript.Entry {
	p := &messagePieces{talkReader: r, Pieces: exported.Pieces{ID: m.ID, Role: scrollback.RoleAssistant,
		At: exported.ParseMoment(m.CreatedAt)}}
	if m.isByUser() {
		p.Role = scrollback.RoleUser
	}
	for _, raw := range m.Content {
		p.addPiece(raw)
	}
	if len(p.Entries) == 0 {
		p.AddText(m.Text)
	}
	seen := map[file]bool{}
	for _, f := range append(m.Files, m.Attached...) {
		if (f.Name != "" || f.ID != "") && !seen[f] {
			p.EncloseFile(r.assets, f.fileKind(), f.ID, cmp.Or(f.Name, f.ID))
		}
		seen[f] = true
	}
	if len(p.Entries) == 0 {
		r.talk.CountLeft("empty")
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
	p.FinishMessage(m.Model, status, exported.KeepMeta(metaKey, struct {
		Finish string `json:"finish_reason,omitempty"`
		Sender string `json:"sender,omitempty"`
	}{finish, m.Sender}))
	return p.Entries
}

// messagePieces are the messages that one of the file becomes.
type messagePieces struct {
	exported.Pieces
	*talkReader
}

func (f file) fileKind() string {
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

// textValue returns a text, or what an object has as its value.
func textValue(raw json.RawMessage) string {
	var text string
	var object struct {
		Value string `json:"value"`
	}
	if !exported.DecodeField(raw, &text) && exported.DecodeField(raw, &object) {
		return object.Value
	}
	return text
}

// addPiece adds one piece of a message's content.
func (p *messagePieces) addPiece(raw json.RawMessage) {
	var text string
	if exported.DecodeField(raw, &text) {
		p.AddText(text)
		return
	}
	var c part
	if exported.DecodeJSON(raw, &c) != nil {
		return
	}
	switch c.Type {
	case "text":
		p.AddText(textValue(c.Text))
	case "think":
		p.AddReasoning(textValue(c.Think))
	case "error":
		p.AddText(cmp.Or(textValue(c.Error), textValue(c.Text)))
	case "tool_call":
		if c.Call != nil {
			p.addCall(c.Call)
		}
	case "image_file":
		p.EncloseFile(p.assets, "image", c.File.ID, cmp.Or(c.File.Name, c.File.ID))
	case "image_url":
		p.addImage(c.URL)
	case "agent_update", "summary":
		p.talk.CountLeft(c.Type)
	default:
		kind := strings.ToValidUTF8(c.Type[:min(len(c.Type), 40)], "")
		p.talk.CountLeft("part of type " + cmp.Or(kind, "no type"))
		if s := textValue(c.Text); s != "" {
			p.AddText(s)
		} else if kind != "" {
			p.AddText("[" + kind + "]\n" + string(exported.CompactJSON(raw)))
		}
	}
}

// addCall adds a call of a tool, and what it returned.
func (p *messagePieces) addCall(c *toolCall) {
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
	p.AddCall(c.ID, name, exported.CallArguments(args, "input"))
	var text string
	switch {
	case exported.DecodeField(output, &text):
	case len(output) > 0 && string(output) != "null":
		text = string(exported.CompactJSON(output))
	default:
		for _, o := range c.Code.Outputs {
			text += o.Logs
		}
	}
	if text != "" {
		p.AnswerNewest(text, false)
	}
}

// addImage adds an image that stands in the message, or mentions its address.
func (p *messagePieces) addImage(raw json.RawMessage) {
	var address string
	var object struct {
		URL string `json:"url"`
	}
	if !exported.DecodeField(raw, &address) && exported.DecodeField(raw, &object) {
		address = object.URL
	}
	if b, ok := exported.DecodeDataURL(address); ok {
		exported.AttachFile(p.OwnEntry(), "", b)
		return
	}
	exported.MentionMissing(p.OwnEntry(), "image", address[:min(len(address), 200)], exported.NotThere)
}
