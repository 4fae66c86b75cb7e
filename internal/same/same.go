// Package same compares sentences by what they say rather than how they are written:
// case, white space, punctuation, full width and courtesies do not count; numbers,
// names, paths and negations do.
//
// Words it adds: form (a sentence without what does not count), clause (a piece of a
// sentence between commas, colons, brackets or "and"), turn (a word that changes what
// the rest of its sentence means).
//
// It may not know anything but text.
package same

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback/internal/wordtable"
)

// fillers are words that say nothing at the beginning or end of a clause.
var fillers = map[string]bool{"please": true, "also": true, "thanks": true, "thank": true, "ok": true, "okay": true,
	"so":       true,
	"remember": true, "note": true, "then": true, "请": true}

// courtesies are what is left out of Chinese text, where words are not separated.
var courtesies = strings.NewReplacer("请记住", "", "请记得", "", "记住", "", "记得", "", "麻烦你", "", "麻烦", "", "谢谢", "")

//go:embed words.tsv
var foreignFile string

// foreign has those of other languages than English and Chinese.
var foreign = wordtable.New("internal/same/words.tsv", foreignFile)

// turns are the words that change what a sentence means; in scripts without spaces
// any piece of a word counts.
var turns = foreign.Regexp(`(?i)\b(if|when|unless|except|but|only|not|no|never|cannot|without|until|once|instead|rather|however|\w+n['’]t|done|finished|completed|cancell?ed)\b` +
	`|如果|若|除|但|不|只|仅|别|没|无|未|勿|直到|完成|搞定|取消|{turn}`)

// HasTurn reports whether a sentence has a word that may turn the meaning of the rest.
func HasTurn(text string) bool { return turns().MatchString(text) }

// NormalForm returns the words of a text, each between spaces; Chinese, Japanese and Korean
// characters are words of their own. Text that differs in a fact has another form. It is
// empty if there are no words.
func NormalForm(text string) string {
	var all []string
	for _, c := range splitClauses(text) {
		all = append(all, c...)
	}
	return joinWords(all)
}

// Clauses returns the forms of the clauses of a text, without courtesies.
func Clauses(text string) []string {
	var out []string
	for _, words := range splitClauses(courtesies.Replace(text)) {
		for len(words) > 0 && fillers[words[0]] {
			words = words[1:]
		}
		for len(words) > 0 && (fillers[words[len(words)-1]] || words[len(words)-1] == "you" && len(words) == 1) {
			words = words[:len(words)-1]
		}
		if len(words) > 0 {
			out = append(out, joinWords(words))
		}
	}
	return out
}

// Key returns what two texts share that say the same.
func Key(text string) string { return strings.Join(Clauses(text), "") }

// IsWithin reports whether every clause of the first list stands in the second one, and
// nothing there turns what they mean: the first says the same, or less.
func IsWithin(part, whole []string) bool {
	if len(part) == 0 {
		return false
	}
	for _, p := range part {
		if !slices.Contains(whole, p) {
			return false
		}
	}
	return !slices.ContainsFunc(whole, func(w string) bool {
		return !slices.Contains(part, w) && (HasTurn(w) || HasTurn(strings.ReplaceAll(w, " ", "")))
	})
}

func joinWords(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}

// splitClauses cuts text into clauses, and these into words.
func splitClauses(text string) [][]string {
	c := clauseCutter{runes: []rune(text)}
	for i, r := range c.runes {
		c.runes[i] = plainRune(r)
	}
	for i := range c.runes {
		c.takeRune(i)
	}
	c.endClause()
	return c.out
}

// plainRune returns the plain form of a character: half width, in lower case.
func plainRune(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		r -= 0xfee0
	case r == '’' || r == '‘':
		r = '\''
	}
	return unicode.ToLower(r)
}

type clauseCutter struct {
	runes []rune
	word  []rune
	words []string
	out   [][]string
}

func (c *clauseCutter) flushWord() {
	if len(c.word) == 0 {
		return
	}
	w := string(c.word)
	c.word = nil
	if strings.Trim(w, inner) == "" { // an ellipsis, a dash
		return
	}
	if w == "and" || w == "&" {
		c.endClause()
		return
	}
	c.words = append(c.words, w)
}

// endClause ends a clause.
func (c *clauseCutter) endClause() {
	c.flushWord()
	if len(c.words) > 0 {
		c.out = append(c.out, c.words)
	}
	c.words = nil
}

// inner are marks that belong to a word where letters or digits follow, and outer those
// that also do at the end of one, as in C++ and 5%.
const (
	inner = `./\-_:,'@~`
	outer = `+#%$=<>^|&€£¥°`
)

func (c *clauseCutter) takeRune(i int) {
	r := c.runes[i]
	before := c.runeAt(i - 1)
	after := c.runeAt(i + 1)
	switch {
	case r >= 'a' && r <= 'z' || r >= '0' && r <= '9': // most of a text, which the rest would also find
		c.word = append(c.word, r)
	case r == ' ':
		c.flushWord()
	case isEastern(r):
		c.flushWord()
		c.words = append(c.words, string(r))
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) ||
		strings.ContainsRune(outer, r) && (c.isWordRune(before) || c.isWordRune(after)):
		c.word = append(c.word, r)
	case r == '?':
		c.flushWord()
		c.words = append(c.words, "?")
		c.endClause()
	case strings.ContainsRune(inner, r) && c.isInWord(r, before, after):
		c.word = append(c.word, r)
	case r == '.' && before != '.' && unicode.IsSpace(after):
		c.endClause()
	case strings.ContainsRune(",;:、。!()[]{}\n—", r):
		c.endClause()
	case unicode.IsSymbol(r) && !strings.ContainsRune("`~^+=<>|", r):
		c.flushWord()
		c.words = append(c.words, string(r))
	default:
		c.flushWord()
	}
}

// isInWord reports whether a mark is part of the word around it: between letters or digits,
// or in front of one, as in -5, .env and /etc.
func (c *clauseCutter) isInWord(r, before, after rune) bool {
	if strings.ContainsRune(":,'", r) {
		return isPlain(before) && isPlain(after)
	}
	if r == '.' && isPlain(before) {
		return isPlain(after)
	}
	return isPlain(after) || strings.ContainsRune("./-_", after) && !unicode.IsSpace(before) || r == '-' && after == '-' ||
		strings.ContainsRune(`./~`, r) && strings.ContainsRune("./", after)
}

// isPlain reports whether a character is a letter or digit that is written with others.
func isPlain(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !isEastern(r)
}

// isEastern reports whether a character is a word of its own.
func isEastern(r rune) bool {
	return r >= unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func (c *clauseCutter) isWordRune(r rune) bool {
	return isPlain(r) || r != 0 && strings.ContainsRune(outer, r)
}

func (c *clauseCutter) runeAt(i int) rune {
	if i < 0 || i >= len(c.runes) {
		return 0
	}
	return c.runes[i]
}
