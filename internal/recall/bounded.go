package recall

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// boundedAccess is a door behind which there are only some conversations, or projects.
type boundedAccess struct {
	access   Access
	projects []string
	ids      map[scrollback.ConversationID]bool
	whole    bool // all conversations of the projects
}

// Head implements [Access].
func (b boundedAccess) Head(ctx context.Context, id scrollback.ConversationID) (store.Head, error) {
	return b.checkHead(ctx, id)
}

func (b boundedAccess) checkHead(ctx context.Context, id scrollback.ConversationID) (store.Head, error) {
	h, err := b.access.Head(ctx, id)
	if err == nil && !b.ids[id] && !(b.whole && slices.Contains(b.projects, h.Project)) {
		return store.Head{}, scrollback.Errorf(scrollback.NotFound, "recall", i18n.NoConversation, id)
	}
	return h, err
}

// Allow implements [Access].
func (b boundedAccess) Allow(ctx context.Context, id scrollback.ConversationID) error {
	_, err := b.checkHead(ctx, id)
	return err
}

// Question implements [Access].
func (b boundedAccess) Question(q scrollback.SearchQuery) store.Question { return b.access.Question(q) }

// Projects implements [Access].
func (b boundedAccess) Projects(name string, within []string) ([]string, error) {
	if within == nil {
		within = b.projects
	} else {
		within = slices.DeleteFunc(slices.Clone(within), func(p string) bool { return !slices.Contains(b.projects, p) })
	}
	return b.access.Projects(name, within)
}
