// Package console is what the environment says of the terminal that the program runs in: how wide
// it is, whether it has styles, what it does when it is made narrower.
//
// Words it adds: look (how answers are set on a terminal).
//
// Invariants: NO_COLOR is heeded, and a terminal that does not say how wide it is has 80
// columns. Nothing is asked of the terminal itself: an answer to a question could arrive after
// the program has ended, as if somebody had typed it.
//
// It knows the environment and terminals, and nothing of what is shown on them.
package console

import (
	"io"
	"os"
	"strings"

	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/terminal/markdown"
)

// Reflows reports whether the terminal breaks its rows again when it is made narrower. Most
// do; these cut them off.
func Reflows() bool {
	term := os.Getenv("TERM")
	for _, kind := range []string{"linux", "rxvt", "vt", "sun"} {
		if strings.HasPrefix(term, kind) {
			return false
		}
	}
	return os.Getenv("XTERM_VERSION") == "" && (!strings.HasPrefix(term, "screen") || os.Getenv("TMUX") != "")
}

// Look is how answers are shown on a terminal.
func Look(f io.Writer) markdown.Look {
	return markdown.Look{Width: max(Width(f)-1, Least), Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// Least is what is made of a terminal that is narrower, or that does not say.
const Least = 20

// Width is how many columns a terminal has.
func Width(f io.Writer) int {
	if file, ok := f.(*os.File); ok {
		if width := terminal.Width(file); width > 0 {
			return width
		}
	}
	return 80
}
