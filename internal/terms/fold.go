package terms

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:embed simplified.txt
var simplifiedText string

// The characters that simplified.txt lists are between these.
const firstHan, lastHan = 0x3400, 0x9fff

// simplified has the simplified form of each traditional character, 0 for others.
var simplified = sync.OnceValue(func() *[lastHan - firstHan + 1]uint16 {
	out := &[lastHan - firstHan + 1]uint16{}
	from := rune(0)
	for line := range strings.Lines(simplifiedText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, r := range strings.TrimSpace(line) {
			if from == 0 {
				from = r
				continue
			}
			out[from-firstHan] = uint16(r)
			from = 0
		}
	}
	return out
})

// FoldText brings a text to the form in which it is searched: full and half width, ligatures and
// composed letters as NFKC has them, traditional Chinese characters as simplified ones. Case
// stays.
func FoldText(s string) string {
	if isASCII(s) {
		return s
	}
	return simplify(norm.NFKC.String(s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// simplify replaces traditional characters.
func simplify(s string) string {
	table := simplified()
	for i, r := range s {
		if r >= firstHan && r <= lastHan && table[r-firstHan] != 0 {
			return s[:i] + strings.Map(func(r rune) rune {
				if r >= firstHan && r <= lastHan && table[r-firstHan] != 0 {
					return rune(table[r-firstHan])
				}
				return r
			}, s[i:])
		}
	}
	return s
}

// foldDense returns a dense term as it is stored. Most of them are so already.
func foldDense(s string) string {
	for _, r := range s {
		switch {
		case r >= 0x3041 && r <= 0x30ff, r >= 0xac00 && r <= 0xd7a3:
		case r >= firstHan && r <= lastHan:
			if simplified()[r-firstHan] != 0 {
				return simplify(s)
			}
		default:
			if plain := plainLetters(simplify(norm.NFKC.String(s))); plain != "" {
				return plain
			}
			return s
		}
	}
	return s
}

// foldWide returns a word with letters other than English as it is stored.
func foldWide(s string) string {
	return dropAccents(plainLetters(strings.ToLower(norm.NFKC.String(s))))
}

// latinLetters are letters that do not decompose, and what is typed for them on a keyboard without them.
var latinLetters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ł", "l", "ı", "i")

// dropAccents leaves the accents of Latin letters out: who looks for café may type cafe. In other scripts
// a mark may make another letter (й, が), and stays.
func dropAccents(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
		return s
	}
	var b strings.Builder
	latin := false
	for _, r := range norm.NFD.String(s) {
		if unicode.Is(unicode.Mn, r) {
			if latin {
				continue
			}
		} else {
			latin = unicode.Is(unicode.Latin, r)
		}
		b.WriteRune(r)
	}
	return latinLetters.Replace(norm.NFC.String(b.String()))
}

// plainLetters leaves out what a term may not hold: some letters are spelled out with spaces.
func plainLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, s)
}

// isVoicingMark returns marks that make one character with the one before: は and ゛ are ば.
func isVoicingMark(r rune) bool { return r == 'ﾞ' || r == 'ﾟ' || r == '\u3099' || r == '\u309a' }
