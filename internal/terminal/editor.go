package terminal

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

const (
	prompt     = "> "
	editorRows = 8       // the input grows to this, then scrolls
	maxTyped   = 400_000 // characters; the engine judges the message
	maxAsked   = 200     // lines kept to go back to
)

// What the chat tells the editor.
type (
	statusMsg struct { // where the conversation stands
		line string
		at   messagePlace
	}
	busyMsg struct{ stop func() } // a line is being worked on; nil: no more
)

// editor is what is drawn over and over at the end of the transcript: the input, what it may
// become, the status. It implements tea.Model.
type editor struct {
	s        *screen
	texts    words.Texts
	input    textarea.Model
	status   string
	stop     func() // not nil: busy
	stopping bool
	leaving  bool
	width    int
	asked    []string
	back     int    // which of asked is shown; len(asked) is the new line
	draft    string // the new line, while an older one is shown

	height int // of the screen
	at     messagePlace
	files  func(at messagePlace, typed string) ([]string, error)
	list   *completion // nil: nothing is being completed
	hint   string      // why there is no list

	menu    *menu       // nil: there is none
	offered string      // the line that the menu is for
	closed  bool        // the menu of this line was closed
	talks   []menuEntry // the conversations that a command may name
	asking  bool        // whether to leave
}

func newEditor(s *screen, o Options, asked []string) *editor {
	in := textarea.New()
	in.Prompt = prompt
	in.Placeholder = o.Texts.Say(i18n.ChatPlaceholder)
	in.ShowLineNumbers = false
	in.EndOfBufferCharacter = ' '
	in.CharLimit = maxTyped
	in.MaxHeight = editorRows
	in.DynamicHeight = true
	in.MinHeight = 1
	in.MaxContentHeight = maxTyped
	in.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	in.SetVirtualCursor(false) // the real one is where an input method shows its candidates
	style := textarea.DefaultDarkStyles()
	plain := textarea.StyleState{}
	if o.Color {
		plain.Prompt = lipgloss.NewStyle().Bold(true)
		plain.Placeholder = lipgloss.NewStyle().Faint(true)
	}
	style.Focused = plain
	style.Blurred = plain
	in.SetStyles(style)
	in.Focus()
	return &editor{s: s, texts: o.Texts, input: in, width: 80, height: 24, asked: asked, back: len(asked), files: s.files}
}

// Init implements tea.Model.
func (e *editor) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (e *editor) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case statusMsg:
		e.status = msg.line
		e.at = msg.at
		return e, nil
	case foundMsg:
		e.showFound(msg)
		return e, nil
	case busyMsg:
		e.stop = msg.stop
		e.stopping = false
		e.talks = nil
		return e, nil
	case talksMsg:
		e.talks = msg
		e.offered = ""
		return e, e.offerMenu()
	case tea.WindowSizeMsg:
		e.width = msg.Width
		e.height = msg.Height
		e.input.MaxHeight = max(min(editorRows, msg.Height-3), 1)
		e.input.SetWidth(max(msg.Width-1, 10))
		return e, nil
	case tea.KeyPressMsg:
		if cmd, taken := e.handleKey(msg.String()); taken {
			return e, tea.Batch(cmd, e.offerMenu())
		}
	}
	if _, pasted := msg.(tea.PasteMsg); pasted {
		e.list = nil
		e.hint = ""
	}
	var cmd tea.Cmd
	e.input, cmd = e.input.Update(msg)
	return e, tea.Batch(cmd, e.offerMenu())
}

// handleKey handles the keys that mean something to a chat; the others edit.
func (e *editor) handleKey(name string) (cmd tea.Cmd, taken bool) {
	info := e.input.LineInfo()
	asked := e.asking
	e.asking = false
	if e.menu != nil && e.menuKey(name) {
		return nil, true
	}
	switch name {
	case "tab":
		return e.completeTab(1), true
	case "shift+tab":
		return e.completeTab(-1), true
	case "up":
		if e.list != nil {
			return e.completeTab(-1), true
		}
	case "down":
		if e.list != nil {
			return e.completeTab(1), true
		}
	case "esc":
		if e.list == nil && e.hint == "" {
			e.haltWork()
		}
		e.list = nil
		e.hint = ""
		return nil, true
	}
	e.list = nil
	e.hint = ""
	switch name {
	case "ctrl+c":
		switch {
		case e.haltWork():
		case e.input.Value() != "":
			e.input.Reset()
			e.back = len(e.asked)
		case asked:
			return e.leaveProgram(), true
		default:
			e.asking = true
		}
		return nil, true
	case "ctrl+d":
		if e.input.Value() == "" && e.stop == nil {
			return e.leaveProgram(), true
		}
	case "enter":
		e.sendInput()
		return nil, true
	case "up":
		if e.input.Line() == 0 && info.RowOffset == 0 {
			e.recallQuestion(-1)
			return nil, true
		}
	case "down":
		if e.input.Line() == e.input.LineCount()-1 && info.RowOffset >= info.Height-1 {
			e.recallQuestion(1)
			return nil, true
		}
	}
	return nil, false
}

// haltWork stops what is being worked on, and reports whether there was something.
func (e *editor) haltWork() bool {
	if e.stop == nil {
		return false
	}
	e.stop()
	e.stopping = true
	return true
}

// leaveProgram ends the program; the last drawing is empty.
func (e *editor) leaveProgram() tea.Cmd {
	e.leaving = true
	return tea.Quit
}

// sendInput sends what was typed, unless the line goes on or a reply is under way.
func (e *editor) sendInput() {
	text := withSlash(e.input.Value())
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
	e.back = len(e.asked)
	e.draft = ""
	e.menu = nil
	e.closed = false
	e.stop = func() {} // busy until the chat says otherwise
	e.input.Reset()
}

// recallQuestion shows an earlier question, or a later one.
func (e *editor) recallQuestion(by int) {
	to := e.back + by
	if to < 0 || to > len(e.asked) {
		return
	}
	if e.back == len(e.asked) {
		e.draft = e.input.Value()
	}
	// the arrows go through the questions, not through a menu
	e.back = to
	e.closed = true
	if to == len(e.asked) {
		e.input.SetValue(e.draft)
		return
	}
	e.input.SetValue(e.asked[to])
}

// View implements tea.Model. The screen writer draws what there is to see; the library has an
// empty screen with a cursor.
func (e *editor) View() tea.View {
	e.s.w.drawFrame(e.drawFrame())
	v := tea.NewView("")
	v.Cursor = tea.NewCursor(0, 0)
	return v
}

// drawFrame returns what is to be seen of the editor; nothing, once it is left.
func (e *editor) drawFrame() frame {
	if e.leaving {
		return frame{}
	}
	status := e.status
	switch {
	case e.asking:
		status = e.texts.Say(i18n.ChatLeave)
	case e.stopping:
		status = e.texts.Say(i18n.ChatStopping)
	case e.stop != nil:
		status = e.texts.Say(i18n.ChatWorking)
	}
	e.scrollInput()
	lines := e.input.View() + "\n" + e.drawList() + e.s.styleRow("2", columns.ClipText(status, max(e.width-1, 10)))
	f := frame{rows: strings.Split(lines, "\n")}
	if at := e.input.Cursor(); at != nil {
		f.x = at.X
		f.y = at.Y
	}
	return f
}

// scrollInput brings the cursor into the rows of the input that are seen. The library scrolls before
// it knows how long a text is that it was given.
func (e *editor) scrollInput() {
	at := e.input.Cursor()
	if at == nil || at.Y >= 0 && at.Y < e.input.Height() {
		return
	}
	_ = e.input.View() // it knows the text from here on
	e.input, _ = e.input.Update(nil)
}
