package terminal

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
)

// Whatever came from elsewhere, no terminal does anything because of it.
func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"two\nlines\tand 中文":        "two\nlines\tand 中文",
		"\x1b[31mred\x1b]0;title\a": "�[31mred�]0;title�",
		"a\r\nb\rc":                 "a\nbc",
		"\u009b31m \x7f":            "�31m �",
		"abc\u202etxt.exe\u2066":    "abc�txt.exe�",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"a short one", 20, []string{"a short one"}},
		{"words that do not fit", 10, []string{"words that", "do not fit"}},
		{"exactly ten", 11, []string{"exactly ten"}},
		{"港务长把起重机的备用钥匙放在灯塔旁边。", 11, []string{"港务长把起", "重机的备用", "钥匙放在灯", "塔旁边。"}},
		{"放在这里。再来", 9, []string{"放在这", "里。再来"}}, // no row begins with a full stop
		{"https://example.org/a/very/long/path", 12, nil},
		{"a\tb", 20, []string{"a    b"}},
	} {
		got := wrap(c.line, c.width)
		if c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.width, got, c.want)
		}
		for _, row := range got {
			if w := runewidth.StringWidth(strings.TrimRight(row, " ")); w > c.width {
				t.Errorf("%q in %d columns has the row %q of %d", c.line, c.width, row, w)
			}
		}
	}
}

// However a text comes in pieces, its rows are those of the whole; nothing is lost.
func TestRowsInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab cé中文,。-\n")), 0, 200, -1).Draw(t, "text")
		width := rapid.IntRange(4, 30).Draw(t, "width")
		show := func(pieces []string) []string {
			var out []string
			rest := ""
			r := &rows{width: func() int { return width }, style: func(s string) string { return s },
				done: func(row string) { out = append(out, row) }, rest: func(row string) { rest = row }}
			for _, p := range pieces {
				fmt.Fprint(r, p)
			}
			return append(out, rest)
		}
		var pieces []string
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			pieces, rest = append(pieces, string(rest[:n])), rest[n:]
		}
		got := show(pieces)
		squeeze := strings.NewReplacer(" ", "", "\n", "")
		if squeeze.Replace(strings.Join(got, "")) != squeeze.Replace(text) {
			t.Fatalf("%q came as %q", text, got)
		}
		for _, row := range got {
			if runewidth.StringWidth(row) > width {
				t.Fatalf("the row %q is wider than %d", row, width)
			}
		}
	})
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, [][]string{{"N", "名", "x"}, {"10", "long", "y"}}, 0); err != nil {
		t.Fatal(err)
	}
	if want := " N  名    x\n10  long  y\n"; b.String() != want {
		t.Errorf("drawn as\n%q, want\n%q", b.String(), want)
	}
}

// Both languages say everything, with the same verbs in the same order, and know
// every command.
func TestTexts(t *testing.T) {
	verbs := regexp.MustCompile(`%[a-z]`)
	said := func(name, a, b string) {
		if a == "" || b == "" || a == b {
			t.Errorf("%s: %q and %q", name, a, b)
		}
		if !slices.Equal(verbs.FindAllString(a, -1), verbs.FindAllString(b, -1)) {
			t.Errorf("%s: the verbs of %q and %q", name, a, b)
		}
	}
	var compare func(en, zh reflect.Value)
	compare = func(en, zh reflect.Value) {
		for i := range en.NumField() {
			name := en.Type().Field(i).Name
			if name == "Said" { // TestReferencesInChinese
				continue
			}
			if f := en.Field(i); f.Kind() == reflect.Map && f.IsNil() { // English needs no other words
				continue
			}
			switch a, b := en.Field(i), zh.Field(i); a.Kind() {
			case reflect.Struct:
				compare(a, b)
			case reflect.Map:
				if a.Len() != b.Len() {
					t.Errorf("%s: %d and %d", name, a.Len(), b.Len())
				}
				for _, k := range a.MapKeys() {
					if v := b.MapIndex(k); name != "Help" && name != "Results" { // below
						said(name+" "+k.String(), a.MapIndex(k).String(), v.String())
					}
				}
			default:
				said(name, a.String(), b.String())
			}
		}
	}
	compare(reflect.ValueOf(english), reflect.ValueOf(chinese))
	for _, c := range commands() {
		if english.Help[c.name] == "" || chinese.Help[c.name] == "" {
			t.Errorf("no help for %s", c.name)
		}
	}
	for _, r := range []scrollback.CompactionResult{scrollback.ResultCompacted, scrollback.ResultNoop, scrollback.ResultInflated,
		scrollback.ResultEmptySummary, scrollback.ResultModelError, scrollback.ResultConflict} {
		if a, b := english.Result(r), chinese.Result(r); a == string(r) && r != scrollback.ResultCompacted || b == string(r) || a == b {
			t.Errorf("%s: %q and %q", r, a, b)
		}
	}
	if n := len(commands()); len(english.Help) != n || len(chinese.Help) != n {
		t.Errorf("%d commands, %d and %d helps", n, len(english.Help), len(chinese.Help))
	}
	for _, c := range []struct {
		locales []string
		want    string
	}{{[]string{"", "", "zh_CN.UTF-8"}, chinese.Nothing}, {[]string{"en_US.UTF-8", "zh_CN", "zh_CN"}, english.Nothing},
		{[]string{"", "zh-Hans", "C"}, chinese.Nothing}, {nil, english.Nothing}} {
		if got := TextsOf(c.locales...).Nothing; got != c.want {
			t.Errorf("%q speaks %q", c.locales, got)
		}
	}
}

// A failure is told with what the server said, what to do and how to go on, in both
// languages; what cannot be tried again names no command.
func TestTrouble(t *testing.T) {
	e := scrollback.TurnEntry{State: scrollback.TurnFailed, Retry: true, Content: "ha\x1b[2Jlf",
		Error: &scrollback.Failure{Code: scrollback.Refused, Message: "acme refuses the key", Cause: "no \x07such key",
			Advice: scrollback.AdviceCheckKey, Setting: "ACME_KEY"}}
	for _, c := range []struct {
		texts Texts
		want  []string
	}{
		{english, []string{"failed\nha", "! acme refuses the key\n! the server said: no",
			"! what to do: check the key in ACME_KEY\n! to have it answered again: again!\n"}},
		{chinese, []string{"失败", "! 服务器的说明：no", "! 怎么办：检查 ACME_KEY 中的密钥\n! 要重新回答：again!\n"}},
	} {
		var b strings.Builder
		if err := Unanswered(&b, c.texts, e, "again!"); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q lacks %q", b.String(), want)
			}
		}
		if strings.ContainsAny(b.String(), "\x1b\x07") {
			t.Errorf("%q holds control characters", b.String())
		}
	}
	e.Retry, e.Error.Setting, e.Error.Advice = false, "", scrollback.AdviceTopUp
	if got := english.left(e); strings.Contains(got, "again") || !strings.HasSuffix(got, "top up the account, or use another key)") {
		t.Errorf("without another try it says %q", got)
	}
	if got := chinese.left(scrollback.TurnEntry{State: scrollback.TurnOpen}); got != "（正在回答）" {
		t.Errorf("a running turn is %q", got)
	}
}
