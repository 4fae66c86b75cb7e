package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/recall"
)

// schema is a recall tool's schema as this server wants it: the conversation is
// named unless there is only one, and that is all there is to a search's scope.
func (f *face) schema(t scrollback.Tool) json.RawMessage {
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required,omitempty"`
		Additional bool                       `json:"additionalProperties"`
	}
	if err := json.Unmarshal(t.Parameters, &schema); err != nil {
		panic("mcpapi: " + t.Name + ": " + err.Error()) // a definition of our own
	}
	delete(schema.Properties, "scope")
	if f.only == "" {
		schema.Properties["conversation"] = json.RawMessage(`{"type":"string","description":"id, the beginning of one, or latest"}`)
		if t.Name != searchTool {
			schema.Required = append([]string{"conversation"}, schema.Required...)
		}
	}
	b, err := json.Marshal(schema)
	if err != nil {
		panic("mcpapi: " + t.Name + ": " + err.Error())
	}
	return b
}

const searchTool = "context_search"

// call runs a tool. The model should learn about its mistakes, so they are results too.
func (f *face) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	text, err := f.recall(ctx, r.Params.Name, r.Params.Arguments)
	if err != nil {
		text = scrollback.Shown(err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: err != nil}, nil
}

func (f *face) recall(ctx context.Context, tool string, raw json.RawMessage) (string, error) {
	const op = "mcpapi.call"
	args := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return "", scrollback.ParamErrorf(op, "arguments", "the arguments are no JSON object")
		}
	}
	id := f.only
	if named := args["conversation"]; named != nil && f.only == "" {
		var name string
		err := json.Unmarshal(named, &name)
		if err != nil || name == "" {
			return "", scrollback.ParamErrorf(op, "conversation", "conversation is an id, the beginning of one, or latest")
		}
		if id, err = f.view.Resolve(ctx, name); err != nil {
			return "", err
		}
		delete(args, "conversation")
	}
	if id == "" && tool != searchTool {
		return "", scrollback.ParamErrorf(op, "conversation", "name the conversation")
	}
	rest, err := json.Marshal(args)
	if err != nil {
		return "", scrollback.Wrap(scrollback.Internal, op, err)
	}
	return f.view.Recall().Call(ctx, id, tool, rest, recall.RoomMax)
}
