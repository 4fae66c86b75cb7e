package kept

import (
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Evidence that a later sentence ends an earlier one is called by what it does to it: it takes a trait or an
// instruction back, or says that a to-do is done.
const (
	change  = "change"
	closing = "close"
)

// How much must speak for it, in hundredths.
const (
	leastChange  = -60
	leastClosing = -60
)

// pairing is what a later sentence has to do with an earlier one.
type pairing struct {
	words         []string // of the later one
	shared, named int      // names of the earlier one that it has, and all of them
	found         bool     // by the rules
}

// list calls yield with the evidence that the pair is of some kind.
func (p *pairing) list(kind string, known map[string]bool, yield func(string)) {
	p.listShared(kind, yield)
	listWords(p.words, known, func(e []byte) { yield(kind + " " + string(e)) })
}

// listShared is list without the words of the later sentence.
func (p *pairing) listShared(kind string, yield func(string)) {
	yield(kind + " shares " + strconv.Itoa(min(p.shared, 3)))
	switch {
	case p.shared == p.named:
		yield(kind + " shares all")
	case 2*p.shared >= p.named:
		yield(kind + " shares half")
	}
	if p.found {
		yield(kind + " found")
	}
}

// wordEvidence is what the words of a sentence say of its being the later one of a pair of some kind, whatever the
// earlier one is.
type wordEvidence struct {
	kind string
	sum  int
	seen map[string]bool
}

func (sc *scale) weighWords(kind string, words []string) *wordEvidence {
	out := &wordEvidence{kind: kind, sum: sc.pairs[kind], seen: map[string]bool{}}
	listWords(words, sc.words, func(e []byte) {
		if of := kind + " " + string(e); !out.seen[of] {
			out.seen[of] = true
			out.sum += sc.pairs[of]
		}
	})
	return out
}

// weighPair returns how much speaks for a pair's being of some kind.
func (sc *scale) weighPair(words *wordEvidence, p pairing) int {
	sum := words.sum
	p.listShared(words.kind, func(e string) {
		if !words.seen[e] {
			sum += sc.pairs[e]
		}
	})
	return sum
}

// scaleOf returns the weights of a sentence's language; nil if it has none.
func scaleOf(s string) *scale {
	switch detectLanguage(s) {
	case inEnglish():
		return englishScale()
	case inChinese():
		return chineseScale()
	}
	return nil
}

// countShared counts the names of an earlier sentence that a later one has too, but for common ones.
func countShared(later, earlier *statement) (shared int) {
	for _, w := range earlier.names {
		if !common()[w.text] && later.index.has(w.text) {
			shared++
		}
	}
	return shared
}

// wordsOf returns the words of a sentence as evidence.
func wordsOf(s string) []string { return splitWords(terms.FoldText(s)) }

// ListChange lists the evidence that a later sentence takes an earlier one back.
func ListChange(earlier, later string, known map[string]bool) (out []string) {
	was := makeStatement(earlier)
	now := makeStatement(later)
	shared := countShared(now, was)
	p := pairing{wordsOf(later), shared, was.named, now.changesValue(was) || now.found(was, shared)}
	p.list(change, known, func(e string) { out = append(out, e) })
	return out
}

// ListClosing lists, for each sentence of what a person says, the evidence that it says that a to-do is done.
func ListClosing(todo, text string, known map[string]bool) (out [][]string) {
	var t Todos
	t.Add(todo, 0)
	before := ""
	for _, s := range SplitSentences(firstPart(text)) {
		for _, one := range t.open {
			p := one.pairWith(s)
			p.found = len(t.findClosed(scrollback.RoleUser, readNewsSentence(s, before))) > 0
			var all []string
			p.list(closing, known, func(e string) { all = append(all, e) })
			out = append(out, all)
		}
		before = s
	}
	return out
}

// pairWith compares a to-do with a sentence, but for what the rules say.
func (t openTodo) pairWith(s string) pairing {
	p := pairing{words: wordsOf(s)}
	said := namesIn(s)
	for _, part := range t.parts {
		for _, w := range part {
			p.named++
			if indexOf(said, w.text) >= 0 {
				p.shared++
			}
		}
	}
	return p
}
