package kept

import (
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// rule finds one kind of instruction.
type rule struct {
	name  string
	cues  []string // strings, separated by |; the rule is tried only if the sentence holds one of them
	match []string // expressions; one of them is found
	but   []string // expressions; none of them is found
}

// language is the rules of one, read when a sentence of it first comes.
type language struct {
	cues  map[rune][]ruleCue
	idiom *expression // taken out before anything is matched
	veto  anyOf
	scope anyOf // what makes a sentence hold beyond the next answer in spite of once
	once  anyOf // what limits a sentence to the next answer
	asks  anyOf // a question
	asked anyOf // a question that is a request
	rules []compiledRule
	lasts uint64 // those whose cues say how long something holds, as bits
}

type compiledRule struct{ match, but anyOf }

// anyOf are expressions of which one is to be found. Each is tried by itself: regexp is an
// order of magnitude slower with one that is long.
type anyOf []*expression

func (f anyOf) isIn(s string, v *sieve) bool {
	return slices.ContainsFunc(f, func(e *expression) bool { return e.isIn(s, v) })
}

// ruleCue is a cue's text and the rules that it calls, as bits.
type ruleCue struct {
	text  string
	rules uint64
}

// languageGrammar is a language as it is written down.
type languageGrammar struct {
	idiom, veto, scope, once, asks, asked []string
	rules                                 []rule
}

func (g languageGrammar) makeLanguage() *language {
	l := &language{cues: map[rune][]ruleCue{}, idiom: makeExpression(regexp.MustCompile(strings.Join(g.idiom, "|"))),
		veto:  compileForms(g.veto),
		scope: compileForms(g.scope), once: compileForms(g.once), asks: compileForms(g.asks), asked: compileForms(g.asked)}
	for i, r := range g.rules {
		l.rules = append(l.rules, compiledRule{compileForms(r.match), compileForms(r.but)})
		if r.name == "lasting" {
			l.lasts |= 1 << i
		}
		for text := range strings.SplitSeq(strings.Join(r.cues, "|"), "|") {
			first, _ := utf8.DecodeRuneInString(text)
			l.cues[first] = append(l.cues[first], ruleCue{text, 1 << i})
		}
	}
	return l
}

func compileForms(of []string) anyOf {
	out := make(anyOf, len(of))
	for i, s := range of {
		out[i] = makeExpression(regexp.MustCompile(s))
	}
	return out
}

var (
	inEnglish  = sync.OnceValue(func() *language { return readGrammar("english").makeLanguage() })
	inChinese  = sync.OnceValue(func() *language { return readGrammar("chinese").makeLanguage() })
	inJapanese = sync.OnceValue(func() *language { return readGrammar("japanese").makeLanguage() })
	inKorean   = sync.OnceValue(func() *language { return readGrammar("korean").makeLanguage() })
)

var (
	// quoted is what somebody else said, or what is only named.
	quoted = lazyregexp.New("\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|《[^》]*》|`[^`]*`|\"[^\"]*$|“[^”]*$|「[^」]*$")
	// code is a line of a program, a command or a log.
	code = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:error|warn(?:ing)?|fatal|info|debug|\w*exception|错误|警告|` + logWords() + `) ?:|[{;]$|^[})\]]|` +
			`^(?://|/\*|\$ |>>> |if \(|for \(|assert |raise |throw |return |import |def |func |class |const \w+ =|let \w+ =|var \w+ =|` +
			`git |npm |pip |docker )|=> |&&|\|\||[=!]=|\w\([^)]*\)[;:]?$|<\/\w+>`)
	})
)

// numbered is the number of an entry of a list.
var numbered = lazyregexp.New(`^[ >]*\d{1,2}[.)] +`)

// quoteMarks begin everything that quoted finds.
const quoteMarks = "\"“「『《`"

// hasInstruction reports whether a sentence of a person has the form of an instruction. Most sentences have no cue,
// and cost one look at each of their letters.
func hasInstruction(sentence string) bool {
	s, ok := personText(sentence)
	if !ok {
		return false
	}
	l := detectLanguage(s)
	if s = foldText(s, l == inChinese()); s == "" {
		return false
	}
	called := l.calledRules(s)
	return called != 0 && l.judgeSentence(s, called)
}

// personText takes off what stands before the text of a person's line, and says whether it is a person's.
func personText(s string) (string, bool) {
	s = strings.TrimSpace(s)
	rest, listed := strings.CutPrefix(s, "- #")
	if !listed {
		return s, true
	}
	head, text, found := strings.Cut(rest, ": ")
	seq, role, spaced := strings.Cut(head, " ")
	if !found || !spaced || strings.Trim(seq, "0123456789") != "" {
		return s, true
	}
	return text, role == "user"
}

// detectLanguage finds the language by its letters. A Chinese sentence may hold English words, and
// the other way round: the more of them decide, a Chinese character being as much as a word.
func detectLanguage(s string) *language {
	words := 0
	han := 0
	kana := 0
	hangul := 0
	inWord := false
	for _, r := range s {
		letter := r < utf8.RuneSelf && unicode.IsLetter(r)
		if letter && !inWord {
			words++
		}
		inWord = letter || inWord && (r == '\'' || r == '’')
		switch {
		case r < 0x3040:
		case r <= 0x30ff:
			kana++
		case r >= 0x3400 && r <= 0x9fff:
			han++
		case r >= 0xac00 && r <= 0xd7a3:
			hangul++
		}
	}
	switch {
	case words > han+kana+hangul:
		return inEnglish()
	case hangul > han+kana:
		return inKorean()
	case kana > 0:
		return inJapanese()
	case han > 0:
		return inChinese()
	}
	return inEnglish()
}

// foldText brings letters to one form: lower case, plain punctuation, simplified characters.
func foldText(s string, simplify bool) string {
	if simplify {
		s = terms.FoldText(s)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
		case r == '’':
			return '\''
		case r > 0xff00 && r < 0xff5f:
			return unicode.ToLower(r - 0xff00 + ' ')
		case r == '\u3000' || r == '\u00a0':
			return ' '
		}
		return r
	}, s)
}

// calledRules lists the rules of which s holds a cue, as bits. A cue of Latin letters begins a word.
func (l *language) calledRules(s string) uint64 {
	var out uint64
	before := ' '
	for i, r := range s {
		if r >= utf8.RuneSelf || !isWord(before) {
			for _, c := range l.cues[r] {
				if out&c.rules != c.rules && strings.HasPrefix(s[i:], c.text) {
					out |= c.rules
				}
			}
		}
		before = r
	}
	return out
}

func isWord(r rune) bool { return r >= 'a' && r <= 'z' || r == '\'' }

// judgeSentence tries the rules that are called.
func (l *language) judgeSentence(s string, called uint64) bool {
	whole := s
	s = unmarked(s)
	v := makeSieve(s)
	if l.idiom.mayBeIn(v) {
		s = l.idiom.ReplaceAllString(s, "…")
		v = makeSieve(s)
	}
	found := false
	for ; called != 0 && !found; called &= called - 1 {
		r := l.rules[bits.TrailingZeros64(called)]
		found = r.match.isIn(s, v) && !r.but.isIn(s, v)
	}
	if !found || code().MatchString(whole) || l.veto.isIn(s, v) || l.asks.isIn(s, v) && !l.asked.isIn(s, v) {
		return false
	}
	return !l.once.isIn(s, v) || l.scope.isIn(s, v)
}

// unmarked returns a folded sentence without what is quoted in it, and without the marks of lists.
func unmarked(s string) string {
	if strings.ContainsAny(s, quoteMarks) {
		s = quoted().ReplaceAllString(s, "“”")
	}
	s = numbered().ReplaceAllString(strings.ReplaceAll(s, "**", ""), "")
	return strings.Trim(s, " -*•>")
}
