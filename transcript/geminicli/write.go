package geminicli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Write implements transcript.Exporter: a session of JSON lines.
func (Format) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	out := &writer{w: bufio.NewWriterSize(w, 64<<10), written: map[string]bool{}}
	if err := out.header(c); err != nil {
		return err
	}
	var group []transcript.Entry
	for e, err := range entries {
		if err != nil {
			return err
		}
		if len(group) > 0 && !answers(group, e) {
			if err := out.group(group); err != nil {
				return err
			}
			group = nil
		}
		group = append(group, e)
	}
	if err := out.group(group); err != nil {
		return err
	}
	return out.w.Flush()
}

// answers reports whether a message holds the results of the calls of the one before:
// then they are one record.
func answers(group []transcript.Entry, e transcript.Entry) bool {
	calls := group[0].Message.Parts.Calls()
	results := e.Message.Parts.Results()
	if len(group) > 1 || group[0].Message.Role != scrollback.RoleAssistant || e.Message.Role != scrollback.RoleTool ||
		len(results) == 0 || len(results) != len(e.Message.Parts) {
		return false
	}
	for _, r := range results {
		if !slices.ContainsFunc(calls, func(c scrollback.ToolCall) bool { return c.ID == r.CallID }) {
			return false
		}
	}
	return true
}

type writer struct {
	w       *bufio.Writer
	written map[string]bool // records by id: asides may be kept twice
}

func (w *writer) line(v any) error {
	b, err := marshal(v)
	if err == nil {
		_, err = w.w.Write(append(b, '\n'))
	}
	return err
}

// header writes what a session says about itself, and records without any message.
func (w *writer) header(c scrollback.Conversation) error {
	var meta struct {
		Kept struct {
			Header  map[string]json.RawMessage `json:"header"`
			Records []json.RawMessage          `json:"records"`
		} `json:"gemini_cli"`
	}
	// A meta of another shape holds no header of ours.
	_ = json.Unmarshal(c.Meta, &meta)
	project := ""
	if len(c.Roots) > 0 {
		sum := sha256.Sum256([]byte(c.Roots[0]))
		project = hex.EncodeToString(sum[:])
	}
	fields := map[string]any{"sessionId": string(c.ID), "projectHash": project, "startTime": stamp(c.CreatedAt), "lastUpdated": stamp(c.UpdatedAt), "kind": "main"}
	if len(meta.Kept.Header) > 0 {
		fields = map[string]any{"sessionId": string(c.ID)}
	}
	for key, value := range meta.Kept.Header {
		fields[key] = value
	}
	if _, told := fields["summary"]; !told && c.Title != "" {
		fields["summary"] = c.Title
	}
	if err := w.line(fields); err != nil {
		return err
	}
	return w.asides(meta.Kept.Records)
}

func (w *writer) asides(list []json.RawMessage) error {
	for _, raw := range list {
		var id struct{ ID string }
		if json.Unmarshal(raw, &id) == nil && id.ID != "" && w.written[id.ID] {
			continue
		}
		w.written[id.ID] = true
		if err := w.line(raw); err != nil {
			return err
		}
	}
	return nil
}

// group writes the messages of one record, and the asides around it.
func (w *writer) group(group []transcript.Entry) error {
	if len(group) == 0 {
		return nil
	}
	kept, _ := ourMeta(group[0].Message.Meta)
	if err := w.asides(kept.Before); err != nil {
		return err
	}
	rec, err := recordOf(group)
	if err != nil {
		return err
	}
	w.written[kept.ID] = true
	if err := w.line(rec); err != nil {
		return err
	}
	return w.asides(kept.After)
}

// recordOf is the record of a group: what was read, where it was read from a file;
// else one that reads as these messages.
func recordOf(group []transcript.Entry) (any, error) {
	kept, _ := ourMeta(group[0].Message.Meta)
	rec := canonical(group)
	if kept.ID != "" {
		rec.ID = kept.ID
	}
	raw, err := marshal(rec)
	if err != nil {
		return nil, err
	}
	if len(kept.Patch) > 0 {
		if patched, err := apply(decode(raw), decode(kept.Patch)); err == nil {
			return patched, nil
		}
	}
	back, err := parseRecord(raw)
	if err != nil {
		return nil, err
	}
	if !back.aside() && reads(back.messages(0, map[string]bool{}), group) {
		return raw, nil
	}
	for _, e := range group {
		rec.Ours = append(rec.Ours, asMessage(e))
	}
	return rec, nil
}

// asMessage is one of our messages, unchanged.
func asMessage(e transcript.Entry) message {
	m := e.Message
	_, meta := ourMeta(m.Meta)
	out := message{Role: m.Role, Name: m.Name, Parts: bare(m.Parts), Model: m.Model, Usage: m.Usage, Status: m.Status, CreatedAt: m.CreatedAt, Meta: meta}
	for i, data := range e.Bytes {
		if out.Data == nil {
			out.Data = map[string][]byte{}
		}
		out.Data[strconv.Itoa(i)] = data
	}
	return out
}

// bare are parts without what only their own store knows about them.
func bare(ps scrollback.Parts) scrollback.Parts {
	out := slices.Clone(ps)
	for i, p := range out {
		switch p := p.(type) {
		case scrollback.Image:
			p.Artifact, p.Width, p.Height = "", 0, 0
			out[i] = p
		case scrollback.File:
			p.Artifact = ""
			out[i] = p
		case scrollback.Text, scrollback.ToolCall, scrollback.ToolResult, scrollback.Reasoning:
		}
	}
	return out
}

// reads reports whether a record reads as these messages.
func reads(got, want []transcript.Entry) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		a, b := asMessage(got[i]), asMessage(want[i])
		if b.Status == scrollback.StatusComplete {
			b.Status = ""
		}
		x, errX := marshal(a)
		y, errY := marshal(b)
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}

// patch makes what we would write of a record the record itself; nil when it is.
func (r *record) patch(group []transcript.Entry) json.RawMessage {
	if len(r.Ours) > 0 || r.raw == nil {
		return nil
	}
	rec := canonical(group)
	rec.ID = r.ID
	raw, err := marshal(rec)
	if err != nil {
		return nil
	}
	p := diff(decode(raw), decode(r.raw))
	if p == nil {
		return nil
	}
	return object(p)
}

// canonical is the record that these messages are, as far as one can say it.
func canonical(group []transcript.Entry) record {
	m := group[0].Message
	rec := record{ID: string(m.ID), Timestamp: stamp(m.CreatedAt), Type: "user"}
	if m.Role == scrollback.RoleAssistant {
		rec.Type, rec.Model = "gemini", strings.TrimPrefix(m.Model, modelPrefix)
		if u := m.Usage; u != nil {
			rec.Tokens = &tokens{Input: u.InputTokens, Output: u.OutputTokens - u.ReasoningTokens, Cached: u.CachedTokens, Thoughts: u.ReasoningTokens,
				Total: u.InputTokens + u.OutputTokens}
		}
	}
	for _, e := range group {
		for i, p := range e.Message.Parts {
			rec.put(p, e.Bytes[i], e.Message.CreatedAt)
		}
	}
	c := &rec.Content
	c.plain = rec.Type == "gemini" && (len(c.parts) == 0 || len(c.parts) == 1 && c.parts[0].Text != nil && c.parts[0].ThoughtSignature == nil && !c.parts[0].Thought)
	return rec
}

// put adds a part to a record.
func (r *record) put(p scrollback.Part, data []byte, at int64) {
	add := func(q part) { r.Content.parts = append(r.Content.parts, q) }
	switch p := p.(type) {
	case scrollback.Text:
		add(part{Text: &p.Text, ThoughtSignature: p.Opaque})
	case scrollback.Reasoning:
		if r.Type == "gemini" && p.Opaque == nil && len(r.Content.parts) == 0 {
			subject, description, two := strings.Cut(p.Text, "\n")
			if !two {
				subject, description = "", p.Text
			}
			r.Thoughts = append(r.Thoughts, thought{Subject: subject, Description: description, Timestamp: r.Timestamp})
			return
		}
		add(part{Text: &p.Text, Thought: true, ThoughtSignature: p.Opaque})
	case scrollback.ToolCall:
		if r.Type == "gemini" && p.Opaque == nil {
			r.ToolCalls = append(r.ToolCalls, toolCall{ID: p.ID, Name: p.Name, Args: p.Arguments, Status: "cancelled", Timestamp: r.Timestamp})
			return
		}
		add(part{FunctionCall: &functionCall{ID: p.ID, Name: p.Name, Args: p.Arguments}, ThoughtSignature: p.Opaque})
	case scrollback.ToolResult:
		r.result(p, at)
	case scrollback.Image:
		add(part{InlineData: &inlineData{MimeType: p.MediaType, Data: base64.StdEncoding.EncodeToString(data)}, ThoughtSignature: p.Opaque})
	case scrollback.File:
		add(part{InlineData: &inlineData{MimeType: p.MediaType, Data: base64.StdEncoding.EncodeToString(data)}, ThoughtSignature: p.Opaque})
	}
}

// result adds a result: to its call, where the record has it.
func (r *record) result(p scrollback.ToolResult, at int64) {
	key, status := "output", "success"
	if p.IsError {
		key, status = "error", "error"
	}
	response := part{FunctionResponse: &functionResponse{ID: p.CallID, Name: p.Name, Response: object(map[string]string{key: p.Text})}}
	for i := range r.ToolCalls {
		if c := &r.ToolCalls[i]; c.ID == p.CallID {
			c.Result, c.Status, c.Timestamp = content{parts: []part{response}}, status, stamp(at)
			return
		}
	}
	r.Content.parts = append(r.Content.parts, response)
}
