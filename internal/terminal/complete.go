package terminal

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// Files lists what a reference may name in a conversation or, where id is empty, in one
// that will have those roots: the paths that begin with what was typed, then those that are
// like it; folders have a slash at their end.
type Files func(ctx context.Context, id scrollback.ConversationID, roots []string, typed string) ([]string, error)

// messagePlace is where the next message will be said.
type messagePlace struct {
	id    scrollback.ConversationID
	roots []string // of a conversation that does not exist yet
}

// listRows is how many files are seen at once.
const listRows = 8

// referenceMark is a reference that is being typed, on one line of the input.
type referenceMark struct {
	path     string // as far as it stands before the cursor
	brackets bool
	before   int  // characters before the cursor, the @ included
	closed   bool // its bracket is right behind the cursor
}

// findMark finds the reference that the cursor is in; before and after are the line on its
// two sides.
func findMark(before, after string) (referenceMark, bool) {
	i := plainMark(before)
	k := openBracket(before)
	switch {
	case k >= 0 && k >= i:
		return referenceMark{path: before[k+2:], brackets: true, before: utf8.RuneCountInString(before[k:]),
			closed: strings.HasPrefix(after, "]")}, true
	case i >= 0:
		return referenceMark{path: before[i+1:], before: utf8.RuneCountInString(before[i:])}, true
	}
	return referenceMark{}, false
}

// plainMark returns where an @ begins a reference that goes on to the end of line, or -1. Behind
// a letter or a digit it belongs to an address.
func plainMark(line string) int {
	i := strings.LastIndexByte(line, '@')
	if i < 0 || strings.ContainsFunc(line[i:], unicode.IsSpace) {
		return -1
	}
	if last, _ := utf8.DecodeLastRuneInString(line[:i]); i > 0 &&
		(plainInPath(last) || unicode.IsLetter(last) && !unicode.In(last, eastAsianRanges...)) {
		return -1
	}
	return i
}

// eastAsianRanges are the scripts that are written without spaces.
var eastAsianRanges = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}

// openBracket returns where the last @[ stands that is not closed, or -1.
func openBracket(line string) int {
	for end := len(line); ; {
		i := strings.LastIndex(line[:end], "@[")
		if i < 0 || strings.Count(line[i:], "[") > strings.Count(line[i:], "]") {
			return i
		}
		end = i
	}
}

// plainInPath reports whether a character may stand in a reference without brackets.
func plainInPath(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/+~", r))
}

// rewritten returns the mark with another path, and whether the cursor stands before its last
// character: it does while a bracket is closed behind what may go on.
func (m referenceMark) rewritten(to string, whole bool) (text string, inside bool) {
	if !m.brackets && strings.IndexFunc(to, func(r rune) bool { return !plainInPath(r) }) < 0 {
		return "@" + to, false
	}
	return "@[" + to + "]", !whole || strings.HasSuffix(to, "/")
}

// completion is what a reference may mean, as a list under the input.
type completion struct {
	mark  referenceMark
	found []string
	at    int // the one that stands in the input; -1: what they have in common
}

// foundMsg brings the files that a reference may mean; asked is the input as it was then.
type foundMsg struct {
	asked string
	mark  referenceMark
	found []string
	err   error
}

// completeTab completes the reference at the cursor, or goes on to the next file of the list.
func (e *editor) completeTab(by int) tea.Cmd {
	if e.list != nil {
		e.chooseFile(by)
		return nil
	}
	line := []rune(strings.Split(e.input.Value(), "\n")[e.input.Line()])
	cut := min(e.input.Column(), len(line))
	m, ok := findMark(string(line[:cut]), string(line[cut:]))
	if !ok || e.files == nil || by < 0 {
		return nil
	}
	at := e.at
	asked := e.inputState()
	files := e.files
	come := make(chan foundMsg, 1)
	go func() {
		found, err := files(at, m.path)
		come <- foundMsg{asked, m, found, err}
	}()
	select {
	case msg := <-come:
		e.showFound(msg)
		return nil
	case <-time.After(atOnce):
		return func() tea.Msg { return <-come }
	}
}

// atOnce is how long keys wait for a completion, so that what is typed right after Tab comes
// behind it. Big folders on slow disks take longer, and must not hold up typing.
const atOnce = 200 * time.Millisecond

// inputState returns the input with its cursor, to be compared.
func (e *editor) inputState() string {
	return fmt.Sprint(e.input.Line(), " ", e.input.Column(), " ", e.input.Value())
}

// showFound takes the files that were asked for, unless somebody has typed on.
func (e *editor) showFound(msg foundMsg) {
	if e.inputState() != msg.asked {
		return
	}
	found, begun := matchPaths(msg.found, msg.mark.path)
	switch {
	case msg.err != nil:
		e.hint = columns.ClipText(ExplainError(msg.err), hintWidth)
	case len(found) == 0:
		e.hint = e.texts.Say(i18n.ChatNoFile)
	case len(found) == 1:
		e.rewriteMark(&msg.mark, found[0], true)
	default:
		if c := commonPrefix(found); begun && len(c) > len(msg.mark.path) {
			e.rewriteMark(&msg.mark, c, false)
		}
		e.list = &completion{mark: msg.mark, found: found, at: -1}
	}
}

// matchPaths returns the paths that go on where the typed one ends, within its folder; if there
// are none, all that were found, which are like it.
func matchPaths(found []string, typed string) (out []string, begun bool) {
	for _, f := range found {
		if len(f) > len(typed) && strings.EqualFold(f[:len(typed)], typed) &&
			!strings.Contains(strings.TrimSuffix(f[len(typed):], "/"), "/") {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return found, false
	}
	return out, true
}

// hintWidth is how much of a hint under the input is shown, in columns.
const hintWidth = 160

// chooseFile puts another file of the list into the input.
func (e *editor) chooseFile(by int) {
	n := len(e.list.found)
	if e.list.at < 0 && by < 0 {
		e.list.at = 0
	}
	e.list.at = (e.list.at + by + n) % n
	e.rewriteMark(&e.list.mark, e.list.found[e.list.at], true)
}

// rewriteMark gives the mark before the cursor another path. It presses keys, because the
// input has no other way to change text where the cursor is.
func (e *editor) rewriteMark(m *referenceMark, to string, whole bool) {
	if m.closed {
		e.pressKey(tea.KeyDelete, 1)
	}
	e.pressKey(tea.KeyBackspace, m.before)
	text, inside := m.rewritten(to, whole)
	e.input.InsertString(text)
	if inside {
		e.pressKey(tea.KeyLeft, 1)
	}
	*m = referenceMark{path: to, brackets: strings.HasPrefix(text, "@["), before: utf8.RuneCountInString(text),
		closed: inside}
	if inside {
		m.before--
	}
}

func (e *editor) pressKey(key rune, times int) {
	for range times {
		e.input, _ = e.input.Update(tea.KeyPressMsg{Code: key})
	}
}

// drawList draws the list or the hint under the input; it is empty or ends in a new line.
func (e *editor) drawList() string {
	if e.menu != nil {
		return e.drawMenu()
	}
	width := max(e.width-1-len(prompt), 10)
	if e.list == nil {
		if e.hint == "" {
			return ""
		}
		return e.s.styleRow("2", "  "+columns.ClipText(e.hint, width)) + "\n"
	}
	found := e.list.found
	at := e.list.at
	first, last := e.visibleRange(len(found), at)
	var b strings.Builder
	for i, name := range found[first:last] {
		row := "  "
		style := "2"
		if first+i == at {
			row = prompt
			style = "1"
		}
		b.WriteString(e.s.styleRow(style, row+columns.ClipText(lastPathName(name), width)) + "\n")
	}
	if left := len(found) - (last - first); left > 0 {
		b.WriteString(e.s.styleRow("2", "  "+columns.ClipText(e.texts.Say(i18n.ChatMoreFiles,
			columns.FormatThousands(int64(left))),
			width)) + "\n")
	}
	return b.String()
}

// visibleRange returns which part of a list of n is drawn, around the one at a place.
func (e *editor) visibleRange(n, at int) (first, last int) {
	rows := max(min(listRows, e.height-e.input.Height()-3), 1) // 3: the rest of a reply, what is left out, the status
	first = min(max(at-rows/2, 0), max(n-rows, 0))
	return first, min(first+rows, n)
}

// lastPathName returns the end of a path, with the slash of a folder.
func lastPathName(p string) string {
	if strings.HasSuffix(p, "/") {
		return path.Base(p) + "/"
	}
	return path.Base(p)
}

// commonPrefix returns what names begin with, in whole characters.
func commonPrefix(names []string) string {
	head := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n, head) {
			_, size := utf8.DecodeLastRuneInString(head)
			head = head[:len(head)-size]
		}
	}
	return head
}
