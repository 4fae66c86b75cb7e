package openai

import (
	"context"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/wire"
)

// input is an item on the wire. What this model made goes back as it came, in its
// order; of what others made, only what they said and called.
func (m *Model) input(ctx context.Context, b *response, it scrollback.Item) error {
	b.ids.item(it)
	w := &inputs{b: b, role: m.inputRole(it.Role), kind: "input_text"}
	if w.role == "assistant" {
		w.kind = "output_text"
	}
	for _, p := range it.Parts {
		if err := m.inputPart(ctx, w, it, p); err != nil {
			return err
		}
	}
	return w.flush()
}

func (m *Model) inputPart(ctx context.Context, w *inputs, it scrollback.Item, p scrollback.Part) error {
	switch p := p.(type) {
	case scrollback.Text:
		if p.Text == "" {
			return nil
		}
		return w.say(wire.InputContent{Type: w.kind, Text: p.Text}, m.mine(it, p.Opaque).Phase)
	case scrollback.Image:
		part, err := m.inputImage(ctx, w.b, p)
		if err != nil {
			return err
		}
		return w.say(part, "")
	case scrollback.File:
		return w.say(wire.InputContent{Type: w.kind, Text: attached(p)}, "")
	case scrollback.ToolCall:
		call := wire.FunctionCallItem{Type: "function_call", CallID: w.b.ids.call(it, p.ID), Name: p.Name,
			Arguments: string(p.Arguments)}
		if w.thought { // its id is paired with that of its reasoning
			call.ID = m.mine(it, p.Opaque).ID
		}
		return w.add(call)
	case scrollback.ToolResult:
		return w.add(wire.FunctionOutput{Type: "function_call_output", CallID: w.b.ids.result(p.CallID), Output: p.Text})
	case scrollback.Reasoning:
		return w.think(m.thoughtItem(w.b, it, p))
	}
	return nil
}

// inputs writes the parts of one item. Reasoning goes out with what follows it, and
// not at all where nothing does: the server refuses it alone.
type inputs struct {
	b          *response
	role, kind string
	msg        wire.InputMessage // that is being written
	thoughts   []json.RawMessage // that wait for what follows them
	thought    bool              // there was reasoning
}

func (w *inputs) flush() error {
	if len(w.msg.Content) == 0 {
		return nil
	}
	msg := w.msg
	w.msg = wire.InputMessage{}
	return w.b.add(msg)
}

func (w *inputs) think(item json.RawMessage) error {
	if item == nil {
		return nil
	}
	w.thought = true
	err := w.flush()
	w.thoughts = append(w.thoughts, item)
	return err
}

// say adds content to the message; one message has one phase.
func (w *inputs) say(c wire.InputContent, phase string) error {
	if len(w.msg.Content) > 0 && w.msg.Phase == phase {
		w.msg.Content = append(w.msg.Content, c)
		return nil
	}
	if err := w.add(nil); err != nil {
		return err
	}
	w.msg = wire.InputMessage{Type: "message", Role: w.role, Phase: phase, Content: []wire.InputContent{c}}
	return nil
}

// add adds an item behind what came before it; nil for only that.
func (w *inputs) add(item any) error {
	if err := w.flush(); err != nil {
		return err
	}
	for _, t := range w.thoughts {
		if err := w.b.add(t); err != nil {
			return err
		}
	}
	w.thoughts = nil
	if item == nil {
		return nil
	}
	return w.b.add(item)
}

func (m *Model) inputRole(r scrollback.Role) string {
	if r == scrollback.RoleSystem && m.d.system != "" {
		return m.d.system
	}
	return string(r)
}

// payload is what a part of a response is sent back with.
type payload struct {
	Item  json.RawMessage `json:"item,omitempty"`  // of reasoning: whole
	ID    string          `json:"id,omitempty"`    // of a call's item
	Phase string          `json:"phase,omitempty"` // of a message
}

func (p payload) opaque() scrollback.Opaque {
	b, err := json.Marshal(p)
	if err != nil {
		return nil // what it holds was JSON when it came: not reached
	}
	return b
}

// mine reads the payload of a part that this model made.
func (m *Model) mine(it scrollback.Item, o scrollback.Opaque) (p payload) {
	if m.own(it) && json.Unmarshal(o, &p) != nil {
		return payload{}
	}
	return p
}

// thoughtItem is reasoning as it came, or nil: a server that stores nothing knows it
// only by its encrypted content.
func (m *Model) thoughtItem(b *response, it scrollback.Item, r scrollback.Reasoning) json.RawMessage {
	raw := m.mine(it, r.Opaque).Item
	var item wire.OutputItem
	if remote.Dropped(b.known, payloads) || b.at < b.bareUntil || len(raw) == 0 || json.Unmarshal(raw, &item) != nil ||
		item.Encrypted == "" {
		return nil
	}
	b.lastThought = string(r.Opaque)
	return raw
}

func (m *Model) inputImage(ctx context.Context, b *response, p scrollback.Image) (wire.InputContent, error) {
	if b.r.Bytes == nil || remote.Dropped(b.known, "input_image") ||
		p.URL != "" && remote.Dropped(b.known, remote.Addresses) {
		return wire.InputContent{Type: "input_text", Text: named(p)}, nil
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
