package merge_test

import (
	"flag"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

var (
	seeds     = flag.Int("seeds", 0, "how many runs of the model")
	steps     = flag.Int("steps", 0, "how many steps each")
	firstSeed = flag.Int("seed", 1, "the first of them")
)

// Stores that change, meet and have accidents in any order end alike, and have kept what they promised.
func TestModel(t *testing.T) {
	t.Parallel()
	n := testlength.Choose(8, 30, 1000)
	length := testlength.Choose(2000, 10_000, 10_000)
	if *seeds > 0 {
		n = *seeds
	}
	if *steps > 0 {
		length = *steps
	}
	var all mergetest.Figures
	for seed := range n {
		figures, err := mergetest.Run(uint64(*firstSeed+seed), length, mergetest.TrueRules())
		if err != nil {
			t.Fatalf("seed %d: %v", *firstSeed+seed, err)
		}
		all.Add(figures)
	}
	t.Logf("%d runs: %+v", n, all)
}
