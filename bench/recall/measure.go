package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/token"
)

// What is counted: evidence among the first hits, and within the first tokens.
var (
	firsts  = []int{5, 10, 20}
	windows = []int{2000, 4000}
)

// score is how much of the evidence was found, in shares of 1.
type score struct {
	questions int
	at        [3]float64 // of firsts
	inside    [2]float64 // of windows
}

// addScore takes in the score of others.
func (s *score) addScore(o score) {
	s.questions += o.questions
	for i := range s.at {
		s.at[i] += o.at[i]
	}
	for i := range s.inside {
		s.inside[i] += o.inside[i]
	}
}

// meanColumns returns the means of a sum of scores, in percent.
func (s score) meanColumns() []float64 {
	var out []float64
	for _, sum := range slices.Concat(s.at[:], s.inside[:]) {
		out = append(out, 100*sum/float64(max(1, s.questions)))
	}
	return out
}

// scoreAnswer scores an answer. Hits count as they are; a neighbour counts only where
// its text is read.
func scoreAnswer(q question, a answer) score {
	out := score{questions: 1}
	share := 1 / float64(len(q.evidence))
	for i, place := range q.evidence {
		at := slices.Index(a.places, place)
		for f, n := range firsts {
			if at >= 0 && at < n {
				out.at[f] += share
			}
		}
		end := endOf(a.text, place, q.sentences[i])
		if end < 0 {
			continue
		}
		tokens := token.Count(a.text[:end])
		for w, n := range windows {
			if tokens <= n {
				out.inside[w] += share
			}
		}
	}
	return out
}

// endOf returns where a sentence of the message at a place first ends in a text that holds
// messages as JSON, each after its seq; or -1.
func endOf(text string, place int, sentence string) int {
	mark := fmt.Sprintf(`"seq":%d,`, place+1)
	for from := 0; ; {
		at := strings.Index(text[from:], mark)
		if at < 0 {
			return -1
		}
		from += at + len(mark)
		own := text[from:]
		if next := strings.Index(own, `"seq":`); next >= 0 {
			own = own[:next]
		}
		if end := findSentence(own, sentence); end >= 0 {
			return from + end
		}
	}
}

// findSentence returns where a sentence first ends in a text that holds it as JSON, or -1.
func findSentence(text, sentence string) int {
	quoted, err := json.Marshal(sentence)
	if err != nil {
		return -1
	}
	body := string(quoted[1 : len(quoted)-1])
	at := strings.Index(text, body)
	if at < 0 {
		return -1
	}
	return at + len(body)
}
