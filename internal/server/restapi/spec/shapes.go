package spec

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
)

// schemaPrefix is where schemas are named.
const schemaPrefix = "#/components/schemas/"

// Media types of bodies that are not JSON.
const (
	Stream = "text/event-stream"
	Binary = "application/octet-stream"
)

// Content is one form that a body may have.
type Content struct {
	media  string
	schema *huma.Schema
}

// JSON returns a body that holds a T.
func JSON[T any](r huma.Registry) Content {
	return Content{"application/json", r.Schema(reflect.TypeFor[T](), true, "")}
}

// EitherJSON returns a body that holds an A or a B.
func EitherJSON[A, B any](r huma.Registry) Content {
	return Content{"application/json", &huma.Schema{OneOf: []*huma.Schema{JSON[A](r).schema, JSON[B](r).schema}}}
}

// FileContent returns a body that is a file.
func FileContent(media string) Content {
	return Content{media, &huma.Schema{Type: huma.TypeString, Format: "binary"}}
}

// TurnEvents returns a stream of a turn's events: the schema is that of one event's data. more are
// those that a face adds, by what their field "type" says.
func TurnEvents(r huma.Registry, more map[string]any) Content {
	kinds := maps.Clone(more)
	if kinds == nil {
		kinds = map[string]any{}
	}
	for _, e := range events {
		raw, err := scrollback.EncodeEvent(e)
		kinds[readType(raw, err)] = e
	}
	return EventsOf(r, "ChatEvent", kinds)
}

// EventsOf returns a stream of events of any kind: zero values of their structs by what the
// field "type" of each says. The schema of one is named.
func EventsOf(r huma.Registry, name string, events map[string]any) Content {
	forms := map[string]*huma.Schema{}
	for kind, e := range events {
		forms[kind] = structSchema(r, e)
	}
	return Content{Stream, Union(r, name, forms)}
}

// ChangeEvents returns the stream of what is done to conversations: the schema is that of one event's
// data. What an event says of a conversation is missing when that is gone.
func ChangeEvents(r huma.Registry) Content {
	of := structSchema(r, scrollback.Change{})
	name := of.Title
	of.Title = ""
	of.Required = []string{"type"}
	r.Map()[name] = of
	return Content{Stream, &huma.Schema{Ref: schemaPrefix + name}}
}

// events is one of every kind.
var events = []scrollback.Event{scrollback.TurnEvent{}, scrollback.DeltaEvent{}, scrollback.ReasoningEvent{},
	scrollback.ToolCallEvent{},
	scrollback.ToolResultEvent{}, scrollback.SearchEvent{}, scrollback.MessageEvent{}, scrollback.SnapshotEvent{},
	scrollback.CompactingEvent{},
	scrollback.CompactionEvent{}, scrollback.UsageEvent{}, scrollback.CreditsEvent{}, scrollback.MetaEvent{},
	scrollback.ErrorEvent{},
	scrollback.DoneEvent{}}

// parts is one of every kind.
var parts = []scrollback.Part{scrollback.Text{}, scrollback.Image{}, scrollback.File{}, scrollback.ToolCall{},
	scrollback.ToolResult{},
	scrollback.Reasoning{}}

// storedPart names the union of the parts of a stored message.
func storedPart(r huma.Registry) *huma.Schema {
	forms := map[string]*huma.Schema{}
	for _, p := range parts {
		raw, err := scrollback.Parts{p}.MarshalJSON()
		of := structSchema(r, p)
		of.Title += "Part"
		forms[readType(raw[1:len(raw)-1], err)] = of
	}
	return Union(r, "Part", forms)
}

// readType returns what the field "type" of JSON says.
func readType(raw []byte, err error) string {
	var of struct{ Type string }
	if err == nil {
		err = json.Unmarshal(raw, &of)
	}
	if err != nil {
		panic(err) // a zero event or part cannot be encoded
	}
	return of.Type
}

// structSchema returns the schema of a struct, with its name as title.
func structSchema(r huma.Registry, v any) *huma.Schema {
	t := reflect.TypeOf(v)
	s := huma.SchemaFromType(r, t)
	s.Title = t.Name()
	annotateSchema(r, t, s)
	return s
}

// Responses returns the responses with a status, in one of several forms.
func Responses(status int, contents ...Content) map[string]*huma.Response {
	return map[string]*huma.Response{strconv.Itoa(status): {Description: http.StatusText(status),
		Content: mediaTypes(contents)}}
}

// RequestBody returns the body of a request in one of several forms.
func RequestBody(contents ...Content) *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: mediaTypes(contents)}
}

func mediaTypes(contents []Content) map[string]*huma.MediaType {
	out := map[string]*huma.MediaType{}
	for _, c := range contents {
		out[c.media] = &huma.MediaType{Schema: c.schema}
	}
	return out
}

// Union names a schema whose forms differ in their field "type", and returns a reference
// to it. The forms are objects with their names as titles, by what their type says.
func Union(r huma.Registry, name string, forms map[string]*huma.Schema) *huma.Schema {
	of := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
	for _, kind := range slices.Sorted(maps.Keys(forms)) {
		form := forms[kind]
		at := form.Title
		form.Title = ""
		form.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{kind}}
		form.Required = append([]string{"type"},
			slices.DeleteFunc(form.Required, func(n string) bool { return n == "type" })...)
		r.Map()[at] = form
		of.OneOf = append(of.OneOf, &huma.Schema{Ref: schemaPrefix + at})
		of.Discriminator.Mapping[kind] = schemaPrefix + at
	}
	r.Map()[name] = of
	return &huma.Schema{Ref: schemaPrefix + name}
}
