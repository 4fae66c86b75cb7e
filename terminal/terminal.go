// Package terminal is how things look in a terminal, and the interactive chat.
//
// Words it adds: face (where a chat is read from and shown: a screen, or two
// pipes), screen (the face of a real terminal, whose transcript goes to the
// terminal's own scrollback), printer (shows the events of a turn), row (a line
// of text cut to the width of the screen), command (a line that begins with a slash).
//
// Invariants: text that came from a model, a tool or a file is printed without
// the characters that make a terminal do something; a wide character counts as
// two columns; through a pipe no control byte is written at all; a reply that is
// stopped with Ctrl-C keeps what was written so far. What the chat itself says
// stands in the table of texts.go, in English and Chinese.
//
// It may not know SQL, HTTP, the environment, or any one model. It asks the engine
// alone.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// cells counts the columns of text as terminals show it. Bars and dots take one, also
// in a Chinese locale, where the library by itself would count two.
var cells = &runewidth.Condition{}

// Table writes rows in aligned columns. The last column is never padded. right
// lists the columns to align right.
func Table(w io.Writer, rows [][]string, right ...int) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cells.StringWidth(cell))
		}
	}
	numeric := map[int]bool{}
	for _, i := range right {
		numeric[i] = true
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-cells.StringWidth(cell))
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

// Clip is s on one line, at most width columns wide.
func Clip(s string, width int) string {
	return cells.Truncate(strings.Join(strings.Fields(Plain(s)), " "), width, "…")
}

// Plain is s without the characters that make a terminal do something, or that
// show text in a different order.
func Plain(s string) string {
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

// When is a time, in Unix ms, as a person reads it in their time zone.
func When(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04") }

// Thousands writes 12345 as 12,345.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Progress returns a function that draws how far long work has come, and one that
// wipes the drawing away. what is counted, such as "messages"; a total of 0 is unknown;
// w is a terminal.
func Progress(w io.Writer) (draw func(what string, done, total int64), wipe func()) {
	const width = 24
	last := ""
	draw = func(what string, done, total int64) {
		line := fmt.Sprintf("%s %s", Thousands(done), what)
		if total > 0 {
			n := int(min(done, total) * width / total)
			line = fmt.Sprintf("[%s%s] %s of %s %s", strings.Repeat("█", n), strings.Repeat("·", width-n), Thousands(done), Thousands(total), what)
		}
		if line != last {
			fmt.Fprintf(w, "\r%s\x1b[K", line)
			last = line
		}
	}
	return draw, func() { fmt.Fprint(w, "\r\x1b[K") }
}
