// Package o200k counts the tokens of texts as the o200k_base tokenizer does.
//
// A text is split into pieces by a fixed pattern (words, at most three digits, runs of
// symbols, white space); a piece that is no token itself is merged from its bytes, two
// neighbours at a time, those first that make the token of the lowest rank. Tokens are only
// counted: their ids stay here.
//
// Words it adds: piece (a run of text that no token reaches beyond), rank (the place of
// a token in the vocabulary: lower ones are merged first).
//
// Invariants: a count is what the pattern and the vocabulary say, for every text whose
// pieces are at most 64 KiB; the time is n log n in the longest piece, and linear in
// the rest; what is remembered between texts is bounded.
//
// It may not know models, windows or anything else of this program.
package o200k

import (
	"sync"
	"unicode/utf8"
)

// longestPiece bounds how many bytes are merged at once, and with them the memory that
// takes: a longer piece is counted in parts.
const longestPiece = 64 << 10

// Counter counts tokens. It is safe for concurrent use. New makes it.
type Counter struct {
	classes    *classTable
	vocabulary *vocabulary
	seen       *countCache
	scratch    sync.Pool // of *merging
}

// New makes a counter, which takes part of a millisecond and 0.6 megabytes: one is enough for a program.
func New() *Counter {
	c := &Counter{classes: buildClasses(), vocabulary: newVocabulary(), seen: newCache()}
	c.scratch.New = func() any { return new(mergeState) }
	return c
}

// Count returns the number of tokens of s. What is not UTF-8 counts as U+FFFD, byte by byte.
func (c *Counter) Count(s string) int {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	n := 0
	for s != "" {
		end := c.classes.pieceLength(s)
		n += c.countPiece(s[:end])
		s = s[end:]
	}
	return n
}

// countPiece returns the number of tokens of a piece.
func (c *Counter) countPiece(piece string) int {
	n := 0
	for len(piece) > longestPiece {
		end := longestPiece
		for !utf8.RuneStart(piece[end]) {
			end--
		}
		n += c.mergePiece(piece[:end])
		piece = piece[end:]
	}
	if len(piece) == 1 {
		return n + 1
	}
	h := hashText(piece)
	if c.vocabulary.findRank(piece, h) != noRank {
		return n + 1
	}
	if len(piece) > longestSeen {
		return n + c.mergePiece(piece)
	}
	if known := c.seen.getCount(piece, h); known > 0 {
		return n + known
	}
	more := c.mergePiece(piece)
	c.seen.putCount(piece, h, more)
	return n + more
}
