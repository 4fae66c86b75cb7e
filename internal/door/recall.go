package door

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/splice"
)

// When models are offered tools that look up what was said, in conversations of clients of other APIs.
const (
	RecallAuto   = "auto"   // in a window of ours; the default
	RecallAlways = "always" // whenever the client offers tools of its own, and so with a window of ours
	RecallOff    = "off"    // never
)

// RecallModes are these.
var RecallModes = []string{RecallAuto, RecallAlways, RecallOff}

// wantsRecall reports whether a request is answered with a window of ours because its model is to be offered our tools:
// its client lets the model call some.
func (d *Door) wantsRecall(mode string, r *Request, o options) bool {
	return d.o.Recall == RecallAlways && mode != ModeRecord && len(o.Tools) > 0 && !forbidsTools(r.Body)
}

// forbidsTools reports whether a request says, in any dialect, that no tool may be called.
func forbidsTools(body []byte) bool {
	var plain string
	_ = json.Unmarshal(splice.GetField(body, "tool_choice"), &plain) // an object leaves it empty
	var choice struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(splice.GetField(body, "tool_choice"), &choice) // a text leaves it empty
	var gemini struct {
		Calling struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	}
	_ = json.Unmarshal(splice.GetField(body, "toolConfig"), &gemini)
	return slices.ContainsFunc([]string{plain, choice.Type, gemini.Calling.Mode},
		func(said string) bool { return strings.EqualFold(said, "none") })
}
