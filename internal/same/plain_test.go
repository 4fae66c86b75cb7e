package same

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// plainClauses cuts a text as the package does, with lists of runes and words: slow, and easy to read.
func plainClauses(text string) (out [][]string) {
	all := []rune(text)
	for i, r := range all {
		all[i] = plainRune(r)
	}
	at := func(i int) rune {
		if i < 0 || i >= len(all) {
			return 0
		}
		return all[i]
	}
	var words []string
	word := ""
	endClause := func() {
		if len(words) > 0 {
			out = append(out, words)
		}
		words = nil
	}
	endWord := func() {
		switch w := word; {
		case strings.Trim(w, inner) == "":
		case w == "and" || w == "&":
			endClause()
		default:
			words = append(words, w)
		}
		word = ""
	}
	alone := func(r rune) {
		endWord()
		words = append(words, string(r))
	}
	var c clauseCutter
	for i, r := range all {
		before := at(i - 1)
		after := at(i + 1)
		switch {
		case isEastern(r):
			alone(r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) ||
			strings.ContainsRune(outer, r) && (c.isWordRune(before) || c.isWordRune(after)):
			word += string(r)
		case r == '?':
			alone(r)
			endClause()
		case strings.ContainsRune(inner, r) && c.isInWord(r, before, after):
			word += string(r)
		case r == '.' && before != '.' && unicode.IsSpace(after), strings.ContainsRune(",;:、。!()[]{}\n—", r):
			endWord()
			endClause()
		case unicode.IsSymbol(r) && !strings.ContainsRune("`~^+=<>|", r):
			alone(r)
		default:
			endWord()
		}
	}
	endWord()
	endClause()
	return out
}

func plainForm(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}

// The words and clauses of any text are those of the plain way.
func TestClausesAsPlain(t *testing.T) {
	pieces := strings.Split("please|thanks|you|and|&|AND|also|请|请记住|记得|谢谢|麻烦|中文|用 go|ok|C++|5%|...|--|.env|/etc/hosts|"+
		"it’s|１２|？|?|!|, |。|：|: |\n|\t| | |(|)|—|-|~|$3|a_b|x.y|'|`|é|日本|한|🙂|\xff|\x00|İ|ⅷ|=|<|remember|so|then", "|")
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		text := ""
		for range r.IntN(12) {
			text += pieces[r.IntN(len(pieces))]
			if r.IntN(2) == 0 {
				text += " "
			}
		}
		var clauses []string
		for _, words := range plainClauses(courtesies.Replace(text)) {
			for len(words) > 0 && fillers[words[0]] {
				words = words[1:]
			}
			for n := len(words); n > 0 && (fillers[words[n-1]] || words[n-1] == "you" && n == 1); n = len(words) {
				words = words[:n-1]
			}
			if len(words) > 0 {
				clauses = append(clauses, plainForm(words))
			}
		}
		if got := Clauses(text); !slices.Equal(got, clauses) {
			t.Fatalf("clauses of %q are %q, want %q", text, got, clauses)
		}
		if got, want := NormalForm(text), plainForm(slices.Concat(plainClauses(text)...)); got != want {
			t.Fatalf("the form of %q is %q, want %q", text, got, want)
		}
	}
}
