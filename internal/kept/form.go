package kept

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/wordtable"
)

// class is a set of kinds of words, as bits.
type class [2]uint64

func (c class) meets(other class) bool { return c[0]&other[0]|c[1]&other[1] != 0 }
func (c class) with(other class) class { return class{c[0] | other[0], c[1] | other[1]} }

// token is a word or a phrase of a sentence (of Chinese, the longest that the lexicon has, or one
// character), or what stands between clauses.
type token struct {
	text string
	is   class
	id   int // of the word, if the lexicon has it; else 0
}

// wordSieve is which words there are, by their numbers; others may share a bit.
type wordSieve [4]uint64

func (w wordSieve) meets(other wordSieve) bool {
	return w[0]&other[0]|w[1]&other[1]|w[2]&other[2]|w[3]&other[3] != 0
}

func (w *wordSieve) add(id int) { w[id/64%4] |= 1 << (id % 64) }

// pause is the class of what stands between clauses.
var pause = class{1}

// grammar is a lexicon and the forms of sentences over it.
type grammar struct {
	classes map[string]class
	lexicon map[string]entry
	longest map[string]int // of the phrases that begin with a word, in bytes
	endings []ending
	dense   bool // words are not separated
	forms   map[string][]form
}

// entry is a word of the lexicon.
type entry struct {
	is class
	id int // from 1
}

// ending is how words of a class end that no list can have, such as the names of illnesses.
type ending struct {
	text string
	is   class
}

// form is how a sentence, or a part of it, may be put together.
type form struct {
	words   string // as it is written in the table
	steps   []step
	needs   []step // one token of each must be there, or the form is not tried
	without step   // what must not be there
}

// step is one place of a form. Its mode is 0 where it takes one token; else it may be missing (?), come any number of
// times (*), or is what must not be next (!) or anywhere (-); or it stands for no word at all: a clause begins (^) or
// ends ($), any token (_), any or none (~), any number of them within the clause (.) or beyond it (:).
type step struct {
	is    class // a token of one of these
	words []int // or one of these
	sieve wordSieve
	mode  byte
}

func (s *step) takes(t token) bool {
	return t.is.meets(s.is) || t.id != 0 && slices.Contains(s.words, t.id)
}

// isAmong reports whether a step takes one of the tokens of a sentence.
func (s *step) isAmong(in sentence) bool {
	return in.is.meets(s.is) || in.words.meets(s.sieve) && slices.ContainsFunc(in.tokens, s.takes)
}

var (
	englishGrammar = sync.OnceValue(func() *grammar { return readForms("english", false) })
	chineseGrammar = sync.OnceValue(func() *grammar { return readForms("chinese", true) })
)

// readForms reads a grammar from a table: rows of part "word" have the words of a class, those of part "ending" how
// others of it end, those of part "form" what is said in that form. A form has, between spaces, classes in capitals
// and words, with | for or, and ? or * behind what may be missing or repeated; ^ and $ where a clause begins and
// ends; _ for any word and _? for any or none, .. for anything within the clause and ... for anything; ! before what
// must not come next, - before what must not stand anywhere.
func readForms(language string, dense bool) *grammar {
	g := &grammar{
		classes: map[string]class{"PAUSE": pause},
		lexicon: map[string]entry{},
		longest: map[string]int{},
		dense:   dense,
		forms:   map[string][]form{},
	}
	name := language + ".forms.tsv"
	raw, err := tables.ReadFile("rules/" + name)
	if err != nil {
		panic("kept: " + err.Error())
	}
	rows := wordtable.Read(name, string(raw))
	for _, r := range rows {
		if r.Part == "word" || r.Part == "ending" {
			c, known := g.classes[r.Rule]
			if !known {
				n := len(g.classes)
				if n == 128 {
					panic(name + " has more classes than bits")
				}
				c[n/64] = 1 << (n % 64)
				g.classes[r.Rule] = c
			}
			for w := range strings.SplitSeq(r.Pattern, "|") {
				if r.Part == "ending" {
					g.endings = append(g.endings, ending{w, c})
				} else {
					g.addWord(w, c)
				}
			}
		}
	}
	for _, r := range rows {
		if r.Part == "form" {
			g.forms[r.Rule] = append(g.forms[r.Rule], g.makeForm(name, r.Pattern))
		}
	}
	return g
}

func (g *grammar) addWord(w string, c class) {
	e := g.lexicon[w]
	if e.id == 0 {
		e.id = len(g.lexicon) + 1
	}
	e.is = e.is.with(c)
	g.lexicon[w] = e
	first := g.firstUnit(w)
	g.longest[first] = max(g.longest[first], len(w))
}

// firstUnit returns the first word of a text, or the first character where words are not separated.
func (g *grammar) firstUnit(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if !isWordRune(r) || isHan(r) {
		return s[:n]
	}
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !isWordRune(r) && r != '\'' || isHan(r) {
			break
		}
		n += size
	}
	return s[:n]
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (g *grammar) makeForm(name, words string) form {
	f := form{words: words}
	for w := range strings.FieldsSeq(words) {
		var s step
		switch w {
		case "^", "$", "_":
			s.mode = w[0]
		case "_?":
			s.mode = '~'
		case "..":
			s.mode = '.'
		case "...":
			s.mode = ':'
		default:
			switch last := w[len(w)-1]; {
			case w[0] == '!' || w[0] == '-':
				s.mode = w[0]
				w = w[1:]
			case last == '?' || last == '*':
				s.mode = last
				w = w[:len(w)-1]
			}
			for one := range strings.SplitSeq(w, "|") {
				if one == strings.ToUpper(one) && one != strings.ToLower(one) {
					c, known := g.classes[one]
					if !known {
						panic(name + " has no class " + one)
					}
					s.is = s.is.with(c)
					continue
				}
				one = strings.ReplaceAll(one, "_", " ")
				g.addWord(one, class{})
				id := g.lexicon[one].id
				s.words = append(s.words, id)
				s.sieve.add(id)
			}
		}
		if s.mode == '-' {
			f.without.is = f.without.is.with(s.is)
			f.without.words = append(f.without.words, s.words...)
			for _, id := range s.words {
				f.without.sieve.add(id)
			}
			continue
		}
		if s.mode == 0 {
			f.needs = append(f.needs, s)
		}
		f.steps = append(f.steps, s)
	}
	return f
}

// sentence is a text in tokens.
type sentence struct {
	tokens []token
	is     class // of all of them
	words  wordSieve
}

func (s *sentence) add(t token) {
	s.tokens = append(s.tokens, t)
	s.is = s.is.with(t.is)
	if t.id != 0 {
		s.words.add(t.id)
	}
}

// read cuts a folded text into tokens.
func (g *grammar) read(s string) sentence {
	out := sentence{tokens: make([]token, 0, len(s)/4+1)}
	if strings.Contains(s, "-") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, " - ", ", "), "-", " ")
	}
	s = strings.TrimRightFunc(s, func(r rune) bool { return !isWordRune(r) }) // what is at the end divides nothing
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == ' ' || r == '\'' || r == '*' || r == '_' {
			s = s[size:]
			continue
		}
		n := len(g.firstUnit(s))
		t := token{text: s[:n]}
		if !isWordRune(r) {
			t.is = pause
		} else if longest := g.longest[t.text]; longest > 0 {
			for end := min(longest, len(s)); end >= n; end-- {
				if end < len(s) && (!utf8.RuneStart(s[end]) || isWordBreak(s, end)) {
					continue
				}
				if e, known := g.lexicon[s[:end]]; known {
					t = token{s[:end], e.is, e.id}
					break
				}
			}
		}
		before := token{}
		if len(out.tokens) > 0 {
			before = out.tokens[len(out.tokens)-1]
		}
		t.is = t.is.with(g.classByShape(t, before))
		out.add(t)
		s = s[len(t.text):]
	}
	return out
}

// classByShape returns the classes that a token has by its letters: a number, a word with an ending, a verb in the
// past tense. A participle behind an article, a preposition or a form of "be" tells no past.
func (g *grammar) classByShape(t, before token) (out class) {
	if t.text[0] >= '0' && t.text[0] <= '9' {
		out = out.with(g.classes["NUM"])
	}
	for _, e := range g.endings {
		if strings.HasSuffix(t.text, e.text) && len(t.text) > len(e.text)+2 {
			out = out.with(e.is)
		}
	}
	if g.dense {
		return out
	}
	base := pasts[t.text]
	participle := base == "" && t.is == class{} && len(t.text) > 4 && strings.HasSuffix(t.text, "ed") &&
		!strings.HasSuffix(t.text, "eed")
	if base != "" && base != t.text || participle && !before.is.meets(g.classes["DET"]) {
		out = out.with(g.classes["PAST"])
	}
	return out
}

// isWordBreak reports whether a cut would divide a word that is written with an alphabet.
func isWordBreak(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	return isWordRune(before) && !isHan(before) && (isWordRune(after) && !isHan(after) || after == '\'')
}

// has reports whether a sentence has one of the forms of a name.
func (g *grammar) has(name string, s sentence) bool { return g.find(name, s) != "" }

// find returns the first form of a name that a sentence has.
func (g *grammar) find(name string, s sentence) string {
	forms := g.forms[name]
	for i := range forms {
		if forms[i].isIn(s) {
			return forms[i].words
		}
	}
	return ""
}

func (f *form) isIn(s sentence) bool {
	if s.is.meets(f.without.is) {
		return false
	}
	for i := range f.needs {
		if !f.needs[i].isAmong(s) {
			return false
		}
	}
	if s.words.meets(f.without.sieve) && slices.ContainsFunc(s.tokens, f.without.takes) {
		return false
	}
	for i := range s.tokens {
		if len(f.steps) == 0 || follow(s.tokens, i, f.steps) {
			return true
		}
	}
	return false
}

// follow reports whether steps lead on from a token.
func follow(all []token, i int, steps []step) bool {
	if len(steps) == 0 {
		return true
	}
	s := &steps[0]
	rest := steps[1:]
	here := i < len(all)
	switch s.mode {
	case '^':
		return (i == 0 || all[i-1].is.meets(pause)) && follow(all, i, rest)
	case '$':
		return (!here || all[i].is.meets(pause)) && follow(all, i, rest)
	case '_':
		return here && !all[i].is.meets(pause) && follow(all, i+1, rest)
	case '~':
		return here && !all[i].is.meets(pause) && follow(all, i+1, rest) || follow(all, i, rest)
	case '!':
		return !(here && s.takes(all[i])) && follow(all, i, rest)
	case '?':
		return here && s.takes(all[i]) && follow(all, i+1, rest) || follow(all, i, rest)
	case '*':
		for ; i < len(all) && s.takes(all[i]); i++ {
			if follow(all, i, rest) {
				return true
			}
		}
		return follow(all, i, rest)
	case '.', ':':
		for ; ; i++ {
			if follow(all, i, rest) {
				return true
			}
			if i >= len(all) || s.mode == '.' && all[i].is.meets(pause) {
				return false
			}
		}
	}
	return here && s.takes(all[i]) && follow(all, i+1, rest)
}

// hasTrait reports whether a sentence has a form of the table for what is so about a person.
func (g *grammar) hasTrait(s string, words sentence) bool {
	asks := isQuestion(s)
	if asks {
		words = words.beforeLastClause()
	}
	if g.has("never trait", words) {
		return false
	}
	clauses := g.clausesOf(words)
	if g.isTrait(words) || slices.ContainsFunc(clauses, g.isTrait) {
		return true
	}
	return !asks && !strings.HasSuffix(s, "!") && (g.isHabit(words) || slices.ContainsFunc(clauses, g.isHabit))
}

// isSure reports whether a sentence has a form that decides by itself.
func (g *grammar) isSure(words sentence) bool {
	return g.has("sure trait", words) && !g.has("no trait", words) && !g.has("never trait", words)
}

func (g *grammar) isTrait(s sentence) bool { return g.has("trait", s) && !g.has("no trait", s) }

// isHabit reports whether a sentence tells what somebody does, in the present, of no time and no thing at hand:
// where nothing else is asked or exclaimed, that is so about them.
func (g *grammar) isHabit(s sentence) bool { return g.has("habit", s) && !g.has("no trait", s) }

// beforeLastClause returns what stands before the last clause, without the marks at the end.
func (s sentence) beforeLastClause() sentence {
	end := len(s.tokens)
	for end > 0 && s.tokens[end-1].is.meets(pause) {
		end--
	}
	for end > 0 && !s.tokens[end-1].is.meets(pause) {
		end--
	}
	var out sentence
	for _, t := range s.tokens[:end] {
		out.add(t)
	}
	return out
}

// clausesOf returns the clauses of a sentence, if it has more than one: what is said of today does not speak against
// what another says of every day.
func (g *grammar) clausesOf(s sentence) []sentence {
	var out []sentence
	c := sentence{tokens: s.tokens[:0]} // what is added is what stands there
	ends := pause.with(g.classes["BREAK"])
	for i, t := range s.tokens {
		if !t.is.meets(ends) {
			c.add(t)
			if i < len(s.tokens)-1 {
				continue
			}
		}
		if len(c.tokens) > 1 {
			out = append(out, c)
		}
		c = sentence{tokens: s.tokens[i+1 : i+1]}
	}
	if len(out) == 1 && len(out[0].tokens) == len(s.tokens) {
		return nil
	}
	return out
}
