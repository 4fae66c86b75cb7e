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

var groups [][]rule

// token is the vendor's token that begins at i.
func token(s string, i int) span {
	if i+12 > len(s) {
		return span{}
	}
	if g := starts[uint16(s[i])<<8|uint16(s[i+1])]; g != 0 {
		for _, r := range groups[g-1] {
			if strings.HasPrefix(s[i:], r.begin) {
				if at := r.match(s, i); at.to > at.from {
					return at
				}
			}
		}
	}
	if s[i] == 'M' || s[i] == 'N' || s[i] == 'O' {
		return discord(s, i)
	}
	return span{}
}

// Bounds of a token, in bytes: of one that carries claims, and of any other.
const longestToken, longestOpaque = 16 << 10, 2 << 10

func (r rule) match(s string, i int) span {
	from := i + len(r.begin)
	to := from
	for part := 1; ; part++ {
		start := to
		for to < len(s) && class[s[to]]&r.of != 0 {
			if to++; to-i > longestToken || to-i > longestOpaque && r.parts < 3 {
				return span{}
			}
		}
		if part < r.parts && to < len(s) && s[to] == '.' && to-start >= r.least {
			to++
			continue
		}
		if part < max(r.parts, 1) || to-start < r.least || r.exact && to-start > r.least {
			return span{}
		}
		break
	}
	if r.of == inToken {
		to = from + len(strings.TrimRight(s[from:to], "./~-"))
	}
	if to-from < r.least || r.exact && to < len(s) && class[s[to]]&inWord != 0 {
		return span{}
	}
	body := s[from:to]
	if entropy(body) < 2.8 || placeholder(body) || ascends(body) {
		return span{}
	}
	return r.sure(s, span{i, to, r.what}, body)
}

// sure are the further conditions of rules whose beginnings are common.
func (r rule) sure(s string, at span, body string) span {
	switch r.begin {
	case "Bearer ", "bearer ":
		at.from = at.to - len(body)
		if vendors(s, at.from) {
			return span{} // it is found by its own rule
		}
		if entropy(body) < 3.2 || !mixed(body) {
			return span{}
		}
	case "Basic ", "basic ":
		at.from = at.to - len(body)
		plain, err := base64.StdEncoding.DecodeString(body)
		if err != nil || !utf8.Valid(plain) || !strings.Contains(string(plain), ":") {
			return span{}
		}
	case "sk-", "fw_", "hf_", "xai-", "tvly-", "LTAI", "AKID", "oy2", "4b1d", "A3-", "EAAC", "EAAM":
		if at.from > 0 && (s[at.from-1] == '-' || s[at.from-1] == '+') { // in the middle of base64
			return span{}
		}
		if r.begin != "A3-" && longest(body) < 16 || !mixed(body) && r.begin != "hf_" {
			return span{}
		}
	}
	return at
}

// discord is a bot's token: the number of its account in base64, and two pieces more.
func discord(s string, i int) span {
	to := i
	parts := [3]int{}
	for part := range parts {
		for to < len(s) && class[s[to]]&inURL != 0 {
			to++
			parts[part]++
		}
		if part < 2 {
			if to >= len(s) || s[to] != '.' {
				return span{}
			}
			to++
		}
	}
	if parts[0] < 23 || parts[0] > 28 || parts[1] < 6 || parts[1] > 7 || parts[2] < 27 || parts[2] > 38 ||
		!mixed(s[i:to]) {
		return span{}
	}
	return span{i, to, "discord token"}
}
