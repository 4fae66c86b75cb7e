package anthropic_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/anthropic"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/anthropicapi"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// What a server may say instead of answering, and what a person is told of it: in
// words of ours, without the server's and without the key.
func TestBadAnswers(t *testing.T) {
	refusal := func(kind, words string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, words)
	}
	const stream = "text/event-stream"
	for name, c := range map[string]struct {
		status     int
		media      string
		body       string
		code       scrollback.Code
		shown      string
		asked      int32
		reason     error
		limit, say int64 // of a request that is too long
	}{
		"wrong key": {401, "", refusal("authentication_error", "invalid x-api-key k-secret"), scrollback.Refused,
			"refuses the key (ANTHROPIC_API_KEY)", 1, nil, 0, 0},
		"no permission": {403, "", refusal("permission_error",
			"Your API key does not have permission to use the specified resource."),
			scrollback.Refused, "does not allow this", 1, nil, 0, 0},
		"no money": {400, "", refusal("invalid_request_error",
			"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."),
			scrollback.Refused, "no money", 1, nil, 0, 0},
		"billing": {402, "", refusal("billing_error", "There is an issue with your payment"), scrollback.Refused, "no money",
			1, nil, 0,
			0},
		"spend limit": {400, "",
			`{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified ` +
				`API usage limits.","details":{"error_code":"enforced_spend_limit_reached"}}}`, scrollback.Refused, "no money", 1,
			nil, 0, 0},
		"no model": {404, "", refusal("not_found_error", "model: claude-9"), scrollback.Invalid, "does not know the model", 1,
			scrollback.ErrNoModel, 0, 0},
		"too long": {400, "", refusal("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
			scrollback.OverBudget, "too long", 1, nil, 200000, 210000},
		"too long together": {400, "", refusal("invalid_request_error",
			"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"),
			scrollback.OverBudget, "too long", 1, nil, 200000, 190000},
		"too many bytes": {413, "", refusal("request_too_large", "Request exceeds the maximum size"), scrollback.OverBudget,
			"too long", 1,
			nil, 0, 0},
		"rate limit": {429, "", refusal("rate_limit_error",
			"Number of request tokens has exceeded your per-minute rate limit"),
			scrollback.RateLimited, "asks to wait", 3, nil, 0, 0},
		"overloaded": {529, "", refusal("overloaded_error", "Overloaded"), scrollback.RateLimited, "asks to wait", 3, nil, 0,
			0},
		"broken": {500, "", refusal("api_error", "Internal server error"), scrollback.Unavailable, "a fault of its own", 3,
			nil, 0, 0},
		"bad request": {400, "", refusal("invalid_request_error", "messages.0: something else"), scrollback.Unavailable,
			"did not take the request", 1, nil, 0, 0},
		"page": {502, "text/html", "<html><body>Bad gateway</body></html>", scrollback.Unavailable, "a web page",
			3, nil, 0, 0},
		"page that is fine": {200, "text/html", "<!DOCTYPE html><p>Sign in", scrollback.Unavailable, "a web page", 1, nil, 0,
			0},
		"error as a text": {400, "", `{"error":"prompt is too long"}`, scrollback.OverBudget, "too long", 1, nil, 0, 0},
		"only a text": {503, "text/plain", "upstream connect error", scrollback.Unavailable, "a fault of its own", 3, nil,
			0, 0},
		"error in 200": {200, "application/json", refusal("authentication_error", "invalid x-api-key"), scrollback.Refused,
			"refuses the key", 1, nil, 0, 0},
		"error in a stream": {200, stream, "event: error\ndata: " +
			refusal("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum") +
			"\n\n", scrollback.OverBudget, "too long", 1, nil, 8, 9},
		"text in a stream": {200, stream, "data: {\"error\":\"overloaded\"}\n\n", scrollback.Unavailable,
			"a fault of its own", 3, nil, 0, 0},
		"no JSON":    {200, stream, "data: oops\n\n", scrollback.Unavailable, "cannot be read", 3, nil, 0, 0},
		"other JSON": {200, "application/json", `{"hello":1}`, scrollback.Unavailable, "cannot be read", 3, nil, 0, 0},
		"nothing":    {200, stream, "", scrollback.Unavailable, "before it began", 3, nil, 0, 0},
		"only pings": {200, stream, ": hello\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n", scrollback.Unavailable,
			"before it began", 3,
			nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			m := serve(t, "claude-opus-4-8", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				if c.media == "" {
					c.media = "application/json"
				}
				w.Header().Set("Content-Type", c.media)
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}))
			_, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
			if scrollback.CodeOf(err) != c.code || !strings.Contains(scrollback.PublicMessage(err), c.shown) ||
				asked.Load() != c.asked {
				t.Errorf("%v (code %q), shown %q, asked %d times", err, scrollback.CodeOf(err), scrollback.PublicMessage(err),
					asked.Load())
			}
			if c.reason != nil && !errors.Is(err, c.reason) {
				t.Errorf("%v is not because of %v", err, c.reason)
			}
			if strings.Contains(fmt.Sprint(err), "k-secret") {
				t.Errorf("the key is told: %v", err)
			}
			if l := model.LessonOf(err); c.code == scrollback.OverBudget &&
				(l == nil || l.Limit != c.limit || l.Requested != c.say) {
				t.Errorf("lesson %+v", l)
			}
		})
	}
}

// A server that takes no cache marks, or no tool_choice, is asked without.
func TestDropped(t *testing.T) {
	for _, field := range []string{"cache_control", "tool_choice", "thinking"} {
		s := anthropicapi.New(modeltest.NewScript(model.Facts{}, modeltest.Say("hi")),
			&anthropicapi.Options{Refuse: []string{field}})
		m := serve(t, "claude-opus-4-8", s)
		r := modeltest.ToolRequest()
		r.AnswerOnly = true
		r.Thinking.Effort = "low"
		a, err := modeltest.Read(m.Stream(t.Context(), r))
		var told []string
		for _, d := range a.Deltas {
			if d.Lesson != nil {
				told = append(told, d.Lesson.Drop)
			}
		}
		bodies := s.Bodies()
		if err != nil || a.Text != "hi" || len(told) != 1 || told[0] != field ||
			strings.Contains(string(bodies[len(bodies)-1]), `"`+field+`"`) {
			t.Errorf("%s: %v, told %q", field, err, told)
		}
	}
}

func TestPlaces(t *testing.T) {
	s := anthropicapi.New(modeltest.NewScript(model.Facts{}, modeltest.Say("hi")), &anthropicapi.Options{Key: "k-secret"})
	srv := httptest.NewServer(s)
	defer srv.Close()
	for _, base := range []string{"", "/", "/v1", "/v1/"} {
		env := map[string]string{"ANTHROPIC_API_KEY": "k-secret", "ANTHROPIC_BASE_URL": srv.URL + base}
		p, err := anthropic.Preset().Endpoint("claude-sonnet-4-5", func(name string) string { return env[name] },
			remote.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := anthropic.Preset().Open(p)
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if err != nil || a.Text != "hi" || m.Facts().Name != "anthropic/claude-sonnet-4-5" {
			t.Errorf("%q: %q, %v, %+v", base, a.Text, err, m.Facts())
		}
		limit, most, err := m.(model.Lister).List(t.Context())
		if err != nil || limit != 200_000 || most != 64_000 {
			t.Errorf("%q: %d, %d, %v", base, limit, most, err)
		}
	}
	if _, _, err := anthropic.New(at(srv, "claude-9")).List(t.Context()); !errors.Is(err, scrollback.ErrNoModel) {
		t.Errorf("listed: %v", err)
	}
	if _, err := anthropic.Preset().Endpoint("m", func(string) string { return "" },
		remote.Options{}); scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("without a key: %v", err)
	}
}

// What a server leaves out of its list is not known, however it leaves it out.
func TestListOdd(t *testing.T) {
	for body, want := range map[string][2]int64{`{"id":"m"}`: {0, 0},
		`{"max_input_tokens":null,"max_tokens":"64000"}`: {0, 64000},
		`{"max_input_tokens":1e300,"max_tokens":-1}`:     {0, 0}} {
		m := serve(t, "m", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
		if limit, most, err := m.List(t.Context()); err != nil || limit != want[0] || most != want[1] {
			t.Errorf("%s: %d, %d, %v", body, limit, most, err)
		}
	}
}
