package columns

import (
	"strings"
	"testing"
)

// Text of any kind is cut into rows in time that grows with its length: one of these took a library
// a thousandth of a second for 500 bytes, and a second for 8,000.
func TestHostileText(t *testing.T) {
	const n = 50_000
	for _, bit := range []string{`"`, "a", " ", ".\"", "?)", "\u0301", "👩\u200d", "🇩", "中", "\u202e", "-", "\t", "0", "(", "\xff"} {
		for _, text := range []string{"." + strings.Repeat(bit, n/len(bit)), strings.Repeat(bit+". ", n/(len(bit)+2))} {
			rows := Wrap(text, 80)
			if got := strings.Join(rows, ""); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(strings.ReplaceAll(text, "\t", ""), " ", "") {
				t.Errorf("%q: something is lost", bit)
			}
			if got := Crop(text, 80); len(got) > len(text) || Width(got) > 80 {
				t.Errorf("%q: cropped to %d columns", bit, Width(got))
			}
			BreaksBefore(text, Width(text), 80)
		}
	}
}
