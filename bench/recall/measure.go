package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/token"
)

// windows are the numbers of tokens within which evidence is looked for.
var windows = []int{500, 1000, 2000, 4000}

// score is how much of the evidence was found, in shares of 1: among the first 5
// and the first 10 hits, and within each of the windows.
type score struct {
	questions int
	at5, at10 float64
	inside    [4]float64
}

// add takes in the score of others.
func (s *score) add(o score) {
	s.questions += o.questions
	s.at5 += o.at5
	s.at10 += o.at10
	for i := range s.inside {
		s.inside[i] += o.inside[i]
	}
}

// mean of a sum of scores, in percent.
func (s score) mean(sum float64) float64 { return 100 * sum / float64(max(1, s.questions)) }

// judge scores an answer. Hits count as they are; a neighbour counts only where
// its text is read.
func judge(q question, a answer) score {
	out := score{questions: 1}
	share := 1 / float64(len(q.evidence))
	for i, place := range q.evidence {
		if at := slices.Index(a.places, place); at >= 0 && at < 10 {
			out.at10 += share
			if at < 5 {
				out.at5 += share
			}
		}
		end := endOf(a.text, q.sentences[i])
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

// endOf is where a sentence first ends in a text that holds it as JSON, or -1.
func endOf(text, sentence string) int {
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
