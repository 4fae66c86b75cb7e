package terminal

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// screenWriter is the only one that writes to the terminal of a chat. Rows that are printed go
// into the terminal's own scrollback; the frame below them is drawn over. It draws the frame
// itself, whole each time, because it alone knows what stands there and in which width it was
// drawn. The library that reads the keys is given an empty screen, and only switches modes of
// the terminal through Write.
//
// It embeds nothing: a method of the file that came along would write past it.
type screenWriter struct {
	out     io.Writer
	file    *os.File                    // what out is, for the library; nil in tests
	size    func() (width, height int)  // of the terminal, as it is now
	reflows bool                        // the terminal breaks its rows again when its width changes
	wait    time.Duration               // between two drawings
	later   func(time.Duration, func()) // calls a function after a while

	mu      sync.Mutex
	printed []string    // not yet on the terminal
	growing growingText // drawn above the frame
	next    frame       // the newest
	shown   frame       // on the terminal
	width   int         // that it was drawn in
	height  int         // of the screen then: rows below the cursor may be gone from a lower one
	drawn   time.Time
	due     bool // it will be drawn later
	ended   bool
}

// frame is what is drawn below the printed rows.
type frame struct {
	rows []string
	x, y int // where the cursor stands
}

// drawEvery is the least time between two drawings of a chat.
const drawEvery = 16 * time.Millisecond

// newScreenWriter returns the writer of a terminal.
func newScreenWriter(out *os.File, reflows bool) *screenWriter {
	return &screenWriter{out: out, file: out, reflows: reflows, wait: drawEvery,
		later: func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		size: func() (int, int) {
			width, height, err := term.GetSize(out.Fd())
			if err != nil || width <= 0 || height <= 0 {
				return 80, 24
			}
			return width, height
		}}
}

// printRows puts rows into the transcript, above the frame.
func (w *screenWriter) printRows(rows ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.printed = append(w.printed, rows...)
	w.drawSoon()
}

// drawFrame takes the newest frame.
func (w *screenWriter) drawFrame(f frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = f
	for i, row := range f.rows {
		w.next.rows[i] = padding().ReplaceAllString(row, "$1")
	}
	w.drawSoon()
}

// padding are the spaces that fill a row up. Narrowed, a terminal would break them into rows.
var padding = lazyregexp.New(` +((\x1b\[[0-9;]*m)*)$`)

// setGrowing takes the block of the answer that still grows, as it is written; it is empty when there
// is none.
func (w *screenWriter) setGrowing(open string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.growing.open = open
	w.drawSoon()
}

// setRest takes the row of other text that still grows.
func (w *screenWriter) setRest(row string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.growing.rest = row
	w.drawSoon()
}

// endDrawing takes the frame away and leaves the cursor where it began. What is printed from then on
// is written at once.
func (w *screenWriter) endDrawing() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = frame{}
	w.growing = growingText{}
	w.ended = true
	w.paintNow()
}

// drawSoon draws now, or when the least time since the last drawing has passed. Answers come in
// hundreds of pieces a second.
func (w *screenWriter) drawSoon() {
	left := w.wait - time.Since(w.drawn)
	switch {
	case w.ended || left <= 0:
		w.paintNow()
	case !w.due:
		w.due = true
		w.later(left, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.due {
				w.paintNow()
			}
		})
	}
}

// Control sequences of the terminal.
const (
	beginUpdate = "\x1b[?2026h" // nothing is shown until endUpdate, where this is known
	endUpdate   = "\x1b[?2026l"
	hideCursor  = "\x1b[?25l"
	showCursor  = "\x1b[?25h"
	noWrap      = "\x1b[?7l" // a row of the frame takes one row, however wide its characters turn out
	wrap        = "\x1b[?7h"
	// eraseBelow erases the row of the cursor and all below. tmux keeps a screen in its scrollback
	// that is erased from the first column of its first row, so the second begins.
	eraseBelow = "\r\x1b[2K\x1b[C\x1b[J\r"
)

// paintNow puts the terminal into the state that was asked for.
func (w *screenWriter) paintNow() {
	w.due = false
	w.drawn = time.Now()
	width, height := w.size()
	next := w.composeFrame(width, height)
	if len(w.printed) == 0 && width == w.width && height == w.height && next.equals(w.shown) {
		return
	}
	var b strings.Builder
	b.WriteString(beginUpdate + hideCursor + w.moveToFrame(width) + eraseBelow)
	for _, row := range w.printed {
		b.WriteString(row + "\r\n")
	}
	b.WriteString(noWrap + strings.Join(next.rows, "\r\n") + wrap + "\r")
	if up := len(next.rows) - 1 - next.y; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	if next.x > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", next.x)
	}
	b.WriteString(showCursor + endUpdate)
	w.printed = nil
	w.shown = next
	w.width = width
	w.height = height
	_, _ = io.WriteString(w.out, b.String()) // a terminal that is gone ends the reading of keys
}

// composeFrame returns the frame with what is growing above it. It leaves a row of the screen free: a
// frame as high as the screen would leave its first row behind each time something is printed.
func (w *screenWriter) composeFrame(width, height int) frame {
	f := w.next
	most := min(openRows, height/2, height-1-len(f.rows))
	rows := w.growing.lastRows(rowWidth(width), max(most, 0))
	f = frame{append(rows, f.rows...), f.x, f.y + len(rows)}
	if over := len(f.rows) - max(height-1, 1); over > 0 {
		cut := min(over, f.y) // the row of the cursor stays
		f = frame{f.rows[cut : cut+len(f.rows)-over], f.x, f.y - cut}
	}
	f.rows = slices.Clone(f.rows)
	for i, row := range f.rows {
		f.rows[i] = columns.CropRow(row, width)
	}
	f.y = max(min(f.y, len(f.rows)-1), 0)
	f.x = max(min(f.x, width-1), 0)
	return f
}

func (f frame) equals(o frame) bool { return f.x == o.x && f.y == o.y && slices.Equal(f.rows, o.rows) }

// moveToFrame moves from the cursor to the first row of what is shown. A terminal that became
// narrower may have broken its rows again, so that they take more rows than were drawn.
func (w *screenWriter) moveToFrame(width int) string {
	if len(w.shown.rows) == 0 {
		return ""
	}
	up := w.shown.y
	if w.reflows && width < w.width {
		up = 0
		for _, row := range w.shown.rows[:w.shown.y] {
			up += 1 + columns.CountBreaks(row, columns.TextWidth(columns.StripStyles(row)), width)
		}
		up += columns.CountBreaks(w.shown.rows[w.shown.y], w.shown.x, width)
	}
	if up == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA", up)
}

// Write implements io.Writer for the library, whose screen is always empty: what it writes
// switches modes, and may erase everything below the cursor.
func (w *screenWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	width, _ := w.size()
	up := w.moveToFrame(width) + eraseBelow
	w.shown = frame{}
	if _, err := io.WriteString(w.out, up+string(b)); err != nil {
		return 0, err
	}
	w.paintNow()
	return len(b), nil
}

// Read, Close and Fd make it a file to the library, which asks a file for its size and sets a
// terminal up.
func (w *screenWriter) Read(b []byte) (int, error) { return w.file.Read(b) }

// Close is called by nobody: the file belongs to the program.
func (w *screenWriter) Close() error { return nil }

// Fd returns the file's descriptor.
func (w *screenWriter) Fd() uintptr { return w.file.Fd() }
