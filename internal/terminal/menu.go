package terminal

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// menuEntry is a line of a menu: what it puts into the input, what is shown of it, and whether
// Enter then sends the line.
type menuEntry struct {
	line, name, about string
	whole             bool
}

// menu is what a line that begins with a slash may become, as a list under the input.
type menu struct {
	of    []menuEntry
	at    int  // the one that is chosen; -1: none yet
	moved bool // it was chosen with the arrows
}

// talksMsg brings the conversations that a command may name.
type talksMsg []menuEntry

// withSlash returns a line with the slash that begins a command, as it is typed with a Chinese
// keyboard too.
func withSlash(line string) string {
	if rest, ok := strings.CutPrefix(line, "／"); ok {
		return "/" + rest
	}
	return line
}

// offerMenu keeps the menu with what is typed. It may ask for the conversations.
func (e *editor) offerMenu() tea.Cmd {
	typed := withSlash(e.input.Value())
	if typed == e.offered {
		return nil
	}
	e.offered = typed
	e.menu = nil
	if e.closed = e.closed && strings.HasPrefix(typed, "/"); e.closed || !strings.HasPrefix(typed, "/") ||
		strings.HasPrefix(typed, "//") || strings.Contains(typed, "\n") {
		return nil
	}
	name, arg, spaced := strings.Cut(typed, " ")
	if !spaced {
		of, begin := e.commandsLike(name)
		at := 0
		if begin == 0 {
			at = -1 // what only mentions it in its help is not run without being chosen
		}
		e.showMenu(of, at)
		return nil
	}
	for _, c := range commands() {
		if c.name == name && c.names {
			if e.talks == nil && e.s.talks != nil {
				return func() tea.Msg { return talksMsg(e.s.talks()) }
			}
			at := 0
			if arg == "latest" || arg != "" && strings.Trim(arg, "0123456789") == "" {
				at = -1 // the line as it is typed
			}
			e.showMenu(matchTalks(e.talks, name, arg), at)
		}
	}
	return nil
}

func (e *editor) showMenu(of []menuEntry, at int) {
	if len(of) > 0 {
		e.menu = &menu{of: of, at: at}
	}
}

// commandsLike returns the commands that begin as typed, how many those are, and then those whose
// help has what was typed.
func (e *editor) commandsLike(typed string) (of []menuEntry, beginning int) {
	var begin, about []menuEntry
	for _, c := range commands() {
		it := menuEntry{line: c.name, name: c.name, about: help(e.texts, c), whole: !c.needed && !c.names}
		if c.takes != "" {
			it.name += " " + e.texts.Say(c.takes)
			it.line += " "
		}
		switch {
		case strings.HasPrefix(c.name, strings.ToLower(typed)):
			begin = append(begin, it)
		case len(typed) > 1 && strings.Contains(strings.ToLower(it.about), strings.ToLower(typed[1:])):
			about = append(about, it)
		}
	}
	return append(begin, about...), len(begin)
}

// matchTalks returns the conversations whose id begins as typed, or whose title has what was typed.
func matchTalks(talks []menuEntry, command, typed string) []menuEntry {
	var out []menuEntry
	for _, t := range talks {
		if strings.HasPrefix(t.line, typed) || strings.Contains(strings.ToLower(t.about), strings.ToLower(typed)) {
			out = append(out, menuEntry{command + " " + t.line, t.name, t.about, true})
		}
	}
	return out
}

// newestTalks returns the newest conversations.
func (c *chat) newestTalks(ctx context.Context) []menuEntry {
	items, _, err := c.o.View.List(ctx, scrollback.ListQuery{Limit: scrollback.ListMax})
	if err != nil {
		return nil // typing goes on without a menu
	}
	var out []menuEntry
	for _, it := range items {
		out = append(out, menuEntry{line: string(it.ID), name: columns.FormatTime(it.UpdatedAt, c.o.Zone),
			about: columns.ClipText(it.Title, 200)})
	}
	return out
}

// menuKey handles the keys of an open menu.
func (e *editor) menuKey(name string) (taken bool) {
	switch name {
	case "up", "shift+tab":
		e.menu.moveBy(-1)
	case "down":
		e.menu.moveBy(1)
	case "esc":
		e.menu = nil
		e.closed = true
	case "tab":
		e.takeEntry(e.menu.of[max(e.menu.at, 0)])
	case "enter":
		m := e.menu
		if m.at < 0 || !m.moved && withSlash(e.input.Value()) == strings.TrimSpace(m.of[m.at].line) {
			return false // the line as it is typed
		}
		it := m.of[m.at]
		e.takeEntry(it)
		if it.whole {
			e.sendInput()
		}
	default:
		return false
	}
	return true
}

func (m *menu) moveBy(by int) {
	n := len(m.of)
	if m.at < 0 && by < 0 {
		m.at = 0
	}
	m.at = (m.at + by + n) % n
	m.moved = true
}

// takeEntry puts an entry into the input.
func (e *editor) takeEntry(it menuEntry) {
	e.input.SetValue(it.line)
	e.input.MoveToEnd()
	e.menu = nil
}

// drawMenu draws the menu; it is empty or ends in a new line.
func (e *editor) drawMenu() string {
	width := max(e.width-1-len(prompt), 10)
	names := 0
	for _, it := range e.menu.of {
		names = max(names, columns.TextWidth(it.name))
	}
	first, last := e.visibleRange(len(e.menu.of), e.menu.at)
	var b strings.Builder
	for i, it := range e.menu.of[first:last] {
		row := "  "
		style := "2"
		if first+i == e.menu.at {
			row = prompt
			style = "1"
		}
		name := it.name + strings.Repeat(" ", names-columns.TextWidth(it.name))
		b.WriteString(e.s.styleRow(style, strings.TrimRight(row+columns.CutRow(name+"  "+it.about, width), " ")) + "\n")
	}
	if left := len(e.menu.of) - (last - first); left > 0 {
		b.WriteString(e.s.styleRow("2", "  "+columns.ClipText(e.texts.Say(i18n.ChatMoreFiles,
			columns.FormatThousands(int64(left))),
			width)) + "\n")
	}
	return b.String()
}
