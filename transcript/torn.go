package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// damageError is an error about a place in a list where no whole item stands.
type damageError struct{ reason string }

func (e *damageError) Error() string { return e.reason }

// TornItem returns what is damaged where the last error of [Document.Items] stands: the beginning of an
// item that the file does not have whole, perhaps. It is valid until the next item.
func (d *Document) TornItem() []byte { return d.torn }

// salvageItems yields what is whole of a list behind an item that could not be read, and what is
// damaged before it. The rest of the file is held in memory, up to what a value may have.
func (d *Document) salvageItems(cause error, yield func(json.RawMessage, error) bool) {
	line := d.CurrentLine()
	rest, err := io.ReadAll(io.LimitReader(io.MultiReader(d.dec.Buffered(), d.in.r), int64(d.in.max)+1))
	switch _, ours := d.ExplainFault(cause); {
	case !ours:
		yield(nil, cause)
		return
	case err != nil:
		d.in.err = err
		d.err = err
		yield(nil, err)
		return
	case len(rest) > d.in.max: // the item is too long, or too much stands behind it
		d.torn = nil
		d.begins = line
		yield(nil, cause)
		return
	}
	early := IsEnd(cause) || errors.Is(cause, io.ErrUnexpectedEOF)
	text, dropped := withoutNUL(rest)
	counted := 0
	stand := func(at int) {
		line += bytes.Count(text[counted:at], []byte{'\n'})
		d.begins = line
		counted = at
	}
	bad := func(from, to int, reason string) bool {
		stand(from)
		d.torn = text[from:to]
		return yield(nil, &damageError{reason})
	}
	if n := len(dropped); n > 0 && !bad(0, 0, fmt.Sprintf("%d NUL bytes were dropped", n)) {
		return
	}
	s := newSplitter(&d.shapes, text, true)
	for at := s.skipBetween(0); at < len(text); at = s.skipBetween(at) {
		if s.mayBegin(at) && s.looksLikeRecord(at) {
			if item, n, _ := s.valueAt(at); item != nil {
				d.shapes.learnShape(item)
				if stand(at); !yield(item, nil) {
					return
				}
				at += n
				continue
			}
		}
		next := s.nextWhole(at + 1)
		var reason string
		switch {
		case next >= 0:
			reason = explainCutOff(text[at:next])
		case early:
			next = len(text)
			reason = fmt.Sprintf("the file ends early: of its last record only %d bytes are there", next-at)
		default:
			next = len(text)
			reason = explainCutOff(text[at:])
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

// MendValue makes a whole JSON value of the beginning of one: it keeps the whole values of the
// outermost containers, as deep as depth, and closes these. It returns nil if there is nothing
// to keep.
func MendValue(torn []byte, depth int) json.RawMessage {
	torn, _ = withoutNUL(torn)
	p := wholePart(torn, depth)
	return p.closeContainers(torn, nil)
}

// MendAround is [MendValue] for a value that goes on behind the damage. Where that is in a container as deep as
// depth, a list of records or an object of them, it takes along the whole records behind: those that begin as
// the ones before it do.
func MendAround(torn []byte, depth int) json.RawMessage {
	torn, _ = withoutNUL(torn)
	p := wholePart(torn, depth)
	if p.end < 0 || len(p.open) != depth {
		return p.closeContainers(torn, nil)
	}
	keyed := p.open[depth-1] == '}'
	var shapes recordShapes
	for _, record := range membersOf(append(bytes.Clone(torn[p.begins:p.end]), p.open[depth-1]), keyed) {
		shapes.learnShape(record)
	}
	rest := torn[p.end:]
	var more []byte
	s := newSplitter(&shapes, rest, true)
	for at := s.nextWhole(0); at >= 0; at = s.nextWhole(at) {
		value, n, _ := s.valueAt(at)
		key := keyBefore(rest[:at])
		if slices.Contains(shapes, readShape(value)) && (key != nil || !keyed) {
			more = append(more, ',')
			if keyed {
				more = append(append(more, key...), ':')
			}
			more = append(more, value...)
		}
		at += n
	}
	return p.closeContainers(torn, more)
}

// membersOf returns the values of a list or of an object.
func membersOf(container []byte, keyed bool) (out []json.RawMessage) {
	if !keyed {
		_ = json.Unmarshal(container, &out) // it is whole
		return out
	}
	var object map[string]json.RawMessage
	_ = json.Unmarshal(container, &object)
	return slices.Collect(maps.Values(object))
}

// keyBefore returns the key, with its quotes, before the value that follows a text; nil if none is whole.
func keyBefore(text []byte) []byte {
	text, ok := bytes.CutSuffix(bytes.TrimRight(text[max(0, len(text)-2*maxKey):], " \t\r\n"), []byte(":"))
	if text = bytes.TrimRight(text, " \t\r\n"); !ok || len(text) < 2 {
		return nil
	}
	begin := bytes.LastIndexByte(text[:len(text)-1], '"')
	if begin < 0 || text[len(text)-1] != '"' || !json.Valid(text[begin:]) {
		return nil
	}
	return text[begin:]
}

// tornPart is what is whole of a torn value.
type tornPart struct {
	end    int    // of the last whole value in it; -1 without one
	begins int    // the innermost container that it is in
	open   []byte // what closes the containers that it is in, the innermost last
}

// wholePart finds the last value that is whole in containers no deeper than depth.
func wholePart(torn []byte, depth int) tornPart {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(torn, new(json.RawMessage)); errors.As(err, &syntax) && syntax.Offset > 0 {
		torn = torn[:min(int(syntax.Offset), len(torn))]
		if last := len(torn) - 1; last >= 0 && strings.HasPrefix(syntax.Error(), "invalid") {
			torn = torn[:last] // where the damage is seen
		}
	}
	var open []byte // what would close the containers, the innermost last
	var from []int  // where they begin
	p := tornPart{end: -1}
	quoted := false
	escaped := false
	key := false
	whole := func(at int) { // a value ends before at
		if n := len(open); n > 0 && n <= depth {
			p.end = at
			p.begins = from[n-1]
			p.open = append(p.open[:0], open...)
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
			open = append(open, '}')
			from = append(from, i)
			key = true
		case c == '[':
			open = append(open, ']')
			from = append(from, i)
			key = false
		case c == ':':
			key = false
		case c == ',':
			if i > 0 && scalarEnds(torn[i-1]) {
				whole(i)
			}
			key = len(open) > 0 && open[len(open)-1] == '}'
		case c == '}' || c == ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return p
			}
			open = open[:len(open)-1]
			from = from[:len(from)-1]
			whole(i + 1)
		}
	}
	return p
}

// scalarEnds reports whether a byte may be the last one of a number, true, false or null.
func scalarEnds(c byte) bool { return c >= '0' && c <= '9' || c == 'e' || c == 'l' }

// closeContainers returns what is whole of a torn text, with more behind it and its containers closed.
func (p tornPart) closeContainers(torn, more []byte) json.RawMessage {
	if p.end < 0 {
		return nil
	}
	out := append(bytes.Clone(torn[:p.end]), more...)
	for i := len(p.open) - 1; i >= 0; i-- {
		out = append(out, p.open[i])
	}
	if !json.Valid(out) {
		return nil
	}
	return out
}
