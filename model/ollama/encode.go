package ollama

import (
	"context"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// request is the body of /api/chat. Think is a bool or a level.
type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools,omitempty"`
	Stream   bool      `json:"stream"`
	Think    any       `json:"think,omitempty"`
	Truncate *bool     `json:"truncate,omitempty"`
	Shift    *bool     `json:"shift,omitempty"`
	Options  options   `json:"options,omitzero"`
}

type options struct {
	NumCtx     int64 `json:"num_ctx,omitempty"`
	NumPredict int64 `json:"num_predict,omitempty"`
}

type message struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Thinking   string   `json:"thinking,omitempty"`
	Images     [][]byte `json:"images,omitempty"`
	ToolCalls  []call   `json:"tool_calls,omitempty"`
	ToolName   string   `json:"tool_name,omitempty"`
	ToolCallID string   `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type tool struct {
	Type     string     `json:"type"`
	Function definition `json:"function"`
}

type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encodeRequest writes a request.
func (m *Model) encodeRequest(ctx context.Context, r model.Request, known scrollback.Learned) (request, error) {
	r = remote.WithoutRefusedImages(r, known)
	no := false
	body := request{Model: m.at.Model, Stream: true, Think: m.thinkField(r.Thinking, known)}
	if !remote.IsDropped(known, "truncate") {
		body.Truncate = &no
	}
	if !remote.IsDropped(known, "shift") {
		body.Shift = &no
	}
	if !remote.IsDropped(known, "num_ctx") {
		body.Options.NumCtx = max(r.Limit, 0)
	}
	if !remote.IsDropped(known, "num_predict") {
		body.Options.NumPredict = max(remote.OutputLimit(r, known), 0)
	}
	w := messageWriter{m: m, r: r, names: map[string]string{}, noImages: remote.IsDropped(known, images)}
	for _, it := range r.Items {
		if err := w.addItem(ctx, it); err != nil {
			return request{}, err
		}
	}
	if body.Messages = w.out; len(w.out) == 0 {
		return request{}, scrollback.ParamErrorf(op, "messages", i18n.NothingToSayToModel)
	}
	for _, t := range r.Tools {
		d := definition{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
		if len(d.Parameters) == 0 {
			d.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		body.Tools = append(body.Tools, tool{Type: "function", Function: d})
	}
	return body, nil
}
