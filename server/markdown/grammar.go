package markdown

import (
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/scrollback-ai/scrollback/internal/maths"
)

// at gives something its place among what a parser tries, lowest first.
func at(priority int, v any) util.PrioritizedValue { return util.Prioritized(v, priority) }

// blockParsers are what a text may consist of. HTML is not among it: tags are read within
// lines, and shown.
func blockParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		at(100, parser.NewSetextHeadingParser()), at(200, parser.NewThematicBreakParser()), at(300, parser.NewListParser()),
		at(400, parser.NewListItemParser()), at(450, maths.BlockParser{}), at(500, parser.NewCodeBlockParser()),
		at(600, parser.NewATXHeadingParser()), at(700, parser.NewFencedCodeBlockParser()),
		at(800, parser.NewBlockquoteParser()),
		at(900, extension.NewDefinitionListParser()), at(910, extension.NewDefinitionDescriptionParser()),
		at(950, extension.NewFootnoteBlockParser()), at(1000, parser.NewParagraphParser()),
	}
}

// paragraphs are what a paragraph may turn out to be.
func paragraphs() []util.PrioritizedValue {
	return []util.PrioritizedValue{at(100, parser.LinkReferenceParagraphTransformer),
		at(200, boundedTables{extension.NewTableParagraphTransformer()})}
}

// webAddress is an address that is written as it is, without the punctuation of the languages
// that put no space behind it.
var webAddress = regexp.MustCompile(`^https?://(?:localhost|\[[0-9a-fA-F:]+\]|[-a-zA-Z0-9@:%._+~#=]{1,256}\.[a-z0-9]+)(?::\d+)?` +
	`(?:[/#?][-a-zA-Z0-9@:%_+.~#$!?&/=();,'^{}\[\]]*)?`)

// grammar reads Markdown and writes HTML.
func grammar(breaks bool) goldmark.Markdown {
	inlines := []util.PrioritizedValue{
		at(50, counted{maths.InlineParser{}, mathCount}), at(100, parser.NewCodeSpanParser()),
		at(101, extension.NewFootnoteParser()), at(150, extension.NewTaskCheckBoxParser()),
		at(200, countedLinks{counted{parser.NewLinkParser(), linkCount}}), at(300, parser.NewAutoLinkParser()),
		at(400, parser.NewRawHTMLParser()), at(450, mentionParser{}),
		at(500, counted{emphasisParser{parser.NewEmphasisParser()}, markCount}),
		at(510, counted{extension.NewStrikethroughParser(), markCount}),
		at(999, extension.NewLinkifyParser(extension.WithLinkifyURLRegexp(webAddress))),
	}
	p := parser.NewParser(parser.WithBlockParsers(blockParsers()...), parser.WithInlineParsers(inlines...),
		parser.WithParagraphTransformers(paragraphs()...),
		parser.WithASTTransformers(at(0, extension.NewTableASTTransformer()), at(500, cellClasses{}), at(600, tagPairs{}),
			at(999, extension.NewFootnoteASTTransformer())))
	var how []html.Option
	if breaks {
		how = append(how, html.WithHardWraps())
	}
	r := renderer.NewRenderer(renderer.WithNodeRenderers(
		at(100, drawer{}),
		at(500, extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
		at(500, extension.NewStrikethroughHTMLRenderer()), at(500, extension.NewTaskCheckBoxHTMLRenderer()),
		at(500, extension.NewDefinitionListHTMLRenderer()),
		at(500, extension.NewFootnoteHTMLRenderer(extension.WithFootnoteIDPrefixFunction(idPrefix),
			extension.WithFootnoteBacklinkHTML("↩"))),
		at(1000, html.NewRenderer(how...))))
	return goldmark.New(goldmark.WithParser(p), goldmark.WithRenderer(r))
}

// skeleton reads where blocks begin, and nothing within them.
func skeleton() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(blockParsers()...), parser.WithParagraphTransformers(paragraphs()...))
}

// maxMarks bounds the marks of emphasis, the brackets of links and the beginnings of formulas
// within one paragraph: the cost of finding which belong together grows with the square.
// Further ones are text.
const maxMarks = 1000

var markCount, linkCount, mathCount = parser.NewContextKey(), parser.NewContextKey(), parser.NewContextKey()

// count is how many marks there were in a paragraph.
type count struct {
	in ast.Node
	n  int
}

// counted is a parser that stops at the bound.
type counted struct {
	parser.InlineParser
	key parser.ContextKey
}

func (c counted) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	so, _ := pc.Get(c.key).(*count)
	if so == nil {
		so = &count{}
		pc.Set(c.key, so)
	}
	if so.in != parent {
		*so = count{in: parent}
	}
	if so.n++; so.n > maxMarks {
		return nil
	}
	return c.InlineParser.Parse(parent, block, pc)
}

// countedLinks also clears up behind a paragraph.
type countedLinks struct{ counted }

func (c countedLinks) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	c.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}

// maxCells bounds a table: rows that are shorter than its head are filled up.
const maxCells = 20_000

// boundedTables leaves a table alone that would be too big.
type boundedTables struct{ parser.ParagraphTransformer }

func (b boundedTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	columns := 0
	for i := range min(lines.Len(), 200) {
		pipes := 1
		line := lines.At(i)
		for _, c := range line.Value(reader.Source()) {
			if c == '|' {
				pipes++
			}
		}
		columns = max(columns, pipes)
	}
	if columns*lines.Len() <= maxCells {
		b.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// cellClasses says by classes how the cells of tables stand.
type cellClasses struct{}

func (cellClasses) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if cell, ok := n.(*tables.TableCell); ok && entering && cell.Alignment != tables.AlignNone {
			cell.SetAttributeString("class", []byte(cell.Alignment.String()))
		}
		return ast.WalkContinue, nil
	})
}
