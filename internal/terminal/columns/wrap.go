package columns

import (
	"iter"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/rivo/uniseg"
)

// tabWidth is what a tab is shown as: a screen counts columns, and a tab has no fixed
// width.
const tabWidth = "    "

// eachCharacter returns those of a text as a person counts them. The library's own iterator also looks for the
// ends of sentences, and so reads on to the end of the text at each of many quotation marks.
func eachCharacter(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for state := -1; text != ""; {
			var one string
			one, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
			if !yield(one) {
				return
			}
		}
	}
}

// WrapLine cuts one line into rows of at most width columns, where the rules of
// Unicode allow a line to break; a piece that is too wide by itself is cut anywhere.
// It returns at least one row.
func WrapLine(line string, width int) []string {
	line = strings.ReplaceAll(line, "\t", tabWidth)
	var rows []string
	var row strings.Builder
	used := 0
	state := -1
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
		for g := range eachCharacter(piece) {
			w := displaywidth.String(g)
			if used+w > width && used > 0 {
				if g == " " { // hangs over the edge, and separates what may follow
					row.WriteByte(' ')
					continue
				}
				end()
			}
			row.WriteString(g)
			used += w
		}
	}
	return append(rows, row.String())
}

// HangLine cuts a line as WrapLine does. One that begins with spaces goes on below where its text begins,
// unless that is too far to the right.
func HangLine(line string, width int) []string {
	line = strings.ReplaceAll(line, "\t", tabWidth)
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	if text == "" || len(indent) > width/2 {
		return WrapLine(line, width)
	}
	rows := WrapLine(text, width-len(indent))
	for i := range rows {
		rows[i] = indent + rows[i]
	}
	return rows
}

// CropRow returns the beginning of a row with styles, at most width columns wide. All of its styles stay.
func CropRow(row string, width int) string {
	if TextWidth(StripStyles(row)) <= width {
		return row
	}
	var b strings.Builder
	used := 0
	for row != "" {
		text, rest, styled := strings.Cut(row, "\x1b[")
		for g := range eachCharacter(text) {
			if used+TextWidth(g) > width {
				break
			}
			b.WriteString(g)
			used += TextWidth(g)
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

// CountBreaks returns how many times a terminal of a width breaks a row before a column. Behind
// the end of the row, the cursor stands in the last piece of it.
func CountBreaks(row string, x, width int) (breaks int) {
	at := 0
	used := 0
	for g := range eachCharacter(StripStyles(row)) {
		if at >= max(x, 1) {
			break
		}
		n := TextWidth(g)
		if used+n > width {
			breaks += 1
			used = 0
		}
		at += n
		used += n
	}
	if at == x && used == width && TextWidth(StripStyles(row)) > x {
		breaks++ // the character at x begins the next piece
	}
	return breaks
}
