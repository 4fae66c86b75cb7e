package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/markdown"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// emulated is a terminal emulator with a screen that draws on it at once, through the writer
// that the program has.
type emulated struct {
	*vt.Emulator
	s *screen
}

func emulate(width, height int) *emulated {
	e := &emulated{Emulator: vt.NewEmulator(width, height)}
	w := &screenWriter{out: e, later: func(_ time.Duration, f func()) { f() },
		size: func() (int, int) { return e.Width(), e.Height() }}
	e.s = newScreen(w, false)
	return e
}

// resize changes the size as xterm does: rows are not broken again, and a screen that becomes
// lower goes up far enough to keep the row of the cursor.
func (e *emulated) resize(width, height int) {
	if up := e.CursorPosition().Y - height + 1; up > 0 {
		fmt.Fprintf(e.Emulator, "\x1b[%dS\x1b[%dA", up, up)
	}
	e.Resize(width, height)
}

// rows returns those of the scrollback and of the screen, as a person finds them.
func (e *emulated) rows() []string {
	var rows []string
	for i := range e.ScrollbackLen() {
		rows = append(rows, strings.TrimRight(e.Scrollback().Line(i).String(), " "))
	}
	screen := strings.Split(e.String(), "\n")
	for _, row := range screen {
		rows = append(rows, strings.TrimRight(row, " "))
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// answer has all that is drawn otherwise than a row at a time.
const answer = "# 潮汐 tables\n\n| port | high | low |\n|:--|--:|--:|\n| 港口 | 3.1 | 0.4 |\n| Brest | 6.9 | 1.0 |\n\n" +
	"1. one that is long enough to be broken into two rows on a terminal of forty columns\n2. 二\n   - nested 🙂\n\n" +
	"```go\nfunc main() {\n\tprintln(\"🙂 你好\")\n}\n```\n\nA paragraph of two or more rows, with *emphasis*, which goes on past the edge.\n"

// What a chat shows stands in the terminal's own scrollback, row for row, while it is typed in.
func TestAnswersStay(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}, {20, 5}} {
		e := emulate(size[0], size[1])
		ed := newEditor(e.s, Options{Texts: words.English}, nil)
		ed.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		ed.View()
		w := e.s.textWriters()
		said := strings.TrimSpace(strings.Repeat("question ", 50))
		var want []string
		for range 4 {
			fmt.Fprintln(e.s.userWriter(), said)
			for _, row := range columns.WrapLine(said, e.s.rowWidth()) {
				want = append(want, prompt+row)
			}
			for piece := range slices.Chunk([]rune(answer), 7) {
				fmt.Fprint(w.answer, string(piece))
				ed.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
				ed.View()
			}
			w.answer.(*markdown.Stream).End()
			want = append(want, markdown.Look{Width: e.s.rowWidth()}.RenderRows(answer)...)
			fmt.Fprintln(w.notes, "(interrupted; what was written is saved)")
			want = append(want, columns.WrapLine("(interrupted; what was written is saved)", e.s.rowWidth())...)
		}
		want = append(want, ed.drawFrame().rows...)
		trim(want)
		got := slices.DeleteFunc(e.rows(), func(row string) bool { return row == "" })
		if want = slices.DeleteFunc(want, func(row string) bool { return row == "" }); !slices.Equal(got, want) {
			t.Errorf("%d x %d: the terminal has\n%s\nwant\n%s", size[0], size[1],
				strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func trim(rows []string) {
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " ")
	}
}

// walker presses keys, prints and resizes at random, and knows what must be seen.
type walker struct {
	*emulated
	ed      *editor
	printed []string
	narrow  []int // per printed row: the narrowest width that it may have stood in
}

func (w *walker) print(row string) {
	w.s.w.printRows(row)
	w.printed = append(w.printed, row)
	w.narrow = append(w.narrow, w.Width())
}

// check compares the terminal with what was printed and with the newest frame.
func (w *walker) check(t *rapid.T, after string) {
	w.ed.View()
	f := w.s.w.shown
	if len(f.rows) > max(w.Height()-1, 1) {
		t.Fatalf("after %s: a frame of %d rows on a screen of %d", after, len(f.rows), w.Height())
	}
	trim(f.rows)
	got := w.rows()
	want := slices.Concat(w.printed, f.rows)
	for len(want) > 0 && want[len(want)-1] == "" {
		want = want[:len(want)-1]
	}
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		width := w.Width()
		if i < len(w.narrow) {
			width = w.narrow[i]
		}
		same = seen(got[i], width) == seen(want[i], width)
	}
	if !same {
		t.Fatalf("after %s, at %d x %d the terminal has\n%s\nwant\n%s", after,
			w.Width(), w.Height(), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if at := w.CursorPosition(); len(f.rows) > 0 && (at.X != f.x || w.ScrollbackLen()+at.Y != len(w.printed)+f.y) {
		t.Fatalf("after %s the cursor is at %d, row %d; want %d, row %d", after,
			at.X, w.ScrollbackLen()+at.Y, f.x, len(w.printed)+f.y)
	}
}

// seen returns what a terminal that was once so narrow still has of a row.
func seen(row string, width int) string {
	return strings.TrimRight(columns.CropRow(strings.TrimRight(row, "… "), width-1), "… ")
}

// keysWalked are the keys that move, edit or mean something to a chat.
var keysWalked = []tea.KeyPressMsg{
	{Code: 'a', Text: "a"}, {Code: '潮', Text: "潮"}, {Code: ' ', Text: " "}, {Code: '/', Text: "/"},
	{Code: '@', Text: "@"}, {Code: '🙂', Text: "🙂"},
	{Code: tea.KeyEnter}, {Code: tea.KeyEnter, Mod: tea.ModAlt}, {Code: tea.KeyTab}, {Code: tea.KeyTab, Mod: tea.ModShift},
	{Code: tea.KeyEscape},
	{Code: tea.KeyUp}, {Code: tea.KeyUp}, {Code: tea.KeyUp}, {Code: tea.KeyDown}, {Code: tea.KeyLeft},
	{Code: tea.KeyRight},
	{Code: tea.KeyHome}, {Code: tea.KeyEnd}, {Code: tea.KeyPgUp}, {Code: tea.KeyPgDown}, {Code: tea.KeyBackspace},
	{Code: tea.KeyDelete},
	{Code: 'c', Mod: tea.ModCtrl}, {Code: 'k', Mod: tea.ModCtrl}, {Code: 'u', Mod: tea.ModCtrl},
	{Code: 'w', Mod: tea.ModCtrl},
	{Code: 'a', Mod: tea.ModCtrl}, {Code: 'e', Mod: tea.ModCtrl}, {Code: tea.KeyHome, Mod: tea.ModCtrl},
	{Code: tea.KeyEnd, Mod: tea.ModCtrl},
	{Code: 't', Mod: tea.ModCtrl}, {Code: 'n', Mod: tea.ModCtrl}, {Code: 'p', Mod: tea.ModCtrl},
	{Code: 'v', Mod: tea.ModCtrl},
}

// pasted returns texts that do not fit.
func pasted() []string {
	return []string{"two\nlines", strings.Repeat("row\n", 30), strings.Repeat("潮汐表", 200), strings.Repeat("a word ", 400),
		strings.Repeat("x", 500), "\n\n\n", "tab\tand \x1b[31mred\x1b[0m", strings.Repeat("🙂", 90)}
}

// Whatever keys are pressed, in whatever size, the chat goes on, and the terminal shows what was
// printed and the input with the cursor where it types.
func TestEditorWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := emulate(rapid.IntRange(2, 130).Draw(t, "width"), rapid.IntRange(2, 50).Draw(t, "height"))
		asked := []string{"short", strings.Repeat("a line\n", 40), strings.Repeat("word ", 300), "最后"}
		e.s.files = func(messagePlace, string) ([]string, error) { return []string{"a", "ab", "潮"}, nil }
		e.s.talks = func() []menuEntry { return []menuEntry{{line: "0123", name: "today", about: "title"}} }
		w := &walker{emulated: e, ed: newEditor(e.s, Options{Texts: words.English}, asked)}
		w.ed.Update(tea.WindowSizeMsg{Width: e.Width(), Height: e.Height()})
		w.check(t, "the start")
		for range testlength.Choose(12, 25, 60) {
			what := rapid.IntRange(0, 11).Draw(t, "what")
			after := fmt.Sprint(what)
			var cmd tea.Cmd
			switch what {
			case 0:
				// Rows for which a lower screen has no room are moved into the scrollback by the terminal.
				least := min(len(w.s.w.shown.rows)+1, 50)
				width := rapid.IntRange(2, 130).Draw(t, "width")
				height := rapid.IntRange(least, 50).Draw(t, "height")
				e.resize(width, height)
				for i := range w.narrow {
					w.narrow[i] = min(w.narrow[i], width)
				}
				_, cmd = w.ed.Update(tea.WindowSizeMsg{Width: width, Height: height})
			case 1:
				for i := range rapid.IntRange(1, 60).Draw(t, "rows") {
					w.print(columns.CutRow(fmt.Sprintf("row %d of 潮汐", i), e.Width()))
				}
			case 2:
				e.s.w.setGrowing(rapid.SampledFrom(append(pasted(), "")).Draw(t, "open"))
			case 3:
				e.s.w.setRest(columns.CutRow(rapid.SampledFrom([]string{"", "a rest"}).Draw(t, "rest"), e.Width()))
			case 4:
				_, cmd = w.ed.Update(tea.PasteMsg{Content: rapid.SampledFrom(pasted()).Draw(t, "paste")})
			case 5:
				select {
				case <-e.s.lines:
				default:
				}
				_, cmd = w.ed.Update(busyMsg{nil})
			case 6:
				_, cmd = w.ed.Update(statusMsg{line: strings.Repeat("offline · 状态 ", 10)})
			default:
				k := rapid.SampledFrom(keysWalked).Draw(t, "key")
				after = k.String()
				_, cmd = w.ed.Update(k)
			}
			settle(w.ed, cmd)
			w.ed.leaving = false
			w.check(t, after)
		}
	})
}

// settle runs what the editor wants to have done, and gives it the answers.
func settle(ed *editor, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			settle(ed, c)
		}
	case foundMsg, talksMsg:
		_, next := ed.Update(msg)
		settle(ed, next)
	}
}

// Going back to a question of many rows, however it is long, shows it; the next key goes on.
func TestRecallLong(t *testing.T) {
	for _, text := range []string{strings.Repeat("a line\n", 200) + "the end",
		strings.TrimSpace(strings.Repeat("word ", 3000)), strings.Repeat("潮", 5000)} {
		for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}, {12, 4}} {
			e := emulate(size[0], size[1])
			ed := newEditor(e.s, Options{Texts: words.English}, []string{"an older one", text})
			ed.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			ed.View()
			ed.Update(tea.KeyPressMsg{Code: tea.KeyUp})
			ed.View()
			rows := []rune(strings.ReplaceAll(text, "\n", " "))
			if got := strings.Join(e.rows(), " "); !strings.Contains(got, string(rows[len(rows)-4:])) {
				t.Errorf("%d x %d: the end of %.12q… is not seen in\n%s", size[0], size[1], text, got)
			}
			if ed.input.Value() != text {
				t.Errorf("%d x %d: the input is not the question", size[0], size[1])
			}
		}
	}
}
