package terminal

import (
	"strings"

	"github.com/rivo/uniseg"
)

// tab is what a tab is shown as: a screen counts columns, and a tab has no fixed
// width.
const tab = "    "

// wrap cuts one line into rows of at most width columns, where the rules of
// Unicode allow a line to break; a piece that is too wide by itself is cut anywhere.
// It returns at least one row.
func wrap(line string, width int) []string {
	line = strings.ReplaceAll(line, "\t", tab)
	var rows []string
	var row strings.Builder
	used, state := 0, -1
	end := func() {
		rows = append(rows, strings.TrimRight(row.String(), " "))
		row.Reset()
		used = 0
	}
	for line != "" {
		var piece string
		piece, line, _, state = uniseg.FirstLineSegmentInString(line, state)
		if used > 0 && used+cells.StringWidth(strings.TrimRight(piece, " ")) > width {
			end()
		}
		for g := uniseg.NewGraphemes(piece); g.Next(); {
			w := cells.StringWidth(g.Str())
			if used+w > width && used > 0 {
				if g.Str() == " " { // hangs over the edge, and separates what may follow
					row.WriteByte(' ')
					continue
				}
				end()
			}
			row.WriteString(g.Str())
			used += w
		}
	}
	return append(rows, row.String())
}

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
		cut := wrap(line, r.width())
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
