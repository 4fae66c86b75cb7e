package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/openai"
	"github.com/scrollback-ai/scrollback/model/remote"
)

const respKey = "sk-proj-aaaaBBBBccccDDDDeeee"

// respOpen makes the model of a preset that is served at an address.
func respOpen(t testing.TB, preset, id, address string, client *http.Client) model.Model {
	t.Helper()
	for _, p := range openai.Presets() {
		if p.Name != preset {
			continue
		}
		at, err := p.Endpoint(id, func(name string) string {
			return map[string]string{p.Key: respKey, p.Base: address}[name]
		},
			remote.Options{Pause: time.Microsecond, Retries: 1, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		return p.Open(at)
	}
	t.Fatalf("no preset %q", preset)
	return nil
}

// respServe opens a model at a server of its own.
func respServe(t testing.TB, preset, id string, h http.Handler) model.Model {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return respOpen(t, preset, id, srv.URL+"/v1", srv.Client())
}

// respBody is a transport whose answer has a body.
type respBody func(*http.Request) (mediaType string, body io.Reader)

func (f respBody) RoundTrip(r *http.Request) (*http.Response, error) {
	mediaType, body := f(r)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {mediaType}},
		Body: io.NopCloser(body)}, nil
}

func respPlay(t testing.TB, mediaType string, body func() io.Reader) model.Model {
	return respOpen(t, "openai", "gpt-5", "http://openai.test/v1",
		&http.Client{Transport: respBody(func(*http.Request) (string, io.Reader) { return mediaType, body() })})
}

func respRecording(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "responses", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// respStory returns an answer on one line.
func respStory(ps scrollback.Parts) string {
	var out []string
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.Text:
			out = append(out, fmt.Sprintf("says %q%s", p.Text, p.Opaque))
		case scrollback.Reasoning:
			out = append(out, fmt.Sprintf("thinks %q%s", p.Text, p.Opaque))
		case scrollback.ToolCall:
			out = append(out, fmt.Sprintf("calls %s %s%s%s", p.ID, p.Name, p.Arguments, p.Opaque))
		}
	}
	return strings.Join(out, "\n")
}

func TestResponsesSuite(t *testing.T) {
	text := respRecording(t, "text")
	calls := respRecording(t, "calls")
	modeltest.Run(t, func(t *testing.T) model.Model {
		return respServe(t, "openai", "gpt-5", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Tools []struct{ Name string } }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			stream := text
			if len(body.Tools) > 0 { // the second call is of a tool that was not offered
				stream = strings.ReplaceAll(calls, "context_list", "context_search")
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for ev := range strings.SplitAfterSeq(stream, "\n\n") {
				if _, err := io.WriteString(w, ev); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
			}
		}))
	})
}

func TestResponsesRecordings(t *testing.T) {
	for name, want := range map[string]struct {
		story, finish string
		usage         scrollback.Usage
		code          scrollback.Code
	}{
		"text": {story: `says "The code is 7F3K-221."`, finish: "stop",
			usage: scrollback.Usage{InputTokens: 36, OutputTokens: 9,
				TotalTokens: 45}},
		"calls": {story: `thinks ""{"item":{"id":"rs_68af4031","type":"reasoning","encrypted_content":"gAAAAABor0AzA+/x==","summary":[]}}
calls call_zs3u context_search{"query":"blue depot"}{"id":"fc_68af4034"}
calls call_9kQe context_list{}{"id":"fc_68af4035"}`, finish: "tool_calls", usage: scrollback.Usage{InputTokens: 212, CachedTokens: 128, OutputTokens: 75, ReasoningTokens: 64, TotalTokens: 287}},
		"phases": {story: `thinks "**Looking** at it\n\n**Then** <that>"{"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAAABone","summary":[{"type":"summary_text","text":"**Looking** at it"},{"type":"summary_text","text":"**Then** \u003cthat\u003e"}]}}
says "Let me look."{"phase":"commentary"}
thinks ""{"item":{"id":"rs_2","type":"reasoning","encrypted_content":"gAAAAABtwo","summary":[]}}
says "四十二"{"phase":"final_answer"}`, finish: "stop", usage: scrollback.Usage{InputTokens: 40, CacheWriteTokens: 32, OutputTokens: 30, ReasoningTokens: 20, TotalTokens: 70}},
		"refusal": {story: `says "I can't help with that."`, finish: "stop",
			usage: scrollback.Usage{InputTokens: 10, OutputTokens: 8,
				TotalTokens: 18}},
		"length": {story: `calls call_a f{"a":1}{"id":"fc_1"}`, finish: "length",
			usage: scrollback.Usage{InputTokens: 10, OutputTokens: 16, TotalTokens: 26}},
		"filter": {story: `says "Once upon"`, finish: "content_filter",
			usage: scrollback.Usage{InputTokens: 10, OutputTokens: 3,
				TotalTokens: 13}},
		"steered": {finish: "steered"},
		"cut":     {story: `says "half "`},
		"failed":  {story: `says "half an answer"`, code: scrollback.Unavailable},
		"xai": {story: `thinks "First, add."{"item":{"id":"rs_b4ba9f-07b3","type":"reasoning","encrypted_content":"Cx8zQ/encrypted==","summary":[{"type":"summary_text","text":"First, add."}]}}
says "It is 42."`, finish: "stop", usage: scrollback.Usage{InputTokens: 162, CachedTokens: 150, OutputTokens: 40, ReasoningTokens: 31, TotalTokens: 202}},
		"no_deltas": {story: `thinks "First, add."{"item":{"id":"rs_b4ba9f-07b3","type":"reasoning","encrypted_content":"Cx8zQ/encrypted==","summary":[{"type":"summary_text","text":"First, add."}]}}
says "It is 42."`, finish: "stop", usage: scrollback.Usage{InputTokens: 5, OutputTokens: 5, ReasoningTokens: 2, TotalTokens: 10}},
		"only_end": {story: `thinks "First, add."{"item":{"id":"rs_b4ba9f-07b3","type":"reasoning","encrypted_content":"Cx8zQ/encrypted==","summary":[{"type":"summary_text","text":"First, add."}]}}
says "It is 42."
calls call_a f{"a":1}{"id":"fc_1"}`, finish: "tool_calls", usage: scrollback.Usage{InputTokens: 5, OutputTokens: 5, ReasoningTokens: 2, TotalTokens: 10}},
		"reasoning_text": {story: `thinks "open weights"{"item":{"id":"rs_g","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"open weights"}]}}
says "ok"`, finish: "stop"},
	} {
		t.Run(name, func(t *testing.T) {
			text := respRecording(t, name)
			m := respPlay(t, "text/event-stream; charset=utf-8", func() io.Reader { return strings.NewReader(text) })
			a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
			if got := respStory(modeltest.StoredParts(a.Deltas)); got != want.story || a.Finish != want.finish ||
				scrollback.CodeOf(err) != want.code {
				t.Errorf("%s\nfinish %q, %v", got, a.Finish, err)
			}
			if a.Usage == nil {
				a.Usage = &scrollback.Usage{}
			}
			if *a.Usage != want.usage {
				t.Errorf("usage %+v", *a.Usage)
			}
			if want.finish != "" && a.RequestID == "" {
				t.Error("the answer has no id")
			}
		})
	}
}

// An answer that is not streamed reads the same; numbers may be anything.
func TestResponsesWhole(t *testing.T) {
	item := `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a"},` +
		`{"type":"output_text","text":"b"}]}`
	for body, want := range map[string]string{
		`{"id":"resp_1","status":"completed","output":[` + item +
			`],"usage":{"input_tokens":3,"output_tokens":"2","total_tokens":null}}`: `says "ab" stop 3 2`,
		`{"id":"resp_1","status":"completed","output":[` + item +
			`],"usage":{"input_tokens":2.6,"output_tokens":1e300,"total_tokens":-1}}`: `says "ab" stop 3 1099511627776`,
		`{"id":"resp_1","status":"incomplete","incomplete_details":null,"output":[` + item +
			`]}`: `says "ab" length`,
		`{"id":"resp_1","status":"completed","output":[` +
			`{"type":"function_call","id":"fc_1","name":"f","arguments":{"a":1}}]}`: `calls fc_1 f{"a":1}{"id":"fc_1"} tool_calls`,
		`{"id":"resp_1","status":"completed","output":[{"type":"function_call","call_id":"c","name":"f","arguments":"[1]"},` +
			`{"type":"new_thing"}]}`: `calls c f{"malformed_arguments":"[1]"} tool_calls`,
		`{"id":"resp_1","status":"failed","error":{"code":"context_length_exceeded","message":""}}`: ` over_budget`,
		`{"id":"resp_1","status":"failed","error":null}`:                                            ` unavailable`,
		`{"id":"resp_1","status":"cancelled"}`:                                                      ` unavailable`,
		`{"error":"model is loading"}`:                                                              ` unavailable`,
		`{"error":{"code":402,"message":"no credits"}}`:                                             ` refused`,
		`{"id":"chatcmpl-1","choices":[]}`:                                                          ` unavailable`,
		`null`:                                                                                      ` unavailable`,
		`<html>`:                                                                                    ` unavailable`,
		``:                                                                                          ` unavailable`,
	} {
		m := respPlay(t, "application/json", func() io.Reader { return strings.NewReader(body) })
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		got := respStory(modeltest.StoredParts(a.Deltas)) + " " + a.Finish
		if a.Usage != nil {
			got += fmt.Sprintf(" %d %d", a.Usage.InputTokens, a.Usage.OutputTokens)
		}
		if err != nil {
			got += string(scrollback.CodeOf(err))
		}
		if got != want {
			t.Errorf("%s reads as %q, want %q (%v)", body, got, want, err)
		}
	}
}

// What is within the stream may be no answer; and what an answer says may be
// without bound.
func TestResponsesOddStreams(t *testing.T) {
	args := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		stream string
		code   scrollback.Code
		words  string
	}{
		"no money": {`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":""}}`,
			scrollback.Refused,
			"no money"},
		"flat error": {`{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`,
			scrollback.RateLimited,
			"asks to wait"},
		"too long": {`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"context_length_exceeded",` +
			`"message":""}}}`, scrollback.OverBudget, "too long"},
		"no type":      {`{"error":{"message":"boom"}}`, scrollback.Unavailable, "an error"},
		"gibberish":    {`{{{`, scrollback.Unavailable, "cannot be read"},
		"a list":       {`[]`, scrollback.Unavailable, "cannot be read"},
		"half an item": {`{"type":"response.output_item.done","item":7}`, scrollback.Unavailable, "cannot be read"},
		"no item":      {`{"type":"response.output_item.done"}`, scrollback.Unavailable, "cannot be read"},
		"only news":    {`{"type":"response.queued"}`, scrollback.Unavailable, "ended its response before it began"},
		"big arguments": {`{"type":"response.function_call_arguments.delta","delta":"` + args + `"}`, scrollback.Unavailable,
			"beyond 256 bytes of arguments"},
		"big call": {`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c","name":"f","arguments":"` + args +
			`"}}`, scrollback.Unavailable, "beyond 256 bytes of arguments"},
		"big payload": {`{"type":"response.output_item.done","item":{"type":"reasoning","encrypted_content":"` + args + `"}}`,
			scrollback.Unavailable, "beyond 256 bytes of payloads"},
		"a page":         {`<html>`, scrollback.Unavailable, "a web page"},
		"failed, no why": {`{"type":"response.failed","response":null}`, scrollback.Unavailable, "broke its answer off"},
	} {
		m := respPlay(t, "text/event-stream", func() io.Reader { return strings.NewReader("data: " + c.stream + "\n\n") })
		r := modeltest.PlainRequest()
		r.Bounds = model.Bounds{ArgumentBytes: 256, OpaqueBytes: 256}
		_, err := modeltest.Read(m.Stream(context.Background(), r))
		if scrollback.CodeOf(err) != c.code || !strings.Contains(scrollback.PublicMessage(err), c.words) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.code, c.words)
		}
	}
}

// Servers leave out events, give items other ids in each, or tell things twice: what was said
// is taken from whichever event says it, once.
func TestResponsesStrangeStreams(t *testing.T) {
	const arguments = `{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{\"n\":1}"}`
	const think = `{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"E"}`
	const says = `{"type":"message","id":"m","content":[{"type":"output_text","text":"hello"}]}`
	const call = `{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{\"n\":1}"}`
	const begun = `{"type":"response.output_item.added","output_index":1,` +
		`"item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":""}}`
	const calls = `calls c f{"n":1}{"id":"fc"}`
	const thinks = `thinks "hm"{"item":` + think + `}`
	text := func(s string) string { return `{"type":"response.output_text.delta","delta":"` + s + `"}` }
	done := func(item string) string { return `{"type":"response.output_item.done","item":` + item + `}` }
	end := func(items ...string) string {
		return `{"type":"response.completed","response":{"id":"r","status":"completed","output":[` +
			strings.Join(items, ",") + `]}}`
	}
	const stop, called = " " + scrollback.FinishStop, " " + scrollback.FinishToolCalls
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"nothing added": {[]string{text("hel"), text("lo"), done(says), end(says)}, `says "hello"` + stop},
		"only deltas":   {[]string{text("hel"), text("lo"), end()}, `says "hello"` + stop},
		"only the text": {[]string{`{"type":"response.output_text.done","text":"hello"}`, end(says)},
			`says "hello"` + stop},
		"text, then calls":  {[]string{text("hello"), end(says, call)}, `says "hello"` + "\n" + calls + called},
		"done, then thinks": {[]string{done(says), end(says, think)}, `says "hello"` + "\n" + thinks + stop},
		"only at the end":   {[]string{end(think, says, call)}, thinks + "\n" + `says "hello"` + "\n" + calls + called},
		"arguments in done": {[]string{begun, arguments,
			end()}, calls + called},
		"arguments in done, item without": {[]string{begun, arguments,
			`{"type":"response.output_item.done","output_index":1,` +
				`"item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":""}}`,
			end()}, calls + called},
		"arguments in pieces": {[]string{begun,
			`{"type":"response.function_call_arguments.delta","item_id":"x1","output_index":1,"delta":"{\"n\""}`,
			`{"type":"response.function_call_arguments.delta","item_id":"x2","output_index":1,"delta":":1}"}`, end()},
			calls + called},
		"a name in done": {[]string{`{"type":"response.function_call_arguments.done","item_id":"c","name":"f","arguments":"{\"n\":1}"}`,
			end(`{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{\"n\":1}"}`)}, calls + called},
		"no arguments":        {[]string{begun, end()}, `calls c f{}{"id":"fc"}` + called},
		"twice":               {[]string{done(call), done(call), end(call)}, calls + called},
		"no end":              {[]string{text("hello"), done(says), done(call)}, `says "hello"` + "\n" + calls + called},
		"no end, only [DONE]": {[]string{text("hello"), "[DONE]"}, `says "hello"` + stop},
		"another end": {[]string{done(says), `{"type":"response.done","response":{"status":"completed"}}`},
			`says "hello"` + stop},
		"incomplete": {[]string{text("hel"),
			`{"type":"response.incomplete","response":{"id":"r","incomplete_details":{"reason":"max_output_tokens"}}}`},
			`says "hel" length`},
		"incomplete, no why": {[]string{text("hel"), begun, `{"type":"response.incomplete"}`}, `says "hel" length`},
		"half a call": {[]string{begun, `{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"n\""}`,
			`{"type":"response.incomplete","response":{"status":"incomplete"}}`}, ` length`},
		"stops in the middle": {[]string{done(says), begun}, `says "hello" `},
	} {
		stream := "data: " + strings.Join(c.events, "\n\ndata: ") + "\n\n"
		m := respPlay(t, "text/event-stream", func() io.Reader { return strings.NewReader(stream) })
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if got := respStory(modeltest.StoredParts(a.Deltas)) + " " + a.Finish; got != c.want || err != nil {
			t.Errorf("%s reads as\n%s, want\n%s (%v)", name, got, c.want, err)
		}
	}
	m := respPlay(t, "text/event-stream", func() io.Reader {
		return strings.NewReader("data: " + text("hel") + "\n\ndata: " +
			`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"WORDS of the server"}}}` + "\n\n")
	})
	_, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
	var known *scrollback.Error
	if !errors.As(err, &known) || known.Cause != "WORDS of the server" {
		t.Errorf("failed with words: %v", err)
	}
}
