package door

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

// wireTool is a tool as one of the dialects defines it.
type wireTool struct {
	wireFunction
	Type         string         `json:"type"`
	Function     *wireFunction  `json:"function"`
	Declarations []wireFunction `json:"functionDeclarations"`

	Tools  []wireTool `json:"tools"` // of a namespace
	Format struct {
		Definition string `json:"definition"`
	} `json:"format"` // of the text of a custom one
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Schema      json.RawMessage `json:"input_schema"`
	JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
}

func (f wireFunction) tool() scrollback.Tool {
	t := scrollback.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters}
	for _, schema := range []json.RawMessage{f.Schema, f.JSONSchema} {
		if len(schema) > 0 {
			t.Parameters = schema
		}
	}
	return t
}

// readTools returns the tools that a request offers: those of its field, and in the dialect of responses those of its
// history. What a server would run itself is none.
func readTools(d threading.Dialect, wire []wireTool, body []byte) []scrollback.Tool {
	out := []scrollback.Tool{}
	for _, t := range wire {
		switch {
		case d == threading.Responses:
			out = t.appendResponses(out, "")
		case t.Function != nil:
			out = append(out, t.Function.tool())
		case len(t.Declarations) > 0:
			for _, f := range t.Declarations {
				out = append(out, f.tool())
			}
		case t.Name != "" && (d == threading.Messages || t.Type == "function"):
			out = append(out, t.tool())
		}
	}
	if d != threading.Responses {
		return out
	}
	named := len(out)
	for _, t := range readAddedTools(body) {
		out = t.appendResponses(out, "")
	}
	for i := range out[named:] {
		out[named+i].Form.InHistory = true
	}
	// What comes later takes the place of what has its name.
	seen := map[string]bool{}
	kept := []scrollback.Tool{}
	for _, t := range slices.Backward(out) {
		if !seen[t.Name] {
			seen[t.Name] = true
			kept = append(kept, t)
		}
	}
	slices.Reverse(kept)
	return kept
}

// addedTools is the kind of an item by which Codex offers tools.
const addedTools = "additional_tools"

// readAddedTools returns the tools that the history of a request offers.
func readAddedTools(body []byte) (out []wireTool) {
	kind := []byte(`"` + addedTools + `"`)
	if !bytes.Contains(body, kind) {
		return nil
	}
	input := splice.GetField(body, "input")
	if len(input) == 0 || input[0] != '[' {
		return nil
	}
	for _, s := range splice.ListSpans(input) {
		if !bytes.Contains(input[s.From:s.To], kind) {
			continue
		}
		var item struct {
			Type  string     `json:"type"`
			Tools []wireTool `json:"tools"`
		}
		if json.Unmarshal(input[s.From:s.To], &item) == nil && item.Type == addedTools {
			out = append(out, item.Tools...)
		}
	}
	return out
}

// toolName is what every model's server takes.
var toolName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// textParameters are the parameters of a tool that is called with a text.
var textParameters = json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)

// appendResponses appends a tool of the dialect of responses, or those of a namespace. One whose name no server takes
// is left out.
func (t wireTool) appendResponses(out []scrollback.Tool, namespace string) []scrollback.Tool {
	if t.Type == "namespace" && namespace == "" {
		for _, one := range t.Tools {
			out = one.appendResponses(out, t.Name)
		}
		return out
	}
	tool := t.tool()
	tool.Name = dialect.NamespacedName(namespace, t.Name)
	if namespace != "" {
		tool.Form.Namespace = namespace
		tool.Form.Name = t.Name
	}
	if t.Type == "custom" {
		tool.Form.Text = true
		tool.Parameters = textParameters
		if t.Format.Definition != "" {
			tool.Description += "\n\nThe input has this form:\n" + t.Format.Definition
		}
	}
	if t.Type != "function" && t.Type != "custom" || !toolName.MatchString(tool.Name) {
		return out
	}
	return append(out, tool)
}

// formedTools returns those of some tools that the client has in another form than models do.
func formedTools(all []scrollback.Tool) (out []scrollback.Tool) {
	for _, t := range all {
		if t.Form != (scrollback.ToolForm{}) {
			out = append(out, t)
		}
	}
	return out
}
