package main

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
)

// plain is BM25 over whole messages, as SQLite's FTS5 has it: its constants, its default
// tokenizer (words in lower case, no stems), any of the words; Chinese in pairs of
// characters, which FTS5 does not cut.
type plain struct {
	said  []said
	terms []map[string]int // of each message, how often
	sizes []int
	mean  float64
	holds map[string]int // messages that hold a term
	near  int            // neighbours on each side that are shown
}

func newPlain(t talk, near int) *plain {
	p := &plain{said: t.said, holds: map[string]int{}, near: near}
	sum := 0
	for _, m := range t.said {
		counts := map[string]int{}
		n := 0
		for _, w := range plainWords(m.readableText()) {
			counts[w]++
			n++
		}
		for w := range counts {
			p.holds[w]++
		}
		p.terms = append(p.terms, counts)
		p.sizes = append(p.sizes, n)
		sum += n
	}
	p.mean = float64(sum) / float64(max(1, len(t.said)))
	return p
}

// plainWords cuts a text into words, and Chinese into pairs of characters.
func plainWords(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		run := []rune(w)
		if !unicode.Is(unicode.Han, run[0]) || len(run) == 1 {
			out = append(out, w)
			continue
		}
		for i := range len(run) - 1 {
			out = append(out, string(run[i:i+2]))
		}
	}
	return out
}

func (p *plain) find(_ context.Context, question string) (answer, error) {
	const k1, b = 1.2, 0.75
	type hit struct {
		place int
		score float64
	}
	words := plainWords(question)
	slices.Sort(words)
	words = slices.Compact(words)
	var hits []hit
	for i, has := range p.terms {
		score := 0.0
		for _, w := range words {
			if tf := float64(has[w]); tf > 0 {
				n := float64(p.holds[w])
				idf := max(1e-6, math.Log((float64(len(p.said))-n+0.5)/(n+0.5)))
				score += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(p.sizes[i])/p.mean))
			}
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.place - b.place
	})
	var a answer
	var text strings.Builder
	for _, h := range hits[:min(shown, len(hits))] {
		a.places = append(a.places, h.place)
		for i := max(0, h.place-p.near); i <= min(len(p.said)-1, h.place+p.near); i++ {
			text.WriteString(p.said[i].shorten(i))
		}
	}
	a.text = text.String()
	return a, nil
}
