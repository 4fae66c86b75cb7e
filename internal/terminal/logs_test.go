package terminal

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// What is logged while a chat is drawn stands above its frame, whole, in the order in which it
// came; before and after that it goes to the file.
func TestLogsAboveTheFrame(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 6}} {
		e := emulate(size[0], size[1])
		logs := NewLogs(e) // the terminal itself, as standard error is
		log := slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		back := logs.divertTo(e.s.printLog)
		ed := newEditor(e.s, Options{Texts: words.English}, nil)
		ed.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, r := range "half a question" {
			ed.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		ed.View()
		var want []string
		notes := e.s.textWriters().notes
		for i := range 3 {
			fmt.Fprintf(notes, "answer %d\n", i)
			log.Warn("no model gave a summary", "n", i, "reason", "a\x1b[2Jb")
			want = append(want, fmt.Sprintf("answer %d", i),
				fmt.Sprintf("level=WARN msg=\"no model gave a summary\" n=%d reason=\"a\\x1b[2Jb\"", i))
			ed.View()
		}
		frame := ed.drawFrame().rows
		trim(frame)
		for frame[len(frame)-1] == "" {
			frame = frame[:len(frame)-1]
		}
		rows := e.rows()
		below := rows[max(len(rows)-len(frame), 0):]
		if !slices.Equal(below, frame) {
			t.Errorf("%v: the frame is\n%s\nwant\n%s", size, strings.Join(below, "\n"), strings.Join(frame, "\n"))
		}
		if got := unbroken(rows[:len(rows)-len(frame)]); got != unbroken(want) {
			t.Errorf("%v: above the frame is\n%s\nwant\n%s", size, got, unbroken(want))
		}
		e.s.w.endDrawing()
		back()
	}
}

// unbroken returns text without what breaking it into rows adds or takes away.
func unbroken(rows []string) string { return strings.Join(strings.Fields(strings.Join(rows, " ")), "") }

// Lines wait while a list is drawn, and follow it.
func TestLogsHeld(t *testing.T) {
	var out bytes.Buffer
	logs := NewLogs(&out)
	fmt.Fprintln(logs, "before")
	back := logs.HoldLines()
	fmt.Fprintln(logs, "one\ntwo")
	if out.String() != "before\n" {
		t.Errorf("while it is drawn there is %q", out.String())
	}
	back()
	fmt.Fprintln(logs, "after")
	if want := "before\none\ntwo\nafter\n"; out.String() != want {
		t.Errorf("there is %q, want %q", out.String(), want)
	}
	var none *Logs
	none.divertTo(func(string) {})()
	none.HoldLines()()
}
