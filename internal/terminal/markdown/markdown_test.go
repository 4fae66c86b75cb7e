package markdown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// streamed returns the rows that a text becomes when it comes in pieces.
func streamed(l Look, pieces ...string) []string {
	var out []string
	open := ""
	s := &Stream{Look: func() Look { return l }, Open: func(w string) { open = w },
		Done: func(rows []string) { out = append(out, rows...) }}
	for _, p := range pieces {
		fmt.Fprint(s, p)
	}
	s.End()
	if open != "" {
		panic("something is still open: " + open)
	}
	return out
}

// However a text comes in pieces, its rows are those of the whole: no block is cut.
func TestStreamIsTheWhole(t *testing.T) {
	lines := []string{"", "", "", "# a heading", "some words", "more *words*", "- one", "  - inner", "    far in",
		"  in", "1. first", "> quoted", "```go", "```", "~~~", "`code` here",
		"| a | b |", "|---|---|", "| 1 | 2 |", "---", "===", "<div>", "</div>", "<!-- a", "b -->", "\tcode", "* * *",
		"港务长把钥匙放在灯塔旁边。", "<script>", "</script>", "   ```", "    ```",
		"$$", `\[`, `x \\ y`, `\]`, "$$ a $$", `so \(x\, y\) and $z$`, "= 2", "> $$", "- $$"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 14).Draw(t, "lines"), "\n")
		look := Look{Width: rapid.IntRange(10, 40).Draw(t, "width"), Color: rapid.Bool().Draw(t, "color")}
		var pieces []string
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			pieces = append(pieces, string(rest[:n]))
			rest = rest[n:]
		}
		if got, want := streamed(look, pieces...), look.RenderRows(text); !slices.Equal(got, want) {
			t.Fatalf("%q became\n%s\nnot\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// What stands behind the beginning of a formula may be no part of it: the formula may not end, or
// the quote or item that it begins in ends before.
func TestStreamBehindADollar(t *testing.T) {
	for _, text := range []string{
		"- one\n\n$$\n<div>\n$$ a $$\n# a heading\n  - inner",
		"$$\n<script>\n$$ a $$\n\n# a heading\n\n- one",
		"> $$\nsome words\n# a heading\n> $$",
		"- $$\nsome words\n* * *\n# a heading\n$$",
		"$$\n  - inner\n\n- one\n   ```",
	} {
		look := Look{Width: 10}
		if got, want := streamed(look, strings.SplitAfter(text, "\n")...), look.RenderRows(text); !slices.Equal(got, want) {
			t.Errorf("%q became\n%s\nnot\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A text of everything, as it is shown in two widths, with color and without.
func TestRows(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, look := range []Look{{40, false}, {72, true}} {
			rows := look.RenderRows(string(source))
			for _, row := range rows {
				if w := columns.TextWidth(columns.StripStyles(row)); w > look.Width {
					t.Errorf("%s: a row of %d columns in %d: %q", name, w, look.Width, row)
				}
			}
			got := strings.ReplaceAll(strings.Join(rows, "\n"), "\x1b", "␛") + "\n"
			golden := fmt.Sprintf("%s.%d", strings.TrimSuffix(name, ".md"), look.Width)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || string(want) != got {
				t.Errorf("%s: %v, it is now\n%s", golden, err, got)
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite the expected rows")

// Nothing that a text holds makes the terminal do something, however it is written.
func TestNoControl(t *testing.T) {
	for _, source := range []string{"a\x1b[2Jb", "&#27;[2J", "`\x1b[2J`", "```go\n\x1b[2J\n```", "[\x1b](\x07)",
		"<\x1b[2J>", "| \x1b |\n|---|\n| \x9b |", "\u202e", "&#x202e;",
		"```\x1b[2J\nx\n```", "<http://a.b/\x1b[2J>", "![\x07](\x07)"} {
		for _, look := range []Look{{40, false}, {40, true}} {
			got := columns.StripStyles(strings.Join(look.RenderRows(source), "\n"))
			if strings.ContainsAny(got, "\x1b\x07\u009b\u202e") {
				t.Errorf("%q became %q", source, got)
			}
		}
	}
	for _, row := range (Look{Width: 40}).RenderRows("# a **b** `c` [d](e)\n\n> f\n\n```go\nfunc x()\n```") {
		if strings.Contains(row, "\x1b") {
			t.Errorf("without color there is %q", row)
		}
	}
}

// What is between angle brackets, and what is no mark at all, stays.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"Vec<T>", "map[string]int", "<b>bold</b>", "a_b_c", "2*3*4",
			"#12", "x^2", "$y$", "[^1]", "灯塔", "<-", "a|b", "~", "\\d+"}), 1, 8).Draw(t, "words")
		source := "The words: " + strings.Join(words, " ")
		got := strings.Join((Look{Width: 30}).RenderRows(source), " ")
		for _, w := range words {
			if squeeze(got) != squeeze(source) && !strings.Contains(squeeze(got), squeeze(w)) {
				t.Fatalf("%q became %q", source, got)
			}
		}
	})
}

// Formulas stand as they were written, within lines, in blocks, lists and quotes.
func TestFormulas(t *testing.T) {
	for _, source := range []string{
		`so \(a\,b\) and \[x \\ y\] and $\{1\}$`, "$$\n\\begin{pmatrix} a & b \\\\\nc & *d* \\end{pmatrix}\n$$",
		"\\[\n= x_1 + *y*\n- z_2\n\\]",
		`$f(x)=x^2 \tag{1}$`, "costs $5 a month, or $50 a year",
	} {
		for _, look := range []Look{{72, false}, {72, true}} {
			if got := strings.Join(look.RenderRows(source), "\n"); got != source {
				t.Errorf("%q became %q", source, got)
			}
			got := strings.Join(look.RenderRows("> - "+strings.ReplaceAll(source, "\n", "\n>   ")), "\n")
			if squeeze(strings.NewReplacer("│", "", "•", "").Replace(columns.StripStyles(got))) != squeeze(source) {
				t.Errorf("in a list, %q became %q", source, got)
			}
		}
	}
}

func squeeze(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }

// TestCodeThatLexersNeverEnd: the rows come, with all of the code in them.
func TestCodeThatLexersNeverEnd(t *testing.T) {
	rows := make(chan []string, 1)
	go func() { rows <- Look{Width: 80, Color: true}.RenderRows("```jsonata\n$replace(x, /\\d/, \"\")\n```\n") }()
	select {
	case got := <-rows:
		if !strings.Contains(columns.StripStyles(strings.Join(got, "\n")), `/\d/, "")`) {
			t.Errorf("the code is not whole: %q", got)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the code is never shown")
	}
}
