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

// Size is how many bytes there are.
func (b Beside) Size() (n int) {
	for name, v := range b {
		n += len(name) + len(v)
	}
	return n
}

// besides is what an object has besides known fields; null says nothing.
func besides(object []byte, known ...string) Beside {
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

// joined is an object with what was besides its fields behind them.
func (b Beside) joined(object []byte) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		key, err := plain(name)
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
	c.Beside = besides(b, "index", "id", "type", "function", "extra_content", "provider_specific_fields")
	return nil
}

// MarshalJSON writes it.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	type fields ToolCall
	b, err := plain(fields(c))
	if err != nil {
		return nil, err
	}
	return c.Beside.joined(b)
}

// UnmarshalJSON reads a name and arguments, or a piece of them.
func (c *FunctionCall) UnmarshalJSON(b []byte) error {
	type fields FunctionCall
	if err := json.Unmarshal(b, (*fields)(c)); err != nil {
		return err
	}
	c.Beside = besides(b, "name", "arguments")
	return nil
}

// MarshalJSON writes them.
func (c FunctionCall) MarshalJSON() ([]byte, error) {
	type fields FunctionCall
	b, err := plain(fields(c))
	if err != nil {
		return nil, err
	}
	return c.Beside.joined(b)
}
