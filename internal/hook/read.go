package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
)

// MaxInput bounds what an agent may hand in, in bytes.
const MaxInput = 1 << 20

// ErrInput is why there is no input: none came in time, or it is too long or no JSON object.
var ErrInput = errors.New("no JSON object was handed in")

// ReadValue reads one JSON object. The reader may stay open behind it: some agents close their side only when
// the hook has ended. What does not come before ctx ends, what is longer than [MaxInput] and what is no
// object is an error. The goroutine that reads lives as long as the reader keeps it waiting.
func ReadValue(ctx context.Context, r io.Reader) (json.RawMessage, error) {
	read := make(chan json.RawMessage, 1)
	go func() { read <- decodeObject(r) }()
	select {
	case value := <-read:
		if value == nil {
			return nil, ErrInput
		}
		return value, nil
	case <-ctx.Done():
		return nil, ErrInput
	}
}

// decodeObject returns the first JSON value of r if it is an object, else nil.
func decodeObject(r io.Reader) json.RawMessage {
	in := bufio.NewReader(io.LimitReader(r, MaxInput+1))
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = in.Discard(len(mark))
	}
	var value json.RawMessage
	if err := json.NewDecoder(in).Decode(&value); err != nil || len(value) > MaxInput || value[0] != '{' {
		return nil
	}
	return value
}
