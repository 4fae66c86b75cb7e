package nearest_test

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/nearest"
)

func TestOf(t *testing.T) {
	known := []string{"message", "message_id", "model", "limit", "tools", "tool_results", "q"}
	for name, want := range map[string]string{"mesage": "message", "Message": "message", "messageId": "message_id",
		"message-id": "message_id",
		"moedl":      "model", "toolResults": "tool_results", "limits": "limit", "temperature": "", "x": "", "": "", "工具": "",
		"query": "", strings.Repeat("message", 20): ""} {
		if got := nearest.FindNearest(name, known); got != want {
			t.Errorf("near %q is %q, not %q", name, got, want)
		}
	}
}
