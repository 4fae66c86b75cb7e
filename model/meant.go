package model

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

var (
	// nameTail is what some models write behind a tool's name: the token that follows it in
	// their template, or the number of the call.
	nameTail = lazyregexp.New(`(?:<\|.*|:\d+)$`)
	// nameHead is the group of tools that a name is put under.
	nameHead = lazyregexp.New(`^.*(?:[.:/]|__)`)
)

// MatchTool returns the name of the one tool that a model meant with a name which no tool has:
// with a group before it, such as functions., or spelled in another way. A name that means no
// tool, or more than one, stays as it is.
func MatchTool(tools []scrollback.Tool, name string) string {
	for _, t := range tools {
		if t.Name == name {
			return name
		}
	}
	cut := nameTail().ReplaceAllString(strings.TrimSpace(name), "")
	for _, spelled := range []string{cut, nameHead().ReplaceAllString(cut, "")} {
		found := ""
		for _, t := range tools {
			if foldName(t.Name) == foldName(spelled) && foldName(spelled) != "" {
				if found != "" {
					return name
				}
				found = t.Name
			}
		}
		if found != "" {
			return found
		}
	}
	return name
}

// foldName returns a name without what is spelled in different ways.
func foldName(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// Unnamed is the name of a call that a model made without one, where no tool is meant for
// certain.
const Unnamed = "unnamed"

// MatchUnnamedTool returns the name of the one tool that a call without a name can mean: by its id,
// which some servers make of the name, or by arguments that no other tool takes. It is empty
// where that is not certain.
func MatchUnnamedTool(tools []scrollback.Tool, id string, arguments json.RawMessage) string {
	if meant := MatchTool(tools, id); meant != id {
		return meant
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil || len(given) == 0 {
		return ""
	}
	found := ""
	for _, t := range tools {
		var takes struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if json.Unmarshal(t.Parameters, &takes) != nil || !fitsArguments(given, takes.Properties, takes.Required) {
			continue
		}
		if found != "" {
			return ""
		}
		found = t.Name
	}
	return found
}

// fitsArguments reports whether arguments are all known to a tool, and all that it requires are there.
func fitsArguments(given, known map[string]json.RawMessage, required []string) bool {
	for name := range given {
		if _, ok := known[name]; !ok {
			return false
		}
	}
	for _, name := range required {
		if _, ok := given[name]; !ok {
			return false
		}
	}
	return true
}
