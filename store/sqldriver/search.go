package sqldriver

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// scopeTerms are the terms that limit a search to a conversation or a role.
func scopeTerms(m scrollback.Message) string {
	return conversationTerm(m.ConversationID) + " " + roleTerm(m.Role)
}

func conversationTerm(id scrollback.ConversationID) string {
	return "c" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(string(id)))
}

func roleTerm(r scrollback.Role) string { return "r" + string(r) }

// Search implements [driver.Finder].
func (db finder) Search(ctx context.Context, q driver.SearchQuery) (driver.SearchResult, error) {
	out, err := db.search(ctx, q)
	return out, db.wrap("sqldriver.Search", err)
}

func (db finder) search(ctx context.Context, q driver.SearchQuery) (driver.SearchResult, error) {
	var out driver.SearchResult
	if len(q.Any) == 0 && len(q.Must) == 0 || q.Projects != nil && len(q.Projects) == 0 {
		out.Holding = make([]int64, len(q.Any))
		return out, nil
	}
	var scopes [][]string
	if len(q.Conversations) > 0 {
		var one []string
		for _, id := range q.Conversations {
			one = append(one, conversationTerm(id))
		}
		scopes = append(scopes, one)
	}
	if q.Role != "" {
		scopes = append(scopes, []string{roleTerm(q.Role)})
	}
	count := func(n *int64) func(sqlrow.Scanner) error { return func(r sqlrow.Scanner) error { return r.Scan(n) } }
	if err := db.Read.Row(ctx, count(&out.Documents), db.Dialect.Documents); err != nil {
		return out, err
	}
	for _, t := range q.Any {
		var n int64
		one := db.Dialect.Expression(driver.Match{Any: []string{t}}, nil)
		if err := db.Read.Row(ctx, count(&n), db.Dialect.Holding, one, driver.HoldingMax); err != nil {
			return out, err
		}
		out.Holding = append(out.Holding, n)
	}
	numbers, err := db.candidates(ctx, q, out.Holding, scopes)
	if err != nil {
		return out, err
	}
	if len(numbers) > q.Limit {
		out.Truncated, numbers = true, numbers[:q.Limit]
	}
	if len(numbers) == 0 {
		return out, nil
	}
	list, err := sqlrow.JSON(numbers)
	if err != nil {
		return out, err
	}
	return out, db.Read.Rows(ctx, collect(&out.Found), `SELECT `+sqlrow.MessageColumns+` FROM messages WHERE `+db.Dialect.Numbered, list)
}

// candidates are the numbers of the best messages: those that hold every word
// first, so that no flood of weaker ones pushes them out.
func (db finder) candidates(ctx context.Context, q driver.SearchQuery, holding []int64, scopes [][]string) ([]int64, error) {
	// Judging every match by its conversation and its time costs: done only where
	// some could fail.
	some, newest, args := db.Dialect.SearchIDs, db.Dialect.SearchNewest, []any{"", q.Limit + 1}
	var trash bool
	err := db.Read.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&trash) }, `SELECT EXISTS (SELECT 1 FROM conversations WHERE deleted_at <> 0)`)
	if err != nil {
		return nil, err
	}
	if trash && len(q.Conversations) == 0 || q.Projects != nil || q.From != 0 || q.To != 0 {
		some, newest = db.Dialect.SearchLiving, db.Dialect.SearchNewestLiving
		projects, err := sqlrow.JSON(append([]string{}, q.Projects...))
		if err != nil {
			return nil, err
		}
		args = append(args, projects, len(q.Conversations) > 0, q.From, cmp.Or(q.To, math.MaxInt64))
	}
	var numbers []int64
	seen := map[int64]bool{}
	fetch := func(m driver.Match, statement string) error {
		args[0] = db.Dialect.Expression(m, scopes)
		if len(m.Must) > 0 || len(m.Any) == 1 {
			statement = newest // none of the matches holds less than another
		}
		return db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
			var n int64
			if err := r.Scan(&n); err != nil {
				return err
			}
			if !seen[n] {
				seen[n] = true
				numbers = append(numbers, n)
			}
			return nil
		}, statement, args...)
	}
	if len(q.Any) > 1 {
		every := driver.Match{Must: slices.Clone(q.Must)}
		for i, t := range q.Any[:cmp.Or(q.Words, len(q.Any))] {
			if holding[i] > 0 {
				every.Must = append(every.Must, []string{t})
			}
		}
		if len(every.Must) > len(q.Must) {
			if err := fetch(every, newest); err != nil || len(numbers) > q.Limit {
				return numbers, err
			}
		}
	}
	// Scoring everything that holds a common word would take long: if others are rarer,
	// only the newest of those are considered, and only if there is room.
	held, rare := telling(q.Any, holding)
	if len(held) == 0 || len(rare) == 0 || len(rare) == len(held) {
		return numbers, fetch(q.Match, some)
	}
	if err := fetch(driver.Match{Any: rare, Must: q.Must}, some); err != nil || len(numbers) > q.Limit {
		return numbers, err
	}
	return numbers, fetch(driver.Match{Any: held, Must: q.Must}, newest)
}

// telling lists the terms that some messages hold, and of those the ones that not too
// many hold.
func telling(terms []string, holding []int64) (held, rare []string) {
	for i, t := range terms {
		if holding[i] > 0 {
			held = append(held, t)
			if holding[i] < driver.HoldingMax {
				rare = append(rare, t)
			}
		}
	}
	return held, rare
}
