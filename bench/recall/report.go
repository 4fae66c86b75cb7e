package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed texts/learned.txt
var taught string

// method says how the talks and the weights were made; the tables of [taught] follow it.
const method = `
## How talks and weights were made

A talk is made of sessions on different days. Two people talk, with names in the message or before the text, or a
person talks with an assistant that writes pages. Each fact of the texts is told in one of several wordings, among small
talk: as a statement, as a reply that means nothing without the message before ("Yes, last Friday!"), as the caption of a
photo, inside a long request or an assistant's page, over several days, or as something that changes later. Days
are told relatively. The other person tells the like of half of the facts, and their things are mentioned where nothing
is said of them. Questions have wordings of their own; Chinese ones come in Traditional and Simplified characters, in half
and full width. How often each form is told was set so that on the first half plain BM25, the program before it
ranked by windows, and what evidence shares with its question come near to what was measured on real talk:

| | plain, @10 | the program before, @10 | in 2,000 |
|---|---|---|---|
| real talk | 63.3 | 68.6 | 82.5 |
| the first half | 58.6 | 65.1 | 73.0 |
| in English alone | 60 | 67 | 74 |
| the half that is held out | 58.9 | 67.4 | 76.2 |
| in English alone | 59 | 69 | 78 |

Its losses among the first ten, in percent of what the program before lost:

| | nothing shared | only common words | word only in the neighbours | other wording | outranked | date |
|---|---|---|---|---|---|---|
| real talk | 36 | 28 | 14 | 9 | 10 | 3 |
| the first half | 35 | 20 | 14 | 8 | 17 | 5 |
| the half that is held out | 43 | 8 | 16 | 11 | 20 | 3 |

Held out are names, things, sentences, questions and ways to tell a day: a test sees that no value and no run of five
words (six Chinese characters) is in both halves. The forms and kinds are the same, and both halves were written by the
same hand, so that the held-out half is kinder than life. Its figures were looked at while the talks were made as
hard as real ones, and when the pull below was chosen from two; no weight was learned on it.

Talks with more kinds have the kinds that real talk loses most; their texts are in texts/*.more.*, and only their first half was
looked at while the weights of quotes, of traits and of the second look were chosen. Real talk taught a set of weights of its own
for two people with names; the program has it, but for the person whom the query names (0.75 on real talk, 2 on
ours and in the program).

Weights start from those of real talk. ` + "`go -C bench run ./recall -learn`" + ` changes one at a time on the first half, up or down by a
factor, as long as the evidence moves up by more than what is lost for going away from the start (0.4 points for each
doubling). The goal is 0.2 of @5, 0.4 of @10, 0.1 of @20 and 0.3 of a share that falls with the logarithm of the place.

`

// writeReport returns the Markdown of a run.
func (r *run) writeReport() string {
	var b strings.Builder
	b.WriteString(`# Does search find it?

Written by ` + "`go -C bench run ./recall`" + `; the same seed gives the same numbers. The figures are the
percentage of the evidence that is among the first 5, 10 and 20 hits, and that is read within the first 2,000 and 4,000
tokens of what is returned. The [guide to search](guides/search.md) explains how the talks and questions are made, and
what was held out.
`)
	head := "| | questions | @5 | @10 | @20 | in 2,000 | in 4,000 |\n|---|---|---|---|---|---|---|\n"
	for _, s := range sets {
		all, ok := r.scores[key{s.name, ways[0], "", "all"}]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "\n## %s: %d questions\n\n%s", strings.ToUpper(s.name[:1])+s.name[1:], all.questions, head)
		for _, w := range ways {
			fmt.Fprintf(&b, "| %s %s", w, r.scores[key{s.name, w, "", "all"}].tableRow())
		}
		for _, by := range []string{"kind", "way of asking", "form of the evidence", "speakers", "language", "length"} {
			if len(r.propertyValuesOf(s.name, by)) == 0 {
				continue
			}
			fmt.Fprintf(&b, "\nBy %s, context_search and plain BM25 (in brackets; the better of its two for each number):\n\n%s",
				by, head)
			for _, k := range r.propertyValuesOf(s.name, by) {
				k.set = s.name
				fmt.Fprintf(&b, "| %s %s", k.value, r.baselineRow(k))
			}
		}
	}
	b.WriteString(`
## What evidence shares with its question, and why it is lost

Shares of all evidence, and of the evidence that is not among the first ten hits of context_search, in percent. Real talk is
what was measured on real conversations, in the program before it ranked by windows, which lost twice as much. A word is
common if more than 1 % of a talk's messages hold it; "other wording" shares fewer than half of a question's rarer words.
`)
	b.WriteString(anatomyReport(r.anatomy))
	b.WriteString(method)
	b.WriteString(taught)
	if r.sums != nil {
		b.WriteString(policyReport(r.sums))
	}
	return b.String()
}

// propertyValuesOf lists the values of a property that a set has.
func (r *run) propertyValuesOf(set, by string) []key {
	return slices.DeleteFunc(r.propertyValues(by), func(k key) bool {
		k.set = set
		k.way = ways[0]
		return r.scores[k] == nil
	})
}

// propertyValues lists the values of a property, the shortest first if they are lengths.
func (r *run) propertyValues(by string) []key {
	var out []key
	for _, k := range r.values {
		if k.by == by {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b key) int {
		if by == "length" && len(a.value) != len(b.value) {
			return len(a.value) - len(b.value)
		}
		return strings.Compare(a.value, b.value)
	})
	return out
}

func (s *score) tableRow() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %d |", s.questions)
	for _, v := range s.meanColumns() {
		fmt.Fprintf(&b, " %.1f |", v)
	}
	return b.String() + "\n"
}

// baselineRow returns a row of ours with the better of the two rows of plain BM25.
func (r *run) baselineRow(k key) string {
	of := func(way string) *score {
		k.way = way
		return r.scores[k]
	}
	ours := of(ways[0])
	if ours == nil {
		return "| 0 | | | | | |\n"
	}
	other := of(ways[2]).meanColumns()
	near := of(ways[3]).meanColumns()
	var b strings.Builder
	fmt.Fprintf(&b, "| %d |", ours.questions)
	for i, v := range ours.meanColumns() {
		fmt.Fprintf(&b, " %.0f (%.0f) |", v, max(other[i], near[i]))
	}
	return b.String() + "\n"
}
