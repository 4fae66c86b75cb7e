package marks

import (
	"unicode"
	"unicode/utf8"
)

// isUnseen reports whether r is drawn as nothing: controls, characters that text is
// directed, joined, varied or tagged with, fillers, and code points that are none.
func isUnseen(r rune) bool {
	switch {
	case r < ' ' || r >= 0x7F && r <= 0x9F:
		return r != '\n' && r != '\t'
	case r < 0xAD:
		return false
	case unicode.In(r, unicode.Prepended_Concatenation_Mark), r >= 0x13430 && r <= 0x1343F: // drawn, or part of what is
		return false
	}
	return r == '\u2028' || r == '\u2029' || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// isHidden reports whether the character r, n bytes at s[i:], is to be spelled out: it is
// unseen, and not where people write it.
func isHidden(s string, i int, r rune, n int) bool {
	if !isUnseen(r) {
		return false
	}
	before, size := utf8.DecodeLastRuneInString(s[:i])
	switch {
	case r == '\r':
		return i+1 == len(s) || s[i+1] != '\n'
	case unicode.Is(unicode.Variation_Selector, r):
		return !isVaried(before, r)
	case r == '\u200c' || r == '\u200d':
		if unicode.Is(unicode.Variation_Selector, before) {
			bare, _ := utf8.DecodeLastRuneInString(s[:i-size])
			if !isVaried(bare, before) {
				return true
			}
			before = bare
		}
		after, _ := utf8.DecodeRuneInString(s[i+n:])
		return !isJoined(before) && !(isPictured(before) && isPictured(after))
	}
	return true
}

// isVaried reports whether the selector is one that text puts behind a character: behind a
// Chinese one, a sign, a letter of some scripts, or the base of a keycap.
func isVaried(before, selector rune) bool {
	switch {
	case selector > 0xFFFF:
		return unicode.Is(unicode.Han, before)
	case before < utf8.RuneSelf:
		return before >= '0' && before <= '9' || before == '#' || before == '*'
	}
	return before != utf8.RuneError && !isUnseen(before) && !unicode.IsSpace(before) && !isOpening(before)
}

// unjoined are scripts whose letters are written without joiners.
var unjoined = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana,
	unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi, unicode.Common, unicode.Inherited}

// isJoined reports whether r is a letter of a script whose words are written with joiners,
// such as Persian and those of India.
func isJoined(r rune) bool {
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.M) && !isUnseen(r) && !unicode.In(r, unjoined...)
}

// isPictured reports whether r may be a part of an emoji.
func isPictured(r rune) bool {
	arrow := r >= 0x2190 && r <= 0x21FF
	skin := r >= 0x1F3FB && r <= 0x1F3FF
	return arrow || skin || r != utf8.RuneError && unicode.Is(unicode.So, r)
}
