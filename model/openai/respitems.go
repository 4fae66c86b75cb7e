package openai

import (
	"context"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// addInput is an item on the wire. What this model made goes back as it came, in its
// order; of what others made, only what they said and called.
func (m *Model) addInput(ctx context.Context, b *responsesRequest, it scrollback.Item) error {
	b.ids.beginItem(it)
	w := &inputWriter{b: b, role: m.inputRole(it.Role), kind: "input_text"}
	if w.role == "assistant" {
		w.kind = "output_text"
	}
	if m.isOwn(it) {
		it.Parts = thoughts.Join(it.Parts)
	}
	for _, p := range it.Parts {
		if err := m.inputPart(ctx, w, it, p); err != nil {
			return err
		}
	}
	return w.flushMessage()
}

func (m *Model) inputPart(ctx context.Context, w *inputWriter, it scrollback.Item, p scrollback.Part) error {
	switch p := p.(type) {
	case scrollback.Text:
		if p.Text == "" {
			return nil
		}
		return w.addContent(wire.InputContent{Type: w.kind, Text: p.Text}, m.readOwnPayload(it, p.Opaque).Phase)
	case scrollback.Image:
		part, err := m.inputImage(ctx, w.b, p)
		if err != nil {
			return err
		}
		return w.addContent(part, "")
	case scrollback.File:
		return w.addContent(wire.InputContent{Type: w.kind, Text: fileText(p)}, "")
	case scrollback.ToolCall:
		call := wire.FunctionCallItem{Type: "function_call", CallID: w.b.ids.spellCall(it, p.ID), Name: p.Name,
			Arguments: string(p.Arguments)}
		if w.thought { // its id is paired with that of its reasoning
			call.ID = m.readOwnPayload(it, p.Opaque).ID
		}
		return w.addItem(call)
	case scrollback.ToolResult:
		return w.addItem(wire.FunctionOutput{Type: "function_call_output", CallID: w.b.ids.spellResult(p.CallID),
			Output: p.Text})
	case scrollback.Reasoning:
		return w.addReasoning(m.thoughtItem(w.b, it, p))
	}
	return nil
}

// inputWriter writes the parts of one item. Reasoning goes out with what follows it, and
// not at all where nothing does: the server refuses it alone.
type inputWriter struct {
	b          *responsesRequest
	role, kind string
	msg        wire.InputMessage // that is being written
	thoughts   []json.RawMessage // that wait for what follows them
	thought    bool              // there was reasoning
}

func (w *inputWriter) flushMessage() error {
	if len(w.msg.Content) == 0 {
		return nil
	}
	msg := w.msg
	w.msg = wire.InputMessage{}
	return w.b.addItem(msg)
}

func (w *inputWriter) addReasoning(item json.RawMessage) error {
	if item == nil {
		return nil
	}
	w.thought = true
	err := w.flushMessage()
	w.thoughts = append(w.thoughts, item)
	return err
}

// addContent adds content to the message; one message has one phase.
func (w *inputWriter) addContent(c wire.InputContent, phase string) error {
	if len(w.msg.Content) > 0 && w.msg.Phase == phase {
		w.msg.Content = append(w.msg.Content, c)
		return nil
	}
	if err := w.addItem(nil); err != nil {
		return err
	}
	w.msg = wire.InputMessage{Type: "message", Role: w.role, Phase: phase, Content: []wire.InputContent{c}}
	return nil
}

// addItem adds an item behind what came before it; nil for only that.
func (w *inputWriter) addItem(item any) error {
	if err := w.flushMessage(); err != nil {
		return err
	}
	for _, t := range w.thoughts {
		if err := w.b.addItem(t); err != nil {
			return err
		}
	}
	w.thoughts = nil
	if item == nil {
		return nil
	}
	return w.b.addItem(item)
}

func (m *Model) inputRole(r scrollback.Role) string {
	if r == scrollback.RoleSystem && m.d.system != "" {
		return m.d.system
	}
	return string(r)
}

// partPayload is what a part of a response is sent back with.
type partPayload struct {
	Item  json.RawMessage `json:"item,omitempty"`  // of reasoning: whole
	ID    string          `json:"id,omitempty"`    // of a call's item
	Phase string          `json:"phase,omitempty"` // of a message
}

func (p partPayload) toOpaque() scrollback.Opaque {
	b, err := json.Marshal(p)
	if err != nil {
		return nil // what it holds was JSON when it came: not reached
	}
	return b
}

// readOwnPayload reads the payload of a part that this model made.
func (m *Model) readOwnPayload(it scrollback.Item, o scrollback.Opaque) (p partPayload) {
	if m.isOwn(it) && json.Unmarshal(o, &p) != nil {
		return partPayload{}
	}
	return p
}

// thoughtItem returns reasoning as it came, or nil: a server that stores nothing knows it
// only by its encrypted content.
func (m *Model) thoughtItem(b *responsesRequest, it scrollback.Item, r scrollback.Reasoning) json.RawMessage {
	raw := m.readOwnPayload(it, r.Opaque).Item
	var item wire.OutputItem
	if remote.IsDropped(b.known, payloads) || b.at < b.bareUntil || len(raw) == 0 || json.Unmarshal(raw, &item) != nil ||
		item.Encrypted == "" {
		return nil
	}
	b.lastThought = string(r.Opaque)
	return raw
}

func (m *Model) inputImage(ctx context.Context, b *responsesRequest, p scrollback.Image) (wire.InputContent, error) {
	if b.r.Bytes == nil || remote.IsDropped(b.known, "input_image") ||
		p.URL != "" && remote.IsDropped(b.known, remote.Addresses) {
		return wire.InputContent{Type: "input_text", Text: imageName(p)}, nil
	}
	url, err := imageURL(ctx, b.r, p)
	if err != nil {
		return wire.InputContent{}, err
	}
	if p.URL != "" {
		b.once = append(b.once, remote.Addresses)
	}
	b.params = append(b.params, "input_image")
	return wire.InputContent{Type: "input_image", ImageURL: url, Detail: p.Detail}, nil
}
