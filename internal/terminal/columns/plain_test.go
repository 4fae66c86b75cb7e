package columns

import (
	"strings"
	"testing"
)

// However a text comes in pieces, a terminal is shown what StripControls makes of the whole.
func TestWriter(t *testing.T) {
	const text = "two\nlines\t中文 🙂 \x1b]0;title\a \u009b31m \u202e end"
	for n := 1; n < len(text); n++ {
		var got strings.Builder
		w := PlainWriter(&got)
		for rest := text; rest != ""; {
			piece := rest[:min(n, len(rest))]
			if written, err := w.Write([]byte(piece)); written != len(piece) || err != nil {
				t.Fatal(written, err)
			}
			rest = rest[len(piece):]
		}
		if got.String() != StripControls(text) {
			t.Errorf("in pieces of %d: %q, want %q", n, got.String(), StripControls(text))
		}
	}
}
