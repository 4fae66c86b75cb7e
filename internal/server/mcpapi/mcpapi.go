// Package mcpapi speaks as an MCP server: conversations, their messages and the recall
// operations as tools, the originals behind refs as resources, and prompts that put these
// to use; over standard input and output or HTTP.
//
// Invariants: it only reads. A server for one conversation serves that one and its
// ancestors, and as much as its recall_scope allows, whatever a client names. Results
// of tools are bounded like those for a model inside a turn, and the rest is one call
// away; their text and their structure say the same.
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
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

// Options set a server up.
type Options struct {
	Version      string
	Conversation scrollback.ConversationID // the only one that is served; empty: clients name one
	Folder       string                    // where the data is, for clients that may know; may be empty
	Roots        []string                  // folders in which clients work, absolute; empty: each says so itself
	Started      string                    // folder in which clients work that say nothing of it, absolute; may be empty
	Scope        string                    // how far a client sees from there: [recall.ScopeFolder], project or all
	Log          *slog.Logger

	// Place returns a folder with what is the same place of work; nil: with nothing else. It widens what comes first and
	// what a named folder finds, never how far a client sees.
	Place func(folder string) []string
}

type mcpFace struct {
	as     func(context.Context) *engine.View // for the sender of a request
	only   scrollback.ConversationID
	folder string
	log    *slog.Logger

	roots   []string
	started []string
	scope   string
	asks    bool     // clients can be asked where they work
	known   sync.Map // where they do, by their sessions
	place   func(folder string) []string
}

// New makes a server for the caller of a view.
func New(v *engine.View, o Options) *mcp.Server {
	return newServer(&mcpFace{as: func(context.Context) *engine.View { return v }, asks: true}, o)
}

// newServer makes a server that finds the caller's view in the context of each request.
func newServer(f *mcpFace, o Options) *mcp.Server {
	f.only = o.Conversation
	f.folder = o.Folder
	f.log = o.Log
	f.scope = o.Scope
	f.place = o.Place
	for _, r := range o.Roots {
		f.roots = append(f.roots, folderForms(r)...)
	}
	if o.Started != "" {
		f.started = folderForms(o.Started)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "scrollback", Title: "scrollback", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: f.writeInstructions(), CompletionHandler: f.completeArgument,
			//nolint:staticcheck // what clients have
			RootsListChangedHandler: func(_ context.Context, r *mcp.RootsListChangedRequest) { f.known.Delete(r.Session) },
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{},
				Prompts: &mcp.PromptCapabilities{}},
		})
	f.addTools(s)
	f.addPrompts(s)
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "original", Title: "The original behind a ref",
		URITemplate: resources,
		Description: "What a ref of a conversation points at: folded messages (kind history) or a big output or file (kind artifact)."}, f.readResource)
	s.AddReceivingMiddleware(f.recoverPanics, f.listResources)
	return s
}

// writeInstructions says first when to look: some clients pass on the first sentence only, and a model that is not told
// looks nothing up. It is the same for all sessions, since it is part of what they share in a provider's cache.
func (f *mcpFace) writeInstructions() string {
	const what = "Call context_search before you ask the user, or guess, what was decided, tried or fixed earlier in this folder. " +
		"It searches scrollback, the memory of past conversations with this and other agents: find what was said and decided, " +
		"read it word for word, and grep long tool outputs. Nothing is ever lost or changed; #41 is message 41 of a conversation. "
	if f.only != "" {
		return what + "Serves one conversation: context_search finds messages, context_messages reads them, " +
			"context_list names what was compacted, context_read, context_tail and context_grep read behind its refs."
	}
	return what +
		"context_search without a conversation looks everywhere, first in what was said about the folder you work in, by whichever tool, " +
		"and says where each hit is; context_conversations lists conversations, context_messages reads one, and context_read opens the original around a hit. " +
		"Name a conversation by its id, the beginning of it, or latest."
}

// Handler serves the sender of each request over streamable HTTP, one request at a time,
// without sessions.
func Handler(as func(context.Context) *engine.View, o Options) http.Handler {
	s := newServer(&mcpFace{as: as}, o) // one for all: making one costs more than a small request
	return keepIDs(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		// the server has checked the Host
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true}))
}

// Serve serves one client over a pair of streams until ctx or in ends.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	shared := &messageWriter{out: out}
	said := &clientLines{ctx: ctx, in: bufio.NewReader(in), out: shared}
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(said), Writer: shared, MaxLineLength: -1})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return scrollback.Wrap(scrollback.Unavailable, "mcpapi.Run", err)
}

// recoverPanics keeps a panic from ending the process: requests are handled on goroutines
// that no HTTP server looks after.
func (f *mcpFace) recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (_ mcp.Result, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				f.log.Error("panic", "method", method, "value", fault, "stack", string(debug.Stack()))
				err = protocolError(scrollback.Errorf(scrollback.Internal, "mcpapi", "%v", fault))
			}
		}()
		return next(ctx, method, r)
	}
}
