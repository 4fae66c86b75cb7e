package columns

import (
	"io"
	"unicode/utf8"
)

// PlainWriter returns a writer of text to a terminal, as StripControls makes it. A character may come in two
// pieces; a piece that no more comes of is left out.
func PlainWriter(w io.Writer) io.Writer { return &plainWriter{w: w} }

type plainWriter struct {
	w    io.Writer
	half []byte // of a character
}

// Write implements io.Writer.
func (p *plainWriter) Write(b []byte) (int, error) {
	text := append(p.half, b...)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if at := len(text) - i; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				end = at
			}
			break
		}
	}
	p.half = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(p.w, StripControls(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}
