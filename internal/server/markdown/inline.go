package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// emphasisParser reads * and _ as CommonMark does, and beside Chinese, Japanese and Korean
// as people there write: no space stands between a sentence's mark and the next word, so a
// mark does not keep **…。** from being strong.
type emphasisParser struct{ parser.InlineParser }

func (e emphasisParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, _ := block.PeekLine()
	n := e.InlineParser.Parse(parent, block, pc)
	d, ok := n.(*parser.Delimiter)
	if !ok || d.Char != '*' {
		return n
	}
	after, _ := utf8.DecodeRune(line[d.OriginalLength:])
	if isEastAsian(before) || isEastAsian(after) {
		if len(line) == d.OriginalLength {
			after = '\n'
		}
		d.CanOpen = !util.IsSpaceRune(after)
		d.CanClose = !util.IsSpaceRune(before)
		if d.CanOpen && d.CanClose { // a mark of the end of a sentence closes, one of its beginning opens
			d.CanOpen = !util.IsPunctRune(after) || util.IsPunctRune(before) || isEastAsian(before)
			d.CanClose = !util.IsPunctRune(before) || util.IsPunctRune(after) || isEastAsian(after)
		}
	}
	return n
}

func isEastAsian(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0x3000 && r <= 0x303f ||
		r >= 0xff00 && r <= 0xffef
}

// kindMention is a mention: #123.
var kindMention = ast.NewNodeKind("Mention")

type mentionNode struct {
	ast.BaseInline
	digits string
}

func (*mentionNode) Kind() ast.NodeKind              { return kindMention }
func (m *mentionNode) Dump(source []byte, level int) { ast.DumpHelper(m, source, level, nil, nil) }

type mentionParser struct{}

func (mentionParser) Trigger() []byte { return []byte{'#'} }

var mentioned = lazyregexp.New(`^#([1-9][0-9]{0,8})(?:[^0-9A-Za-z_]|$)`)

func (mentionParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	if before < utf8.RuneSelf && (unicode.IsLetter(before) || unicode.IsDigit(before) ||
		strings.ContainsRune("_&/#=?", before)) {
		return nil
	}
	line, _ := block.PeekLine()
	m := mentioned().FindSubmatch(line)
	if m == nil {
		return nil
	}
	block.Advance(1 + len(m[1]))
	return &mentionNode{digits: string(m[1])}
}

// plainTags are the tags that may be used within a line, without attributes and in pairs.
var plainTags = map[string]bool{"b": true, "i": true, "em": true, "strong": true, "u": true, "s": true, "del": true,
	"ins": true, "mark": true,
	"sub": true, "sup": true, "kbd": true, "samp": true, "var": true, "small": true, "q": true, "cite": true}

var plainTag = lazyregexp.New(`^<(/?)([a-zA-Z]+)\s*(/?)>$`)

// tagPairs finds the tags of a text that are left as they are: line breaks, and pairs of
// plain tags under one parent. All others are shown.
type tagPairs struct{}

const tagAttribute = "tag" // the attribute of a tag that counts: its name, with a slash if it closes

func (tagPairs) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.HasChildren() {
			pairTags(n, reader.Source())
		}
		return ast.WalkContinue, nil
	})
}

func pairTags(parent ast.Node, source []byte) {
	type open struct {
		name string
		at   ast.Node
	}
	var stack []open
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		raw, ok := n.(*ast.RawHTML)
		if !ok || raw.Segments.Len() != 1 {
			continue
		}
		segment := raw.Segments.At(0)
		m := plainTag().FindSubmatch(segment.Value(source))
		if m == nil {
			continue
		}
		name := strings.ToLower(string(m[2]))
		switch {
		case name == "br":
			n.SetAttributeString(tagAttribute, "br")
		case !plainTags[name] || len(m[3]) > 0:
		case len(m[1]) == 0 && len(stack) < maxTags:
			stack = append(stack, open{name, n})
		case len(m[1]) > 0:
			for i := len(stack) - 1; i >= 0; i-- {
				if stack[i].name == name {
					stack[i].at.SetAttributeString(tagAttribute, name)
					n.SetAttributeString(tagAttribute, "/"+name)
					stack = stack[:i] // those within have no end
					break
				}
			}
		}
	}
}

// maxTags is how many tags may be open within each other.
const maxTags = 60
