package compact

import (
	"maps"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// Whatever shares are asked for, a compaction that is due leaves a quarter of the budget live, and
// the next one is not due at once.
func TestUnusualSharesKeepAQuarter(t *testing.T) {
	folds := 0
	for _, set := range []map[string]float64{
		{}, {"most_share": 0.05, "after_share": 0.05}, {"trigger_share": 0.1, "after_share": 0.05},
		{"trigger_share": 0.3, "after_share": 0.1},
		{"trigger_share": 0.3, "after_share": 0.25, "keep_share": 0.01}, {"trigger_limit_share": 0.1, "after_share": 0.06},
		{"trigger_share": 0.5, "after_share": 0.05, "most_share": 0.1},
		{"keep_share": 0.01, "keep_messages": 0}, {"shrink_share": 1, "after_share": 0.05},
		{"trigger_share": 0.35, "after_share": 0.3, "least_share": 0.25, "most_share": 0.3},
		{"trigger_share": 1, "after_share": 0.05, "most_share": 0.05},
	} {
		for _, policy := range Names()[1:] {
			for n := 20; n <= 120; n += testlength.Choose(25, 10, 10) { // messages of 100 tokens
				in := input(t, policy, n)
				in.ModelTokens = func(tokens int64) int64 { return tokens }
				in.Writers = func() []Summarizer { return nil }
				in.Window.Budget = scrollback.Budget{Limit: 16000,
					Weight: scrollback.Weight{Tokens: 12000, Bytes: 1 << 20, Images: 20}}
				p, err := FindPolicy(policy, true, set)
				if err != nil {
					t.Fatalf("%s %v: %v", policy, set, err)
				}
				in.Policy = p
				c := run(t, in)
				if c.Receipt.Result != scrollback.ResultCompacted {
					continue
				}
				folds++
				if live := (int64(n) - c.View.Boundary) * 100; live < min(3000, int64(n)*100) {
					t.Errorf("%s with %v: %d tokens of %d are live after a compaction", policy, slices.Sorted(maps.Keys(set)), live,
						n*100)
				}
				next := requestLoad{window: scrollback.Weight{Tokens: c.Receipt.TokensAfter + 100}, budget: in.Window.Budget}
				if p.mustFold(next) {
					t.Errorf("%s with %v: %d tokens are left, and the next compaction is due", policy, set, c.Receipt.TokensAfter)
				}
			}
		}
	}
	if folds < testlength.Choose(50, 100, 100) {
		t.Errorf("only %d compactions", folds)
	}
}
