package terminal

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// rowWriter turns running text into rows. Rows that will not change any more go to
// done, one at a time; the last, which may still grow, goes to rest.
type rowWriter struct {
	width func() int // of the screen, as it is now
	style func(string) string
	done  func(row string)
	rest  func(row string)
	last  string
}

// Write implements io.Writer; it never fails.
func (r *rowWriter) Write(p []byte) (int, error) {
	lines := strings.Split(r.last+string(p), "\n")
	for i, line := range lines {
		cut := columns.HangLine(line, r.width())
		if i == len(lines)-1 {
			r.last = cut[len(cut)-1]
			cut = cut[:len(cut)-1]
		}
		for _, row := range cut {
			r.done(r.style(strings.TrimRight(row, " ")))
		}
	}
	if shown := strings.TrimRight(r.last, " "); shown == "" {
		r.rest("")
	} else {
		r.rest(r.style(shown))
	}
	return len(p), nil
}

// openRows is the most of a growing block that is drawn, in rows: what is drawn over must
// not be taller than a screen that somebody makes smaller.
const openRows = 12

// growingText is what may still change of what is said: the block that the answer is in, as it is
// written, and the row of other text.
type growingText struct{ open, rest string }

// lastRows returns its last rows in a width, at most a number of them.
func (g growingText) lastRows(width, most int) []string {
	var out []string
	if g.open != "" {
		lines := strings.Split(strings.TrimRight(g.open, "\n"), "\n")
		for _, line := range lines[max(len(lines)-openRows, 0):] {
			for _, row := range columns.WrapLine(columns.StripControls(line), width) {
				out = append(out, strings.TrimRight(row, " "))
			}
		}
	}
	if g.rest != "" {
		out = append(out, g.rest)
	}
	return out[max(len(out)-most, 0):]
}
