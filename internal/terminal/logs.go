package terminal

import (
	"io"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// Logs is where the lines of a log go when it is written to the terminal that a chat is drawn
// on: to a file, and while something is drawn, to where it does no harm. It may be used from
// several goroutines.
type Logs struct {
	mu   sync.Mutex
	out  io.Writer
	away func(line string) // takes the lines in place of out; nil takes none
}

// NewLogs returns logs that are written to out while nothing is drawn.
func NewLogs(out io.Writer) *Logs { return &Logs{out: out} }

// Write implements io.Writer for a log, which writes whole lines.
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away == nil {
		return l.out.Write(p)
	}
	for line := range strings.SplitSeq(strings.TrimRight(string(p), "\n"), "\n") {
		l.away(line)
	}
	return len(p), nil
}

// divertTo gives the lines to a function until back is called. Nil logs go nowhere near the
// terminal, and stay where they are.
func (l *Logs) divertTo(to func(line string)) (back func()) {
	if l == nil {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.away
	l.away = to
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.away = was
	}
}

// maxHeld bounds the lines that are held.
const maxHeld = 1000

// HoldLines keeps the lines until back is called, which writes them: the newest, where there are many.
func (l *Logs) HoldLines() (back func()) {
	var held []string
	divert := l.divertTo(func(line string) {
		if len(held) == maxHeld {
			held = held[1:]
		}
		held = append(held, line)
	})
	return func() {
		divert()
		for _, line := range held {
			_, _ = l.Write([]byte(line + "\n"))
		}
	}
}

// printLog prints a line of a log above the frame.
func (s *screen) printLog(line string) {
	var rows []string
	for _, row := range columns.WrapLine(columns.StripControls(line), s.rowWidth()) {
		rows = append(rows, s.styleRow("2", strings.TrimRight(row, " ")))
	}
	s.w.printRows(rows...)
}
