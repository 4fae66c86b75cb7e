package secrets

import (
	"strings"
	"sync"
)

// isAscending reports whether a text counts up over eight characters, as people do who make an
// example: 12345678, abcdefgh.
func isAscending(s string) bool {
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
	"example", "placeholder", "changeme", "change_me", "change-me", "replace", "your_", "your-", "yourkey", "yourtoken",
	"your.",
	"xxxx", "****", "....", "redacted", "masked", "dummy", "sample", "insert", "todo", "fake", "mock", "test", "undefined",
	"&lt;", "process.env", "environ", "getenv", "secrets.", "${", "{{", "$(", "<", "…",
}

// isPlaceholder reports whether a value stands for another one, or is an example.
func isPlaceholder(s string) bool {
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
var known = sync.OnceValue(func() map[string]bool {
	return wordSet(
		"password passwd pass pwd secret token key postgres root admin user username guest mysql redis rabbitmq minioadmin " +
			"int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 utf8 utf-8 sha1 sha256 sha512 md5 base64 oauth2 bytes32 " +
			"http2 string255 varchar255 p4ssw0rd hs256 rs256 es256 aes256 null none true false nil basic bearer " +
			"abcd 1234 foobar pserver anoncvs")
})

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// isWellKnown reports whether a value is one of those everybody uses.
func isWellKnown(s string) bool { return len(s) <= 16 && known()[strings.ToLower(s)] }
