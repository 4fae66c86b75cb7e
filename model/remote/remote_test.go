package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

const key = "sk-proj-Zr4TqLw81xKvNcB7yHd2mPfA"

// sent is the body of a request: what must arrive nowhere else.
const sent = "what was said in confidence"

// read reads the protocol of these tests: each event is a letter and a text.
func read(a *remote.Answer) error {
	for ev, err := range a.Events() {
		if err != nil {
			return err
		}
		kind, text, _ := strings.Cut(ev.Data, " ")
		switch kind {
		case "text":
			err = a.EmitDelta(model.Delta{Text: text})
		case "thought":
			err = a.EmitDelta(model.Delta{Reasoning: text})
		case "arguments":
			err = a.CountArguments(len(text))
		case "gathered":
			err = a.CountPayload(len(text))
		case "payload":
			err = a.EmitDelta(model.Delta{Opaque: []byte(`"` + text + `"`)})
		case "call":
			err = a.EmitDelta(model.Delta{Call: &scrollback.ToolCall{ID: text, Name: "f"}})
		case "problem":
			err = a.ProblemError([]byte(text))
		case "finish":
			err = a.EmitDelta(model.Delta{Finish: text})
		default:
			err = a.UnreadableError([]byte(ev.Data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stream writes events at once.
func stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, ev := range events {
		fmt.Fprintf(w, "data: %s\n\n", ev)
	}
	_ = http.NewResponseController(w).Flush()
}

func good(w http.ResponseWriter) { stream(w, "text it is 42", "finish stop") }

// exchange asks at an address, with all that must not be seen elsewhere.
func exchange(url string) remote.Exchange {
	return remote.Exchange{URL: url, Header: map[string]string{"Authorization": "Bearer " + key, "X-Api-Key": key},
		Body: map[string]string{"input": sent}, Params: []string{"temperature", "reasoning.effort", "include"},
		Once: []string{"encrypted_content"}, Read: read}
}

func client(o remote.Options) *remote.Client {
	o.Provider = "acme"
	o.Key = key
	o.KeyVariable = "ACME_KEY"
	o.BaseVariable = "ACME_URL"
	if o.Pause == 0 {
		o.Pause = time.Microsecond
	}
	return remote.New(o)
}

func ask(c *remote.Client, url string, r model.Request) (modeltest.Answer, error) {
	return modeltest.Read(c.Stream(context.Background(), r,
		func(scrollback.Learned) (remote.Exchange, error) { return exchange(url), nil }))
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// own fails unless an error has a code, says some words, and says them without a
// secret.
func own(t *testing.T, err error, code scrollback.Code, words string) {
	t.Helper()
	if scrollback.CodeOf(err) != code || err == nil || !strings.Contains(scrollback.PublicMessage(err), words) {
		t.Errorf("%v (%s), want %s with %q", err, scrollback.CodeOf(err), code, words)
	}
	safe(t, err)
}

// safe fails when an error gives away more than a little of the key, or an address.
func safe(t *testing.T, err error) {
	t.Helper()
	for _, text := range []string{fmt.Sprint(err), scrollback.PublicMessage(err)} {
		for i := 0; i+8 <= len(key); i++ {
			if strings.Contains(text, key[i:i+8]) {
				t.Errorf("%q holds %q of the key", text, key[i:i+8])
				break
			}
		}
		if strings.Contains(text, "://") || strings.Contains(text, sent) {
			t.Errorf("%q holds an address, or what was asked", text)
		}
	}
}

func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header string
		body   string
		code   scrollback.Code
		tries  int32
	}{
		"good": {200, "", "data: text a\n\ndata: finish stop\n\n", "", 1},
		"busy": {429, "", `{}`, scrollback.RateLimited, 4},
		"overloaded": {529, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			scrollback.RateLimited, 4},
		"broken":      {500, "", `{}`, scrollback.Unavailable, 4},
		"page 502":    {502, "", `<html>bad gateway</html>`, scrollback.Unavailable, 4},
		"page 404":    {404, "", `<!DOCTYPE html>not here`, scrollback.Unavailable, 1},
		"page 200":    {200, "", "<html>\n\n", scrollback.Unavailable, 1},
		"bad request": {400, "", `{"error":{"message":"odd"}}`, scrollback.Unavailable, 1},
		"told not to": {503, "X-Should-Retry: false", `{}`, scrollback.Unavailable, 1},
		"told to":     {400, "X-Should-Retry: true", `{"error":{"message":"odd"}}`, scrollback.Unavailable, 4},
		"no money": {429, "", `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`,
			scrollback.Refused,
			1},
		"no money inside": {200, "", "data: problem {\"type\":\"error\",\"code\":\"insufficient_quota\"}\n\n",
			scrollback.Refused, 1},
		"empty":         {200, "", "", scrollback.Unavailable, 4},
		"comments only": {200, "", ": a\n\n: b\n\n", scrollback.Unavailable, 4},
		"gibberish":     {200, "", "data: {{{\n\n", scrollback.Unavailable, 4},
		"busy inside": {200, "", "data: problem {\"error\":{\"code\":429,\"message\":\"slow down\"}}\n\n",
			scrollback.RateLimited, 4},
		"broken inside": {200, "", "data: problem {\"error\":{\"code\":502,\"message\":\"upstream\"}}\n\n",
			scrollback.Unavailable, 4},
		"broken after a bit": {200, "", "data: text a\n\ndata: problem {\"error\":\"boom\"}\n\n", scrollback.Unavailable, 1},
		"cut after a bit":    {200, "Content-Length: 100", "data: text a\n\n", scrollback.Unavailable, 1},
		"cut before":         {200, "Content-Length: 100", ": a\n\n", scrollback.Unavailable, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				if field, value, ok := strings.Cut(c.header, ": "); ok {
					w.Header().Set(field, value)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			a, err := ask(client(remote.Options{}), srv.URL, model.Request{})
			if scrollback.CodeOf(err) != c.code || tries.Load() != c.tries {
				t.Errorf("%v (%s) after %d tries, want %s after %d", err, scrollback.CodeOf(err), tries.Load(), c.code, c.tries)
			}
			if strings.Contains(c.body, "text a") && a.Text != "a" {
				t.Errorf("what was said is %q", a.Text)
			}
			safe(t, err)
		})
	}
}

// What passes is answered by the try after, and a client may be told not to try.
func TestPasses(t *testing.T) {
	var tries atomic.Int32
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); !strings.Contains(string(body), sent) {
			t.Errorf("try %d asks %q", tries.Load()+1, body)
		}
		if tries.Add(1)%3 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		good(w)
	})
	if a, err := ask(client(remote.Options{}), srv.URL, model.Request{}); err != nil || a.Text != "it is 42" ||
		tries.Load() != 3 {
		t.Errorf("%+v %v after %d tries", a, err, tries.Load())
	}
	if _, err := ask(client(remote.Options{Retries: -1}), srv.URL, model.Request{}); err == nil || tries.Load() != 4 {
		t.Errorf("%v after %d tries", err, tries.Load())
	}
}

// A parameter that is refused is left out, each once, and what was learned comes
// before the request is sent again.
func TestLessons(t *testing.T) {
	var bodies []string
	answers := []string{
		`{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this ` +
			`model.","param":"temperature","code":"unsupported_parameter"}}`,
		`{"code":"invalid-argument","error":"Model grok-4 does not support parameter reasoningEffort."}`,
		`{"error":{"message":"The encrypted content gAAA could not be verified.","code":"invalid_encrypted_content"}}`,
		`{"error":{"message":"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens"}}`,
	}
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		if n := len(bodies); n <= len(answers) {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, answers[n-1])
			return
		}
		good(w)
	})
	plan := func(known scrollback.Learned) (remote.Exchange, error) {
		x := exchange(srv.URL)
		x.Body = map[string]any{"dropped": known.Dropped,
			"max": remote.OutputLimit(model.Request{MaxOutputTokens: 64000}, known)}
		return x, nil
	}
	var story []string
	for d, err := range client(remote.Options{Retries: -1}).Stream(t.Context(), model.Request{}, plan) {
		switch {
		case err != nil:
			t.Fatal(err)
		case d.Lesson != nil:
			story = append(story, fmt.Sprintf("%s%d after %d", d.Lesson.Drop, d.Lesson.MaxOutput, len(bodies)))
		case d.Text != "":
			story = append(story, d.Text)
		}
	}
	if got, want := strings.Join(story,
		", "), "temperature0 after 1, reasoning.effort0 after 2, 8192 after 4, it is 42"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if last := bodies[len(bodies)-1]; last != `{"dropped":["temperature","reasoning.effort","encrypted_content"],"max":8192}` {
		t.Errorf("the last request is %s", last)
	}
}

// A server that always finds something is asked a bounded number of times; one that
// refuses what was left out already is not asked again.
func TestLessonsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		refuse func(n int) string
		tries  int
		hears  bool // it is sent another request for what was refused
	}{
		"always another": {func(n int) string { return fmt.Sprintf(`{"error":"unknown parameter: p%02d"}`, n) }, 9, true},
		"always one":     {func(int) string { return `{"error":"unknown parameter: p00"}` }, 2, true},
		"shrinking": {func(n int) string { return fmt.Sprintf(`{"error":"max_tokens must be at most %d"}`, 1000-n) }, 9,
			true},
		"not in it": {func(int) string { return `{"error":"unknown parameter: p00"}` }, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, c.refuse(tries))
				tries++
			})
			var params []string
			for n := range 20 {
				params = append(params, fmt.Sprintf("p%02d", n))
			}
			learned := 0
			var err error
			for d, failed := range client(remote.Options{}).Stream(t.Context(), model.Request{},
				func(known scrollback.Learned) (remote.Exchange, error) {
					x := exchange(srv.URL)
					x.Params = params
					if c.hears {
						x.Body = known
					}
					return x, nil
				}) {
				if d.Lesson != nil {
					learned++
				}
				err = failed
			}
			if scrollback.CodeOf(err) != scrollback.Unavailable || tries != c.tries {
				t.Errorf("%v after %d tries, want %d", err, tries, c.tries)
			}
			if !errors.Is(err, scrollback.ErrPermanent) || model.LessonOf(err) != nil || learned != c.tries-1 {
				t.Errorf("%v, %d learned: it would be asked again", err, learned)
			}
		})
	}
}

func TestOlderAPI(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		older  bool
	}{
		"404":                {404, `{"detail":"Not Found"}`, true},
		"404 without a word": {404, ``, true},
		"404 with a page":    {404, `<html><body>404</body></html>`, true},
		"405":                {405, `{"detail":"Method Not Allowed"}`, true},
		"501":                {501, `{}`, true},
		"LM Studio of old": {200, `data: problem {"error":"Unexpected endpoint or method. (POST /v1/responses)"}` + "\n\n",
			true},
		"OpenAI's own": {404, `{"error":{"message":"Unknown request URL: POST /v1/responses","code":"unknown_url"}}`, true},
		"the model":    {404, `{"error":{"message":"The model 'x' does not exist","code":"model_not_found"}}`, false},
		"the model, by vLLM": {404, `{"error":{"message":"The model ` + "`x`" +
			` does not exist.","type":"NotFoundError","code":404}}`,
			false},
		"the model, as a string": {404, `{"error":"model 'x' not found"}`, false},
		"the key":                {401, `{"error":"no"}`, false},
		"a fault":                {503, `{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/chat" {
					good(w)
					return
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			a, err := modeltest.Read(client(remote.Options{Retries: -1}).Stream(t.Context(), model.Request{},
				func(known scrollback.Learned) (remote.Exchange, error) {
					x := exchange(srv.URL + "/" + known.API)
					x.OlderAPI = known.API == ""
					return x, nil
				}))
			if older := err == nil && a.Text != ""; older != c.older ||
				c.older && (a.Deltas[0].Lesson == nil || a.Deltas[0].Lesson.API != "chat") {
				t.Errorf("%+v %v", a, err)
			}
			if strings.HasPrefix(name, "the model") && !errors.Is(err, scrollback.ErrNoModel) {
				t.Errorf("%v", err)
			}
		})
	}
}

// settle waits until no more goroutines than before are left.
func settle(t *testing.T, before int) {
	t.Helper()
	end := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > before {
		select {
		case <-tick.C:
		case <-end:
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
		}
	}
}

// A context that ends, or a reader who stops, ends the stream at every stage, and
// leaves nothing behind.
func TestCancel(t *testing.T) {
	wait := func(r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() }
	stages := map[string]func(w http.ResponseWriter, r *http.Request, reached func()){
		"before the head": func(_ http.ResponseWriter, r *http.Request, reached func()) {
			io.Copy(io.Discard, r.Body)
			reached()
			wait(r)
		},
		"after the head": func(w http.ResponseWriter, r *http.Request, reached func()) {
			io.Copy(io.Discard, r.Body)
			stream(w)
			reached()
			wait(r)
		},
		"within a frame": func(w http.ResponseWriter, r *http.Request, reached func()) {
			io.Copy(io.Discard, r.Body)
			stream(w)
			io.WriteString(w, "data: text ha")
			_ = http.NewResponseController(w).Flush()
			reached()
			wait(r)
		},
		"within a refusal": func(w http.ResponseWriter, r *http.Request, reached func()) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error`)
			_ = http.NewResponseController(w).Flush()
			reached()
			wait(r)
		},
		"in a pause": func(w http.ResponseWriter, _ *http.Request, reached func()) {
			w.Header().Set("Retry-After", "20")
			w.WriteHeader(http.StatusTooManyRequests)
			reached()
		},
	}
	for name, stage := range stages {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			for range 8 {
				ctx, cancel := context.WithCancel(context.Background())
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { stage(w, r, cancel) }))
				a, err := modeltest.Read(client(remote.Options{Client: srv.Client()}).Stream(ctx, model.Request{},
					func(scrollback.Learned) (remote.Exchange, error) { return exchange(srv.URL), nil }))
				if scrollback.CodeOf(err) != scrollback.Canceled || !errors.Is(err, context.Canceled) || len(a.Deltas) > 0 {
					t.Fatalf("%+v %v", a, err)
				}
				srv.Close()
			}
			settle(t, before)
		})
	}
	t.Run("by the reader, and both", func(t *testing.T) {
		before := runtime.NumGoroutine()
		for i := range 16 {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				stream(w, slices.Repeat([]string{"text a"}, 50)...)
				wait(r)
			}))
			ctx, cancel := context.WithCancel(context.Background())
			n := 0
			for _, err := range client(remote.Options{Client: srv.Client()}).Stream(ctx, model.Request{},
				func(scrollback.Learned) (remote.Exchange, error) { return exchange(srv.URL), nil }) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n > i {
					if i%2 == 0 {
						cancel()
					}
					break
				}
			}
			cancel()
			srv.Close()
		}
		settle(t, before)
	})
}
