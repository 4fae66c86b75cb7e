package columns

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
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
		if got := StripControls(in); got != want {
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
		got := WrapLine(c.line, c.width)
		if c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.width, got, c.want)
		}
		for _, row := range got {
			if w := displaywidth.String(strings.TrimRight(row, " ")); w > c.width {
				t.Errorf("%q in %d columns has the row %q of %d", c.line, c.width, row, w)
			}
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, [][]string{{"N", "名", "x"}, {"10", "long", "y"}}, 0); err != nil {
		t.Fatal(err)
	}
	if want := " N  名    x\n10  long  y\n"; b.String() != want {
		t.Errorf("drawn as\n%q, want\n%q", b.String(), want)
	}
}

// The last column goes on below itself where the width is known and leaves it room; the rows of the
// others stay as they are.
func TestFitted(t *testing.T) {
	rows := [][]string{{"/a", "does one thing and then another"}, {"/longer 名", "短"}}
	for width, want := range map[int]string{
		0:  "/a          does one thing and then another\n/longer 名  短\n",
		28: "/a          does one thing\n            and then another\n/longer 名  短\n",
		14: "/a          does one thing and then another\n/longer 名  短\n",
	} {
		var b bytes.Buffer
		if err := WriteFitted(&b, rows, width); err != nil || b.String() != want {
			t.Errorf("in %d columns: %v\n%q, want\n%q", width, err, b.String(), want)
		}
	}
}

// A line that begins with spaces goes on below its text, as in the results of a search.
func TestHang(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  []string
	}{
		{"    #3 one two three", 12, []string{"    #3 one", "    two", "    three"}},
		{"no spaces before it", 10, []string{"no spaces", "before it"}},
		{"        too far", 10, nil},
		{"   ", 10, []string{"   "}},
		{"", 10, []string{""}},
	} {
		want := c.want
		if want == nil {
			want = WrapLine(c.line, c.width)
		}
		if got := HangLine(c.line, c.width); !slices.Equal(got, want) {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.width, got, want)
		}
	}
}
