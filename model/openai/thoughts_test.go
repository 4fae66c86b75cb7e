package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// What a server sends of thoughts within what is said is a thought, however it comes in pieces; it goes back to its
// model as it came, and to no other.
func TestChatThoughtsInContent(t *testing.T) {
	for _, c := range []struct {
		pieces          []string
		thought, answer string
	}{
		{[]string{"<think>\nwhy?\n</think>\n\nbecause"}, "\nwhy?", "because"},
		{[]string{"<th", "ink>wh", "y?</thi", "nk>", "\n\nbec", "ause"}, "why?", "because"},
		{[]string{"\n", "<thinking>", "why? < 3 ", "</thinking>", "because <think>not</think>"}, "why? < 3",
			"because <think>not</think>"},
		{[]string{"<thought>why?", "</thought>because"}, "why?", "because"},
		{[]string{"<think>", "why? </th"}, "why? </th", ""},
		{[]string{"<think>\n\n</think>\n\n", "because"}, "", "because"},
		{[]string{"<", "b>because</b>"}, "", "<b>because</b>"},
	} {
		var sent string
		m := chatAnswered(t, "custom", "m", func(r *http.Request) *http.Response {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			sent = string(body)
			var stream strings.Builder
			for _, p := range c.pieces {
				piece, err := json.Marshal(p)
				if err != nil {
					t.Error(err)
				}
				stream.WriteString(`data: {"choices":[{"index":0,"delta":{"content":` + string(piece) + `}}]}` + "\n\n")
			}
			stream.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
			return chatReply(200, "text/event-stream", strings.NewReader(stream.String()))
		})
		whole := strings.Join(c.pieces, "")
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if err != nil || a.Text != c.answer || a.Reasoning != c.thought || a.Finish != scrollback.FinishStop {
			t.Errorf("%q: thinks %q and says %q, %q, %v", c.pieces, a.Reasoning, a.Text, a.Finish, err)
		}
		parts := modeltest.StoredParts(a.Deltas)
		if parts.Text() != c.answer {
			t.Errorf("%q is stored as %+v", c.pieces, parts)
		}
		for name, want := range map[string]string{m.Facts().Name: whole, "other/model": c.answer} {
			r := modeltest.PlainRequest()
			r.Items[1].Parts = parts
			r.Items[1].Model = name
			if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Messages []struct{ Role, Content string }
			}
			if err := json.Unmarshal([]byte(sent), &got); err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, m := range got.Messages {
				if m.Role == "assistant" {
					said = m.Content
				}
			}
			if said != want {
				t.Errorf("%q goes back to %s as %q, want %q", c.pieces, name, said, want)
			}
		}
	}
}
