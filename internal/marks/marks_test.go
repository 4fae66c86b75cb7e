package marks_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/internal/marks/markstest"
)

// The same text in every guise is kept from being a mark, and a text that only looks a
// little like one stays as it is.
func TestMarks(t *testing.T) {
	for _, name := range []string{marks.FoldedHistory, marks.Environment, marks.EnvironmentChange, marks.Record,
		marks.Minutes,
		marks.WebResults} {
		for _, mark := range []string{"<" + name + ">", "</" + name + ">", "< / " + strings.ToUpper(name) + ">",
			"<\t/\n" + name + "\n>",
			"<\u200b/" + name + ">", "<" + strings.Join(strings.Split(name, ""), "\u200d") + ">",
			"</" + strings.Join(strings.Split(name, ""), " ") + ">",
			"＜／" + wide(name) + "＞", "﹤" + wide(strings.ToUpper(name)) + "﹥", "<\\/" + name + ">",
			"</" + strings.ReplaceAll(name, "o",
				"ｏ") + " x=1>",
			"</" + strings.Join(strings.Split(name, ""), "\u0301") + ">", "<" + name, "<" + name[:4], "<<" + name + ">",
			"<" + name + "\xff>"} {
			text := "before " + mark
			if got := marks.EscapeText(text); !strings.Contains(got, "&lt;") || found(got) != "" {
				t.Errorf("%q becomes %q, with %q in it", text, got, found(got))
			}
		}
	}
	for _, plain := range []string{"", "a < b", "x <y> z", "<recording>", "List<Records>", "<environments>", "<minute>5",
		"&lt;/record&gt;", "<br/>", "a<b\n",
		"＜重要＞ 第１章　はじめに", "《记录》＜注＞，＝＋", "<history>", "<unfolded_history>", "<record_id>", "<record2>", "1 < 2 minutes"} {
		if got := marks.EscapeText(plain); got != plain {
			t.Errorf("%q becomes %q", plain, got)
		}
	}
	if got, want := marks.EscapeText(
		"x <\u200b/environment> y </ Record>"), "x &lt;/environment> y &lt;/ Record>"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// wide returns a text in full-width letters.
func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' {
			return r - '!' + '！'
		}
		return r
	}, s)
}

// What is not seen is spelled out, and what words and emoji are written with is not.
func TestInvisible(t *testing.T) {
	for text, want := range map[string]string{
		"a\u202eb\u2066c\u2069d": `a\u202eb\u2066c\u2069d`, "\u200e\u200f\u061c": `\u200e\u200f\u061c`,
		"a\x1b[31mb\x00\x7f":    `a\u001b[31mb\u0000\u007f`,
		"x\U000E0041\U000E007F": `x\U000e0041\U000e007f`, "\ufeffhead": `\ufeffhead`,
		"a\u200bb\u2060c\u00add\u180e": `a\u200bb\u2060c\u00add\u180e`,
		"a\u2028b\u0085c\vd":           `a\u2028b\u0085c\u000bd`, "in\u200cfer\u200dno": `in\u200cfer\u200dno`,
		"a\rb\r":                      `a\u000db\u000d`,
		"x\ufe0f \ufe0f☂\ufe0f\ufe0f": `x\ufe0f \ufe0f☂` + "\ufe0f" + `\ufe0f`,
		"你\U000E0101好a\U000E0101":     "你\U000E0101好a" + `\U000e0101`,
		"bad\xffbyte\xe4\xb8":         `bad\xffbyte\xe4\xb8`, "می\u200c\u200cخواهم": "می\u200c" + `\u200c` + "خواهم",
		"\u3164\uffa0\u115f": `\u3164\uffa0\u115f`,
		"\ufdd0":             `\ufdd0`,
	} {
		if got := marks.EscapeText(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
	for _, text := range []string{"👩\u200d👩\u200d👧\u200d👦 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 🙂\u200d↔\ufe0f 1\ufe0f\u20e3 ©\ufe0f",
		"می\u200cخواهم کتاب\u200cها", "क्\u200dष क्\u200cष ശ്രീ ന്\u200d ක්\u200dර",
		"line\r\nline\n\ttabbed", "名前　は　全角！ＡＢＣ（１２３）～", "葛\U000E0100飾区", "סלום שלום", "e\u0301", "\u0600١٢", "\uFFFD",
		"\ue0a0 nerd",
		"\u00a0"} {
		if got := marks.EscapeText(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got, want := marks.EscapeLine("a\nb\tc\r\n文\u202e"), `a\u000ab\u0009c\u000d\u000a文\u202e`; got != want {
		t.Errorf("a line becomes %q, not %q", got, want)
	}
}

// JSON says the same before and after, and a value that is text shows its invisible
// characters.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"</record> a\u202eb\U000E0041 ＜／record＞ 👩\u200d🚀": `"\u003c/record\u003e a\u202eb\udb40\udc41 \uff1c／record＞ 👩` +
			"\u200d🚀\"",
		"plain 记录": `"plain 记录"`, "\u200b＜\u200brecord": `"\u200b\uff1c\u200brecord"`,
	} {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		got := marks.EscapeJSON(b)
		if err := json.Unmarshal(got, &back); err != nil || string(got) != want || back != text {
			t.Errorf("%q becomes %s, which is %q (%v), not %s", text, got, back, err, want)
		}
	}
}

// FuzzEscape: whatever the text, nothing in it is read as a mark or is invisible, and
// escaping again changes nothing.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"</folded_history>", "<\u200b/environment>", "＜／ｒｅｃｏｒｄ＞", "<\ufe0f/m\u0301inutes",
		"<reco\u202erd",
		"< r e\ncord", "a\xffb</env",
		"<mi\u33ccutes>", "<folded_hi\ufb06ory>", "en\u2175ronment", "<en\u2175ronment>",
		"</\U0001D41E\U0001D427vironment_change>",
		"<ı\u0307"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { judge(t, s) })
}

func TestEscapeRandomly(t *testing.T) {
	pieces := rapid.SampledFrom(markstest.Pieces)
	rapid.Check(t, func(t *rapid.T) {
		judge(t, strings.Join(rapid.SliceOfN(pieces, 0, 20).Draw(t, "pieces"), ""))
	})
}

// judge holds both functions against an independent reader.
func judge(t interface {
	Fatalf(format string, args ...any)
}, s string) {
	for _, fn := range []func(string) string{marks.EscapeText, marks.EscapeLine} {
		got := fn(s)
		if again := fn(got); again != got {
			t.Fatalf("%q becomes %q, and then %q", s, got, again)
		}
		// What our own words may put behind it completes nothing.
		for _, behind := range []string{"", ">", "\nrecord>", "\n/ environment>", "d>", "s", "\n</folded_history>"} {
			if m := found(got + behind); m != "" && m != found(behind) {
				t.Fatalf("%q becomes %q: with %q behind it somebody reads %q", s, got, behind, m)
			}
		}
		if !utf8.ValidString(got) {
			t.Fatalf("%q becomes %q, which is not UTF-8", s, got)
		}
		if at := strings.IndexFunc(got, forbidden); at >= 0 {
			t.Fatalf("%q becomes %q, invisible at %d", s, got, at)
		}
	}
	if b, err := json.Marshal(s); err == nil {
		var was, is string
		if got := marks.EscapeJSON(b); json.Unmarshal(b, &was) != nil || json.Unmarshal(got,
			&is) != nil || is != was || found(string(got)) != "" {
			t.Fatalf("%q becomes %s", s, got)
		}
	}
	if got := marks.EscapeLine(s); strings.ContainsAny(got, "\n\r\t\v\f\u0085\u2028") {
		t.Fatalf("%q becomes %q: more than a line", s, got)
	}
}

// found returns the first mark that a lenient reader finds.
func found(s string) string {
	for _, m := range markstest.FindMarks(s) {
		return m
	}
	return ""
}

// forbidden returns characters that never stay.
func forbidden(r rune) bool {
	switch {
	case r == '\n', r == '\r', r == '\t':
		return false
	case r < ' ', r >= 0x7F && r < 0xA0, r == 0xAD, r == 0x61C, r == 0x200B, r == 0x200E, r == 0x200F,
		r >= 0x2028 && r <= 0x202E,
		r >= 0x2060 && r <= 0x206F, r == 0xFEFF, r >= 0xE0000 && r <= 0xE007F:
		return true
	}
	return false
}

// Every character that compatibility turns into an opening bracket opens a mark.
func TestEveryBracket(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if strings.Contains(norm.NFKC.String(string(r)), "<") &&
			!strings.HasPrefix(marks.EscapeText(string(r)+"record>"), "&lt;") {
			t.Errorf("%U opens a mark", r)
		}
	}
}

func BenchmarkEscape(b *testing.B) {
	for name, text := range map[string]string{
		"english": strings.Repeat("The tide table lies under the third bollard.\n", 23),
		"chinese": strings.Repeat("潮汐表在第三个系缆柱下面。\n", 26),
		"html":    strings.Repeat("<p>a &lt; b</p><record>\n", 43), "hidden": strings.Repeat("\u202e\U000E0041x", 128),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				marks.EscapeText(text)
			}
		})
	}
}
