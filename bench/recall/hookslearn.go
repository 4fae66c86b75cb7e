package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/store/evidence"
)

// Bounds of what may be told that nobody asked for, in percent, in cross-validation: below what is promised (5 and 2),
// since other people write other prompts.
const (
	mostNear = 4.5
	mostNone = 1
	// what of the best a second message must have as chance to be the answer
	leastChance = 0.04
	ridge       = 8
)

// hookLesson is a prompt with what fits it.
type hookLesson struct {
	hookPrompt
	set  string
	fits []*evidence.Stretch // best first
}

// group is what is left out together in cross-validation.
func (l *hookLesson) group() string { return l.set + " " + l.place }

// readHookLessons gives all prompts.
func readHookLessons(ctx context.Context) (out []*hookLesson, err error) {
	for _, from := range hookSets {
		if !from.learned {
			continue
		}
		set, err := readHookSet(from.name, from.text)
		if err != nil {
			return nil, err
		}
		e, err := set.open(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range set.prompts {
			all, err := e.Consider(ctx, p.query())
			if err != nil {
				return nil, err
			}
			out = append(out, &hookLesson{hookPrompt: p, set: set.name, fits: all})
		}
		if err := e.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// learnHooks learns when hooks speak and which messages they tell, and writes the weights beside the rule.
func learnHooks(ctx context.Context) error {
	lessons, err := readHookLessons(ctx)
	if err != nil {
		return err
	}
	w := weighHooks(lessons)
	setHookBars(w, scoreHooks(lessons))
	table := "# What each feature counts for, in hundredths: that a hook speaks of a stretch of a conversation, and which of its\n" +
		"# messages it tells. Learned by go -C bench run ./recall -learn-hooks; judge.go and choose.go say what the words mean.\n" +
		"decided\tfeature\tweight\n"
	var rows []string
	for name, weight := range w {
		decided, feature, _ := strings.Cut(name, " ")
		rows = append(rows, fmt.Sprintf("%s\t%s\t%d\n", decided, feature, hundredths(weight)))
	}
	slices.Sort(rows)
	name := filepath.Join("..", "internal", "store", "evidence", "weights.tsv")
	return os.WriteFile(name, []byte(table+strings.Join(rows, "")), 0o644)
}

// setHookBars sets how well a stretch must fit.
func setHookBars(w evidence.Weights, scores []hookScore) {
	bars := findBars(scores, mostNear, mostNone)
	w[evidence.Speak+" "+evidence.Bar] = bars[false]
	w[evidence.Speak+" "+evidence.DenseBar] = bars[true]
}

// weighHooks learns from some lessons: first which messages to tell, then whether what would be told is the answer.
func weighHooks(lessons []*hookLesson) evidence.Weights {
	w := evidence.Weights{}
	var messages, stretches []observation
	for _, l := range lessons {
		for _, s := range l.fits {
			if !slices.ContainsFunc(s.Messages(), func(m evidence.Message) bool { return l.isAnswer(m.Text) }) {
				continue
			}
			for _, m := range s.Messages() {
				messages = append(messages, observation{m.Features, l.isAnswer(m.Text)})
			}
		}
	}
	fitLogistic(w, evidence.Tell, messages)
	w[evidence.Tell+" "+evidence.Bar] = math.Log(leastChance / (1 - leastChance))
	for _, l := range lessons {
		if len(l.fits) > 0 {
			stretches = append(stretches, observation{l.fits[0].Facts.Features, l.isRight(w)})
		}
	}
	fitLogistic(w, evidence.Speak, stretches)
	return w
}

// isRight reports whether the best stretch would tell the answer.
func (l *hookLesson) isRight(w evidence.Weights) bool {
	return len(l.fits) > 0 && slices.ContainsFunc(l.fits[0].Choose(w, 2),
		func(f evidence.Found) bool { return l.isAnswer(f.Text) })
}

// hookScore is how well the best stretch of a prompt fits, by weights that were learned without its place.
type hookScore struct {
	*hookLesson
	score   float64
	right   bool // if it speaks
	weights evidence.Weights
}

// scoreHooks scores all prompts, each place by what was learned from the others.
func scoreHooks(lessons []*hookLesson) (out []hookScore) {
	var groups []string
	for _, l := range lessons {
		if !slices.Contains(groups, l.group()) {
			groups = append(groups, l.group())
		}
	}
	for _, g := range groups {
		var rest, own []*hookLesson
		for _, l := range lessons {
			if l.group() == g {
				own = append(own, l)
			} else {
				rest = append(rest, l)
			}
		}
		w := weighHooks(rest)
		w[evidence.Speak+" "+evidence.Bar] = math.Inf(-1)
		w[evidence.Speak+" "+evidence.DenseBar] = math.Inf(-1)
		for _, l := range own {
			one := hookScore{l, math.Inf(-1), l.isRight(w), w}
			if len(l.fits) > 0 {
				if may, _ := evidence.Judge(l.fits[0].Facts, w); may && len(l.fits[0].Choose(w, 2)) > 0 {
					one.score = l.fits[0].Facts.Score(w)
				}
			}
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b hookScore) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return out
}

// isDense reports whether a prompt is in a script without spaces.
func (l *hookLesson) isDense() bool {
	if len(l.fits) == 0 {
		return strings.HasPrefix(l.set, "Chinese")
	}
	return l.fits[0].Facts.Dense
}

// findBars returns the lowest bars at which no more is told than is allowed, in percent, that nobody asked for: of
// prompts in scripts without spaces, and of others. Scores are the highest first.
func findBars(all []hookScore, near, none float64) map[bool]float64 {
	out := map[bool]float64{}
	for _, dense := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(all), func(s hookScore) bool { return s.isDense() != dense })
		asked := map[string]int{}
		for _, s := range some {
			asked[s.kind]++
		}
		spoke := map[string]int{}
		out[dense] = math.Inf(1)
		for _, s := range some {
			spoke[s.kind]++
			if percent(spoke["near"], asked["near"]) > near || percent(spoke["none"], asked["none"]) > none {
				break
			}
			out[dense] = s.score
		}
	}
	return out
}

// countHooks counts what is told with the bars that hooks have, by set and kind.
func countHooks(all []hookScore, wrong io.Writer) map[string]map[string]hookFigures {
	bars := map[bool]float64{
		false: evidence.Learned()[evidence.Speak+" "+evidence.Bar],
		true:  evidence.Learned()[evidence.Speak+" "+evidence.DenseBar],
	}
	out := map[string]map[string]hookFigures{}
	for _, s := range all {
		if out[s.set] == nil {
			out[s.set] = map[string]hookFigures{}
		}
		spoke := s.score >= bars[s.isDense()]
		out[s.set][s.kind] = out[s.set][s.kind].add(spoke, s.right)
		if wrong != nil && (spoke && s.right) != (s.kind == "ask") && (spoke || s.kind == "ask") {
			fmt.Fprintf(wrong, "%s %s %s: %q scores %.2f of %.2f", s.set, s.kind, s.place, s.text, s.score, bars[s.isDense()])
			var found []evidence.Found
			var fitted []string
			if len(s.fits) > 0 {
				found = s.fits[0].Choose(s.weights, 2)
				fitted = s.fits[0].Terms
			}
			s.writeFound(wrong, fitted, found)
		}
	}
	return out
}

// writeHookLine writes how many prompts are answered for how much that nobody asked for.
func writeHookLine(w io.Writer, all []hookScore) {
	fmt.Fprintf(w, "\n%-9s %-6s %-6s %-6s\n", "near <=", "near", "none", "right")
	for _, near := range []float64{1, 2, 3, 4.5, 7, 10, 15} {
		bars := findBars(all, near, 2)
		told := map[string]int{}
		asked := map[string]int{}
		for _, s := range all {
			asked[s.kind]++
			if s.score >= bars[s.isDense()] && (s.kind != "ask" || s.right) {
				told[s.kind]++
			}
		}
		fmt.Fprintf(w, "%-9.1f %5.1f%% %5.1f%% %5.1f%%\n", near, percent(told["near"], asked["near"]),
			percent(told["none"], asked["none"]), percent(told["ask"], asked["ask"]))
	}
}

// observation is what a decision is learned from.
type observation struct {
	features []evidence.Feature
	is       bool
}

// fitLogistic learns the weights of a decision by logistic regression with a ridge, in Newton's steps over features
// that are brought to the same spread.
func fitLogistic(w evidence.Weights, decided string, all []observation) {
	const rounds = 12
	names := make([]string, len(all[0].features))
	for i, f := range all[0].features {
		names[i] = f.Name
	}
	n := len(names)
	mean := make([]float64, n)
	spread := make([]float64, n)
	for _, e := range all {
		for i, f := range e.features {
			mean[i] += f.Value / float64(len(all))
		}
	}
	for _, e := range all {
		for i, f := range e.features {
			spread[i] += (f.Value - mean[i]) * (f.Value - mean[i]) / float64(len(all))
		}
	}
	for i := range spread {
		spread[i] = max(math.Sqrt(spread[i]), 1e-6)
	}
	b := make([]float64, n+1) // the last is the constant
	x := make([]float64, n+1)
	x[n] = 1
	for range rounds {
		a := make([][]float64, n+1)
		for i := range a {
			a[i] = make([]float64, n+2)
			a[i][i] = 1e-6
			if i < n {
				a[i][i] = ridge
				a[i][n+1] = -ridge * b[i]
			}
		}
		for _, e := range all {
			sum := b[n]
			for i, f := range e.features {
				x[i] = (f.Value - mean[i]) / spread[i]
				sum += x[i] * b[i]
			}
			p := 1 / (1 + math.Exp(-sum))
			slope := -p
			if e.is {
				slope++
			}
			for i := range x {
				for j := range x {
					a[i][j] += p * (1 - p) * x[i] * x[j]
				}
				a[i][n+1] += slope * x[i]
			}
		}
		for i, step := range solveLinear(a) {
			b[i] += step
		}
	}
	constant := b[n]
	for i, name := range names {
		w[decided+" "+name] = b[i] / spread[i]
		constant -= b[i] * mean[i] / spread[i]
	}
	w[decided+" "+evidence.Constant] = constant
}

// solveLinear solves a system of equations, whose right sides are the last column, and overwrites it. It is positive
// definite: no pivot is nothing.
func solveLinear(a [][]float64) []float64 {
	n := len(a)
	for c := range a {
		for r := range a {
			if r == c {
				continue
			}
			factor := a[r][c] / a[c][c]
			for k := c; k <= n; k++ {
				a[r][k] -= factor * a[c][k]
			}
		}
	}
	out := make([]float64, n)
	for i := range a {
		out[i] = a[i][n] / a[i][i]
	}
	return out
}
