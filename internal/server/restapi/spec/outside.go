package spec

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// Health is what /healthz sends.
type Health struct {
	OK      bool   `json:"ok"`
	Version string `json:"version"`
	Data    string `json:"data,omitempty"`
}

// Readiness is what /readyz sends when the store can be read.
type Readiness struct {
	OK bool `json:"ok"`
}

// addOutside adds the operations of the server itself, which no handler here serves.
func addOutside(api *huma.OpenAPI) {
	r := api.Components.Schemas
	open := []map[string][]string{{}}
	for _, op := range []huma.Operation{
		{OperationID: "healthz", Path: "/healthz", Security: open, Responses: Responses(http.StatusOK, JSON[Health](r))},
		{OperationID: "livez", Path: "/livez", Security: open, Responses: Responses(http.StatusOK, JSON[Health](r))},
		{OperationID: "readyz", Path: "/readyz", Security: open, Responses: Responses(http.StatusOK, JSON[Readiness](r))},
		{OperationID: "metrics", Path: "/metrics", Responses: Responses(http.StatusOK, FileContent("text/plain"))},
		{OperationID: "openapi", Path: "/openapi.json", Responses: Responses(http.StatusOK,
			Content{"application/openapi+json", &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}})},
	} {
		op.Method = http.MethodGet
		api.AddOperation(&op)
	}
}

// openObjects lets the objects of responses have fields that are not known yet. Those of
// requests stay as they are.
func openObjects(api *huma.OpenAPI) {
	w := schemaWalk{api.Components.Schemas, map[*huma.Schema]bool{}, nil}
	for _, p := range api.Paths {
		for _, op := range operationsOf(p) {
			if op.RequestBody != nil {
				for _, c := range op.RequestBody.Content {
					w.walkSchema(c.Schema)
				}
			}
		}
	}
	w.visit = func(s *huma.Schema) {
		if closed, ok := s.AdditionalProperties.(bool); ok && !closed {
			s.AdditionalProperties = nil
		}
	}
	for _, res := range api.Components.Responses {
		w.walkContents(res)
	}
	for _, p := range api.Paths {
		for _, op := range operationsOf(p) {
			for _, res := range op.Responses {
				w.walkContents(res)
			}
		}
	}
}

// schemaWalk goes through schemas, to each once.
type schemaWalk struct {
	r     huma.Registry
	seen  map[*huma.Schema]bool
	visit func(*huma.Schema)
}

func (w schemaWalk) walkContents(res *huma.Response) {
	for _, c := range res.Content {
		w.walkSchema(c.Schema)
	}
}

func (w schemaWalk) walkSchema(s *huma.Schema) {
	if s == nil || w.seen[s] {
		return
	}
	w.seen[s] = true
	if s.Ref != "" {
		w.walkSchema(w.r.SchemaFromRef(s.Ref))
		return
	}
	if w.visit != nil {
		w.visit(s)
	}
	for _, of := range s.Properties {
		w.walkSchema(of)
	}
	for _, of := range s.OneOf {
		w.walkSchema(of)
	}
	if each, ok := s.AdditionalProperties.(*huma.Schema); ok {
		w.walkSchema(each)
	}
	w.walkSchema(s.Items)
}

// SchemaTexts returns what schemas.json says.
func SchemaTexts() (map[string]string, error) {
	raw, err := files.ReadFile("schemas.json")
	if err != nil {
		return nil, err
	}
	var texts map[string]string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return nil, fmt.Errorf("schemas.json: %w", err)
	}
	return texts, nil
}

// describeSchemas adds what schemas.json says about schemas ("Message") and their fields
// ("Message.seq").
func describeSchemas(r huma.Registry) error {
	texts, err := SchemaTexts()
	if err != nil {
		return err
	}
	for at, text := range texts {
		name, field, of := strings.Cut(at, ".")
		s := r.Map()[name]
		if of && s != nil {
			s = s.Properties[field]
		}
		if s != nil {
			s.Description = text
		}
	}
	return nil
}
