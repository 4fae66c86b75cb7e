package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
)

// document is /openapi.json as a client reads it.
type document struct {
	*testing.T
	Paths      map[string]map[string]described
	Components struct {
		Schemas   map[string]any
		Responses map[string]answered
	}
	Tags   []struct{ Name string }
	schema map[string]*jsonschema.Resolved
}

type described struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []struct {
		Name, In, Description string
		Example               any
		Required              bool
	}
	RequestBody *struct {
		Content map[string]media
	}
	Responses map[string]answered
}

type answered struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]media
}

type media struct {
	Schema            json.RawMessage
	Example, Examples json.RawMessage
}

// readDocument reads the description that a server serves.
func readDocument(t *testing.T, at http.Handler) *document {
	t.Helper()
	w := httptest.NewRecorder()
	at.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/openapi.json", nil))
	d := &document{T: t, schema: map[string]*jsonschema.Resolved{}}
	if err := json.Unmarshal(w.Body.Bytes(), d); err != nil || w.Code != http.StatusOK {
		t.Fatalf("/openapi.json: %d, %v", w.Code, err)
	}
	for _, s := range d.Components.Schemas {
		closeObjects(s)
	}
	return d
}

// closeObjects refuses fields that a schema does not name: clients may get more in later
// versions, but what is sent today is described.
func closeObjects(v any) {
	switch of := v.(type) {
	case map[string]any:
		if of["properties"] != nil && of["additionalProperties"] == nil {
			of["additionalProperties"] = false
		}
		for _, each := range of {
			closeObjects(each)
		}
	case []any:
		for _, each := range of {
			closeObjects(each)
		}
	}
}

// operation finds the operation that a request reaches, and its path.
func (d *document) operation(method, at string) (described, string) {
	best := ""
	for template := range d.Paths {
		match, err := path.Match(patternOf(template), at)
		known := d.Paths[template][strings.ToLower(method)].OperationID != ""
		if err == nil && match && known && (best == "" || !strings.Contains(template, "{")) {
			best = template
		}
	}
	return d.Paths[best][strings.ToLower(method)], best
}

// patternOf returns a path of the document as a pattern for package path.
func patternOf(template string) string {
	parts := strings.Split(template, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// holds checks JSON against a schema of the document.
func (d *document) holds(schema json.RawMessage, value []byte) error {
	key := string(schema)
	if d.schema[key] == nil {
		whole := map[string]any{"$defs": d.Components.Schemas}
		if err := json.Unmarshal(schema, &whole); err != nil {
			return fmt.Errorf("the schema %s: %w", schema, err)
		}
		raw, err := json.Marshal(whole)
		if err != nil {
			return err
		}
		raw = bytes.ReplaceAll(raw, []byte("#/components/schemas/"), []byte("#/$defs/"))
		var s jsonschema.Schema
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("the schema %s: %w", schema, err)
		}
		if d.schema[key], err = s.Resolve(nil); err != nil {
			return fmt.Errorf("the schema %s: %w", schema, err)
		}
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return d.schema[key].Validate(v)
}

// conforms checks a response against what the document says about its operation.
func (d *document) conforms(method, at string, w *httptest.ResponseRecorder) {
	d.Helper()
	u, err := url.Parse(at)
	if err != nil {
		d.Fatal(err)
	}
	op, _ := d.operation(method, u.EscapedPath())
	if op.OperationID == "" {
		return // nobody serves it
	}
	res, ok := op.Responses[fmt.Sprint(w.Code)]
	if !ok {
		d.Errorf("%s %s sends status %d, which /openapi.json does not say: add it to \"errors\" or \"returns\" of "+
			"server/restapi/spec/operations/%s.json\n%s", method, at, w.Code, op.OperationID, w.Body)
		return
	}
	if res.Ref != "" {
		res = d.Components.Responses[path.Base(res.Ref)]
	}
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	if len(res.Content) == 0 && w.Body.Len() == 0 {
		return
	}
	of, ok := res.Content[kind]
	if !ok {
		of, ok = res.Content["*/*"]
	}
	if !ok {
		d.Errorf("%s %s (%s) sends %q with status %d, which /openapi.json does not say", method, at, op.OperationID, kind,
			w.Code)
		return
	}
	values := [][]byte{w.Body.Bytes()}
	switch kind {
	case "application/json":
	case spec.Stream:
		values = frames(w.Body.Bytes())
	default:
		return // a file
	}
	for _, v := range values {
		if err := d.holds(of.Schema, v); err != nil {
			d.Errorf("%s %s (%s) sends with status %d what /openapi.json does not say: %v\n%s", method, at, op.OperationID,
				w.Code, err, v)
		}
	}
}

// frames returns the data of the events of a stream.
func frames(stream []byte) (out [][]byte) {
	for line := range bytes.Lines(stream) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok && string(data) != "[DONE]" {
			out = append(out, data)
		}
	}
	return out
}

// Every operation says what it is, what it takes, sends and refuses, and has an example.
func TestEveryOperationIsDescribed(t *testing.T) {
	d := newStrictRig(t).doc
	sheets, err := spec.Sheets()
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{}
	for _, tag := range d.Tags {
		tags[tag.Name] = true
	}
	met := map[string]bool{}
	for at, item := range d.Paths {
		for method, op := range item {
			met[op.OperationID] = true
			lacks := func(what string) {
				t.Errorf("%s %s (%s) has no %s: write it into internal/server/restapi/spec/operations/%s.json", strings.ToUpper(method), at,
					op.OperationID, what, op.OperationID)
			}
			if sheets[op.OperationID] == nil {
				lacks(`description, tag and example (the file does not exist; copy one like it, and run "go test ./internal/server -run ` +
					`TestExamples -update" for the response)`)
				continue
			}
			for what, missing := range map[string]bool{"summary": op.Summary == "", "description": op.Description == "",
				"tag that is known": len(op.Tags) != 1 || !tags[op.Tags[0]]} {
				if missing {
					lacks(what)
				}
			}
			for _, p := range op.Parameters {
				if p.Description == "" {
					lacks(fmt.Sprintf("description of the parameter %q", p.Name))
				}
				if p.Required && p.Example == nil {
					lacks(fmt.Sprintf("example of the parameter %q", p.Name))
				}
			}
			success := 0
			failure := 0
			for status, res := range op.Responses {
				if status[0] != '2' {
					failure++
					continue
				}
				success++
				if res.Description == "" || res.Description == http.StatusText(http.StatusOK) {
					lacks("text about what it returns with status " + status)
				}
				for kind, of := range res.Content {
					if len(of.Schema) < len(`{"type":""}`) {
						lacks("schema of " + kind)
					}
				}
			}
			if success == 0 || failure == 0 && strings.HasPrefix(at, "/api/") {
				lacks("response, or no error")
			}
			if op.RequestBody != nil && sheets[op.OperationID].Example.Body == nil {
				lacks("example of a body")
			}
			if !sheets[op.OperationID].Example.HasResponse() {
				lacks(`response of its example: run "go test ./internal/server -run TestExamples -update"; nothing is to be`)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sheets)) {
		if !met[name] {
			t.Errorf("operations/%s.json describes an operation that does not exist", name)
		}
	}
	if len(met) < 30 {
		t.Errorf("only %d operations were found", len(met))
	}
}

// Every schema says what it is, and nothing is said about one that does not exist.
func TestEverySchemaIsDescribed(t *testing.T) {
	d := newStrictRig(t).doc
	for name, s := range d.Components.Schemas {
		if of, ok := s.(map[string]any); !ok || of["description"] == nil {
			t.Errorf("the schema %s has no description: write one into server/restapi/spec/schemas.json", name)
		}
	}
	texts, err := spec.SchemaTexts()
	if err != nil {
		t.Fatal(err)
	}
	for at := range texts {
		name, field, ofField := strings.Cut(at, ".")
		s, _ := d.Components.Schemas[name].(map[string]any)
		fields, _ := s["properties"].(map[string]any)
		if s == nil || ofField && fields[field] == nil {
			t.Errorf("schemas.json describes %s, which does not exist", at)
		}
	}
}

// The numbers of a policy are described wherever they can be given, under their new name.
func TestCompactionIsDescribed(t *testing.T) {
	d := newStrictRig(t).doc
	for _, name := range []string{"ChatBody", "CompactRequest", "SettingsBody", "Settings"} {
		s, _ := d.Components.Schemas[name].(map[string]any)
		of, _ := s["properties"].(map[string]any)
		if of["compaction"] == nil || of["folding"] != nil {
			t.Errorf("%s: compaction is %s, folding %s", name, of["compaction"], of["folding"])
		}
	}
}
