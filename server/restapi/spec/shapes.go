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

// prefix is where schemas are named.
const prefix = "#/components/schemas/"

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

// JSON is a body that holds a T.
func JSON[T any](r huma.Registry) Content {
	return Content{"application/json", r.Schema(reflect.TypeFor[T](), true, "")}
}

// Either is a body that holds an A or a B.
func Either[A, B any](r huma.Registry) Content {
	return Content{"application/json", &huma.Schema{OneOf: []*huma.Schema{JSON[A](r).schema, JSON[B](r).schema}}}
}

// File is a body that is a file.
func File(media string) Content {
	return Content{media, &huma.Schema{Type: huma.TypeString, Format: "binary"}}
}

// TurnEvents is a stream of a turn's events: the schema is that of one event's data. more are
// those that a face adds, by what their field "type" says.
func TurnEvents(r huma.Registry, more map[string]any) Content {
	kinds := maps.Clone(more)
	if kinds == nil {
		kinds = map[string]any{}
	}
	for _, e := range events {
		raw, err := scrollback.EncodeEvent(e)
		kinds[kindOf(raw, err)] = e
	}
	return EventsOf(r, "ChatEvent", kinds)
}

// EventsOf is a stream of events of any kind: zero values of their structs by what the
// field "type" of each says. The schema of one is named.
func EventsOf(r huma.Registry, name string, events map[string]any) Content {
	forms := map[string]*huma.Schema{}
	for kind, e := range events {
		forms[kind] = form(r, e)
	}
	return Content{Stream, Union(r, name, forms)}
}

// Changes is the stream of what is done to conversations: the schema is that of one event's
// data. What an event says of a conversation is missing when that is gone.
func Changes(r huma.Registry) Content {
	of := form(r, scrollback.Change{})
	name := of.Title
	of.Title = ""
	of.Required = []string{"type"}
	r.Map()[name] = of
	return Content{Stream, &huma.Schema{Ref: prefix + name}}
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
		of := form(r, p)
		of.Title += "Part"
		forms[kindOf(raw[1:len(raw)-1], err)] = of
	}
	return Union(r, "Part", forms)
}

// kindOf is what the field "type" of JSON says.
func kindOf(raw []byte, err error) string {
	var of struct{ Type string }
	if err == nil {
		err = json.Unmarshal(raw, &of)
	}
	if err != nil {
		panic(err) // a zero event or part cannot be encoded
	}
	return of.Type
}

// form is the schema of a struct, with its name as title.
func form(r huma.Registry, v any) *huma.Schema {
	t := reflect.TypeOf(v)
	s := huma.SchemaFromType(r, t)
	s.Title = t.Name()
	annotate(r, t, s)
	return s
}

// Returns are the responses with a status, in one of several forms.
func Returns(status int, contents ...Content) map[string]*huma.Response {
	return map[string]*huma.Response{strconv.Itoa(status): {Description: http.StatusText(status),
		Content: contentOf(contents)}}
}

// Takes is the body of a request in one of several forms.
func Takes(contents ...Content) *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: contentOf(contents)}
}

func contentOf(contents []Content) map[string]*huma.MediaType {
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
		of.OneOf = append(of.OneOf, &huma.Schema{Ref: prefix + at})
		of.Discriminator.Mapping[kind] = prefix + at
	}
	r.Map()[name] = of
	return &huma.Schema{Ref: prefix + name}
}
