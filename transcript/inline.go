package transcript

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// EncodeParts returns the JSON of a message's parts with the bytes of its attachments in them, as
// base64 in "data".
func EncodeParts(e Entry) (json.RawMessage, error) {
	parts, err := plainjson.Marshal(e.Message.Parts)
	if err != nil || len(e.Bytes) == 0 {
		return parts, err
	}
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal(parts, &objects); err != nil {
		return nil, err
	}
	for i, b := range e.Bytes {
		objects[i]["data"] = json.RawMessage(`"` + base64.StdEncoding.EncodeToString(b) + `"`)
	}
	return plainjson.Marshal(objects)
}

// DecodeAttached returns the bytes that [EncodeParts] has put into parts, by index of the part.
func DecodeAttached(content json.RawMessage, parts scrollback.Parts) (map[int][]byte, error) {
	if !bytes.Contains(content, []byte(`"data"`)) {
		return nil, nil
	}
	var raw []struct {
		Type string  `json:"type"`
		Data *string `json:"data"`
	}
	if json.Unmarshal(content, &raw) != nil || len(raw) != len(parts) {
		return nil, nil
	}
	out := map[int][]byte{}
	for i, p := range raw {
		if p.Data == nil || p.Type != "image" && p.Type != "file" {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(*p.Data))
		if err != nil {
			return nil, fmt.Errorf("part %d: data is not base64", i)
		}
		out[i] = b
	}
	return out, nil
}
