package archive

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/grafana/regexp/syntax"
)

const (
	needlesMax = 16      // literals that are looked for one after the other
	needleMost = 32      // bytes of a literal that are looked for in either case
	pieceLeast = 128     // bytes looked through at once, at first: the next match may be near
	pieceMost  = 8 << 10 // later
)

// needleSet are literals of which every match of a pattern contains at least one: without
// any of them the pattern need not be run.
type needleSet []literalText

// literalText is looked for as it is, or in either case of the letters of ASCII.
type literalText struct {
	text []byte // in lower case, if fold
	fold bool
	rare int // if fold, the index of the byte that is looked for first
}

// newNeedles lists such literals of re, or nothing when there are none. No literal has a
// character that breaks accepts.
func newNeedles(re *syntax.Regexp, breaks func(rune) bool) needleSet {
	n := collectNeedles(re, breaks)
	if len(n) > needlesMax {
		return nil
	}
	return n
}

func collectNeedles(re *syntax.Regexp, breaks func(rune) bool) needleSet {
	switch re.Op {
	case syntax.OpLiteral:
		if l := newLiteral(re, breaks); len(l.text) > 0 {
			return needleSet{l}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return collectNeedles(re.Sub[0], breaks)
	case syntax.OpRepeat:
		if re.Min > 0 {
			return collectNeedles(re.Sub[0], breaks)
		}
	case syntax.OpAlternate:
		var all needleSet
		for _, sub := range re.Sub {
			of := collectNeedles(sub, breaks)
			if of == nil {
				return nil
			}
			all = append(all, of...)
		}
		return all
	case syntax.OpConcat:
		var best needleSet
		for _, sub := range re.Sub {
			if of := collectNeedles(sub, breaks); of != nil && (best == nil || of.shortestLength() > best.shortestLength()) {
				best = of
			}
		}
		return best
	}
	return nil
}

// newLiteral returns the longest run of characters in a literal of a pattern that can be looked
// for byte by byte; it may be empty.
func newLiteral(re *syntax.Regexp, breaks func(rune) bool) literalText {
	fold := re.Flags&syntax.FoldCase != 0
	var best, run []byte
	for _, r := range re.Rune {
		// Lowering the letters of ASCII does not give the cases of others; invalid bytes match the last.
		if fold && r >= 0x80 && unicode.SimpleFold(r) != r || r == utf8.RuneError || breaks(r) {
			run = nil
			continue
		}
		if run = utf8.AppendRune(run, r); len(run) > len(best) {
			best = run
		}
	}
	l := literalText{text: bytes.Clone(best)}
	if !fold {
		return l
	}
	l.text = lowerASCII(l.text[:min(len(l.text), needleMost)])
	for i, c := range l.text {
		l.fold = l.fold || upperASCII(c) != c
		if byteRarity(c) > byteRarity(l.text[l.rare]) {
			l.rare = i
		}
	}
	return l
}

// byFrequency are the bytes that are frequent in text, the most frequent first.
const byFrequency = " etaoinsrhldcumfpgwybvkxjqz"

// byteRarity returns higher for bytes that are rarer in text.
func byteRarity(c byte) int {
	if i := bytes.IndexByte([]byte(byFrequency), c); i >= 0 {
		return i
	}
	if c >= utf8.RuneSelf { // every character of Chinese begins with one of a few
		return len(byFrequency) / 2
	}
	return len(byFrequency)
}

func (n needleSet) shortestLength() int {
	least := len(n[0].text)
	for _, l := range n {
		least = min(least, len(l.text))
	}
	return least
}

// lineFrom returns where the line with the first needle begins in b, or -1 if there is none.
func (n needleSet) lineFrom(b []byte) int {
	longest := 0
	for i := range n {
		longest = max(longest, len(n[i].text))
	}
	for off, size := 0, pieceLeast; off < len(b); off, size = off+size, min(2*size, pieceMost) {
		if first := n.firstIndex(b[off:min(len(b), off+size+longest-1)]); first >= 0 {
			return bytes.LastIndexByte(b[:off+first], '\n') + 1
		}
	}
	return -1
}

// firstIndex returns where the first needle begins in b, or -1 if there is none.
func (n needleSet) firstIndex(b []byte) int {
	first := -1
	for i := range n {
		if at := n[i].firstIndex(b); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// containsAny reports whether b has any of the needles.
func (n needleSet) containsAny(b []byte) bool {
	for i := range n {
		if n[i].firstIndex(b) >= 0 {
			return true
		}
	}
	return false
}

// firstIndex returns where the literal first begins in b, or -1.
func (l *literalText) firstIndex(b []byte) int {
	if !l.fold {
		return bytes.Index(b, l.text)
	}
	c := l.text[l.rare]
	end := len(b) - len(l.text) + l.rare + 1 // of where the rare byte may be
	if end <= l.rare {
		return -1
	}
	b, whole := b[:end], b
	low := indexByteFrom(b, c, l.rare)
	high := end
	if u := upperASCII(c); u != c {
		high = indexByteFrom(b, u, l.rare)
	}
	for {
		at := min(low, high)
		if at == end {
			return -1
		}
		if equalLower(whole[at-l.rare:at-l.rare+len(l.text)], l.text) {
			return at - l.rare
		}
		if at == low {
			low = indexByteFrom(b, c, at+1)
		} else {
			high = indexByteFrom(b, upperASCII(c), at+1)
		}
	}
}

// indexByteFrom returns where c is in b at or behind from, or the length of b.
func indexByteFrom(b []byte, c byte, from int) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

// equalLower reports whether b, with the letters of ASCII in lower case, is lower.
func equalLower(b, lower []byte) bool {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func upperASCII(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// lowerASCII puts the letters of ASCII in lower case, in place.
func lowerASCII(b []byte) []byte {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}
