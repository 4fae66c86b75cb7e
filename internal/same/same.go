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
	"unicode/utf8"

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
	c := cutText(text)
	return string(c.form)
}

// Clauses returns the forms of the clauses of a text, without courtesies.
func Clauses(text string) []string {
	if strings.Contains(text, "记") || strings.Contains(text, "麻烦") || strings.Contains(text, "谢谢") {
		text = courtesies.Replace(text)
	}
	c := cutText(text)
	if len(c.ends) == 0 {
		return nil
	}
	// The clauses are pieces of one string, each with the space that it shares with the one before it.
	whole := string(c.form)
	out := make([]string, 0, len(c.ends))
	from := 0
	for _, to := range c.ends {
		if clause := trimFillers(whole[from : to+1]); clause != "" {
			out = append(out, clause)
		}
		from = to
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// trimFillers returns the form of a clause without the words at both ends that say nothing; empty if no others are
// left.
func trimFillers(form string) string {
	for len(form) > 1 {
		end := 1 + strings.IndexByte(form[1:], ' ')
		if !fillers[form[1:end]] {
			break
		}
		form = form[end:]
	}
	for len(form) > 1 {
		last := form[strings.LastIndexByte(form[:len(form)-1], ' ')+1 : len(form)-1]
		if !fillers[last] && form != " you " {
			return form
		}
		form = form[:len(form)-1-len(last)]
	}
	return ""
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

// cutText cuts text into words and clauses.
func cutText(text string) clauseCutter {
	c := clauseCutter{form: make([]byte, 0, len(text)+len(text)/8+16)}
	after := rune(0)
	width := 0
	if text != "" {
		after, width = nextRune(text)
	}
	for at := 0; at < len(text); {
		at += width
		r := after
		after = 0
		if at < len(text) {
			after, width = nextRune(text[at:])
		}
		c.takeRune(r, after)
		c.before = r
	}
	c.endClause()
	return c
}

// nextRune returns the plain form of the first character of a text, and how many bytes it takes there.
func nextRune(text string) (r rune, width int) {
	if b := text[0]; b < utf8.RuneSelf {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		return rune(b), 1
	}
	r, width = utf8.DecodeRuneInString(text)
	return plainRune(r), width
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

// clauseCutter cuts text into words, of which it writes the form: a space before each and one behind the last.
type clauseCutter struct {
	form   []byte
	ends   []int // of the clauses that have words: where in the form the space behind the last one is
	word   int   // where the word that is being read begins in the form; 0 for none
	from   int   // where the words of this clause begin
	before rune  // that was taken last; 0 at the beginning
}

// add adds a character to the word that is being read.
func (c *clauseCutter) add(r rune) {
	if c.word == 0 {
		if len(c.form) == 0 {
			c.form = append(c.form, ' ')
		}
		c.word = len(c.form)
	}
	if r < utf8.RuneSelf {
		c.form = append(c.form, byte(r))
		return
	}
	c.form = utf8.AppendRune(c.form, r)
}

// addWord adds a word of one character.
func (c *clauseCutter) addWord(r rune) {
	c.flushWord()
	c.add(r)
	c.form = append(c.form, ' ')
	c.word = 0
}

func (c *clauseCutter) flushWord() {
	if c.word == 0 {
		return
	}
	w := c.form[c.word:]
	switch {
	case isOnlyInner(w): // an ellipsis, a dash
		c.form = c.form[:c.word]
		c.word = 0
	case string(w) == "and" || string(w) == "&":
		c.form = c.form[:c.word]
		c.word = 0
		c.endClause()
	default:
		c.form = append(c.form, ' ')
		c.word = 0
	}
}

// isOnlyInner reports whether a word has nothing but marks that belong to words.
func isOnlyInner(w []byte) bool {
	for _, b := range w {
		if strings.IndexByte(inner, b) < 0 {
			return false
		}
	}
	return true
}

// endClause ends a clause.
func (c *clauseCutter) endClause() {
	c.flushWord()
	if end := len(c.form) - 1; end > c.from {
		c.ends = append(c.ends, end)
		c.from = end
	}
	if len(c.form) == 1 { // no word came after all
		c.form = c.form[:0]
	}
}

// inner are marks that belong to a word where letters or digits follow, and outer those
// that also do at the end of one, as in C++ and 5%.
const (
	inner = `./\-_:,'@~`
	outer = `+#%$=<>^|&€£¥°`
)

// takeRune takes the next character, where after follows it.
func (c *clauseCutter) takeRune(r, after rune) {
	before := c.before
	switch {
	case r >= 'a' && r <= 'z' || r >= '0' && r <= '9': // most of a text, which the rest would also find
		c.add(r)
	case r == ' ':
		c.flushWord()
	case isEastern(r):
		c.addWord(r)
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) ||
		strings.ContainsRune(outer, r) && (c.isWordRune(before) || c.isWordRune(after)):
		c.add(r)
	case r == '?':
		c.addWord(r)
		c.endClause()
	case strings.ContainsRune(inner, r) && c.isInWord(r, before, after):
		c.add(r)
	case r == '.' && before != '.' && unicode.IsSpace(after):
		c.endClause()
	case strings.ContainsRune(",;:、。!()[]{}\n—", r):
		c.endClause()
	case unicode.IsSymbol(r) && !strings.ContainsRune("`~^+=<>|", r):
		c.addWord(r)
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
