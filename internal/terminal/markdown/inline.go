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

// headingStyle returns how a heading of a level is set.
func headingStyle(level int) style {
	if level == 1 {
		return bold | underline
	}
	return bold
}

// nested returns a style inside another.
func (s style) nested(inner style) style {
	if inner>>colored != 0 {
		s &= 1<<colored - 1
	}
	return s | inner
}

// styleText sets a text in a style, if styles are used.
func (l Look) styleText(s style, text string) string {
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

// styledSpan is a piece of a line in one style.
type styledSpan struct {
	text string
	style
}

// inlineSpans returns what stands in a block. Lines end where they end in the source: models break
// lines on purpose.
func (p textPage) inlineSpans(n ast.Node, in style) []styledSpan {
	var out []styledSpan
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, p.pieceSpans(c, in)...)
	}
	return out
}

func (p textPage) pieceSpans(n ast.Node, in style) []styledSpan {
	switch n := n.(type) {
	case *ast.Text:
		t := string(n.Segment.Value(p.source))
		if !n.IsRaw() {
			t = unescapeText(t)
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			t += "\n"
		}
		return []styledSpan{{t, in}}
	case *ast.String:
		return []styledSpan{{string(n.Value), in}}
	case *ast.CodeSpan:
		return p.markSpans(p.rawText(n, in.nested(cyan)), "`", in)
	case *maths.Inline:
		return []styledSpan{{n.Source, in}}
	case *ast.Emphasis:
		if n.Level > 1 {
			return p.markSpans(p.inlineSpans(n, in.nested(bold)), "**", in)
		}
		return p.markSpans(p.inlineSpans(n, in.nested(italic)), "*", in)
	case *east.Strikethrough:
		return p.markSpans(p.inlineSpans(n, in.nested(struck)), "~~", in)
	case *ast.AutoLink:
		return []styledSpan{{string(n.Label(p.source)), in.nested(underline)}}
	case *ast.Link:
		return p.addAddress(p.inlineSpans(n, in.nested(underline)), string(n.Destination), in)
	case *ast.Image:
		return append([]styledSpan{{"!", in}},
			p.addAddress(append(append([]styledSpan{{"[", in}}, p.inlineSpans(n, in)...), styledSpan{"]", in}),
				string(n.Destination), in)...)
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b.Write(s.Value(p.source))
		}
		return []styledSpan{{b.String(), in}}
	case *east.TaskCheckBox:
		if n.IsChecked {
			return []styledSpan{{"[x] ", in}}
		}
		return []styledSpan{{"[ ] ", in}}
	}
	return p.inlineSpans(n, in)
}

// rawText returns the text of a code span, which has no marks inside.
func (p textPage) rawText(n ast.Node, in style) []styledSpan {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(p.source))
		case *ast.String:
			b.Write(c.Value)
		}
	}
	return []styledSpan{{strings.ReplaceAll(b.String(), "\n", " "), in}}
}

// markSpans puts the marks around a text where no style can stand for them.
func (p textPage) markSpans(spans []styledSpan, mark string, in style) []styledSpan {
	if p.Color {
		return spans
	}
	return append(append([]styledSpan{{mark, in}}, spans...), styledSpan{mark, in})
}

// addAddress puts an address behind what leads there, unless it is the same.
func (p textPage) addAddress(label []styledSpan, to string, in style) []styledSpan {
	var b strings.Builder
	for _, s := range label {
		b.WriteString(s.text)
	}
	if to == "" || strings.TrimPrefix(to, "mailto:") == b.String() {
		return label
	}
	if b.Len() > 0 {
		label = append(label, styledSpan{" ", in})
	}
	return append(label, styledSpan{"(" + to + ")", in.nested(faint)})
}

// unescapeText returns a text without the backslashes before its marks, and with its entities as
// characters.
func unescapeText(s string) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(s)))))
}

// splitLines breaks spans into lines.
func splitLines(spans []styledSpan) [][]styledSpan {
	lines := [][]styledSpan{nil}
	for _, s := range spans {
		for i, t := range strings.Split(s.text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if t != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], styledSpan{t, s.style})
			}
		}
	}
	if n := len(lines); n > 1 && len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	return lines
}
