package terms

import (
	"slices"
	"strings"
)

// Counter counts the terms of many texts: a word that comes again is looked up as it is written, instead of folded,
// stemmed and compared once more. The zero value is ready; it is for one goroutine at a time.
type Counter struct {
	words, pairs map[string]*countedTerm // by how they are written; pairs are those of dense scripts
	text         int64                   // the number of the text that is counted
	found        []*countedTerm          // in that text
	length, most int
}

// countedTerm is what a word or a pair becomes, and how often it is in a text.
type countedTerm struct {
	term  string
	text  int64
	count int32
}

// CountTerms returns the terms of s, ascending and each once, how often each is there, and how many there are with
// their repetitions. Of a longer text the first most terms are counted.
func (c *Counter) CountTerms(s string, most int) (all []string, counts []int32, length int) {
	c.text++
	c.found = c.found[:0]
	c.length = 0
	c.most = most
	cut := cutter{text: s, start: -1, counter: c}
	cut.cutText()
	slices.SortFunc(c.found, func(a, b *countedTerm) int { return strings.Compare(a.term, b.term) })
	all = make([]string, 0, len(c.found))
	counts = make([]int32, 0, len(c.found))
	for _, f := range c.found {
		if n := len(all); n > 0 && all[n-1] == f.term { // of a word that is written in another way
			counts[n-1] += f.count
			continue
		}
		all = append(all, f.term)
		counts = append(counts, f.count)
	}
	return all, counts, c.length
}

// countWord counts a word, and reports whether more may come.
func (c *Counter) countWord(w string) bool { return c.count(&c.words, w, normalWord) }

// countPair counts a pair of characters, or the last one of a run.
func (c *Counter) countPair(p string) bool { return c.count(&c.pairs, p, foldDense) }

// count counts what is written as raw, whose term normal returns.
func (c *Counter) count(known *map[string]*countedTerm, raw string, normal func(string) string) bool {
	f := (*known)[raw]
	if f == nil {
		raw = strings.Clone(raw) // it may be of a long text, and the term a part of it
		f = &countedTerm{term: normal(raw)}
		if len(raw) <= MaxBytes { // longer ones are no words that come again
			if *known == nil || len(*known) >= knownWords {
				*known = make(map[string]*countedTerm)
			}
			(*known)[raw] = f
		}
	}
	if f.text != c.text {
		f.text = c.text
		f.count = 0
		c.found = append(c.found, f)
	}
	f.count++
	c.length++
	return c.length < c.most
}
