package exchange_test

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

func sideOf(r *enginetest.Rig) exchange.Side {
	return exchange.Side{Store: r.Store, Archive: r.Archive}
}

// TestTakeCutOff: wherever a merge is cut off, what is there is sound, and the next one ends it.
func TestTakeCutOff(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := enginetest.New(t, enginetest.Options{Limit: 4000}, modeltest.Say("so it is "+strings.Repeat("and on ", 60)))
	id := from.NewConversation()
	for range 14 {
		from.Ask(id, "what of it, with "+strings.Repeat("many words ", 60))
	}
	if _, err := from.Branches().Rewind(ctx, id, engine.Point{Seq: new(int64(6))}); err != nil {
		t.Fatal(err)
	}
	from.Ask(id, "another way")
	fork, err := from.Branches().Fork(ctx, id, engine.Point{Seq: new(int64(4))}, "")
	if err != nil {
		t.Fatal(err)
	}
	from.Ask(fork.ID, "in the fork")
	gone := from.NewConversation()
	from.Ask(gone, "not for long")
	if _, err := from.Purge(ctx, gone); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Patch(ctx, id, 0, func(c *scrollback.Conversation) error {
		c.Title = "given"
		c.PinnedSeqs = []int64{3}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want, err := sideOf(from).Digest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	step := testlength.Choose[int64](7, 3, 1)
	for at, calls := int64(0), int64(1); at < calls; at += step {
		for _, lost := range []bool{false, true} {
			mem := oracle.New()
			faulty := &drivertest.Faulty{At: at, Lost: lost}
			r := enginetest.New(t, enginetest.Options{Driver: faulty.Wrap(mem)}, modeltest.Say("x"))
			_, failed := exchange.Take(ctx, sideOf(from), sideOf(r), exchange.Request{})
			calls = max(calls, faulty.Calls())
			if failed == nil && faulty.Calls() > at && !lost {
				t.Fatalf("call %d failed, and nobody noticed", at)
			}
			drivertest.CheckInvariants(t, mem)
			again := enginetest.New(t, enginetest.Options{Driver: mem, Clock: r.Clock, Archive: r.Archive}, modeltest.Say("x"))
			if _, err := exchange.Take(ctx, sideOf(from), sideOf(again), exchange.Request{}); err != nil {
				t.Fatalf("call %d failed (lost: %t), and then the next time: %v", at, lost, err)
			}
			got, err := sideOf(again).Digest(ctx)
			if err != nil || got.Digest != want.Digest {
				t.Fatalf("call %d failed (lost: %t): %v, %+v instead of %+v", at, lost, err, got, want)
			}
		}
	}
}
