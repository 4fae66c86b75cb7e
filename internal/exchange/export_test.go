package exchange

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// WorkOutSummaries lists what Summaries does, and reads all that a side holds.
func (s Side) WorkOutSummaries(ctx context.Context) ([]merge.Summary, error) {
	ids := map[scrollback.ConversationID]bool{}
	all, err := s.Store.Move.ListAll(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		ids[c.ID] = true
	}
	stones, err := s.Store.Move.ListStones(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range stones {
		ids[one.ID] = true
	}
	var out []merge.Summary
	for id := range ids {
		var t merge.Tally
		c, err := s.readConversation(ctx, id)
		if err != nil {
			return nil, err
		}
		if c != nil {
			t = c.tally()
		}
		for _, one := range stones {
			if one.ID == id {
				h := newStone(one).Element()
				t = t.Replace(nil, &h)
			}
		}
		out = append(out, merge.Summary{ID: id, Digest: t.Digest(id)})
	}
	slices.SortFunc(out, func(a, b merge.Summary) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}
