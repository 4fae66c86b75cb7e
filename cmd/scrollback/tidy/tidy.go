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

// How often a server looks for what is to be done; and again is when it looks after somebody else
// had the work: that may have been a server that was killed a moment ago, of which this one was
// started in the place.
const (
	every = time.Hour
	again = 30 * time.Second
)

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

// MakeHashes makes the hashes of messages that an older program stored until ctx ends: at once, soon
// again where it could not make all, and then every hour, because a move may have brought more.
func MakeHashes(ctx context.Context, s *local.Scrollback, log *slog.Logger) {
	makeHashes(ctx, func() bool { return s.Store.Hashes.Keep(ctx, log) })
}

func makeHashes(ctx context.Context, keep func() (done bool)) {
	for {
		pause := again
		if keep() {
			pause = every
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
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
