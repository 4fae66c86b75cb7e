package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// chatOdd returns what a server answers with a body of some media type, in 200.
func chatOdd(t *testing.T, mediaType, body string) (modeltest.Answer, error) {
	t.Helper()
	m := chatAnswered(t, "custom", "m", func(*http.Request) *http.Response {
		return chatReply(200, mediaType, strings.NewReader(body))
	})
	return modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
}

// Gateways give a stream another media type or none, a whole answer that of a stream, forget
// the blank line between events, or send a message in place of a delta.
func TestChatOddAnswers(t *testing.T) {
	const one = `{"choices":[{"index":0,"delta":{"content":"hel"}}]}`
	const two = `{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}`
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
		"older form": {"text/event-stream",
			`data: {"choices":[{"index":0,"text":"hello","finish_reason":"stop"}]}` + "\n\n"},
		"the message once more": {"text/event-stream", "data: " + one + "\n\ndata: " +
			strings.Replace(two, `"finish`, `"message":{"content":"hello"},"finish`, 1) +
			"\n\n"},
		"no problem": {"text/event-stream", strings.ReplaceAll(events, `{"choices"`,
			`{"code":0,"msg":"ok","base_resp":{"status_code":0},"choices"`)},
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
		{"text/event-stream", "data: " +
			`{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"message":"WORDS"}}]}` + "\n\n"},
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
	for _, reason := range []string{"content_filter", "PROHIBITED_CONTENT", "content_filter: PROHIBITED_CONTENT", "SAFETY",
		"sensitive", "guardrail_intervened",
		"RECITATION"} {
		a, err := chatOdd(t, "text/event-stream",
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"`+reason+`"}]}`+"\n\n")
		if err != nil || a.Finish != "content_filter" {
			t.Errorf("%s: %q, %v", reason, a.Finish, err)
		}
	}
}

// What a server put beside a call goes back with it as it came, whatever it is called, until
// the server refuses it; a model of another name never gets it.
func TestChatFieldsBesideCalls(t *testing.T) {
	const piece = `{"index":0,"id":"a1","type":"function","thought_signature":"SIG==","meta":{"b":[1,"<2>"],"a":null},"note":null,` +
		`"function":{"name":"context_grep","arguments":"{}","signature":"F="}}`
	answer := `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + piece + `]},"finish_reason":"tool_calls"}]}` +
		"\n\n"
	for _, c := range []struct {
		by, refusal string
		has, hasNot []string
		tries       int
	}{
		{"custom/m", "", []string{`"thought_signature":"SIG=="`, `"meta":{"b":[1,"<2>"],"a":null}`, `"signature":"F="`},
			[]string{`"note"`}, 1},
		{"custom/other", "", nil, []string{"SIG==", "meta", "F="}, 1},
		{"custom/m", "meta", []string{`"thought_signature":"SIG=="`, `"signature":"F="`}, []string{`"meta"`}, 2},
	} {
		a, err := chatOdd(t, "text/event-stream", answer)
		if err != nil || len(a.Calls) != 1 {
			t.Fatalf("%+v, %v", a.Calls, err)
		}
		call := a.Calls[0]
		var bodies []string
		m := chatAnswered(t, "custom", "m", func(r *http.Request) *http.Response {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			bodies = append(bodies, string(b))
			if c.refusal != "" && strings.Contains(string(b), c.refusal) {
				return chatReply(422, "application/json", strings.NewReader(
					`{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"tool_calls",0,"`+
						c.refusal+`"],"msg":"Extra inputs are not permitted"}]}`))
			}
			return chatReply(200, "application/json",
				strings.NewReader(`{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`))
		})
		r := modeltest.PlainRequest()
		r.Items = append(r.Items, chatItemOf(scrollback.RoleAssistant, c.by, call),
			chatItemOf(scrollback.RoleTool, "", scrollback.ToolResult{CallID: call.ID, Name: call.Name, Text: "found"}))
		if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil || len(bodies) != c.tries {
			t.Errorf("%+v: %d tries, %v", c, len(bodies), err)
			continue
		}
		last := bodies[len(bodies)-1]
		for _, part := range c.has {
			if !strings.Contains(last, part) {
				t.Errorf("by %s, refusing %q, %s is not in %s", c.by, c.refusal, part, last)
			}
		}
		for _, part := range c.hasNot {
			if strings.Contains(last, part) {
				t.Errorf("by %s, refusing %q, %s is in %s", c.by, c.refusal, part, last)
			}
		}
	}
}
