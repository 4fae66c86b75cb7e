package store

import (
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Aliases keeps ids that were given up: whoever has one of them, in a link, a note or a ref, still finds what it names.
// They are looked at only where an id is not found.
type Aliases struct{ s *Store }

// Alias is an id that was given up, and the one that is shown now.
type Alias = driver.Alias

// The kinds of aliases.
const (
	AliasConversation = driver.AliasConversation
	AliasBranch       = driver.AliasBranch
	AliasMessage      = driver.AliasMessage
	AliasTurn         = driver.AliasTurn
	AliasSegment      = driver.AliasSegment
)

// Put stores ids that were given up, in their order.
func (p Aliases) Put(ctx context.Context, all []Alias) error { return p.s.d.Log.PutAliases(ctx, all) }

// Find returns the id that is shown instead of one that was given up; empty if it was not.
func (p Aliases) Find(ctx context.Context, kind driver.AliasKind, id string) (string, error) {
	found, err := p.s.d.Log.FindAliases(ctx, kind, id, 1)
	if err != nil || len(found) == 0 || found[0].ID != id {
		return "", err
	}
	return found[0].Now, nil
}

// readNow reads what has an id, or the one for which that was given up.
func readNow[K ~string, T any](ctx context.Context, s *Store, kind driver.AliasKind, id K,
	read func(context.Context, K) (T, error)) (T, error) {
	out, err := read(ctx, id)
	if scrollback.CodeOf(err) != scrollback.NotFound {
		return out, err
	}
	now, failed := s.Aliases.Find(ctx, kind, string(id))
	switch {
	case failed != nil:
		return out, failed
	case now == "":
		return out, err
	}
	return read(ctx, K(now))
}

// findNamed returns the conversations of some projects, or of all for nil, that had ids which begin with a prefix.
func (p Aliases) findNamed(ctx context.Context, prefix string, projects []string) (out []scrollback.Conversation,
	err error) {
	found, err := p.s.d.Log.FindAliases(ctx, AliasConversation, prefix, scrollback.ListDefault)
	if err != nil {
		return nil, err
	}
	for _, a := range found {
		h, err := p.s.d.Log.ReadHead(ctx, scrollback.ConversationID(a.Now))
		switch {
		case scrollback.CodeOf(err) == scrollback.NotFound:
		case err != nil:
			return nil, err
		case projects != nil && !slices.Contains(projects, h.Project):
		case slices.ContainsFunc(out, func(c scrollback.Conversation) bool { return c.ID == h.ID }):
		default:
			out = append(out, h.Conversation)
		}
	}
	return out, nil
}

// refNow returns the ref that is shown instead of one that was given up; empty if it was not.
func (p Aliases) refNow(ctx context.Context, ref scrollback.Ref) (scrollback.Ref, error) {
	id, isHistory := strings.CutPrefix(string(ref), scrollback.RefHistory+":")
	if !isHistory {
		return "", nil
	}
	now, err := p.Find(ctx, AliasSegment, id)
	if now == "" {
		return "", err
	}
	return scrollback.HistoryRef(scrollback.SegmentID(now)), err
}
