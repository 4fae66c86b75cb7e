package main

import (
	"os"
	"strings"
	"testing"
)

// Standing instructions are found and chatter is not, in sentences that no rule was made for.
func TestStandingInstructions(t *testing.T) {
	all, err := readSentences()
	if err != nil {
		t.Fatal(err)
	}
	held := measureSplit(all, "held", "")
	t.Logf("held: %+v", held)
	if held.precisionShare() < 90 || held.recallShare() < 90 {
		t.Errorf("held: precision %.1f, recall %.1f; both were at least 90", held.precisionShare(), held.recallShare())
	}
	for _, lang := range tongues {
		if f := measureSplit(all, "held", lang); f.precisionShare() < 85 || f.recallShare() < 85 {
			t.Errorf("held, %s: precision %.1f, recall %.1f; both were at least 85", lang, f.precisionShare(), f.recallShare())
		}
	}
	if late := measureSplit(all, "late", ""); late.precisionShare() < 85 || late.recallShare() < 85 {
		t.Errorf("late: precision %.1f, recall %.1f; both were at least 85", late.precisionShare(), late.recallShare())
	}
}

// Half of the sentences of each language and split are traps, and there are enough of them.
func TestLabelledSentences(t *testing.T) {
	all, err := readSentences()
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range tongues {
		for _, split := range splits {
			f := measureSplit(all, split, lang)
			keep := f.kept + f.missed
			drop := f.wrong + f.dropped
			if least := map[string]int{"dev": 60, "held": 60, "late": 10}[split]; keep < least || drop < least ||
				keep > 2*drop || drop > 2*keep {
				t.Errorf("%s, %s: %d to keep and %d to drop", lang, split, keep, drop)
			}
		}
	}
}

// The report says what is measured today.
func TestStandingReportIsCurrent(t *testing.T) {
	all, err := readSentences()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/RECALL.md")
	if err != nil {
		t.Fatal(err)
	}
	stays, err := keptReport()
	if err != nil {
		t.Fatal(err)
	}
	if want := standingReport(all) + stays; !strings.Contains(string(page), want) {
		t.Errorf("docs/RECALL.md has other figures for standing instructions than\n%s\n(go -C bench run ./recall -standing)",
			want)
	}
}
