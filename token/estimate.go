package token

// Estimate is about how many o200k tokens s has, without the tokenizer: what each
// character costs by its script and place, added up. Appending never lowers it,
// and no character costs more than a few tokens. The costs, in thousandths of a
// token, were fitted on English and Chinese prose, code, JSON and Markdown; there
// its median error is about 2 %, and 6 % in nine of ten files.
func Estimate(s string) int {
	// run: letters or digits since the last other character
	total := 0
	run := 0
	last := none
	for _, r := range s {
		k := kindOf(r)
		if k != last {
			run = 0
		}
		total += k.cost(run)
		run++
		last = k
	}
	return (total + 999) / 1000
}

type kind uint8

const (
	none kind = iota
	space
	line
	letter
	digit
	mark // ASCII punctuation
	alphabet
	syllable // kana, hangul
	han
	wide // whatever else: CJK punctuation, emoji, rare scripts
)

func kindOf(r rune) kind {
	switch {
	case r == ' ':
		return space
	case r < ' ':
		return line
	case r|0x20 >= 'a' && r|0x20 <= 'z':
		return letter
	case r >= '0' && r <= '9':
		return digit
	case r < 0x80:
		return mark
	case r < 0x800:
		return alphabet
	case r >= 0x3040 && r < 0x3100, r >= 0xac00 && r < 0xd7b0:
		return syllable
	case r >= 0x3400 && r < 0xa000:
		return han
	}
	return wide
}

// longWord is where a run of letters stops looking like a word: what follows is
// cut into short pieces, as base64 is.
const longWord = 14

// cost of one more character of a kind after run of it, in thousandths.
func (k kind) cost(run int) int {
	switch k {
	case space:
		return 178
	case line:
		return 654
	case letter:
		switch {
		case run == 0:
			return 600
		case run < longWord:
			return 92
		}
		return 450
	case digit:
		if run%3 == 0 {
			return 1000
		}
		return 20
	case mark:
		return 516
	case alphabet:
		return 450
	case syllable:
		return 800
	case han:
		return 735
	}
	return 1300
}
