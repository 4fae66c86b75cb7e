package vault

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/identity"
)

// phraseLetters are those of a recovery phrase: none is mistaken for another.
const phraseLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// A phrase has 27 random letters, of 5 bits each, and 5 that tell of a typing error.
const (
	phraseRandom = 27
	phraseCheck  = 5
	phraseGroup  = 4
)

// makePhrase returns a random phrase.
func makePhrase() string {
	random := make([]byte, phraseRandom)
	_, _ = rand.Read(random) // it never fails
	text := ""
	for _, b := range random {
		text += string(phraseLetters[b&31])
	}
	text += checkPhrase(text)
	var groups []string
	for at := 0; at < len(text); at += phraseGroup {
		groups = append(groups, text[at:at+phraseGroup])
	}
	return strings.Join(groups, "-")
}

// checkPhrase returns the letters that follow from those before them.
func checkPhrase(text string) (out string) {
	sum := sha256.Sum256([]byte("scrollback phrase check 1\x00" + text))
	for _, b := range sum[:phraseCheck] {
		out += string(phraseLetters[b&31])
	}
	return out
}

// readPhrase returns the keys that a phrase gives, as somebody typed it.
func readPhrase(typed string) (identity.Keys, error) {
	text := strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '\t', '\n', '\r', '.', ',':
			return -1
		case 'o':
			return '0'
		case 'i', 'l':
			return '1'
		}
		return r
	}, strings.ToLower(typed))
	if len(text) != phraseRandom+phraseCheck || checkPhrase(text[:phraseRandom]) != text[phraseRandom:] {
		return identity.Keys{}, scrollback.ParamErrorf(op, "phrase", i18n.VaultPhraseMistyped,
			(phraseRandom+phraseCheck)/phraseGroup, phraseGroup)
	}
	seed, err := hkdf.Key(sha256.New, []byte(text[:phraseRandom]), nil, "scrollback vault phrase 1", 32)
	if err != nil {
		return identity.Keys{}, scrollback.Wrap(scrollback.Internal, op, err)
	}
	return identity.FromSeed([32]byte(seed)), nil
}
