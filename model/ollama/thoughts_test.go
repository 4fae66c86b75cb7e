package ollama_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// What a model without a parser of its own sends of thoughts within its content is a thought, and goes back as it came.
func TestThoughtsInContent(t *testing.T) {
	const lines = `{"message":{"content":"<thi"},"done":false}
{"message":{"content":"nk>why?\n</think>\n"},"done":false}
{"message":{"content":"\nbecause"},"done":false}
{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":5}
`
	const whole = "<think>why?\n</think>\n\nbecause"
	var sent []byte
	m := serve(t, "m", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, lines)
	}))
	a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
	if err != nil || a.Text != "because" || a.Reasoning != "why?" || a.Finish != "stop" {
		t.Fatalf("thinks %q and says %q, %q, %v", a.Reasoning, a.Text, a.Finish, err)
	}
	for name, want := range map[string]string{m.Facts().Name: whole, "other/model": "because"} {
		r := modeltest.PlainRequest()
		r.Items[1].Parts = modeltest.StoredParts(a.Deltas)
		r.Items[1].Model = name
		if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil {
			t.Fatal(err)
		}
		content, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(content))
		if !strings.Contains(string(sent), `"content":`+plain) {
			t.Errorf("it goes back to %s as %s", name, sent)
		}
	}
}
