package tidy

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// What another server has in hand is looked at again soon: it may be one that was killed.
func TestHashesAreMadeSoonAfterAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var at []time.Duration
		makeHashes(ctx, func() bool {
			at = append(at, time.Since(began))
			if len(at) == 5 {
				cancel()
			}
			return len(at) > 2
		})
		want := []time.Duration{0, again, 2 * again, 2*again + every, 2*again + 2*every}
		if !slices.Equal(at, want) {
			t.Errorf("at %v, want %v", at, want)
		}
	})
}
