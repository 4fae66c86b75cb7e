package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
)

const (
	windowBytes = 64 << 10  // matched at once, between two looks at the clock
	streamBytes = 256 << 10 // read at once
	lineMax     = 32 << 20  // the longest line held; what follows it makes the result partial
	clipChars   = 1000      // of a line in a match
)

// grepTally is what a grep has found so far.
type grepTally struct {
	re     *pattern
	max    int // matches kept
	around int // lines kept on each side
	scrollback.GrepResult
}

// lineScanner greps the lines of one source, fed in order.
type lineScanner struct {
	*grepTally
	ref   *scrollback.Ref
	place func(offset int) (seq int64, skip bool) // of a line that begins there

	offset int      // bytes fed before
	line   int      // lines fed before
	before []string // the last of them
	owed   []int    // matches whose lines after are still to come
}

// grepLines greps whole lines; only the last of a source may lack its newline. It
// stops early when ctx ends, which the caller of the grep notices.
func (s *lineScanner) grepLines(ctx context.Context, buf []byte) {
	s.completeMatches(buf)
	pos := 0
	counted := 0
	line := s.line
	for pos < len(buf) && ctx.Err() == nil {
		end := wholeLinesEnd(buf, pos, s.re.most)
		at, to, ok := s.firstMatch(ctx, buf[pos:end])
		if !ok {
			pos = end
			continue
		}
		at = pos + at
		to = pos + to
		first := pos + bytes.LastIndexByte(buf[pos:at], '\n') + 1
		last := len(buf)
		if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
			last = at + i
		}
		pos = last + 1
		seq, skip := s.place(s.offset + first)
		if skip {
			continue
		}
		s.Total++
		if len(s.Matches) == s.max {
			continue
		}
		line += bytes.Count(buf[counted:first], []byte("\n"))
		counted = first
		m := scrollback.GrepMatch{Ref: s.ref, Seq: seq, Line: line + 1,
			Content: clipMatch(buf[first:last], at-first, to-first)}
		s.addSurroundings(&m, buf, first, last+1)
		s.Matches = append(s.Matches, m)
	}
	s.offset += len(buf)
	s.line += bytes.Count(buf, []byte("\n"))
	if s.around > 0 {
		s.before = append(s.before, linesBefore(buf, len(buf), s.around)...)
		s.before = slices.Clone(s.before[max(0, len(s.before)-s.around):])
	}
}

// hasMatch reports whether a line of buf matches.
func (t *grepTally) hasMatch(ctx context.Context, buf []byte) bool {
	for pos := 0; pos < len(buf) && ctx.Err() == nil; {
		end := wholeLinesEnd(buf, pos, t.re.most)
		if _, _, ok := t.firstMatch(ctx, buf[pos:end]); ok {
			return true
		}
		pos = end
	}
	return false
}

// wholeLinesEnd returns where a stretch of whole lines from pos ends.
func wholeLinesEnd(buf []byte, pos, most int) int {
	if len(buf)-pos <= most {
		return len(buf)
	}
	if i := bytes.LastIndexByte(buf[pos:pos+most], '\n'); i >= 0 {
		return pos + i + 1
	}
	if i := bytes.IndexByte(buf[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(buf)
}

// firstMatch returns the first match in whole lines. In one very long line it looks at the
// clock now and then.
func (t *grepTally) firstMatch(ctx context.Context, lines []byte) (from, to int, ok bool) {
	var at []int
	if len(lines) <= t.re.most {
		at = t.re.findIndex(lines)
	} else {
		at = t.re.findReaderIndex(&runeFeeder{left: lines, stop: func() bool { return ctx.Err() != nil }})
		ok = ctx.Err() == nil
		if !ok {
			return 0, 0, false
		}
	}
	if at == nil || (at[0] == len(lines) && lines[at[0]-1] == '\n') {
		return 0, 0, false
	}
	return at[0], at[1], true
}

// runeFeeder reads characters until it is told to stop.
type runeFeeder struct {
	left []byte
	n    int
	stop func() bool
}

func (r *runeFeeder) ReadRune() (rune, int, error) {
	if r.n++; r.n%256 == 0 && r.stop() {
		return 0, 0, io.EOF
	}
	if len(r.left) == 0 {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRune(r.left)
	r.left = r.left[n:]
	return c, n, nil
}

// addSurroundings gives a match the lines around it: its own line begins at first and
// the next one at next.
func (s *lineScanner) addSurroundings(m *scrollback.GrepMatch, buf []byte, first, next int) {
	if s.around == 0 {
		return
	}
	m.Before = linesBefore(buf, first, s.around)
	if n := s.around - len(m.Before); n > 0 {
		m.Before = append(slices.Clone(s.before[max(0, len(s.before)-n):]), m.Before...)
	}
	if next < len(buf) {
		m.After = linesAfter(buf[next:], s.around)
	}
	if len(m.After) < s.around {
		s.owed = append(s.owed, len(s.Matches))
	}
}

// completeMatches gives the matches that wait for lines after them the first of buf.
func (s *lineScanner) completeMatches(buf []byte) {
	var still []int
	for _, i := range s.owed {
		m := &s.Matches[i]
		m.After = append(m.After, linesAfter(buf, s.around-len(m.After))...)
		if len(m.After) < s.around {
			still = append(still, i)
		}
	}
	s.owed = still
}

// grepReader greps the contents of r. It returns errNotText before anything is counted
// if they do not begin like text.
func (s *lineScanner) grepReader(ctx context.Context, r io.Reader) error {
	buf := make([]byte, 0, streamBytes)
	for seen := false; ; {
		n, err := readFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		end := err == io.EOF //nolint:errorlint // an end that something else wraps is that of a connection
		if err != nil && !end {
			return err
		}
		if !seen {
			seen = true
			if head := buf[:min(len(buf), headBytes)]; !isText(head, len(head) < len(buf) || !end) {
				return errNotText
			}
		}
		if end {
			s.grepLines(ctx, buf)
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch i := bytes.LastIndexByte(buf, '\n') + 1; {
		case i > 0:
			s.grepLines(ctx, buf[:i])
			buf = buf[:copy(buf, buf[i:])]
		case len(buf) >= lineMax:
			s.Partial = true
			return nil
		default:
			buf = slices.Grow(buf, len(buf))
		}
	}
}

// readFull reads until p is full, or r ends or fails. Unlike io.ReadFull it leaves the error as it is:
// an [io.ErrUnexpectedEOF] of r's own is a connection that was cut, and no end.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var some int
		some, err = r.Read(p[n:])
		n += some
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

var errNotText = errors.New("not text")

// linesBefore returns the last n lines that end before the offset end.
func linesBefore(b []byte, end, n int) []string {
	var out []string
	for b = b[:end]; len(b) > 0 && len(out) < n; {
		b = bytes.TrimSuffix(b, []byte("\n"))
		i := bytes.LastIndexByte(b, '\n') + 1
		out = append(out, clipMatch(b[i:], 0, 0))
		b = b[:i]
	}
	slices.Reverse(out)
	return out
}

// linesAfter returns the first n lines of b.
func linesAfter(b []byte, n int) []string {
	var out []string
	for len(b) > 0 && len(out) < n {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		out = append(out, clipMatch(line, 0, 0))
		b = rest
	}
	return out
}

// clipMatch keeps the characters of a line around its match, which begins at from and
// ends at to.
func clipMatch(line []byte, from, to int) string {
	if len(line) <= clipChars {
		return string(line)
	}
	// As many characters before the match as after it, unless the line ends.
	room := max(0, clipChars-utf8.RuneCount(line[from:min(to, from+clipChars*utf8.UTFMax)]))
	start, n := stepBack(line, from, room/2)
	end := from
	used := 0
	for end < len(line) && used < clipChars-n {
		_, size := utf8.DecodeRune(line[end:])
		end += size
		used += 1
	}
	if left := clipChars - n - used; left > 0 {
		start, _ = stepBack(line, start, left)
	}
	return string(line[start:end])
}

// stepBack steps n characters back from the offset i, and says how many it could.
func stepBack(b []byte, i, n int) (at, steps int) {
	for i > 0 && steps < n {
		_, size := utf8.DecodeLastRune(b[:i])
		i -= size
		steps += 1
	}
	return i, steps
}
