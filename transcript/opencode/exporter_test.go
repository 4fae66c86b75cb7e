package opencode_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback/transcript/opencode"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// What is said, called and returned comes back from an export, once and in its order, as of the conversation it was.
// Thoughts of another model are not sent again, and only answers that failed are marked so that they are not.
func TestExportAndBack(t *testing.T) {
	file := tooltest.RunExporter(t, opencode.Tool{}, opencode.Tool{}, "x.json")
	var got struct {
		Info struct {
			ID string `json:"id"`
		} `json:"info"`
		Messages []struct {
			Info struct {
				Error *struct{ Name string }
			}
			Parts []struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(file, &got); err != nil || got.Info.ID != "ses_01a1fb8d00007000800000000000000d" {
		t.Fatalf("%v, %+v", err, got.Info)
	}
	var failed []string
	for _, m := range got.Messages {
		for _, p := range m.Parts {
			if p.Type == "reasoning" && p.Text != "" {
				t.Errorf("a thought would be sent: %q", p.Text)
			}
		}
		if m.Info.Error != nil {
			failed = append(failed, m.Info.Error.Name)
		}
	}
	if !slices.Equal(failed, []string{"MessageAbortedError", "UnknownError"}) {
		t.Errorf("%v", failed)
	}
}
