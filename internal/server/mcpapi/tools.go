package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// addTools adds the tools to a server.
func (f *mcpFace) addTools(s *mcp.Server) {
	closed := false
	for _, t := range f.listTools() {
		about := describe[t.Name]
		s.AddTool(&mcp.Tool{Name: t.Name, Title: about.title, Description: about.text, InputSchema: f.toolSchema(t),
			OutputSchema: outputSchema(t.Name),
			Annotations: &mcp.ToolAnnotations{Title: about.title, ReadOnlyHint: true, IdempotentHint: true,
				OpenWorldHint: &closed}}, f.callTool)
	}
}

// callTool runs a tool. Some clients hand their model the text of a result and others its
// structure, so both hold all of it. The model should learn about its mistakes, so they
// are results too.
func (f *mcpFace) callTool(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if asked := f.askRoots(r.Session, r.Params.InputResponses); asked != nil {
		return &mcp.CallToolResult{InputRequests: asked}, nil
	}
	a, err := f.findSender(ctx, r.Session)
	var text string
	if err == nil {
		text, err = f.runTool(ctx, a, r.Params.Name, r.Params.Arguments)
	}
	if err != nil {
		if why := f.describeNothing(ctx, a); why != "" && scrollback.CodeOf(err) == scrollback.NotFound {
			return failedResult(why), nil
		}
		return failedResult(scrollback.PublicMessage(err)), nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: json.RawMessage(text)}, nil
}

func failedResult(why string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: why}}, IsError: true}
}

// describeNothing says that there is no conversation to recall, or is empty.
func (f *mcpFace) describeNothing(ctx context.Context, a requestSender) string {
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
	case !a.isBounded():
		return ""
	case len(a.ground.Folders) == 0:
		return "nothing can be recalled: it is not known in which folder you work, and this server recalls nothing else; start it with --root"
	}
	here, err := a.LocalConversations(ctx)
	if err != nil || len(here) > 0 {
		return ""
	}
	return "nothing was said about " + a.ground.Folders[0] + " yet, and this server recalls nothing else"
}

// runTool runs a tool and returns its result as JSON.
func (f *mcpFace) runTool(ctx context.Context, a requestSender, tool string, raw json.RawMessage) (string, error) {
	const op = "mcpapi.call"
	args := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return "", scrollback.ParamErrorf(op, "arguments", i18n.ArgumentsAreNoObject)
		}
	}
	if tool == conversationsTool {
		return f.listConversations(ctx, a, raw)
	}
	var name, folder string
	var err error
	sees := a
	id := f.only
	if f.only == "" {
		if name, err = takeText(args, "conversation", "an id, the beginning of one, or latest"); err == nil &&
			tool == searchTool {
			folder, err = takeText(args, "folder", "an absolute path")
		}
		if err == nil && name != "" {
			id, err = a.resolveConversation(ctx, name)
		}
		if err == nil {
			a, err = a.atFolder(folder)
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
		return f.readMessages(ctx, a, id, rest)
	case tool == readTool && args["ref"] == nil:
		return f.runAround(ctx, a, id, rest)
	}
	text, err := a.RunTool(ctx, id, tool, rest, recall.RoomMax)
	if err == nil && id == "" {
		if why := f.describeNothing(ctx, sees); why != "" {
			return recall.FitRoom(recall.RoomMax, func(int) (any, bool) {
				return map[string]any{"hits": []any{}, "note": why}, false
			})
		}
	}
	return text, err
}

// takeText takes a text out of the arguments; it may be missing, and not be empty.
func takeText(args map[string]json.RawMessage, name, what string) (out string, err error) {
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
