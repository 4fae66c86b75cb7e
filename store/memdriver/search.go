package memdriver

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback/store/driver"
)

// Search implements [driver.Finder] by looking at every message. Documents and
// Holding are of the whole store, whatever the query is limited to.
func (db finder) Search(ctx context.Context, q driver.SearchQuery) (driver.SearchResult, error) {
	end, err := db.read(ctx, "memdriver.Search")
	defer end()
	if err != nil {
		return driver.SearchResult{}, err
	}
	res := driver.SearchResult{Documents: newest(db.database), Holding: make([]int64, len(q.Any))}
	words := cmp.Or(q.Words, len(q.Any))
	type candidate struct {
		*row
		words, hits int // of Any: those asked for, and all
	}
	var found []candidate
	for _, r := range slices.Backward(db.rows) {
		c := candidate{row: r}
		for i, term := range q.Any {
			if phraseIn(r.terms, []string{term}) {
				res.Holding[i] = min(res.Holding[i]+1, driver.HoldingMax)
				c.hits++
				if i < words {
					c.words++
				}
			}
		}
		if db.visible(r, q) && matches(r.terms, c.hits, q.Match) {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Or(b.words-a.words, b.hits-a.hits) })
	if len(found) > q.Limit {
		found, res.Truncated = found[:q.Limit], true
	}
	for _, c := range found {
		res.Found = append(res.Found, clone(c.Message))
	}
	return res, nil
}

// visible reports whether q's filters let a message through.
func (db finder) visible(r *row, q driver.SearchQuery) bool {
	th := db.threads[r.ConversationID]
	return (th.DeletedAt == 0 || len(q.Conversations) > 0) &&
		(len(q.Conversations) == 0 || slices.Contains(q.Conversations, th.ID)) &&
		within(q.Projects, th.Project) &&
		(q.Role == "" || r.Role == q.Role) &&
		r.CreatedAt >= q.From && (q.To == 0 || r.CreatedAt < q.To)
}

// matches judges terms that hold so many of m.Any. A match that asks for nothing finds
// nothing.
func matches(terms []string, hits int, m driver.Match) bool {
	for _, phrase := range m.Must {
		if !phraseIn(terms, phrase) {
			return false
		}
	}
	return hits > 0 || len(m.Must) > 0
}

// phraseIn reports whether the terms hold the phrase, word for word.
func phraseIn(terms, phrase []string) bool {
	for i := 0; i+len(phrase) <= len(terms); i++ {
		if slices.EqualFunc(terms[i:i+len(phrase)], phrase, termIs) {
			return true
		}
	}
	return false
}
