// Package tidy is what a server does every hour: it empties the trash, drops what it keeps
// of conversations that another server has purged, and makes the hashes of messages that have none.
package tidy

import (
	"context"
	"log/slog"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/local"
)

// every is how often a server looks for what is to be done.
const every = time.Hour

// Run tidies up until ctx ends, at once and then every hour. What has been in the trash for
// so many days is purged; after 0 days nothing is.
func Run(ctx context.Context, s *local.Scrollback, days int64, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if days > 0 {
			trash(ctx, s, days, log)
		}
		err := archive.ForgetGone(s.Archive, func(id scrollback.ConversationID) bool {
			_, err := s.Get(ctx, id)
			return scrollback.CodeOf(err) == scrollback.NotFound
		})
		if err != nil && ctx.Err() == nil {
			log.Warn("files of purged conversations could not be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// MakeHashes makes the hashes of messages that an older program stored until ctx ends: at once, and
// then every hour, because another server that had begun may be gone, and a move may have brought more.
func MakeHashes(ctx context.Context, s *local.Scrollback, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s.Store.Hashes.Keep(ctx, log)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// trash purges what has been in the trash for so many days.
func trash(ctx context.Context, s *local.Scrollback, days int64, log *slog.Logger) {
	admin, err := s.Admin()
	n := 0
	if err == nil {
		n, err = admin.PurgeTrash(ctx, days*24*time.Hour.Milliseconds())
	}
	if err != nil && ctx.Err() == nil {
		log.Warn("the trash could not be emptied", "error", err)
	}
	if n > 0 {
		log.Warn("purged old conversations from the trash", "conversations", n, "days", days)
	}
}
