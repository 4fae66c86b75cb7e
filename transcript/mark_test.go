package transcript_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// The mark of a message never changes: it is how a message that was imported once is known again.
func TestMarksStayAsTheyAre(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "<a> & b\u2028", "\x00\xff\"\\", "\\u003c"}))
	rapid.Check(t, func(t *rapid.T) {
		m := scrollback.Message{ID: "m", Role: scrollback.RoleTool, Name: text.Draw(t, "name"),
			Model:     text.Draw(t, "model"),
			CreatedAt: rapid.Int64().Draw(t, "at")}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			m.Parts = append(m.Parts, rapid.SampledFrom([]scrollback.Part{scrollback.Text{Text: text.Draw(t, "text")},
				scrollback.ToolResult{CallID: "c", Name: "n", Text: text.Draw(t, "result")},
				scrollback.ToolCall{ID: "c", Name: text.Draw(t, "call"),
					Arguments: json.RawMessage("{ \"a<\": [1, \"\u2028\"] }")},
				scrollback.Reasoning{Text: text.Draw(t, "thought"), Opaque: json.RawMessage(`"<"`)}}).Draw(t, "part"))
		}
		body, err := json.Marshal([]any{m.Role, m.Name, m.Parts, m.Model, m.CreatedAt})
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(body)
		meta, err := transcript.ImportMark(transcript.Entry{Message: m})
		if got, want := transcript.MarkOf(meta), hex.EncodeToString(sum[:12]); err != nil || got != want {
			t.Fatalf("the mark of %s is %s, %v, want %s", body, got, err, want)
		}
	})
}
