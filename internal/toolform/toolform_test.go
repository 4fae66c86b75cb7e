package toolform_test

import (
	"encoding/json"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/toolform"
)

func TestName(t *testing.T) {
	for _, c := range [][3]string{{"", "ls", "ls"}, {"clock", "now", "clock__now"}, {"mcp__files__", "read", "mcp__files__read"}} {
		if got := toolform.Name(c[0], c[1]); got != c[2] {
			t.Errorf("%q of %q is %q, want %q", c[1], c[0], got, c[2])
		}
	}
}

func TestText(t *testing.T) {
	for _, text := range []string{"", "*** Begin\n+a \"b\" <c> & 中", `{"input":"x"}`, "\\n"} {
		if got := toolform.Text(toolform.Arguments(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
	for _, other := range []string{`{"patch":"x"}`, `[1]`, `{"input":5}`, `half`, `{"input":null}`} {
		if got := toolform.Text(json.RawMessage(other)); got != other {
			t.Errorf("%s is understood as %q", other, got)
		}
	}
}
