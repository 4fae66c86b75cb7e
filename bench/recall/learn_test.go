package main

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/search"
)

// What tells evidence apart gains weight, until the evidence is first; what says nothing
// keeps the weight that it had.
func TestLearn(t *testing.T) {
	var examples []example
	for i := range 20 {
		e := example{kind: "temporal", evidence: []int64{int64(1 + i)}}
		for seq := range 30 {
			c := &search.Candidate{Message: scrollback.Message{Seq: int64(seq), CreatedAt: int64(seq)}}
			c.Near2 = 10 + float64(seq)/10
			c.Speaker = 1
			if seq == 1+i {
				c.Near2 = 10
				c.Time = 1
			}
			e.all = append(e.all, c)
		}
		examples = append(examples, e)
	}
	same := func(w search.Weights) search.WeightSet { return search.WeightSet{Assistant: w, People: w} }
	start := onRealTalk.Assistant
	start.Near2 = 0.4
	start.Time = 0.5
	start.Session = 0.1
	if g := reachedScore(examples, same(start)); g.at5 > 0.3 {
		t.Fatalf("the start has %+v", g)
	}
	learned := learnWeights(examples, start, func(string) {})
	if g := reachedScore(examples, same(learned)); g.at5 != 1 || g.near != 1 {
		t.Errorf("the learned weights %+v reach %+v", learned, g)
	}
	if learned.Time/learned.Near2 <= start.Time/start.Near2 || learned.Speaker != start.Speaker ||
		learned.Asks != start.Asks {
		t.Errorf("the learned weights are %+v", learned)
	}
	if again := learnWeights(examples, learned, func(string) {}); again != learned {
		t.Errorf("learned again: %+v, was %+v", again, learned)
	}
}

// Two digits of a weight count.
func TestRound(t *testing.T) {
	for in, want := range map[float64]float64{0: 0, 0.1234: 0.12, -0.936: -0.94, 4.96: 5, 12.6: 13} {
		if got := roundDigits(in); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%g becomes %g", in, got)
		}
	}
}
