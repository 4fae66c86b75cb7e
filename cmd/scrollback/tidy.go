package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/local"
)

// tidyEvery is how often a server looks for what is to be done, and tidyAgain when it looks after
// somebody else had the work: that may have been a server that was killed a moment ago, of which this one was
// started in the place.
const (
	tidyEvery = time.Hour
	tidyAgain = 30 * time.Second
)

// tidyHourly tidies up until ctx ends, at once and then every hour. What has been in the trash for
// this number of days is purged; after 0 days nothing is.
func tidyHourly(ctx context.Context, s *local.Scrollback, days int64, log *slog.Logger) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		if days > 0 {
			emptyOldTrash(ctx, s, days, log)
		}
		err := archive.ForgetPurged(s.Archive, func(id scrollback.ConversationID) bool {
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

// makeHashesHourly makes the hashes of messages that an older program stored until ctx ends: at once, soon
// again where it could not make all, and then every hour, because a move may have brought more.
func makeHashesHourly(ctx context.Context, s *local.Scrollback, log *slog.Logger) {
	repeatFilling(ctx, func() bool { return s.Store.Hashes.FillInBackground(ctx, log) })
}

// findKeptHourly looks through messages that an older program stored for what is to be kept of them, as
// [makeHashesHourly] makes their hashes.
func findKeptHourly(ctx context.Context, s *local.Scrollback, log *slog.Logger) {
	repeatFilling(ctx, func() bool { return s.Store.Kept.FillInBackground(ctx, log) })
}

func repeatFilling(ctx context.Context, keep func() (done bool)) {
	for {
		pause := tidyAgain
		if keep() {
			pause = tidyEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// emptyOldTrash purges what has been in the trash for a number of days.
func emptyOldTrash(ctx context.Context, s *local.Scrollback, days int64, log *slog.Logger) {
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
