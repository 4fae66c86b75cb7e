package postgres

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Whatever a text holds comes back, and what is stored of it PostgreSQL takes.
func TestEscaped(t *testing.T) {
	t.Parallel()
	if got := escapeText("plain 潮 \U0001F600"); got != "plain 潮 \U0001F600" {
		t.Errorf("a plain text became %q", got)
	}
	odd := []string{"\x00", "\xff", "\xe6\xbd", string(escapeMark), string(escapeMark) + "00",
		string(escapeMark) + "-", "0", "潮"}
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom(odd),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		kept := escapeText(s)
		if !utf8.ValidString(kept) || strings.ContainsRune(kept, 0) {
			t.Fatalf("%q is stored as %q", s, kept)
		}
		if got := unescapeText(kept); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}
