package main

import (
	"fmt"
	"slices"
	"strings"
)

// report is the Markdown of a run.
func (r *run) report() string {
	var b strings.Builder
	b.WriteString(`# Does search find it?

Written by ` + "`go run ./bench/recall`" + `; the same seed gives the same numbers. The figures are the
percentage of the evidence that is among the first 5 and 10 hits, and within the first 500 to 4,000 tokens of what is
returned. The [guide to search](guides/search.md) explains how the questions are made, and what they leave out.
`)
	head := "| | questions | @5 | @10 | in 500 | in 1,000 | in 2,000 | in 4,000 |\n|---|---|---|---|---|---|---|---|\n"
	for _, s := range sets {
		all, ok := r.scores[key{s.name, ways[0], "", "all"}]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "\n## %s: %d questions\n\n%s", strings.ToUpper(s.name[:1])+s.name[1:], all.questions, head)
		for _, w := range ways {
			fmt.Fprintf(&b, "| %s %s", w, r.scores[key{s.name, w, "", "all"}].row())
		}
		for _, by := range []string{"kind", "language", "wording", "length"} {
			fmt.Fprintf(&b, "\nBy %s, scrollback and plain FTS5 (in brackets; the better of its two for each number):\n\n%s", by, head)
			for _, k := range r.of(by) {
				k.set = s.name
				fmt.Fprintf(&b, "| %s %s", k.value, r.beside(k))
			}
		}
	}
	if r.kept != nil {
		b.WriteString(policyReport(r.kept))
	}
	return b.String()
}

// of lists the values of a property.
func (r *run) of(by string) []key {
	var out []key
	for _, k := range r.values {
		if k.by == by {
			out = append(out, k)
		}
	}
	if by == "length" {
		slices.SortFunc(out, func(a, b key) int { return len(a.value) - len(b.value) })
	}
	return out
}

// columns are the numbers of a row, in percent.
func (s score) columns() []float64 {
	out := []float64{s.mean(s.at5), s.mean(s.at10)}
	for _, v := range s.inside {
		out = append(out, s.mean(v))
	}
	return out
}

func (s score) row() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %d |", s.questions)
	for _, v := range s.columns() {
		fmt.Fprintf(&b, " %.1f |", v)
	}
	return b.String() + "\n"
}

// beside is a row of ours with the better of the two rows of plain FTS5.
func (r *run) beside(k key) string {
	of := func(way string) *score {
		k.way = way
		return r.scores[k]
	}
	ours := of(ways[0])
	if ours == nil {
		return "| 0 | | | | | | |\n"
	}
	other, near := of(ways[1]).columns(), of(ways[2]).columns()
	var b strings.Builder
	fmt.Fprintf(&b, "| %d |", ours.questions)
	for i, v := range ours.columns() {
		fmt.Fprintf(&b, " %.0f (%.0f) |", v, max(other[i], near[i]))
	}
	return b.String() + "\n"
}
