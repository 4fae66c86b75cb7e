package oracle_test

import (
	"context"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/feed/feedtest"
)

// The oracle passes the suite, and no method of the contract is left out of that.
func TestDriver(t *testing.T) {
	watched := &drivertest.Faulty{At: -1}
	open := func(*testing.T) *driver.Driver { return watched.Wrap(oracle.New()) }
	drivertest.Run(t, open)
	feedtest.Run(t, open)
	for _, method := range drivertest.ListMethods() {
		if !watched.Called(method) {
			t.Errorf("the suite calls no %s", method)
		}
	}
}

// What is written moves the mark of it.
func TestMarks(t *testing.T) {
	drivertest.RunMarks(t, func(*testing.T) *driver.Driver { return oracle.New() })
}

// Old changes go, and no number comes twice.
func TestChangesKept(t *testing.T) {
	d := oracle.New()
	c := scrollback.Conversation{ID: "0", Branch: "b", Version: 1}
	if _, _, err := d.Log.CreateConversation(t.Context(), c, scrollback.Branch{ID: "b", Conversation: "0"}); err != nil {
		t.Fatal(err)
	}
	const n = 2*driver.ChangesKept + 300
	for i := range n - 1 {
		if _, err := d.Log.PatchConversation(t.Context(), "0", int64(i),
			func(*scrollback.Conversation) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	oldest, newest, err := d.Log.ReadChangeSpan(t.Context())
	if kept := newest - oldest + 1; err != nil || newest != n || kept < driver.ChangesKept || kept > 2*driver.ChangesKept {
		t.Errorf("after %d changes, %d to %d are kept, %v", n, oldest, newest, err)
	}
}

// The same walk on two databases: nothing depends on a map's order, and what one
// is handed the other can be handed too.
func TestWalk(t *testing.T) {
	for seed := range uint64(20) {
		drivertest.RunWalk(t, seed, 300, oracle.New(), oracle.New())
	}
}

// The i-th call fails, the others do not, and with Lost the work is done.
func TestFaulty(t *testing.T) {
	ctx := context.Background()
	c := scrollback.Conversation{ID: "0", Branch: "b", Version: 1}
	b := scrollback.Branch{ID: "b", Conversation: "0"}
	for _, lost := range []bool{false, true} {
		d := oracle.New()
		faults := &drivertest.Faulty{At: 0, Lost: lost}
		f := faults.Wrap(d)
		if _, _, err := f.Log.CreateConversation(ctx, c, b); scrollback.CodeOf(err) != scrollback.Unavailable {
			t.Fatalf("the first call: %v", err)
		}
		_, err := d.Log.ReadHead(ctx, "0")
		if (err == nil) != lost {
			t.Fatalf("lost %v: stored %v", lost, err == nil)
		}
		if _, created, err := f.Log.CreateConversation(ctx, c, b); err != nil || created == lost {
			t.Fatalf("the second call: created %v, %v", created, err)
		}
		if _, err := f.Log.ReadHead(ctx, "0"); err != nil || faults.Calls() != 3 {
			t.Fatalf("the third of %d calls: %v", faults.Calls(), err)
		}
		drivertest.CheckInvariants(t, d)
	}
}

// A call whose context has ended does nothing and says so.
func TestContextEnded(t *testing.T) {
	db := oracle.New()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := db.Log.CreateConversation(ctx, scrollback.Conversation{ID: "0", Branch: "b"}, scrollback.Branch{ID: "b"})
	if scrollback.CodeOf(err) != scrollback.Canceled {
		t.Fatalf("error %v, want canceled", err)
	}
	if _, err := db.Log.ReadHead(context.Background(), "0"); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Fatalf("after a canceled Create: %v", err)
	}
}
