package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/door"
)

// TestDoorRecall offers a client's model our tools where the setting says so: with a window of ours, and with always
// whenever the client lets its model call tools.
func TestDoorRecall(t *testing.T) {
	const tools = `"odd_field":1,"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}],`
	for _, c := range []struct {
		recall, mode, extra string
		forwarded, offers   bool
	}{
		{"", "", tools, true, false},
		{door.RecallAuto, door.ModeWindow, tools, false, true},
		{door.RecallAlways, "", tools, false, true},
		{door.RecallAlways, "", `"odd_field":1,`, true, false},
		{door.RecallAlways, "", tools + `"tool_choice":"none",`, true, false},
		{door.RecallAlways, "", tools + `"tool_choice":{"type":"none"},`, true, false},
		{door.RecallAlways, "", tools + `"tool_choice":"auto",`, false, true},
		{door.RecallAlways, door.ModeRecord, tools, true, false},
		{door.RecallOff, "", tools, true, false},
		{door.RecallOff, door.ModeWindow, tools, false, false},
	} {
		d := newDoorRig(t, door.Options{Recall: c.recall, Mode: c.mode})
		resp, answer := d.post("/v1/chat/completions", chatBody(c.extra, sayAs("user", "Hello")))
		sent := d.up.sent()[0]
		if resp.StatusCode != http.StatusOK || d.forwards() != c.forwarded ||
			strings.Contains(sent, "context_read") != c.offers {
			t.Errorf("%s %s %s: %d %s\nsent %s", c.recall, c.mode, c.extra, resp.StatusCode, answer, sent)
		}
		if strings.Contains(c.extra, "ls") != strings.Contains(sent, `"ls"`) {
			t.Errorf("%s %s: the client's own tools: %s", c.recall, c.mode, sent)
		}
	}
}
