package store

import (
	"context"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Bounds of looking for a ref that is like one that is not there.
const (
	nearScan   = 1000 // refs looked at, newest first
	nearOwners = 200  // conversations whose refs are looked at when none is named
	nearEdits  = 4    // characters that may be wrong, missing or too many
	nearPrefix = 8    // characters of an id that stand for it
)

// near is the end of an error about a ref that is not there: it names the most alike
// of those that the conversations mention, or is empty when none is a near miss.
func (s *Store) near(ctx context.Context, ids []scrollback.ConversationID, ref scrollback.Ref) string {
	known, err := s.d.Refs(ctx, driver.RefQuery{Conversations: ids, Limit: nearScan})
	if err != nil {
		return "" // the error that is being told is worth more
	}
	if found := nearest(string(ref), known); found != "" {
		return "; the nearest is " + string(found)
	}
	return ""
}

// owners are the newest conversations.
func (s *Store) owners(ctx context.Context) (ids []scrollback.ConversationID) {
	found, _, err := s.List(ctx, ListQuery{Limit: nearOwners})
	if err != nil {
		return nil
	}
	for i := range found {
		ids = append(ids, found[i].ID)
	}
	return ids
}

// nearest is the known ref whose id is most like what was given, with or without a
// kind, the newest of equals; empty when all are too far.
func nearest(given string, known []scrollback.RefEntry) scrollback.Ref {
	given = strings.ToLower(strings.Trim(given, " \t\n\"'`<>()[]."))
	if _, id, ok := strings.Cut(given, ":"); ok {
		given = strings.TrimSpace(id)
	}
	if len(given) < nearPrefix || len(given) > 100 {
		return ""
	}
	best, edits := scrollback.Ref(""), nearEdits+1
	for i := range known {
		_, id, err := known[i].Ref.Split()
		if err != nil {
			continue
		}
		d := editsBetween(given, id)
		if strings.HasPrefix(id, given) {
			d = min(d, 1)
		}
		if d < edits {
			best, edits = known[i].Ref, d
		}
	}
	return best
}

// editsBetween is how many bytes have to be put in, taken out or changed to make b of
// a; more than nearEdits is only some number above it.
func editsBetween(a, b string) int {
	if len(a)-len(b) > nearEdits || len(b)-len(a) > nearEdits {
		return nearEdits + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			d := left
			if a[i] != b[j] {
				d = 1 + min(left, row[j], row[j+1])
			}
			left, row[j+1] = row[j+1], d
			least = min(least, d)
		}
		if least > nearEdits {
			return nearEdits + 1
		}
	}
	return row[len(b)]
}
