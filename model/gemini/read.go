package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// jsonValues reads the JSON of a stream, without the framing of its events: the server writes
// a chunk as one event, and an error amid a stream as bare JSON over several lines. It
// sends a list of chunks when it does not stream.
type jsonValues struct {
	next  func() ([]byte, error, bool)
	most  int // bytes of one value
	since int // bytes since the last value
	rest  []byte
	err   error // of the way here
}

// fields of an event that hold nothing for us.
var fields = [][]byte{[]byte(":"), []byte("event:"), []byte("id:"), []byte("retry:")}

// Read implements io.Reader: the data of the stream, a line at a time.
func (v *jsonValues) Read(p []byte) (int, error) {
	for len(v.rest) == 0 {
		line, err, ok := v.next()
		if err != nil {
			v.err = err
			return 0, err
		}
		if !ok {
			return 0, io.EOF
		}
		if v.rest = eventData(line); len(v.rest) == 0 {
			continue
		}
		if v.since += len(v.rest); v.since > v.most {
			v.err = model.NewBoundError(fmt.Sprintf("%d bytes in one frame", v.most))
			return 0, v.err
		}
		v.rest = append([]byte{'\n'}, v.rest...) // before it: a line that was cut ends as it is
	}
	n := copy(p, v.rest)
	v.rest = v.rest[n:]
	return n, nil
}

// eventData returns what a line of a stream holds, or nothing.
func eventData(line []byte) []byte {
	if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		if value = bytes.TrimSpace(value); string(value) == "[DONE]" { // of gateways
			return nil
		}
		return value
	}
	for _, f := range fields {
		if bytes.HasPrefix(line, f) {
			return nil
		}
	}
	return line
}

// readHop emits what one hop says.
func (a *answerReader) readHop(of *remote.Answer) error {
	next, stop := pullLines(of)
	defer stop()
	v := &jsonValues{next: next, most: a.r.Bounds.WithDefaults().FrameBytes}
	dec := json.NewDecoder(v)
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		v.since = 0
		var bad *json.SyntaxError
		switch {
		case v.err != nil && a.hop.finish == "":
			return v.err
		case err == nil:
			if err := a.takeValue(of, raw); err != nil {
				return err
			}
		case errors.As(err, &bad) && v.err == nil && !errors.Is(err, io.ErrUnexpectedEOF):
			unread, _ := io.ReadAll(dec.Buffered()) // what is there already
			return of.UnreadableError(unread)
		default: // the end, or a piece of a chunk that never became whole
			return a.endHop(of)
		}
	}
}

// takeValue handles a chunk, or a list of them.
func (a *answerReader) takeValue(of *remote.Answer, raw json.RawMessage) error {
	if raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return of.UnreadableError(raw)
		}
		for _, one := range list {
			if err := a.takeChunk(of, one); err != nil {
				return err
			}
		}
		return nil
	}
	return a.takeChunk(of, raw)
}
