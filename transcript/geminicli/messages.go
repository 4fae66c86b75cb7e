package geminicli

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// modelPrefix is the provider that a bare model name of this format belongs to.
const modelPrefix = "gemini/"

// toMessages returns what a record becomes: place is where it stands, for calls without an id,
// and given the results that were read before, which grow by those of this record.
func (r *record) toMessages(place string, given *callAnswers) []transcript.Entry {
	if len(r.Ours) > 0 {
		given.settleCalls(r.namedCalls())
		out := ownMessages(r.Ours)
		out[0].Message.ID = scrollback.MessageID(r.ID)
		return out
	}
	if r.Type == "user" {
		return r.userMessages(place, given)
	}
	b := partBuilder{place: place}
	for _, t := range r.Thoughts {
		if text := strings.TrimPrefix(t.Subject+"\n"+t.Description, "\n"); strings.TrimSpace(text) != "" {
			b.parts = append(b.parts, scrollback.Reasoning{Text: text})
		}
	}
	b.addContent(r.spokenContent())
	answer := scrollback.Message{ID: scrollback.MessageID(r.ID), Role: scrollback.RoleAssistant,
		CreatedAt: parseTime(r.Timestamp), Model: modelName(r.Model)}
	if t := r.Tokens; t != nil {
		answer.Usage = &scrollback.Usage{InputTokens: t.Input, CachedTokens: t.Cached, OutputTokens: t.Output + t.Thoughts,
			ReasoningTokens: t.Thoughts}
		answer.Usage.TotalTokens = answer.Usage.InputTokens + answer.Usage.OutputTokens
	}
	var results scrollback.Parts
	at := answer.CreatedAt
	calls := b.addCalls(r.ToolCalls)
	given.addCalls(b.parts.Calls())
	for k, c := range r.ToolCalls {
		parts := r.callResult(c)
		if len(parts) == 0 {
			continue
		}
		if _, fresh := given.takeResult(calls[k].ID, calls[k].Name); !fresh {
			continue
		}
		text, failed := resultText(parts)
		results = append(results, scrollback.ToolResult{CallID: calls[k].ID, Name: calls[k].Name, Text: text,
			IsError: failed || c.Status == "error"})
		at = max(at, parseTime(c.Timestamp))
	}
	answer.Parts = b.parts
	if len(answer.Parts) == 0 {
		return nil
	}
	out := []transcript.Entry{{Message: answer, Bytes: b.bytes}}
	if len(results) > 0 {
		out = append(out, transcript.Entry{Message: scrollback.Message{Role: scrollback.RoleTool, CreatedAt: at,
			Parts: results}})
	}
	return out
}

// userMessages returns the messages of what a user said; results among it are a tool's.
func (r *record) userMessages(place string, given *callAnswers) []transcript.Entry {
	b := partBuilder{place: place}
	b.addContent(r.Content)
	var results, rest scrollback.Parts
	moved := map[int][]byte{}
	for k, p := range b.parts {
		res, ok := p.(scrollback.ToolResult)
		switch {
		case !ok:
			if data, has := b.bytes[k]; has {
				moved[len(rest)] = data
			}
			rest = append(rest, p)
		default:
			id := res.CallID
			if b.bare[k] {
				id = ""
			}
			call, fresh := given.takeResult(id, res.Name)
			if res.CallID = cmp.Or(call, res.CallID); fresh {
				results = append(results, res)
			}
		}
	}
	var out []transcript.Entry
	add := func(role scrollback.Role, parts scrollback.Parts, data map[int][]byte) {
		if len(parts) == 0 {
			return
		}
		m := scrollback.Message{Role: role, CreatedAt: parseTime(r.Timestamp), Parts: parts}
		if len(out) == 0 {
			m.ID = scrollback.MessageID(r.ID)
		}
		if len(data) == 0 {
			data = nil
		}
		out = append(out, transcript.Entry{Message: m, Bytes: data})
	}
	add(scrollback.RoleTool, results, nil)
	if strings.TrimSpace(rest.Text()) != "" || len(rest) > len(textParts(rest)) {
		add(scrollback.RoleUser, rest, moved)
	}
	return out
}

func textParts(ps scrollback.Parts) (out scrollback.Parts) {
	for _, p := range ps {
		if _, ok := p.(scrollback.Text); ok {
			out = append(out, p)
		}
	}
	return out
}

// namedCalls returns the calls that a record names in any way.
func (r *record) namedCalls() (out []scrollback.ToolCall) {
	for _, c := range r.ToolCalls {
		out = append(out, scrollback.ToolCall{ID: c.ID, Name: c.Name})
	}
	for _, p := range r.Content.parts {
		if p.FunctionCall != nil {
			out = append(out, scrollback.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name})
		}
	}
	for _, m := range r.Ours {
		out = append(out, m.Parts.Calls()...)
		for _, res := range m.Parts.Results() {
			out = append(out, scrollback.ToolCall{ID: res.CallID, Name: res.Name})
		}
	}
	return out
}

// ownMessages returns messages that were written unchanged.
func ownMessages(list []message) []transcript.Entry {
	var out []transcript.Entry
	for _, m := range list {
		e := transcript.Entry{Message: scrollback.Message{Role: m.Role, Name: m.Name, Parts: m.Parts, Model: m.Model,
			Usage:  m.Usage,
			Status: m.Status, CreatedAt: m.CreatedAt, Meta: m.Meta}}
		for key, data := range m.Data {
			if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(m.Parts) {
				if e.Bytes == nil {
					e.Bytes = map[int][]byte{}
				}
				e.Bytes[i] = data
			}
		}
		if _, err := scrollback.ParseRole(string(m.Role)); err == nil {
			out = append(out, e)
		}
	}
	return out
}

// partBuilder makes parts of content.
type partBuilder struct {
	place string // of the record, for calls without an id
	parts scrollback.Parts
	bytes map[int][]byte
	bare  map[int]bool // calls and results that have no id of their own, by index
}

func (b *partBuilder) addContent(c content) {
	for i, p := range c.parts {
		opaque := p.ThoughtSignature
		if p.FunctionCall != nil && p.FunctionCall.ID == "" ||
			p.FunctionCall == nil && p.FunctionResponse != nil && p.FunctionResponse.ID == "" {
			if b.bare == nil {
				b.bare = map[int]bool{}
			}
			b.bare[len(b.parts)] = true
		}
		switch {
		case p.FunctionCall != nil:
			call := scrollback.ToolCall{ID: b.makeCallID(p.FunctionCall.ID, i), Name: p.FunctionCall.Name,
				Arguments: objectArguments(p.FunctionCall.Args), Opaque: opaque}
			b.parts = append(b.parts, call)
		case p.FunctionResponse != nil:
			text, failed := responseText(p.FunctionResponse.Response)
			b.parts = append(b.parts, scrollback.ToolResult{CallID: b.makeCallID(p.FunctionResponse.ID, i),
				Name: p.FunctionResponse.Name,
				Text: text, IsError: failed, Opaque: opaque})
		case p.InlineData != nil:
			b.attachData(*p.InlineData, opaque)
		case p.FileData != nil:
			b.parts = append(b.parts, scrollback.Text{Text: p.FileData.FileURI, Opaque: opaque})
		case p.Text != nil && p.Thought:
			b.parts = append(b.parts, scrollback.Reasoning{Text: *p.Text, Opaque: opaque})
		case p.Text != nil && (*p.Text != "" || opaque != nil):
			b.parts = append(b.parts, scrollback.Text{Text: *p.Text, Opaque: opaque})
		case p.Text == nil && opaque != nil && string(opaque) != "null": // a signature by itself
			if p.Thought {
				b.parts = append(b.parts, scrollback.Reasoning{Opaque: opaque})
			} else {
				b.parts = append(b.parts, scrollback.Text{Opaque: opaque})
			}
		}
	}
}

// attachData adds the bytes of an attachment; what is not base64 is kept by the patch.
func (b *partBuilder) attachData(d inlineData, opaque scrollback.Opaque) {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(d.Data))
	if err != nil {
		return
	}
	if b.bytes == nil {
		b.bytes = map[int][]byte{}
	}
	b.bytes[len(b.parts)] = data
	switch d.MimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		b.parts = append(b.parts, scrollback.Image{MediaType: d.MimeType, Size: int64(len(data)), Opaque: opaque})
	default:
		b.parts = append(b.parts, scrollback.File{MediaType: d.MimeType, Size: int64(len(data)), Opaque: opaque})
	}
}

// makeCallID returns the id of a call, or one made from its position: the same however often the
// file is read.
func (b *partBuilder) makeCallID(id string, i int) string {
	if id != "" {
		return id
	}
	return fmt.Sprintf("call_%s_%d", b.place, i)
}

func objectArguments(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

func modelName(name string) string {
	if name == "" || strings.Contains(name, "/") {
		return name
	}
	return modelPrefix + name
}

// resultText returns what a tool returned, and whether that is an error.
func resultText(parts []part) (string, bool) {
	var pieces []string
	failed := false
	for _, p := range parts {
		switch {
		case p.FunctionResponse != nil:
			text, bad := responseText(p.FunctionResponse.Response)
			pieces = append(pieces, text)
			failed = failed || bad
		case p.Text != nil:
			pieces = append(pieces, *p.Text)
		case p.FileData != nil:
			pieces = append(pieces, p.FileData.FileURI)
		}
	}
	return strings.Join(pieces, "\n"), failed
}

// responseText returns a response as text: its output or error when that is all there
// is, else the JSON.
func responseText(raw json.RawMessage) (text string, failed bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil && len(fields) == 1 {
		for key, value := range fields {
			if key != "output" && key != "error" {
				break
			}
			if json.Unmarshal(value, &text) == nil && !bytes.Equal(bytes.TrimSpace(value), []byte("null")) {
				return text, key == "error"
			}
		}
	}
	var plain string
	if json.Unmarshal(raw, &plain) == nil && plain != "" {
		return plain, false
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw), false
	}
	return b.String(), false
}

// readCheckpoint reads a file that holds nothing but the history of one moment.
func (s *sessionReader) readCheckpoint(fields map[string]json.RawMessage) {
	var history []struct {
		Role  string  `json:"role"`
		Parts content `json:"parts"`
	}
	if err := json.Unmarshal(fields["history"], &history); err != nil {
		s.emitBad("the history is not a list of turns: %v", err)
		return
	}
	delete(fields, "history")
	meta := transcript.MarshalObject(map[string]any{metaKey: map[string]any{"checkpoint": fields}})
	s.emitEntry(transcript.Entry{Conversation: &scrollback.Conversation{Meta: meta}})
	given := &callAnswers{}
	var open []scrollback.ToolCall // calls without an id that wait for their result
	for i, turn := range history {
		rec := &record{ID: fmt.Sprint("turn", i), Type: "user", Content: turn.Parts, line: i + 1}
		if turn.Role == "model" {
			rec.Type = "gemini"
		}
		pairCalls(rec, i, &open)
		if rec.isAside() {
			continue // the setup that every checkpoint begins with
		}
		for _, e := range rec.toMessages(fmt.Sprintf("%d_%s", i, rec.ID), given) {
			e.Message.ID = ""
			s.emitEntry(e)
		}
	}
	s.header = nil // nothing else is in the file
}

// pairCalls gives calls without an id one, and the results that follow theirs: of their name,
// or else the next.
func pairCalls(rec *record, i int, open *[]scrollback.ToolCall) {
	parts := slices.Clone(rec.Content.parts)
	for k := range parts {
		switch p := &parts[k]; {
		case p.FunctionCall != nil && p.FunctionCall.ID == "":
			c := *p.FunctionCall
			c.ID = fmt.Sprintf("call_%d_%d", i, k)
			p.FunctionCall = &c
			*open = append(*open, scrollback.ToolCall{ID: c.ID, Name: c.Name})
		case p.FunctionResponse != nil && p.FunctionResponse.ID == "" && len(*open) > 0:
			r := *p.FunctionResponse
			at := max(0, slices.IndexFunc(*open, func(c scrollback.ToolCall) bool { return c.Name == r.Name }))
			r.ID = (*open)[at].ID
			*open = slices.Delete(*open, at, at+1)
			p.FunctionResponse = &r
		}
	}
	rec.Content.parts = parts
}
