package model

import (
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

var (
	// nameTail is what some models write behind a tool's name: the token that follows it in
	// their template, or the number of the call.
	nameTail = regexp.MustCompile(`(?:<\|.*|:\d+)$`)
	// nameHead is the group of tools that a name is put under.
	nameHead = regexp.MustCompile(`^.*(?:[.:/]|__)`)
)

// ToolMeant is the name of the one tool that a model meant with a name which no tool has:
// with a group before it, such as functions., or spelled in another way. A name that means no
// tool, or more than one, stays as it is.
func ToolMeant(tools []scrollback.Tool, name string) string {
	for _, t := range tools {
		if t.Name == name {
			return name
		}
	}
	cut := nameTail.ReplaceAllString(strings.TrimSpace(name), "")
	for _, spelled := range []string{cut, nameHead.ReplaceAllString(cut, "")} {
		found := ""
		for _, t := range tools {
			if letters(t.Name) == letters(spelled) && letters(spelled) != "" {
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

// letters is a name without what is spelled in different ways.
func letters(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}
