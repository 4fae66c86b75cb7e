package scrollback

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Bounds of a client's tools.
const (
	maxTools     = 128
	maxToolBytes = 64 << 10 // of all definitions
)

// toolName is what every wire takes.
var toolName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
})

// Tool is a function a model may call. Parameters is a JSON Schema.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`

	// Form says how the client has the tool, where it differs from a function with this name. Models are not told.
	Form ToolForm `json:"form,omitzero"`
}

// ToolForm says how a client of another API has a tool. The zero value is a function that is called as it is named.
type ToolForm struct {
	// Namespace and Name are the client's, where its tool is in a namespace.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Text says that it is called with a text in place of arguments. A model gives the text as the argument "input".
	Text bool `json:"text,omitempty"`
	// InHistory says that the client offered it within its history, so that it also holds in requests that continue
	// that history.
	InHistory bool `json:"in_history,omitempty"`
}

// IsToolName reports whether every model's server takes a name for a tool.
func IsToolName(name string) bool { return toolName().MatchString(name) }

// CheckTools returns an error if a client's tools cannot be used, and fills in
// parameters that are missing.
func CheckTools(tools []Tool) error {
	const op = "scrollback.CheckTools"
	if len(tools) > maxTools {
		return ParamErrorf(op, "tools", i18n.TooManyTools, maxTools)
	}
	size := 0
	seen := map[string]bool{}
	for i := range tools {
		t := &tools[i]
		switch {
		case !IsToolName(t.Name):
			return ParamErrorf(op, "tools",
				i18n.ToolNameInvalid, i)
		case strings.HasPrefix(t.Name, RecallPrefix):
			return ParamErrorf(op, "tools", i18n.ToolNameReserved, t.Name, RecallPrefix)
		case seen[t.Name]:
			return ParamErrorf(op, "tools", i18n.ToolGivenTwice, t.Name)
		}
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		seen[t.Name] = true
		size += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	if size > maxToolBytes {
		return ParamErrorf(op, "tools", i18n.ToolDefinitionsTooLarge, size, maxToolBytes)
	}
	return nil
}
