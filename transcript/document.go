package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Document reads a file that is one JSON object: field by field, and the items of a list
// one by one. Or it reads one that is a list; see [NewList].
type Document struct {
	dec  *json.Decoder
	in   *pacedReader
	bare bool // the items stand by themselves
	list bool // the file is one list, with nothing behind it
	err  error

	shapes recordShapes // of the items
	torn   []byte       // what is damaged of the list that was read last, up to the next whole item
	begins int          // once something was damaged: the line of the item, or of the damage, that was read last
}

// NewDocument begins to read a file. A value in it may have at most most bytes.
func NewDocument(r io.Reader, most int) *Document {
	d := newDocument(r, most)
	_, d.err = d.openContainer('{')
	return d
}

// NewList begins to read a file that is a list, or has one value after the other without
// one. It has no fields, and its items are read once.
func NewList(r io.Reader, most int) *Document {
	d := newDocument(r, most)
	d.bare = d.in.peekByte() != '['
	d.list = !d.bare
	return d
}

func newDocument(r io.Reader, most int) *Document {
	in := bufio.NewReader(DecodeUTF8(r))
	if mark, _ := in.Peek(3); string(mark) == "\uFEFF" {
		_, _ = in.Discard(3) // they were just seen
	}
	d := &Document{in: &pacedReader{r: in, max: most}}
	d.dec = json.NewDecoder(d.in)
	return d
}

// HeadFields returns the names of the fields that a file which begins with head has there.
func HeadFields(head []byte) map[string]bool {
	return readFieldNames(NewDocument(bytes.NewReader(head), MaxLine))
}

// ItemHeadFields returns the names of the fields that the first object of a list has, in a file
// which begins with head; or those of the object that the file is.
func ItemHeadFields(head []byte) map[string]bool {
	d := newDocument(bytes.NewReader(head), MaxLine)
	if d.in.peekByte() == '[' {
		_, _ = d.openContainer('[') // it was just seen
	}
	_, d.err = d.openContainer('{')
	return readFieldNames(d)
}

func readFieldNames(d *Document) map[string]bool {
	seen := map[string]bool{}
	for {
		name, err := d.Next()
		if err != nil {
			return seen
		}
		seen[name] = true
		if _, err := d.Value(); err != nil {
			return seen // it may go on behind the beginning
		}
	}
}

// openContainer reads the beginning of an object or of a list; null is an empty list.
func (d *Document) openContainer(want json.Delim) (null bool, err error) {
	d.in.left = d.in.max
	t, err := d.dec.Token()
	if null = err == nil && t == nil && want == '['; err == nil && !null && t != want {
		err = fmt.Errorf("%v stands where %v should begin", t, want)
	}
	return null, asUnexpectedEnd(err)
}

// hasMore reports whether another field or item follows.
func (d *Document) hasMore() bool {
	d.in.left = d.in.max
	return d.dec.More()
}

// Next returns the name of the next field, whose value must then be read; io.EOF after the
// last.
func (d *Document) Next() (string, error) {
	if d.err != nil {
		return "", d.err
	}
	if !d.hasMore() {
		if _, d.err = d.dec.Token(); d.err == nil {
			d.err = io.EOF
			return "", d.err
		}
		d.err = asUnexpectedEnd(d.err)
		return "", d.err
	}
	t, err := d.dec.Token()
	if err != nil {
		d.err = asUnexpectedEnd(err)
		return "", d.err
	}
	return fmt.Sprint(t), nil
}

// asUnexpectedEnd returns an error in the middle of a document, where the end of the file is not its own: a decoder
// has the same word for both.
func asUnexpectedEnd(err error) error {
	if IsEnd(err) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Value reads the value of a field.
func (d *Document) Value() (json.RawMessage, error) {
	d.in.left = d.in.max
	var raw json.RawMessage
	if d.err = asUnexpectedEnd(d.dec.Decode(&raw)); d.err != nil {
		return nil, d.err
	}
	return raw, nil
}

// Items reads the value of a field, a list, one item after the other. A caller that stops
// early can read no further field. After an error that is the document's (see [Document.ExplainFault])
// it may go on, and is given the whole items behind the damage.
func (d *Document) Items() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		if !d.bare {
			var null bool
			if null, d.err = d.openContainer('['); null {
				return
			}
		}
		if d.err != nil {
			yield(nil, d.err)
			return
		}
		for d.hasMore() {
			raw, err := d.Value()
			if err != nil {
				d.salvageItems(err, yield)
				return
			}
			d.shapes.learnShape(raw)
			if !yield(raw, nil) {
				return
			}
		}
		_, err := d.dec.Token()
		if d.bare && IsEnd(err) {
			err = nil
		}
		if err = asUnexpectedEnd(err); err == nil {
			err = d.in.err
		}
		if d.err = err; err != nil {
			yield(nil, err)
			return
		}
		if d.list {
			d.salvageItems(&damageError{"the list ends before the file does"}, yield)
		}
	}
}

// CurrentLine returns the line that was read last, from 1.
func (d *Document) CurrentLine() int {
	if d.begins > 0 {
		return d.begins
	}
	return d.in.lineAt(d.dec.InputOffset())
}

// ExplainFault returns what is wrong with the document, for [Bad], if an error is the file's; reading
// it failed otherwise.
func (d *Document) ExplainFault(err error) (Bad, bool) {
	var syntax *json.SyntaxError
	switch {
	case d.in.err != nil: // also where it is an unexpected end: of what the file comes from
		return Bad{}, false
	case errors.As(err, new(*damageError)):
		return Bad{Line: d.begins, Reason: err.Error()}, true
	case IsEnd(err), errors.Is(err, io.ErrUnexpectedEOF):
		return Bad{Line: d.CurrentLine(), Reason: "the file ends early"}, true
	case errors.As(err, &syntax):
		return Bad{Line: d.CurrentLine(), Reason: "malformed JSON: " + syntax.Error()}, true
	}
	return Bad{Line: d.CurrentLine(), Reason: fmt.Sprint(err)}, true
}

// mostBreaks bounds the ends of lines that are remembered at a time.
const mostBreaks = 1 << 20

// pacedReader reads a number of bytes until it is allowed more, and knows where lines end.
type pacedReader struct {
	r      *bufio.Reader
	max    int
	left   int
	at     int64
	breaks []int64 // between what was counted and what was read
	lines  int
	err    error // of r
}

// peekByte returns the first byte that is not read yet and is not space, or 0.
func (p *pacedReader) peekByte() byte {
	for n := 1; n <= p.r.Size(); n++ {
		b, err := p.r.Peek(n)
		if err != nil {
			return 0
		}
		if c := b[n-1]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

func (p *pacedReader) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, fmt.Errorf("a value is longer than %d bytes", p.max)
	}
	n, err := p.r.Read(b[:min(len(b), p.left)])
	for from := 0; ; {
		i := bytes.IndexByte(b[from:n], '\n')
		if i < 0 {
			break
		}
		from += i + 1
		if len(p.breaks) == mostBreaks {
			p.lines++ // too early, for a value of that many lines
			continue
		}
		p.breaks = append(p.breaks, p.at+int64(from-1))
	}
	p.left -= n
	p.at += int64(n)
	if err != nil && !IsEnd(err) {
		p.err = err
	}
	return n, err
}

func (p *pacedReader) lineAt(offset int64) int {
	n := 0
	for n < len(p.breaks) && p.breaks[n] < offset {
		n++
	}
	p.lines += n
	p.breaks = p.breaks[n:]
	return p.lines + 1
}
