// Package mcpapi speaks as an MCP server: the recall operations as tools, and the
// originals behind refs as resources, over standard input and output or HTTP.
//
// Invariants: it only reads. A server that is made for one conversation answers for
// that and its ancestors, whatever a client names. What a tool answers is bounded
// like an answer to a model inside a turn, and the rest is one call away.
//
// It knows the engine and the root's words.
package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/engine"
)

// Options set a server up.
type Options struct {
	Version      string
	Conversation scrollback.ConversationID // the only one that is answered for; empty: clients name one
}

// resourceMax is the size of the biggest original that is read as one resource;
// bigger ones are read in pages, by the tool.
const resourceMax = 1 << 20

// resources are where the originals are: the conversation, and the ref in its parts.
const resources = "scrollback://{conversation}/{kind}/{id}"

// own says that nobody between the client and here keeps what is answered.
var own = mcp.Cacheable{CacheScope: "private"}

type face struct {
	engine *engine.Engine
	only   scrollback.ConversationID
}

// New makes a server over an engine.
func New(e *engine.Engine, o Options) *mcp.Server {
	f := &face{e, o.Conversation}
	s := mcp.NewServer(&mcp.Implementation{Name: "scrollback", Title: "scrollback", Version: o.Version}, &mcp.ServerOptions{
		Instructions: f.instructions(),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
	})
	closed := false
	for _, t := range archive.Tools() {
		s.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: f.schema(t),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &closed}}, f.call)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "original", Title: "The original behind a ref", URITemplate: resources,
		Description: "What a ref of a conversation points at: folded messages (kind history) or a big output or file (kind artifact)."}, f.read)
	s.AddReceivingMiddleware(recovered, f.listing)
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
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return scrollback.Wrap(scrollback.Unavailable, "mcpapi.Run", err)
}

// unclosed is a writer whose end is not the protocol's business.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }

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

// call answers a tool. A mistake is the model's to learn of, so it is an answer too.
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
		if id, err = f.engine.Resolve(ctx, name); err != nil {
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
	return f.engine.Recall(ctx, id, tool, rest)
}

// read answers a resource whole.
func (f *face) read(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := r.Params.URI
	parts := strings.Split(strings.TrimPrefix(uri, "scrollback://"), "/")
	if len(parts) != 3 || f.only != "" && parts[0] != string(f.only) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	id, err := f.engine.Resolve(ctx, parts[0])
	if err != nil {
		return nil, shown(uri, err)
	}
	c, err := f.original(ctx, id, scrollback.Ref(parts[1]+":"+parts[2]))
	if err != nil {
		return nil, shown(uri, err)
	}
	c.URI = uri
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}, Cacheable: own}, nil
}

// original is the whole of what a ref points at.
func (f *face) original(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref) (*mcp.ResourceContents, error) {
	kind, name, err := ref.Split()
	if err != nil {
		return nil, scrollback.Errorf(scrollback.NotFound, "mcpapi.read", "there is no %s", ref)
	}
	if kind == scrollback.RefArtifact {
		return f.artifact(ctx, id, scrollback.ArtifactID(name))
	}
	var whole strings.Builder
	for page := (scrollback.Page{}); !page.Done; {
		if page, err = f.engine.Read(ctx, id, ref, page.NextOffset, scrollback.ReadMax); err != nil {
			return nil, err
		}
		if err := bounded(page.Bytes); err != nil {
			return nil, err
		}
		whole.WriteString(page.Content)
	}
	return &mcp.ResourceContents{MIMEType: markdown, Text: whole.String()}, nil
}

func (f *face) artifact(ctx context.Context, id scrollback.ConversationID, name scrollback.ArtifactID) (*mcp.ResourceContents, error) {
	a, in, err := f.engine.Artifact(ctx, id, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read
	if err := bounded(a.Size); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "mcpapi.read", err)
	}
	c := &mcp.ResourceContents{MIMEType: a.MediaType}
	if utf8.Valid(b) && !bytes.ContainsRune(b, 0) {
		c.Text = string(b)
	} else {
		c.Blob = b
	}
	return c, nil
}

const markdown = "text/markdown"

func bounded(n int64) error {
	if n <= resourceMax {
		return nil
	}
	return scrollback.Errorf(scrollback.OverBudget, "mcpapi.read", "the original has %d bytes, and a resource at most %d: read it in pages with context_read", n, resourceMax)
}

// listing lists the refs of the only conversation as resources, newest first.
func (f *face) listing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		list, ok := r.(*mcp.ListResourcesRequest)
		if !ok || f.only == "" {
			return next(ctx, method, r)
		}
		var q engine.RefQuery
		if list.Params != nil { // a client may leave them out
			q.Cursor = list.Params.Cursor
		}
		refs, after, err := f.engine.Refs(ctx, f.only, q)
		if err != nil {
			return nil, errors.New(scrollback.Shown(err))
		}
		out := &mcp.ListResourcesResult{NextCursor: after, Resources: []*mcp.Resource{}, Cacheable: own}
		for _, e := range refs {
			kind, id, err := e.Ref.Split()
			if err != nil {
				continue // none that is stored
			}
			out.Resources = append(out.Resources, &mcp.Resource{Name: string(e.Ref), Description: e.Hint, MIMEType: e.MediaType, Size: e.Bytes,
				URI: "scrollback://" + string(f.only) + "/" + kind + "/" + id})
		}
		return out, nil
	}
}

// recovered keeps a fault of ours from ending everybody's process: requests are
// handled on goroutines that no HTTP server looks after.
func recovered(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (_ mcp.Result, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				err = errors.New(scrollback.Shown(scrollback.Errorf(scrollback.Internal, "mcpapi", "%v", fault)))
			}
		}()
		return next(ctx, method, r)
	}
}

// shown is an error as a client of the protocol may see it.
func shown(uri string, err error) error {
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return mcp.ResourceNotFoundError(uri)
	}
	return errors.New(scrollback.Shown(err))
}
