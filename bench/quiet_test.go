//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A figure of a machine that was not quiet never takes the place of one that was, and every other does.
func TestMergeRows(t *testing.T) {
	still := quietness{date: "2026-01-02", others: 0.01, raw: "raw SQLite, p50", spread: 1.2}
	busy := quietness{date: "2026-01-03", others: 0.4, spread: 1}
	uneven := quietness{date: "2026-01-03", others: 0.01, raw: "raw SQLite, p50", spread: 3}
	unknown := quietness{}
	for _, c := range []struct {
		old, now quietness
		measured bool
		want     float64
	}{
		{still, busy, true, 1}, {still, uneven, true, 1}, {still, still, true, 2}, {busy, still, true, 2},
		{busy, uneven, true, 2}, {unknown, busy, true, 2}, {still, unknown, false, 1}, {unknown, unknown, false, 1},
	} {
		path := filepath.Join(t.TempDir(), "rows.csv")
		was := &bench{rows: []row{{"turn", "a turn", 0, 1, "ms"}, {"tokens", "English", 0, 7, "MB/s"}},
			quiet: map[string]quietness{"turn": c.old, "tokens": still}}
		if err := was.keepRows(path); err != nil {
			t.Fatal(err)
		}
		b := &bench{quiet: map[string]quietness{}}
		if c.measured {
			b.rows = []row{{"turn", "a turn", 0, 2, "ms"}}
			b.quiet["turn"] = c.now
		}
		if err := b.mergeRows(path); err != nil {
			t.Fatal(err)
		}
		got, _, ok := b.medianOf("turn", "a turn")
		if !ok || got != c.want {
			t.Errorf("%v, then %v: %v, want %v", c.old, c.now, got, c.want)
		}
		if v, _, _ := b.medianOf("tokens", "English"); v != 7 || b.quiet["tokens"] != still {
			t.Errorf("what was not measured is %v, %v", v, b.quiet["tokens"])
		}
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("figure,what,round,value,unit\nturn,a turn,0,1,ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{quiet: map[string]quietness{}}
	if err := b.mergeRows(path); err != nil || len(b.rows) != 1 || b.quiet["turn"].isQuiet() {
		t.Errorf("older rows: %v, %v, %v", b.rows, b.quiet, err)
	}
}

// Other programs, and rounds of a raw figure that differ, are what disturbs.
func TestQuietness(t *testing.T) {
	w := beginWatch()
	n := 0
	for i := range 50_000_000 { // of this process, which is no other
		n += i & 1
	}
	steady := []row{{"turn", rawTurn + ", p50", 0, 1, "ms"}, {"turn", rawTurn + ", p50", 1, 1.1, "ms"},
		{"turn", rawTurn + ", p99", 1, 90, "ms"}, {"turn", "whole turn, p50", 1, 90, "ms"}}
	if q := w.end(steady); q.spread > quietSpread || q.others < 0 || q.others > 1 {
		t.Errorf("steady rounds: %+v (%d)", q, n)
	}
	uneven := slices.Concat(steady, []row{{"turn", rawTurn + ", p50", 2, 9, "ms"}})
	if q := w.end(uneven); q.isQuiet() || q.raw != rawTurn+", p50" {
		t.Errorf("uneven rounds: %+v", q)
	}
}
