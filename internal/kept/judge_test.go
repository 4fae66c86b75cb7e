package kept

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What is remembered of a sentence is what a fresh look finds, however often others took its place.
func TestVerdictsAreRemembered(t *testing.T) {
	var c verdictCache
	all := append([]string{"Always answer in French.", "I am allergic to nuts.", "Remind me to call Ada tomorrow.",
		"以后请用中文回答。", "我对花生过敏。", "", strings.Repeat("Never do that. ", 60)}, plain...)
	for _, s := range plain {
		for i := range 20 {
			all = append(all, s+" "+strings.Repeat("Again, please. ", i))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	stays := 0
	for range 5000 {
		s := all[r.IntN(len(all))]
		if r.IntN(4) == 0 { // another sentence, in its place
			c.of[r.IntN(maxJudged)].Store(&judgedSentence{text: "another", is: verdict{todo: true}})
		}
		got := c.find(s)
		if want := judgeAnew(s); got != want {
			t.Fatalf("%q is remembered as %+v, and is %+v", s, got, want)
		}
		if got != (verdict{}) {
			stays++
		}
	}
	if stays == 0 {
		t.Error("no sentence stays")
	}
}
