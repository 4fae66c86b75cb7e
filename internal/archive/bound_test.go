package archive

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// Between two looks at the clock, little of a line is matched with a pattern that takes long for each byte.
func TestBigPatternsLookAtTheClock(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for pattern, most := range map[string]int{"a": windowBytes, "(x?y?z?a?b?){600}[cd]?": 3 << 10,
		"([ab]*){900}[cd]?": 6 << 10} {
		re, err := compilePattern(scrollback.GrepQuery{Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		scanning := grepTally{re: re}
		line := bytes.Repeat([]byte("a"), most+1)
		if _, _, ok := scanning.firstMatch(gone, line); ok {
			t.Errorf("%s: %d bytes were matched without a look at the clock", pattern, len(line))
		}
		if _, _, ok := scanning.firstMatch(t.Context(), line[:2000]); !ok {
			t.Errorf("%s: no match", pattern)
		}
		buf := []byte(strings.Repeat(strings.Repeat("a", 99)+"\n", 2000))
		if n := wholeLinesEnd(buf, 0, re.most); n > most || n%100 != 0 || n < 1000 {
			t.Errorf("%s: a window of %d bytes", pattern, n)
		}
	}
}
