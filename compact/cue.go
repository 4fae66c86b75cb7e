package compact

import (
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// cueFinder is an expression that is tried only where a text has one of its cues: most
// sentences have none, and looking for those takes a twentieth of the time.
type cueFinder struct {
	expression func() *regexp.Regexp
	cues       func() *[256][]string // by their first byte, of either case
}

// findByCues makes a Finder of cues, which are in lower case and separated by |. Every match of the
// expression holds one of them, in either case.
func findByCues(cues string, expression func() *regexp.Regexp) *cueFinder {
	return &cueFinder{expression, sync.OnceValue(func() *[256][]string {
		var out [256][]string
		for cue := range strings.SplitSeq(cues+"|\u017f|\u212a", "|") { // the last two are an s and a k to an expression
			out[cue[0]] = append(out[cue[0]], cue)
			if c := cue[0]; 'a' <= c && c <= 'z' {
				out[c-'a'+'A'] = append(out[c-'a'+'A'], cue)
			}
		}
		return &out
	})}
}

// FoundIn reports whether the expression is found in a text.
func (f *cueFinder) FoundIn(text string) bool {
	cues := f.cues()
	for i := range len(text) {
		for _, cue := range cues[text[i]] {
			if beginsWithCue(text[i:], cue) {
				return f.expression().MatchString(text)
			}
		}
	}
	return false
}

// beginsWithCue reports whether a text begins with a cue, in either case of the letters of ASCII.
func beginsWithCue(text, cue string) bool {
	if len(text) < len(cue) {
		return false
	}
	for i := range len(cue) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != cue[i] {
			return false
		}
	}
	return true
}

// runParallel calls do for 0 to n-1, on all cores, and returns when all have returned.
func runParallel(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}
