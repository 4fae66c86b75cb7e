package guarded

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Work that never ends is left behind, keeps its place, and the next is told so; once it
// ends its place is free.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bound := New(1, time.Second)
		end := make(chan struct{})
		if got, err := Run(bound, func() string { return "x" }); got != "x" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		if _, err := Run(bound, func() string { panic("x") }); !errors.Is(err, ErrPanicked) {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := Run(bound, func() string { <-end; return "late" }); !errors.Is(err, ErrLate) ||
			time.Since(began) != time.Second {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		if _, err := Run(bound, func() string { return "x" }); !errors.Is(err, ErrBusy) ||
			time.Since(began) != 2*time.Second {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		close(end)
		synctest.Wait()
		if got, err := Run(bound, func() string { return "y" }); got != "y" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

func TestTooDeep(t *testing.T) {
	for source, want := range map[string]bool{
		strings.Repeat(">", 61): true, strings.Repeat("> ", 60): false, strings.Repeat("1. ", 61): true,
		strings.Repeat("- + ", 31) + "a": true,
		strings.Repeat("- ", 500):        false, strings.Repeat("> a\n", 500): false, "a " + strings.Repeat("> ", 100): false,
		"> a\n" + strings.Repeat("- > ", 40): true,
	} {
		if got := IsTooDeep(source); got != want {
			t.Errorf("%.20q: %v", source, got)
		}
	}
}
