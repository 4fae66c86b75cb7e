package secrets

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// starts are the rules by the first two bytes of their beginnings: what most words are
// dismissed by.
var starts = func() *[1 << 16]uint8 {
	var out [1 << 16]uint8
	for _, r := range rules {
		at := uint16(r.begin[0])<<8 | uint16(r.begin[1])
		if out[at] != 0 {
			continue
		}
		groups = append(groups, nil)
		for _, other := range rules {
			if other.begin[:2] == r.begin[:2] {
				groups[len(groups)-1] = append(groups[len(groups)-1], other)
			}
		}
		out[at] = uint8(len(groups))
	}
	return &out
}()

var groups [][]tokenRule

// findToken returns the vendor's token that begins at i.
func findToken(s string, i int) secretSpan {
	if i+12 > len(s) {
		return secretSpan{}
	}
	if g := starts[uint16(s[i])<<8|uint16(s[i+1])]; g != 0 {
		for _, r := range groups[g-1] {
			if strings.HasPrefix(s[i:], r.begin) {
				if at := r.matchAt(s, i); at.to > at.from {
					return at
				}
			}
		}
	}
	if s[i] == 'M' || s[i] == 'N' || s[i] == 'O' {
		return findDiscord(s, i)
	}
	return secretSpan{}
}

// Bounds of a token, in bytes: of one that carries claims, and of any other.
const longestToken, longestOpaque = 16 << 10, 2 << 10

func (r tokenRule) matchAt(s string, i int) secretSpan {
	from := i + len(r.begin)
	to := from
	for part := 1; ; part++ {
		start := to
		for to < len(s) && class[s[to]]&r.of != 0 {
			if to++; to-i > longestToken || to-i > longestOpaque && r.parts < 3 {
				return secretSpan{}
			}
		}
		if part < r.parts && to < len(s) && s[to] == '.' && to-start >= r.least {
			to++
			continue
		}
		if part < max(r.parts, 1) || to-start < r.least || r.exact && to-start > r.least {
			return secretSpan{}
		}
		break
	}
	if r.of == inToken {
		to = from + len(strings.TrimRight(s[from:to], "./~-"))
	}
	if to-from < r.least || r.exact && to < len(s) && class[s[to]]&inWord != 0 {
		return secretSpan{}
	}
	body := s[from:to]
	if bitsPerByte(body) < 2.8 || isPlaceholder(body) || isAscending(body) {
		return secretSpan{}
	}
	return r.confirm(s, secretSpan{i, to, r.what}, body)
}

// confirm returns the further conditions of rules whose beginnings are common.
func (r tokenRule) confirm(s string, at secretSpan, body string) secretSpan {
	switch r.begin {
	case "Bearer ", "bearer ":
		at.from = at.to - len(body)
		if beginsToken(s, at.from) {
			return secretSpan{} // it is found by its own rule
		}
		if bitsPerByte(body) < 3.2 || !isMixed(body) {
			return secretSpan{}
		}
	case "Basic ", "basic ":
		at.from = at.to - len(body)
		plain, err := base64.StdEncoding.DecodeString(body)
		if err != nil || !utf8.Valid(plain) || !strings.Contains(string(plain), ":") {
			return secretSpan{}
		}
	case "sk-", "fw_", "hf_", "xai-", "tvly-", "LTAI", "AKID", "oy2", "4b1d", "A3-", "EAAC", "EAAM":
		if at.from > 0 && (s[at.from-1] == '-' || s[at.from-1] == '+') { // in the middle of base64
			return secretSpan{}
		}
		if r.begin != "A3-" && longestRun(body) < 16 || !isMixed(body) && r.begin != "hf_" {
			return secretSpan{}
		}
	}
	return at
}

// findDiscord returns a bot's token: the number of its account in base64, and two pieces more.
func findDiscord(s string, i int) secretSpan {
	to := i
	parts := [3]int{}
	for part := range parts {
		for to < len(s) && class[s[to]]&inURL != 0 {
			to++
			parts[part]++
		}
		if part < 2 {
			if to >= len(s) || s[to] != '.' {
				return secretSpan{}
			}
			to++
		}
	}
	if parts[0] < 23 || parts[0] > 28 || parts[1] < 6 || parts[1] > 7 || parts[2] < 27 || parts[2] > 38 ||
		!isMixed(s[i:to]) {
		return secretSpan{}
	}
	return secretSpan{i, to, "discord token"}
}
