package window

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// An item is hashed by the bytes that json.Encoder writes of it, with which the marks of windows
// that were sent before were made.
func TestItemJSON(t *testing.T) {
	tools := []scrollback.Tool{{Name: "look", Description: "looks <up> & down",
		Parameters: json.RawMessage(`{ "type" : "object" }`)}}
	parts := []scrollback.Part{
		scrollback.Text{Text: "a < b & c > d \u2028 \u2029 \" \\ 港口 \x01"},
		scrollback.Text{Opaque: json.RawMessage(`{ "sign": "<x>" }`)},
		scrollback.ToolCall{ID: "c1", Name: "f", Arguments: json.RawMessage("{ \"a\" : [1,\n2] }")},
		scrollback.ToolResult{CallID: "c1", Name: "f", Text: "\xff is not UTF-8"},
		scrollback.Reasoning{Text: "why"},
		scrollback.Image{Artifact: "a1", MediaType: "image/png", Width: 3},
		scrollback.File{Artifact: "f1", Name: "a&b.txt"},
	}
	lists := []scrollback.Parts{nil, {}, parts}
	for _, p := range parts {
		lists = append(lists, scrollback.Parts{p})
	}
	for _, list := range lists {
		for _, tools := range [][]scrollback.Tool{nil, {}, tools} {
			it := scrollback.Item{Role: scrollback.RoleUser, Name: "Ada <&>", Parts: list}
			var want bytes.Buffer
			if err := json.NewEncoder(&want).Encode(struct {
				Role  scrollback.Role
				Name  string
				Parts scrollback.Parts
				Tools []scrollback.Tool `json:",omitempty"`
			}{it.Role, it.Name, it.Parts, tools}); err != nil {
				t.Fatal(err)
			}
			if got, err := itemJSON(it, tools); err != nil || string(got) != want.String() {
				t.Errorf("%s, %v\nwant %s", got, err, want.String())
			}
		}
	}
	broken := scrollback.Parts{scrollback.ToolCall{ID: "c1", Arguments: json.RawMessage(`{"a`)}}
	if _, err := itemJSON(scrollback.Item{Parts: broken}, nil); err == nil {
		t.Error("parts that are not JSON have bytes")
	}
}
