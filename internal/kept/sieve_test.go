package kept

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSieve holds expressions with a look before them against the same without: they find the same.
func TestSieve(t *testing.T) {
	var sentences []string
	for _, file := range []string{"kept-dev.tsv"} {
		raw, err := os.ReadFile("../../bench/recall/texts/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(raw)) {
			sentences = append(sentences, l[strings.LastIndex(l, "\t")+1:])
		}
	}
	all := []*expression{todos(), told(), struck(), hedge(), residue(), supposed(), ended(),
		changed(), loosening(), adding(), momentary(), denial(), affirmed(), final(), pointing()}
	for _, l := range []*language{inEnglish(), inChinese()} {
		for _, some := range []anyOf{l.veto, l.once, l.scope, l.asks, l.asked} {
			all = append(all, some...)
		}
		for _, r := range l.rules {
			all = append(append(all, r.match...), r.but...)
		}
	}
	found := 0
	for _, s := range sentences {
		v := makeSieve(s)
		for _, e := range all {
			want := e.Regexp.MatchString(s)
			if got := e.isIn(s, v); got != want {
				t.Errorf("%s: found is %v in %s", e, got, s)
			}
			if want {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d were found at all", found)
	}
}

func TestNeeds(t *testing.T) {
	for pattern, want := range map[string]string{
		`\bnot (?:yet|now)\b`: "not yet|not now",
		`(?i)Done.*list`:      "done",
		`[a-z]+ing`:           "ing",
		`(?:a|bc)d`:           "ad|bcd",
		`\w+|done`:            "",
		`x?`:                  "",
		`(?:still|yet)+ open`: " open",
		`[还還]没`:               "还没|還没",
	} {
		if got := strings.Join(makeExpression(regexp.MustCompile(pattern)).needs, "|"); got != want {
			t.Errorf("%s needs %q, not %q", pattern, got, want)
		}
	}
}
