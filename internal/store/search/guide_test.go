package search

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestGuideToWeights: the guide's table of the score has the weights that a search takes, in
// their order.
func TestGuideToWeights(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guides/search.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(guide), "| | a person and an assistant | two people |\n|---|---|---|\n")
	if !ok {
		t.Fatal("the guide has no table of weights")
	}
	var told [2][]float64
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			break
		}
		for kind := range told {
			for _, n := range regexp.MustCompile(`[−0-9.]+`).FindAllString(cells[2+kind], -1) {
				w, err := strconv.ParseFloat(strings.ReplaceAll(n, "−", "-"), 64)
				if err != nil {
					t.Fatal(err)
				}
				told[kind] = append(told[kind], w)
			}
		}
	}
	own := DefaultWeights()
	for kind, w := range []Weights{own.Assistant, own.People} {
		f := Features(w)
		if !slices.Equal(told[kind], f.Values()) {
			t.Errorf("the guide has %v, a search takes %v", told[kind], f.Values())
		}
	}
}

// TestGuideToQuestions: what the guide calls a question is one, and what it calls a look-up is
// none.
func TestGuideToQuestions(t *testing.T) {
	for text, question := range map[string]bool{"what did Anna say about the garden?": true,
		"billing page march price": true,
		"Anna garden?":             true, "the garden": true, "谁 说 过": true, "when": true,
		"garden": false, "Anna garden fence": false, "花园 围栏": false} {
		if kindOf(text).question != question {
			t.Errorf("%q: a question is %v", text, !question)
		}
	}
}
