// Package maths reads the formulas of Markdown: $…$, $$…$$, \(…\) and \[…\], within lines and on
// lines of their own. The page sets them; a terminal shows them as they were written.
//
// It knows where formulas begin and end, and nothing of what they mean.
package maths

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxInline bounds a formula within a line, in bytes.
const maxInline = 2000

// The kinds of the nodes.
var (
	KindInline = ast.NewNodeKind("Math")
	KindBlock  = ast.NewNodeKind("MathBlock")
)

// Inline is a formula within a paragraph.
type Inline struct {
	ast.BaseInline
	TeX     string
	Source  string // with what stands around it
	Display bool   // on a line of its own, where there is room
}

// Kind implements ast.Node.
func (*Inline) Kind() ast.NodeKind { return KindInline }

// Dump implements ast.Node.
func (m *Inline) Dump(source []byte, level int) { ast.DumpHelper(m, source, level, nil, nil) }

// InlineParser reads $…$, $$…$$, \(…\) and \[…\].
type InlineParser struct{}

// Trigger implements parser.InlineParser.
func (InlineParser) Trigger() []byte { return []byte{'$', '\\'} }

// Parse implements parser.InlineParser.
func (InlineParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	open, closing := findDelimiters(line)
	if open == "" {
		return nil
	}
	if open == "$" && !mayOpen(block.PrecendingCharacter(), line) {
		return nil
	}
	block.Advance(len(open))
	var tex []byte
	for {
		line, _ := block.PeekLine()
		if line == nil {
			return nil
		}
		end := findEnd(line[:min(len(line), maxInline)], closing)
		if end >= 0 {
			tex = append(tex, line[:end]...)
			if len(tex) > maxInline || len(bytes.TrimSpace(tex)) == 0 || open == "$" && !mayClose(tex, line[end+1:]) {
				return nil
			}
			block.Advance(end + len(closing))
			return &Inline{TeX: string(tex), Source: open + string(tex) + closing, Display: open == "$$" || open == `\[`}
		}
		tex = append(tex, line...)
		if len(tex) > maxInline {
			return nil
		}
		block.AdvanceLine()
	}
}

// findDelimiters returns what a formula at the beginning of a line begins and ends with.
func findDelimiters(line []byte) (open, closing string) {
	switch {
	case bytes.HasPrefix(line, []byte("$$")):
		return "$$", "$$"
	case bytes.HasPrefix(line, []byte("$")):
		return "$", "$"
	case bytes.HasPrefix(line, []byte(`\(`)):
		return `\(`, `\)`
	case bytes.HasPrefix(line, []byte(`\[`)):
		return `\[`, `\]`
	}
	return "", ""
}

// FindOpening returns what a formula that begins a line is begun and ended with; empty if none does.
func FindOpening(line string) (open, closing string) {
	if open, closing = findDelimiters([]byte(line)); len(open) != 2 || open == `\(` {
		return "", ""
	}
	return open, closing
}

// EndsFormula reports whether a formula ends in a text, by what ends it.
func EndsFormula(text, closing string) bool { return findEnd([]byte(text), closing) >= 0 }

// findEnd returns where a formula's end stands, not one behind a backslash.
func findEnd(line []byte, closing string) int {
	for i := 0; i < len(line); {
		if bytes.HasPrefix(line[i:], []byte(closing)) {
			return i
		}
		if line[i] == '\\' {
			i++
		}
		i++
	}
	return -1
}

// mayOpen reports whether a dollar may begin a formula: no word and no other dollar stands before
// it, and no space behind.
func mayOpen(before rune, line []byte) bool {
	if before == '$' || before == '\\' || before < utf8.RuneSelf && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
		return false
	}
	return len(line) > 1 && !bytes.ContainsAny(line[1:2], " \t\r\n$")
}

// amount begins like a sum of money, and words follow: "5 a month, or 50".
var (
	amount = lazyregexp.New(`^[0-9][0-9.,]*`)
	word   = lazyregexp.New(`(?:^|[^\\a-zA-Z{])[a-zA-Z]{2,}`)
	dash   = lazyregexp.New(`^[0-9.,]+\s*(?:[-–—]|to)?$`)
)

// mayClose reports whether the next dollar ends a formula: no space stands before it and no word
// behind, and what is between does not read like prices.
func mayClose(tex, behind []byte) bool {
	last := tex[len(tex)-1]
	if last == ' ' || last == '\t' || last == '\n' {
		return false
	}
	if len(behind) > 0 && (behind[0] == '$' ||
		behind[0] < utf8.RuneSelf && (unicode.IsLetter(rune(behind[0])) || unicode.IsDigit(rune(behind[0])))) {
		return false
	}
	if amount().Match(tex) {
		return !word().Match(tex) && (!dash().Match(tex) || unicode.IsDigit(rune(last)))
	}
	return true
}

// Block is a formula on lines of its own, which are the lines of the node.
type Block struct {
	ast.BaseBlock
	Opening, Closing string // what stands around it
	Ended            bool   // the closing one was there
}

// Kind implements ast.Node.
func (*Block) Kind() ast.NodeKind { return KindBlock }

// IsRaw implements ast.Node.
func (*Block) IsRaw() bool { return true }

// Dump implements ast.Node.
func (m *Block) Dump(source []byte, level int) { ast.DumpHelper(m, source, level, nil, nil) }

// BlockParser reads $$ … $$ and \[ … \] that begin and end with a line. One that is not
// closed before an empty line is text.
type BlockParser struct{}

// Trigger implements parser.BlockParser.
func (BlockParser) Trigger() []byte { return []byte{'$', '\\'} }

// Open implements parser.BlockParser.
func (BlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 {
		return nil, parser.NoChildren
	}
	open, closing := findDelimiters(line[pos:])
	if len(open) != 2 || open == `\(` {
		return nil, parser.NoChildren
	}
	n := &Block{Opening: open, Closing: closing}
	from := pos + len(open)
	rest := line[from:]
	if end := findEnd(rest, closing); end >= 0 {
		if len(bytes.TrimSpace(rest[end+len(closing):])) > 0 || len(bytes.TrimSpace(rest[:end])) == 0 {
			return nil, parser.NoChildren
		}
		n.Ended = true
		n.Lines().Append(text.NewSegment(segment.Start+from-segment.Padding, segment.Start+from-segment.Padding+end))
		reader.AdvanceToEOL()
		return n, parser.NoChildren
	}
	if !isClosed(reader.Source()[segment.Stop:], closing) {
		return nil, parser.NoChildren
	}
	n.Lines().Append(text.NewSegment(segment.Start+from-segment.Padding, segment.Stop))
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

// isClosed reports whether a formula is closed at the end of a line, before an empty one.
func isClosed(source []byte, closing string) bool {
	for range 200 {
		line, rest, more := bytes.Cut(source, []byte("\n"))
		line = bytes.TrimRight(line, " \t\r")
		if i := findEnd(line, closing); i >= 0 {
			return i+len(closing) == len(line)
		}
		if !more || len(bytes.Trim(line, " \t>")) == 0 {
			return false
		}
		source = rest
	}
	return false
}

// Continue implements parser.BlockParser.
func (BlockParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n := node.(*Block)
	if n.Ended {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	if end := findEnd(line, n.Closing); end >= 0 {
		n.Ended = true
		segment = text.NewSegmentPadding(segment.Start, max(segment.Start, segment.Start+end-segment.Padding),
			segment.Padding)
		n.Lines().Append(segment)
		reader.AdvanceToEOL()
		return parser.Close
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return parser.Close
	}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// Close implements parser.BlockParser.
func (BlockParser) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (BlockParser) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (BlockParser) CanAcceptIndentedLine() bool { return false }
