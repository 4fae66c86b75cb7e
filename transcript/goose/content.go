package goose

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// content is a piece of a message; the kinds share the names of their fields.
type content struct {
	Type       string          `json:"type"`
	Text       string          `json:"text"`
	Data       string          `json:"data"`
	Mime       string          `json:"mimeType"`
	ID         string          `json:"id"`
	Thinking   string          `json:"thinking"`
	ToolCall   outcome         `json:"toolCall"`
	ToolResult outcome         `json:"toolResult"`
	Resource   json.RawMessage `json:"resource"`
	Notes      struct {
		Audience []string `json:"audience"`
	} `json:"annotations"`
}

// outcome is a call or its result, or why there is none.
type outcome struct {
	Status string          `json:"status"`
	Value  json.RawMessage `json:"value"`
	Error  string          `json:"error"`
}

// readPieces reads the content of a message. One of another shape than is known is a piece of
// its kind with nothing in it.
func readPieces(raw json.RawMessage) ([]content, error) {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	out := make([]content, 0, len(all))
	for _, raw := range all {
		var c content
		if json.Unmarshal(raw, &c) != nil {
			var kind struct{ Type string }
			_ = json.Unmarshal(raw, &kind) // without one it is unknown
			c = content{Type: "unknown " + kind.Type}
		}
		out = append(out, c)
	}
	return out, nil
}

// messageDraft is a message that is being filled.
type messageDraft struct {
	parts scrollback.Parts
	bytes map[int][]byte
}

func (s *messageDraft) attachBytes(encoded, mime string) bool {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil || len(b) == 0 {
		return false
	}
	if s.bytes == nil {
		s.bytes = map[int][]byte{}
	}
	s.bytes[len(s.parts)] = b
	mime = cmp.Or(mime, "application/octet-stream")
	if strings.HasPrefix(mime, "image/") && mime != "image/svg+xml" {
		s.parts = append(s.parts, scrollback.Image{MediaType: mime, Size: int64(len(b))})
	} else {
		s.parts = append(s.parts, scrollback.File{MediaType: mime, Size: int64(len(b))})
	}
	return true
}

// messageBuilder makes messages of a conversation's rows.
type messageBuilder struct {
	left  map[string]int
	names map[string]string // of the calls so far
}

// makeEntries returns the messages of a row: what was said, and what tools returned.
func (t *messageBuilder) makeEntries(r *messageRow) []transcript.Entry {
	var s, results messageDraft
	for _, c := range r.pieces {
		switch c.Type {
		case "text":
			if c.Text != "" {
				s.parts = append(s.parts, scrollback.Text{Text: c.Text})
			}
		case "thinking":
			if c.Thinking != "" {
				s.parts = append(s.parts, scrollback.Reasoning{Text: c.Thinking})
			}
		case "image":
			if !s.attachBytes(c.Data, c.Mime) {
				t.left["image that is not base64"]++
			}
		case "toolRequest", "frontendToolRequest":
			s.parts = append(s.parts, t.makeCall(c, r))
		case "toolResponse":
			t.addResult(&results, c, r)
		default:
			t.left[cmp.Or(strings.ToValidUTF8(c.Type, "\uFFFD"), "part")]++
		}
	}
	role := scrollback.RoleUser
	if r.role == "assistant" {
		role = scrollback.RoleAssistant
	}
	var out []transcript.Entry
	add := func(id string, role scrollback.Role, s messageDraft) {
		if len(s.parts) > 0 {
			m := scrollback.Message{ID: scrollback.MessageID(id), Role: role, Parts: s.parts, CreatedAt: r.created,
				Status: scrollback.StatusComplete}
			if r.summary {
				m.Meta = json.RawMessage(`{"` + metaKey + `":{"compaction":true}}`)
			}
			out = append(out, transcript.Entry{Line: r.line, Message: m, Bytes: s.bytes})
		}
	}
	add(r.identity+"#results", scrollback.RoleTool, results)
	add(r.identity, role, s)
	if len(out) == 0 {
		t.left["empty message"]++
	}
	return out
}

// makeCall returns what a model asked for; a call that could not be read has no arguments.
func (t *messageBuilder) makeCall(c content, r *messageRow) scrollback.ToolCall {
	var v struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(c.ToolCall.Value, &v)
	call := scrollback.ToolCall{ID: cmp.Or(c.ID, r.identity), Name: cmp.Or(v.Name, "unknown"),
		Arguments: json.RawMessage("{}")}
	var b bytes.Buffer
	if len(v.Arguments) > 0 && json.Compact(&b, v.Arguments) == nil {
		call.Arguments = b.Bytes()
	}
	if c.ToolCall.Status == "error" {
		t.left["call that was not understood"]++
	}
	t.names[call.ID] = call.Name
	return call
}

// addResult is what a tool returned. Of texts that are made for somebody, those for the model
// count, if there are any.
func (t *messageBuilder) addResult(s *messageDraft, c content, r *messageRow) {
	out := scrollback.ToolResult{CallID: cmp.Or(c.ID, r.identity), IsError: c.ToolResult.Status == "error",
		Text: c.ToolResult.Error}
	out.Name = cmp.Or(t.names[out.CallID], "unknown")
	var v struct {
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"isError"`
	}
	list := c.ToolResult.Value
	if json.Unmarshal(list, &v) == nil && len(v.Content) > 0 {
		list = v.Content
		out.IsError = out.IsError || v.IsError
	}
	all, err := readPieces(list)
	if err != nil && len(list) > 0 {
		t.left["result of an unknown shape"]++
	}
	forModel := func(c content) bool {
		return len(c.Notes.Audience) == 0 || slices.Contains(c.Notes.Audience, "assistant")
	}
	some := false
	for _, c := range all {
		some = some || forModel(c)
	}
	var texts []string
	var images []content
	for _, c := range all {
		switch {
		case some && !forModel(c):
			t.left["result for the screen"]++
		case c.Type == "text":
			texts = append(texts, c.Text)
		case c.Type == "image":
			images = append(images, c)
		case c.Type == "resource":
			var res struct {
				Text string `json:"text"`
			}
			if json.Unmarshal(c.Resource, &res) == nil && res.Text != "" {
				texts = append(texts, res.Text)
				continue
			}
			t.left["resource"]++
		default:
			t.left[cmp.Or(strings.ToValidUTF8(c.Type, "\uFFFD"), "part")]++
		}
	}
	if len(texts) > 0 {
		out.Text = strings.Join(texts, "\n")
	}
	s.parts = append(s.parts, out)
	for _, c := range images {
		if !s.attachBytes(c.Data, c.Mime) {
			t.left["image that is not base64"]++
		}
	}
}
