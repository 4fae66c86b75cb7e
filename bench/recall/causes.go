package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// rareShare of a talk's messages hold a word that tells something; a word of more is common.
const rareShare = 0.01

// causes are why evidence is not among the first ten hits, by what it shares with the
// question.
var causes = []string{"nothing shared", "only common words", "word only in the neighbours", "other wording",
	"outranked", "asks for a date"}

// reach are the distances within which a word of the question stands.
var reach = []int{0, 1, 2, 5}

// anatomy counts what evidence shares with its questions, and what of it is lost.
type anatomy struct {
	evidence, lost int
	near           [4]int // evidence with a word of the question within reach
	by             map[string]int
}

// words of a talk by message, and how many messages hold each.
type vocabulary struct {
	of    []map[string]bool
	holds map[string]int
}

func newVocabulary(t talk) vocabulary {
	v := vocabulary{holds: map[string]int{}}
	for _, m := range t.said {
		has := map[string]bool{}
		terms.EachTerm(m.readableText(), func(w string) bool {
			if !has[w] {
				has[w] = true
				v.holds[w]++
			}
			return true
		})
		v.of = append(v.of, has)
	}
	return v
}

// sharedWords returns the words of a question that a message holds, and how many of them are rare.
func (v vocabulary) sharedWords(words []string, place int) (all, rare int) {
	if place < 0 || place >= len(v.of) {
		return 0, 0
	}
	for _, w := range words {
		if v.of[place][w] {
			all++
			if v.isRare(w) {
				rare++
			}
		}
	}
	return all, rare
}

func (v vocabulary) isRare(w string) bool {
	return float64(v.holds[w]) <= max(3, rareShare*float64(len(v.of)))
}

// addCase takes in the evidence of a question and what was found of it.
func (n *anatomy) addCase(v vocabulary, q question, a answer) {
	if n.by == nil {
		n.by = map[string]int{}
	}
	parsed := terms.ParseQuery(q.text)
	words := parsed.Any[:parsed.Words]
	for _, place := range q.evidence {
		n.evidence++
		for i, d := range reach {
			if slices.ContainsFunc(rangeOf(place-d, place+d),
				func(p int) bool { all, _ := v.sharedWords(words, p); return all > 0 }) {
				n.near[i]++
			}
		}
		if at := slices.Index(a.places, place); at < 0 || at >= 10 {
			n.lost++
			n.by[v.causeOf(words, q, place)]++
		}
	}
}

func rangeOf(from, to int) []int {
	var out []int
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

// causeOf returns why the message at a place may not have been found.
func (v vocabulary) causeOf(words []string, q question, place int) string {
	all, rare := v.sharedWords(words, place)
	beside := 0
	for _, p := range []int{place - 2, place - 1, place + 1, place + 2} {
		_, n := v.sharedWords(words, p)
		beside = max(beside, n)
	}
	asked := 0
	for _, w := range words {
		if v.isRare(w) {
			asked++
		}
	}
	switch {
	case q.kind == "date":
		return "asks for a date"
	case all == 0 && beside > 0:
		return "word only in the neighbours"
	case all == 0:
		return "nothing shared"
	case rare == 0:
		return "only common words"
	case 2*rare < asked:
		return "other wording"
	}
	return "outranked"
}

// anatomyReport returns the table of what evidence shares with questions; the last column is what
// was found on real talk.
func anatomyReport(of map[string]*anatomy) string {
	var b strings.Builder
	head := "| |"
	line := "|---|"
	var all []*anatomy
	for _, s := range sets {
		if n := of[s.name]; n != nil {
			head = head + " " + s.name + " |"
			line = line + "---|"
			all = append(all, n)
		}
	}
	b.WriteString("\n" + head + " real talk |\n" + line + "---|\n")
	row := func(name, real string, share func(*anatomy) float64) {
		b.WriteString("| " + name + " |")
		for _, n := range all {
			fmt.Fprintf(&b, " %.1f |", 100*share(n))
		}
		b.WriteString(" " + real + " |\n")
	}
	for i, real := range []string{"82.6", "92.5", "95.0", "96.4"} {
		name := "a word of the question stands in the evidence"
		if reach[i] > 0 {
			name = fmt.Sprintf("… within ±%d messages", reach[i])
		}
		row(name, real, func(n *anatomy) float64 { return float64(n.near[i]) / float64(max(1, n.evidence)) })
	}
	for i, real := range []string{"36", "28", "14", "9", "10", "3"} {
		row("lost: "+causes[i], real, func(n *anatomy) float64 { return float64(n.by[causes[i]]) / float64(max(1, n.lost)) })
	}
	return b.String()
}
