package secrets

import (
	"slices"
	"strings"
)

// Finder masks texts that belong together, and remembers what it found in them: a title or a summary may have been cut
// in the middle of a secret, and what is left of it looks like nothing. The zero value is ready to use.
type Finder struct {
	Count int // of what was masked

	found []string
	known map[string]bool
}

// Bounds of what is remembered: secrets, and the bytes of each of which pieces are looked for.
const (
	maxFound = 10_000
	maxPiece = 512
)

// Bounds of pieces, in bytes: of a whole secret, and of the beginning or end of one that is longer.
const (
	leastWhole = 6
	leastPiece = 12
)

// MaskText returns the text with marks in the place of what looks like secrets.
func (f *Finder) MaskText(text string) string {
	masked, n := maskText(text, f.note)
	f.Count += n
	return masked
}

// MaskJSON is [MaskJSON].
func (f *Finder) MaskJSON(raw []byte) []byte {
	masked, n := maskJSON(raw, f.note)
	f.Count += n
	return masked
}

func (f *Finder) note(secret string) {
	secret = strings.TrimSpace(secret)
	if len(secret) < leastWhole || len(f.found) >= maxFound || f.known[secret] {
		return
	}
	if f.known == nil {
		f.known = map[string]bool{}
	}
	secret = strings.Clone(secret) // it must not keep the text that it stands in
	f.known[secret] = true
	f.found = append(f.found, secret)
}

// Remember makes f know what another one has found.
func (f *Finder) Remember(of *Finder) {
	for _, secret := range of.found {
		f.note(secret)
	}
}

// MaskDerived masks a text that was made of texts that were masked before: also pieces of what was found there.
func (f *Finder) MaskDerived(text string) string {
	text = f.MaskText(text)
	for _, secret := range f.found {
		text = f.maskPieces(text, secret)
	}
	return text
}

// maskPieces masks a secret, and its beginnings and ends.
func (f *Finder) maskPieces(text, secret string) string {
	head := secret[:min(len(secret), maxPiece)]
	tail := secret[len(secret)-len(head):]
	least := min(len(secret), leastPiece)
	if !strings.Contains(text, head[:least]) && !strings.Contains(text, tail[len(tail)-least:]) {
		return text
	}
	var pieces []string
	for n := len(head); n >= least; n-- {
		pieces = append(pieces, head[:n], tail[len(tail)-n:])
	}
	for _, piece := range slices.Compact(pieces) {
		if n := strings.Count(text, piece); n > 0 {
			text = strings.ReplaceAll(text, piece, SecretMark("secret"))
			f.Count += n
		}
	}
	return text
}
