// Package mcpapi speaks as an MCP server: the recall operations as tools, and the
// originals behind refs as resources, over standard input and output or HTTP.
//
// Invariants: it only reads. A server for one conversation serves that one and its
// ancestors, and as much as its recall_scope allows, whatever a client names. Results
// of tools are bounded like those for a model inside a turn, and the rest is one call
// away.
//
// It knows the engine and the root's types.
package mcpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/recall"
)

// Options set a server up.
type Options struct {
	Version      string
	Conversation scrollback.ConversationID // the only one that is served; empty: clients name one
	Log          *slog.Logger
}

type face struct {
	view *engine.View
	only scrollback.ConversationID
	log  *slog.Logger
}

// New makes a server for the caller of a view.
func New(v *engine.View, o Options) *mcp.Server {
	f := &face{v, o.Conversation, o.Log}
	s := mcp.NewServer(&mcp.Implementation{Name: "scrollback", Title: "scrollback", Version: o.Version}, &mcp.ServerOptions{
		Instructions: f.instructions(),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
	})
	closed := false
	for _, t := range recall.Tools() {
		s.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: f.schema(t),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &closed}}, f.call)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "original", Title: "The original behind a ref", URITemplate: resources,
		Description: "What a ref of a conversation points at: folded messages (kind history) or a big output or file (kind artifact)."}, f.read)
	s.AddReceivingMiddleware(f.recovered, f.listing)
	return s
}

func (f *face) instructions() string {
	const what = "Recalls conversations that scrollback keeps: search past messages, list the refs of what was folded away, and read or grep the originals behind them."
	if f.only != "" {
		return what + " Answers for one conversation."
	}
	return what + " Name the conversation by its id, the beginning of it, or latest; context_search without one looks everywhere and tells the ids."
}

// Handler serves a server over streamable HTTP, one request at a time, without
// sessions.
func Handler(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// Run serves one client over a pair of streams until ctx or in ends.
func Run(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	shared := &whole{out: out, owed: map[string]bool{}}
	said := &lines{ctx: ctx, in: bufio.NewReader(in), out: shared}
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(said), Writer: shared, MaxLineLength: -1})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return scrollback.Wrap(scrollback.Unavailable, "mcpapi.Run", err)
}

// recovered keeps a panic from ending the process: requests are handled on goroutines
// that no HTTP server looks after.
func (f *face) recovered(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (_ mcp.Result, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				f.log.Error("panic", "method", method, "value", fault, "stack", string(debug.Stack()))
				err = errors.New(scrollback.Shown(scrollback.Errorf(scrollback.Internal, "mcpapi", "%v", fault)))
			}
		}()
		return next(ctx, method, r)
	}
}
