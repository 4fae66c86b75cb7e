package columns

import (
	"strings"
	"testing"
)

// Text of any kind is cut into rows in time that grows with its length: one of these took a library
// a thousandth of a second for 500 bytes, and a second for 8,000.
func TestHostileText(t *testing.T) {
	const n = 50_000
	for _, bit := range []string{`"`, "a", " ", ".\"", "?)", "\u0301", "👩\u200d", "🇩", "中", "\u202e", "-", "\t", "0", "(",
		"\xff"} {
		for _, text := range []string{"." + strings.Repeat(bit, n/len(bit)), strings.Repeat(bit+". ", n/(len(bit)+2))} {
			rows := WrapLine(text, 80)
			if got := strings.Join(rows, ""); strings.ReplaceAll(got, " ",
				"") != strings.ReplaceAll(strings.ReplaceAll(text, "\t", ""), " ", "") {
				t.Errorf("%q: something is lost", bit)
			}
			if got := CropRow(text, 80); len(got) > len(text) || TextWidth(got) > 80 {
				t.Errorf("%q: cropped to %d columns", bit, TextWidth(got))
			}
			CountBreaks(text, TextWidth(text), 80)
		}
	}
}

// FuzzWrap cuts any text into rows that are narrow enough, and loses nothing but spaces.
func FuzzWrap(f *testing.F) {
	f.Add(".\"\"\"\"\" a", 3)
	f.Add("中文 \u0301👩\u200d🇩🇪\xff\t-", 2)
	bare := strings.NewReplacer(" ", "", "\t", "")
	f.Fuzz(func(t *testing.T, text string, width int) {
		if strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") || width < 2 || width > 500 {
			return
		}
		rows := WrapLine(text, width)
		if got := bare.Replace(strings.Join(rows, "")); got != bare.Replace(text) {
			t.Errorf("%q became %q", text, rows)
		}
	})
}
