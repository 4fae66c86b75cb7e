package kept

import (
	"strconv"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// change is how the evidence is called that a later sentence takes an earlier one back: what they name in common, what
// the rules say, and the words of the later one.
const change = "change"

// leastChange is how much must speak for it, in hundredths.
const leastChange = -60

// listPair calls yield with the evidence of a pair.
func listPair(words []string, known map[string]bool, shared, named int, found bool, yield func(string)) {
	yield(change + " shares " + strconv.Itoa(min(shared, 3)))
	switch {
	case shared == named:
		yield(change + " shares all")
	case 2*shared >= named:
		yield(change + " shares half")
	}
	if found {
		yield(change + " found")
	}
	listWords(words, known, func(e []byte) { yield(change + " " + string(e)) })
}

// weighPair returns how much speaks for a later sentence's taking an earlier one back.
func (sc *scale) weighPair(words []string, shared, named int, found bool) int {
	sum := sc.pairs[change]
	seen := map[string]bool{}
	listPair(words, sc.words, shared, named, found, func(e string) {
		if !seen[e] {
			seen[e] = true
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

// countShared counts the names of an earlier sentence, and those that a later one has too.
func countShared(later, earlier []namedWord) (shared, named int) {
	for _, w := range earlier {
		if common[w.text] {
			continue
		}
		named++
		if indexOf(later, w.text) >= 0 {
			shared++
		}
	}
	return shared, named
}

// wordsOf returns the words of a sentence as evidence.
func wordsOf(s string) []string { return splitWords(terms.FoldText(s)) }

// ListChange lists the evidence that a later sentence takes an earlier one back.
func ListChange(earlier, later string, known map[string]bool) (out []string) {
	was := makeStatement(earlier)
	now := makeStatement(later)
	shared, named := countShared(now.names, was.names)
	listPair(wordsOf(later), known, shared, named, now.found(was), func(e string) { out = append(out, e) })
	return out
}
