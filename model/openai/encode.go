package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/wire"
)

// encode writes a request. Reasoning stays out: servers of this kind want it
// absent from what they are sent back.
func (m *Model) encode(ctx context.Context, r model.Request) ([]byte, error) {
	body := wire.ChatRequest{Model: m.o.Model, Stream: true, StreamOptions: &wire.StreamOptions{IncludeUsage: true}}
	if m.o.OldMaxTokens {
		body.MaxTokens = r.MaxOutputTokens
	} else {
		body.MaxCompletionTokens = r.MaxOutputTokens
	}
	for _, it := range r.Items {
		if it.Kind == scrollback.KindTools {
			continue
		}
		ms, err := m.messages(ctx, r, it)
		if err != nil {
			return nil, err
		}
		body.Messages = append(body.Messages, ms...)
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, wire.Tool{Type: "function",
			Function: wire.Function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}})
	}
	if r.AnswerOnly && len(body.Tools) > 0 {
		body.ToolChoice = "none"
	}
	m.think(&body, r.Thinking)
	b, err := json.Marshal(body)
	return b, scrollback.Wrap(scrollback.Internal, "openai.Stream", err)
}

// think says how much to think, in the server's own dialect.
func (m *Model) think(body *wire.ChatRequest, t model.Thinking) {
	if t == (model.Thinking{}) {
		return
	}
	on := t.On
	if on == nil && t.Effort != "" {
		wanted := t.Effort != "none"
		on = &wanted
	}
	switch m.o.Thinking {
	case "reasoning":
		body.Reasoning = &wire.ReasoningWish{Effort: t.Effort, MaxTokens: t.Budget}
		if t.Budget > 0 {
			body.Reasoning.Effort = "" // it takes one or the other
		}
		if t.Effort == "" && t.Budget == 0 {
			body.Reasoning.Enabled = t.On
		}
	case "type":
		if on != nil {
			body.Thinking = &wire.ThinkingWish{Type: "disabled"}
			if *on {
				body.Thinking.Type = "enabled"
			}
		}
	case "enable":
		body.EnableThinking, body.ThinkingBudget = on, t.Budget
	default:
		body.ReasoningEffort = t.Effort
		if t.Effort == "" && t.On != nil && !*t.On {
			body.ReasoningEffort = "none"
		}
	}
}

// messages is an item on the wire: one message, or for tool results one each.
func (m *Model) messages(ctx context.Context, r model.Request, it scrollback.Item) ([]wire.Message, error) {
	out := wire.Message{Role: string(it.Role), Name: it.Name}
	var results []wire.Message
	for _, p := range it.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			out.Content = append(out.Content, wire.ContentPart{Type: "text", Text: p.Text})
		case scrollback.Image:
			part, err := m.image(ctx, r, p)
			if err != nil {
				return nil, err
			}
			out.Content = append(out.Content, part)
		case scrollback.File:
			out.Content = append(out.Content, wire.ContentPart{Type: "text",
				Text: fmt.Sprintf("[attached: %s, %s, %d bytes, %s]", p.Name, p.MediaType, p.Size, scrollback.ArtifactRef(p.Artifact))})
		case scrollback.ToolCall:
			out.ToolCalls = append(out.ToolCalls, wire.ToolCall{ID: p.ID, Type: "function",
				Function: wire.FunctionCall{Name: p.Name, Arguments: string(p.Arguments)}})
		case scrollback.ToolResult:
			results = append(results, wire.Message{Role: "tool", ToolCallID: p.CallID, Content: wire.Content{{Type: "text", Text: p.Text}}})
		case scrollback.Reasoning:
		}
	}
	if it.Role == scrollback.RoleTool {
		return results, nil
	}
	return []wire.Message{out}, nil
}

// image is an image as a data: URL, or its name for a model that sees none.
func (m *Model) image(ctx context.Context, r model.Request, p scrollback.Image) (wire.ContentPart, error) {
	if m.o.NoImages || r.Bytes == nil {
		return wire.ContentPart{Type: "text", Text: fmt.Sprintf("[image: %s, %s]", p.Name, scrollback.ArtifactRef(p.Artifact))}, nil
	}
	b, err := r.Bytes(ctx, p.Artifact)
	if err != nil {
		return wire.ContentPart{}, err
	}
	return wire.ContentPart{Type: "image_url", ImageURL: &wire.ImageURL{Detail: p.Detail,
		URL: "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(b)}}, nil
}
