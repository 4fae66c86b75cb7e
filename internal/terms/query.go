package terms

import (
	"strings"
	"unicode/utf8"
)

// Query is a search as a person typed it. Any holds single terms, of which more
// is better; Must holds phrases that have to be there, word by word. A term that
// ends in '*' stands for every term that begins so: a lone dense character.
type Query struct {
	Any  []string
	Must [][]string
}

// MaxTerms bounds the terms of one query; further ones are left out.
const MaxTerms = 64

// Parse reads a query: words are optional, "quoted" ones a must.
func Parse(q string) Query {
	var out Query
	seen := map[string]bool{}
	for i, piece := range strings.Split(strings.NewReplacer("“", `"`, "”", `"`).Replace(q), `"`) {
		quoted := i%2 == 1
		ts := queryTerms(piece)
		if quoted && len(ts) > 0 {
			out.Must = append(out.Must, ts[:min(len(ts), MaxTerms)])
			continue
		}
		for _, t := range ts {
			if !seen[t] && len(out.Any) < MaxTerms {
				seen[t] = true
				out.Any = append(out.Any, t)
			}
		}
	}
	return out
}

// Empty says that there is nothing to look for.
func (q Query) Empty() bool { return len(q.Any) == 0 && len(q.Must) == 0 }

// queryTerms cuts like Split, save that the last character of a longer dense run
// is dropped (its pair says more) and a lone one becomes a beginning.
func queryTerms(s string) []string {
	var out []string
	pairEnd := -1
	EachAt(s, func(t string, from, to int) bool {
		first, size := utf8.DecodeRuneInString(t)
		switch {
		case !Dense(first) || size < len(t):
			out = append(out, t)
			pairEnd = to
		case to != pairEnd: // a run of one character
			out = append(out, t+"*")
		}
		return true
	})
	return out
}
