package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/markdown"
)

// earlier is how many messages of a resumed conversation are shown again.
const earlier = 6

// RunScreen chats on a real terminal. What is said lands in the terminal's own
// scrollback; only the line being written, the line being typed and the status
// are drawn over.
func RunScreen(ctx context.Context, o Options, in, out *os.File) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w := newScreenWriter(out, o.Reflows)
	s := newScreen(w, o.Color)
	defer o.Logs.divertTo(s.printLog)()
	c := &chat{o: o, f: s, typed: true}
	asked, err := c.openChat(ctx, s)
	if err != nil {
		return err
	}
	if o.Files != nil {
		s.files = func(at messagePlace, typed string) ([]string, error) { return o.Files(ctx, at.id, at.roots, typed) }
	}
	s.talks = func() []menuEntry { return c.newestTalks(ctx) }
	program := tea.NewProgram(newEditor(s, o, asked),
		tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(w), tea.WithoutSignalHandler())
	s.send = program.Send
	var session sync.WaitGroup
	var failed error
	session.Go(func() {
		defer program.Quit()
		_, failed = c.runLoop(ctx)
	})
	_, err = program.Run()
	w.endDrawing()
	close(s.gone)
	stop() // a reply under way is stopped, and what it wrote is saved
	session.Wait()
	if errors.Is(err, tea.ErrProgramKilled) {
		err = scrollback.Wrap(scrollback.Canceled, "terminal.Screen", context.Canceled)
	}
	if c.id != "" {
		fmt.Fprintln(out, o.Texts.Say(i18n.ChatEnded, c.id))
	}
	return errors.Join(scrollback.Wrap(scrollback.Unavailable, "terminal.Screen", err), failed)
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(f.Fd()) }

// ScreenWidth returns how many columns a terminal has; 0 where it does not say.
func ScreenWidth(f *os.File) int {
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return width
}

// openChat greets, or shows where a conversation was left. It returns the questions
// asked there.
func (c *chat) openChat(ctx context.Context, s *screen) (asked []string, err error) {
	w := s.textWriters()
	if c.o.Conversation == "" {
		fmt.Fprintln(w.notes, c.o.Texts.Say(i18n.ChatGreeting, c.modelName(scrollback.Conversation{})))
		if c.modelName(scrollback.Conversation{}) == "offline" {
			fmt.Fprintln(w.notes, c.o.Texts.Say(i18n.ChatOffline))
		}
		return nil, nil
	}
	conv, err := c.o.View.Get(ctx, c.o.Conversation)
	if err != nil {
		return nil, err
	}
	page, err := c.o.View.Turns().Page(ctx, conv.ID, scrollback.PageQuery{Limit: earlier})
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(w.notes, describeResumed(c.o.Texts, conv.Title, conv.Messages))
	if page.Next != nil {
		fmt.Fprintln(w.notes, c.o.Texts.Say(i18n.ChatEarlier, columns.FormatThousands(*page.Next-1)))
	}
	for _, m := range page.Messages {
		text := columns.StripControls(m.Parts.Text())
		switch {
		case text == "":
		case m.Role == scrollback.RoleUser:
			asked = append(asked, text)
			fmt.Fprintln(s.userWriter(), text)
		case m.Role == scrollback.RoleAssistant:
			s.showAnswer(text)
			if m.Status != scrollback.StatusComplete {
				fmt.Fprintln(w.notes, c.o.Texts.Unfinished(m.Status))
			}
		}
		for _, e := range page.TurnsAfter(m.Seq) {
			if e.Content != "" {
				s.showAnswer(e.Content)
			}
			fmt.Fprintln(w.notes, c.o.Texts.Left(e))
		}
	}
	return asked, nil
}

// showAnswer shows an answer again.
func (s *screen) showAnswer(text string) {
	s.w.printRows(markdown.Look{Width: s.rowWidth(), Color: s.color}.RenderRows(text)...)
}

// screen is the face of a terminal. The chat calls its methods; the editor, which
// the library drives, takes messages from it and gives lines back.
type screen struct {
	w     *screenWriter
	send  func(tea.Msg)
	lines chan string
	gone  chan struct{} // closed when the editor has ended
	color bool
	files func(at messagePlace, typed string) ([]string, error) // nil completes nothing
	talks func() []menuEntry                                    // the newest conversations; nil offers none
}

func newScreen(w *screenWriter, color bool) *screen {
	return &screen{w: w, send: func(tea.Msg) {}, lines: make(chan string, 1), gone: make(chan struct{}), color: color}
}

// nextLine implements face.
func (s *screen) nextLine(ctx context.Context) (string, error) {
	select {
	case line := <-s.lines:
		fmt.Fprintln(s.userWriter(), columns.StripControls(line))
		return line, nil
	case <-s.gone:
		return "", io.EOF
	case <-ctx.Done():
		return "", io.EOF
	}
}

func (s *screen) setBusy(stop func()) { s.send(busyMsg{stop}) }

func (s *screen) setStatus(line string, at messagePlace) { s.send(statusMsg{line, at}) }

func (s *screen) textWriters() faceWriters {
	plain := s.newRowWriter(func(row string) string { return row })
	dim := s.newRowWriter(func(row string) string { return s.styleRow("2", row) })
	return faceWriters{
		answer: &markdown.Stream{
			Look: func() markdown.Look { return markdown.Look{Width: s.rowWidth(), Color: s.color} },
			Done: func(rows []string) { s.w.printRows(rows...) },
			Open: s.w.setGrowing,
		},
		reasoning: dim, notes: dim, said: plain,
		faults: s.newRowWriter(func(row string) string { return s.styleRow("31", row) }),
	}
}

// userWriter writes what the person said, set off from the replies.
func (s *screen) userWriter() io.Writer {
	return s.newRowWriter(func(row string) string { return s.styleRow("1", prompt+row) })
}

// styleRow sets a row in a style of the terminal (an SGR number), if styles are used.
func (s *screen) styleRow(sgr, row string) string {
	if !s.color || strings.TrimSpace(row) == "" {
		return row
	}
	return "\x1b[" + sgr + "m" + row + "\x1b[0m"
}

// newRowWriter returns a writer of running text in a style.
func (s *screen) newRowWriter(style func(string) string) *rowWriter {
	return &rowWriter{
		width: s.rowWidth,
		style: style,
		done:  func(row string) { s.w.printRows(row) },
		rest:  s.w.setRest,
	}
}

// rowWidth returns the width of a row. One column stays free: a full row would leave the cursor in
// the next.
func (s *screen) rowWidth() int {
	width, _ := s.w.size()
	return rowWidth(width)
}

// rowWidth returns the width of a row on a screen of a width.
func rowWidth(width int) int { return max(width-1-len(prompt), 10) }
