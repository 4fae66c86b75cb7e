package door

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/toolform"
)

// wireTool is a tool as one of the dialects defines it.
type wireTool struct {
	wireFunction
	Type         string         `json:"type"`
	Function     *wireFunction  `json:"function"`
	Custom       *wireTool      `json:"custom"`
	Declarations []wireFunction `json:"functionDeclarations"`

	Tools  []wireTool `json:"tools"`  // of a namespace
	Format wireFormat `json:"format"` // of the text that a custom one takes
}

// wireFormat is the form of a text: a grammar stands beside its name, or in an object of its own.
type wireFormat struct {
	Definition string `json:"definition"`
	Grammar    struct {
		Definition string `json:"definition"`
	} `json:"grammar"`
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

// textTool returns a tool that takes a text.
func (t wireTool) textTool() scrollback.Tool {
	tool := t.tool()
	tool.Form.Text = true
	tool.Parameters = toolform.Parameters()
	if form := t.Format.Definition + t.Format.Grammar.Definition; form != "" {
		tool.Description += "\n\nThe input has this form:\n" + form
	}
	return tool
}

// readTools returns the tools that a request offers: those of its field, and in the dialect of responses those in its
// history. Tools that a server would run itself are left out.
func readTools(d threading.Dialect, wire []wireTool, body []byte) []scrollback.Tool {
	out := []scrollback.Tool{}
	for _, t := range wire {
		switch {
		case d == threading.Responses:
			out = t.appendResponses(out, "")
		case t.Function != nil:
			out = append(out, t.Function.tool())
		case t.Custom != nil:
			out = append(out, t.Custom.textTool())
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
	// Of tools with the same name, the last one counts.
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

// appendResponses appends a tool of the dialect of responses, or the tools of a namespace. One whose name some server
// would refuse is left out.
func (t wireTool) appendResponses(out []scrollback.Tool, namespace string) []scrollback.Tool {
	if t.Type == "namespace" && namespace == "" {
		for _, one := range t.Tools {
			out = one.appendResponses(out, t.Name)
		}
		return out
	}
	var tool scrollback.Tool
	switch t.Type {
	case "function":
		tool = t.tool()
	case "custom":
		tool = t.textTool()
	default:
		return out
	}
	if namespace != "" {
		tool.Form.Namespace = namespace
		tool.Form.Name = t.Name
		tool.Name = toolform.Name(namespace, t.Name)
	}
	if !scrollback.IsToolName(tool.Name) {
		return out
	}
	return append(out, tool)
}

// formedTools returns the tools that the client has in another form than models do.
func formedTools(all []scrollback.Tool) (out []scrollback.Tool) {
	for _, t := range all {
		if t.Form != (scrollback.ToolForm{}) {
			out = append(out, t)
		}
	}
	return out
}
