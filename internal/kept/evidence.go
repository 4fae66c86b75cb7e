package kept

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// weights say how much a piece of evidence speaks for what a sentence may be, in hundredths.
type weights struct {
	stays int // it holds beyond the next answer, of whatever kind
	todo  int // it is to be done
	order int // if it stays, it tells the assistant how to work, rather than what is so about the person
}

func (w *weights) add(other *weights) {
	if other == nil {
		return
	}
	w.stays += other.stays
	w.todo += other.todo
	w.order += other.order
}

// scale is the evidence of a language and what it weighs.
type scale struct {
	weights map[string]*weights
	answers map[string]int  // of what is asked, and of what is answered
	pairs   map[string]int  // of what ends something that was said before
	words   map[string]bool // that have a row; others are known by their endings
}

var (
	englishScale = sync.OnceValue(func() *scale { return readScale("english") })
	chineseScale = sync.OnceValue(func() *scale { return readScale("chinese") })
)

// readScale reads a table that bench/recall has learned.
func readScale(name string) *scale {
	raw, err := tables.ReadFile("rules/" + name + ".weights.tsv")
	if err != nil {
		panic("kept: " + err.Error())
	}
	out := &scale{
		weights: map[string]*weights{},
		answers: map[string]int{},
		pairs:   map[string]int{},
		words:   map[string]bool{},
	}
	for line := range strings.Lines(string(raw)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if line[0] == '#' || f[0] == "evidence" {
			continue
		}
		var n [3]int
		for i := range n {
			if n[i], err = strconv.Atoi(f[i+1]); err != nil {
				panic("kept: " + name + ".weights.tsv: " + line)
			}
		}
		w := weights{n[0], n[1], n[2]}
		kind, rest, _ := strings.Cut(f[0], " ")
		switch kind {
		case "asked", "answered":
			out.answers[f[0]] = w.stays
			continue
		case change, closing:
			out.pairs[f[0]] = w.stays
			continue
		case "word", "pair":
			for one := range strings.SplitSeq(rest, " ") {
				out.words[one] = true
			}
		}
		out.weights[f[0]] = &w
	}
	return out
}

func isHan(r rune) bool { return r >= 0x2e80 && unicode.IsLetter(r) }

// splitWords cuts a text into words, characters of Chinese, and marks; the endings 's, n't and the like stand by
// themselves, and any number is "#".
func splitWords(s string) []string {
	s = strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	out := make([]string, 0, len(s)/3)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		end := i + size
		switch {
		case unicode.IsSpace(r):
		case isHan(r):
			out = append(out, s[i:end])
		case unicode.IsLetter(r) || r == '\'':
			for end < len(s) {
				next, n := utf8.DecodeRuneInString(s[end:])
				if isHan(next) || !unicode.IsLetter(next) && next != '\'' {
					break
				}
				end += n
			}
			out = addWord(out, strings.Trim(s[i:end], "'"))
		case unicode.IsDigit(r):
			for end < len(s) && s[end] >= '0' && s[end] <= '9' {
				end++
			}
			out = append(out, "#")
		default:
			out = append(out, plainMark(s[i:end]))
		}
		i = end
	}
	return out
}

var shortened = []string{"n't", "'s", "'m", "'re", "'ve", "'ll", "'d"}

func addWord(to []string, w string) []string {
	for _, ending := range shortened {
		if stem, cut := strings.CutSuffix(w, ending); cut && stem != "" {
			return append(to, stem, ending)
		}
	}
	if w == "" {
		return to
	}
	return append(to, w)
}

// plainMark brings marks that say the same to one.
func plainMark(m string) string {
	switch m {
	case "，", "、", "；", ";", "—", "–", "-":
		return ","
	case "：":
		return ":"
	case "？":
		return "?"
	case "！":
		return "!"
	case "。":
		return "."
	case "“", "”", "「", "」":
		return "\""
	}
	return m
}

// cutParts returns a sentence and its clauses, each of which may be what stays; of a question only the clauses
// before what is asked.
func cutParts(s string) [][]string {
	words := splitWords(s)
	for len(words) > 0 && isMark(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	var clauses [][]string
	start := 0
	for i, w := range words {
		if w == "," || w == ":" || w == "(" || w == ")" {
			if i > start {
				clauses = append(clauses, words[start:i])
			}
			start = i + 1
		}
	}
	if start < len(words) {
		clauses = append(clauses, words[start:])
	}
	switch {
	case isQuestion(s):
		return clauses[:max(0, len(clauses)-1)]
	case len(clauses) < 2:
		return [][]string{words}
	}
	return append([][]string{words}, clauses...)
}

func isMark(w string) bool { return len(w) == 1 && strings.Contains(".?!,:\"", w) || w == "…" }

// wordEndings are those by which a word that has no row is known.
var wordEndings = []string{"ed", "ing", "ly", "est", "er", "able", "ful", "less", "ous", "tion", "ness", "ity", "s"}

// shapeOf returns a word as it counts as evidence: itself if it is known, else its ending.
func shapeOf(w string, known map[string]bool) string {
	if len(w) < 2 || w[0] == '\'' || w == "n't" || known[w] {
		return w
	}
	if w[0] >= utf8.RuneSelf {
		return "〇"
	}
	if base := pasts()[w]; base != "" && base != w {
		return "*ed"
	}
	for _, e := range wordEndings {
		if strings.HasSuffix(w, e) && len(w) > len(e)+2 && !strings.HasSuffix(w, "ss") {
			return "*" + e
		}
	}
	return "*"
}

// listWords calls yield with what in a part is evidence by its words: each of them, each two that follow each other,
// and how many there are.
func listWords(part []string, known map[string]bool, yield func(evidence []byte)) {
	buf := make([]byte, 0, 64)
	before := "^"
	for i := 0; i <= len(part); i++ {
		w := "$"
		if i < len(part) {
			w = shapeOf(part[i], known)
			yield(append(append(buf[:0], "word "...), w...))
		}
		yield(append(append(append(append(buf[:0], "pair "...), before...), ' '), w...))
		before = w
	}
	size := "over 25"
	for _, bound := range []int{3, 7, 13, 25} {
		if len(part) <= bound {
			size = "up to " + strconv.Itoa(bound)
			break
		}
	}
	yield(append(append(buf[:0], "words "...), size...))
}

// formTrait is the evidence that a sentence has a form of traits.
const formTrait = "trait"

// findings are what is evidence of a whole sentence.
type findings struct {
	asks, exclaims bool
	orders         bool // a rule of instructions finds it
	lasts          bool // it says how long something holds
}

func (f *findings) list(parted bool, yield func(evidence string)) {
	for _, e := range []struct {
		is   bool
		name string
	}{
		{f.asks, "asks"}, {f.exclaims, "exclaims"}, {parted, "clause"}, {f.orders, "orders"}, {f.lasts, "lasts"},
	} {
		if e.is {
			yield(e.name)
		}
	}
}

// weigh returns the weights of the part of a sentence that speaks most for its staying, and the most for a to-do.
func (sc *scale) weigh(s string, f *findings) weights {
	var all weights
	all.add(sc.weights["always"])
	seen := make([]*weights, 0, 40)
	best := weights{stays: -1 << 20, todo: -1 << 20}
	for i, part := range cutParts(s) {
		sum := all
		f.list(i > 0 || f.asks, func(e string) { sum.add(sc.weights[e]) })
		seen = seen[:0]
		listWords(part, sc.words, func(e []byte) {
			if w := sc.weights[string(e)]; w != nil && !slices.Contains(seen, w) {
				seen = append(seen, w)
				sum.add(w)
			}
		})
		if sum.stays > best.stays {
			best.stays = sum.stays
			best.order = sum.order
		}
		best.todo = max(best.todo, sum.todo)
	}
	return best
}

// ListEvidence lists, for each part of a sentence, the evidence that it has, as the tables of weights name it. Known
// are the words that have a row.
func ListEvidence(sentence string, known map[string]bool) [][]string {
	r := readSentence(sentence)
	if r == nil {
		return nil
	}
	var out [][]string
	trait := r.hasTrait()
	for i, part := range cutParts(r.text) {
		var all []string
		r.found.list(i > 0 || r.found.asks, func(e string) { all = append(all, e) })
		if trait {
			all = append(all, formTrait)
		}
		listWords(part, known, func(e []byte) { all = append(all, string(e)) })
		out = append(out, all)
	}
	return out
}

// listAnswer calls yield with what is evidence that an answer is about the person: the words of what is asked and of
// what is answered, and how each begins.
func listAnswer(answer, asked string, yield func(evidence string)) {
	asked = strings.Join(lastSentences(asked), " ")
	yield("answered with " + strconv.Itoa(min(countCommon(splitWords(terms.FoldText(answer)),
		splitWords(terms.FoldText(asked))), 3)))
	for _, side := range []struct{ name, text string }{{"asked", asked}, {"answered", answer}} {
		before := "^"
		for _, w := range splitWords(terms.FoldText(side.text)) {
			yield(side.name + " " + w)
			yield(side.name + " " + before + " " + w)
			before = w
		}
	}
}

// countCommon counts the longer words of an answer, or pairs of its characters, that stand in what was asked.
func countCommon(answer, asked []string) (n int) {
	in := map[string]bool{}
	of := func(words []string, do func(string)) {
		for i, w := range words {
			switch r, _ := utf8.DecodeRuneInString(w); {
			case isHan(r) && i+1 < len(words):
				do(w + words[i+1])
			case len(w) > 3 && !isHan(r):
				do(w)
			}
		}
	}
	of(asked, func(w string) { in[w] = true })
	of(answer, func(w string) {
		if in[w] {
			n++
		}
	})
	return n
}

// ListAnswer lists the evidence that an answer has, as the tables of weights name it.
func ListAnswer(answer, asked string) (out []string) {
	listAnswer(answer, asked, func(e string) { out = append(out, e) })
	return out
}

// weighAnswer returns how much speaks for an answer's being about the person.
func (sc *scale) weighAnswer(answer, asked string) int {
	sum := sc.answers["answered"]
	seen := map[string]bool{}
	listAnswer(answer, asked, func(e string) {
		if !seen[e] {
			seen[e] = true
			sum += sc.answers[e]
		}
	})
	return sum
}

// SplitWords cuts a text into the words that are evidence.
func SplitWords(text string) []string { return splitWords(terms.FoldText(text)) }
