package restapi

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
)

// writePlainJSON writes v as JSON without HTML escapes. It is well-formed: the log may hold
// arguments and payloads that are not.
func writePlainJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(scrollback.WellFormed(b.Bytes()))
	return err
}

// messageContent is a message as a client sends it: a text or a list of parts. Its
// contents are checked by the root's own reader.
type messageContent struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (messageContent) Schema(r huma.Registry) *huma.Schema {
	forms := map[string]*huma.Schema{}
	for _, p := range partFields {
		form := &huma.Schema{Type: huma.TypeObject, Title: p.of + "PartBody", AdditionalProperties: false,
			Properties: map[string]*huma.Schema{"opaque": {}}}
		for _, f := range strings.Fields(p.texts) {
			form.Properties[f] = &huma.Schema{Type: huma.TypeString}
		}
		for _, f := range strings.Fields(p.wholes) {
			form.Properties[f] = &huma.Schema{Type: huma.TypeInteger}
		}
		for _, f := range strings.Fields(p.switches) {
			form.Properties[f] = &huma.Schema{Type: huma.TypeBoolean}
		}
		for _, f := range strings.Fields(p.any) {
			form.Properties[f] = &huma.Schema{}
		}
		forms[p.name] = form
	}
	part := spec.Union(r, "PartBody", forms)
	return &huma.Schema{Description: "A text, or a list of parts.",
		OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeArray, Items: part}}}
}

// partFields are the fields of each kind of part, besides its type and its payload.
var partFields = []struct{ name, of, texts, wholes, switches, any string }{
	{name: "text", of: "Text", texts: "text"},
	{name: "image", of: "Image", texts: "artifact url media_type name detail", wholes: "size width height"},
	{name: "file", of: "File", texts: "artifact media_type name", wholes: "size"},
	{name: "tool_call", of: "ToolCall", texts: "id name", any: "arguments"},
	{name: "tool_result", of: "ToolResult", texts: "call_id name text artifact", switches: "is_error recall"},
	{name: "reasoning", of: "Reasoning", texts: "text"},
}

func (c messageContent) readParts(param string) (scrollback.Parts, error) {
	if len(c.RawMessage) == 0 || string(c.RawMessage) == "null" {
		return nil, nil
	}
	if !utf8.Valid(c.RawMessage) {
		return nil, scrollback.ParamErrorf("restapi", param, i18n.MessageIsNotUTF8)
	}
	var ps scrollback.Parts
	if err := json.Unmarshal(c.RawMessage, &ps); err != nil {
		return nil, scrollback.ParamErrorf("restapi", param, "%w", err)
	}
	return ps, nil
}

// requireParts returns the parts of a message, of which there is at least one.
func (c messageContent) requireParts() (scrollback.Parts, error) {
	ps, err := c.readParts("message")
	if err == nil && len(ps) == 0 {
		err = scrollback.ParamErrorf("restapi", "message", i18n.MessageIsEmpty)
	}
	return ps, err
}

// object is a JSON object that is kept as it is.
type object struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// nullIfZero returns a cursor, or null at the end of a list.
func nullIfZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// body wraps a JSON response; seen is one without further headers.
type body[T any] struct{ Body T }

func wrapBody[T any](v T, err error) (*body[T], error) { return wrapAnswer(&body[T]{Body: v}, err) }
