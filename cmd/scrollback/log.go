package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// logged are the commands whose standard error is a log: they run on, and nobody need be there.
var logged = map[string]bool{"serve": true, "watch": true, "mcp": true, "run-with": true}

// receipted is logged where the receipt of the compaction says it too.
const receipted = "no model gave a summary; compacting without one"

// plainHandler says what is logged to the person who waits for a command: a sentence in their
// language, once, without the time, the level and the ids, which mean nothing to them.
type plainHandler struct {
	level slog.Level
	out   io.Writer
	told  *loggedLines
}

type loggedLines struct {
	mu    sync.Mutex
	lines []string
}

func newPlain(out io.Writer, level slog.Level) plainHandler {
	return plainHandler{level: level, out: out, told: &loggedLines{}}
}

// Enabled implements slog.Handler.
func (p plainHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= p.level }

// WithAttrs and WithGroup implement slog.Handler; what every line of a log has is not said.
func (p plainHandler) WithAttrs([]slog.Attr) slog.Handler { return p }
func (p plainHandler) WithGroup(string) slog.Handler      { return p }

// Handle implements slog.Handler.
func (p plainHandler) Handle(_ context.Context, r slog.Record) error {
	if r.Message == receipted {
		return nil
	}
	line := r.Message
	colon := ": "
	if speaksChinese() {
		line = i18n.Chinese.Translate(line)
		colon = "："
	}
	r.Attrs(func(a slog.Attr) bool {
		value := ""
		switch a.Key {
		case "error", "reason":
			value = a.Value.String()
			if err, ok := a.Value.Any().(error); ok {
				value = explainError(err)
			}
		case "path", "model", "archive", "rescue", "object", "name", "by":
			value = a.Value.String()
		}
		if value != "" {
			line += colon + value
		}
		return true
	})
	line = "scrollback: " + columns.StripControls(strings.Join(strings.Fields(line), " "))
	p.told.mu.Lock()
	defer p.told.mu.Unlock()
	if slices.Contains(p.told.lines, line) {
		return nil
	}
	p.told.lines = append(p.told.lines, line)
	_, err := fmt.Fprintln(p.out, line)
	return err
}
