package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/kept"
)

// lesson is a sentence, or an answer, that the weights of what stays are learned on: the evidence of each of its parts.
type lesson struct {
	file, kind string
	parts      [][]string
}

// keptLessons are the files that the weights are learned on, beside the half of standing.tsv that is called dev.
var keptLessons = []string{"kept-train.tsv", "kept-dev.tsv", "kept-dev2.tsv", "kept-dev3.tsv", "kept-dev4.tsv",
	"kept-train-en.tsv", "kept-train-zh.tsv"}

// standingTimes is how often each sentence of standing.tsv is a lesson: half of them only sound like instructions, and
// there are few of these.
const standingTimes = 2

// learnKept learns the tables of weights of internal/kept on all lessons but those of a file that is left out (to see
// on it what such weights are worth), and writes them.
func learnKept(labelled []labelled, without string) error {
	for _, language := range []string{"english", "chinese"} {
		var said, answered, ends, news []keptCase
		var files []string
		for _, name := range keptLessons {
			if name == without {
				continue
			}
			text, err := keptTexts.ReadFile("texts/" + name)
			if err != nil {
				return err
			}
			all, err := readCases(name, string(text))
			if err != nil {
				return err
			}
			for _, c := range all {
				switch {
				case (c.lang == "en") != (language == "english"):
				case c.kind == "withdraw", c.kind == "keepboth":
					ends = append(ends, c)
				case c.kind == "done", c.kind == "notdone":
					news = append(news, c)
				case slices.Index(keptKinds, c.kind) > 3:
				case c.context == "":
					said = append(said, c)
					files = append(files, name)
				default:
					answered = append(answered, c)
				}
			}
		}
		for _, s := range labelled {
			if s.split != "dev" || (s.lang == "en") != (language == "english") || s.lang == "ja" || s.lang == "ko" {
				continue
			}
			for range standingTimes {
				said = append(said, keptCase{map[bool]string{true: "keep", false: "drop"}[s.keep], s.lang, "", s.text})
				files = append(files, "standing.tsv")
			}
		}
		table := "# What each piece of evidence speaks for, in hundredths: that a sentence stays, that it is a to-do, that it tells\n" +
			"# the assistant how to work. Learned by go -C bench run ./recall -learn-kept; evidence.go says what the words mean.\n" +
			"evidence\tstays\ttodo\torder\n"
		rows, known := learnScale(said, files)
		table += rows + learnAnswers(answered, said) + learnEnds(ends, said, known) + learnClosing(news, known)
		name := filepath.Join("..", "internal", "kept", "rules", language+".weights.tsv")
		if err := os.WriteFile(name, []byte(table), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d rows, of %d sentences and %d answers\n", name, strings.Count(table, "\n"), len(said), len(answered))
	}
	return nil
}

// learnScale learns the weights of sentences: once to see which words have weight, and again with all others known by
// their endings.
func learnScale(cases []keptCase, files []string) (table string, known map[string]bool) {
	known = commonWords(cases, files)
	var stays, todo, order map[string]float64
	for range 2 {
		var all []lesson
		for i, c := range cases {
			var parts [][]string
			for _, s := range kept.SplitSentences(c.text) {
				parts = append(parts, kept.ListEvidence(s, known)...)
			}
			if len(parts) > 0 {
				all = append(all, lesson{files[i], c.kind, parts})
			}
		}
		stays = weighLessons(all, "trait instruction todo keep", "talk drop", 0.8)
		todo = weighLessons(all, "todo", "trait instruction talk", 0.8)
		var best []lesson
		for _, l := range all {
			best = append(best, lesson{l.file, l.kind, [][]string{l.parts[bestPart(l.parts, stays)]}})
		}
		order = weighLessons(best, "instruction", "trait", 0.8)
		known = map[string]bool{}
		for _, of := range []map[string]float64{stays, todo, order} {
			for e := range of {
				if kind, rest, _ := strings.Cut(e, " "); kind == "word" || kind == "pair" {
					for w := range strings.SplitSeq(rest, " ") {
						known[w] = true
					}
				}
			}
		}
	}
	var rows []string
	seen := map[string]bool{}
	for _, of := range []map[string]float64{stays, todo, order} {
		for e := range of {
			if !seen[e] {
				seen[e] = true
				rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\n", e, hundredths(stays[e]), hundredths(todo[e]),
					hundredths(order[e])))
			}
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, ""), known
}

// unrelated is how many other sentences each one is paired with.
const unrelated = 4

// alike is how many standing sentences that name the same each sentence of small talk is paired with.
const alike = 6

// learnEnds learns the weights of sentences that may take another back. Small talk that happens to name what stands
// takes nothing back.
func learnEnds(cases, said []keptCase, known map[string]bool) string {
	var all []lesson
	for i, c := range cases {
		all = append(all, lesson{"", c.kind, [][]string{kept.ListChange(c.context, c.text, known)}})
		for step := range unrelated { // what is said of other things takes nothing back
			if other := cases[(i+7*step+11)%len(cases)]; other.context != c.context {
				all = append(all, lesson{"", "keepboth", [][]string{kept.ListChange(other.context, c.text, known)}})
			}
		}
	}
	var standing []keptCase
	for _, c := range said {
		if c.kind == "trait" || c.kind == "instruction" {
			standing = append(standing, c)
		}
	}
	for i, c := range said {
		if c.kind != "talk" {
			continue
		}
		found := 0
		for step := range standing {
			of := standing[(i*31+step)%len(standing)]
			if pair := kept.ListChange(of.text, c.text, known); !slices.Contains(pair, "change shares 0") {
				all = append(all, lesson{"", "keepboth", [][]string{pair}})
				if found++; found == alike {
					break
				}
			}
		}
	}
	return pairRows("change", weighLessons(all, "withdraw", "keepboth", 0.5))
}

// learnClosing learns the weights of sentences that may say that a to-do is done.
func learnClosing(cases []keptCase, known map[string]bool) string {
	var all []lesson
	for _, c := range cases {
		if parts := kept.ListClosing(c.context, c.text, known); len(parts) > 0 {
			all = append(all, lesson{"", c.kind, parts})
		}
	}
	return pairRows("close", weighLessons(all, "done", "notdone", 0.5))
}

// pairRows writes weights of pairs of sentences as rows.
func pairRows(kind string, weights map[string]float64) string {
	var rows []string
	for e, w := range weights {
		if e == "always" {
			e = kind
		}
		rows = append(rows, fmt.Sprintf("%s\t%d\t0\t0\n", e, hundredths(w)))
	}
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// learnAnswers learns the weights of answers to what the assistant asked. Most of what people say behind a question
// is no answer to it: all small talk is a lesson too, behind what was asked in some of the cases.
func learnAnswers(cases, said []keptCase) string {
	var all []lesson
	add := func(kind, text, asked string) {
		first := kept.SplitSentences(text)[0]
		all = append(all, lesson{"", kind, [][]string{kept.ListAnswer(first, asked)}})
	}
	for _, c := range cases {
		add(c.kind, c.text, c.context)
	}
	for i, c := range said {
		if c.kind == "talk" {
			for step := range unrelated {
				add("talk", c.text, cases[(i*unrelated+7*step)%len(cases)].context)
			}
		}
	}
	var rows []string
	for e, w := range weighLessons(all, "trait instruction", "talk", 0.5) {
		if e == "always" {
			e = "answered"
		}
		if n := hundredths(w); n != 0 {
			rows = append(rows, fmt.Sprintf("%s\t%d\t0\t0\n", e, n))
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, "")
}

func hundredths(w float64) int { return int(math.Round(100 * w)) }

// commonWords are those that several sentences of more than one file have.
func commonWords(cases []keptCase, files []string) map[string]bool {
	const least = 4
	count := map[string]int{}
	in := map[string]map[string]bool{}
	for i, c := range cases {
		seen := map[string]bool{}
		for _, w := range kept.SplitWords(c.text) {
			if seen[w] {
				continue
			}
			seen[w] = true
			count[w]++
			if in[w] == nil {
				in[w] = map[string]bool{}
			}
			in[w][files[i]] = true
		}
	}
	out := map[string]bool{}
	for w, n := range count {
		if n >= least && len(in[w]) > 1 {
			out[w] = true
		}
	}
	return out
}

func bestPart(parts [][]string, weights map[string]float64) int {
	best := 0
	most := math.Inf(-1)
	for i, part := range parts {
		sum := 0.0
		for _, e := range part {
			sum += weights[e]
		}
		if sum > most {
			best = i
			most = sum
		}
	}
	return best
}

// sample is a lesson as numbers: whether it is meant, and the numbers of the evidence of each of its parts.
type sample struct {
	is    bool
	parts [][]int
}

// makeSamples numbers the evidence that at least so many lessons of some kinds, or of others, have. Number 0 is
// "always", which each part has.
func makeSamples(all []lesson, kinds, others string, least int) (samples []sample, names []string) {
	var used []lesson
	count := map[string]int{}
	for _, l := range all {
		if !strings.Contains(" "+kinds+" "+others+" ", " "+l.kind+" ") {
			continue
		}
		used = append(used, l)
		seen := map[string]bool{}
		for _, e := range slices.Concat(l.parts...) {
			if !seen[e] {
				seen[e] = true
				count[e]++
			}
		}
	}
	names = []string{"always"}
	for e, n := range count {
		if n >= least {
			names = append(names, e)
		}
	}
	slices.Sort(names[1:])
	ids := map[string]int{}
	for i, e := range names {
		ids[e] = i
	}
	for _, l := range used {
		one := sample{is: strings.Contains(" "+kinds+" ", " "+l.kind+" ")}
		for _, part := range l.parts {
			of := []int{0}
			for _, e := range part {
				if id, ok := ids[e]; ok && !slices.Contains(of, id) {
					of = append(of, id)
				}
			}
			one.parts = append(one.parts, of)
		}
		samples = append(samples, one)
	}
	return samples, names
}

// bestOf returns the part of a sample that weighs most.
func (s sample) bestOf(weigh func(part []int) float64) []int {
	at := 0
	for i := range s.parts {
		if weigh(s.parts[i]) > weigh(s.parts[at]) {
			at = i
		}
	}
	return s.parts[at]
}

// weighLessons learns how much each piece of evidence speaks for some kinds against others, by logistic regression in
// which little evidence gets no weight at all (the greater lasso, the less). Of a sentence that is meant, only the part
// counts which speaks most for it; of others, every part.
func weighLessons(all []lesson, kinds, others string, lasso float64) map[string]float64 {
	const (
		least  = 3 // lessons that have a piece of evidence
		rounds = 300
		ridge  = 1.0
		pace   = 0.3
	)
	samples, names := makeSamples(all, kinds, others, least)
	w := make([]float64, len(names))
	squares := make([]float64, len(names))
	sum := func(part []int) (z float64) {
		for _, id := range part {
			z += w[id]
		}
		return z
	}
	n := float64(len(samples))
	for round := range rounds {
		slope := make([]float64, len(names))
		for _, e := range samples {
			parts := e.parts
			switch {
			case e.is && round < 10:
				parts = parts[:1]
			case e.is:
				parts = [][]int{e.bestOf(sum)}
			}
			share := 1 / math.Sqrt(float64(len(parts)))
			for _, part := range parts {
				miss := 1 / (1 + math.Exp(-sum(part)))
				if e.is {
					miss--
				}
				for _, id := range part {
					slope[id] += miss * share
				}
			}
		}
		for id := range w {
			g := slope[id]/n + ridge/n*w[id]
			squares[id] += g * g
			step := pace / math.Sqrt(squares[id]+1e-10)
			w[id] -= step * g
			if id > 0 { // towards nothing
				w[id] = math.Copysign(max(0, math.Abs(w[id])-step*lasso/n), w[id])
			}
		}
	}
	out := map[string]float64{}
	for id, e := range names {
		if hundredths(w[id]) != 0 {
			out[e] = w[id]
		}
	}
	return out
}
