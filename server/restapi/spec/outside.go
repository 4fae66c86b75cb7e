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
}

// Readiness is what /readyz sends when the store can be read.
type Readiness struct {
	OK bool `json:"ok"`
}

// outside adds the operations of the server itself, which no handler here serves.
func outside(api *huma.OpenAPI) {
	r := api.Components.Schemas
	open := []map[string][]string{{}}
	for _, op := range []huma.Operation{
		{OperationID: "healthz", Path: "/healthz", Security: open, Responses: Returns(http.StatusOK, JSON[Health](r))},
		{OperationID: "livez", Path: "/livez", Security: open, Responses: Returns(http.StatusOK, JSON[Health](r))},
		{OperationID: "readyz", Path: "/readyz", Security: open, Responses: Returns(http.StatusOK, JSON[Readiness](r))},
		{OperationID: "metrics", Path: "/metrics", Responses: Returns(http.StatusOK, File("text/plain"))},
		{OperationID: "openapi", Path: "/openapi.json", Responses: Returns(http.StatusOK,
			Content{"application/openapi+json", &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}})},
	} {
		op.Method = http.MethodGet
		api.AddOperation(&op)
	}
}

// open lets the objects of responses have fields that are not known yet. Those of
// requests stay as they are.
func open(api *huma.OpenAPI) {
	w := walk{api.Components.Schemas, map[*huma.Schema]bool{}, nil}
	for _, p := range api.Paths {
		for _, op := range of(p) {
			if op.RequestBody != nil {
				for _, c := range op.RequestBody.Content {
					w.schema(c.Schema)
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
		w.contents(res)
	}
	for _, p := range api.Paths {
		for _, op := range of(p) {
			for _, res := range op.Responses {
				w.contents(res)
			}
		}
	}
}

// walk goes through schemas, to each once.
type walk struct {
	r     huma.Registry
	seen  map[*huma.Schema]bool
	visit func(*huma.Schema)
}

func (w walk) contents(res *huma.Response) {
	for _, c := range res.Content {
		w.schema(c.Schema)
	}
}

func (w walk) schema(s *huma.Schema) {
	if s == nil || w.seen[s] {
		return
	}
	w.seen[s] = true
	if s.Ref != "" {
		w.schema(w.r.SchemaFromRef(s.Ref))
		return
	}
	if w.visit != nil {
		w.visit(s)
	}
	for _, of := range s.Properties {
		w.schema(of)
	}
	for _, of := range s.OneOf {
		w.schema(of)
	}
	if each, ok := s.AdditionalProperties.(*huma.Schema); ok {
		w.schema(each)
	}
	w.schema(s.Items)
}

// SchemaTexts are what schemas.json says.
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
