package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

// shortID returns the shortest beginning of an id, to the end of one of its parts, that names
// its conversation alone.
func shortID(ctx context.Context, v *engine.View, id scrollback.ConversationID) string {
	for i, r := range string(id) {
		if r == '-' {
			if found, err := v.Resolve(ctx, string(id[:i])); err == nil && found == id {
				return string(id[:i])
			}
		}
	}
	return string(id)
}

// readWholeArtifact returns the text of an artifact from its beginning to its end.
func readWholeArtifact(
	ctx context.Context,
	v *engine.View,
	id scrollback.ConversationID,
	ref scrollback.Ref,
) (string, error) {
	var b strings.Builder
	for at := int64(0); ; {
		page, err := v.Recall().Read(ctx, id, ref, at, scrollback.ReadMax)
		if err != nil {
			return "", err
		}
		b.WriteString(page.Content)
		if page.Done {
			return b.String(), nil
		}
		at = page.NextOffset
	}
}

// maxListedAgents bounds how many sub-agents a page of the list shows.
const maxListedAgents = 1000

// listSubagents returns the sub-agents of conversations, and theirs, that are not in the trash,
// oldest first. It ends where agents are each other's.
func listSubagents(
	ctx context.Context,
	v *engine.View,
	of []scrollback.Conversation,
) ([]scrollback.Conversation, error) {
	out := []scrollback.Conversation{}
	for len(of) > 0 && len(out) < maxListedAgents {
		q := scrollback.ListQuery{Limit: scrollback.ListMax}
		for _, c := range of {
			q.AgentOf = append(q.AgentOf, c.ID)
		}
		of = nil
		for more := true; more && len(out)+len(of) < maxListedAgents; {
			page, next, err := v.List(ctx, q)
			if err != nil {
				return nil, err
			}
			of = append(of, page...)
			q.Cursor = next
			more = next != ""
		}
		out = append(out, of...)
	}
	slices.SortStableFunc(out, func(a, b scrollback.Conversation) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	return out, nil
}
