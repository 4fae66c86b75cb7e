package terms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Query is a search as a person typed it. Any holds single terms, of which more
// is better; Quoted holds what stood in quotes. Demanded says that nothing else was typed: then
// a text must hold all of them, and Any is empty; else their words are in Any as well. A
// term that ends in '*' stands for every term with that beginning: a lone dense character.
//
// Words that only join others are left out of Any as long as there are others. From Words
// on, Any holds guesses that nobody typed: other forms of an irregular word, a name in
// code for words that it may consist of, and the words of such a name.
type Query struct {
	Any      []string
	Quoted   []Phrase
	Demanded bool
	Words    int
	Stands   [][]int // parallel to Any: which of the words a term stands for
	Exact    []bool  // parallel to Any: a name, a number, an identifier
}

// Phrase is what stood in quotes. Terms are those that a text which holds it has, wherever its
// punctuation is; Order is one term for each word and each dense character, which follow each
// other in such a text.
type Phrase struct {
	Terms []string
	Order []string
}

// newPhrase reads what stood in quotes, at most [MaxTerms] of each.
func newPhrase(s string) Phrase {
	terms := queryTerms(s)
	var order []string
	EachTerm(s, func(t string) bool {
		// A dense term begins at each character of a run: the first one of it is what stands there.
		if first, size := utf8.DecodeRuneInString(t); IsDense(first) {
			t = t[:size] + "*"
		}
		order = append(order, t)
		return len(order) < MaxTerms
	})
	return Phrase{Terms: terms[:min(len(terms), MaxTerms)], Order: order}
}

// quotes are the marks that people quote with.
var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "「", `"`, "」", `"`, "『", `"`, "』", `"`,
	"＂", `"`)

// SplitQuotes cuts a query at its quotation marks: every second piece stands in quotes.
func SplitQuotes(q string) []string { return strings.Split(quotes.Replace(q), `"`) }

// joiners say nothing between quotes.
var joiners = wordSet([]string{"and", "or", "和", "与", "或", "及"})

// MaxTerms bounds the terms of one query; further ones are left out.
const MaxTerms = 64

// ParseQuery reads a query: words are optional, and so are "quoted" ones among others.
func ParseQuery(q string) Query {
	var out Query
	pieces := SplitQuotes(FoldText(q))
	others := false
	for i, piece := range pieces {
		if i%2 == 0 {
			others = others || slices.ContainsFunc(SplitTerms(piece), func(t string) bool { return !joiners[t] })
		} else if p := newPhrase(piece); len(p.Order) > 0 {
			out.Quoted = append(out.Quoted, p)
		}
	}
	if out.Demanded = !others && len(out.Quoted) > 0; out.Demanded {
		return out
	}
	rest := strings.Join(pieces, "\n")
	exact := exactTerms(rest)
	for _, t := range endsOf(contentTerms(rest)) {
		out.addTerm(t, nil, exact[t])
	}
	out.Words = len(out.Any)
	for i, t := range out.Any {
		for _, form := range formsOf()[t] {
			out.addTerm(form, []int{i}, false)
		}
	}
	for _, piece := range pieces {
		out.addJoined(piece)
	}
	out.addParts(rest)
	return out
}

// endsOf returns the different ones of some terms; of more than [MaxTerms] those at the beginning and
// those at the end, where long talk comes to what it asks.
func endsOf(all []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, t := range all {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	if over := len(out) - MaxTerms; over > 0 {
		out = slices.Delete(out, MaxTerms/2, MaxTerms/2+over)
	}
	return out
}

// addTerm adds a term, unless it is already there. Without words that it stands for, it stands
// for itself.
func (q *Query) addTerm(t string, stands []int, exact bool) {
	if t == "" || slices.Contains(q.Any, t) || len(q.Any) >= MaxTerms {
		return
	}
	if stands == nil {
		stands = []int{len(q.Any)}
	}
	q.Any = append(q.Any, t)
	q.Stands = append(q.Stands, stands)
	q.Exact = append(q.Exact, exact)
}

// addJoined adds the names in code that words of s may be parts of: neighbours
// without the space, as in "parse row" for parseRow. Only plain words are joined.
func (q *Query) addJoined(s string) {
	var run []string
	flush := func() {
		for i := range run {
			for n := 2; n <= 3 && i+n <= len(run); n++ {
				var stands []int
				for _, w := range run[i : i+n] {
					if at := slices.Index(q.Any[:q.Words], normalWord(w)); at >= 0 {
						stands = append(stands, at)
					}
				}
				q.addTerm(normalWord(strings.Join(run[i:i+n], "")), stands, false)
			}
		}
		run = nil
	}
	for _, w := range strings.Fields(s) {
		core := strings.Trim(w, ".,;:!?()'")
		if core == "" || !isPlain(core) || stopWords()[normalWord(core)] {
			flush()
			continue
		}
		run = append(run, core)
		if core != w {
			flush()
		}
	}
	flush()
}

// addParts adds the words that the names in code of s consist of.
func (q *Query) addParts(s string) {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !isASCIIWord(r) }) {
		whole := slices.Index(q.Any[:q.Words], normalWord(w))
		for from, i := 0, 1; i <= len(w) && whole >= 0; i++ {
			if i < len(w) && !(isLower(w[i-1]) && isUpper(w[i])) {
				continue
			}
			if p := normalWord(w[from:i]); len(p) > 1 && !stopWords()[p] && i-from < len(w) {
				q.addTerm(p, []int{whole}, false)
			}
			from = i
		}
	}
}

func isASCIIWord(r rune) bool {
	return r < 0x80 && (isLower(byte(r)) || isUpper(byte(r)) || '0' <= r && r <= '9')
}
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

// isPlain reports whether a word has only English letters.
func isPlain(w string) bool {
	for i := range len(w) {
		if !isLower(w[i]) && !isUpper(w[i]) {
			return false
		}
	}
	return true
}

// IsEmpty reports whether there is nothing to look for.
func (q Query) IsEmpty() bool { return len(q.Any) == 0 && len(q.Quoted) == 0 }

// ListTerms lists all terms that a text is looked through for.
func (q Query) ListTerms() []string {
	out := slices.Clone(q.Any)
	if q.Demanded {
		for _, p := range q.Quoted {
			out = append(out, p.Terms...)
		}
	}
	return out
}

// NamesIn returns the terms of a text that may name something: words with a digit or with a capital
// letter where no sentence begins, and each pair of a dense script that is not of words that
// only join others. Each comes once.
func NamesIn(s string) []string {
	named := exactTerms(s)
	seen := map[string]bool{}
	var out []string
	EachTerm(stopPhrases.Replace(FoldText(s)), func(t string) bool {
		first, size := utf8.DecodeRuneInString(t)
		if !seen[t] && !stopWords()[t] && (named[t] || IsDense(first) && size < len(t)) {
			seen[t] = true
			out = append(out, t)
		}
		return true
	})
	return out
}

// exactTerms returns the terms of words that name something: with a digit, or with a
// capital letter where no sentence begins.
func exactTerms(s string) map[string]bool {
	out := map[string]bool{}
	begins := true
	for _, w := range strings.Fields(s) {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(w,
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
		if strings.ContainsFunc(w, unicode.IsDigit) || strings.ContainsAny(w[1:], "_ABCDEFGHIJKLMNOPQRSTUVWXYZ") ||
			unicode.IsUpper(first) && !begins {
			EachTerm(w, func(t string) bool {
				if r, _ := utf8.DecodeRuneInString(t); !IsDense(r) {
					out[t] = true
				}
				return true
			})
		}
		begins = strings.HasSuffix(w, ".") || strings.HasSuffix(w, "?") || strings.HasSuffix(w, "!") ||
			strings.HasSuffix(w, ":")
	}
	return out
}

// queryTerms cuts like SplitTerms, except that the last character of a longer dense run is
// dropped (its pair says more) and a lone one becomes a beginning, or, right
// after a number, nothing: there it only counts.
func queryTerms(s string) []string {
	var out []string
	pairEnd := -1
	EachTermAt(s, func(t string, from, to int) bool {
		first, size := utf8.DecodeRuneInString(t)
		switch {
		case !IsDense(first) || size < len(t):
			out = append(out, t)
			pairEnd = to
		case from > 0 && s[from-1] >= '0' && s[from-1] <= '9':
		case to != pairEnd: // a run of one character
			out = append(out, t+"*")
		}
		return true
	})
	return out
}

// AddSingles adds the characters of word i, if it is a pair of a dense script, to what is
// looked for, and returns them: for a pair that stands nowhere.
func (q *Query) AddSingles(i int) []string {
	runes := []rune(q.Any[i])
	if len(runes) != 2 || !IsDense(runes[0]) || !IsDense(runes[1]) {
		return nil
	}
	before := len(q.Any)
	for _, r := range runes {
		q.addTerm(string(r)+"*", []int{i}, false)
	}
	return q.Any[before:]
}
