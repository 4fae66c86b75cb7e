package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback/model"
)

// Event is one event of a stream.
type Event struct {
	Type string // empty where the server names none
	Data string
}

// Events yields the events of a stream that have data, as the HTML standard reads
// them; the last one may lack its blank line. A JSON value that stands by itself counts
// as data, and so does each of several lines that are one each: servers forget the blank
// line between events.
func (a *Answer) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var ev Event
		var data strings.Builder
		var bare []byte        // JSON that is no field of an event: an error of a server or a gateway, as a rule
		var other []byte       // what else is none, until there is an event
		heard := false         // an event
		whole := func() bool { // the event is
			if data.Len() == 0 && len(bare) > 0 && (json.Valid(bare) || len(splitValues(string(bare))) > 1) {
				data.Write(bare)
			}
			bare = nil
			ev.Data = strings.TrimSpace(data.String())
			said := ev
			ev = Event{}
			data.Reset()
			a.noteEvent(said)
			heard = heard || said.Data != ""
			for _, one := range splitValues(said.Data) {
				if one != "" && !yield(Event{Type: said.Type, Data: one}, nil) {
					return false
				}
			}
			return true
		}
		for line, err := range a.readLines() {
			if err != nil {
				yield(Event{}, err)
				return
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch {
			case len(line) == 0:
				if !whole() {
					return
				}
			case string(name) == "event":
				ev.Type = string(value)
			case string(name) == "data":
				if data.Len()+len(value) > a.bounds.FrameBytes {
					yield(Event{}, a.newTooBigError(bufio.ErrTooLong))
					return
				}
				data.Write(value)
				data.WriteByte('\n')
			case string(name) == "error": // no field of the standard's, and yet sent
				ev.Type = "error"
				data.Write(value[:min(len(value), a.bounds.FrameBytes)])
			case len(bare) > 0, line[0] == '{', line[0] == '[':
				if len(bare)+len(line) > a.bounds.FrameBytes {
					yield(Event{}, a.newTooBigError(bufio.ErrTooLong))
					return
				}
				bare = append(append(bare, line...), '\n')
			case len(name) > 0 && string(name) != "id" && string(name) != "retry" && !heard && len(other) < maxWords:
				other = append(append(other, line[:min(len(line), maxWords)]...), '\n')
			}
		}
		if whole() && !heard && len(bytes.TrimSpace(other)) > 0 { // a page, or words
			yield(Event{}, a.UnreadableError(bytes.TrimSpace(other)))
		}
	}
}

// splitValues returns data as it is, or its lines if each of them is a value by itself.
func splitValues(data string) []string {
	lines := strings.Split(data, "\n")
	if len(lines) == 1 || json.Valid([]byte(data)) {
		return []string{data}
	}
	for i, line := range lines {
		if lines[i] = strings.TrimSpace(line); lines[i] != "" && lines[i] != "[DONE]" && !json.Valid([]byte(lines[i])) {
			return []string{data}
		}
	}
	return lines
}

// noteEvent notes that the server has said something of an answer: signs of life alone are
// waited for only so long.
func (a *Answer) noteEvent(ev Event) {
	if ev.Data != "" && ev.Type != "ping" && a.first != nil {
		a.first.Stop()
	}
}

// Lines yields the lines of a stream that has one JSON value a line.
func (a *Answer) Lines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line, err := range a.readLines() {
			if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != ':' {
				a.noteEvent(Event{Data: string(line)})
			}
			if (len(line) > 0 || err != nil) && !yield(line, err) {
				return
			}
		}
	}
}

// readLines yields the lines of the body, without their ends: LF, CR LF, or CR alone, at which
// a line is whole without waiting for more. The cost grows only with their length, however
// small the pieces in which they come.
func (a *Answer) readLines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := bufio.NewReader(a.unreadBody())
		var line []byte // what came of one so far
		first := true
		afterCR := false
		for {
			_, err := r.Peek(1)
			buffered, _ := r.Peek(r.Buffered())
			if afterCR && len(buffered) > 0 {
				afterCR = false
				if buffered[0] == '\n' { // of the same end
					_, _ = r.Discard(1) // which is there
					continue
				}
			}
			end := bytes.IndexAny(buffered, "\r\n")
			piece := buffered
			taken := len(buffered)
			if end >= 0 {
				piece = buffered[:end]
				taken = end + 1
				afterCR = buffered[end] == '\r'
			}
			if len(line)+len(piece) > a.bounds.FrameBytes+len("data: ") {
				yield(nil, a.newTooBigError(bufio.ErrTooLong))
				return
			}
			if end < 0 && err == nil {
				line = append(line, piece...)
				_, _ = r.Discard(taken) // as much as is there
				continue
			}
			if err != nil && err != io.EOF { //nolint:errorlint // an end that something else wraps is that of a connection
				yield(nil, err)
				return
			}
			if len(line) > 0 {
				piece = append(line, piece...)
			}
			if first {
				piece = bytes.TrimPrefix(piece, []byte("\xef\xbb\xbf"))
				first = false
			}
			if err != nil && len(piece) == 0 {
				return
			}
			if line = nil; !yield(piece, nil) || err != nil {
				return
			}
			_, _ = r.Discard(taken) // as much as is there
		}
	}
}

// ReadWhole returns an answer that is not streamed.
func (a *Answer) ReadWhole() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(a.unreadBody(), int64(a.bounds.FrameBytes)+1))
	if err == nil && len(b) > a.bounds.FrameBytes {
		err = bufio.ErrTooLong
	}
	return b, a.newTooBigError(err)
}

func (a *Answer) newTooBigError(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return model.NewBoundError(fmt.Sprintf("%d bytes in one frame", a.bounds.FrameBytes))
	}
	return err
}
