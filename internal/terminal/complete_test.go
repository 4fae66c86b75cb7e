package terminal

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// Only what is a reference is completed, wherever the cursor is in it.
func TestMarkAt(t *testing.T) {
	for _, c := range []struct {
		line string // | is the cursor
		path string // "-": no reference
		brackets,
		closed bool
	}{
		{"@|", "", false, false},
		{"see @src/ma|", "src/ma", false, false},
		{"总结@READ|", "READ", false, false},
		{"(@READ|", "READ", false, false},
		{"mail me@example.or|", "-", false, false},
		{"@README.md and |", "-", false, false},
		{"@[two words/a b|", "two words/a b", true, false},
		{"@[two words/a b|] is new", "two words/a b", true, true},
		{"@[a[1].t|", "a[1].t", true, false},
		{"@[done] then @ne|", "ne", false, false},
		{"@[done] then @[ne|", "ne", true, false},
		{"@[done] |", "-", false, false},
		{"an @[ by itself, then @ne|", "ne", false, false},
		{"nothing|", "-", false, false},
	} {
		before, after, _ := strings.Cut(c.line, "|")
		m, ok := findMark(before, after)
		switch {
		case !ok && c.path != "-", ok && c.path == "-":
			t.Errorf("%q: a reference: %v", c.line, ok)
		case ok && (m.path != c.path || m.brackets != c.brackets || m.closed != c.closed):
			t.Errorf("%q names %+v", c.line, m)
		}
	}
}

// typist presses keys in an editor that completes from a list of paths.
type typist struct {
	*editor
	at   messagePlace  // that was asked about last
	slow chan struct{} // if it is there, files come when it is closed
}

func aTypist(files ...string) *typist {
	t := &typist{}
	s := &screen{lines: make(chan string, 1), files: func(at messagePlace, typed string) ([]string, error) {
		t.at = at
		if t.slow != nil {
			<-t.slow
		}
		if typed == "broken" {
			return nil, errors.New("the disk is gone")
		}
		return slices.DeleteFunc(slices.Clone(files), func(f string) bool {
			return f == typed || !strings.Contains(strings.ToLower(f), strings.ToLower(typed))
		}), nil
	}}
	t.editor = newEditor(s, Options{Texts: words.English}, nil)
	t.Update(tea.WindowSizeMsg{Width: 60, Height: 20})
	return t
}

// press types text, and for a name in angle brackets presses that key.
func (t *typist) press(keys ...string) {
	codes := map[string]tea.KeyPressMsg{
		"<tab>": {Code: tea.KeyTab}, "<back>": {Code: tea.KeyTab, Mod: tea.ModShift}, "<enter>": {Code: tea.KeyEnter},
		"<line>": {Code: 'j', Mod: tea.ModCtrl}, "<esc>": {Code: tea.KeyEscape},
		"<left>": {Code: tea.KeyLeft}, "<up>": {Code: tea.KeyUp}, "<down>": {Code: tea.KeyDown},
	}
	for _, k := range keys {
		msgs := []tea.Msg{}
		if key, ok := codes[k]; ok {
			msgs = append(msgs, key)
		} else {
			for _, r := range k {
				msgs = append(msgs, tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
		for _, msg := range msgs {
			if _, cmd := t.Update(msg); cmd != nil {
				if found, ok := cmd().(foundMsg); ok {
					t.Update(found)
				}
			}
		}
	}
}

func TestComplete(t *testing.T) {
	files := []string{"README.md", "src/", "src/main.go", "src/main_test.go", "src/map.go", "two words/",
		"two words/a b.txt",
		"潮汐/", "潮汐/表.md", "潮汐/表二.md"}
	for _, c := range []struct {
		keys []string
		want string // of the input, | is the cursor
		seen string // of the list; "-" for none
	}{
		{[]string{"see @RE", "<tab>"}, "see @README.md|", "-"},
		{[]string{"see @RE", "<tab>", " and more"}, "see @README.md and more|", "-"},
		{[]string{"@s", "<tab>"}, "@src/|", "-"},
		{[]string{"@s", "<tab>", "<tab>"}, "@src/ma|", "main.go main_test.go map.go"},
		{[]string{"@src/m", "<tab>", "<tab>"}, "@src/main.go|", "> main.go main_test.go map.go"},
		{[]string{"@src/m", "<tab>", "<tab>", "<tab>"}, "@src/main_test.go|", "main.go > main_test.go map.go"},
		{[]string{"@src/m", "<tab>", "<tab>", "<tab>", "<back>"}, "@src/main.go|", "> main.go main_test.go map.go"},
		{[]string{"@src/m", "<tab>", "<back>"}, "@src/map.go|", "main.go main_test.go > map.go"},
		{[]string{"@src/m", "<tab>", "<down>", "<down>", "<down>", "<down>"}, "@src/main.go|",
			"> main.go main_test.go map.go"},
		{[]string{"@src/m", "<tab>", "<tab>", "<esc>"}, "@src/main.go|", "-"},
		{[]string{"@src/m", "<tab>", "in_", "<tab>"}, "@src/main_test.go|", "-"},
		{[]string{"@tw", "<tab>"}, "@[two words/|]", "-"},
		{[]string{"@tw", "<tab>", "<tab>", "?"}, "@[two words/a b.txt]?|", "-"},
		{[]string{"总结@潮", "<tab>", "<tab>"}, "总结@[潮汐/表|]", "表.md 表二.md"},
		{[]string{"总结@潮", "<tab>", "<tab>", "<tab>", "<tab>", "。"}, "总结@[潮汐/表二.md]。|", "-"},
		{[]string{"@[RE", "<tab>", ":3"}, "@[README.md]:3|", "-"},
		{[]string{"one", "<line>", "two @[sr", "<tab>", "<tab>", "<tab>", " x"}, "one\ntwo @[src/main.go] x|", "-"},
		{[]string{"end", "<left>", "<left>", "<left>", "@RE", "<tab>", " "}, "@README.md |end", "-"},
		{[]string{"@re", "<tab>"}, "@README.md|", "-"},
		{[]string{"@main", "<tab>", "<tab>"}, "@src/main.go|", "> main.go main_test.go"},
		{[]string{"@zzz", "<tab>"}, "@zzz|", words.English.Say(i18n.ChatNoFile)},
		{[]string{"@broken", "<tab>"}, "@broken|", "the disk is gone"},
		{[]string{"@zzz", "<tab>", "z"}, "@zzzz|", "-"},
		{[]string{"a\tword", "<tab>"}, "a    word|", "-"},
	} {
		e := aTypist(files...)
		e.press(c.keys...)
		name := strings.Join(c.keys, " ")
		lines := strings.Split(e.input.Value(), "\n")
		line := []rune(lines[e.input.Line()])
		lines[e.input.Line()] = string(line[:e.input.Column()]) + "|" + string(line[e.input.Column():])
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: the input is %q, want %q", name, got, c.want)
		}
		if seen := strings.Join(strings.Fields(e.drawList()), " "); seen != c.seen && (c.seen != "-" || seen != "") {
			t.Errorf("%s: the list is %q, want %q", name, seen, c.seen)
		}
	}
}

// What comes late does not change what was typed meanwhile; what a list hides is counted;
// a new conversation is completed from the folders that it will have.
func TestCompleteLate(t *testing.T) {
	var files []string
	for _, r := range "abcdefghijklmnopqrstuvwxyz" {
		files = append(files, "file-"+string(r))
	}
	e := aTypist(files...)
	e.Update(statusMsg{at: messagePlace{id: "c1", roots: []string{"/w"}}})
	e.slow = make(chan struct{})
	e.press("@f")
	_, cmd := e.Update(tea.KeyPressMsg{Code: tea.KeyTab})
	e.press("x")
	close(e.slow)
	e.Update(cmd())
	if got := e.input.Value(); got != "@fx" || e.list != nil {
		t.Errorf("what was typed became %q, with the list %v", got, e.list)
	}
	if got := e.at; got.id != "c1" || !slices.Equal(got.roots, []string{"/w"}) {
		t.Errorf("asked about %+v", got)
	}
	e = aTypist(files...)
	e.press("@f", "<tab>", "<back>")
	got := e.drawList()
	if !strings.Contains(got, "> file-z\n") || !strings.HasSuffix(got, "… 18 more\n") ||
		strings.Count(got, "\n") != listRows+1 {
		t.Errorf("the list is\n%s", got)
	}
	e.press("<enter>")
	if got := <-e.s.lines; got != "@file-z" || e.drawList() != "" {
		t.Errorf("%q was sent, and the list is %q", got, e.drawList())
	}
}

// What a prompt named and what was simply read needs no word; errors stand out.
func TestPrinterReferences(t *testing.T) {
	for _, c := range []struct {
		texts         words.Texts
		notes, faults string
	}{
		{words.English,
			"@[b]: unchanged since version 2, in message #7\n@[c]: something else; cut: the first 9 of 10 bytes\n",
			"@[../d�[2J]: refused: outside the roots; --root or /add adds one\n![x](y.png): too large: 1.5 MB, and an image has at most 1 MB\n"},
		{words.Chinese, "@[b]：自第 2 版起没有变化，见消息 #7\n@[c]：something else；已截断：前 9 字节，共 10 字节\n",
			"@[../d�[2J]：已拒绝：不在授权的文件夹内；可用 --root 或 /add 添加\n![x](y.png)：太大：1.5 MB，图片最大 1 MB\n"},
	} {
		var notes, faults, answer strings.Builder
		p := &Printer{Answer: &answer, Notes: &notes, Faults: &faults, Texts: c.texts}
		said := scrollback.MetaEvent{References: []scrollback.Reference{
			{Mark: "a", Version: 1},
			{Mark: "b", Version: 2, SameAs: 7}, {Mark: "c", Version: 1, Note: "something else; cut: the first 9 of 10 bytes"},
			{Mark: "../d\x1b[2J", Error: "refused: outside the roots"},
			{Mark: "![x](y.png)", Kind: scrollback.ReferenceImage, Error: "too large: 1.5 MB, and an image has at most 1 MB"}}}
		for range 2 { // a late reader may be told again
			if err := p.showEvent(said); err != nil {
				t.Fatal(err)
			}
		}
		if notes.String() != c.notes || faults.String() != c.faults || answer.String() != "" {
			t.Errorf("noted\n%s\nfaults\n%s\nanswered %q", notes.String(), faults.String(), answer.String())
		}
	}
}
