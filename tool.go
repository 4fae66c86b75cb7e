package scrollback

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Bounds of a client's tools.
const (
	maxTools     = 128
	maxToolBytes = 64 << 10 // of all definitions
)

// toolName is what every wire takes.
var toolName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// CheckTools returns an error if a client's tools cannot be used, and fills in
// parameters that are missing.
func CheckTools(tools []Tool) error {
	const op = "scrollback.CheckTools"
	if len(tools) > maxTools {
		return ParamErrorf(op, "tools", "at most %d tools can be given", maxTools)
	}
	size := 0
	seen := map[string]bool{}
	for i := range tools {
		t := &tools[i]
		switch {
		case !toolName.MatchString(t.Name):
			return ParamErrorf(op, "tools",
				"tool %d: a name has 1 to 64 ASCII letters, digits, _ and -, and begins with a letter or _", i)
		case strings.HasPrefix(t.Name, RecallPrefix):
			return ParamErrorf(op, "tools", "tool %q: names that begin with %s are reserved", t.Name, RecallPrefix)
		case seen[t.Name]:
			return ParamErrorf(op, "tools", "tool %q is given twice", t.Name)
		}
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		seen[t.Name] = true
		size += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	if size > maxToolBytes {
		return ParamErrorf(op, "tools", "the definitions are %d bytes, at most %d can be given", size, maxToolBytes)
	}
	return nil
}
