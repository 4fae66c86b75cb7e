package geminicli_test

import (
	"encoding/json"
	"fmt"
	"testing"

	ours "github.com/scrollback-ai/scrollback/internal/told"
)

// What a hook of this program told the tool is no part of what a person said, whether it is a part of its own or, as
// without a terminal, the beginning of the prompt's text.
func TestToldIsLeftOut(t *testing.T) {
	given := ours.Head + "\n" + `[{"when":"2026-11-20","says":"the lease ends"}]` + "\n" + ours.Tail
	wrapped := "<hook_context>" + given + "</hook_context>"
	quoted := func(s string) string {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for _, content := range []string{
		fmt.Sprintf(`[{"text":%s},{"text":"When does it end?"}]`, quoted(wrapped)),
		fmt.Sprintf(`[{"text":%s}]`, quoted(wrapped+"\n\nWhen does it end?")),
		fmt.Sprintf(`[{"text":"When does it end?"},{"text":%s}]`, quoted(wrapped)),
	} {
		got := load(t, `{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z",`+
			`"lastUpdated":"2026-01-01T00:00:00.000Z"}`+"\n"+
			fmt.Sprintf(`{"id":"1","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":%s}`+"\n", content))
		if len(got.path) != 1 || got.path[0].Message.Parts.Text() != "When does it end?" {
			t.Errorf("%s is read as %+v", content, got.path)
		}
	}
}
