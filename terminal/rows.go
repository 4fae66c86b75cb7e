package terminal

import (
	"strings"

	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// rows turns running text into rows. Rows that will not change any more go to
// done, one at a time; the last, which may still grow, goes to rest.
type rows struct {
	width func() int // of the screen, as it is now
	style func(string) string
	done  func(row string)
	rest  func(row string)
	last  string
}

// Write implements io.Writer; it never fails.
func (r *rows) Write(p []byte) (int, error) {
	lines := strings.Split(r.last+string(p), "\n")
	for i, line := range lines {
		cut := columns.Wrap(line, r.width())
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

// growing draws what may still change above the input: the end of the block that the reply
// is in, and the row of other text. It is empty or ends in a new line.
func (e *editor) growing() string {
	var b strings.Builder
	if e.open != "" {
		lines := strings.Split(strings.TrimRight(e.open, "\n"), "\n")
		var out []string
		for _, line := range lines[max(len(lines)-openRows, 0):] {
			out = append(out, columns.Wrap(columns.Plain(line), e.s.room())...)
		}
		most := max(min(openRows, e.height/2), 1)
		for _, row := range out[max(len(out)-most, 0):] {
			b.WriteString(nonEmpty(strings.TrimRight(row, " ")) + "\n")
		}
	}
	if e.rest != "" {
		b.WriteString(e.rest + "\n")
	}
	return b.String()
}
