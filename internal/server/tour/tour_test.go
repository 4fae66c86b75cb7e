package tour

import (
	"bufio"
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

var someday = time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC)

func written(t *testing.T, lang string, now time.Time) []transcriptLine {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSample(&out, lang, now); err != nil {
		t.Fatal(err)
	}
	var ls []transcriptLine
	in := bufio.NewScanner(&out)
	for in.Scan() {
		var l transcriptLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Role != "" {
			ls = append(ls, l)
		}
	}
	return ls
}

// The sample has the length it claims, takes turns, goes forward in time and ends before now.
func TestWrite(t *testing.T) {
	for _, lang := range []string{"en", "zh-CN", "fr", ""} {
		ls := written(t, lang, someday)
		if len(ls) != Messages {
			t.Fatalf("%q: %d messages", lang, len(ls))
		}
		for i, l := range ls {
			if want := []string{"user", "assistant"}[i%2]; l.Role != want || l.Content == "" {
				t.Fatalf("%q: message %d is %+v", lang, i+1, l)
			}
			if i > 0 && l.CreatedAt < ls[i-1].CreatedAt {
				t.Fatalf("%q: message %d is older than the one before", lang, i+1)
			}
		}
		if last := ls[len(ls)-1].CreatedAt; last >= someday.UnixMilli() {
			t.Errorf("%q: the newest message is of %d, after now", lang, last)
		}
	}
}

// Each decision is said once, and the same day gives the same bytes.
func TestDecisions(t *testing.T) {
	for lang, s := range map[string]story{"en": english, "zh": chinese} {
		ls := written(t, lang, someday)
		for _, d := range s.decisions {
			said := 0
			for _, l := range ls {
				if l.Content == d[0] {
					said++
				}
			}
			if said != 1 {
				t.Errorf("%s: %q is said %d times", lang, d[0], said)
			}
		}
		again := written(t, lang, someday.Add(3*time.Hour))
		for i := range ls {
			if ls[i] != again[i] {
				t.Fatalf("%s: message %d differs on the same day", lang, i+1)
			}
		}
	}
}

// No reading is above the limit that the talk sets, since none is reported.
func TestResiduals(t *testing.T) {
	for lang, said := range map[string]string{"en": `\b(\d+\.\d) cm( \||\.$)`, "zh": `(\d+\.\d) 厘米( \||。$)`} {
		within := regexp.MustCompile(said)
		found := 0
		for i, l := range written(t, lang, someday) {
			if !strings.Contains(l.Content, "|---") && !strings.Contains(l.Content, "```go") {
				continue
			}
			for _, m := range within.FindAllStringSubmatch(l.Content, -1) {
				if found++; m[1] >= "2.5" {
					t.Fatalf("%s: message %d has a residual of %s cm", lang, i+1, m[1])
				}
			}
		}
		if found < 300 {
			t.Errorf("%s: only %d residuals", lang, found)
		}
	}
}

// No template is filled with the wrong kind of value.
func TestTemplates(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		for i, l := range written(t, lang, someday) {
			if strings.Contains(l.Content, "%!") || strings.Contains(l.Content, "(MISSING)") {
				t.Fatalf("%s: message %d: %s", lang, i+1, l.Content)
			}
		}
	}
}
