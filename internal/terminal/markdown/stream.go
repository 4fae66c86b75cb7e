package markdown

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/highlight"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/maths"
)

// Stream takes a text as it comes. Blocks that are complete become rows and are done; the
// open one is given as it was written, to be drawn over.
type Stream struct {
	Look func() Look          // as it is now
	Done func(rows []string)  // of a block, with an empty row before it unless it is the first
	Open func(written string) // what is written of the open block; empty at its end

	pending string
	shown   bool              // some block was done
	light   *highlight.Budget // of the text, all its blocks together
}

// Write implements io.Writer; it never fails.
func (s *Stream) Write(b []byte) (int, error) {
	s.pending += string(b)
	if strings.IndexByte(string(b), '\n') >= 0 {
		if n := closedLength(s.pending); n > 0 {
			s.renderDone(s.pending[:n])
			s.pending = s.pending[n:]
		}
	}
	s.Open(s.pending)
	return len(b), nil
}

// End closes the open block: the text is over. Another may follow.
func (s *Stream) End() {
	s.renderDone(s.pending)
	s.pending = ""
	s.shown = false
	s.light = nil
	s.Open("")
}

func (s *Stream) renderDone(source string) {
	if s.light == nil {
		s.light = highlight.NewBudget(highlight.PageTime)
	}
	rows := s.Look().renderWithin(source, s.light.NewPart(highlight.TextTime))
	if len(rows) == 0 {
		return
	}
	if s.shown {
		rows = append([]string{""}, rows...)
	}
	s.shown = true
	s.Open("")
	s.Done(rows)
}

var (
	fence   = lazyregexp.New("^(`{3,}[^`]*|~{3,}.*)$") // as the next, without what stands before it
	atx     = lazyregexp.New(`^ {0,3}#{1,6}([ \t].*)?$`)
	rule    = lazyregexp.New(`^ {0,3}(([-] *){3,}|([*] *){3,})$`)
	marker  = lazyregexp.New(`^ {0,3}([-+*]|\d{1,9}[.)])([ \t].*)?$`)
	around  = lazyregexp.New(`^((>|[-+*]|\d{1,9}[.)])[ \t]*)*`) // what a line is quoted by, or the item of
	rawHTML = lazyregexp.New(`(?i)^<(script|pre|style|textarea|!--|\?|!\[CDATA\[)`)
	tag     = lazyregexp.New(`(?i)^ {0,3}</?[a-z]`)
	endHTML = lazyregexp.New(`(?i)</(script|pre|style|textarea)>|-->|\?>|\]\]>`)
)

// closedLength returns how many bytes at the beginning of a text are blocks that nothing which follows
// can change: up to the last whole line that begins a block after an empty line, ends code
// between fences, or is a heading. Where it cannot tell it leaves complete blocks for later.
func closedLength(text string) int {
	var b blockWalk
	for {
		line, rest, whole := strings.Cut(text[b.at:], "\n")
		if !whole {
			return b.end
		}
		b.takeLine(strings.TrimSuffix(line, "\r"), len(text)-len(rest))
	}
}

// blockWalk is where a walk over the lines of a text is.
type blockWalk struct {
	at, end int    // the line; what is closed
	fence   string // of the code that the line is in
	indent  int    // of that fence
	blank   bool   // the line before was empty
	list    bool   // the line may belong to a list
	tags    bool   // the line may belong to HTML that an empty line ends
	formula string // what ends the one that the line is in
	lost    bool   // there is no telling what the line belongs to
}

// takeLine takes the next line, behind which the text is at next.
func (b *blockWalk) takeLine(line string, next int) {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	if strings.HasPrefix(text, "\t") {
		text = strings.TrimLeft(text, " \t")
		indent = 4
	}
	blank := text == ""
	switch {
	case b.lost:
	case b.fence != "":
		ends := strings.HasPrefix(text, b.fence) && strings.Trim(text, b.fence[:1]+" \t") == ""
		switch {
		case b.list && !blank && (indent < b.indent || ends && indent > b.indent):
			b.lost = true // it may have ended with its item
		case ends && (b.list || indent <= 3):
			if b.fence = ""; !b.list {
				b.end = next
			}
		}
		blank = false
	case !blank:
		if b.blank && indent < 2 && !(b.list && marker().MatchString(line)) {
			b.end = b.at
			b.list = false
		}
		if b.formula == "" {
			b.beginBlock(line, text, indent, next)
		} else if fence().MatchString(text) || atx().MatchString(line) || rawHTML().MatchString(text) ||
			tag().MatchString(line) {
			b.lost = true // it depends on whether the formula ends before an empty line
		} else if marker().MatchString(line) {
			b.list = true // or part of the formula
		}
		b.trackFormula(text)
	}
	if blank {
		b.formula = ""
	}
	b.blank = blank
	b.at = next
	b.tags = b.tags && !blank
}

// trackFormula looks at whether a line begins a formula of several lines, or ends one.
func (b *blockWalk) trackFormula(text string) {
	rest := text
	if b.formula == "" {
		var open string
		quoted := text[len(around().FindString(text)):]
		if open, end := maths.FindOpening(quoted); len(quoted) < len(text) && open != "" &&
			!maths.EndsFormula(quoted[len(open):], end) {
			b.formula = unknown
			return
		}
		if open, b.formula = maths.FindOpening(text); open == "" {
			return
		}
		rest = text[len(open):]
	}
	if b.formula != unknown && maths.EndsFormula(rest, b.formula) {
		b.formula = ""
	}
}

// unknown is what ends a formula in a quote or an item, which may itself end before: an empty
// line does in any case.
const unknown = "?"

// beginBlock looks at a line that may be the first of a block.
func (b *blockWalk) beginBlock(line, text string, indent, next int) {
	isFence := fence().MatchString(text) && (b.list || indent <= 3)
	switch {
	case b.tags:
		b.lost = isFence || rawHTML().MatchString(text)
		b.list = b.list || marker().MatchString(line)
	case isFence:
		b.fence = text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
		b.indent = indent
		b.list = b.list && indent >= 2
	case rule().MatchString(line):
		b.list = b.list && indent >= 2
	case marker().MatchString(line):
		b.list = true
	case rawHTML().MatchString(text):
		b.lost = !endHTML().MatchString(line) // empty lines do not end it
	case tag().MatchString(line):
		b.tags = true
	case !b.list && atx().MatchString(line):
		b.end = next
	}
}
