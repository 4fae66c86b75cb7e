package terminal

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// glass is what the library draws on: a terminal that may become narrower at any moment.
// Most terminals break their rows again then, so that what was drawn is taller than the
// library thinks; what its moves upwards do not reach would stand there twice.
type glass struct {
	*os.File
	reflows bool // the terminal breaks its rows again

	mu     sync.Mutex
	width  int                     // that frames are made for
	shown  drawing                 // on the terminal
	at     int                     // the width it was drawn in
	newest atomic.Pointer[drawing] // on its way there
}

// drawing is a frame as the cursor finds it: the rows above it, the columns before it in its
// own, and how many rows there are in all.
type drawing struct {
	above  []string
	x      int
	height int
}

// drawn takes what the next frame will hold.
func (g *glass) drawn(d drawing) {
	if g != nil {
		g.newest.Store(&d)
	}
}

// Write implements io.Writer. A frame for a width that the terminal no longer has is left
// out: the library draws all of it again as soon as it hears of the change. Rows that
// are printed above are not left out.
func (g *glass) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	above := bytes.HasPrefix(b, []byte("\r")) && bytes.HasSuffix(b, []byte("\r\n")) // the one thing that ends in a new line
	now, _, err := term.GetSize(g.Fd())
	if err != nil {
		now = g.width
	}
	if now < g.width && !above {
		return len(b), nil
	}
	var next drawing
	if d := g.newest.Load(); d != nil && !above {
		next = *d
	}
	if up := g.missed(now, next); up > 0 {
		fmt.Fprintf(g.File, "\x1b[%dA", up)
	}
	g.shown, g.at = next, now
	return g.File.Write(b)
}

// missed is by how many rows the library will not reach the top of what is shown: those that
// it has become taller by, and those that the next frame is lower by than the cursor stands.
func (g *glass) missed(width int, next drawing) (n int) {
	if g.reflows && width < g.at && width > 0 {
		n = g.shown.x / width
		for _, row := range g.shown.above {
			n += max(columns.Width(columns.Unstyled(row))-1, 0) / width
		}
	}
	if next.height > 0 {
		n += max(len(g.shown.above)-(next.height-1), 0)
	}
	return n
}

// filter hears of another width before the library does.
func (g *glass) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.width = size.Width
	}
	return msg
}
