package reference

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// picture shows marks in a line: what they name, and behind a file its lines.
func picture(text string, plain bool) string {
	var out []string
	for _, m := range Parse(text, plain) {
		switch m.Kind {
		case scrollback.ReferenceTool:
			out = append(out, fmt.Sprintf("tool %s %s", m.Tool, m.Args))
		case scrollback.ReferenceImage:
			out = append(out, "image "+m.Path)
		default:
			out = append(out, fmt.Sprintf("%s%s", m.Path, rangeSuffix(m)))
		}
	}
	return strings.Join(out, " | ")
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"look @[src/a.ts:2:3] ok", "src/a.ts:2:3"},
		{"@[a]@[b] @[a]", "a | b | a"},
		{"读@[文档/说明 一.md]，再看@[b.go:10]。", "文档/说明 一.md | b.go:10"},
		{"@[a[b]c.txt] @[x[1][2]] @[[y]]", "a[b]c.txt | x[1][2] | [y]"},
		{"@[abc", ""}, {"@[a[b", ""}, {"@[a\nb]", ""}, {"@[a[b] and @[c]", "c"},
		{"@[abc]def]", "abc"}, {"@[]", ""}, {"@[ ]", ""}, {"@ [a]", ""}, {"[a](b) [c]", ""}, {`\@[a] \![x](y)`, ""},
		{"mail me@[x.txt]", "x.txt"}, {"@@[x]", "x"}, {"@[@[x]]", "@[x]"},
		{"@[a:10] @[a:0] @[a:-1] @[a:x] @[a:1:2:3] @[:3] @[a:] @[a:1:0] @[a:20:10]",
			"a:10 | a:0 | a:-1 | a:x | a:1:2:3 | :3 | a: | a:1:0 | a:20:10"},
		{"@[a:9999999999]", "a:9999999999"}, {`@[C:\x\y.txt:10]`, `C:\x\y.txt:10`},
		{`@[context_search{"query": "a]b}"}] then`, `tool context_search {"query": "a]b}"}`},
		{`@[context_read{"ref":"x"} ] @[context_list{}]`, `tool context_read {"ref":"x"}  | tool context_list {}`},
		{`@[ls{"p":1}] @[mcp.read{"x":"]"}]`, ""},
		{`@[a{b}.txt] @[context_grep{broken}]`, "a{b}.txt | tool context_grep {broken}"},
		{`@[context_search{"a":`, ""}, {`@[tool{"a":"@[b]"}]`, ""},
		{"`@[a]` ``@[b] ` `` @[c] `@[d]", "c | d"}, {"a ` b\n\n @[c] `", "c"}, {"`` ` @[a]", "a"},
		{"```\n@[a]\n```\n@[b]", "b"}, {"~~~ go\n@[a]\n```\n@[b]", ""}, {"````\n```\n@[a]\n````\n@[b]", "b"},
		{"   ```\n@[a]\n  ```  \n@[b]", "b"}, {"    ```\n@[a]", "a"}, {"``` `x`\n@[a]", "a"}, {"```\n@[a]\n``` x\n@[b]", ""},
		{"> ```\n> @[a]\n> ```", ""}, {"text ```@[a]``` @[b]", "b"},
	} {
		if got := picture(c.text, false); got != c.want {
			t.Errorf("%q has the marks\n %s, want\n %s", c.text, got, c.want)
		}
	}
	long := strings.Repeat("x", maxName+1)
	if got := Parse("@["+long+"]", true); got != nil {
		t.Errorf("a name that is too long is a mark of %d bytes", len(got[0].Text))
	}
}

func TestParsePlain(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"see @src/a.go, @b.go. And @c:10:20!", "src/a.go | b.go | c:10:20"},
		{"(@a.go) \"@b.go\" <@c.go> *@d.go* '@e.go's", "a.go | b.go | c.go | d.go | e.go"},
		{"看@a.go，和“@b.go”、（@c/d）", "a.go | b.go | c/d"}, {"看@a.go的第三行", "a.go的第三行"}, {"@文档/说明.md。", "文档/说明.md"},
		{"me@example.com a.b@c x@y 1@2 user+tag@host é@x", ""}, {"@", ""}, {"@ a", ""}, {"@. @.. @/ @./", ""}, {"@@a", "@a"},
		{`\@a`, ""},
		{"@a@b.c", "a@b.c"}, {"`@a` @b", "b"}, {"```\n@a\n```", ""}, {"@[a b] @c", "a b | c"},
		{"@/etc/passwd", "/etc/passwd"},
		{"@a\x00b", "a"}, {"@a\xffb", "a"}, {"@src/", "src/"}, {"@a?b", "a"}, {"@a…", "a"}, {"\n@a\n", "a"},
	} {
		if got := picture(c.text, true); got != c.want {
			t.Errorf("%q has the marks\n %s, want\n %s", c.text, got, c.want)
		}
	}
	if got := picture("@a.go me@b @[c]", false); got != "c" {
		t.Errorf("where brackets are wanted there is %s", got)
	}
}

func TestParseImages(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"看 ![图](file:///ws/p.png) 好", "image file:///ws/p.png"},
		{"![a](ftp://h/x.png)", ""}, {"![a](attachment:x.png)", ""}, {"![a](mailto:x)", ""}, {"![a](javascript:x)", ""},
		{"![](a.png) ![x y](b/c.png)", "image a.png | image b/c.png"},
		{`![a](a.png "a title") ![b](b.png 'it ) is') ![c](c.png (so))`, "image a.png | image b.png | image c.png"},
		{"![a](<my photo (1).png>) ![b](my photo.png) ![c](d(1).png)",
			"image my photo (1).png | image my photo.png | image d(1).png"},
		{`![a](<b.png> "t")`, "image b.png"},
		{"![a](data:image/png;base64,iVBORw==)", "image data:image/png;base64,iVBORw=="},
		{"![a](https://h/x.png?a=(b)) ![b](HTTP://h/y)", "image https://h/x.png?a=(b) | image HTTP://h/y"},
		{"![a]( b.png )", "image b.png"}, {"![a]()", ""}, {"![a](b", ""}, {"![a](b\n)", ""}, {"![a] (b)", ""},
		{"![a](<b", ""}, {"![a](b(c)", ""},
		{"![a[b]](c.png)", "image c.png"}, {"[![a](b.png)](c)", "image b.png"}, {"!@[a]", "a"}, {"`![a](b)`", ""},
		{`![a](C:\x.png)`, `image C:\x.png`}, {"![@[x]](y.png)", "image y.png"},
		{"![a](x" + strings.Repeat("(", 40) + ")", ""},
		{"![@[x]] (y)", "x"},
	} {
		if got := picture(c.text, false); got != c.want {
			t.Errorf("%q has the marks\n %s, want\n %s", c.text, got, c.want)
		}
	}
}

// Parsing takes time in proportion to the text, whatever is in it.
func TestParseIsLinear(t *testing.T) {
	for _, piece := range []string{"@[", "![a](", "![a](<", "![", "`", "` `` ", "@[a{\"", "@[context_a{\"\":", "@a", "[",
		"]", "@[a]",
		"![a](\"",
		"![a](x '", "![a](data:", "```\n", "~~~\n", "@[a{ ", "(", "\n\n`"} {
		text := strings.Repeat(piece, 1<<18/len(piece))
		marks := Parse(text, true)
		for _, m := range marks {
			if m.From < 0 || m.To > len(text) || m.From >= m.To {
				t.Fatalf("%q: a mark at %d to %d", piece, m.From, m.To)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a @[b:1:2] `@[c]` ![d](e \"f\") @g.", "```\n@[a]\n```\n@[b[c]d]",
		`@[context_search{"q":"]"}]@[x{"y":1}]`,
		"看@文档/说明.md的", "![a](<b c>)(d)", "\\@[a]\xff@[\x00]", "![a](data:image/png;base64,AAAA)", "~~~\n@[a", "@[a\r\n]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, plain := range []bool{false, true} {
			end := 0
			for _, m := range Parse(text, plain) {
				if m.From < end || m.To > len(text) || m.From >= m.To {
					t.Fatalf("a mark at %d to %d, behind %d", m.From, m.To, end)
				}
				end = m.To
				want := "@[" + m.Text + "]"
				switch {
				case m.Kind == scrollback.ReferenceImage:
					want = m.Text
				case m.bare:
					want = "@" + m.Text
				}
				if got := text[m.From:m.To]; got != want {
					t.Fatalf("the mark %q stands as %q", m.Text, got)
				}
				if m.Kind == "" || m.First < 0 || m.Last < 0 || m.First == 0 && m.Last != 0 || (m.Path == "") != (m.Tool != "") {
					t.Fatalf("the mark %+v", m)
				}
			}
		}
	})
}
