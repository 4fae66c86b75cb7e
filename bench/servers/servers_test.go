//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTimesOfPgbenchAreRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"log.1": "0 1 1500 0 1700000000 1\n1 1 2500 0 1700000000 2\n",
		"log.1.1": "2 1 500 0 1700000000 3\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	took, err := readLogged(filepath.Join(dir, "log"))
	if err != nil || len(took) != 3 || percentileMS(took, 0.99) != 2.5 || percentileMS(took, 0) != 0.5 {
		t.Errorf("%v, %v", took, err)
	}
	if _, err := readLogged(filepath.Join(dir, "none")); err == nil {
		t.Error("no log was read as one")
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.1"), []byte("0 1 skipped 0 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readLogged(filepath.Join(dir, "bad")); err == nil {
		t.Error("a word was read as a time")
	}
}

func TestReportHasMedians(t *testing.T) {
	r := &run{inputs: map[string]float64{"tend_ms": 0.5}}
	for _, v := range []float64{3, 1, 200} {
		r.addValue("a turn", sqlite, v, "ms")
	}
	r.addValue("a turn", postgres, 12.34, "ms")
	if all := r.numbers(); len(all) != 4 || all[2].What != "SQLite: a turn" || all[2].Round != 2 ||
		all[3].What != "PostgreSQL: a turn" || all[3].Round != 0 {
		t.Errorf("the numbers are %v", all)
	}
	got := r.writeReport()
	if !strings.Contains(got, "| a turn | 3.00 ms | 12.3 ms |") || !strings.Contains(got, `"tend_ms": 0.5`) {
		t.Errorf("the report is\n%s", got)
	}
}

// Two texts of one seed are the same, and the words that are searched for are in their share.
func TestTextsAreTheSameAgain(t *testing.T) {
	first := newWords(7)
	again := newWords(7)
	other := newWords(8)
	if text := first.makeText(); text != again.makeText() || text == other.makeText() {
		t.Error("texts do not follow their seed")
	}
	n := 0
	w := newWords(3)
	for i := range 1000 {
		if strings.Contains(fmt.Sprint(w.nthMessage(i).Parts), common) {
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d of 1,000 messages have the word of one in a hundred", n)
	}
}

func TestWhatCannotBeMeasuredIsRefused(t *testing.T) {
	r := &run{ctx: t.Context()}
	if err := r.runAll("", "", "mysql"); err == nil || !strings.Contains(err.Error(), "sqlite or postgres") {
		t.Errorf("without mysql: %v", err)
	}
	if err := runWorker(t.Context(), "{"); err == nil {
		t.Error("half a job was done")
	}
}
