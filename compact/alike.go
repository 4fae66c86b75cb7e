package compact

import (
	"hash/maphash"
	"slices"
	"unicode"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// How sentences are weighed that say what was found, failed or decided, that have figures or names, and
// that are in words which many messages share.
const (
	outcomeWeight = 1.6
	figuresWeight = 1.25
	sharedWeight  = 0.7
	alikeWeight   = 0.4 // of a sentence that is much like a better one
)

// Bounds of finding out what is said again and again.
const (
	runTerms     = 3    // terms in a row that make sentences alike
	manyMessages = 3    // that have them
	mostCompared = 64   // of the best lines that are compared with those before them
	alikeShare   = 0.6  // of the terms of the shorter of two lines
	noiseShare   = 0.35 // of the characters of a text that no person writes
	leastText    = 16   // characters; less is not judged
)

var runSeed = maphash.MakeSeed()

// hashRuns returns the hashes of the runs of terms in a sentence.
func hashRuns(said []string) (out []uint64) {
	for i := 0; i+runTerms <= len(said); i++ {
		var h maphash.Hash
		h.SetSeed(runSeed)
		for _, t := range said[i : i+runTerms] {
			h.WriteString(t)
			h.WriteByte(0)
		}
		out = append(out, h.Sum64())
	}
	return out
}

// runCounts says of runs of terms how many messages have them.
type runCounts map[uint64]*runCount

type runCount struct {
	last     int64 // the message that it was found in last
	messages int
}

func countRuns(all []extractSentence) runCounts {
	out := runCounts{}
	for i := range all {
		for _, run := range all[i].runs {
			c := out[run]
			if c == nil {
				c = &runCount{}
				out[run] = c
			}
			if c.last != all[i].Seq {
				c.last = all[i].Seq
				c.messages++
			}
		}
	}
	return out
}

// share returns the share of a sentence that is in words of many messages, from 0 to 1.
func (c runCounts) share(s *extractSentence) float64 {
	if s.Count >= manyMessages {
		return 1
	}
	n := 0
	for _, run := range s.runs {
		if c[run].messages >= manyMessages {
			n++
		}
	}
	return float64(n) / float64(max(len(s.runs), 1))
}

// lowerAlike lowers the score of lines that say much the same as a better one, and stand for nothing that a
// person wants kept. The lines are sorted, the best first, before and after it.
func lowerAlike(lines []extractLine, lower func(score float64) float64) []extractLine {
	var seen []map[string]bool
	for i := range lines[:min(len(lines), mostCompared)] {
		has := map[string]bool{}
		for _, t := range terms.SplitTerms(lines[i].Text) {
			has[t] = true
		}
		if l := &lines[i]; !l.stands && slices.ContainsFunc(seen, func(better map[string]bool) bool {
			return areAlike(has, better)
		}) {
			l.score = lower(l.score)
			continue
		}
		seen = append(seen, has)
	}
	return sortBest(lines)
}

func areAlike(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	for t := range a {
		if b[t] {
			n++
		}
	}
	return len(a) >= minTerms && float64(n) >= alikeShare*float64(len(a))
}

// hasIdentifier reports whether a text has a name as programs have them: PSP_HMAC, RoundFare, a/b.go.
func hasIdentifier(text string) bool {
	var before, last rune
	for _, c := range text {
		joins := last == '_' || last == '/' || last == '.'
		if unicode.IsLetter(c) && (joins && isASCIILetter(before) || unicode.IsUpper(c) && unicode.IsLower(last)) {
			return true
		}
		before = last
		last = c
	}
	return false
}

func isASCIILetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// isMachineText reports whether a text has so many marks that no person has written it as a sentence:
// output of tools, code, tables.
func isMachineText(text string) bool {
	marks := 0
	n := 0
	for _, c := range text {
		if unicode.IsSpace(c) {
			continue
		}
		n++
		if c < 0x80 && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			marks++
		}
	}
	return n >= leastText && float64(marks) > noiseShare*float64(n)
}
