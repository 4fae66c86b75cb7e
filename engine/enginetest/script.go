package enginetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// ChattyStep answers every second request with a recall call first, and others with
// a paragraph.
func ChattyStep() modeltest.Step {
	n := 0
	return modeltest.Step{Reply: func(r model.Request) []model.Delta {
		n++
		last := r.Items[len(r.Items)-1]
		if last.Role == scrollback.RoleUser && n%3 == 0 {
			c := Call(fmt.Sprint("r", n), "context_search", `{"query":"report","limit":2}`)
			return []model.Delta{{Call: &c}}
		}
		return []model.Delta{{Text: strings.Repeat(fmt.Sprintf("答复 number %d says so. ", n), 12)}}
	}}
}

// ClockTool is a tool of the client's, to be called with {}.
var ClockTool = []scrollback.Tool{{Name: "clock", Description: "Tells the time.",
	Parameters: json.RawMessage(`{"type":"object"}`)}}

// Call returns a call of a tool with arguments in JSON.
func Call(id, name, args string) scrollback.ToolCall {
	return scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}
