package main

import (
	"io"
	"testing"
)

// What hooks tell unasked stays within the bounds, each place judged by what was learned from the others: at most 1 of
// 100 prompts that nothing helps with get anything, and 5 of 100 that only share words. How many of those that are
// answered get the answer differs from set to set.
func TestHooks(t *testing.T) {
	lessons, err := readHookLessons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	figures := countHooks(scoreHooks(lessons), io.Discard)
	asked := map[string]hookFigures{}
	for set, least := range map[string]float64{"English": 80, "Chinese": 80, "English, held": 38, "Chinese, held": 50} {
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
}
