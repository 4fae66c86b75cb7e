package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// typescriptFolder is where the client is.
const typescriptFolder = "../../clients/typescript"

// The client for TypeScript has each operation of the description as a method, and its types.
func TestTypeScriptClient(t *testing.T) {
	w := httptest.NewRecorder()
	newStrictRig(t).at.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/openapi.json", nil))
	var api tsAPI
	if err := json.Unmarshal(w.Body.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	operations := api.listOperations()
	if len(operations) < 50 || len(api.Components.Schemas) < 100 {
		t.Fatalf("only %d operations and %d schemas were read", len(operations), len(api.Components.Schemas))
	}
	for name, want := range map[string]string{
		"types.d.ts":      api.writeTypes(operations),
		"operations.js":   writeModule(operations),
		"operations.d.ts": writeDeclarations(operations),
	} {
		file := filepath.Join(typescriptFolder, name)
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != want {
			t.Errorf("%s is not what the description says (%v): go test ./internal/server -run TestTypeScriptClient -update "+
				"writes it", file, err)
		}
	}
}

// tsAPI is what is read of the description.
type tsAPI struct {
	Paths      map[string]map[string]tsDescribed
	Components struct {
		Schemas map[string]*tsSchema
	}
}

type tsDescribed struct {
	OperationID, Summary, Description string
	Parameters                        []tsParameter
	RequestBody                       *struct {
		Required bool
		Content  map[string]struct{ Schema *tsSchema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema *tsSchema }
	}
}

type tsParameter struct {
	Name, In, Description string
	Required              bool
	Schema                *tsSchema
}

type tsSchema struct {
	Ref                  string `json:"$ref"`
	Description          string
	Type                 any
	Enum                 []any
	OneOf                []*tsSchema
	Items                *tsSchema
	Properties           map[string]*tsSchema
	Required             []string
	AdditionalProperties any
}

// text returns a schema as a type of TypeScript; names of others begin with a prefix.
func (s *tsSchema) text(prefix string) string {
	switch {
	case s == nil:
		return "unknown"
	case s.Ref != "":
		return prefix + filepath.Base(s.Ref)
	case s.OneOf != nil:
		return joinTypes(s.OneOf, prefix)
	case s.Enum != nil:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprintf("'%v'", v))
		}
		return strings.Join(values, " | ")
	}
	kinds, ok := s.Type.([]any)
	if !ok {
		kinds = []any{s.Type}
	}
	var out []string
	for _, kind := range kinds {
		out = append(out, s.kindText(kind, prefix))
	}
	return strings.Join(out, " | ")
}

// kindText returns a schema as one of the types that its values may have.
func (s *tsSchema) kindText(kind any, prefix string) string {
	switch kind {
	case "integer", "number":
		return "number"
	case "string", "boolean", "null":
		return fmt.Sprint(kind)
	case "array":
		item := s.Items.text(prefix)
		if strings.Contains(item, " ") {
			return "(" + item + ")[]"
		}
		return item + "[]"
	case "object":
		if s.Properties != nil {
			return "{ " + strings.Join(strings.Fields(s.fields(prefix)), " ") + " }"
		}
		if of, ok := s.AdditionalProperties.(map[string]any); ok {
			raw, err := json.Marshal(of)
			value := &tsSchema{}
			if err == nil {
				err = json.Unmarshal(raw, value)
			}
			if err == nil {
				return "Record<string, " + value.text(prefix) + ">"
			}
		}
		return "Record<string, unknown>"
	}
	return "unknown"
}

// joinTypes returns the union of schemas.
func joinTypes(of []*tsSchema, prefix string) string {
	var out []string
	for _, s := range of {
		if text := s.text(prefix); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, " | ")
}

// fields returns the fields of an object, a line each.
func (s *tsSchema) fields(prefix string) string {
	out := &strings.Builder{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		of := s.Properties[name]
		writeField(out, name, of.text(prefix), of.Description, slices.Contains(s.Required, name))
	}
	return out.String()
}

// writeField writes a field of an interface and what is said about it.
func writeField(out *strings.Builder, name, kind, said string, required bool) {
	writeRemark(out, "    ", said)
	optional := "?"
	if required {
		optional = ""
	}
	fmt.Fprintf(out, "    %s%s: %s;\n", name, optional, kind)
}

// writeRemark writes a comment in lines of at most 120 columns; nothing if there is nothing to say.
func writeRemark(out *strings.Builder, indent string, paragraphs ...string) {
	paragraphs = slices.DeleteFunc(paragraphs, func(p string) bool { return p == "" })
	text := strings.ReplaceAll(strings.Join(paragraphs, "\n\n"), "*/", "*\\/")
	if text == "" {
		return
	}
	if !strings.Contains(text, "\n") && len(text) < 105 {
		fmt.Fprintf(out, "%s/** %s */\n", indent, text)
		return
	}
	out.WriteString(indent + "/**\n")
	for line := range strings.SplitSeq(text, "\n") {
		row := ""
		for _, word := range strings.Fields(line) {
			if row != "" && len(row)+len(word) > 105 {
				out.WriteString(indent + " * " + row + "\n")
				row = ""
			}
			row = strings.TrimLeft(row+" "+word, " ")
		}
		out.WriteString(strings.TrimRight(indent+" * "+row, " ") + "\n")
	}
	out.WriteString(indent + " */\n")
}

// tsOperation is an operation as a method.
type tsOperation struct {
	name, method, path, summary, description string
	places                                   []string // the names of what the path holds
	params                                   []tsParameter
	paramsName                               string // of the type of its parameters; CallOptions if it has none
	paramsNeeded                             bool
	body                                     string // the type of what is sent as JSON; empty for none
	file                                     bool   // whether a file is sent
	bodyNeeded                               bool
	result                                   string
	streams                                  bool
	whole                                    bool   // whether a stream is asked to be one JSON object
	follow                                   string // of a stream that begins a turn: the path where its events are read on
}

// listOperations returns the operations by path and method. One that answers with a stream or with
// JSON is two methods.
func (api *tsAPI) listOperations() []tsOperation {
	follow := ""
	for at, item := range api.Paths {
		if item["get"].OperationID == "turn-events" {
			follow = at
		}
	}
	var out []tsOperation
	for _, at := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			of, ok := api.Paths[at][method]
			if !ok {
				continue
			}
			o := tsOperation{name: camelCase(of.OperationID), method: strings.ToUpper(method), path: at, summary: of.Summary,
				description: of.Description, paramsName: "CallOptions"}
			o.readParameters(of)
			o.readBody(of)
			whole := o.readResult(of)
			if o.streams && o.method == http.MethodPost {
				o.follow = follow
				o.body = "Omit<" + o.body + ", \"stream\">"
			}
			out = append(out, o)
			if whole != "" {
				o.name += "ToEnd"
				o.summary += " to the end: the result when the turn has ended"
				o.description = ""
				o.result = whole
				o.streams = false
				o.whole = true
				o.follow = ""
				o.paramsName = pascalCase(o.name) + "Params"
				out = append(out, o)
			}
		}
	}
	return out
}

// readParameters reads what an operation has beside its body. That a browser reconnects with the
// number of the last event is said by "after" as well.
func (o *tsOperation) readParameters(of tsDescribed) {
	for _, p := range of.Parameters {
		switch {
		case p.In == "path":
			o.places = append(o.places, p.Name)
		case p.Name != "Last-Event-ID":
			o.params = append(o.params, p)
			o.paramsName = pascalCase(o.name) + "Params"
			o.paramsNeeded = o.paramsNeeded || p.Required
		}
	}
}

func (o *tsOperation) readBody(of tsDescribed) {
	if of.RequestBody == nil {
		return
	}
	o.bodyNeeded = of.RequestBody.Required
	if body, ok := of.RequestBody.Content["application/json"]; ok {
		o.body = body.Schema.text("Types.")
		return
	}
	o.file = true
}

// readResult reads what a method returns, and returns the type of the JSON that may be had in the place
// of a stream.
func (o *tsOperation) readResult(of tsDescribed) (whole string) {
	var results []*tsSchema
	media := map[string]bool{}
	for _, status := range slices.Sorted(maps.Keys(of.Responses)) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		for kind, content := range of.Responses[status].Content {
			media[kind] = true
			if kind == "text/event-stream" {
				o.streams = true
				o.result = content.Schema.text("Types.")
			} else if strings.HasSuffix(kind, "json") {
				results = append(results, content.Schema)
			}
		}
	}
	switch {
	case o.streams && results != nil:
		return joinTypes(results, "Types.")
	case o.streams:
	case len(media) == 0:
		o.result = "void"
	case len(media) > 1 || results == nil:
		o.result = "Response"
	default:
		o.result = joinTypes(results, "Types.")
	}
	return ""
}

var tsWord = regexp.MustCompile(`[-_]([a-z])`)

func camelCase(name string) string {
	return tsWord.ReplaceAllStringFunc(name, func(m string) string { return strings.ToUpper(m[1:]) })
}

func pascalCase(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// field returns the name that a parameter has among the others.
func (p tsParameter) field() string { return strings.ReplaceAll(strings.ToLower(p.Name), "-", "_") }

// text returns the type of a parameter. One of a few texts may be another in a later version.
func (p tsParameter) text() string {
	if p.Schema.Enum != nil {
		return p.Schema.text("") + " | (string & {})"
	}
	return strings.TrimSuffix(p.Schema.text(""), " | null")
}

// arguments returns the arguments of a method with their types, in order; those that may be left out
// end with a question mark.
func (o *tsOperation) arguments() (names, types []string) {
	for _, place := range o.places {
		names = append(names, camelCase(place))
		types = append(types, "string")
	}
	optional := func(needed bool) string {
		if needed {
			return ""
		}
		return "?"
	}
	if o.body != "" {
		names = append(names, "body"+optional(o.bodyNeeded))
		types = append(types, o.body)
	}
	if o.file {
		names = append(names, "file")
		types = append(types, "Upload")
	}
	names = append(names, "params"+optional(o.paramsNeeded))
	params := "Types." + o.paramsName
	switch {
	case o.paramsName == "CallOptions":
		params = "CallOptions"
	case o.streams:
		params += " & StreamOptions"
	}
	return names, append(types, params)
}

func (o *tsOperation) returns() string {
	if o.streams {
		return "EventStream<" + o.result + ">"
	}
	return "Promise<" + o.result + ">"
}

// made heads each file.
const made = "// Made of the API's description by go test ./internal/server -run TestTypeScriptClient -update.\n"

// writeModule returns operations.js.
func writeModule(operations []tsOperation) string {
	out := &strings.Builder{}
	out.WriteString(made + `import { path, Transport } from './transport.js';

/** @import * as Types from './types.js' */
/** @import { CallOptions, Upload } from './transport.js' */
/** @import { EventStream, StreamOptions } from './stream.js' */

/** A client with a method for each operation of the API. */
export class Scrollback extends Transport {
`)
	for i := range operations {
		o := &operations[i]
		if i > 0 {
			out.WriteString("\n")
		}
		names, types := o.arguments()
		fmt.Fprintf(out, "  /**\n   * %s.\n", o.summary)
		for j, name := range names {
			if bare, ok := strings.CutSuffix(name, "?"); ok {
				name = "[" + bare + "]"
				names[j] = bare
			}
			fmt.Fprintf(out, "   * @param {%s} %s\n", types[j], name)
		}
		fmt.Fprintf(out, "   * @returns {%s}\n   */\n", o.returns())
		async := ""
		if o.result == "void" {
			async = "async "
		}
		fmt.Fprintf(out, "  %s%s(%s) {\n    %s;\n  }\n", async, o.name, strings.Join(names, ", "), o.call())
	}
	return out.String() + "}\n"
}

// call returns the statement of a method.
func (o *tsOperation) call() string {
	var sent []string
	switch {
	case o.whole:
		sent = append(sent, "body: { ...body, stream: false }")
	case o.body != "":
		sent = append(sent, "body")
	case o.file:
		sent = append(sent, "file")
	}
	sent = append(sent, "params")
	var named []string
	for _, p := range o.params {
		if p.In == "header" {
			named = append(named, fmt.Sprintf("%s: '%s'", p.field(), p.Name))
		}
	}
	if named != nil {
		sent = append(sent, "headers: { "+strings.Join(named, ", ")+" }")
	}
	call := "{ " + strings.Join(sent, ", ") + " }"
	at := pathText(o.path)
	switch {
	case o.follow != "":
		return fmt.Sprintf("return this.streamTurn(%s, %s,\n      (turn) => %s)", at, call, pathText(o.follow))
	case o.streams && slices.Contains(o.places, "turn"):
		return fmt.Sprintf("return this.streamEvents(%s, params, turn)", at)
	case o.streams:
		return fmt.Sprintf("return this.streamEvents(%s, params)", at)
	case o.result == "Response":
		return fmt.Sprintf("return this.fetchResponse('%s', %s, %s)", o.method, at, call)
	case o.result == "void":
		return fmt.Sprintf("await this.fetchResponse('%s', %s, %s)", o.method, at, call)
	}
	return fmt.Sprintf("return this.fetchJSON('%s', %s, %s)", o.method, at, call)
}

var tsPlace = regexp.MustCompile(`\{(\w+)\}`)

// pathText returns a path as an expression.
func pathText(at string) string {
	if !strings.Contains(at, "{") {
		return "'" + at + "'"
	}
	return "path`" + tsPlace.ReplaceAllStringFunc(at, func(m string) string { return "$" + camelCase(m) }) + "`"
}

// writeDeclarations returns operations.d.ts.
func writeDeclarations(operations []tsOperation) string {
	out := &strings.Builder{}
	out.WriteString(made + `import { Transport } from './transport.js';
import type * as Types from './types.js';
import type { CallOptions, Upload } from './transport.js';
import type { EventStream, StreamOptions } from './stream.js';
/** A client with a method for each operation of the API. */
export declare class Scrollback extends Transport {
`)
	for i := range operations {
		o := &operations[i]
		names, types := o.arguments()
		for j := range names {
			names[j] += ": " + types[j]
		}
		writeRemark(out, "    ", o.summary+".", o.description)
		fmt.Fprintf(out, "    %s(%s): %s;\n", o.name, strings.Join(names, ", "), o.returns())
	}
	return out.String() + "}\n"
}

// writeTypes returns types.d.ts: the schemas, and the parameters of each operation.
func (api *tsAPI) writeTypes(operations []tsOperation) string {
	out := &strings.Builder{}
	out.WriteString(made + "import type { CallOptions } from './transport.js';\n")
	for _, name := range slices.Sorted(maps.Keys(api.Components.Schemas)) {
		of := api.Components.Schemas[name]
		out.WriteString("\n")
		writeRemark(out, "", of.Description)
		if of.Properties != nil {
			fmt.Fprintf(out, "export interface %s {\n%s}\n", name, of.fields(""))
			continue
		}
		fmt.Fprintf(out, "export type %s = %s;\n", name, of.text(""))
	}
	for i := range operations {
		o := &operations[i]
		if o.paramsName == "CallOptions" {
			continue
		}
		fmt.Fprintf(out, "\n/** What `%s` may be told. */\nexport interface %s extends CallOptions {\n", o.name, o.paramsName)
		for _, p := range o.params {
			writeField(out, p.field(), p.text(), p.Description, p.Required)
		}
		out.WriteString("}\n")
	}
	return out.String()
}
