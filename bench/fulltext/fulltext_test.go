//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
)

// All ways find the same, before a purge and after it, and counts of every size come back.
func TestWaysFindTheSame(t *testing.T) {
	dsn := postgrestest.NewDatabase(t)
	r := &run{ctx: t.Context(), documents: 200, batch: 64, rounds: 1, times: 1, dsn: dsn}
	var err error
	if r.pg, err = startCluster(r.ctx, dsn, ""); err != nil {
		t.Fatal(err)
	}
	defer func() {
		r.closeWays()
		if err := r.pg.closeCluster(); err != nil {
			t.Error(err)
		}
	}()
	if err := r.openWays(r.ctx, dsn); err != nil {
		t.Fatal(err)
	}
	if err := r.loadAll(); err != nil {
		t.Fatal(err)
	}
	often := driver.Document{Mark: driver.Mark{Place: driver.NewPlace(16, 1000), Role: "user", Length: 500}}
	for n, word := range map[int]string{300: "always", 255: "oftener", 254: "often", 2: "twice"} {
		often.Terms = append(often.Terms, strings.Split(strings.Repeat(word+" ", n-1)+word, " ")...)
	}
	for _, w := range r.ways {
		if err := w.putBatch(r.ctx, []driver.Document{often}); err != nil {
			t.Fatal(err)
		}
	}
	words := question{"words said often", driver.PostingQuery{Terms: []string{"always", "oftener", "often", "twice",
		"oft*", "al*"}}}
	if err := r.checkSame(words); err != nil {
		t.Error(err)
	}
	got, err := r.ways[1].findDocuments(r.ctx, words.query)
	if err != nil {
		t.Fatal(err)
	}
	var counts []uint8
	for _, p := range got {
		counts = append(counts, p.Counts...)
	}
	if want := []uint8{255, 255, 254, 2, 255, 255}; !slices.Equal(counts, want) {
		t.Errorf("counted %v, want %v", counts, want)
	}
	if err := r.askAll(); err != nil {
		t.Error(err)
	}
	if err := r.measurePurge(); err != nil {
		t.Error(err)
	}
	if report := r.writeReport(); !strings.Contains(report, "| a common term (10 %), p50, ms |") {
		t.Errorf("the report is\n%s", report)
	}
	if err := r.ways[2].hideBranches(r.ctx, []int64{2}); err != nil {
		t.Fatal(err)
	}
	if err := r.checkSame(r.listQuestions()[2]); err == nil || !strings.Contains(err.Error(), "fastupdate off finds") {
		t.Errorf("a way that finds less: %v", err)
	}
}

// Each count has a rank of its own.
func TestCountsOfRanks(t *testing.T) {
	for n := 1; n <= most; n++ {
		if got := countOf(float32(ranks[n-1])); int(got) != n {
			t.Fatalf("the rank of %d is that of %d", n, got)
		}
	}
}
