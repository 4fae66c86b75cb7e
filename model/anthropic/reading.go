package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// openBlock is a block of an answer while it is being written.
type openBlock struct {
	index int64
	start blockStart
	raw   json.RawMessage // as it began

	text, signature, input strings.Builder
}

// blockStart is how a block begins. Servers that do not write in pieces put all of it here.
type blockStart struct {
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

// blockPiece is a piece of a block.
type blockPiece struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
	JSON      string `json:"partial_json"`
}

// beginBlock begins a block, and ends the one before it.
func (r *answerReader) beginBlock(raw json.RawMessage, index int64) error {
	if err := r.endBlock(); err != nil {
		return err
	}
	b := &openBlock{index: index, raw: raw}
	if !isReadable(json.Unmarshal(raw, &b.start)) {
		return r.a.UnreadableError(raw)
	}
	if err := r.releaseCall(); err != nil { // more comes, so the call before it is whole
		return err
	}
	joined, err := r.joinsText(b.start.Type)
	if err != nil {
		return err
	}
	if r.open && !joined { // a payload that stands alone would be taken for that of the part before
		r.open = false
		if err := r.a.EmitDelta(model.Delta{End: true}); err != nil {
			return err
		}
	}
	r.cur = b
	if b.start.Type == "text" || b.start.Type == "thinking" {
		r.last = b.start.Type
	}
	switch b.start.Type {
	case "text":
		return r.addPiece(blockPiece{Text: b.start.Text}, index)
	case "thinking":
		return r.addPiece(blockPiece{Thinking: b.start.Thinking, Signature: b.start.Signature}, index)
	case "redacted_thinking":
		return r.emitPayload(payload{Redacted: b.start.Data})
	}
	return nil
}

// addPiece adds a piece. One of a block whose beginning is missing is kept as far as it makes
// sense alone.
func (r *answerReader) addPiece(p blockPiece, index int64) error {
	if r.cur == nil || r.cur.index != index {
		kind, ok := map[string]string{"text_delta": "text", "thinking_delta": "thinking",
			"signature_delta": "thinking"}[p.Type]
		if !ok {
			return nil
		}
		if err := r.beginBlock(json.RawMessage(`{"type":"`+kind+`"}`), index); err != nil {
			return err
		}
	}
	b := r.cur
	if p.JSON != "" {
		if err := r.a.CountArguments(len(p.JSON)); err != nil {
			return err
		}
		b.input.WriteString(p.JSON)
	}
	if p.Signature != "" {
		b.signature.WriteString(p.Signature)
		if err := r.a.CountPayload(b.signature.Len()); err != nil {
			return err
		}
	}
	if p.Text+p.Thinking == "" {
		return nil
	}
	b.text.WriteString(p.Text + p.Thinking)
	r.open = true
	return r.a.EmitDelta(model.Delta{Text: p.Text, Reasoning: p.Thinking})
}

// endBlock ends the block that is being written.
func (r *answerReader) endBlock() error {
	b := r.cur
	if b == nil {
		return nil
	}
	r.cur = nil
	r.keepBlock(b)
	switch b.start.Type {
	case "thinking":
		return r.emitPayload(payload{Signature: b.signature.String(), Unsigned: b.signature.Len() == 0 && b.text.Len() > 0})
	case "server_tool_use":
		return r.emitQuery(b)
	case "web_search_tool_result":
		return r.emitResults(b)
	case "tool_use":
		if err := r.a.CountArguments(len(b.start.Input)); err != nil {
			return err
		}
		r.held = &scrollback.ToolCall{ID: b.start.ID, Name: b.start.Name, Arguments: b.callArguments()}
	}
	return nil
}

// cutBlock ends a block within which the answer ended: only what was said of it stays. A
// signature may be incomplete, and a call certainly is.
func (r *answerReader) cutBlock() error {
	b := r.cur
	r.cur = nil
	if r.reason == "" || b.start.Type == "tool_use" && r.reason != b.start.Type {
		return nil
	}
	r.cur = b
	return r.endBlock()
}

// emitPayload emits what belongs to the reasoning that ends here, if anything.
func (r *answerReader) emitPayload(p payload) error {
	if p == (payload{}) {
		return nil
	}
	b, err := encodePlain(p)
	if err != nil {
		return err
	}
	r.open = false
	return r.a.EmitDelta(model.Delta{Opaque: b})
}

// callArguments returns those of a call: from its pieces, or from where it began.
func (b *openBlock) callArguments() json.RawMessage {
	if b.input.Len() == 0 {
		return b.start.Input
	}
	return json.RawMessage(b.input.String())
}

// keepBlock remembers a block as it came, to send it back after a pause.
func (r *answerReader) keepBlock(b *openBlock) {
	var fields map[string]any
	if json.Unmarshal(b.raw, &fields) != nil || fields == nil {
		return
	}
	switch b.start.Type {
	case "text":
		fields["text"] = b.text.String()
		if isBlank(b.text.String()) {
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
			fields["input"] = model.ParseArguments(b.input.String())
		}
	}
	if raw, err := encodePlain(fields); err == nil {
		r.said = append(r.said, raw)
	}
}

// encodePlain is JSON with all characters as they are.
func encodePlain(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(buf.Bytes()), err
}
