package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/usage"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// printResult writes v as JSON if that was asked for, else what human writes.
func (g *globals) printResult(v any, human func(w io.Writer) error) error {
	if !g.JSON {
		return human(g.stdout)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := g.safeOutput().Write(scrollback.WellFormed(b.Bytes())) // the log may hold arguments that are not
	return err
}

// safeOutput returns the standard output for what was written elsewhere: on a terminal, without the
// characters that make it do something.
func (g *globals) safeOutput() io.Writer {
	if isTerminal(g.stdout) {
		return columns.PlainWriter(g.stdout)
	}
	return g.stdout
}

// explainError returns an error for the person at the terminal.
func explainError(err error) string {
	english := terminal.ExplainError(err)
	if speaksChinese() {
		return usage.Said(err, english)
	}
	return english
}

// isTerminal reports whether f is one.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && terminal.IsTerminal(file)
}

// listLimit returns how many things a command lists or reads: --limit, which means nothing
// else there, or the command's own flag.
func (g *globals) listLimit(own int) int {
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
	context.AfterFunc(g.ctx, func() {
		w.CloseWithError(scrollback.Wrap(scrollback.Canceled, "scrollback", context.Canceled))
	})
	return r
}

// newListing returns how a list is written: on a terminal with short ids that name one conversation
// each, else with whole ones.
func (a *app) newListing(g *globals, items, agents []scrollback.Conversation) terminal.Listing {
	if !isTerminal(g.stdout) {
		return terminal.Listing{Zone: g.zone, Texts: g.localeTexts()}
	}
	l := terminal.Listing{Zone: g.zone, Texts: g.localeTexts(), Short: map[scrollback.ConversationID]string{},
		Width: max(terminalWidth(g.stdout), 2*leastColumns)}
	for _, c := range slices.Concat(items, agents) {
		l.Short[c.ID] = shortID(g.ctx, a.View, c.ID)
	}
	return l
}
