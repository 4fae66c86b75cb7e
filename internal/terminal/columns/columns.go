// Package columns is text in the columns of a terminal: how wide it is, where it may be cut
// and broken, and what of it a terminal may be shown.
//
// Words it adds: cell (one column of one row), plain (without the characters that make a
// terminal do something).
//
// Invariants: a wide character counts as two columns, in every locale; nothing that StripControls
// returns makes a terminal move, colour or ring; rows of WrapLine are at most as wide as was
// asked, unless a single character is wider, and no text is lost between them.
//
// It may not know what the text is about, where it goes, nor the environment.
package columns

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// TextWidth returns how many columns s takes as terminals show it. Bars and dots take one, also in a
// Chinese locale.
func TextWidth(s string) int { return displaywidth.String(s) }

// WriteTable writes rows in aligned columns. The last column is never padded. right
// lists the columns to align right.
func WriteTable(w io.Writer, rows [][]string, right ...int) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displaywidth.String(cell))
		}
	}
	numeric := map[int]bool{}
	for _, i := range right {
		numeric[i] = true
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-displaywidth.String(cell))
			switch {
			case numeric[i]:
				b.WriteString(pad + cell)
			case i == len(row)-1:
				b.WriteString(cell)
			default:
				b.WriteString(cell + pad)
			}
			if i < len(row)-1 {
				b.WriteString("  ")
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// WriteFitted writes rows as WriteTable does, in at most width columns: what has no room in the last column
// goes on below, if the others leave it a third of the width. A width of 0 is any.
func WriteFitted(w io.Writer, rows [][]string, width int, right ...int) error {
	room := width
	for i := range max(len(slices.MaxFunc(rows, func(a, b []string) int { return len(a) - len(b) }))-1, 0) {
		widest := 0
		for _, row := range rows {
			if i < len(row) {
				widest = max(widest, TextWidth(row[i]))
			}
		}
		room -= widest + 2
	}
	if width == 0 || room < width/3 {
		return WriteTable(w, rows, right...)
	}
	var out [][]string
	for _, row := range rows {
		last := len(row) - 1
		for i, piece := range WrapLine(row[last], room) {
			next := make([]string, len(row))
			if i == 0 {
				copy(next, row)
			}
			next[last] = strings.TrimRight(piece, " ")
			out = append(out, next)
		}
	}
	return WriteTable(w, out, right...)
}

// ClipText returns s on one line, at most width columns wide.
func ClipText(s string, width int) string {
	return CutRow(strings.Join(strings.Fields(StripControls(s)), " "), width)
}

// CutRow returns the beginning of a row, at most width columns wide.
func CutRow(row string, width int) string {
	return displaywidth.TruncateString(StripControls(row), width, "…")
}

// StripControls returns s without the characters that make a terminal do something, or that
// show text in a different order.
func StripControls(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return -1
		case r < ' ' && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, // C0, DEL, C1
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // directions
			return utf8.RuneError
		}
		return r
	}, s)
}

// FormatTime returns a time, in Unix ms, as a person reads it in their time zone; nil is that of the
// machine.
func FormatTime(ms int64, zone *time.Location) string {
	if zone == nil {
		zone = time.Local
	}
	return time.UnixMilli(ms).In(zone).Format("2006-01-02 15:04")
}

// FormatThousands writes 12345 as 12,345.
func FormatThousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// FormatSize returns a number of bytes as a person reads it, such as 3.4 MB.
func FormatSize(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
}

// StripStyles returns a row without its styles.
func StripStyles(row string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(row, "\x1b[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, row, _ = strings.Cut(after, "m")
	}
}
