package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/search"
)

// example is a question with the messages that a search would rank.
type example struct {
	kind     string
	people   bool // two people talk
	all      []*search.Candidate
	evidence []int64 // seqs
}

// goal is what is to be made large, and what it consists of.
type goal struct {
	at5, at10, at20, near float64 // shares of the evidence; near falls with its place
	ranked                float64 // is ranked at all
	questions             int
}

// valueOf returns one number of it.
func (g goal) valueOf() float64 { return 0.2*g.at5 + 0.4*g.at10 + 0.1*g.at20 + 0.3*g.near }

// pull is how much of the goal is lost when a weight is doubled: the weights that are
// started from were learned on real talk, which ours only imitates.
const pull = 0.004

// learnedOn is how many of a question's candidates weights are learned on: the best by the
// weights that are started from. All of them count in what is reported.
const learnedOn = 120

// onRealTalk are the weights that are started from: those that RECALL of real talk taught, and
// for features that were not measured there what seemed right before anything was learned.
var onRealTalk = search.WeightSet{
	Assistant: search.Weights{Own: 0.2, Near2: 0.3, Near5: 0.25, Share: 2, Count: 1.5, Beside: 0.4, Rarest: 0.6,
		Together: 0.6, Quoted: 8, Linked: 4, Speaker: 1.2, Person: 0.4, FirstSelf: 1, Asks: -0.9, Date: 5, Time: 2.5,
		Kind: 0.6, Reply: 2.2, Standing: 2, Trait: 1.5, Newest: 1.5, Session: 0.2},
	People: search.Weights{Near2: 0.3, Near5: 0.25, Share: 1.5, Count: 2.1, Beside: 0.4, Rarest: 0.6,
		Together: 0.6, Quoted: 8, Linked: 4, Speaker: 0.75, Person: 0.4, FirstSelf: 1, Asks: -1.9, Date: 5, Time: 1.9,
		Kind: 1.4, Reply: 2.2, Standing: 2, Trait: 1.5, Newest: 1.5, Session: 0.2},
}

// steps are the factors by which a weight is tried, the largest first.
var steps = []float64{2, 1.5, 1.2, 1.08}

// reachedScore returns what weights reach on examples.
func reachedScore(examples []example, w search.WeightSet) goal {
	var g goal
	for _, e := range examples {
		search.RankCandidates(e.all, w)
		share := 1 / float64(len(e.evidence))
		for _, seq := range e.evidence {
			at := slices.IndexFunc(e.all, func(c *search.Candidate) bool { return c.Message.Seq == seq })
			if at < 0 {
				continue
			}
			if at < 5 {
				g.at5 += share
			}
			if at < 10 {
				g.at10 += share
			}
			if at < 20 {
				g.at20 += share
			}
			g.near += share / math.Log2(2+float64(at))
			g.ranked += share
		}
		g.questions++
	}
	n := float64(max(1, g.questions))
	return goal{g.at5 / n, g.at10 / n, g.at20 / n, g.near / n, g.ranked / n, g.questions}
}

// learnWeights changes one weight at a time as long as the goal on the examples, which are all of one
// kind of talk, grows by more than the pull back to start. A weight keeps its sign, and 0 stays.
func learnWeights(all []example, start search.Weights, note func(string)) search.Weights {
	same := func(w search.Weights) search.WeightSet { return search.WeightSet{Assistant: w, People: w} }
	var examples []example
	for _, e := range all {
		search.RankCandidates(e.all, same(start))
		e.all = slices.Clone(e.all[:min(learnedOn, len(e.all))])
		examples = append(examples, e)
	}
	from := search.Features(start).Values()
	now := slices.Clone(from)
	worth := func(values []float64) float64 {
		lost := 0.0
		for i, v := range values {
			if from[i] != 0 {
				d := math.Log2(v / from[i])
				lost += pull * d * d
			}
		}
		return reachedScore(examples, same(search.WeightsOf(values))).valueOf() - lost
	}
	best := worth(now)
	for _, step := range steps {
		for again := true; again; {
			again = false
			for i := range now {
				for _, f := range []float64{step, 1 / step} {
					if now[i] == 0 {
						continue
					}
					tried := slices.Clone(now)
					tried[i] *= f
					if v := worth(tried); v > best+1e-6 {
						best = v
						now = tried
						again = true
						note(fmt.Sprintf("%s %.3g: %.4f", search.FeatureNames()[i], tried[i], v))
						break
					}
				}
			}
		}
	}
	for i, v := range now {
		now[i] = roundDigits(v)
	}
	return search.WeightsOf(now)
}

// roundDigits keeps two digits that count.
func roundDigits(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	if err != nil {
		return v // it is a number, written by us
	}
	return out
}

// listExamples returns the questions of a set with what a search ranks for them.
func (s set) listExamples(ctx context.Context, of []form) ([]example, error) {
	kept, stop, err := newStore(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	var talks []talk
	var products []product
	for _, f := range of {
		t, err := s.makeTalk(f)
		if err != nil {
			return nil, err
		}
		p, err := newProduct(ctx, kept.Store, t)
		if err != nil {
			return nil, err
		}
		talks = append(talks, t)
		products = append(products, p)
	}
	if err := kept.indexAll(ctx); err != nil {
		return nil, err
	}
	var out []example
	for i, t := range talks {
		for _, q := range t.questions {
			e := example{kind: q.kind, people: t.pair}
			for _, place := range q.evidence {
				e.evidence = append(e.evidence, int64(place)+1)
			}
			if e.all, err = kept.FindCandidates(ctx, scrollback.SearchQuery{Conversation: products[i].id,
				Query: q.text}); err != nil {
				return nil, err
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// printLearned prints the weights that the first half teaches, and what both halves gain.
func printLearned(ctx context.Context, of []form, note func(string)) (string, error) {
	halves := make([][]example, 2)
	for i := range halves {
		var err error
		if halves[i], err = sets[i].listExamples(ctx, of); err != nil {
			return "", err
		}
	}
	start := onRealTalk
	program := search.DefaultWeights()
	to := search.WeightSet{
		Assistant: learnWeights(ofTalk(halves[0], false), start.Assistant, note),
		People:    learnWeights(ofTalk(halves[0], true), start.People, note),
	}
	var b strings.Builder
	b.WriteString("| feature | a person and an assistant: start | learned | in the program | two people: start | learned | in the program |\n" +
		"|---|---|---|---|---|---|---|\n")
	var columns [][]float64
	for _, w := range []search.Weights{start.Assistant, to.Assistant, program.Assistant, start.People, to.People,
		program.People} {
		f := search.Features(w)
		columns = append(columns, f.Values())
	}
	for i, name := range search.FeatureNames() {
		b.WriteString("| " + name + " |")
		for _, c := range columns {
			fmt.Fprintf(&b, " %.3g |", c[i])
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| | @5 | @10 | @20 |\n|---|---|---|---|\n")
	for i, half := range halves {
		for _, people := range []bool{false, true} {
			who := "a person and an assistant"
			if people {
				who = "two people"
			}
			for _, w := range []struct {
				name string
				search.WeightSet
			}{{"start", start}, {"learned", to}, {"in the program", program}} {
				g := reachedScore(ofTalk(half, people), w.WeightSet)
				fmt.Fprintf(&b, "| %s, %s, %s | %.1f | %.1f | %.1f |\n", sets[i].name, who, w.name, 100*g.at5, 100*g.at10,
					100*g.at20)
			}
		}
	}
	b.WriteString("\n" + byKind(halves, start, to))
	return b.String(), nil
}

// ofTalk returns the examples of one kind of talk.
func ofTalk(all []example, people bool) []example {
	return slices.DeleteFunc(slices.Clone(all), func(e example) bool { return e.people != people })
}

// byKind returns the share among the first ten of each kind and half, with both weights.
func byKind(halves [][]example, start, to search.WeightSet) string {
	var kinds []string
	for _, h := range halves {
		for _, e := range h {
			if !slices.Contains(kinds, e.kind) {
				kinds = append(kinds, e.kind)
			}
		}
	}
	slices.Sort(kinds)
	var b strings.Builder
	b.WriteString("| @10 by kind |")
	for _, s := range sets[:len(halves)] {
		fmt.Fprintf(&b, " %s, start | learned | ranked at all |", s.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", 3*len(halves)) + "\n")
	for _, kind := range kinds {
		fmt.Fprintf(&b, "| %s |", kind)
		for _, h := range halves {
			some := slices.DeleteFunc(slices.Clone(h), func(e example) bool { return e.kind != kind })
			was := reachedScore(some, start)
			is := reachedScore(some, to)
			fmt.Fprintf(&b, " %.1f | %.1f | %.1f |", 100*was.at10, 100*is.at10, 100*is.ranked)
		}
		b.WriteString("\n")
	}
	return b.String()
}
