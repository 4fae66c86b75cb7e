package stopped

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// However many stop at once, one imports at a time, and each session's last stop is imported.
func TestDrainOneAtATime(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	running := 0
	last := map[string]string{}
	bring := func(_ context.Context, r Request) error {
		mu.Lock()
		running++
		if running > 1 {
			t.Error("two import at once")
		}
		mu.Unlock()
		mu.Lock()
		running--
		last[r.Session] = r.Answer
		mu.Unlock()
		return nil
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 20 {
				if err := Add(dir, Request{Agent: "codex", Session: fmt.Sprint(i), Answer: fmt.Sprint(n)}); err != nil {
					t.Error(err)
				}
				if err := Drain(t.Context(), dir, bring); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 8 {
		if got := last[fmt.Sprint(i)]; got != "19" {
			t.Errorf("session %d was imported last when it said %q", i, got)
		}
	}
	if left := list(filepath.Join(dir, folder)); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A request that comes while its session is imported is imported after it.
func TestDrainMeanwhile(t *testing.T) {
	dir := t.TempDir()
	add := func(answer string) {
		if err := Add(dir, Request{Agent: "pi", Session: "s", Answer: answer}); err != nil {
			t.Fatal(err)
		}
	}
	add("one")
	var got []string
	failure := errors.New("failed")
	err := Drain(t.Context(), dir, func(_ context.Context, r Request) error {
		if got = append(got, r.Answer); len(got) == 1 {
			add("two")
			add("three")
			again := func(context.Context, Request) error { t.Error("imported twice"); return nil }
			if err := Drain(t.Context(), dir, again); err != nil {
				t.Error(err)
			}
			return failure
		}
		return nil
	})
	if !errors.Is(err, failure) || fmt.Sprint(got) != "[one three]" {
		t.Errorf("%v, %q", err, got)
	}
}

// A file is read once it holds the answer, even while it is being written; else when it is quiet.
func TestAwait(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(file, []byte("{\"text\":\"the \\\"answer\\\"\\nof <two> lines\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if !(Request{Transcript: file, Answer: "the \"answer\"\nof <two> lines"}).await(t.Context()) {
		t.Error("the answer is not seen")
	}
	if took := time.Since(began); took > waitQuiet/2 {
		t.Errorf("waited %v for what was there", took)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	Request{Transcript: file, Answer: "something else"}.await(t.Context())
	Request{Transcript: file + ".gone", Answer: "something else"}.await(t.Context())
	if took := time.Since(began); took > waitQuiet/2 {
		t.Errorf("waited %v for what is quiet or gone", took)
	}
	if (Request{Transcript: file, Answer: "another"}).holdsAnswer() {
		t.Error("another answer is there")
	}
}

func TestWatched(t *testing.T) {
	dir := t.TempDir()
	if IsWatched(dir) {
		t.Error("watched without a watch")
	}
	release, err := HoldWatch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !IsWatched(dir) {
		t.Error("not watched")
	}
	if release(); IsWatched(dir) {
		t.Error("still watched")
	}
}
