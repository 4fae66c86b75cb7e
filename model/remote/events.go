package remote

import (
	"bufio"
	"bytes"
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
// them; the last one may lack its blank line.
func (a *Answer) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var ev Event
		var data strings.Builder
		whole := func() bool { // the event is
			ev.Data = strings.TrimSpace(data.String())
			said := ev
			ev = Event{}
			data.Reset()
			return said.Data == "" || yield(said, nil)
		}
		for line, err := range a.lines() {
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
					yield(Event{}, a.tooBig(bufio.ErrTooLong))
					return
				}
				data.Write(value)
				data.WriteByte('\n')
			}
		}
		whole()
	}
}

// Lines yields the lines of a stream that has one JSON value a line.
func (a *Answer) Lines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line, err := range a.lines() {
			if line = bytes.TrimSpace(line); (len(line) > 0 || err != nil) && !yield(line, err) {
				return
			}
		}
	}
}

// lines yields the lines of the body, without their ends. The cost grows only with their
// length, however small the pieces in which they come.
func (a *Answer) lines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := bufio.NewReaderSize(a.body, 64<<10)
		var line []byte // what came of one so far
		for first := true; ; {
			piece, err := r.ReadSlice('\n')
			if len(line)+len(piece) > a.bounds.FrameBytes+len("data: \r\n") {
				yield(nil, a.tooBig(bufio.ErrTooLong))
				return
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				line = append(line, piece...)
				continue
			}
			if len(line) > 0 {
				piece = append(line, piece...)
			}
			if first {
				piece, first = bytes.TrimPrefix(piece, []byte("\xef\xbb\xbf")), false
			}
			if err != nil && (!errors.Is(err, io.EOF) || len(piece) == 0) {
				if !errors.Is(err, io.EOF) {
					yield(nil, err)
				}
				return
			}
			if line = nil; !yield(bytes.TrimRight(piece, "\r\n"), nil) || err != nil {
				return
			}
		}
	}
}

// Whole is an answer that is not streamed.
func (a *Answer) Whole() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(a.body, int64(a.bounds.FrameBytes)+1))
	if err == nil && len(b) > a.bounds.FrameBytes {
		err = bufio.ErrTooLong
	}
	return b, a.tooBig(err)
}

func (a *Answer) tooBig(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return model.Exceeded(fmt.Sprintf("%d bytes in one frame", a.bounds.FrameBytes))
	}
	return err
}
