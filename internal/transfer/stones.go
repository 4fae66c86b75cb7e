package transfer

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// passStones gives a conversation that was purged the id under which it came back, or comes back if again is set: the
// same in every store. It reports whether it stays away. Of what was purged in projects that the caller does not see
// nothing is told: what the caller brings has an id of its own.
func (im *importer) passStones(ctx context.Context, again bool, want *scrollback.Conversation) (stays bool, err error) {
	id := want.ID
	for {
		s, err := im.store.ReadStone(ctx, id)
		if scrollback.CodeOf(err) == scrollback.NotFound {
			break
		}
		if err != nil {
			return false, err
		}
		stays = stays || im.view.Caller().SeesProject(s.Project)
		id = stamp.AgainID(id)
	}
	if stays && !again {
		_, err := im.view.Bulk().Head(ctx, id, scrollback.AccessWrite)
		if code := scrollback.CodeOf(err); err != nil && code != scrollback.NotFound {
			return false, err
		}
		stays = err != nil // else it came back
	}
	if !stays || again {
		want.ID = id
		stays = false
	}
	return stays, nil
}
