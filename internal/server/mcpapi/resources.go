package mcpapi

import (
	"bytes"
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// resourceMax is the size of the biggest original that is read as one resource;
// bigger ones are read in pages, by the tool.
const resourceMax = 1 << 20

// resources are where the originals are: the conversation, and the ref in its parts.
const resources = "scrollback://{conversation}/{kind}/{id}"

// own says that nobody between the client and here may cache the response.
var own = mcp.Cacheable{CacheScope: "private"}

// readResource returns a whole resource.
func (f *mcpFace) readResource(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := r.Params.URI
	parts := strings.Split(strings.TrimPrefix(uri, "scrollback://"), "/")
	if len(parts) != 3 || f.only != "" && parts[0] != string(f.only) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if asked := f.askRoots(r.Session, r.Params.InputResponses); asked != nil {
		return &mcp.ReadResourceResult{InputRequests: asked}, nil
	}
	a, err := f.findSender(ctx, r.Session)
	if err != nil {
		return nil, protocolError(err)
	}
	id, err := a.resolveConversation(ctx, parts[0])
	if err != nil {
		return nil, resourceError(uri, err)
	}
	c, err := a.readOriginal(ctx, id, scrollback.Ref(parts[1]+":"+parts[2]))
	if err != nil {
		return nil, resourceError(uri, err)
	}
	c.URI = uri
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}, Cacheable: own}, nil
}

// readOriginal returns the whole of what a ref points at.
func (a requestSender) readOriginal(ctx context.Context, id scrollback.ConversationID,
	ref scrollback.Ref) (*mcp.ResourceContents, error) {
	kind, name, err := ref.Split()
	if err != nil {
		return nil, scrollback.Errorf(scrollback.NotFound, "mcpapi.read", i18n.NoSuchThing, ref)
	}
	if kind == scrollback.RefArtifact {
		return a.readArtifact(ctx, id, scrollback.ArtifactID(name))
	}
	var whole strings.Builder
	for page := (scrollback.Page{}); !page.Done; {
		if page, err = a.Read(ctx, id, ref, page.NextOffset, scrollback.ReadMax); err != nil {
			return nil, err
		}
		if err := checkResourceSize(page.Bytes); err != nil {
			return nil, err
		}
		whole.WriteString(page.Content)
	}
	return &mcp.ResourceContents{MIMEType: markdown, Text: whole.String()}, nil
}

func (a requestSender) readArtifact(ctx context.Context, id scrollback.ConversationID,
	name scrollback.ArtifactID) (*mcp.ResourceContents, error) {
	kept, in, err := a.Artifact(ctx, id, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read
	if err := checkResourceSize(kept.Size); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "mcpapi.read", err)
	}
	c := &mcp.ResourceContents{MIMEType: kept.MediaType}
	if utf8.Valid(b) && !bytes.ContainsRune(b, 0) {
		c.Text = string(b)
	} else {
		c.Blob = b
	}
	return c, nil
}

const markdown = "text/markdown"

func checkResourceSize(n int64) error {
	if n <= resourceMax {
		return nil
	}
	return scrollback.Errorf(scrollback.OverBudget, "mcpapi.read",
		i18n.OriginalTooLargeForResource, n, resourceMax)
}

// listResources lists the refs of the only conversation as resources, newest first.
func (f *mcpFace) listResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		list, ok := r.(*mcp.ListResourcesRequest)
		if !ok || f.only == "" {
			return next(ctx, method, r)
		}
		var q scrollback.RefQuery
		if list.Params != nil { // a client may leave them out
			q.Cursor = list.Params.Cursor
		}
		refs, after, err := f.as(ctx).Recall().Refs(ctx, f.only, q)
		if err != nil {
			return nil, protocolError(err)
		}
		out := &mcp.ListResourcesResult{NextCursor: after, Resources: []*mcp.Resource{}, Cacheable: own}
		for _, e := range refs {
			kind, id, err := e.Ref.Split()
			if err != nil {
				continue // none that is stored
			}
			out.Resources = append(out.Resources,
				&mcp.Resource{Name: string(e.Ref), Description: e.Hint, MIMEType: e.MediaType, Size: e.Bytes,
					URI: "scrollback://" + string(f.only) + "/" + kind + "/" + id})
		}
		return out, nil
	}
}

// resourceError returns the error for a resource.
func resourceError(uri string, err error) error {
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return mcp.ResourceNotFoundError(uri)
	}
	return protocolError(err)
}

// protocolError returns an error as a client of the protocol may see it.
func protocolError(err error) error {
	code := int64(jsonrpc.CodeInvalidParams)
	switch scrollback.CodeOf(err) {
	case scrollback.Internal, scrollback.Unavailable, scrollback.Canceled:
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: scrollback.PublicMessage(err)}
}
