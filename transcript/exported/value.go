package exported

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/transcript"
)

// DecodeJSON reads JSON into a value. A field of another type than expected is as if it were
// not there; an error means that the JSON is broken, or no object.
func DecodeJSON(raw json.RawMessage, v any) error {
	if b := bytes.TrimSpace(raw); len(b) == 0 || b[0] != '{' {
		return ErrOther
	}
	return ignoreTypeError(json.Unmarshal(raw, v))
}

// DecodeList reads a JSON list into a slice. What in it is of another type than expected is as if
// it were not there; an error means that the JSON is broken.
func DecodeList(raw json.RawMessage, slice any) error {
	return ignoreTypeError(json.Unmarshal(raw, slice))
}

// DecodeField reads a part of JSON into a value, as far as it has the type.
func DecodeField(raw json.RawMessage, v any) bool {
	return len(raw) > 0 && json.Unmarshal(raw, v) == nil
}

func ignoreTypeError(err error) error {
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		return nil
	}
	return err
}

// SecondsToMillis returns a time in Unix seconds, as Unix ms. One that is in ms already, as some
// programs write them, stays. What is impossible is 0.
func SecondsToMillis(s float64) int64 {
	switch {
	case !(s > 0) || math.IsInf(s, 0): // NaN is not
		return 0
	case s < 1e11:
		s *= 1000
	}
	if s = math.Round(s); s > transcript.Latest {
		return 0
	}
	return int64(s)
}

// ParseMoment returns a time in ISO 8601, as Unix ms; 0 for none.
func ParseMoment(s string) int64 {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999",
		"2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			if ms := t.UnixMilli(); ms > 0 && ms <= transcript.Latest {
				return ms
			}
			return 0
		}
	}
	return 0
}

// maxMeta bounds what meta keeps of one thing, in bytes.
const maxMeta = 32 << 10

// KeepMeta returns the meta that keeps a value under a tool's key; nil if it is empty or too long.
func KeepMeta(key string, v any) json.RawMessage {
	body, err := plainjson.Marshal(v)
	if s := string(body); err != nil || s == "{}" || s == "null" || len(body) > maxMeta {
		return nil
	}
	out, err := plainjson.Marshal(map[string]json.RawMessage{key: body})
	if err != nil {
		return nil
	}
	return out
}

// CallArguments returns those of a call, given as JSON or as a text; anything but an object is put into
// one, under name.
func CallArguments(raw []byte, name string) json.RawMessage {
	raw = bytes.TrimSpace(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
	var text string
	if json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"' {
		raw = []byte(strings.TrimSpace(text))
	} else {
		text = string(raw)
	}
	if len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		var b bytes.Buffer
		if json.Compact(&b, raw) == nil {
			return b.Bytes()
		}
	}
	if text == "" || text == "null" {
		return json.RawMessage("{}")
	}
	out, err := plainjson.Marshal(map[string]string{name: text})
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

// CompactJSON is JSON as it may be kept in meta or shown: without spaces, and valid UTF-8.
func CompactJSON(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, bytes.ToValidUTF8(raw, []byte("\uFFFD"))) != nil {
		return nil
	}
	return b.Bytes()
}

// HashValues returns a short hash of something that has no id.
func HashValues(what ...any) string {
	body, err := json.Marshal(what)
	if err != nil {
		body = fmt.Append(nil, what...)
	}
	h := sha256.Sum256(body)
	return hex.EncodeToString(h[:12])
}

// AppendText adds a text to parts, unless it is empty.
func AppendText(ps scrollback.Parts, text string) scrollback.Parts {
	if strings.TrimSpace(text) == "" {
		return ps
	}
	return append(ps, scrollback.Text{Text: text})
}
