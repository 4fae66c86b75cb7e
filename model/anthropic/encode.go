package anthropic

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// defaultOutput is how long a reply may be, in tokens, by default.
const defaultOutput = 8192

// draft is a request that is being written.
type draft struct {
	m     *Model
	r     model.Request
	known scrollback.Learned
	body  request
	ends  ends

	thoughts    bool   // some block is thinking
	unsigned    bool   // and one of them has no signature
	lastThought string // the payload of the last one
	at          int    // the item that is being written
	bareUntil   int    // items before this one send no thinking back: the server refused it once
	first       string // the type of the first block of the last answer
	open        bool   // the last answer made calls, and goes on behind their results
	fetches     bool   // some image is at an address
	binding     bool   // the server is told to drop thinking whose conversation has changed
}

// plan writes a request with what is known about the server.
func (m *Model) plan(ctx context.Context, r model.Request, known scrollback.Learned, t *turn) (remote.Exchange, error) {
	r = remote.Shown(r, known)
	d := &draft{m: m, r: r, known: known, body: request{Model: m.id, Stream: true, Messages: []message{},
		MaxTokens: cmp.Or(remote.MaxOutput(r, known), defaultOutput)}}
	d.bareUntil = d.refusedThoughts()
	for i, it := range r.Items {
		d.at = i
		if err := d.add(ctx, it); err != nil {
			return remote.Exchange{}, err
		}
	}
	d.tools()
	d.think()
	if !d.dropped(cacheControl) {
		d.mark()
	}
	if len(t.said) > 0 {
		d.body.Messages = append(d.body.Messages, message{Role: "assistant", Content: t.said})
	}
	x := remote.Exchange{URL: m.base + "/v1/messages", Header: m.head, Body: d.body, Judge: d.judge, Params: d.params(),
		Read: func(a *remote.Answer) error { return (&reader{a: a, turn: t, web: r.WebSearch}).read() }}
	if d.fetches {
		x.Once = append(x.Once, remote.Addresses)
	}
	if d.binding {
		x.Header = maps.Clone(m.head)
		x.Header["anthropic-beta"] = bindingBeta
	}
	return x, nil
}

func (d *draft) dropped(name string) bool { return remote.Dropped(d.known, name) }

// tools defines the tools. They stay defined even if they may no longer be called: the
// conversation holds calls of them.
func (d *draft) tools() {
	for _, t := range d.r.Tools {
		schema := t.Parameters
		if len(schema) == 0 || string(schema) == "null" {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		d.body.Tools = append(d.body.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	if d.searches() {
		d.body.Tools = append(d.body.Tools, tool{Type: searchTool, Name: model.WebSearch, MaxUses: maxSearches})
	}
	if d.r.AnswerOnly && len(d.body.Tools) > 0 && !d.dropped(toolChoice) {
		d.body.ToolChoice = &choice{Type: "none"}
	}
}

// add writes an item, if anything of it can be sent.
func (d *draft) add(ctx context.Context, it scrollback.Item) error {
	if it.Kind == scrollback.KindTools {
		return nil
	}
	var blocks []*block
	for _, p := range it.Parts {
		b, err := d.block(ctx, it, p)
		if err != nil {
			return err
		}
		if b != nil {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	if called := slices.ContainsFunc(blocks, func(b *block) bool { return b.Type == "tool_use" }); called &&
		!blocks[0].thought() && d.dropped(missingThinking) {
		blocks = append([]*block{{Type: "thinking", Thinking: new(string)}}, blocks...)
	}
	d.ends.note(it.Layer, blocks)
	if it.Role == scrollback.RoleSystem {
		d.body.System = append(d.body.System, blocks...)
		return nil
	}
	role := "user"
	if it.Role == scrollback.RoleAssistant {
		role = "assistant"
		d.first = blocks[0].Type
	}
	d.open = it.Role == scrollback.RoleTool || d.open && role == "user" // words behind results are of their turn
	n := len(d.body.Messages)
	if n == 0 || role == "assistant" || d.body.Messages[n-1].Role != role {
		d.body.Messages = append(d.body.Messages, message{Role: role})
		n++
	}
	for _, b := range blocks {
		d.thoughts = d.thoughts || b.thought()
		d.body.Messages[n-1].Content = append(d.body.Messages[n-1].Content, b)
	}
	return nil
}

// block writes a part, or nil for one that is not sent.
func (d *draft) block(ctx context.Context, it scrollback.Item, p scrollback.Part) (*block, error) {
	switch p := p.(type) {
	case scrollback.Text:
		return text(p.Text), nil
	case scrollback.Image:
		return d.image(ctx, p)
	case scrollback.File:
		return text(fmt.Sprintf("[attached: %s, %s, %d bytes, %s]", p.Name, p.MediaType, p.Size,
			scrollback.ArtifactRef(p.Artifact))), nil
	case scrollback.ToolCall:
		return &block{Type: "tool_use", ID: p.ID, Name: p.Name, Input: model.Arguments(string(p.Arguments))}, nil
	case scrollback.ToolResult:
		b := &block{Type: "tool_result", ToolUseID: p.CallID, IsError: p.IsError}
		if !blank(p.Text) {
			b.Content = p.Text
		}
		return b, nil
	case scrollback.Reasoning:
		return d.reasoning(it, p), nil
	}
	return nil, nil
}

// refusedThoughts is the place behind the last item with thinking that the server refused.
func (d *draft) refusedThoughts() int {
	if !slices.ContainsFunc(d.known.Dropped, func(s string) bool { return strings.HasPrefix(s, thinkingBlocks+" ") }) {
		return 0
	}
	for i := len(d.r.Items) - 1; i >= 0; i-- {
		for _, p := range d.r.Items[i].Parts {
			if r, ok := p.(scrollback.Reasoning); ok && d.dropped(model.UpTo(thinkingBlocks, thoughtMark(r))) {
				return i + 1
			}
		}
	}
	return 0
}

// thoughtMark is what tells a thought from others.
func thoughtMark(r scrollback.Reasoning) string { return r.Text + "\x00" + string(r.Opaque) }

// reasoning is thinking as this very model gave it, or nil.
func (d *draft) reasoning(it scrollback.Item, p scrollback.Reasoning) *block {
	var own payload
	if it.Model != d.m.name || it.Role != scrollback.RoleAssistant || d.bare() || d.at < d.bareUntil ||
		json.Unmarshal(p.Opaque, &own) != nil {
		return nil
	}
	d.lastThought = thoughtMark(p)
	switch {
	case own.Redacted != "":
		return &block{Type: "redacted_thinking", Data: own.Redacted}
	case own.Signature != "":
		return &block{Type: "thinking", Thinking: &p.Text, Signature: own.Signature}
	case own.Unsigned && !d.dropped(unsignedThinking):
		d.unsigned = true
		return &block{Type: "thinking", Thinking: &p.Text}
	}
	return nil
}

// image is an image within the request, or its name if it cannot be shown.
func (d *draft) image(ctx context.Context, p scrollback.Image) (*block, error) {
	if p.URL != "" {
		if d.r.Bytes == nil || d.dropped(remote.Addresses) {
			return named(p), nil
		}
		d.fetches = true
		return &block{Type: "image", Source: &source{Type: "url", URL: p.URL}}, nil
	}
	switch p.MediaType {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
	default:
		return named(p), nil
	}
	if d.r.Bytes == nil {
		return named(p), nil
	}
	b, err := d.r.Bytes(ctx, p.Artifact)
	if err != nil || len(b) == 0 {
		return named(p), err
	}
	return &block{Type: "image", Source: &source{Type: "base64", MediaType: p.MediaType,
		Data: base64.StdEncoding.EncodeToString(b)}}, nil
}

func named(p scrollback.Image) *block {
	return text(fmt.Sprintf("[image: %s, %s]", p.Name, p.Where()))
}

// text is a block of text, or nil for one that says nothing, which is refused.
func text(s string) *block {
	if blank(s) {
		return nil
	}
	return &block{Type: "text", Text: s}
}

func blank(s string) bool { return strings.Trim(strings.TrimSpace(s), "\x1c\x1d\x1e\x1f") == "" }
