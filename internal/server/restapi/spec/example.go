package spec

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// Example is a request and the response of a real server to it.
type Example struct {
	// operations whose examples are sent before, besides those it names
	After    []string          `json:"after,omitempty"`
	Path     map[string]string `json:"path,omitempty"`
	Query    map[string]string `json:"query,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     json.RawMessage   `json:"body,omitempty"`   // JSON, or a text that is sent as it is
	Frames   int               `json:"frames,omitempty"` // of a stream without an end: read this many events, and leave
	Status   int               `json:"status"`
	Media    string            `json:"media"`
	Response json.RawMessage   `json:"response"` // JSON, the events of a stream as a list, or a text
}

// HasResponse reports whether the response of the example is there.
func (e *Example) HasResponse() bool { return e.Response != nil && string(e.Response) != "null" }

// reference is what another example's response holds: its operation, and the path to a
// value.
var reference = lazyregexp.New(`"\$([a-z-]+)((?:\.\w+)+)"`)

// ListReferences returns the operations whose examples e names.
func (e *Example) ListReferences() []string {
	out := append([]string{}, e.After...)
	raw, err := json.Marshal([]any{e.Path, e.Query, e.Headers, e.Body})
	if err != nil {
		return out
	}
	for _, m := range reference().FindAllSubmatch(raw, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// FillReferences returns the request of e with values in the place of references; response returns the
// response of an operation's example, or nil.
func (e *Example) FillReferences(response func(operation string) json.RawMessage) (Example, error) {
	raw, err := json.Marshal(Example{Path: e.Path, Query: e.Query, Headers: e.Headers, Body: e.Body})
	if err != nil {
		return *e, err
	}
	var missing error
	raw = reference().ReplaceAllFunc(raw, func(found []byte) []byte {
		m := reference().FindSubmatch(found)
		v, err := valueAt(response(string(m[1])), strings.Split(string(m[2]), ".")[1:])
		if err != nil {
			missing = fmt.Errorf("%s: %w", found, err)
			return found
		}
		return v
	})
	var out Example
	if err := json.Unmarshal(raw, &out); err != nil || missing != nil {
		return *e, fmt.Errorf("%w: %w", err, missing)
	}
	out.After = e.After
	out.Frames = e.Frames
	out.Status = e.Status
	out.Media = e.Media
	out.Response = e.Response
	return out, nil
}

// valueAt returns the text or number at a path in JSON, as a JSON text.
func valueAt(raw json.RawMessage, at []string) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("no response to read it from: %w", err)
	}
	for _, name := range at {
		switch of := v.(type) {
		case map[string]any:
			v = of[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(of) {
				return nil, fmt.Errorf("there is no %s in the list", name)
			}
			v = of[i]
		default:
			v = nil
		}
		if v == nil {
			return nil, fmt.Errorf("there is no %s", name)
		}
	}
	return json.Marshal(v)
}
