package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/scrollback-ai/scrollback/internal/maths"
)

// style is how a piece of text is set: a set of SGR attributes, and a color of the palette
// above them.
type style uint16

const (
	bold style = 1 << iota
	faint
	italic
	underline
	struck
	colored = iota // where the color begins
)

// The colors, by what they are for.
const (
	red    = style(1+1) << colored
	green  = style(2+1) << colored
	yellow = style(3+1) << colored
	blue   = style(4+1) << colored
	purple = style(5+1) << colored
	cyan   = style(6+1) << colored
)

// heading is how a heading of a level is set.
func heading(level int) style {
	if level == 1 {
		return bold | underline
	}
	return bold
}

// with is a style inside another.
func (s style) with(inner style) style {
	if inner>>colored != 0 {
		s &= 1<<colored - 1
	}
	return s | inner
}

// styled sets a text in a style, if styles are used.
func (l Look) styled(s style, text string) string {
	if !l.Color || s == 0 || strings.TrimSpace(text) == "" && s&(underline|struck) == 0 {
		return text
	}
	var codes []string
	for i, code := range []string{"1", "2", "3", "4", "9"} {
		if s&(1<<i) != 0 {
			codes = append(codes, code)
		}
	}
	if color := s >> colored; color > 0 {
		codes = append(codes, fmt.Sprint(30+color-1))
	}
	return "\x1b[" + strings.Join(codes, ";") + "m" + text + "\x1b[0m"
}

// span is a piece of a line in one style.
type span struct {
	text string
	style
}

// inline is what stands in a block. Lines end where they end in the source: models break
// lines on purpose.
func (p page) inline(n ast.Node, in style) []span {
	var out []span
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, p.piece(c, in)...)
	}
	return out
}

func (p page) piece(n ast.Node, in style) []span {
	switch n := n.(type) {
	case *ast.Text:
		t := string(n.Segment.Value(p.source))
		if !n.IsRaw() {
			t = unescaped(t)
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			t += "\n"
		}
		return []span{{t, in}}
	case *ast.String:
		return []span{{string(n.Value), in}}
	case *ast.CodeSpan:
		return p.marked(p.raw(n, in.with(cyan)), "`", in)
	case *maths.Inline:
		return []span{{n.Source, in}}
	case *ast.Emphasis:
		if n.Level > 1 {
			return p.marked(p.inline(n, in.with(bold)), "**", in)
		}
		return p.marked(p.inline(n, in.with(italic)), "*", in)
	case *east.Strikethrough:
		return p.marked(p.inline(n, in.with(struck)), "~~", in)
	case *ast.AutoLink:
		return []span{{string(n.Label(p.source)), in.with(underline)}}
	case *ast.Link:
		return p.address(p.inline(n, in.with(underline)), string(n.Destination), in)
	case *ast.Image:
		return append([]span{{"!", in}}, p.address(append(append([]span{{"[", in}}, p.inline(n, in)...), span{"]", in}),
			string(n.Destination), in)...)
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b.Write(s.Value(p.source))
		}
		return []span{{b.String(), in}}
	case *east.TaskCheckBox:
		if n.IsChecked {
			return []span{{"[x] ", in}}
		}
		return []span{{"[ ] ", in}}
	}
	return p.inline(n, in)
}

// raw is the text of a code span, which has no marks inside.
func (p page) raw(n ast.Node, in style) []span {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(p.source))
		case *ast.String:
			b.Write(c.Value)
		}
	}
	return []span{{strings.ReplaceAll(b.String(), "\n", " "), in}}
}

// marked puts the marks around a text where no style can stand for them.
func (p page) marked(spans []span, mark string, in style) []span {
	if p.Color {
		return spans
	}
	return append(append([]span{{mark, in}}, spans...), span{mark, in})
}

// address puts an address behind what leads there, unless it is the same.
func (p page) address(label []span, to string, in style) []span {
	var b strings.Builder
	for _, s := range label {
		b.WriteString(s.text)
	}
	if to == "" || strings.TrimPrefix(to, "mailto:") == b.String() {
		return label
	}
	if b.Len() > 0 {
		label = append(label, span{" ", in})
	}
	return append(label, span{"(" + to + ")", in.with(faint)})
}

// unescaped is a text without the backslashes before its marks, and with its entities as
// characters.
func unescaped(s string) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(s)))))
}

// split breaks spans into lines.
func split(spans []span) [][]span {
	lines := [][]span{nil}
	for _, s := range spans {
		for i, t := range strings.Split(s.text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if t != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], span{t, s.style})
			}
		}
	}
	if n := len(lines); n > 1 && len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	return lines
}
