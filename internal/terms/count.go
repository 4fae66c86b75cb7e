package terms

import "strings"

// Counter counts the terms of many texts: a word that comes again is looked up as it is written, instead of folded,
// stemmed and compared once more. The zero value is ready; it is for one goroutine at a time.
type Counter struct {
	words, pairs map[string]*countedTerm // by how they are written; pairs are those of dense scripts
	terms        map[string]*countedTerm // by what they become
	text         int64                   // the number of the text that is counted
	found        []*countedTerm          // in that text
	length, most int
}

// countedTerm is what words or pairs become, and how often it is in a text.
type countedTerm struct {
	term  string
	text  int64
	count int32
}

// CountTerms returns the terms of s, in any order and each once, how often each is there, and how many there are with
// their repetitions. Of a longer text the first most terms are counted.
func (c *Counter) CountTerms(s string, most int) (all []string, counts []int32, length int) {
	if len(c.words)+len(c.pairs) > knownWords {
		c.words = nil
		c.pairs = nil
		c.terms = nil
	}
	if c.terms == nil {
		c.words = map[string]*countedTerm{}
		c.pairs = map[string]*countedTerm{}
		c.terms = map[string]*countedTerm{}
	}
	c.text++
	c.found = c.found[:0]
	c.length = 0
	c.most = most
	cut := cutter{text: s, start: -1, counter: c}
	cut.cutText()
	all = make([]string, len(c.found))
	counts = make([]int32, len(c.found))
	for i, f := range c.found {
		all[i] = f.term
		counts[i] = f.count
	}
	return all, counts, c.length
}

// countWord counts a word, and reports whether more may come.
func (c *Counter) countWord(w string) bool {
	f := c.words[w]
	if f == nil {
		f = c.learn(c.words, w, normalWord)
	}
	return c.count(f)
}

// countPair counts a pair of characters, or the last one of a run.
func (c *Counter) countPair(p string) bool {
	f := c.pairs[p]
	if f == nil {
		f = c.learn(c.pairs, p, foldDense)
	}
	return c.count(f)
}

// learn returns what is written as raw, whose term normal returns, and remembers it.
func (c *Counter) learn(known map[string]*countedTerm, raw string, normal func(string) string) *countedTerm {
	raw = strings.Clone(raw) // it may be of a long text, and the term a part of it
	term := normal(raw)
	f := c.terms[term]
	if f == nil {
		f = &countedTerm{term: term}
		c.terms[term] = f
	}
	known[raw] = f
	return f
}

func (c *Counter) count(f *countedTerm) bool {
	if f.text != c.text {
		f.text = c.text
		f.count = 0
		c.found = append(c.found, f)
	}
	f.count++
	c.length++
	return c.length < c.most
}
