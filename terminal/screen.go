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
	"github.com/scrollback-ai/scrollback/terminal/columns"
	"github.com/scrollback-ai/scrollback/terminal/markdown"
)

// earlier is how many messages of a resumed conversation are shown again.
const earlier = 6

// Screen chats on a real terminal. What is said lands in the terminal's own
// scrollback; only the line being written, the line being typed and the status
// are drawn over.
func Screen(ctx context.Context, o Options, in, out *os.File) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w := newScreenWriter(out, o.Reflows)
	s := newScreen(w, o.Color)
	defer o.Logs.divert(s.log)()
	c := &chat{o: o, f: s, typed: true}
	asked, err := c.open(ctx, s)
	if err != nil {
		return err
	}
	if o.Files != nil {
		s.files = func(at place, typed string) ([]string, error) { return o.Files(ctx, at.id, at.roots, typed) }
	}
	s.talks = func() []entry { return c.talks(ctx) }
	program := tea.NewProgram(newEditor(s, o, asked),
		tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(w), tea.WithoutSignalHandler())
	s.send = program.Send
	var session sync.WaitGroup
	var failed error
	session.Go(func() {
		defer program.Quit()
		_, failed = c.run(ctx)
	})
	_, err = program.Run()
	w.end()
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

// Is reports whether f is a terminal.
func Is(f *os.File) bool { return f != nil && term.IsTerminal(f.Fd()) }

// Width is how many columns a terminal has; 0 where it does not say.
func Width(f *os.File) int {
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return width
}

// open greets, or shows where a conversation was left. It returns the questions
// asked there.
func (c *chat) open(ctx context.Context, s *screen) (asked []string, err error) {
	w := s.writers()
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
	fmt.Fprintln(w.notes, resumed(c.o.Texts, conv.Title, conv.Messages))
	if page.Next != nil {
		fmt.Fprintln(w.notes, c.o.Texts.Say(i18n.ChatEarlier, columns.Thousands(*page.Next-1)))
	}
	for _, m := range page.Messages {
		text := columns.Plain(m.Parts.Text())
		switch {
		case text == "":
		case m.Role == scrollback.RoleUser:
			asked = append(asked, text)
			fmt.Fprintln(s.said(), text)
		case m.Role == scrollback.RoleAssistant:
			s.shown(text)
			if m.Status != scrollback.StatusComplete {
				fmt.Fprintln(w.notes, c.o.Texts.Unfinished(m.Status))
			}
		}
		for _, e := range page.After(m.Seq) {
			if e.Content != "" {
				s.shown(e.Content)
			}
			fmt.Fprintln(w.notes, c.o.Texts.Left(e))
		}
	}
	return asked, nil
}

// shown shows an answer again.
func (s *screen) shown(text string) {
	s.w.print(markdown.Look{Width: s.room(), Color: s.color}.Rows(text)...)
}

// screen is the face of a terminal. The chat calls its methods; the editor, which
// the library drives, takes messages from it and gives lines back.
type screen struct {
	w     *screenWriter
	send  func(tea.Msg)
	lines chan string
	gone  chan struct{} // closed when the editor has ended
	color bool
	files func(at place, typed string) ([]string, error) // nil completes nothing
	talks func() []entry                                 // the newest conversations; nil offers none
}

func newScreen(w *screenWriter, color bool) *screen {
	return &screen{w: w, send: func(tea.Msg) {}, lines: make(chan string, 1), gone: make(chan struct{}), color: color}
}

// next implements face.
func (s *screen) next(ctx context.Context) (string, error) {
	select {
	case line := <-s.lines:
		fmt.Fprintln(s.said(), columns.Plain(line))
		return line, nil
	case <-s.gone:
		return "", io.EOF
	case <-ctx.Done():
		return "", io.EOF
	}
}

func (s *screen) busy(stop func()) { s.send(busyMsg{stop}) }

func (s *screen) status(line string, at place) { s.send(statusMsg{line, at}) }

func (s *screen) writers() faceWriters {
	plain := s.rows(func(row string) string { return row })
	dim := s.rows(func(row string) string { return s.styled("2", row) })
	return faceWriters{
		answer: &markdown.Stream{
			Look: func() markdown.Look { return markdown.Look{Width: s.room(), Color: s.color} },
			Done: func(rows []string) { s.w.print(rows...) },
			Open: s.w.grow,
		},
		reasoning: dim, notes: dim, said: plain,
		faults: s.rows(func(row string) string { return s.styled("31", row) }),
	}
}

// said writes what the person said, set off from the replies.
func (s *screen) said() io.Writer {
	return s.rows(func(row string) string { return s.styled("1", prompt+row) })
}

// styled sets a row in a style of the terminal (an SGR number), if styles are used.
func (s *screen) styled(sgr, row string) string {
	if !s.color || strings.TrimSpace(row) == "" {
		return row
	}
	return "\x1b[" + sgr + "m" + row + "\x1b[0m"
}

// rows is a writer of running text in a style.
func (s *screen) rows(style func(string) string) *rows {
	return &rows{
		width: s.room,
		style: style,
		done:  func(row string) { s.w.print(row) },
		rest:  s.w.rest,
	}
}

// room is the width of a row. One column stays free: a full row would leave the cursor in
// the next.
func (s *screen) room() int {
	width, _ := s.w.size()
	return room(width)
}

// room is the width of a row on a screen of a width.
func room(width int) int { return max(width-1-len(prompt), 10) }
