package columns

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
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
		if used > 0 && used+displaywidth.String(strings.TrimRight(piece, " ")) > width {
			end()
		}
		for g := uniseg.NewGraphemes(piece); g.Next(); {
			w := displaywidth.String(g.Str())
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

// Crop is the beginning of a row with styles, at most width columns wide. All of its styles stay.
func Crop(row string, width int) string {
	if Width(Unstyled(row)) <= width {
		return row
	}
	var b strings.Builder
	used := 0
	for row != "" {
		text, rest, styled := strings.Cut(row, "\x1b[")
		for g := uniseg.NewGraphemes(text); g.Next() && used+Width(g.Str()) <= width; {
			b.WriteString(g.Str())
			used += Width(g.Str())
		}
		if !styled {
			break
		}
		var sgr string
		sgr, row, _ = strings.Cut(rest, "m")
		b.WriteString("\x1b[" + sgr + "m")
	}
	return b.String()
}

// BreaksBefore is how many times a terminal of a width breaks a row before a column. Behind
// the end of the row, the cursor stands in the last piece of it.
func BreaksBefore(row string, x, width int) (breaks int) {
	at, used := 0, 0
	for g := uniseg.NewGraphemes(Unstyled(row)); g.Next() && at < max(x, 1); {
		n := Width(g.Str())
		if used+n > width {
			breaks, used = breaks+1, 0
		}
		at, used = at+n, used+n
	}
	if at == x && used == width && Width(Unstyled(row)) > x {
		breaks++ // the character at x begins the next piece
	}
	return breaks
}
