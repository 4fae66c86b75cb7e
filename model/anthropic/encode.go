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

// requestDraft is a request that is being written.
type requestDraft struct {
	m     *Model
	r     model.Request
	known scrollback.Learned
	body  request
	ends  layerEnds

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

// planRequest writes a request with what is known about the server.
func (m *Model) planRequest(ctx context.Context, r model.Request, known scrollback.Learned,
	t *answerTurn) (remote.Exchange, error) {
	r = remote.WithoutRefusedImages(r, known)
	d := &requestDraft{m: m, r: r, known: known, body: request{Model: m.id, Stream: true, Messages: []message{},
		MaxTokens: cmp.Or(remote.OutputLimit(r, known), defaultOutput)}}
	d.bareUntil = d.refusedThoughts()
	for i, it := range r.Items {
		d.at = i
		if err := d.addItem(ctx, it); err != nil {
			return remote.Exchange{}, err
		}
	}
	d.addTools()
	d.setThinking()
	if !d.isDropped(cacheControl) {
		d.markEnds()
	}
	if len(t.said) > 0 {
		d.body.Messages = append(d.body.Messages, message{Role: "assistant", Content: t.said})
	}
	x := remote.Exchange{URL: m.base + "/v1/messages", Header: m.head, Body: d.body, Judge: d.explainRefusal,
		Params: d.optionalParams(),
		Read:   func(a *remote.Answer) error { return (&answerReader{a: a, turn: t, web: r.WebSearch}).readAnswer() }}
	if r.Forward != nil && r.Forward.Count {
		x.URL += "/count_tokens"
		x.Read = remote.ReadCount
	}
	if d.fetches {
		x.Once = append(x.Once, remote.Addresses)
	}
	if d.binding {
		x.Header = maps.Clone(m.head)
		x.Header["anthropic-beta"] = bindingBeta
	}
	return x, nil
}

func (d *requestDraft) isDropped(name string) bool { return remote.IsDropped(d.known, name) }

// addTools defines the tools. They stay defined even if they may no longer be called: the
// conversation holds calls of them.
func (d *requestDraft) addTools() {
	for _, t := range d.r.Tools {
		schema := t.Parameters
		if len(schema) == 0 || string(schema) == "null" {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		d.body.Tools = append(d.body.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	if d.mayServerSearch() {
		d.body.Tools = append(d.body.Tools, tool{Type: searchTool, Name: model.WebSearch, MaxUses: maxSearches})
	}
	if d.r.AnswerOnly && len(d.body.Tools) > 0 && !d.isDropped(toolChoice) {
		d.body.ToolChoice = &choice{Type: "none"}
	}
}

// addItem writes an item, if anything of it can be sent.
func (d *requestDraft) addItem(ctx context.Context, it scrollback.Item) error {
	if it.Kind == scrollback.KindTools {
		return nil
	}
	var blocks []*block
	for _, p := range it.Parts {
		b, err := d.makeBlock(ctx, it, p)
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
		!blocks[0].isThinking() && d.isDropped(missingThinking) {
		blocks = append([]*block{{Type: "thinking", Thinking: new(string)}}, blocks...)
	}
	d.ends.noteBlocks(it.Layer, blocks)
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
		d.thoughts = d.thoughts || b.isThinking()
		d.body.Messages[n-1].Content = append(d.body.Messages[n-1].Content, b)
	}
	return nil
}

// makeBlock writes a part, or nil for one that is not sent.
func (d *requestDraft) makeBlock(ctx context.Context, it scrollback.Item, p scrollback.Part) (*block, error) {
	switch p := p.(type) {
	case scrollback.Text:
		return textBlock(p.Text), nil
	case scrollback.Image:
		return d.imageBlock(ctx, p)
	case scrollback.File:
		return textBlock(fmt.Sprintf("[attached: %s, %s, %d bytes, %s]", p.Name, p.MediaType, p.Size,
			scrollback.ArtifactRef(p.Artifact))), nil
	case scrollback.ToolCall:
		return &block{Type: "tool_use", ID: p.ID, Name: p.Name, Input: model.ParseArguments(string(p.Arguments))}, nil
	case scrollback.ToolResult:
		b := &block{Type: "tool_result", ToolUseID: p.CallID, IsError: p.IsError}
		if !isBlank(p.Text) {
			b.Content = p.Text
		}
		return b, nil
	case scrollback.Reasoning:
		return d.reasoningBlock(it, p), nil
	}
	return nil, nil
}

// refusedThoughts returns the place behind the last item with thinking that the server refused.
func (d *requestDraft) refusedThoughts() int {
	if !slices.ContainsFunc(d.known.Dropped, func(s string) bool { return strings.HasPrefix(s, thinkingBlocks+" ") }) {
		return 0
	}
	for i := len(d.r.Items) - 1; i >= 0; i-- {
		for _, p := range d.r.Items[i].Parts {
			if r, ok := p.(scrollback.Reasoning); ok && d.isDropped(model.UpTo(thinkingBlocks, thoughtMark(r))) {
				return i + 1
			}
		}
	}
	return 0
}

// thoughtMark returns what tells a thought from others.
func thoughtMark(r scrollback.Reasoning) string { return r.Text + "\x00" + string(r.Opaque) }

// reasoningBlock is thinking as this very model gave it, or nil.
func (d *requestDraft) reasoningBlock(it scrollback.Item, p scrollback.Reasoning) *block {
	var own payload
	if it.Model != d.m.name || it.Role != scrollback.RoleAssistant || d.sendsNoThinking() || d.at < d.bareUntil ||
		json.Unmarshal(p.Opaque, &own) != nil {
		return nil
	}
	d.lastThought = thoughtMark(p)
	switch {
	case own.Redacted != "":
		return &block{Type: "redacted_thinking", Data: own.Redacted}
	case own.Signature != "":
		return &block{Type: "thinking", Thinking: &p.Text, Signature: own.Signature}
	case own.Unsigned && !d.isDropped(unsignedThinking):
		d.unsigned = true
		return &block{Type: "thinking", Thinking: &p.Text}
	}
	return nil
}

// imageBlock returns an image within the request, or its name if it cannot be shown.
func (d *requestDraft) imageBlock(ctx context.Context, p scrollback.Image) (*block, error) {
	if p.URL != "" {
		if d.r.Bytes == nil || d.isDropped(remote.Addresses) {
			return imageNameBlock(p), nil
		}
		d.fetches = true
		return &block{Type: "image", Source: &source{Type: "url", URL: p.URL}}, nil
	}
	switch p.MediaType {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
	default:
		return imageNameBlock(p), nil
	}
	if d.r.Bytes == nil {
		return imageNameBlock(p), nil
	}
	b, err := d.r.Bytes(ctx, p.Artifact)
	if err != nil || len(b) == 0 {
		return imageNameBlock(p), err
	}
	return &block{Type: "image", Source: &source{Type: "base64", MediaType: p.MediaType,
		Data: base64.StdEncoding.EncodeToString(b)}}, nil
}

func imageNameBlock(p scrollback.Image) *block {
	return textBlock(fmt.Sprintf("[image: %s, %s]", p.Name, p.Location()))
}

// textBlock returns a block of text, or nil for one that says nothing, which is refused.
func textBlock(s string) *block {
	if isBlank(s) {
		return nil
	}
	return &block{Type: "text", Text: s}
}

func isBlank(s string) bool { return strings.Trim(strings.TrimSpace(s), "\x1c\x1d\x1e\x1f") == "" }
