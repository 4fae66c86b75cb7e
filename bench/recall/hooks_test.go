package main

import (
	"math"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/store/evidence"
)

// What hooks tell unasked stays within the bounds, each place judged by what was learned from the others: at most 1 of
// 100 prompts that nothing helps with get anything, and 5 of 100 that only share words. How many of those that are
// answered get the answer differs from set to set. The weights are what is learned from the sets as they are.
func TestHooks(t *testing.T) {
	lessons, err := readHookLessons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scores := scoreHooks(lessons)
	figures := countHooks(scores, nil)
	asked := map[string]hookFigures{}
	for set, least := range map[string]float64{"English": 82, "Chinese": 85, "English, held": 44, "Chinese, held": 55} {
		if ask := figures[set]["ask"]; percent(ask.right, ask.asked) < least {
			t.Errorf("%s: %+v were answered", set, ask)
		}
		for kind, f := range figures[set] {
			sum := asked[kind]
			asked[kind] = hookFigures{sum.asked + f.asked, sum.spoke + f.spoke, sum.right + f.right}
		}
	}
	none := asked["none"]
	near := asked["near"]
	if percent(none.spoke, none.asked) > 1 || percent(near.spoke, near.asked) > 5 {
		t.Errorf("of %+v and %+v something was told", none, near)
	}
	if none.asked < 400 || near.asked < 250 || asked["ask"].asked < 230 {
		t.Errorf("too few prompts: %+v", asked)
	}
	w := weighHooks(lessons)
	setHookBars(w, scores)
	for name, weight := range w {
		if math.Abs(weight-evidence.Learned()[name]) > 0.02 {
			t.Errorf("%s weighs %.2f, and %.2f in weights.tsv: -learn-hooks was not run", name, weight,
				evidence.Learned()[name])
		}
	}
	if len(w) != len(evidence.Learned()) {
		t.Errorf("%d weights, and %d in weights.tsv", len(w), len(evidence.Learned()))
	}
}
