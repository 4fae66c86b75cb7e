package offline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// The scoring. A term is rare when at most rareFew sentences of the pool, or one
// in rareShare, hold it.
const (
	glueWeight  = 0.2
	pairBonus   = 0.15 // of the lighter term, for two that stand together as asked
	enough      = 0.6  // of the question's weight, in a strong sentence
	rareFew     = 3
	rareShare   = 50
	lengthFree  = 8    // further terms a sentence may have at no cost
	lengthCost  = 0.01 // of the score, a further term
	lengthMost  = 0.3
	quoteShare  = 0.8 // of the best score, for a second quote
	quotesMost  = 3
	phraseTerms = 12 // content terms of a message that may be a query without asking
)

// scoredSentence is a sentence and how it meets the question.
type scoredSentence struct {
	candidateSentence
	has      []bool // by term
	pairs    []int  // first term of each pair that stands together as asked
	length   int    // in terms
	score    float64
	strong   bool // lacks no rare term and holds enough of the rest
	complete bool // lacks no content term at all
	near     bool // worth showing when nothing is strong
}

// sentenceRanking is the sentences that share a term with the question, best first.
type sentenceRanking struct {
	best   []scoredSentence
	counts []int     // sentences that hold each term
	weight []float64 // of each term
	rare   []bool
}

func rankSentences(list []candidateSentence, q question) sentenceRanking {
	rk := sentenceRanking{counts: make([]int, len(q.terms)), weight: make([]float64, len(q.terms)),
		rare: make([]bool, len(q.terms))}
	for _, s := range list {
		if one, ok := matchTerms(s, q); ok {
			for i, has := range one.has {
				if has {
					rk.counts[i]++
				}
			}
			rk.best = append(rk.best, one)
		}
	}
	for i, t := range q.terms {
		n := float64(len(list))
		df := float64(rk.counts[i])
		rk.weight[i] = math.Log(1 + (n-df+0.5)/(df+0.5))
		rk.rare[i] = rk.counts[i] <= max(rareFew, len(list)/rareShare)
		if t.glue {
			rk.weight[i] *= glueWeight
		}
	}
	for i := range rk.best {
		rk.scoreSentence(&rk.best[i], q)
	}
	slices.SortStableFunc(rk.best, func(a, b scoredSentence) int {
		if a.strong != b.strong {
			return cmp.Compare(boolToInt(b.strong), boolToInt(a.strong))
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.seq, a.seq))
	})
	return rk
}

// matchTerms finds the question's terms in a sentence.
func matchTerms(s candidateSentence, q question) (scoredSentence, bool) {
	out := scoredSentence{candidateSentence: s, has: make([]bool, len(q.terms))}
	last := -1
	any := false
	terms.EachTerm(s.text, func(t string) bool {
		i, asked := q.index[t]
		switch {
		case asked:
			any = true
			out.has[i] = true
			if q.terms[i].glue {
				break
			}
			if last >= 0 && i == nextContent(q.terms, last) {
				out.pairs = append(out.pairs, last)
			}
			last = i
		case isLoneCharacter(t) || stopWords()[t] || hasGlue(t):
		default:
			last = -1
		}
		out.length++
		return true
	})
	for _, i := range q.lone {
		if strings.Contains(s.text, q.terms[i].text) {
			any = true
			out.has[i] = true
		}
	}
	return out, any
}

func nextContent(ts []questionTerm, i int) int {
	for i++; i < len(ts) && ts[i].glue; i++ {
	}
	return i
}

// scoreSentence weighs one sentence once the terms have their weights.
func (rk *sentenceRanking) scoreSentence(s *scoredSentence, q question) {
	var held, all float64
	matched := 0
	content := 0
	anyRare := false
	s.complete = true
	s.strong = true
	for i, t := range q.terms {
		if s.has[i] {
			s.score += rk.weight[i]
		}
		if t.glue {
			continue
		}
		content++
		all += rk.weight[i]
		switch {
		case s.has[i]:
			matched++
			held += rk.weight[i]
			anyRare = anyRare || rk.rare[i]
		case isStraddled(q.terms, s.has, i):
			all -= rk.weight[i]
		default:
			s.complete = false
			if rk.rare[i] {
				s.strong = false
			}
		}
	}
	s.strong = s.strong && matched >= min(2, content) && held >= enough*all
	s.near = anyRare && matched*3 >= content
	for _, i := range s.pairs {
		if next := nextContent(q.terms, i); next < len(q.terms) {
			s.score += pairBonus * min(rk.weight[i], rk.weight[next])
		}
	}
	extra := max(0, s.length-len(q.terms)-lengthFree)
	s.score *= s.trust * (1 - min(lengthMost, lengthCost*float64(extra)))
}

// isStraddled reports whether the missing term i is a pair of characters both of which
// the sentence holds within the neighbouring pairs: a word border, not a word.
func isStraddled(ts []questionTerm, has []bool, i int) bool {
	before := false
	after := false
	for j, t := range ts {
		if has[j] {
			before = before || t.from < ts[i].from && t.to > ts[i].from && t.to < ts[i].to
			after = after || t.to > ts[i].to && t.from < ts[i].to && t.from > ts[i].from
		}
	}
	return before && after
}

// bestQuotes returns the leading sentences that take passes and that come near the best.
func (rk *sentenceRanking) bestQuotes(take func(scoredSentence) bool) []candidateSentence {
	var out []candidateSentence
	best := 0.0
	for _, s := range rk.best {
		if !take(s) {
			continue
		}
		if len(out) == quotesMost || s.score < best*quoteShare {
			break
		}
		best = max(best, s.score)
		out = append(out, s.candidateSentence)
	}
	return out
}

// rarestTerm returns the content term that the fewest sentences hold, as grep should look
// for it; among equals one with a digit or capital, then the longest.
func (rk *sentenceRanking) rarestTerm(q question) string {
	best := ""
	bestKey := [3]int{}
	for i, t := range q.terms {
		if t.glue {
			continue
		}
		key := [3]int{-rk.counts[i], nameWeight(t), len([]rune(t.surface))}
		if best == "" || slices.Compare(key[:], bestKey[:]) > 0 {
			best = t.surface
			bestKey = key
			if low := strings.ToLower(t.surface); len(t.text) >= 3 && strings.HasPrefix(low, t.text) {
				best = t.surface[:len(t.text)] // the stem finds the word's other forms
			}
		}
	}
	return best
}

// nameWeight says that a word looks like a name or a code.
func nameWeight(t questionTerm) int {
	return boolToInt(strings.ContainsFunc(t.surface, unicode.IsDigit) ||
		t.from > 0 && strings.ContainsFunc(t.surface, unicode.IsUpper))
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
