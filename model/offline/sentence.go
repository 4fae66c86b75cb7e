package offline

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// sentenceRunes bounds a sentence; a longer one is cut at a space before it.
const sentenceRunes = 500

var (
	marks     = lazyregexp.New(`^(?:(?:#{1,6}|>|[-*])\s+)+`)
	shortened = wordSet("dr mr mrs ms no st vs etc e.g i.e fig approx")
)

// cutSentences cuts a text at line ends and at the marks that end a sentence, and
// leaves out Markdown's line marks.
func cutSentences(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(s) {
			line = marks().ReplaceAllString(strings.TrimSpace(line), "")
			for line != "" {
				n := sentenceEnd(line, hardLimit(line))
				if one := strings.TrimSpace(line[:n]); one != "" && !yield(one) {
					return
				}
				line = strings.TrimSpace(line[n:])
			}
		}
	}
}

// sentenceEnd returns the byte after the first sentence of line, most at most.
func sentenceEnd(line string, most int) int {
	for i, r := range line[:most] {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			continue
		}
		next, _ := utf8.DecodeRuneInString(line[end:])
		switch r {
		case '。', '！', '？', '；':
		case '!', '?':
			if next < 0x80 && (unicode.IsLetter(next) || unicode.IsDigit(next) || strings.ContainsRune("=&/?!", next)) {
				continue
			}
		case '.':
			if !endsSentence(line[:i], line[end:]) {
				continue
			}
		default:
			continue
		}
		rest := strings.TrimLeft(line[end:], "”’」』）)]】\"")
		return min(len(line)-len(rest), most)
	}
	return most
}

// endsSentence reports whether a full stop between the two texts ends a sentence.
func endsSentence(before, after string) bool {
	if after == "" {
		return true
	}
	rest := strings.TrimLeft(after, "”’)]\"")
	if first, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsSpace(first) {
		return false
	}
	if next, _ := utf8.DecodeRuneInString(strings.TrimSpace(rest)); unicode.IsLower(next) {
		return false
	}
	word := strings.ToLower(before[strings.LastIndexAny(before, " \t(")+1:])
	return !shortened[word] && (len(word) != 1 || unicode.IsDigit(rune(word[0])))
}

// hardLimit returns where a line must be cut at the latest, in bytes.
func hardLimit(line string) int {
	n := 0
	for i := range line {
		if n == sentenceRunes {
			if at := strings.LastIndexAny(line[:i], " \t,，、"); at > i/2 {
				_, size := utf8.DecodeRuneInString(line[at:])
				return at + size
			}
			return i
		}
		n++
	}
	return len(line)
}
