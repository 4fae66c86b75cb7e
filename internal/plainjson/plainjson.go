// Package plainjson writes JSON that has texts as they are, without the escapes that encoding/json makes for HTML.
package plainjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is [json.Marshal] without escapes for HTML.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
