package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"charm.land/bubbles/v2/list"
	tea "charm.land/bubbletea/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// pickRows is how many conversations are seen at once.
const pickRows = 10

// PickConversation lets the person choose one of the newest conversations. It returns "" when they
// choose none.
func PickConversation(ctx context.Context, o Options, in, out *os.File) (scrollback.ConversationID, error) {
	items, _, err := o.View.List(ctx, scrollback.ListQuery{Project: o.New.Project, Limit: scrollback.ListMax})
	if err != nil || len(items) == 0 {
		return "", errors.Join(err, nothingToPick(len(items)))
	}
	choices := make([]list.Item, len(items))
	rows := pickerRows(items, o.Zone)
	for i, c := range items {
		choices[i] = choice{c, rows[i]}
	}
	l := list.New(choices, choiceLine{o.Color}, 80, pickRows+4)
	l.Title = o.Texts.Say(i18n.ChatPick)
	l.SetShowStatusBar(false)
	l.SetShowHelp(false)
	if !o.Color {
		l.Styles = list.Styles{}
	}
	m := &picker{list: l, keys: o.Texts.Say(i18n.ChatPickKeys)}
	defer o.Logs.HoldLines()()
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted) {
		return "", scrollback.Wrap(scrollback.Canceled, "terminal.Pick", context.Canceled)
	}
	return m.picked, scrollback.Wrap(scrollback.Unavailable, "terminal.Pick", err)
}

func nothingToPick(n int) error {
	if n > 0 {
		return nil
	}
	return scrollback.Errorf(scrollback.NotFound, "terminal.Pick", i18n.NoConversationsYet)
}

// pickerRows returns conversations in aligned columns: when they changed, their messages and, if
// any has one, the project, then the title.
func pickerRows(items []scrollback.Conversation, zone *time.Location) []string {
	counts := 0
	projects := 0
	for _, c := range items {
		counts = max(counts, columns.TextWidth(columns.FormatThousands(c.Messages)))
		projects = max(projects, columns.TextWidth(columns.ClipText(c.Project, pickProject)))
	}
	rows := make([]string, len(items))
	for i, c := range items {
		count := columns.FormatThousands(c.Messages)
		project := columns.ClipText(c.Project, pickProject)
		row := columns.FormatTime(c.UpdatedAt, zone) + "  " + strings.Repeat(" ", counts-columns.TextWidth(count)) + count +
			"  "
		if projects > 0 {
			row += project + strings.Repeat(" ", projects-columns.TextWidth(project)+2)
		}
		rows[i] = strings.TrimRight(row+columns.ClipText(c.Title, pickTitle), " ")
	}
	return rows
}

// pickProject and pickTitle are how much of a project and of a title is shown, in columns.
const (
	pickProject = 16
	pickTitle   = 200
)

// choice is a conversation in the list, and how it is written there.
type choice struct {
	scrollback.Conversation
	row string
}

// FilterValue implements list.Item: what is typed is matched against it.
func (c choice) FilterValue() string { return c.Title + " " + c.Project + " " + string(c.ID) }

// choiceLine draws a choice on one line.
type choiceLine struct{ color bool }

// Height, Spacing and Update implement list.ItemDelegate.
func (choiceLine) Height() int                         { return 1 }
func (choiceLine) Spacing() int                        { return 0 }
func (choiceLine) Update(tea.Msg, *list.Model) tea.Cmd { return nil }

// Render implements list.ItemDelegate.
func (d choiceLine) Render(w io.Writer, m list.Model, index int, item list.Item) {
	c, ok := item.(choice)
	if !ok {
		return
	}
	row := columns.CutRow(c.row, max(m.Width()-4, 20))
	switch {
	case index != m.Index():
		row = "  " + row
	case d.color:
		row = "\x1b[1m" + prompt + row + "\x1b[0m"
	default:
		row = prompt + row
	}
	fmt.Fprint(w, row)
}

// picker is the list on the screen. It implements tea.Model.
type picker struct {
	list   list.Model
	keys   string
	picked scrollback.ConversationID
	done   bool
}

// Init implements tea.Model.
func (p *picker) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (p *picker) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.list.SetSize(msg.Width, min(msg.Height, pickRows+4))
		return p, nil
	case tea.KeyPressMsg:
		switch name := msg.String(); {
		case name == "ctrl+c", name == "ctrl+d", (name == "esc" || name == "q") && p.list.FilterState() == list.Unfiltered:
			p.done = true
			return p, tea.Quit
		case name == "enter" && !p.list.SettingFilter():
			if c, ok := p.list.SelectedItem().(choice); ok {
				p.picked = c.ID
			}
			p.done = true
			return p, tea.Quit
		}
	}
	var cmd tea.Cmd
	p.list, cmd = p.list.Update(msg)
	return p, cmd
}

// View implements tea.Model.
func (p *picker) View() tea.View {
	if p.done {
		return tea.NewView("")
	}
	return tea.NewView(p.list.View() + "\n" + columns.ClipText(p.keys, max(p.list.Width()-1, 20)))
}
