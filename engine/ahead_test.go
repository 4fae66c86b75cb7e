package engine_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Whether a turn looks at its messages again to fold ahead follows from weights alone. A fresh look after each turn
// finds nothing that it should have folded, however much was said.
func TestNothingIsDueBehindATurn(t *testing.T) {
	for _, policy := range []string{"snapshot", "rolling", "segments"} {
		t.Run(policy, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(len(policy))))
			words := func(most int) string { return strings.Repeat("one of 几个 words ", 1+rng.IntN(most)) }
			r := enginetest.New(t, enginetest.Options{Policy: policy}, modeltest.Step{
				Reply: func(model.Request) []model.Delta { return []model.Delta{{Text: words(120)}} }})
			id := r.NewConversation()
			ctx := context.Background()
			for i := range 40 {
				e := r.Ask(id, words([]int{5, 40, 400}[rng.IntN(3)]))
				e.WantDone(t, scrollback.TurnComplete, "stop")
				r.Engine.Rest()
				m, err := r.Context(ctx, id, engine.ContextRequest{})
				if err != nil {
					t.Fatal(err)
				}
				if f := m.Compacts; f != nil {
					t.Fatalf("after turn %d the next request would fold messages up to %d", i, f.LastSeq)
				}
			}
			all, err := r.Receipts(ctx, id, 100)
			if err != nil || len(all) < 3 {
				t.Fatalf("%d compactions: %v", len(all), err)
			}
			ahead := 0
			for _, one := range all {
				if one.Reason == scrollback.ReasonAhead {
					ahead++
				}
			}
			if ahead == 0 {
				t.Error("nothing was compacted ahead")
			}
		})
	}
}
