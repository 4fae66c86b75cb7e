package modeltest

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
)

const (
	patience = 10 * time.Second // until a stream that should have ended fails the test
	repeats  = 16               // streams broken off to see whether goroutines pile up
	readers  = 8                // concurrent ones
)

// Run is the suite. Open gives a fresh model that answers [PlainRequest] in at least two
// deltas before the closing one, and [ToolRequest] with a text or a call. Do not run
// it beside parallel tests: it counts goroutines.
func Run(t *testing.T, open func(t *testing.T) model.Model) {
	t.Run("facts", func(t *testing.T) { testFacts(t, open(t)) })
	t.Run("answer", func(t *testing.T) { testAnswer(t, open(t), PlainRequest()) })
	t.Run("tools", func(t *testing.T) { testAnswer(t, open(t), ToolRequest()) })
	t.Run("same", func(t *testing.T) { testSame(t, open(t)) })
	t.Run("canceled before", func(t *testing.T) { testCanceledBefore(t, open(t)) })
	t.Run("canceled amid", func(t *testing.T) { testCanceledAmid(t, open(t)) })
	t.Run("stopped", func(t *testing.T) { testStopped(t, open(t)) })
	t.Run("concurrent", func(t *testing.T) { testConcurrent(t, open(t)) })
}

func testFacts(t *testing.T, m model.Model) {
	f := m.Facts()
	if f.Name == "" {
		t.Error("no name")
	}
	if f.Limit < 0 || f.MaxOutput < 0 || f.Limit > 0 && f.MaxOutput > f.Limit {
		t.Errorf("limits make no sense: %+v", f)
	}
	if again := m.Facts(); !reflect.DeepEqual(again, f) {
		t.Errorf("facts change: %+v, then %+v", f, again)
	}
}

func testAnswer(t *testing.T, m model.Model, r model.Request) {
	before := copyRequest(r)
	a, err := Read(m.Stream(t.Context(), r))
	if err != nil {
		t.Fatal(err)
	}
	if err := checkAnswer(r, a); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(before, r) {
		t.Errorf("the model changed its request: %+v, was %+v", r, before)
	}
}

func testSame(t *testing.T, m model.Model) {
	claim, ok := m.(Deterministic)
	if !ok || !claim.Deterministic() {
		t.Skip("the model does not claim to answer equal requests equally")
	}
	for _, r := range []model.Request{PlainRequest(), ToolRequest()} {
		first, err := Read(m.Stream(t.Context(), r))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(m.Stream(t.Context(), r))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(first, again) {
			t.Errorf("two answers to one request: %+v and %+v", first, again)
		}
	}
}

func testCanceledBefore(t *testing.T, m model.Model) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failAfter(t, "a stream of an ended context", func() {
		a, err := Read(m.Stream(ctx, PlainRequest()))
		if err := checkCanceled(a, err); err != nil {
			t.Error(err)
		}
		if len(a.Deltas) > 0 {
			t.Errorf("%d deltas came first", len(a.Deltas))
		}
	})
}

func testCanceledAmid(t *testing.T, m model.Model) {
	testBreakOff(t, m, func() {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		failAfter(t, "a canceled stream", func() {
			a, err := Read(func(yield func(model.Delta, error) bool) {
				for d, err := range m.Stream(ctx, PlainRequest()) {
					cancel()
					if !yield(d, err) {
						return
					}
				}
			})
			if err := checkCanceled(a, err); err != nil {
				t.Error(err)
			}
			if len(a.Deltas) == 0 {
				t.Error("nothing came before the cancellation")
			}
		})
	})
}

func testStopped(t *testing.T, m model.Model) {
	testBreakOff(t, m, func() {
		failAfter(t, "a stream whose reader has stopped", func() {
			for _, err := range m.Stream(t.Context(), PlainRequest()) {
				if err != nil {
					t.Error(err)
				}
				break
			}
		})
	})
	testAnswer(t, m, PlainRequest())
}

func testConcurrent(t *testing.T, m model.Model) {
	answers := make([]Answer, readers)
	errs := make([]error, readers)
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() { answers[i], errs[i] = Read(m.Stream(t.Context(), nthRequest(i))) })
	}
	wg.Wait()
	for i, err := range errs {
		if err == nil {
			err = checkAnswer(nthRequest(i), answers[i])
		}
		if err != nil {
			t.Errorf("reader %d: %v", i, err)
		}
	}
}

func nthRequest(i int) model.Request {
	if i%2 == 0 {
		return PlainRequest()
	}
	return ToolRequest()
}

// testBreakOff breaks off many streams and fails when goroutines pile up with them. A
// few may come and go: idle connections do.
func testBreakOff(t *testing.T, m model.Model, breakOff func()) {
	t.Helper()
	if _, err := Read(m.Stream(t.Context(), PlainRequest())); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range repeats {
		breakOff()
		if t.Failed() {
			return
		}
	}
	most := before + repeats/2
	end := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > most {
		select {
		case <-end:
			t.Errorf("%d goroutines before %d streams were broken off, %d after", before, repeats, runtime.NumGoroutine())
			return
		case <-tick.C:
		}
	}
}

// failAfter fails when f does not return in time.
func failAfter(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s is still running after %s", what, patience)
	}
}

func copyRequest(r model.Request) model.Request {
	r.Items = slices.Clone(r.Items)
	for i := range r.Items {
		r.Items[i].Parts = slices.Clone(r.Items[i].Parts)
		r.Items[i].Holds = slices.Clone(r.Items[i].Holds)
	}
	r.Tools = slices.Clone(r.Tools)
	return r
}

// Times returns how often a random test tries: n times in the long run, a quarter of that at
// full length and a tenth at the short one (package testlength).
func Times(n int) int { return testlength.Choose(max(n/10, 1), max(n/4, 1), n) }
