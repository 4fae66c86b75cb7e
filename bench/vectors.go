//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// vectorLength is how many numbers a vector has: as many as those of common models of embeddings.
const vectorLength = 768

// vectorsAt measures a question beside which there are vectors of all messages, drawn at random; the time of a model is
// not in it.
func (b *bench) vectorsAt(s *store.Store, n int) error {
	const name = "bench"
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() []float32 {
		v := make([]float32, vectorLength)
		for i := range v {
			v[i] = float32(random.NormFloat64())
		}
		return v
	}
	embed := func(_ context.Context, texts []store.VectorText) ([][]float32, error) {
		var out [][]float32
		for range texts {
			out = append(out, draw())
		}
		return out, nil
	}
	start := time.Now()
	for done := false; !done; {
		var err error
		if done, err = s.Vectors.FillStep(b.ctx, name, embed); err != nil {
			return err
		}
	}
	b.addNumber("storing vectors of "+formatCount(n), 0, time.Since(start).Seconds(), "s")
	ask := func(ctx context.Context, _ string) (*store.VectorLookup, error) {
		return s.Vectors.NewLookup(ctx, name, draw())
	}
	q := scrollback.SearchQuery{Query: makeQuestion(), Limit: 5, Around: 1}
	start = time.Now()
	if _, err := s.SearchByMeaning(b.ctx, q, ask); err != nil {
		return err
	}
	b.addNumber("the first question with vectors of "+formatCount(n), 0,
		float64(time.Since(start).Microseconds())/1000, "ms")
	const times = 20
	for r := range rounds {
		var words, both []time.Duration
		for range times {
			start := time.Now()
			if _, err := s.Search(b.ctx, q); err != nil {
				return err
			}
			words = append(words, time.Since(start))
			start = time.Now()
			found, err := s.SearchByMeaning(b.ctx, q, ask)
			if err != nil {
				return err
			}
			both = append(both, time.Since(start))
			if len(found.Hits) == 0 {
				return fmt.Errorf("%s is not found", q.Query)
			}
		}
		b.addNumber("a question with vectors of "+formatCount(n), r, percentileMS(both, 0.5), "ms")
		b.addNumber("what vectors add to a question of "+formatCount(n), r, percentileMS(both, 0.5)-percentileMS(words, 0.5),
			"ms")
	}
	return nil
}
