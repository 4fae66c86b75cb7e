package markdown

import (
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/scrollback-ai/scrollback/internal/guarded"
	"github.com/scrollback-ai/scrollback/internal/maths"
)

// Span is a piece of a text, in characters: from At to before End.
type Span struct{ At, End int }

// Block is a closed block of a text that is still being written.
type Block struct {
	Index int // 0, 1, 2 …
	Span
	HTML string
}

// Stream makes HTML of a text while it is written. A block is rendered when it is closed,
// with the links that were defined before it. What is defined behind it (links, footnotes)
// it does not know: a client that shows blocks replaces them by the HTML of the whole text in the
// end.
type Stream struct {
	r    *Renderer
	o    Options
	of   blockSplitter
	n    int
	refs []parser.Reference
}

// NewStream begins with an empty text.
func (r *Renderer) NewStream(o Options) *Stream {
	if o.Light == nil {
		o.Light = PageLight()
	}
	return &Stream{r: r, o: o}
}

// CharCount returns how many characters it was given.
func (s *Stream) CharCount() int { return s.of.at + utf8.RuneCountInString(s.of.open) }

// AddText gives it more text, and returns the blocks that are closed by it.
func (s *Stream) AddText(piece string) []Block {
	var out []Block
	closed, refs := s.of.addText(piece)
	if len(s.refs) < maxRefs {
		s.refs = append(s.refs, refs...)
	}
	for _, c := range closed {
		html, _ := s.r.renderCached(c.text, s.o, s.refs)
		out = append(out, Block{s.n, c.Span, html})
		s.n++
	}
	return out
}

// maxRefs bounds the links that are remembered of one text.
const maxRefs = 1000

// blockSplitter finds closed blocks in a text that grows.
type blockSplitter struct {
	at     int    // characters before what is open
	open   string // what is not closed yet
	looked int    // how much of it was looked at already, in bytes
	total  int    // bytes given
}

// closedBlock is a block with its text.
type closedBlock struct {
	Span
	text string
}

// nextStride returns how much an open block grows before it is looked at again: a part of it, so that
// a long one is not read over and over.
func nextStride(open int) int { return open / 64 }

// addText returns the blocks that more text closes, and the links that are defined in it.
func (s *blockSplitter) addText(piece string) (out []closedBlock, refs []parser.Reference) {
	s.open += piece
	s.total += len(piece)
	if s.total > 4*MaxChars {
		return nil, nil // it will be plain text
	}
	end := strings.LastIndexByte(s.open, '\n') + 1
	if end <= s.looked || end-s.looked < nextStride(end) {
		return nil, nil
	}
	s.looked = end
	if guarded.IsTooDeep(s.open[:end]) {
		return nil, nil
	}
	lines := s.open[:end]
	found, err := guarded.Run(splitting(), func() (f blockBoundary) {
		f.pc = parser.NewContext()
		f.cuts = findBoundaries(lines, f.pc)
		return f
	})
	if err != nil {
		return nil, nil // it stays open, and is drawn as a whole in the end
	}
	pc := found.pc
	cuts := found.cuts
	from := 0
	for _, cut := range cuts {
		body := s.open[from:cut]
		n := utf8.RuneCountInString(body)
		out = append(out, closedBlock{Span: Span{s.at, s.at + n}, text: body})
		s.at += n
		from = cut
	}
	if len(out) > 0 {
		refs = pc.References()
		s.open = s.open[from:]
		s.looked = end - from
	}
	return out, refs
}

// blockBoundary is where blocks of a text end, and the links that are defined in it.
type blockBoundary struct {
	cuts []int
	pc   parser.Context
}

// splitting bounds how texts are split.
var splitting = sync.OnceValue(func() *guarded.Bound { return guarded.New(2*runtime.GOMAXPROCS(0), guarded.ReadTime) })

var blocksOf = newSkeleton()

// findBoundaries returns the bytes of whole lines before which all is closed. A block that begins
// behind an empty line, or behind one that has an end of its own, closes what was before:
// not even an underline or a table's second line could still change that.
func findBoundaries(lines string, pc parser.Context) (cuts []int) {
	defer func() {
		if recover() != nil {
			cuts = nil
		}
	}()
	doc := blocksOf.Parse(text.NewReader([]byte(lines)), parser.WithContext(pc))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		before := n.PreviousSibling()
		if before == nil || n.Pos() <= 0 {
			continue
		}
		cut := strings.LastIndexByte(lines[:n.Pos()], '\n') + 1
		if cut == 0 || len(cuts) > 0 && cut <= cuts[len(cuts)-1] {
			continue
		}
		previous := lines[strings.LastIndexByte(lines[:cut-1], '\n')+1 : cut]
		if strings.TrimSpace(previous) == "" || hasOwnEnd(before) {
			cuts = append(cuts, cut)
		}
	}
	return cuts
}

// hasOwnEnd reports whether a block has an end of its own.
func hasOwnEnd(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindFencedCodeBlock, ast.KindHeading, ast.KindThematicBreak, maths.KindBlock:
		return true
	}
	return false
}
