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
	sum, n := 0.0, float64(len(s))
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
	letters, digits := 0, 0
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

// ascends reports whether a text counts up over eight characters, as people do who make an
// example: 12345678, abcdefgh.
func ascends(s string) bool {
	run := 1
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1]+1 || s[i-1] == '9' && s[i] == '0' {
			if run++; run == 8 {
				return true
			}
			continue
		}
		run = 1
	}
	return false
}

// hints are words, in lower case, that examples have and secrets do not.
var hints = []string{
	"example", "placeholder", "changeme", "change_me", "change-me", "replace", "your_", "your-", "yourkey", "yourtoken", "your.",
	"xxxx", "****", "....", "redacted", "masked", "dummy", "sample", "insert", "todo", "fake", "mock", "test", "undefined",
	"&lt;", "process.env", "environ", "getenv", "secrets.", "${", "{{", "$(", "<", "…",
}

// placeholder reports whether a value stands for another one, or is an example.
func placeholder(s string) bool {
	low := s
	if strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
		low = strings.ToLower(s)
	}
	for _, h := range hints {
		if strings.Contains(low, h) {
			return true
		}
	}
	return strings.Trim(s, s[:min(1, len(s))]) == "" // one character again and again
}

// known are values, in lower case, that are not secrets whatever their name: examples
// everybody uses, and types.
var known = set("password passwd pass pwd secret token key postgres root admin user username guest mysql redis rabbitmq minioadmin " +
	"int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 utf8 utf-8 sha1 sha256 sha512 md5 base64 oauth2 bytes32 " +
	"http2 string255 varchar255 p4ssw0rd hs256 rs256 es256 aes256 null none true false nil basic bearer " +
	"abcd 1234 foobar pserver anoncvs")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// stands reports whether a value is one of those everybody uses.
func stands(s string) bool { return len(s) <= 16 && known[strings.ToLower(s)] }

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
	for _, piece := range strings.FieldsFunc(v, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' }) {
		letters := strings.TrimRight(piece, "0123456789")
		if strings.ContainsAny(letters, "0123456789") || len(piece)-len(letters) > 4 || makeupOf(letters).changes*3 > max(len(letters), 6) {
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
