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

	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// DrawProgress returns a function that draws how far long work has come, and one that
// wipes the drawing away. what is counted, such as "messages"; a total of 0 is unknown;
// w is a terminal.
func DrawProgress(t words.Texts, w io.Writer) (draw func(what string, done, total int64), wipe func()) {
	const width = 24
	last := ""
	draw = func(what string, done, total int64) {
		line := fmt.Sprintf("%s %s", columns.FormatThousands(done), what)
		if total > 0 {
			n := int(min(done, total) * width / total)
			line = t.Say(i18n.ProgressOf, strings.Repeat("█", n), strings.Repeat("·", width-n),
				columns.FormatThousands(done), columns.FormatThousands(total), what)
		}
		if line != last {
			fmt.Fprintf(w, "\r%s\x1b[K", line)
			last = line
		}
	}
	return draw, func() { fmt.Fprint(w, "\r\x1b[K") }
}
