package search

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Bounds of what is considered for one query.
const (
	maxReach        = 5       // messages on each side that a window takes in
	maxPlacesOfTerm = 20_000  // places of one term that are read from a whole store, if there are rarer ones
	placesMax       = 400_000 // that are read of all terms where all of them are common
)

// queryPostings are the terms of a query, and what the index has of them.
type queryPostings struct {
	terms   []string
	lists   []driver.Postings
	skipped []bool    // there are more places than were read
	weights []float64 // of each term
	words   []float64 // of each word, in the rarest form that occurs; 0 if none does
	total   float64   // of the words
	rarest  uint64    // the words that are as rare as the rarest
	factors scoreFactors
}

// scoreFactors is the part of the score that the places of words tell without reading a message, as
// factors of the weight of the words in a message and in its windows.
type scoreFactors struct{ own, two, five float64 }

// estimateScore returns about what a message with these words will score.
func (p *queryPostings) estimateScore(w windowWords) float64 {
	return p.factors.own*p.weightOf(w.own) + p.factors.two*p.weightOf(w.two) + p.factors.five*p.weightOf(w.five)
}

// wordMatch is a message that holds words, as bits.
type wordMatch struct {
	place driver.Place
	words uint64
}

// windowWords are the words of a message, of it and its neighbours, and of two and of five on
// each side.
type windowWords struct{ own, one, two, five uint64 }

func (w *windowWords) addWords(words uint64, distance int64) {
	w.five |= words
	if distance <= 2 {
		w.two |= words
	}
	if distance <= 1 {
		w.one |= words
	}
	if distance == 0 {
		w.own |= words
	}
}

// readPostings reads the places of a query's terms, of as many as it takes: the rare ones, and the
// common ones if there are no others. A pair of characters that stands nowhere is looked for
// as its characters.
func (s *search) readPostings(ctx context.Context, a *parsedQuery, o *scope) (*queryPostings, error) {
	most := maxPlacesOfTerm
	if o.whole && o.messages <= placesMax/8 {
		most = 0 // a few of them each, however many there are elsewhere
	}
	p := &queryPostings{}
	lists, err := s.findPostings(ctx, o, a.Any, most)
	if err != nil {
		return nil, err
	}
	var lone []string
	for i := range a.Words {
		if lists[i].Holding == 0 {
			lone = append(lone, a.AddSingles(i)...)
		}
	}
	if len(lone) > 0 {
		lone = a.Any[len(a.Any)-len(lone):]
		more, err := s.findPostings(ctx, o, lone, most)
		if err != nil {
			return nil, err
		}
		lists = append(lists, more...)
	}
	p.terms = a.Any
	p.lists = lists
	p.skipped = make([]bool, len(lists))
	p.setWeights(a, o, s.countDocuments())
	w := s.w.Assistant // who talks is known only once messages are read
	p.factors = scoreFactors{w.Own, w.Near2, w.Near5}
	if p.total > 0 {
		p.factors.own += (w.Share + w.Count) / p.total
	}
	return p, s.readCommonPostings(ctx, p, o, most)
}

// findPostings reads the places of terms in a scope, of at most most; those that were read for another
// part of the query are not read again.
func (s *search) findPostings(ctx context.Context, o *scope, want []string, most int) ([]driver.Postings, error) {
	var missing []string
	for _, t := range want {
		if _, known := o.postings[t]; !known {
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 {
		got, err := s.look.Postings(ctx, driver.PostingQuery{Terms: missing, Within: o.within, Most: most})
		if err != nil {
			return nil, err
		}
		for i, t := range missing {
			o.postings[t] = got[i]
		}
	}
	out := make([]driver.Postings, len(want))
	for i, t := range want {
		out[i] = o.postings[t]
	}
	return out, nil
}

// readCommonPostings reads the places of common terms, the rarest first, until there are enough to
// choose from.
func (s *search) readCommonPostings(ctx context.Context, p *queryPostings, o *scope, most int) error {
	if most == 0 {
		return nil
	}
	var common []int
	rare := 0
	for i, l := range p.lists {
		if l.Holding > int64(most) {
			common = append(common, i)
			p.skipped[i] = true
		} else {
			rare += len(l.Places)
		}
	}
	slices.SortFunc(common, func(a, b int) int { return cmp.Or(cmp.Compare(p.lists[a].Holding, p.lists[b].Holding), a-b) })
	left := int64(placesMax)
	for n, i := range common {
		if rare >= maxPicked || n > 0 && p.lists[i].Holding > left {
			break
		}
		got, err := s.look.Postings(ctx, driver.PostingQuery{Terms: p.terms[i : i+1], Within: o.within})
		if err != nil {
			return err
		}
		left -= p.lists[i].Holding
		rare += len(got[0].Places)
		p.lists[i] = got[0]
		p.skipped[i] = false
	}
	return nil
}

// countDocuments returns how many messages can be found.
func (s *search) countDocuments() int64 { return max(s.look.State.Documents, 1) }

// setWeights gives each term and each word its weight. In a conversation a word is as rare as it
// is there; else as in the whole store.
func (p *queryPostings) setWeights(a *parsedQuery, o *scope, documents int64) {
	p.weights = make([]float64, len(p.lists))
	p.words = make([]float64, a.Words)
	for i, l := range p.lists {
		n := l.Holding
		of := documents
		if o.whole && (o.messages <= placesMax/8 || n <= maxPlacesOfTerm) {
			n = int64(len(l.Places))
			of = o.messages
		}
		if n == 0 {
			continue
		}
		w := math.Log(1 + (float64(max(of, n)-n)+0.5)/(float64(n)+0.5))
		switch {
		case i >= a.Words:
			w *= guessWeight
		case a.Exact[i]:
			w *= exactWeight
		}
		p.weights[i] = w
		for _, word := range a.Stands[i] {
			if p.words[word] == 0 {
				p.words[word] = w
			}
		}
	}
	p.sumWeights()
}

// sumWeights adds up the words.
func (p *queryPostings) sumWeights() {
	p.total = 0
	p.rarest = 0
	most := slices.Max(append(p.words, 0))
	for i, w := range p.words {
		p.total += w
		if w > 0 && w == most {
			p.rarest |= 1 << i
		}
	}
}

// weightOf returns the weight of some words.
func (p *queryPostings) weightOf(words uint64) float64 {
	sum := 0.0
	for ; words != 0; words &= words - 1 {
		sum += p.words[bits.TrailingZeros64(words)]
	}
	return sum
}

// weightShare returns the share of the query's weight that some words have.
func (p *queryPostings) weightShare(words uint64) float64 {
	if p.total == 0 {
		return 0
	}
	return p.weightOf(words) / p.total
}

// listEvents returns the messages that hold words, ascending.
func (p *queryPostings) listEvents(a *parsedQuery) []wordMatch {
	var out, next []wordMatch
	for i, l := range p.lists {
		var mask uint64
		for _, w := range a.Stands[i] {
			mask |= 1 << w
		}
		next = next[:0]
		rest := out
		for _, at := range l.Places {
			for len(rest) > 0 && rest[0].place < at {
				next = append(next, rest[0])
				rest = rest[1:]
			}
			if len(rest) > 0 && rest[0].place == at {
				next = append(next, wordMatch{place: at, words: rest[0].words | mask})
				rest = rest[1:]
			} else {
				next = append(next, wordMatch{place: at, words: mask})
			}
		}
		out, next = append(next, rest...), out
	}
	return out
}
