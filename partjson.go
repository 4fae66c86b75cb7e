package scrollback

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MarshalJSON writes the array form.
func (ps Parts) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, p := range ps {
		if i > 0 {
			out = append(out, ',')
		}
		b, err := tagged(p.partType(), p)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads the array form or a bare string.
func (ps *Parts) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*ps = Parts{Text{Text: s}}
		return nil
	}
	// Most lists have one part; splitting a list reads all of it once more.
	if n := len(b); n > 2 && b[0] == '[' && b[n-1] == ']' {
		if p, err := unmarshalPart(b[1 : n-1]); err == nil {
			*ps = Parts{p}
			return nil
		}
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return fmt.Errorf("content is neither a text nor a list of parts")
	}
	*ps = make(Parts, 0, len(raw))
	for i, r := range raw {
		p, err := unmarshalPart(r)
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		*ps = append(*ps, p)
	}
	return nil
}

func unmarshalPart(b []byte) (Part, error) {
	name, err := typeOf(b)
	if err != nil {
		return nil, err
	}
	switch name {
	case "text":
		return decodePart[Text](b)
	case "image":
		return decodePart[Image](b)
	case "file":
		return decodePart[File](b)
	case "tool_call":
		return decodePart[ToolCall](b)
	case "tool_result":
		return decodePart[ToolResult](b)
	case "reasoning":
		return decodePart[Reasoning](b)
	}
	return nil, fmt.Errorf("unknown type %q", name)
}

// typeOf is the type of a part. Stored parts begin with it, so that it need not be
// searched for in a long text.
func typeOf(b []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(b, []byte(`{"type":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok && !bytes.ContainsRune(name, '\\') {
			return string(name), nil
		}
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return "", fmt.Errorf("not an object")
	}
	return head.Type, nil
}

func decodePart[T Part](b []byte) (Part, error) {
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("%s: fields of the wrong type", v.partType())
	}
	return v, nil
}

// tagged marshals v, an object, with a leading "type" field.
func tagged(name string, v any) ([]byte, error) {
	body, err := marshalPlain(v)
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"type":"`), name...)
	out = append(out, '"')
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// marshalPlain is json.Marshal without HTML escapes: texts are stored and
// hashed as they were written.
func marshalPlain(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
