package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Record is one record of a file of JSON records, or the reason why something there is none.
type Record struct {
	JSON   []byte // a whole JSON value, valid until the next one is asked for; nil if Reason is set
	Line   int    // on which it begins, from 1
	Reason string // what is damaged on that line
	Torn   bool   // the file ends within it: somebody may still be writing it
}

// Records reads a file with a JSON record on each line. Damage costs what it damaged: NUL
// bytes are dropped, records without a line break between them are told apart, the beginning
// of a record that was cut off is skipped up to the next whole one, and a record that is
// spread over several lines is put together. UTF-16 and byte order marks are read too.
type Records struct {
	in      *bufio.Reader
	most    int // bytes of a record
	n       int // the line that was read last
	ended   bool
	waiting []textLine // lines that were read ahead
	ready   []Record
	shapes  recordShapes
}

// textLine is a line without its end.
type textLine struct {
	text  []byte
	n     int
	long  bool // it is longer than a record may be, and was passed over
	last  bool // the file ends with it, without a line break
	alone bool // what follows does not belong to it: that was tried
}

// NewRecords begins to read a file whose records have at most [MaxLine] bytes each.
func NewRecords(r io.Reader) *Records { return NewLongRecords(r, MaxLine) }

// NewLongRecords begins to read a file whose records have at most most bytes each.
func NewLongRecords(r io.Reader, most int) *Records {
	return &Records{in: bufio.NewReaderSize(DecodeUTF8(r), 64<<10), most: most}
}

// Next returns the next record, or what is damaged before it; io.EOF after the last. Any other
// error is not the file's.
func (r *Records) Next() (Record, error) {
	for len(r.ready) == 0 {
		l, err := r.readLine()
		if err != nil {
			return Record{}, err
		}
		if err := r.takeLine(l); err != nil {
			return Record{}, err
		}
	}
	next := r.ready[0]
	r.ready = r.ready[1:]
	return next, nil
}

// CurrentLine returns the line that is being read, from 1.
func (r *Records) CurrentLine() int { return r.n + 1 }

// readLine returns the next line; io.EOF after the last.
func (r *Records) readLine() (textLine, error) {
	if len(r.waiting) > 0 {
		l := r.waiting[0]
		r.waiting = r.waiting[1:]
		return l, nil
	}
	if r.ended {
		return textLine{}, io.EOF
	}
	l := textLine{n: r.n + 1}
	for {
		piece, err := r.in.ReadSlice('\n')
		if len(l.text)+len(piece) > r.most+1 {
			l.long = true
			l.text = nil
		}
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case l.long:
		case full || l.text != nil:
			l.text = append(l.text, piece...)
		default:
			l.text = piece // it stays there until the next line is read
		}
		if full {
			continue
		}
		if err != nil && !IsEnd(err) {
			return l, err
		}
		r.n++
		if r.ended = err != nil; r.ended && len(l.text) == 0 && !l.long {
			return l, io.EOF
		}
		l.last = r.ended
		l.text = bytes.TrimSuffix(l.text, []byte("\n"))
		return l, nil
	}
}

// byteOrderMark may begin a file, or the file that was put behind another.
var byteOrderMark = []byte("\uFEFF")

// takeLine makes records of a line, and of those after it if a record is spread over them.
func (r *Records) takeLine(l textLine) error {
	if l.long {
		r.noteDamage(l.n, fmt.Sprintf("longer than %d bytes", r.most), false)
		return nil
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(l.text, byteOrderMark))
	if len(text) == 0 {
		return nil
	}
	if json.Valid(text) {
		r.shapes.learnShape(text)
		r.ready = append(r.ready, Record{JSON: text, Line: l.n})
		return nil
	}
	text, holes := withoutNUL(text)
	if text = bytes.TrimSpace(text); len(text) == 0 {
		r.noteDamage(l.n, "only NUL bytes", l.last)
		return nil
	}
	s := newSplitter(&r.shapes, text, false)
	for at := s.skipBetween(0); at < len(text); at = s.skipBetween(at) {
		closed := true
		if s.mayBegin(at) {
			var record []byte
			var n int
			if record, n, closed = s.valueAt(at); record != nil {
				r.shapes.learnShape(record)
				r.ready = append(r.ready, Record{JSON: record, Line: l.n})
				if n := holes.countWithin(at, at+n); n > 0 {
					r.noteDamage(l.n, fmt.Sprintf("%d NUL bytes within a record were dropped", n), false)
				}
				at += n
				continue
			}
			r.shapes.learnShape(text[at:])
		}
		if !closed && !l.last && !l.alone {
			joined, err := r.joinLines(textLine{text: text[at:], n: l.n})
			if joined || err != nil {
				return err
			}
		}
		next := s.nextWhole(at + 1)
		if next < 0 {
			next = len(text)
		}
		r.noteDamage(l.n, explainCutOff(text[at:next]), l.last && next == len(text))
		at = next
	}
	return nil
}

// maxJoined bounds the lines over which one record may be spread.
const maxJoined = 1_000_000

// joinLines puts the record that begins on a line together with its other lines, if that gives one;
// else the other lines are read by themselves.
func (r *Records) joinLines(l textLine) (bool, error) {
	r.keepReady()
	whole := bytes.Clone(l.text)
	at := bracketScanner{}
	at.scanText(whole)
	var lines []textLine
	for len(lines) < maxJoined {
		next, err := r.readLine()
		if IsEnd(err) {
			break
		}
		if err != nil {
			return false, err
		}
		next.text = bytes.Clone(next.text)
		if next.long || next.alone || len(whole)+len(next.text) > r.most || r.shapes.isRecord(next.text) {
			r.waiting = append([]textLine{next}, r.waiting...)
			break
		}
		lines = append(lines, next)
		whole = append(whole, '\n')
		text, _ := withoutNUL(next.text)
		end, closed := at.scanText(text)
		whole = append(whole, text[:end]...)
		if !closed {
			continue
		}
		record, ok := wholeValue(whole)
		if !ok {
			break
		}
		r.shapes.learnShape(record)
		r.ready = append(r.ready, Record{JSON: record, Line: l.n})
		if rest := text[end:]; len(bytes.TrimSpace(rest)) > 0 {
			r.waiting = append([]textLine{{text: rest, n: next.n, last: next.last}}, r.waiting...)
		}
		return true, nil
	}
	for i := range lines {
		lines[i].alone = true
	}
	r.waiting = append(lines, r.waiting...)
	return false, nil
}

// keepReady copies the records that are ready, before the bytes that they are in are used again.
func (r *Records) keepReady() {
	for i := range r.ready {
		r.ready[i].JSON = bytes.Clone(r.ready[i].JSON)
	}
}

// noteDamage notes what is wrong with a line.
func (r *Records) noteDamage(n int, reason string, torn bool) {
	r.ready = append(r.ready, Record{Line: n, Reason: reason, Torn: torn})
}

// nulHoles are where NUL bytes were dropped, as offsets in what is left, in order.
type nulHoles []int

// countWithin counts the bytes that were dropped between two offsets.
func (h nulHoles) countWithin(from, to int) (n int) {
	for _, at := range h {
		if at > from && at < to {
			n++
		}
	}
	return n
}

// withoutNUL returns a text without NUL bytes, which JSON never has.
func withoutNUL(text []byte) ([]byte, nulHoles) {
	if bytes.IndexByte(text, 0) < 0 {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	var dropped nulHoles
	for _, c := range text {
		if c != 0 {
			out = append(out, c)
			continue
		}
		dropped = append(dropped, len(out))
	}
	lead := len(out) - len(bytes.TrimLeft(out, " \t\r\n"))
	for i := range dropped {
		dropped[i] = max(dropped[i]-lead, 0) // the text is trimmed next
	}
	return out, dropped
}
