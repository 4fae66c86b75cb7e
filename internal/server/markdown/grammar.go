package markdown

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/maths"
)

// withPriority gives something its place among what a parser tries, lowest first.
func withPriority(priority int, v any) util.PrioritizedValue { return util.Prioritized(v, priority) }

// blockParsers returns what a text may consist of. HTML is not among it: tags are read within
// lines, and shown.
func blockParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		withPriority(100, parser.NewSetextHeadingParser()), withPriority(200, parser.NewThematicBreakParser()),
		withPriority(300, parser.NewListParser()),
		withPriority(400, parser.NewListItemParser()), withPriority(450, maths.BlockParser{}),
		withPriority(500, parser.NewCodeBlockParser()),
		withPriority(600, parser.NewATXHeadingParser()), withPriority(700, parser.NewFencedCodeBlockParser()),
		withPriority(800, parser.NewBlockquoteParser()),
		withPriority(900, extension.NewDefinitionListParser()), withPriority(910, extension.NewDefinitionDescriptionParser()),
		withPriority(950, extension.NewFootnoteBlockParser()), withPriority(1000, parser.NewParagraphParser()),
	}
}

// paragraphTransformers returns what a paragraph may turn out to be.
func paragraphTransformers() []util.PrioritizedValue {
	return []util.PrioritizedValue{withPriority(100, parser.LinkReferenceParagraphTransformer),
		withPriority(200, boundedTables{extension.NewTableParagraphTransformer()})}
}

// webAddress is an address that is written as it is, without the punctuation of the languages
// that put no space behind it.
var webAddress = lazyregexp.New(`^https?://(?:localhost|\[[0-9a-fA-F:]+\]|[-a-zA-Z0-9@:%._+~#=]{1,256}\.[a-z0-9]+)(?::\d+)?` +
	`(?:[/#?][-a-zA-Z0-9@:%_+.~#$!?&/=();,'^{}\[\]]*)?`)

// newGrammar reads Markdown and writes HTML.
func newGrammar(breaks bool) goldmark.Markdown {
	inlines := []util.PrioritizedValue{
		withPriority(50, countedParser{maths.InlineParser{}, mathCount}), withPriority(100, parser.NewCodeSpanParser()),
		withPriority(101, extension.NewFootnoteParser()), withPriority(150, extension.NewTaskCheckBoxParser()),
		withPriority(200, countedLinkParser{countedParser{parser.NewLinkParser(), linkCount}}),
		withPriority(300, parser.NewAutoLinkParser()),
		withPriority(400, parser.NewRawHTMLParser()), withPriority(450, mentionParser{}),
		withPriority(500, countedParser{emphasisParser{parser.NewEmphasisParser()}, markCount}),
		withPriority(510, countedParser{extension.NewStrikethroughParser(), markCount}),
		withPriority(999, extension.NewLinkifyParser(extension.WithLinkifyURLRegexp(webAddress()))),
	}
	p := parser.NewParser(parser.WithBlockParsers(blockParsers()...), parser.WithInlineParsers(inlines...),
		parser.WithParagraphTransformers(paragraphTransformers()...),
		parser.WithASTTransformers(withPriority(0, extension.NewTableASTTransformer()), withPriority(500, cellClasses{}),
			withPriority(600, tagPairs{}),
			withPriority(999, extension.NewFootnoteASTTransformer())))
	var how []html.Option
	if breaks {
		how = append(how, html.WithHardWraps())
	}
	r := renderer.NewRenderer(renderer.WithNodeRenderers(
		withPriority(100, nodeDrawer{}),
		withPriority(500, extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
		withPriority(500, extension.NewStrikethroughHTMLRenderer()),
		withPriority(500, extension.NewTaskCheckBoxHTMLRenderer()),
		withPriority(500, extension.NewDefinitionListHTMLRenderer()),
		withPriority(500, extension.NewFootnoteHTMLRenderer(extension.WithFootnoteIDPrefixFunction(idPrefix),
			extension.WithFootnoteBacklinkHTML("↩"))),
		withPriority(1000, html.NewRenderer(how...))))
	return goldmark.New(goldmark.WithParser(p), goldmark.WithRenderer(r))
}

// newSkeleton reads where blocks begin, and nothing within them.
func newSkeleton() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(blockParsers()...),
		parser.WithParagraphTransformers(paragraphTransformers()...))
}

// maxMarks bounds the marks of emphasis, the brackets of links and the beginnings of formulas
// within one paragraph: the cost of finding which belong together grows with the square.
// Further ones are text.
const maxMarks = 1000

var markCount, linkCount, mathCount = parser.NewContextKey(), parser.NewContextKey(), parser.NewContextKey()

// markCounter is how many marks there were in a paragraph.
type markCounter struct {
	in ast.Node
	n  int
}

// countedParser is a parser that stops at the bound.
type countedParser struct {
	parser.InlineParser
	key parser.ContextKey
}

func (c countedParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	so, _ := pc.Get(c.key).(*markCounter)
	if so == nil {
		so = &markCounter{}
		pc.Set(c.key, so)
	}
	if so.in != parent {
		*so = markCounter{in: parent}
	}
	if so.n++; so.n > maxMarks {
		return nil
	}
	return c.InlineParser.Parse(parent, block, pc)
}

// countedLinkParser also clears up behind a paragraph.
type countedLinkParser struct{ countedParser }

func (c countedLinkParser) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
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
