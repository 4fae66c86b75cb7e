package collect

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
)

// countFiles counts the sessions of each file.
func countFiles(all []transcript.Session) map[string]int {
	n := map[string]int{}
	for _, one := range all {
		n[one.Name]++
	}
	return n
}

// maxSessions bounds those of one place.
const maxSessions = 1_000_000

// listSessions lists the sessions of a place; an error comes with those before it.
func listSessions(ctx context.Context, tool transcript.Tool, p transcript.Place) (all []transcript.Session, err error) {
	for one, err := range tool.Sessions(ctx, p) {
		if err != nil {
			return all, err
		}
		if all = append(all, one); len(all) == maxSessions {
			return all, scrollback.Errorf(scrollback.Unavailable, op, i18n.TooManySessions, maxSessions)
		}
	}
	return all, nil
}
