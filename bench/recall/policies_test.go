package main

import (
	"context"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// Every policy saves most of what sending everything costs, and what it folds is
// found again by one look-up.
func TestPoliciesKeepWhatTheyFold(t *testing.T) {
	t.Parallel()
	r := &run{forms: []form{{"en", false, testlength.Choose(200, 200, 400)}}, bring: newProduct, fold: true}
	if err := r.runAll(context.Background(), "held"); err != nil {
		t.Fatal(err)
	}
	for _, name := range policies {
		k := r.sums[name]
		t.Logf("%s: %+v", name, *k)
		n := float64(k.questions)
		if n < 30 || k.lookUps/n < 0.85 || k.lookUps < k.shown || k.sent >= k.whole || k.shown/n > 0.95 {
			t.Errorf("%s: %+v", name, *k)
		}
	}
}
