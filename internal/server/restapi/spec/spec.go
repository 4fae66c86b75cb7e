// Package spec completes the description of the API that /openapi.json serves.
//
// The types of the handlers say which fields there are. The rest stands in sheets, one
// JSON file an operation in the folder operations: its tag and description, what its
// statuses mean, and an example. A request in an example may name what another example's
// response holds, as in "$create-conversation.id"; a test sends every example to a real
// server, holds all that comes back against the description, and records the responses
// (go test ./internal/server -run TestExamples -update).
//
// Words it adds: sheet (what is written about one operation), union (a schema of several
// forms that differ in their field "type"), outside (an operation of the server itself,
// beside the API).
//
// Invariants: an operation without a sheet is served and described by its types alone, and
// a test fails that names the file; what a request may hold is not changed here, so that
// nothing is checked less strictly than the handlers' types say.
//
// It knows the root's types and the library that describes handlers, and no handler.
package spec

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"
)

//go:embed operations schemas.json
var files embed.FS

// Sheet is what is written about one operation.
type Sheet struct {
	Tag         string              `json:"tag"`
	Summary     string              `json:"summary,omitempty"` // a title; default: what the handler says
	Description string              `json:"description"`
	Parameters  map[string]string   `json:"parameters,omitempty"` // descriptions of those that have none
	Values      map[string][]string `json:"values,omitempty"`     // what a parameter may be
	Returns     map[string]string   `json:"returns"`              // what a response holds, by its status
	Errors      []int               `json:"errors,omitempty"`     // besides those that every such operation has
	Bodies      []Body              `json:"bodies,omitempty"`     // what else may be sent, in the place of the example's
	Example     Example             `json:"example"`
}

// Body is another body for the request of an example, without headers, that is answered with the same status.
type Body struct {
	Name    string          `json:"name"`
	Summary string          `json:"summary"`
	Body    json.RawMessage `json:"body"`
}

// folder is where the sheets are.
const folder = "operations"

// Sheets are all of them, by operation.
var Sheets = sync.OnceValues(func() (map[string]*Sheet, error) {
	entries, err := files.ReadDir(folder)
	out := map[string]*Sheet{}
	for _, e := range entries {
		raw, err := files.ReadFile(path.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		s := &Sheet{}
		if err := json.Unmarshal(raw, s); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		out[strings.TrimSuffix(e.Name(), ".json")] = s
	}
	return out, err
})
