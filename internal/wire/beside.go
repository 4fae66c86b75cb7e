package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Beside is what a server put into an object besides the fields that are known here, by
// their names. It goes back as it came.
type Beside map[string]json.RawMessage

// ByteSize returns how many bytes there are.
func (b Beside) ByteSize() (n int) {
	for name, v := range b {
		n += len(name) + len(v)
	}
	return n
}

// unknownFields returns what an object has besides known fields; null says nothing.
func unknownFields(object []byte, known ...string) Beside {
	var all Beside
	if json.Unmarshal(object, &all) != nil {
		return nil
	}
	maps.DeleteFunc(all, func(name string, v json.RawMessage) bool {
		return string(v) == "null" || slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
	})
	if len(all) == 0 {
		return nil
	}
	return all
}

// appendTo returns an object with what was besides its fields behind them.
func (b Beside) appendTo(object []byte) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		key, err := marshalPlain(name)
		if err != nil {
			return nil, err
		}
		object = append(object[:len(object)-1], ',')
		object = append(append(append(append(object, key...), ':'), b[name]...), '}')
	}
	return object, nil
}

// UnmarshalJSON reads a call, or a piece of one.
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	type fields ToolCall
	if err := json.Unmarshal(b, (*fields)(c)); err != nil {
		return err
	}
	c.Beside = unknownFields(b, "index", "id", "type", "function", "extra_content", "provider_specific_fields")
	return nil
}

// MarshalJSON writes it.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	type fields ToolCall
	b, err := marshalPlain(fields(c))
	if err != nil {
		return nil, err
	}
	return c.Beside.appendTo(b)
}

// UnmarshalJSON reads a name and arguments, or a piece of them.
func (c *FunctionCall) UnmarshalJSON(b []byte) error {
	type fields FunctionCall
	if err := json.Unmarshal(b, (*fields)(c)); err != nil {
		return err
	}
	c.Beside = unknownFields(b, "name", "arguments")
	return nil
}

// MarshalJSON writes them.
func (c FunctionCall) MarshalJSON() ([]byte, error) {
	type fields FunctionCall
	b, err := marshalPlain(fields(c))
	if err != nil {
		return nil, err
	}
	return c.Beside.appendTo(b)
}

// messageFields are those of a message and of a piece of one that are known here.
var messageFields = []string{"role", "content", "name", "reasoning", "reasoning_content", "reasoning_details",
	"refusal",
	"tool_calls", "tool_call_id", "function_call", "annotations"}

// UnmarshalJSON reads a message.
func (m *Message) UnmarshalJSON(b []byte) error {
	type fields Message
	if err := json.Unmarshal(b, (*fields)(m)); err != nil {
		return err
	}
	m.Beside = unknownFields(b, messageFields...)
	return nil
}

// MarshalJSON writes it.
func (m Message) MarshalJSON() ([]byte, error) {
	type fields Message
	b, err := marshalPlain(fields(m))
	if err != nil {
		return nil, err
	}
	return m.Beside.appendTo(b)
}

// UnmarshalJSON reads a piece of a message.
func (d *Delta) UnmarshalJSON(b []byte) error {
	type fields Delta
	if err := json.Unmarshal(b, (*fields)(d)); err != nil {
		return err
	}
	d.Beside = unknownFields(b, messageFields...)
	return nil
}

// UnmarshalJSON reads a part of a message.
func (p *ContentPart) UnmarshalJSON(b []byte) error {
	type fields ContentPart
	if err := json.Unmarshal(b, (*fields)(p)); err != nil {
		return err
	}
	if len(p.Thinking) > 0 || p.Type == "thinking" {
		p.Beside = unknownFields(b, "type", "text", "image_url", "thinking", "cache_control")
	}
	return nil
}

// MarshalJSON writes it.
func (p ContentPart) MarshalJSON() ([]byte, error) {
	type fields ContentPart
	b, err := marshalPlain(fields(p))
	if err != nil {
		return nil, err
	}
	return p.Beside.appendTo(b)
}
