package main

import (
	"context"
	"testing"
)

// Search stays above plain BM25 and the recent window, on the half that weights are learned
// on and on the half that is held out.
func TestAboveTheOthers(t *testing.T) {
	t.Parallel()
	r := &run{forms: shortForms, bring: newProduct, quick: true}
	if err := r.runAll(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	names := []string{"@5", "@10", "@20", "in 2,000", "in 4,000"}
	for _, s := range sets {
		rows := map[string][]float64{}
		for _, w := range ways {
			rows[w] = r.scores[key{s.name, w, "", "all"}].meanColumns()
			t.Logf("%s, %s: %.1f", s.name, w, rows[w])
		}
		for i, name := range names {
			for _, w := range ways[2:] {
				if ours := rows[ways[0]][i]; ours < rows[w][i]+map[bool]float64{false: 6, true: 3}[s.more] {
					t.Errorf("%s, %s: %.1f %%, and %s has %.1f", s.name, name, ours, w, rows[w][i])
				}
			}
		}
	}
}
