package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/recall"
)

// addTools adds the tools to a server.
func (f *face) addTools(s *mcp.Server) {
	closed := false
	for _, t := range f.tools() {
		about := describe[t.Name]
		s.AddTool(&mcp.Tool{Name: t.Name, Title: about.title, Description: about.text, InputSchema: f.schema(t), OutputSchema: outputSchema(t.Name),
			Annotations: &mcp.ToolAnnotations{Title: about.title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}}, f.call)
	}
}

// call runs a tool. Some clients hand their model the text of a result and others its
// structure, so both hold all of it. The model should learn about its mistakes, so they
// are results too.
func (f *face) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	text, err := f.run(ctx, r.Params.Name, r.Params.Arguments)
	if err != nil {
		if why := f.nothing(ctx); why != "" && scrollback.CodeOf(err) == scrollback.NotFound {
			return failed(why), nil
		}
		return failed(scrollback.Shown(err)), nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(text)}, nil
}

func failed(why string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: why}}, IsError: true}
}

// nothing says that there is no conversation to recall, or is empty.
func (f *face) nothing(ctx context.Context) string {
	any, _, err := f.as(ctx).List(ctx, scrollback.ListQuery{Limit: 1})
	switch {
	case err != nil || len(any) > 0:
		return ""
	case f.folder == "":
		return "no conversations are stored yet"
	}
	return "no conversations are stored in " + f.folder + " yet"
}

// run runs a tool and returns its result as JSON.
func (f *face) run(ctx context.Context, tool string, raw json.RawMessage) (string, error) {
	const op = "mcpapi.call"
	args := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return "", scrollback.ParamErrorf(op, "arguments", "the arguments are no JSON object")
		}
	}
	if tool == conversationsTool {
		return f.conversations(ctx, raw)
	}
	id := f.only
	if named := args["conversation"]; named != nil && f.only == "" {
		var name string
		err := json.Unmarshal(named, &name)
		if err != nil || name == "" {
			return "", scrollback.ParamErrorf(op, "conversation", "conversation is an id, the beginning of one, or latest")
		}
		if id, err = f.as(ctx).Resolve(ctx, name); err != nil {
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
	if tool == messagesTool {
		return f.messages(ctx, id, rest)
	}
	text, err := f.as(ctx).Recall().Call(ctx, id, tool, rest, recall.RoomMax)
	if err == nil && id == "" {
		if why := f.nothing(ctx); why != "" {
			return recall.Fit(recall.RoomMax, func(int) (any, bool) { return map[string]any{"hits": []any{}, "note": why}, false })
		}
	}
	return text, err
}
