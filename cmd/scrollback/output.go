package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/usage"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/terminal/markdown"
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
func explain(err error) string {
	english := terminal.Explain(err)
	if inChinese() {
		return usage.Said(err, english)
	}
	return english
}

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

// look is how answers are shown on a terminal.
func look(f io.Writer) markdown.Look {
	return markdown.Look{Width: max(widthOf(f)-1, leastWidth), Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// leastWidth is what is made of a terminal that is narrower, or that does not say.
const leastWidth = 20

// widthOf is how many columns a terminal has.
func widthOf(f io.Writer) int {
	if file, ok := f.(*os.File); ok {
		if width := terminal.Width(file); width > 0 {
			return width
		}
	}
	return 80
}

// listing is how a list is written: on a terminal with short ids that name one conversation
// each, else with whole ones.
func (g *globals) listing(a *app, items, agents []scrollback.Conversation) terminal.Listing {
	if !isTerminal(g.stdout) {
		return terminal.Listing{}
	}
	l := terminal.Listing{Short: map[scrollback.ConversationID]string{}, Width: max(widthOf(g.stdout), 2*leastWidth)}
	for _, c := range slices.Concat(items, agents) {
		l.Short[c.ID] = a.short(g.ctx, c.ID)
	}
	return l
}

// short is the shortest beginning of an id, to the end of one of its parts, that names
// its conversation alone.
func (a *app) short(ctx context.Context, id scrollback.ConversationID) string {
	for i, r := range string(id) {
		if r == '-' {
			if found, err := a.Resolve(ctx, string(id[:i])); err == nil && found == id {
				return string(id[:i])
			}
		}
	}
	return string(id)
}

// whole is the text of an artifact from its beginning to its end.
func (a *app) whole(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref) (string, error) {
	var b strings.Builder
	for at := int64(0); ; {
		page, err := a.Recall().Read(ctx, id, ref, at, scrollback.ReadMax)
		if err != nil {
			return "", err
		}
		b.WriteString(page.Content)
		if page.Done {
			return b.String(), nil
		}
		at = page.NextOffset
	}
}
