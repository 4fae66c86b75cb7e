package markdown

import (
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/highlight"
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
		if n := closed(s.pending); n > 0 {
			s.done(s.pending[:n])
			s.pending = s.pending[n:]
		}
	}
	s.Open(s.pending)
	return len(b), nil
}

// End closes the open block: the text is over. Another may follow.
func (s *Stream) End() {
	s.done(s.pending)
	s.pending = ""
	s.shown = false
	s.light = nil
	s.Open("")
}

func (s *Stream) done(source string) {
	if s.light == nil {
		s.light = highlight.NewBudget(highlight.PageTime)
	}
	rows := s.Look().rows(source, s.light.Part(highlight.TextTime))
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
	fence   = regexp.MustCompile("^(`{3,}[^`]*|~{3,}.*)$") // as the next, without what stands before it
	atx     = regexp.MustCompile(`^ {0,3}#{1,6}([ \t].*)?$`)
	rule    = regexp.MustCompile(`^ {0,3}(([-] *){3,}|([*] *){3,})$`)
	marker  = regexp.MustCompile(`^ {0,3}([-+*]|\d{1,9}[.)])([ \t].*)?$`)
	around  = regexp.MustCompile(`^((>|[-+*]|\d{1,9}[.)])[ \t]*)*`) // what a line is quoted by, or the item of
	rawHTML = regexp.MustCompile(`(?i)^<(script|pre|style|textarea|!--|\?|!\[CDATA\[)`)
	tag     = regexp.MustCompile(`(?i)^ {0,3}</?[a-z]`)
	endHTML = regexp.MustCompile(`(?i)</(script|pre|style|textarea)>|-->|\?>|\]\]>`)
)

// closed is how many bytes at the beginning of a text are blocks that nothing which follows
// can change: up to the last whole line that begins a block after an empty line, ends code
// between fences, or is a heading. Where it cannot tell it leaves complete blocks for later.
func closed(text string) int {
	var b blocks
	for {
		line, rest, whole := strings.Cut(text[b.at:], "\n")
		if !whole {
			return b.end
		}
		b.line(strings.TrimSuffix(line, "\r"), len(text)-len(rest))
	}
}

// blocks is where a walk over the lines of a text is.
type blocks struct {
	at, end int    // the line; what is closed
	fence   string // of the code that the line is in
	indent  int    // of that fence
	blank   bool   // the line before was empty
	list    bool   // the line may belong to a list
	tags    bool   // the line may belong to HTML that an empty line ends
	formula string // what ends the one that the line is in
	lost    bool   // there is no telling what the line belongs to
}

// line takes the next line, behind which the text is at next.
func (b *blocks) line(line string, next int) {
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
		if b.blank && indent < 2 && !(b.list && marker.MatchString(line)) {
			b.end = b.at
			b.list = false
		}
		if b.formula == "" {
			b.begin(line, text, indent, next)
		} else if fence.MatchString(text) || atx.MatchString(line) || rawHTML.MatchString(text) || tag.MatchString(line) {
			b.lost = true // it depends on whether the formula ends before an empty line
		} else if marker.MatchString(line) {
			b.list = true // or part of the formula
		}
		b.within(text)
	}
	if blank {
		b.formula = ""
	}
	b.blank = blank
	b.at = next
	b.tags = b.tags && !blank
}

// within looks at whether a line begins a formula of several lines, or ends one.
func (b *blocks) within(text string) {
	rest := text
	if b.formula == "" {
		var open string
		quoted := text[len(around.FindString(text)):]
		if open, end := maths.Opening(quoted); len(quoted) < len(text) && open != "" && !maths.Ends(quoted[len(open):], end) {
			b.formula = unknown
			return
		}
		if open, b.formula = maths.Opening(text); open == "" {
			return
		}
		rest = text[len(open):]
	}
	if b.formula != unknown && maths.Ends(rest, b.formula) {
		b.formula = ""
	}
}

// unknown is what ends a formula in a quote or an item, which may itself end before: an empty
// line does in any case.
const unknown = "?"

// begin looks at a line that may be the first of a block.
func (b *blocks) begin(line, text string, indent, next int) {
	isFence := fence.MatchString(text) && (b.list || indent <= 3)
	switch {
	case b.tags:
		b.lost = isFence || rawHTML.MatchString(text)
		b.list = b.list || marker.MatchString(line)
	case isFence:
		b.fence = text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
		b.indent = indent
		b.list = b.list && indent >= 2
	case rule.MatchString(line):
		b.list = b.list && indent >= 2
	case marker.MatchString(line):
		b.list = true
	case rawHTML.MatchString(text):
		b.lost = !endHTML.MatchString(line) // empty lines do not end it
	case tag.MatchString(line):
		b.tags = true
	case !b.list && atx.MatchString(line):
		b.end = next
	}
}
