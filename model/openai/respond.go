package openai

import (
	"context"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/wire"
)

// encrypted asks for reasoning in a form that can be sent back to a server that
// stores nothing.
const encrypted = "reasoning.encrypted_content"

// response is a request of responses that is being written.
type response struct {
	wire.ResponsesRequest
	r      model.Request
	known  scrollback.Learned
	params []string
}

// may notes a parameter that the server may refuse, and says whether to send it.
func (b *response) may(name string) bool {
	if remote.Dropped(b.known, name) {
		return false
	}
	b.params = append(b.params, name)
	return true
}

func (b *response) add(item any) error {
	raw, err := json.Marshal(item)
	b.Input = append(b.Input, raw)
	return scrollback.Wrap(scrollback.Internal, "openai.respond", err)
}

// respond plans an exchange of responses. The server stores nothing.
func (m *Model) respond(ctx context.Context, r model.Request, known scrollback.Learned) (remote.Exchange, error) {
	b := &response{r: r, known: known, ResponsesRequest: wire.ResponsesRequest{Model: m.at.Model, Stream: true}}
	for _, it := range r.Items {
		if it.Kind == scrollback.KindTools {
			continue
		}
		if err := m.input(ctx, b, it); err != nil {
			return remote.Exchange{}, err
		}
	}
	for _, t := range r.Tools {
		b.Tools = append(b.Tools, wire.ResponsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	if r.AnswerOnly && len(b.Tools) > 0 && b.may("tool_choice") {
		b.ToolChoice = "none"
	}
	if most := remote.MaxOutput(r, known); most > 0 && b.may("max_output_tokens") {
		b.MaxOutputTokens = max(most, 16) // the least that is taken
	}
	if r.CacheKey != "" && b.may("prompt_cache_key") {
		b.PromptCacheKey = r.CacheKey
	}
	m.reasoning(b)
	return remote.Exchange{URL: m.at.BaseURL + "/responses", Body: b.ResponsesRequest, Params: b.params, OlderAPI: m.at.Custom,
		Read: func(a *remote.Answer) error { return (&respReader{a: a}).read() }}, nil
}

// reasoning says how much to think, and asks for what was thought: a summary to
// show, and its encrypted form to send back.
func (m *Model) reasoning(b *response) {
	level := b.r.Thinking.Level()
	thinks := m.family("gpt-5", "gpt-6", "o1", "o3", "o4", "codex", "grok-4", "grok-build", "grok-3-mini")
	if (thinks || level != "") && b.may("include") {
		b.Include = []string{encrypted}
	}
	var wish wire.ResponsesReasoning
	if level != "" && b.may("reasoning.effort") {
		wish.Effort = level
	}
	if thinks && level != "none" && b.may("reasoning.summary") {
		wish.Summary = "auto"
	}
	if wish != (wire.ResponsesReasoning{}) && b.may("reasoning") {
		b.Reasoning = &wish
	}
}

// input is an item on the wire. What this model made goes back as it came, in its
// order; of what others made, only what they said and called.
func (m *Model) input(ctx context.Context, b *response, it scrollback.Item) error {
	role, kind := m.inputRole(it.Role), "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	msg := wire.InputMessage{Type: "message", Role: role}
	flush := func() error {
		if len(msg.Content) == 0 {
			return nil
		}
		whole := msg
		msg = wire.InputMessage{Type: "message", Role: role}
		return b.add(whole)
	}
	for _, p := range it.Parts {
		var item any
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text == "" {
				continue
			}
			if phase := m.phase(it, p.Opaque); phase != msg.Phase {
				if err := flush(); err != nil {
					return err
				}
				msg.Phase = phase
			}
			msg.Content = append(msg.Content, wire.InputContent{Type: kind, Text: p.Text})
			continue
		case scrollback.Image:
			part, err := m.inputImage(ctx, b, p)
			if err != nil {
				return err
			}
			msg.Content = append(msg.Content, part)
			continue
		case scrollback.File:
			msg.Content = append(msg.Content, wire.InputContent{Type: kind, Text: attached(p)})
			continue
		case scrollback.ToolCall:
			item = wire.FunctionCallItem{Type: "function_call", ID: m.itemID(it, p), CallID: p.ID, Name: p.Name, Arguments: string(p.Arguments)}
		case scrollback.ToolResult:
			item = wire.FunctionOutput{Type: "function_call_output", CallID: p.CallID, Output: p.Text}
		case scrollback.Reasoning:
			if item = m.reasoningItem(it, p); item == nil {
				continue
			}
		}
		if err := flush(); err != nil {
			return err
		}
		if err := b.add(item); err != nil {
			return err
		}
	}
	return flush()
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

func (m *Model) phase(it scrollback.Item, o scrollback.Opaque) string { return m.mine(it, o).Phase }

// itemID is the id of a call's item, where the reasoning that it is paired with
// stands before it.
func (m *Model) itemID(it scrollback.Item, c scrollback.ToolCall) string {
	for _, p := range it.Parts {
		if r, ok := p.(scrollback.Reasoning); ok && m.reasoningItem(it, r) != nil {
			return m.mine(it, c.Opaque).ID
		}
	}
	return ""
}

// reasoningItem is reasoning as it came, or nil: a server that stores nothing knows
// it only by its encrypted content.
func (m *Model) reasoningItem(it scrollback.Item, r scrollback.Reasoning) any {
	raw := m.mine(it, r.Opaque).Item
	var item wire.OutputItem
	if len(raw) == 0 || json.Unmarshal(raw, &item) != nil || item.Encrypted == "" {
		return nil
	}
	return raw
}

func (m *Model) inputImage(ctx context.Context, b *response, p scrollback.Image) (wire.InputContent, error) {
	if b.r.Bytes == nil || remote.Dropped(b.known, "input_image") {
		return wire.InputContent{Type: "input_text", Text: named(p)}, nil
	}
	url, err := dataURL(ctx, b.r, p)
	if err != nil {
		return wire.InputContent{}, err
	}
	b.params = append(b.params, "input_image")
	return wire.InputContent{Type: "input_image", ImageURL: url, Detail: p.Detail}, nil
}
