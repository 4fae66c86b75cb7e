package recall

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/store"
)

// bounded is a door behind which there are only some conversations, or projects.
type bounded struct {
	door     Door
	projects []string
	ids      map[scrollback.ConversationID]bool
	whole    bool // all conversations of the projects
}

// Head implements [Door].
func (b bounded) Head(ctx context.Context, id scrollback.ConversationID) (store.Head, error) {
	return b.seen(ctx, id)
}

func (b bounded) seen(ctx context.Context, id scrollback.ConversationID) (store.Head, error) {
	h, err := b.door.Head(ctx, id)
	if err == nil && !b.ids[id] && !(b.whole && slices.Contains(b.projects, h.Project)) {
		return store.Head{}, scrollback.Errorf(scrollback.NotFound, "recall", i18n.NoConversation, id)
	}
	return h, err
}

// Allow implements [Door].
func (b bounded) Allow(ctx context.Context, id scrollback.ConversationID) error {
	_, err := b.seen(ctx, id)
	return err
}

// Projects implements [Door].
func (b bounded) Projects(name string, within []string) ([]string, error) {
	if within == nil {
		within = b.projects
	} else {
		within = slices.DeleteFunc(slices.Clone(within), func(p string) bool { return !slices.Contains(b.projects, p) })
	}
	return b.door.Projects(name, within)
}
