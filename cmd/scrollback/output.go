package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/scrollback-ai/scrollback"
)

// print writes v as JSON when that is asked for, else what human writes.
func (g *globals) print(v any, human func(w io.Writer) error) error {
	if !g.JSON {
		return human(g.stdout)
	}
	enc := json.NewEncoder(g.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table writes rows in aligned columns; a wide character counts as two. The last
// column is never padded. right lists the columns that are numbers.
func table(w io.Writer, rows [][]string, right ...int) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	numeric := map[int]bool{}
	for _, i := range right {
		numeric[i] = true
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-runewidth.StringWidth(cell))
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

// clip is s on one line, at most width columns wide.
func clip(s string, width int) string {
	return runewidth.Truncate(strings.Join(strings.Fields(plain(s)), " "), width, "…")
}

// plain is s without the characters that make a terminal do something.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// when is a time as a person reads it, in their zone.
func when(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04") }

// thousands writes 12345 as 12,345.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// standardInput reads standard input until the program is told to end: a read
// that waits for a person does not hold it.
func (g *globals) standardInput() io.Reader {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, g.stdin)
		w.CloseWithError(err)
	}()
	context.AfterFunc(g.ctx, func() { w.CloseWithError(scrollback.Wrap(scrollback.Canceled, "scrollback", context.Canceled)) })
	return r
}
