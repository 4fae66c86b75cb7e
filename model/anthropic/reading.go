package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// reading is a block of an answer while it is being written.
type reading struct {
	index int64
	start begun
	raw   json.RawMessage // as it began

	text, signature, input strings.Builder
}

// begun is how a block begins. Servers that do not write in pieces put all of it here.
type begun struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"` // of results of the server's own tools
}

// piece is a piece of a block.
type piece struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
	JSON      string `json:"partial_json"`
}

// begin begins a block, and ends the one before it.
func (r *reader) begin(raw json.RawMessage, index int64) error {
	if err := r.close(); err != nil {
		return err
	}
	b := &reading{index: index, raw: raw}
	if !readable(json.Unmarshal(raw, &b.start)) {
		return r.a.Unreadable(raw)
	}
	if err := r.release(); err != nil { // more comes, so the call before it is whole
		return err
	}
	joined, err := r.joins(b.start.Type)
	if err != nil {
		return err
	}
	if r.open && !joined { // a payload that stands alone would be taken for that of the part before
		r.open = false
		if err := r.a.Emit(model.Delta{End: true}); err != nil {
			return err
		}
	}
	r.cur = b
	if b.start.Type == "text" || b.start.Type == "thinking" {
		r.last = b.start.Type
	}
	switch b.start.Type {
	case "text":
		return r.more(piece{Text: b.start.Text}, index)
	case "thinking":
		return r.more(piece{Thinking: b.start.Thinking, Signature: b.start.Signature}, index)
	case "redacted_thinking":
		return r.payload(payload{Redacted: b.start.Data})
	}
	return nil
}

// more adds a piece. One of a block whose beginning is missing is kept as far as it makes
// sense alone.
func (r *reader) more(p piece, index int64) error {
	if r.cur == nil || r.cur.index != index {
		kind, ok := map[string]string{"text_delta": "text", "thinking_delta": "thinking",
			"signature_delta": "thinking"}[p.Type]
		if !ok {
			return nil
		}
		if err := r.begin(json.RawMessage(`{"type":"`+kind+`"}`), index); err != nil {
			return err
		}
	}
	b := r.cur
	if p.JSON != "" {
		if err := r.a.Argue(len(p.JSON)); err != nil {
			return err
		}
		b.input.WriteString(p.JSON)
	}
	if p.Signature != "" {
		b.signature.WriteString(p.Signature)
		if err := r.a.Hoard(b.signature.Len()); err != nil {
			return err
		}
	}
	if p.Text+p.Thinking == "" {
		return nil
	}
	b.text.WriteString(p.Text + p.Thinking)
	r.open = true
	return r.a.Emit(model.Delta{Text: p.Text, Reasoning: p.Thinking})
}

// close ends the block that is being written.
func (r *reader) close() error {
	b := r.cur
	if b == nil {
		return nil
	}
	r.cur = nil
	r.keep(b)
	switch b.start.Type {
	case "thinking":
		return r.payload(payload{Signature: b.signature.String(), Unsigned: b.signature.Len() == 0 && b.text.Len() > 0})
	case "server_tool_use":
		return r.asked(b)
	case "web_search_tool_result":
		return r.results(b)
	case "tool_use":
		if err := r.a.Argue(len(b.start.Input)); err != nil {
			return err
		}
		r.held = &scrollback.ToolCall{ID: b.start.ID, Name: b.start.Name, Arguments: b.arguments()}
	}
	return nil
}

// cut ends a block within which the answer ended: only what was said of it stays. A
// signature may be incomplete, and a call certainly is.
func (r *reader) cut() error {
	b := r.cur
	r.cur = nil
	if r.reason == "" || b.start.Type == "tool_use" && r.reason != b.start.Type {
		return nil
	}
	r.cur = b
	return r.close()
}

// payload emits what belongs to the reasoning that ends here, if anything.
func (r *reader) payload(p payload) error {
	if p == (payload{}) {
		return nil
	}
	b, err := encode(p)
	if err != nil {
		return err
	}
	r.open = false
	return r.a.Emit(model.Delta{Opaque: b})
}

// arguments are those of a call: from its pieces, or from where it began.
func (b *reading) arguments() json.RawMessage {
	if b.input.Len() == 0 {
		return b.start.Input
	}
	return json.RawMessage(b.input.String())
}

// keep remembers a block as it came, to send it back after a pause.
func (r *reader) keep(b *reading) {
	var fields map[string]any
	if json.Unmarshal(b.raw, &fields) != nil || fields == nil {
		return
	}
	switch b.start.Type {
	case "text":
		fields["text"] = b.text.String()
		if blank(b.text.String()) {
			return
		}
	case "thinking":
		fields["thinking"] = b.text.String()
		fields["signature"] = b.signature.String()
		if b.signature.Len() == 0 {
			return
		}
	default:
		if b.input.Len() > 0 {
			fields["input"] = model.Arguments(b.input.String())
		}
	}
	if raw, err := encode(fields); err == nil {
		r.said = append(r.said, raw)
	}
}

// encode is JSON with all characters as they are.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(buf.Bytes()), err
}
