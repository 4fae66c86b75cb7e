package mcpapi

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollback-ai/scrollback"
)

// completions is how many values the protocol lets a completion have, and lookedAt how
// many conversations, or refs of one, are compared with what was typed.
const (
	completions = 100
	lookedAt    = 2000
)

// completeArgument completes conversations, by their ids and titles, and the kinds and ids of
// refs; nothing else has values that could be known.
func (f *mcpFace) completeArgument(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	begun := strings.ToLower(strings.TrimSpace(r.Params.Argument.Value))
	known := map[string]string{}
	if r.Params.Context != nil {
		known = r.Params.Context.Arguments
	}
	var values []string
	more := false
	a, err := f.findSender(ctx, r.Session)
	if err != nil {
		return nil, protocolError(err)
	}
	switch r.Params.Argument.Name {
	case "conversation":
		values, more, err = f.matchConversations(ctx, a, begun)
	case "kind":
		for _, kind := range []string{scrollback.RefHistory, scrollback.RefArtifact} {
			if strings.HasPrefix(kind, begun) {
				values = append(values, kind)
			}
		}
	case "id":
		values, more, err = f.matchRefs(ctx, a, known["conversation"], known["kind"], begun)
	}
	switch scrollback.CodeOf(err) {
	case "", scrollback.NotFound, scrollback.Invalid: // what was typed so far may name nothing yet
	default:
		return nil, protocolError(err)
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: append([]string{}, values...),
		HasMore: more}}, nil
}

// matchConversations returns the ids of the conversations whose id begins so, or whose title
// holds it; the most recently changed first.
func (f *mcpFace) matchConversations(ctx context.Context, a requestSender,
	begun string) (ids []string, more bool, err error) {
	if f.only != "" {
		if strings.HasPrefix(string(f.only), begun) {
			ids = []string{string(f.only)}
		}
		return ids, false, nil
	}
	q := scrollback.ListQuery{Limit: scrollback.ListMax}
	for range lookedAt / scrollback.ListMax {
		list, next, err := a.listPage(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, c := range list {
			if !strings.HasPrefix(string(c.ID), begun) && !strings.Contains(strings.ToLower(c.Title), begun) {
				continue
			}
			if len(ids) == completions {
				return ids, true, nil
			}
			ids = append(ids, string(c.ID))
		}
		if q.Cursor = next; next == "" {
			return ids, false, nil
		}
	}
	return ids, true, nil
}

// matchRefs returns the ids of a conversation's refs of a kind that begin so, the newest first.
func (f *mcpFace) matchRefs(ctx context.Context, a requestSender,
	conversation, kind, begun string) (ids []string, more bool, err error) {
	id := f.only
	if id == "" {
		if conversation == "" {
			return nil, false, nil // which depends on the conversation
		}
		if id, err = a.resolveConversation(ctx, conversation); err != nil {
			return nil, false, err
		}
	}
	q := scrollback.RefQuery{Kind: kind, Limit: scrollback.ListMax}
	for range lookedAt / scrollback.ListMax {
		refs, next, err := a.Refs(ctx, id, q)
		if err != nil {
			return nil, false, err
		}
		for _, e := range refs {
			_, name, err := e.Ref.Split()
			if err != nil || !strings.HasPrefix(name, begun) {
				continue
			}
			if len(ids) == completions {
				return ids, true, nil
			}
			ids = append(ids, name)
		}
		if q.Cursor = next; next == "" {
			return ids, false, nil
		}
	}
	return ids, true, nil
}
