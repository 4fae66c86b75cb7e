package archive

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/grafana/regexp/syntax"
)

const (
	needlesMax = 16      // literals that are looked for one after the other
	pieceLeast = 128     // bytes looked through at once, at first: the next match may be near
	pieceMost  = 8 << 10 // later
)

// needles are literals of which every match of a pattern contains at least one: without
// any of them the pattern need not be run. In lower case, if anyCase.
type needles struct {
	all     [][]byte
	longest int
	anyCase bool
	lower   []byte // of the piece that is looked through
}

func newNeedles(re *syntax.Regexp) needles {
	var n needles
	n.all = n.of(re)
	if len(n.all) > needlesMax {
		n.all = nil
	}
	for i, s := range n.all {
		if n.anyCase {
			n.all[i] = lowerASCII(s)
		}
		n.longest = max(n.longest, len(s))
	}
	return n
}

// of lists such literals of re, or nothing when there are none.
func (n *needles) of(re *syntax.Regexp) [][]byte {
	switch re.Op {
	case syntax.OpLiteral:
		fold := re.Flags&syntax.FoldCase != 0
		for _, r := range re.Rune {
			if fold && r >= 0x80 && unicode.SimpleFold(r) != r || r == utf8.RuneError {
				return nil // lowering letters of ASCII does not give its other cases; invalid bytes match the last
			}
		}
		n.anyCase = n.anyCase || fold
		return [][]byte{[]byte(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return n.of(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return n.of(re.Sub[0])
		}
	case syntax.OpAlternate:
		var all [][]byte
		for _, sub := range re.Sub {
			of := n.of(sub)
			if of == nil {
				return nil
			}
			all = append(all, of...)
		}
		return all
	case syntax.OpConcat:
		var best [][]byte
		for _, sub := range re.Sub {
			if of := n.of(sub); of != nil && (best == nil || shortest(of) > shortest(best)) {
				best = of
			}
		}
		return best
	}
	return nil
}

func shortest(all [][]byte) int {
	n := len(all[0])
	for _, s := range all {
		n = min(n, len(s))
	}
	return n
}

// from is where the line with the first needle begins in b, or -1 if there is none.
func (n *needles) from(b []byte) int {
	for off, size := 0, pieceLeast; off < len(b); off, size = off+size, min(2*size, pieceMost) {
		piece := b[off:min(len(b), off+size+n.longest-1)]
		if n.anyCase {
			piece = n.lowered(piece)
		}
		first := -1
		for _, s := range n.all {
			if at := bytes.Index(piece, s); at >= 0 && (first < 0 || at < first) {
				first = at
			}
		}
		if first >= 0 {
			return bytes.LastIndexByte(b[:off+first], '\n') + 1
		}
	}
	return -1
}

// lowered is b in lower case, until the next call.
func (n *needles) lowered(b []byte) []byte {
	n.lower = append(n.lower[:0], b...)
	return lowerASCII(n.lower)
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
