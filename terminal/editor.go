package terminal

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/scrollback-ai/scrollback/terminal/columns"
	"github.com/scrollback-ai/scrollback/terminal/words"
)

const (
	prompt     = "> "
	editorRows = 8       // the input grows to this, then scrolls
	maxTyped   = 400_000 // characters; the engine judges the message
	maxAsked   = 200     // lines kept to go back to
)

// What the chat tells the editor.
type (
	restMsg   string   // the row that still grows
	statusMsg struct { // where the conversation stands
		line string
		at   place
	}
	busyMsg  struct{ stop func() } // a line is being worked on; nil: no more
	drawnMsg struct{}              // the first drawing is on the screen
)

// editor is what is drawn over and over at the end of the transcript: the row
// being written, the input, the status. It implements tea.Model.
type editor struct {
	s        *screen
	texts    words.Texts
	input    textarea.Model
	rest     string
	status   string
	stop     func() // not nil: busy
	stopping bool
	leaving  bool
	width    int
	asked    []string
	back     int    // which of asked is shown; len(asked) is the new line
	draft    string // the new line, while an older one is shown

	height int // of the screen
	at     place
	files  func(at place, typed string) ([]string, error)
	list   *completion // nil: nothing is being completed
	hint   string      // why there is no list
}

func newEditor(s *screen, o Options, asked []string) *editor {
	in := textarea.New()
	in.Prompt, in.Placeholder, in.ShowLineNumbers, in.EndOfBufferCharacter = prompt, o.Texts.Placeholder, false, ' '
	in.CharLimit, in.MaxHeight, in.DynamicHeight, in.MinHeight = maxTyped, editorRows, true, 1
	in.MaxContentHeight = maxTyped
	in.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	in.SetVirtualCursor(false) // the real one is where an input method shows its candidates
	style := textarea.DefaultDarkStyles()
	plain := textarea.StyleState{}
	if o.Color {
		plain.Prompt = lipgloss.NewStyle().Bold(true)
		plain.Placeholder = lipgloss.NewStyle().Faint(true)
	}
	style.Focused, style.Blurred = plain, plain
	in.SetStyles(style)
	in.Focus()
	return &editor{s: s, texts: o.Texts, input: in, width: 80, height: 24, asked: asked, back: len(asked), files: s.files}
}

// Init implements tea.Model. The library draws 60 times a second and does not say when.
func (e *editor) Init() tea.Cmd {
	return tea.Tick(50*time.Millisecond, func(time.Time) tea.Msg { return drawnMsg{} })
}

// Update implements tea.Model.
func (e *editor) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case restMsg:
		e.rest = string(msg)
		return e, nil
	case statusMsg:
		e.status, e.at = msg.line, msg.at
		return e, nil
	case foundMsg:
		e.arrived(msg)
		return e, nil
	case busyMsg:
		e.stop, e.stopping = msg.stop, false
		return e, nil
	case drawnMsg:
		close(e.s.ready)
		return e, nil
	case tea.WindowSizeMsg:
		e.width, e.height = msg.Width, msg.Height
		e.s.width.Store(int64(msg.Width))
		e.input.SetWidth(max(msg.Width-1, 10))
		return e, nil
	case tea.KeyPressMsg:
		if cmd, taken := e.key(msg.String()); taken {
			return e, cmd
		}
	}
	if _, pasted := msg.(tea.PasteMsg); pasted {
		e.list, e.hint = nil, ""
	}
	var cmd tea.Cmd
	e.input, cmd = e.input.Update(msg)
	return e, cmd
}

// key handles the keys that mean something to a chat; the others edit.
func (e *editor) key(name string) (cmd tea.Cmd, taken bool) {
	info := e.input.LineInfo()
	switch name {
	case "tab":
		return e.tab(1), true
	case "shift+tab":
		return e.tab(-1), true
	case "up":
		if e.list != nil {
			return e.tab(-1), true
		}
	case "down":
		if e.list != nil {
			return e.tab(1), true
		}
	case "esc":
		e.list, e.hint = nil, ""
		return nil, true
	}
	e.list, e.hint = nil, ""
	switch name {
	case "ctrl+c":
		switch {
		case e.stop != nil:
			e.stop()
			e.stopping = true
		case e.input.Value() != "":
			e.input.Reset()
			e.back = len(e.asked)
		default:
			return e.leave(), true
		}
		return nil, true
	case "ctrl+d":
		if e.input.Value() == "" && e.stop == nil {
			return e.leave(), true
		}
	case "enter":
		e.enter()
		return nil, true
	case "up":
		if e.input.Line() == 0 && info.RowOffset == 0 {
			e.recall(-1)
			return nil, true
		}
	case "down":
		if e.input.Line() == e.input.LineCount()-1 && info.RowOffset >= info.Height-1 {
			e.recall(1)
			return nil, true
		}
	}
	return nil, false
}

// leave ends the program; the last drawing is empty.
func (e *editor) leave() tea.Cmd {
	e.leaving = true
	return tea.Quit
}

// enter sends what was typed, unless the line goes on or a reply is under way.
func (e *editor) enter() {
	text := e.input.Value()
	if head, more := strings.CutSuffix(text, `\`); more {
		e.input.SetValue(head + "\n")
		return
	}
	if strings.TrimSpace(text) == "" || e.stop != nil {
		return
	}
	select {
	case e.s.lines <- text:
	default: // the chat is not waiting for a line yet
		return
	}
	if e.asked = append(e.asked, text); len(e.asked) > maxAsked {
		e.asked = e.asked[1:]
	}
	e.back, e.draft = len(e.asked), ""
	e.stop = func() {} // busy until the chat says otherwise
	e.input.Reset()
}

// recall shows an earlier question, or a later one.
func (e *editor) recall(by int) {
	to := e.back + by
	if to < 0 || to > len(e.asked) {
		return
	}
	if e.back == len(e.asked) {
		e.draft = e.input.Value()
	}
	e.back = to
	if to == len(e.asked) {
		e.input.SetValue(e.draft)
		return
	}
	e.input.SetValue(e.asked[to])
}

// View implements tea.Model.
func (e *editor) View() tea.View {
	if e.leaving {
		return tea.NewView("")
	}
	var top string
	if e.rest != "" {
		top = e.rest + "\n"
	}
	status := e.status
	switch {
	case e.stopping:
		status = e.texts.Stopping
	case e.stop != nil:
		status = e.texts.Working
	}
	v := tea.NewView(top + e.input.View() + "\n" + e.listed() + e.s.styled("2", columns.Clip(status, max(e.width-1, 10))))
	if v.Cursor = e.input.Cursor(); v.Cursor != nil {
		v.Cursor.Y += strings.Count(top, "\n")
	}
	return v
}
