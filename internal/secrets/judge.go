package secrets

import (
	"math"
	"strings"
)

// bitsPerByte returns how many bits a byte of a text is worth, by how often each occurs in it.
func bitsPerByte(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	n := float64(len(s))
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / n
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// isMixed reports whether a text has both letters and digits, of these at least two.
func isMixed(s string) bool {
	letters := 0
	digits := 0
	for i := range len(s) {
		switch c := class[s[i]]; {
		case c&isDigit != 0:
			digits++
		case c&inWord != 0 && s[i] != '_':
			letters++
		}
	}
	return letters > 1 && digits > 1
}

// longestRun returns the length of the longest run of letters and digits.
func longestRun(s string) (most int) {
	n := 0
	for i := range len(s) {
		if class[s[i]]&inWord == 0 || s[i] == '_' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// strength is how much a name says that its value is a secret.
type strength int

const (
	none     strength = iota
	weak              // key, auth: the value must look random
	strong            // token, secret
	password          // the value may be what a person made up
)

// valueMakeup is of what a value consists.
type valueMakeup struct {
	lower, upper, digits, symbols, joints int // joints: - _ . :
	changes                               int // from a small letter or a digit to a capital, or back
	odd                                   bool
}

func countMakeup(s string) (m valueMakeup) {
	last := byte(0)
	for i := range len(s) {
		kind := byte(0)
		switch b := s[i]; {
		case b >= 'a' && b <= 'z':
			m.lower++
			kind = 'a'
		case b >= 'A' && b <= 'Z':
			m.upper++
			kind = 'A'
		case class[b]&isDigit != 0:
			m.digits++
			kind = '0'
		case b == '-' || b == '_' || b == '.' || b == ':':
			m.joints++
		case b <= ' ' || b >= 0x7f:
			m.odd = true
		default:
			m.symbols++
		}
		if kind != last && i > 0 && kind != 0 && last != 0 {
			m.changes++
		}
		last = kind
	}
	return m
}

// Bounds of values, in bytes; the last is of one without quotes.
const leastPassword, leastStrong, leastWeak, most, mostBare = 6, 8, 20, 4096, 512

// isSecret reports whether a value is one, by how it was written and what its name says.
func isSecret(v string, quoted bool, by strength) bool {
	if by == none || len(v) < leastPassword || len(v) > most || isWellKnown(v) || isPlaceholder(v) {
		return false
	}
	m := countMakeup(v)
	letters := m.lower + m.upper
	switch {
	case m.odd || strings.Contains(v, "://") || isAscending(v):
		return false
	case !quoted && (strings.ContainsAny(v, "(){}[]$<>*|`'\"") || strings.IndexByte("%&@/~.,;:=-+!?", v[0]) >= 0):
		return false
	case !quoted && m.joints > 0 && strings.Contains(v, ".") && bitsPerByte(v) < 4:
		return false // config.token2
	case strings.Contains(v, "/") && (m.digits == 0 || bitsPerByte(v) < 4 ||
		v[0] == '/' && (m.upper == 0 || longestRun(v) < 20)):
		return false // a path
	case letters == 0:
		return false // numbers, dates
	}
	switch by {
	case password:
		if m.digits == 0 && m.symbols == 0 {
			return quoted && m.joints >= 3 && len(v) >= 20 || isUnruly(v, m)
		}
		return bitsPerByte(v) >= 2.3
	case strong:
		if len(v) < leastStrong || m.digits == 0 {
			return isUnruly(v, m)
		}
		return bitsPerByte(v) >= 3 && (letters > 2 && m.digits > 1 && m.joints*5 < len(v) && !isWords(v) || isUnruly(v, m)) ||
			len(v) >= 24 && longestRun(v) >= 16
	}
	return len(v) >= leastWeak && bitsPerByte(v) >= 3.5 && isMixed(v) && longestRun(v) >= 16 && !isWords(v) &&
		!isHash(v, m) &&
		!strings.HasPrefix(v, "MFkwEwYH") && !strings.HasPrefix(v, "MIIBIjAN") // public keys
}

// isUnruly reports whether letters alone look random: capitals come and go.
func isUnruly(v string, m valueMakeup) bool {
	return len(v) >= 16 && m.lower > 2 && m.upper > 2 && m.changes*5 >= 2*len(v) && bitsPerByte(v) >= 3.5
}

// isWords reports whether a value is words with at most a short number at the end of each.
func isWords(v string) bool {
	for _, piece := range strings.FieldsFunc(v,
		func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' }) {
		letters := strings.TrimRight(piece, "0123456789")
		if strings.ContainsAny(letters, "0123456789") || len(piece)-len(letters) > 4 ||
			countMakeup(letters).changes*3 > max(len(letters), 6) {
			return false
		}
	}
	return true
}

// isHash reports whether a value is the hash of something: digits of base 16 only.
func isHash(v string, m valueMakeup) bool {
	for i := range len(v) {
		if class[v[i]]&isHex == 0 && v[i] != '-' && v[i] != ':' {
			return strings.HasPrefix(v, "sha256-") || strings.HasPrefix(v, "sha384-") || strings.HasPrefix(v, "sha512-") ||
				strings.HasPrefix(v, "sha1-") || strings.HasPrefix(v, "h1:")
		}
	}
	return m.symbols == 0 || strings.Contains(v, ":")
}
