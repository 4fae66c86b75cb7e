package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/terminal"
)

// print writes v as JSON if that was asked for, else what human writes.
func (g *globals) print(v any, human func(w io.Writer) error) error {
	if !g.JSON {
		return human(g.stdout)
	}
	enc := json.NewEncoder(g.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// explain is an error for the person at the terminal.
func explain(err error) string { return terminal.Explain(err) }

// isTerminal reports whether f is one.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && terminal.Is(file)
}

// count is how many things a command lists or reads: --limit, which means nothing
// else there, or the command's own flag.
func (g *globals) count(own int) int {
	if g.Limit != 0 {
		return int(g.Limit)
	}
	return own
}

// standardInput reads standard input until the program is told to end: a read that
// waits for a person must not hold it up.
func (g *globals) standardInput() io.Reader {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, g.stdin)
		w.CloseWithError(err)
	}()
	context.AfterFunc(g.ctx, func() { w.CloseWithError(scrollback.Wrap(scrollback.Canceled, "scrollback", context.Canceled)) })
	return r
}

// reflows reports whether the terminal breaks its rows again when it is made narrower. Most
// do; these cut them off.
func reflows() bool {
	term := os.Getenv("TERM")
	for _, kind := range []string{"linux", "rxvt", "vt", "sun"} {
		if strings.HasPrefix(term, kind) {
			return false
		}
	}
	return os.Getenv("XTERM_VERSION") == "" && (!strings.HasPrefix(term, "screen") || os.Getenv("TMUX") != "")
}
