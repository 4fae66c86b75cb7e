package columns

import (
	"strings"

	"github.com/rivo/uniseg"
)

// tab is what a tab is shown as: a screen counts columns, and a tab has no fixed
// width.
const tab = "    "

// Wrap cuts one line into rows of at most width columns, where the rules of
// Unicode allow a line to break; a piece that is too wide by itself is cut anywhere.
// It returns at least one row.
func Wrap(line string, width int) []string {
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
		if used > 0 && used+condition.StringWidth(strings.TrimRight(piece, " ")) > width {
			end()
		}
		for g := uniseg.NewGraphemes(piece); g.Next(); {
			w := condition.StringWidth(g.Str())
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
