package transcript

import (
	"encoding/json"
	"time"

	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// Latest is the last moment that is believed, in Unix ms: the end of the year 9999.
const Latest = 253402300799999

// ParseTime returns a time written by RFC 3339, in Unix ms; 0 for what is none.
func ParseTime(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.UnixMilli() < 0 || t.UnixMilli() > Latest {
		return 0
	}
	return t.UnixMilli()
}

// ParseMillis returns a number of seconds, or of milliseconds, since 1970 in Unix ms; 0 for what is no
// time. Some tools write the one and some the other, or both.
func ParseMillis(n int64) int64 {
	if n > 0 && n < 1e11 {
		n *= 1000
	}
	if n < 0 || n > Latest {
		return 0
	}
	return n
}

// MarshalObject returns v as JSON without HTML escapes; nil for what cannot be encoded.
func MarshalObject(v any) json.RawMessage {
	out, err := plainjson.Marshal(v)
	if err != nil {
		return nil
	}
	return out
}
