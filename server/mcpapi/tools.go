package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/recall"
)

// addTools adds the tools to a server.
func (f *face) addTools(s *mcp.Server) {
	closed := false
	for _, t := range f.tools() {
		about := describe[t.Name]
		s.AddTool(&mcp.Tool{Name: t.Name, Title: about.title, Description: about.text, InputSchema: f.schema(t),
			OutputSchema: outputSchema(t.Name),
			Annotations: &mcp.ToolAnnotations{Title: about.title, ReadOnlyHint: true, IdempotentHint: true,
				OpenWorldHint: &closed}}, f.call)
	}
}

// call runs a tool. Some clients hand their model the text of a result and others its
// structure, so both hold all of it. The model should learn about its mistakes, so they
// are results too.
func (f *face) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if asked := f.ask(r.Session, r.Params.InputResponses); asked != nil {
		return &mcp.CallToolResult{InputRequests: asked}, nil
	}
	a, err := f.asker(ctx, r.Session)
	var text string
	if err == nil {
		text, err = f.run(ctx, a, r.Params.Name, r.Params.Arguments)
	}
	if err != nil {
		if why := f.nothing(ctx, a); why != "" && scrollback.CodeOf(err) == scrollback.NotFound {
			return failed(why), nil
		}
		return failed(scrollback.Shown(err)), nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: json.RawMessage(text)}, nil
}

func failed(why string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: why}}, IsError: true}
}

// nothing says that there is no conversation to recall, or is empty.
func (f *face) nothing(ctx context.Context, a asker) string {
	any, _, err := a.view.List(ctx, scrollback.ListQuery{Limit: 1})
	where := ""
	if f.folder != "" {
		where = " in " + f.folder
	}
	switch {
	case err != nil:
		return ""
	case len(any) == 0:
		return "no conversations are stored" + where + " yet"
	case !a.bounded():
		return ""
	case len(a.ground.Folders) == 0:
		return "nothing can be recalled: it is not known in which folder you work, and this server recalls nothing else; start it with --root"
	}
	here, err := a.Here(ctx)
	if err != nil || len(here) > 0 {
		return ""
	}
	return "nothing was said about " + a.ground.Folders[0] + " yet, and this server recalls nothing else"
}

// run runs a tool and returns its result as JSON.
func (f *face) run(ctx context.Context, a asker, tool string, raw json.RawMessage) (string, error) {
	const op = "mcpapi.call"
	args := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return "", scrollback.ParamErrorf(op, "arguments", i18n.ArgumentsAreNoObject)
		}
	}
	if tool == conversationsTool {
		return f.conversations(ctx, a, raw)
	}
	var name, folder string
	var err error
	sees := a
	id := f.only
	if f.only == "" {
		if name, err = taken(args, "conversation", "an id, the beginning of one, or latest"); err == nil &&
			tool == searchTool {
			folder, err = taken(args, "folder", "an absolute path")
		}
		if err == nil && name != "" {
			id, err = a.resolve(ctx, name)
		}
		if err == nil {
			a, err = a.at(folder)
		}
		if err != nil {
			return "", err
		}
	}
	if id == "" && tool != searchTool {
		return "", scrollback.ParamErrorf(op, "conversation", i18n.NameTheConversation)
	}
	rest, err := json.Marshal(args)
	switch {
	case err != nil:
		return "", scrollback.Wrap(scrollback.Internal, op, err)
	case tool == messagesTool:
		return f.messages(ctx, a, id, rest)
	case tool == readTool && args["ref"] == nil:
		return f.around(ctx, a, id, rest)
	}
	text, err := a.Call(ctx, id, tool, rest, recall.RoomMax)
	if err == nil && id == "" {
		if why := f.nothing(ctx, sees); why != "" {
			return recall.Fit(recall.RoomMax, func(int) (any, bool) {
				return map[string]any{"hits": []any{}, "note": why}, false
			})
		}
	}
	return text, err
}

// taken takes a text out of the arguments; it may be missing, and not be empty.
func taken(args map[string]json.RawMessage, name, what string) (out string, err error) {
	raw := args[name]
	if raw == nil {
		return "", nil
	}
	delete(args, name)
	if json.Unmarshal(raw, &out) != nil || out == "" {
		return "", scrollback.ParamErrorf("mcpapi.call", name, i18n.ValueIs, name, what)
	}
	return out, nil
}
