package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// BM25 with a fixed mean length, so that a message's score depends neither on which
// database holds it nor on what else is stored.
const (
	bmK1        = 1.2
	bmB         = 0.75
	bmMeanTerms = 120
)

// What else counts. Each was chosen with bench/recall; changing one by half changes the
// result for about one question in a hundred.
const (
	coverage     = 0.7  // of the score, depends on how much of the query's weight is held
	nearWeight   = 0.3  // of a word that stands next to its neighbour in the query
	guessWeight  = 0.7  // of a term that nobody typed
	exactWeight  = 2    // of a name, a number, an identifier
	userWeight   = 1.2  // of what a person said
	saidWeight   = 1.3  // for the speaker that the query names, and against all others
	dateWeight   = 1.8  // of a message from a date that the query names, or with that date in its text
	askingWeight = 0.8  // of a question: it is seldom the answer to another
	answerShare  = 0.85 // of a question's score, goes to its answer
	newestWeight = 0.15 // of the newest, if the query asks for what holds now
	answersRead  = 10   // of the best, questions whose answer is read
	datesRead    = 8192 // bytes of a text that are searched for dates
)

// ranker scores messages for one query: BM25 over its words and the guesses, more for
// more of its words, then the cues.
type ranker struct {
	ask
	now     time.Time
	weights []float64 // of each term of Any
	words   []float64 // of each word, in the form that occurs
	total   float64   // of the words
}

// ranked is a message with its score: own is without what an answer inherits.
type ranked struct {
	m          scrollback.Message
	text       string
	own, score float64
}

// rank orders candidates, and adds answers to them.
func (s searching) rank(ctx context.Context, found driver.SearchResult, dq driver.SearchQuery, a ask) ([]*ranked, error) {
	r := newRanker(found, a, s.now)
	out := make([]*ranked, len(found.Found))
	for i, m := range found.Found {
		out[i] = r.score(m)
	}
	slices.SortFunc(out, byScore)
	out, err := s.answers(ctx, r, out, dq)
	if err != nil {
		return nil, err
	}
	if a.newest {
		preferNew(out)
	}
	slices.SortFunc(out, byScore)
	return out, nil
}

// byScore puts the best first, and the newest first among equals.
func byScore(a, b *ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), byAge(b, a)) }

func byAge(a, b *ranked) int {
	return cmp.Or(cmp.Compare(a.m.CreatedAt, b.m.CreatedAt), cmp.Compare(a.m.Seq, b.m.Seq), cmp.Compare(b.m.ID, a.m.ID))
}

func newRanker(found driver.SearchResult, a ask, now time.Time) *ranker {
	r := &ranker{ask: a, now: now, weights: make([]float64, len(a.Any)), words: make([]float64, a.Words)}
	for i, n := range found.Holding {
		if n == 0 {
			continue
		}
		df := float64(n)
		w := math.Log(1 + (float64(max(found.Documents, n))-df+0.5)/(df+0.5))
		switch {
		case i >= a.Words:
			w *= guessWeight
		case a.Exact[i]:
			w *= exactWeight
		}
		r.weights[i] = w
		for _, word := range a.Stands[i] {
			if r.words[word] == 0 {
				r.words[word] = w
				r.total += w
			}
		}
	}
	return r
}

// score scores a message by itself.
func (r *ranker) score(m scrollback.Message) *ranked {
	out := &ranked{m: m, text: Text(m.Parts)}
	places, n := terms.Places(out.text, r.Any, MaxTerms)
	norm := bmK1 * (1 - bmB + bmB*float64(n)/bmMeanTerms)
	held := make([]bool, r.Words)
	for i, at := range places {
		if len(at) == 0 {
			continue
		}
		tf := float64(len(at))
		out.own += r.weights[i] * tf * (bmK1 + 1) / (tf + norm)
		for _, word := range r.Stands[i] {
			held[word] = true
		}
	}
	if r.total > 0 {
		sum := 0.0
		for i, h := range held {
			if h {
				sum += r.words[i]
			}
		}
		out.own *= 1 - coverage + coverage*sum/r.total
	}
	out.own = (out.own + nearWeight*r.near(places)) * r.cues(m, out.text)
	out.score = out.own
	return out
}

// near is the weight of the words that are together here as in the query.
func (r *ranker) near(places [][]int) float64 {
	sum := 0.0
	for i := 1; i < r.Words; i++ {
		if together(places[i-1], places[i]) {
			sum += min(r.weights[i-1], r.weights[i])
		}
	}
	return sum
}

// together reports whether a place of b is at most three after one of a, or two before
// it. Both ascend.
func together(a, b []int) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch d := b[j] - a[i]; {
		case -2 <= d && d <= 3:
			return true
		case d > 0:
			i++
		default:
			j++
		}
	}
	return false
}

// cues is the factor on a score for who said it, when and how.
func (r *ranker) cues(m scrollback.Message, text string) float64 {
	f := 1.0
	if m.Role == scrollback.RoleUser {
		f *= userWeight
	}
	switch r.speaker {
	case "":
	case m.Role:
		f *= saidWeight
	default:
		f /= saidWeight
	}
	if len(r.dates) > 0 && r.dated(m, text) {
		f *= dateWeight
	}
	if asks(text) {
		f *= askingWeight
	}
	return f
}

// dated reports whether a message is from a date of the query, or names one.
func (r *ranker) dated(m scrollback.Message, text string) bool {
	if slices.ContainsFunc(r.dates, func(d days) bool { return d.has(m.CreatedAt) }) {
		return true
	}
	return slices.ContainsFunc(datesIn(text[:min(len(text), datesRead)], r.now), func(d days) bool { return slices.Contains(r.dates, d) })
}

// asks reports whether a text ends with a question mark.
func asks(text string) bool {
	text = strings.TrimRight(text, " \n\t\"'”’)）")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// answers lets the answer to a question match as the question does, and adds it even if
// it holds none of the words. It must pass what narrows the search, and must itself hold
// any quoted words.
func (s searching) answers(ctx context.Context, r *ranker, all []*ranked, dq driver.SearchQuery) ([]*ranked, error) {
	if len(dq.Must) > 0 || dq.Role != "" {
		return all, nil
	}
	known := map[scrollback.MessageID]*ranked{}
	for _, c := range all {
		known[c.m.ID] = c
	}
	for _, c := range all[:min(answersRead, len(all))] {
		if c.m.Role != scrollback.RoleUser || !asks(c.text) {
			continue
		}
		next, err := s.d.Read.Messages(ctx, driver.MessageQuery{Branch: c.m.Branch, From: c.m.Seq + 1, To: c.m.Seq + 1})
		if err != nil {
			return nil, err
		}
		for _, m := range next {
			if m.Role != scrollback.RoleAssistant || m.CreatedAt < dq.From || dq.To != 0 && m.CreatedAt >= dq.To {
				continue
			}
			answer := known[m.ID]
			if answer == nil {
				answer = r.score(m)
				if strings.TrimSpace(answer.text) == "" {
					continue // a look-up, which is not found again
				}
				known[m.ID] = answer
				all = append(all, answer)
			}
			answer.score = answer.own + answerShare*c.own
		}
	}
	return all, nil
}

// preferNew raises the newer of the messages that match about as well as the best.
func preferNew(all []*ranked) {
	best := 0.0
	for _, c := range all {
		best = max(best, c.score)
	}
	var close []*ranked
	for _, c := range all {
		if c.score >= best/2 {
			close = append(close, c)
		}
	}
	slices.SortFunc(close, byAge)
	for i, c := range close {
		c.score *= 1 + newestWeight*float64(i+1)/float64(len(close))
	}
}
