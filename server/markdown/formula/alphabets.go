package formula

import "strings"

// styles are the commands for alphabets, by the name of the alphabet that they set.
var styles = pairs(`mathrm normal mathup normal mathbf bold mathbb double mathcal script mathscr script mathfrak fraktur mathsf sans mathtt mono
mathit italic boldsymbol bolditalic bm bolditalic pmb bolditalic mathbfit bolditalic symbf bold Bbb double mathnormal plain`)

// alphabet is where an alphabet begins in Unicode: its capitals, small letters and digits,
// and the letters that were there before and so stand elsewhere.
type alphabet struct {
	upper, lower, digit rune
	elsewhere           string // pairs
}

var alphabets = map[string]alphabet{
	"bold":       {upper: 0x1D400, lower: 0x1D41A, digit: 0x1D7CE},
	"bolditalic": {upper: 0x1D468, lower: 0x1D482, digit: 0x1D7CE},
	"double": {upper: 0x1D538, lower: 0x1D552, digit: 0x1D7D8,
		elsewhere: "C ℂ H ℍ N ℕ P ℙ Q ℚ R ℝ Z ℤ"},
	"script": {upper: 0x1D49C, lower: 0x1D4B6,
		elsewhere: "B ℬ E ℰ F ℱ H ℋ I ℐ L ℒ M ℳ R ℛ e ℯ g ℊ o ℴ"},
	"fraktur": {upper: 0x1D504, lower: 0x1D51E, elsewhere: "C ℭ H ℌ I ℑ R ℜ Z ℨ"},
	"sans":    {upper: 0x1D5A0, lower: 0x1D5BA, digit: 0x1D7E2},
	"mono":    {upper: 0x1D670, lower: 0x1D68A, digit: 0x1D7F6},
}

// Where the Greek letters of two alphabets begin; α is the first of the small ones.
var greek = map[string]struct{ upper, lower rune }{"bold": {0x1D6A8, 0x1D6C2}, "bolditalic": {0x1D71C, 0x1D736}}

// styledText is text in an alphabet, as far as that has its letters.
func styledText(s, style string) string {
	a, ok := alphabets[style]
	if !ok {
		return s
	}
	elsewhere := pairs(a.elsewhere)
	var b strings.Builder
	for _, r := range s {
		g, hasGreek := greek[style]
		switch {
		case elsewhere[string(r)] != "":
			b.WriteString(elsewhere[string(r)])
		case r >= 'A' && r <= 'Z':
			b.WriteRune(a.upper + r - 'A')
		case r >= 'a' && r <= 'z':
			b.WriteRune(a.lower + r - 'a')
		case r >= '0' && r <= '9' && a.digit != 0:
			b.WriteRune(a.digit + r - '0')
		case hasGreek && r >= 'Α' && r <= 'Ω':
			b.WriteRune(g.upper + r - 'Α')
		case hasGreek && r >= 'α' && r <= 'ω':
			b.WriteRune(g.lower + r - 'α')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
