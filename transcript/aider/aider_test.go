package aider_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/aider"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

const file = ".aider.chat.history.md"

func history(t *testing.T) fstest.MapFS {
	t.Helper()
	data, err := os.ReadFile("testdata/history.md")
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{file: {Data: data}}
}

func TestTool(t *testing.T) {
	tooltest.Run(t, tooltest.Case{Tool: aider.Tool{}, FS: history(t), Mutants: 1000})
	plain := strings.ReplaceAll(string(history(t)[file].Data), "  \n", "\n") // as editors leave it
	tooltest.Run(t, tooltest.Case{Tool: aider.Tool{}, FS: fstest.MapFS{"talk.md": {Data: []byte(plain[1:])}},
		Name: "talk.md", Mutants: 300})
}

// script returns what a history says at a moment after its last change, in ms.
func script(t *testing.T, p transcript.Place, after int64) ([]transcript.Entry, []string) {
	t.Helper()
	var all []transcript.Entry
	for s, err := range (aider.Tool{}).Sessions(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		p.Now = s.Changed + after
		for e, err := range (aider.Tool{}).Read(t.Context(), p, s) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
	}
	return all, tooltest.ScriptLines(all)
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const long = 24 * 60 * 60 * 1000

func TestScript(t *testing.T) {
	all, got := script(t, transcript.Place{FS: history(t), Name: ".", Path: "/home/u/shop"}, long)
	same(t, got, []string{
		"2026-01-05 09:30:00 3060a1e0: make the shop green",
		"user | make the shop green⏎and round",
		"assistant | I will change `shop.css`.⏎⏎#### Step one⏎⏎> A quotation of the manual⏎⏎```css⏎body { color: green }⏎```",
		"tool | result of output-3 aider: Applied edit to shop.css⏎Commit 1a2b3c4 style: green shop",
		"user | /add shop.css",
		"tool | result of output-5 aider: Added shop.css to the chat",
		"user | thanks, why green?",
		"assistant (interrupted) | thinks Because of the brand. | It is",
		"end[banner:5]",
		"2026-01-06 10:00:00 3060a1e0: 你好，商店是什么颜色？",
		"user | /ask 你好，商店是什么颜色？",
		"assistant | 绿色。",
		"end[banner:1]",
	})
	begun := time.Date(2026, 1, 5, 9, 30, 0, 0, time.Local).UnixMilli()
	if e := all[0]; e.Origin.Folder != "/home/u/shop" || e.Conversation.CreatedAt != begun ||
		e.Conversation.Model != "openai/gpt-4o" ||
		string(e.Conversation.Meta) != `{"aider":{"cwd":"/home/u/shop","version":"0.86.1"}}` {
		t.Errorf("%+v, %+v", e.Conversation, e.Origin)
	}
	m := all[2].Message
	if m.CreatedAt != begun || m.Model != "openai/gpt-4o" || m.Usage == nil || *m.Usage != (scrollback.Usage{
		InputTokens: 5300, CachedTokens: 1100, OutputTokens: 212, TotalTokens: 5512, Cost: 0.02, Currency: "USD",
		Estimated: true,
	}) {
		t.Errorf("%+v, %+v", m, m.Usage)
	}
}

// What follows the last prompt waits while the file is live.
func TestWaits(t *testing.T) {
	files := fstest.MapFS{file: {Data: []byte("# aider chat started at 2026-01-05 09:30:00\n\n#### one  \n\ntwo\n\n#### three  \n\nfo")}}
	_, got := script(t, transcript.Place{FS: files, Name: file}, 1)
	head := "2026-01-05 09:30:00 e3b0c442: one"
	same(t, got, []string{head, "user | one", "assistant | two", "end held"})
	_, got = script(t, transcript.Place{FS: files, Name: file}, long)
	same(t, got, []string{head, "user | one", "assistant | two", "user | three", "assistant | fo", "end"})
	files = fstest.MapFS{file: {Data: []byte("# aider chat started at 2026-01-05 09:30:00\n\n#### one  \n\ntwo\n")}}
	_, got = script(t, transcript.Place{FS: files, Name: file}, 1)
	same(t, got, []string{"2026-01-05 09:30:00 e3b0c442:", "end held"})
}

// Two starts in one second, and what stands before any.
func TestSections(t *testing.T) {
	start := "# aider chat started at 2026-01-05 09:30:00\n"
	files := fstest.MapFS{file: {Data: []byte("> restored  \n#### a  \n" + start + "#### b  \n" + start + "#### c  \n")}}
	_, got := script(t, transcript.Place{FS: files, Name: "."}, long)
	same(t, got, []string{
		"beginning e3b0c442: a", "user | a", "end[banner:1]", "2026-01-05 09:30:00 e3b0c442: b", "user | b", "end",
		"2026-01-05 09:30:00 e3b0c442 2: c", "user | c", "end",
	})
}

// NUL bytes, which a crash leaves behind, cost nothing but themselves, and are told of.
func TestNUL(t *testing.T) {
	files := fstest.MapFS{file: {Data: []byte("\x00\x00\x00# aider chat started at 2026-01-05 09:30:00\n#### a\x00  \n\nb\n" +
		strings.Repeat("\x00", 100) + "#### c  \n\nd\n")}}
	all, got := script(t, transcript.Place{FS: files, Name: "."}, long)
	var bad []string
	for _, e := range all {
		if e.Bad != nil {
			bad = append(bad, e.Bad.Reason)
		}
	}
	same(t, bad, []string{"3 NUL bytes were dropped", "1 NUL bytes were dropped", "100 NUL bytes were dropped"})
	said := strings.Join(got, "\n")
	for _, want := range []string{"user | a\n", "assistant | b\n", "user | c\n", "assistant | d\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	if strings.Contains(said, "\x00") || !(aider.Tool{}).Sniff("talk.md",
		[]byte("\x00\x00# aider chat started at 2026-01-05 09:30:00\n")) {
		t.Errorf("not without NUL bytes: %q", said)
	}
}

func TestHomes(t *testing.T) {
	m := transcript.Machine{System: "linux", Home: "/home/u", Folders: []string{"/work/a"},
		Getenv: func(name string) string {
			return map[string]string{"AIDER_CHAT_HISTORY_FILE": "/log/aider.md"}[name]
		}}
	same(t, aider.Tool{}.Homes(m), []string{"/log/aider.md", "/home/u/" + file, "/work/a/" + file})
}

func TestSniff(t *testing.T) {
	for name, want := range map[string]bool{
		"a/" + file + "|": true, "talk.md|\n# aider chat started at 2026-01-05 09:30:00\n": true,
		"talk.md|# Notes\n# aider chat started at 2026-01-05 09:30:00\n": false, "talk.md|": false,
	} {
		base, head, _ := strings.Cut(name, "|")
		if got := (aider.Tool{}).Sniff(base, []byte(head)); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	files := fstest.MapFS{"notes.md": {Data: []byte("# Notes\n")}}
	if all, _ := script(t, transcript.Place{FS: files, Name: "notes.md"}, long); len(all) > 0 {
		t.Errorf("notes are a history: %v", all)
	}
	if all, _ := script(t, transcript.Place{FS: files, Name: "."}, long); len(all) > 0 {
		t.Errorf("a folder without a history has one: %v", all)
	}
}
