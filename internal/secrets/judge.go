package secrets

import (
	"math"
	"strings"
)

// entropy is how many bits a byte of a text is worth, by how often each occurs in it.
func entropy(s string) float64 {
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

// mixed reports whether a text has both letters and digits, of these at least two.
func mixed(s string) bool {
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

// longest is the length of the longest run of letters and digits.
func longest(s string) (most int) {
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

// makeup is of what a value consists.
type makeup struct {
	lower, upper, digits, symbols, joints int // joints: - _ . :
	changes                               int // from a small letter or a digit to a capital, or back
	odd                                   bool
}

func makeupOf(s string) (m makeup) {
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

// secret reports whether a value is one, by how it was written and what its name says.
func secret(v string, quoted bool, by strength) bool {
	if by == none || len(v) < leastPassword || len(v) > most || stands(v) || placeholder(v) {
		return false
	}
	m := makeupOf(v)
	letters := m.lower + m.upper
	switch {
	case m.odd || strings.Contains(v, "://") || ascends(v):
		return false
	case !quoted && (strings.ContainsAny(v, "(){}[]$<>*|`'\"") || strings.IndexByte("%&@/~.,;:=-+!?", v[0]) >= 0):
		return false
	case !quoted && m.joints > 0 && strings.Contains(v, ".") && entropy(v) < 4:
		return false // config.token2
	case strings.Contains(v, "/") && (m.digits == 0 || entropy(v) < 4 || v[0] == '/' && (m.upper == 0 || longest(v) < 20)):
		return false // a path
	case letters == 0:
		return false // numbers, dates
	}
	switch by {
	case password:
		if m.digits == 0 && m.symbols == 0 {
			return quoted && m.joints >= 3 && len(v) >= 20 || unruly(v, m)
		}
		return entropy(v) >= 2.3
	case strong:
		if len(v) < leastStrong || m.digits == 0 {
			return unruly(v, m)
		}
		return entropy(v) >= 3 && (letters > 2 && m.digits > 1 && m.joints*5 < len(v) && !worded(v) || unruly(v, m)) ||
			len(v) >= 24 && longest(v) >= 16
	}
	return len(v) >= leastWeak && entropy(v) >= 3.5 && mixed(v) && longest(v) >= 16 && !worded(v) && !hashed(v, m) &&
		!strings.HasPrefix(v, "MFkwEwYH") && !strings.HasPrefix(v, "MIIBIjAN") // public keys
}

// unruly reports whether letters alone look random: capitals come and go.
func unruly(v string, m makeup) bool {
	return len(v) >= 16 && m.lower > 2 && m.upper > 2 && m.changes*5 >= 2*len(v) && entropy(v) >= 3.5
}

// worded reports whether a value is words with at most a short number at the end of each.
func worded(v string) bool {
	for _, piece := range strings.FieldsFunc(v,
		func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' }) {
		letters := strings.TrimRight(piece, "0123456789")
		if strings.ContainsAny(letters, "0123456789") || len(piece)-len(letters) > 4 ||
			makeupOf(letters).changes*3 > max(len(letters), 6) {
			return false
		}
	}
	return true
}

// hashed reports whether a value is the hash of something: digits of base 16 only.
func hashed(v string, m makeup) bool {
	for i := range len(v) {
		if class[v[i]]&isHex == 0 && v[i] != '-' && v[i] != ':' {
			return strings.HasPrefix(v, "sha256-") || strings.HasPrefix(v, "sha384-") || strings.HasPrefix(v, "sha512-") ||
				strings.HasPrefix(v, "sha1-") || strings.HasPrefix(v, "h1:")
		}
	}
	return m.symbols == 0 || strings.Contains(v, ":")
}
