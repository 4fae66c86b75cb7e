// Package secrets finds what looks like a key, a token or a password in text, and puts a
// mark in its place, such as [masked: github token].
//
// Words it adds: rule (how the tokens of one vendor begin, and of what they consist), name
// (what a value is assigned to: api_key, "password", X-Api-Key), mark.
//
// Invariants: masking what was masked changes nothing; the same text gives the same result;
// JSON stays JSON; the time is linear in the text. What only looks random (a hash, a UUID,
// an image) and has no name that says more is left alone.
//
// It may not know messages.
package secrets

import "strings"

// secretSpan is a piece of a text that looks like a secret.
type secretSpan struct {
	from, to int
	what     string
}

// SecretMark returns what stands in the place of a secret.
func SecretMark(what string) string { return "[masked: " + what + "]" }

// passes bounds how often a text is searched: what stands beside a mark may look different
// then, which is rare.
const passes = 4

// MaskText returns the text with marks in the place of what looks like secrets, and how many.
func MaskText(text string) (string, int) { return maskText(text, nil) }

// maskText is MaskText, and gives each secret to note, which may be nil.
func maskText(text string, note func(secret string)) (string, int) {
	n := 0
	for range passes {
		found := findSecrets(text)
		if len(found) == 0 {
			break
		}
		n += len(found)
		var b strings.Builder
		at := 0
		for _, s := range found {
			b.WriteString(text[at:s.from])
			b.WriteString(SecretMark(s.what))
			if note != nil {
				note(text[s.from:s.to])
			}
			at = s.to
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	return text, n
}

// Classes of bytes, for the search.
const (
	inWord  = 1 << iota // letters, digits and _
	trigger             // what something may be found at
	inToken             // also . - + / = ~
	inURL               // base64 of URLs: letters, digits, _ and -
	isHex               // in lower case too
	isUpper             // A to Z and digits
	isDigit
	isSpace
)

var class = func() (c [256]uint8) {
	set := func(chars string, bits uint8) {
		for _, b := range []byte(chars) {
			c[b] |= bits
		}
	}
	const upper, lower, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
	set(upper+lower+digits+"_", inWord|inToken|inURL)
	set("-", inToken|inURL)
	set(".+/=~", inToken)
	set("=:-~>\xef", trigger)
	set("abcdefABCDEF"+digits, isHex)
	set(upper+digits, isUpper)
	set(digits, isDigit)
	set(" \t\r\n", isSpace)
	return c
}()

// findSecrets lists the secrets of a text, from its beginning to its end.
func findSecrets(s string) []secretSpan {
	var out []secretSpan
	i := 0
	end := 0
	take := func(at secretSpan) bool {
		if at.to <= at.from || at.from < end {
			return false
		}
		end = at.to
		out = append(out, at)
		i = at.to
		return true
	}
	for i < len(s) {
		c := class[s[i]]
		switch {
		case c&inWord != 0:
			if take(findToken(s, i)) || i > 0 && s[i-1] == '\\' && i+1 < len(s) && take(findToken(s, i+1)) { // behind \n in JSON
				continue
			}
			for i++; i < len(s) && class[s[i]]&inWord != 0; i++ {
			}
		case c&trigger != 0:
			if !take(findTriggered(s, i)) {
				i++
			}
		default:
			i++
		}
	}
	return out
}

// findTriggered looks at what may begin, or be assigned, at a byte outside words.
func findTriggered(s string, i int) secretSpan {
	switch s[i] {
	case '-':
		if strings.HasPrefix(s[i:], "-----BEGIN ") {
			return findArmored(s, i)
		}
		if i+2 < len(s) && s[i+1] == '-' && class[s[i+2]]&inWord != 0 {
			if at := findFlag(s, i+2); at.to > 0 {
				return at
			}
		}
		return findUserPassword(s, i)
	case '~':
		return findAzure(s, i)
	case '>':
		return findElement(s, i)
	case ':':
		if strings.HasPrefix(s[i:], "://") {
			return findURLPassword(s, i+3)
		}
		if at := findTelegram(s, i); at.to > 0 {
			return at
		}
		return findAssigned(s, i, i+1)
	case '=':
		return findAssigned(s, i, i+1)
	default:
		if strings.HasPrefix(s[i:], "：") {
			return findAssigned(s, i, i+len("："))
		}
	}
	return secretSpan{}
}
