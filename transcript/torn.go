package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// damage is an error about a place in a list where no whole item stands.
type damage struct{ reason string }

func (e *damage) Error() string { return e.reason }

// Torn is what is damaged where the last error of [Document.Items] stands: the beginning of an
// item that the file does not have whole, perhaps. It is valid until the next item.
func (d *Document) Torn() []byte { return d.torn }

// salvage yields what is whole of a list behind an item that could not be read, and what is
// damaged before it. The rest of the file is held in memory, up to what a value may have.
func (d *Document) salvage(cause error, yield func(json.RawMessage, error) bool) {
	line := d.Line()
	rest, err := io.ReadAll(io.LimitReader(io.MultiReader(d.dec.Buffered(), d.in.r), int64(d.in.max)+1))
	switch _, ours := d.Fault(cause); {
	case !ours:
		yield(nil, cause)
		return
	case err != nil:
		d.in.err, d.err = err, err
		yield(nil, err)
		return
	case len(rest) > d.in.max: // the item is too long, or too much stands behind it
		d.torn, d.begins = nil, line
		yield(nil, cause)
		return
	}
	early := errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF)
	text, dropped := withoutNUL(rest)
	counted := 0
	stand := func(at int) {
		line += bytes.Count(text[counted:at], []byte{'\n'})
		d.begins, counted = line, at
	}
	bad := func(from, to int, reason string) bool {
		stand(from)
		d.torn = text[from:to]
		return yield(nil, &damage{reason})
	}
	if n := len(dropped); n > 0 && !bad(0, 0, fmt.Sprintf("%d NUL bytes were dropped", n)) {
		return
	}
	s := newSplitter(&d.shapes, text, true)
	for at := s.skip(0); at < len(text); at = s.skip(at) {
		if s.bracket(at) && s.record(at) {
			if item, n, _ := s.value(at); item != nil {
				d.shapes.learn(item)
				if stand(at); !yield(item, nil) {
					return
				}
				at += n
				continue
			}
		}
		next := s.salvage(at + 1)
		var reason string
		switch {
		case next >= 0:
			reason = cutOff(text[at:next])
		case early:
			next = len(text)
			reason = fmt.Sprintf("the file ends early: of its last record only %d bytes are there", next-at)
		default:
			next = len(text)
			reason = cutOff(text[at:])
		}
		if !bad(at, next, reason) {
			return
		}
		at = next
	}
	d.torn = nil
	if early && len(dropped) == 0 && len(text) == 0 {
		yield(nil, cause)
	}
}

// Mend makes a whole JSON value of the beginning of one: it keeps the whole values of the
// outermost containers, as deep as depth, and closes these. It returns nil if there is nothing
// to keep.
func Mend(torn []byte, depth int) json.RawMessage {
	torn, _ = withoutNUL(torn)
	var open []byte // what would close the containers, the innermost last
	var kept []byte // of those that are open where the last whole value ends
	end := -1
	quoted, escaped, key := false, false, false
	whole := func(at int) { // a value ends before at
		if n := len(open); n > 0 && n <= depth {
			end, kept = at, append(kept[:0], open...)
		}
	}
	for i, c := range torn {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
			if !quoted && (!key || len(open) == 0 || open[len(open)-1] == ']') {
				whole(i + 1)
			}
		case quoted:
		case c == '{':
			open, key = append(open, '}'), true
		case c == '[':
			open, key = append(open, ']'), false
		case c == ':':
			key = false
		case c == ',':
			if i > 0 && scalarEnds(torn[i-1]) {
				whole(i)
			}
			key = len(open) > 0 && open[len(open)-1] == '}'
		case c == '}' || c == ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return mended(torn, end, kept)
			}
			open = open[:len(open)-1]
			whole(i + 1)
		}
	}
	return mended(torn, end, kept)
}

// scalarEnds reports whether a byte may be the last one of a number, true, false or null.
func scalarEnds(c byte) bool { return c >= '0' && c <= '9' || c == 'e' || c == 'l' }

// mended is the beginning of a torn text with its containers closed.
func mended(torn []byte, end int, open []byte) json.RawMessage {
	if end < 0 {
		return nil
	}
	out := bytes.Clone(torn[:end])
	for i := len(open) - 1; i >= 0; i-- {
		out = append(out, open[i])
	}
	if !json.Valid(out) {
		return nil
	}
	return out
}
