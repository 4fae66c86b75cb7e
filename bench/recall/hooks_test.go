package main

import (
	"testing"
)

// What hooks tell unasked stays above the bars: at most 2 of 100 prompts that nothing helps with get anything, and 5
// of 100 that only share words; 75 of 100 that are answered get the answer.
func TestHooks(t *testing.T) {
	asked := map[string]hookFigures{}
	for name, text := range map[string]string{"English": hooksEnglish, "Chinese": hooksChinese} {
		set, err := readHookSet(name, text)
		if err != nil {
			t.Fatal(err)
		}
		figures, err := set.measure(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for kind, f := range figures {
			sum := asked[kind]
			asked[kind] = hookFigures{sum.asked + f.asked, sum.spoke + f.spoke, sum.right + f.right}
		}
		if ask := figures["ask"]; percent(ask.right, ask.asked) < 75 {
			t.Errorf("%s: %+v were answered", name, ask)
		}
	}
	none := asked["none"]
	near := asked["near"]
	if percent(none.spoke, none.asked) > 2 || percent(near.spoke, near.asked) > 5 {
		t.Errorf("of %+v and %+v something was told", none, near)
	}
	if none.asked < 200 || near.asked < 100 || asked["ask"].asked < 100 {
		t.Errorf("too few prompts: %+v", asked)
	}
}
