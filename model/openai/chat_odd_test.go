package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// chatOdd is what a server answers with a body of some media type, in 200.
func chatOdd(t *testing.T, mediaType, body string) (modeltest.Answer, error) {
	t.Helper()
	m := chatAnswered(t, "custom", "m", func(*http.Request) *http.Response {
		return chatReply(200, mediaType, strings.NewReader(body))
	})
	return modeltest.Read(m.Stream(t.Context(), modeltest.Plain()))
}

// Gateways give a stream another media type or none, a whole answer that of a stream, forget
// the blank line between events, or send a message in place of a delta.
func TestChatOddAnswers(t *testing.T) {
	const one, two = `{"choices":[{"index":0,"delta":{"content":"hel"}}]}`, `{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}`
	const whole = `{"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`
	const events = "data: " + one + "\n\ndata: " + two + "\n\n"
	for name, c := range map[string][2]string{
		"plain":              {"text/plain", events},
		"no type":            {"", "\ufeff\n: comment\n\n" + events},
		"as JSON":            {"application/json", events},
		"as bytes":           {"application/octet-stream", "event: message\n" + events},
		"whole, as a stream": {"text/event-stream", whole},
		"whole, in an event": {"text/event-stream", "data: " + whole + "\n\n"},
		"lines of JSON":      {"application/x-ndjson", one + "\n" + two + "\n"},
		"lines, as a stream": {"text/event-stream", one + "\n" + two},
		"no blank lines":     {"text/event-stream", "data: " + one + "\ndata: " + two + "\ndata: [DONE]\n"},
		"older form":         {"text/event-stream", `data: {"choices":[{"index":0,"text":"hello","finish_reason":"stop"}]}` + "\n\n"},
		"the message once more": {"text/event-stream", "data: " + one + "\n\ndata: " + strings.Replace(two, `"finish`, `"message":{"content":"hello"},"finish`, 1) +
			"\n\n"},
		"no problem": {"text/event-stream", strings.ReplaceAll(events, `{"choices"`, `{"code":0,"msg":"ok","base_resp":{"status_code":0},"choices"`)},
	} {
		a, err := chatOdd(t, c[0], c[1])
		if err != nil || a.Text != "hello" || a.Finish != scrollback.FinishStop {
			t.Errorf("%s: %q, %q, %v", name, a.Text, a.Finish, err)
		}
	}
}

// An error in place of an answer is told in the server's words, in whatever form it comes.
func TestChatErrorsInAnswers(t *testing.T) {
	for _, c := range [][2]string{
		{"application/json", `{"error_code":17,"error_msg":"WORDS"}`},
		{"application/json", `{"choices":null,"base_resp":{"status_code":1000,"status_msg":"WORDS"}}`},
		{"application/json", `{"code":17,"msg":"WORDS"}`},
		{"application/json", `{"errorMessage":"WORDS"}`},
		{"text/event-stream", "data: " + `{"base_resp":{"status_code":1000,"status_msg":"WORDS"}}` + "\n\n"},
		{"text/event-stream", "data: " + `{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"message":"WORDS"}}]}` + "\n\n"},
		{"text/event-stream", `error: {"error":{"message":"WORDS"}}` + "\n\n"},
		{"text/event-stream", "WORDS"},
		{"text/plain", "WORDS"},
	} {
		_, err := chatOdd(t, c[0], c[1])
		var known *scrollback.Error
		if !errors.As(err, &known) || known.Cause != "WORDS" {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

// Whatever a server calls it, an answer that was withheld for its content ends so.
func TestChatWithheld(t *testing.T) {
	for _, reason := range []string{"content_filter", "PROHIBITED_CONTENT", "content_filter: PROHIBITED_CONTENT", "SAFETY", "sensitive", "guardrail_intervened",
		"RECITATION"} {
		a, err := chatOdd(t, "text/event-stream", `data: {"choices":[{"index":0,"delta":{},"finish_reason":"`+reason+`"}]}`+"\n\n")
		if err != nil || a.Finish != "content_filter" {
			t.Errorf("%s: %q, %v", reason, a.Finish, err)
		}
	}
}
