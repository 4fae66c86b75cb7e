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
