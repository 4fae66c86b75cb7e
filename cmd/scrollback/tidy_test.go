package main

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
		repeatFilling(ctx, func() bool {
			at = append(at, time.Since(began))
			if len(at) == 5 {
				cancel()
			}
			return len(at) > 2
		})
		want := []time.Duration{0, tidyAgain, 2 * tidyAgain, 2*tidyAgain + tidyEvery, 2*tidyAgain + 2*tidyEvery}
		if !slices.Equal(at, want) {
			t.Errorf("at %v, want %v", at, want)
		}
	})
}
