package main

import (
	"io"
	"os"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/markdown"
)

// terminalReflows reports whether the terminal breaks its rows again when it is made narrower. Most
// do; these cut them off.
func terminalReflows() bool {
	term := os.Getenv("TERM")
	for _, kind := range []string{"linux", "rxvt", "vt", "sun"} {
		if strings.HasPrefix(term, kind) {
			return false
		}
	}
	return os.Getenv("XTERM_VERSION") == "" && (!strings.HasPrefix(term, "screen") || os.Getenv("TMUX") != "")
}

// answerLook returns how answers are shown on a terminal, by what the environment says of it.
// Nothing is asked of the terminal itself: an answer to a question could arrive after the program
// has ended, as if somebody had typed it.
func answerLook(f io.Writer) markdown.Look {
	return markdown.Look{
		Width: max(terminalWidth(f)-1, leastColumns),
		Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// leastColumns is what is made of a terminal that is narrower, or that does not say.
const leastColumns = 20

// terminalWidth returns how many columns a terminal has; 80 for one that does not say.
func terminalWidth(f io.Writer) int {
	if file, ok := f.(*os.File); ok {
		if width := terminal.ScreenWidth(file); width > 0 {
			return width
		}
	}
	return 80
}
