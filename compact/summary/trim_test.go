package summary

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lengthy returns a snapshot with lines of five words in three of its sections.
func lengthy(goals, facts, actions int) string {
	text := minutes("ship the boat")
	for title, n := range map[string]int{"Goal": goals, "Knowledge": facts, "Recent actions": actions} {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("- %s %d is this one", strings.Fields(title)[0], i))
		}
		text = strings.Replace(text, "## "+title+"\n- none", "## "+title+"\n"+strings.Join(lines, "\n"), 1)
		text = strings.Replace(text, "## "+title+"\n- ship the boat", "## "+title+"\n"+strings.Join(lines, "\n"), 1)
	}
	return text
}

// A summary that is a little too long stays as it is, and one that is longer loses lines of its
// longest sections; only what is far too long is refused, and comes with a shortened one.
func TestAnswersThatAreTooLong(t *testing.T) {
	for _, c := range []struct {
		bound                    int64
		untouched, shorter, long bool
	}{{300, true, false, false}, {214, true, false, false}, {206, true, false, false}, {195, false, true, false},
		{150, false, true, false}, {130, false, false, true}} {
		answer := lengthy(4, 20, 8) // of 216 words
		got, err := Snapshot().Accept(answer, Criteria{Count: words, Bound: c.bound})
		var long TooLong
		if errors.As(err, &long) != c.long || (err != nil) != c.long {
			t.Errorf("with a bound of %d: %v", c.bound, err)
			continue
		}
		if c.long {
			got = long.Text
		}
		if (got == answer) != c.untouched || !c.untouched && int64(words(got)) > c.bound {
			t.Errorf("with a bound of %d, of %d words came %d:\n%s", c.bound, words(answer), words(got), got)
		}
		for _, want := range []string{"- Goal 0 is", "- Goal 3 is", "- Knowledge 0 is", "- Recent 7 is", "## Tasks"} {
			if !strings.Contains(got, want) {
				t.Errorf("with a bound of %d, %q is not in\n%s", c.bound, want, got)
			}
		}
		if again, err := Snapshot().Accept(got, Criteria{Count: words, Bound: c.bound}); err != nil || again != got {
			t.Errorf("with a bound of %d, what was accepted becomes (%v)\n%s", c.bound, err, again)
		}
	}
}

// Whatever a summary holds, it is shortened to its bound, with all of its headings, and its lines
// are those that it had, or the beginning of one; the headings alone are the least.
func TestTrim(t *testing.T) {
	count := func(s string) int { return (len(s) + 3) / 4 }
	line := rapid.SampledFrom([]string{"- none", "- the key is 4711", "  - below the pot", "- " + strings.Repeat("钥匙在花盆下面", 20),
		"- run this\n  ```\n  ## Goal\n  make\n  ```", "- " + strings.Repeat("word ", 60), "  ```\n  code\n  ```"})
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]Form{Snapshot(), Rolling(""), Rolling("zh")}).Draw(t, "form")
		var b strings.Builder
		for _, s := range f.Sections {
			b.WriteString("## " + s.Heading + "\n" + strings.Join(rapid.SliceOfN(line, 1, 12).Draw(t, s.Heading), "\n") + "\n")
		}
		text := strings.TrimSuffix(b.String(), "\n")
		bound := int64(rapid.IntRange(20, 1200).Draw(t, "bound"))
		got := Trim(text, count, bound)
		if got == "" && bound < 150 {
			return
		}
		if int64(count(got)) > bound || (got == text) != (int64(count(text)) <= bound) {
			t.Fatalf("of %d tokens came %d, and %d are allowed:\n%s", count(text), count(got), bound, got)
		}
		for _, s := range f.Sections {
			if !strings.Contains("\n"+got+"\n", "\n## "+s.Heading+"\n") {
				t.Fatalf("the heading %s is not in\n%s", s.Heading, got)
			}
		}
		for l := range strings.SplitSeq(got, "\n") {
			bare := strings.TrimLeft(l, " ")
			if begins, clipped := strings.CutSuffix(bare, "…"); !strings.Contains(text+"\n", bare+"\n") &&
				!(clipped && strings.Contains(text, begins)) {
				t.Fatalf("the line %q is not in\n%s", l, text)
			}
		}
	})
}

// A long answer is shortened in time that grows with its length alone.
func TestTrimOfManyLines(t *testing.T) {
	var b strings.Builder
	for _, s := range Snapshot().Sections {
		b.WriteString("## " + s.Heading + "\n" + strings.Repeat("- a\n", 5000))
	}
	counted := 0
	count := func(s string) int { counted += len(s); return len(s) / 4 }
	if got := Trim(b.String(), count, 400); got == "" || counted > 8*b.Len() {
		t.Errorf("%d bytes are counted to shorten %d", counted, b.Len())
	}
}
