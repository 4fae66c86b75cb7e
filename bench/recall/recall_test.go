package main

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// Search stays well above both things it is held against, on the texts that it
// was tuned on and on those held out.
func TestAboveTheOthers(t *testing.T) {
	t.Parallel()
	r := &run{sizes: []size{{400, 1}}}
	for _, only := range []string{"tuned", "held"} {
		if err := r.all(context.Background(), only); err != nil {
			t.Fatal(err)
		}
		for _, s := range sets {
			if !strings.HasPrefix(s.name, only) {
				continue
			}
			rows := map[string][]float64{}
			for _, w := range ways {
				rows[w] = r.scores[key{s.name, w, "", "all"}].columns()
			}
			ours, names := rows[ways[0]], []string{"@5", "@10", "in 500", "in 1,000", "in 2,000", "in 4,000"}
			least := []float64{88, 94, 88, 94, 94, 94}
			for i, name := range names {
				if ours[i] < least[i] {
					t.Errorf("%s, %s: %.1f %%, it was at least %.0f", s.name, name, ours[i], least[i])
				}
				for _, w := range ways[1:] {
					if ours[i] < rows[w][i]+20 {
						t.Errorf("%s, %s: %.1f %%, and %s has %.1f", s.name, name, ours[i], w, rows[w][i])
					}
				}
			}
		}
	}
}

// The same seed makes the same talk, another one another; what is asked has its
// evidence where the question says.
func TestTalks(t *testing.T) {
	for _, name := range []string{"main.en", "main.zh", "held.en", "held.zh"} {
		lex, err := readLexicon(name)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]bool{}
		a, b, c := makeTalk(1, name, []*lexicon{lex}, size{300, 1}), makeTalk(1, name, []*lexicon{lex}, size{300, 1}),
			makeTalk(2, name, []*lexicon{lex}, size{300, 1})
		if !slices.Equal(a.said, b.said) || len(a.questions) != len(lex.cases) {
			t.Errorf("%s: two talks of a seed differ, or %d questions of %d cases", name, len(a.questions), len(lex.cases))
		}
		if slices.Equal(a.said, c.said) {
			t.Errorf("%s: another seed makes the same talk", name)
		}
		for i, q := range a.questions {
			kinds[q.kind] = true
			if q.text != b.questions[i].text || strings.ContainsAny(q.text, "{}") || len(q.evidence) == 0 {
				t.Errorf("%s: %q, and %q again", name, q.text, b.questions[i].text)
			}
			for j, place := range q.evidence {
				if !strings.Contains(a.said[place].text, q.sentences[j]) {
					t.Errorf("%s: %q is not in %q", name, q.sentences[j], a.said[place].text)
				}
			}
		}
		if len(kinds) != 9 {
			t.Errorf("%s has the kinds %v", name, kinds)
		}
	}
}

// A score counts hits by their places, and evidence only where it is read whole.
func TestJudge(t *testing.T) {
	q := question{evidence: []int{3, 9}, sentences: []string{"a <fact>", "another fact"}}
	long := strings.Repeat("word ", 1200)
	got := judge(q, answer{places: []int{0, 3, 1, 2, 4, 9}, text: `"a \u003cfact\u003e" ` + long + "another fact"})
	if got.at5 != 0.5 || got.at10 != 1 || got.inside != [4]float64{0.5, 0.5, 1, 1} {
		t.Errorf("scored %+v", got)
	}
	if got := judge(q, answer{places: []int{9}, text: "another fac"}); got.at5 != 0.5 || got.inside[3] != 0 {
		t.Errorf("half a fact is scored %+v", got)
	}
}
