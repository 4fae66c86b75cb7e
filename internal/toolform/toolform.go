// Package toolform translates between the tools of OpenAI's clients and the functions that models have for them: a tool
// of a namespace has one name, and a tool that is called with a text takes it as an argument.
//
// Invariants: [Text] of [Arguments] is the text.
//
// It may not know anything but names and arguments.
package toolform

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// Name returns the name that models have for a tool, which may be in a namespace.
func Name(namespace, name string) string {
	switch {
	case namespace == "":
		return name
	case strings.HasSuffix(namespace, "__"): // as Codex names those of MCP servers
		return namespace + name
	}
	return namespace + "__" + name
}

// Parameters is the JSON Schema of the arguments of a tool that is called with a text.
func Parameters() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)
}

// Arguments returns a text as a model gives it to a tool.
func Arguments(text string) json.RawMessage {
	b, err := plainjson.Marshal(map[string]string{"input": text})
	if err != nil {
		return json.RawMessage("{}") // a text is always JSON: not reached
	}
	return b
}

// Text returns the text that a model gave to a tool. Arguments in another form are the text as they are.
func Text(arguments json.RawMessage) string {
	var given struct {
		Input *string `json:"input"`
	}
	if json.Unmarshal(arguments, &given) == nil && given.Input != nil {
		return *given.Input
	}
	return string(arguments)
}
