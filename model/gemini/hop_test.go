package gemini_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// answers serves one answer after another, and the last one for ever.
func answers(bodies *[]string, streams ...string) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // the client is here
		if bodies != nil {
			*bodies = append(*bodies, string(b))
		}
		i := int(n.Add(1)) - 1
		one := streams[min(i, len(streams)-1)]
		if strings.HasPrefix(one, "503") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		stream(strings.ReplaceAll(one, "#", fmt.Sprint(i)))(w, r)
	}
}

func frame(text, finish, more string) string {
	parts := ""
	if text != "" {
		parts = `"content":{"parts":[{"text":"` + text + `"}]},`
	}
	return `data: {"candidates":[{` + parts + `"finishReason":"` + finish + `"` + more +
		`}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2},"responseId":"r#"}` + "\n\n"
}

func TestHops(t *testing.T) {
	goOn := `,"continuationToken":"t#/+="`
	for name, c := range map[string]struct {
		streams      []string
		text, finish string
		code         scrollback.Code
		asked        int
		input        int64
	}{
		"three": {[]string{frame("a", "CONTINUATION", goOn), frame("b", "CONTINUATION", goOn), frame("c", "STOP", "")}, "abc",
			"stop",
			"", 3, 30},
		"without words": {[]string{frame("", "CONTINUATION", goOn), frame("c", "STOP", "")}, "c", "stop", "", 2, 20},
		"token came before": {[]string{`data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"continuationToken":"t#"}]}` + "\n\n" +
			frame("b", "CONTINUATION", ""), frame("c", "STOP", "")}, "abc", "stop", "", 2, 20},
		"a hop fails": {[]string{frame("a", "CONTINUATION", goOn), "503", frame("c", "STOP", "")}, "ac", "stop", "", 3,
			20},
		"no token": {[]string{frame("a", "CONTINUATION", "")}, "a", "", scrollback.Unavailable, 1, 10},
		"the same token": {[]string{frame("a", "CONTINUATION", `,"continuationToken":"same"`)}, "aa", "",
			scrollback.Unavailable, 2, 20},
		"for ever":         {[]string{frame("a", "CONTINUATION", goOn)}, strings.Repeat("a", 16), "length", "", 16, 160},
		"a token and done": {[]string{frame("a", "STOP", goOn)}, "a", "stop", "", 1, 10},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			a, err := modeltest.Read(served(t, answers(&bodies, c.streams...), flash, nil).Stream(t.Context(),
				modeltest.PlainRequest()))
			if scrollback.CodeOf(err) != c.code && (err != nil || c.code != "") || a.Text != c.text || a.Finish != c.finish ||
				len(bodies) != c.asked || a.Usage == nil || a.Usage.InputTokens != c.input || a.RequestID != "r0" {
				t.Fatalf("%q, finish %q, %d requests, usage %+v, request %q, %v", a.Text, a.Finish, len(bodies), a.Usage,
					a.RequestID, err)
			}
			if got := modeltest.StoredParts(a.Deltas); len(got) != 1 {
				t.Errorf("one text became %s", told(got))
			}
			if c.asked > 1 && name == "three" && (!strings.Contains(bodies[1], `"continuationToken":"t0/+="`) ||
				!strings.HasPrefix(bodies[1], strings.TrimSuffix(bodies[0], "}"))) {
				t.Errorf("the second request is %s", bodies[1])
			}
		})
	}
}

// The bounds are those of the whole answer, however many hops it has.
func TestBounds(t *testing.T) {
	goOn := frame("123456", "CONTINUATION", `,"continuationToken":"t#"`)
	calls := strings.ReplaceAll(goOn, `{"text":"123456"}`, `{"functionCall":{"name":"f","args":{"a":"123456"}}}`)
	signed := strings.ReplaceAll(goOn, `{"text":"123456"}`, `{"text":"","thoughtSignature":"`+strings.Repeat("x", 40)+`"}`)
	long := strings.ReplaceAll(goOn, "123456", strings.Repeat("x", 5000))
	split := "data: {\ndata: " + strings.Repeat(" \ndata: 1", 3000) + "\n\n"
	thought := strings.ReplaceAll(goOn, `{"text":`, `{"thought":true,"text":`)
	for name, c := range map[string]struct {
		stream, text string
		b            model.Bounds
	}{
		"text":      {goOn, "1234561234", model.Bounds{Chars: 10}},
		"reasoning": {thought, "1234561234", model.Bounds{ReasoningChars: 10}},
		"calls":     {calls, "", model.Bounds{Calls: 3}},
		"arguments": {calls, "", model.Bounds{ArgumentBytes: 50}},
		"payloads":  {signed, "", model.Bounds{OpaqueBytes: 200}},
		"a frame":   {long, "", model.Bounds{FrameBytes: 4000}},
		"in lines":  {strings.ReplaceAll(split, "data: 1", `data: "a":1,`), "", model.Bounds{FrameBytes: 4000}},
		"a while":   {goOn, "", model.Bounds{Duration: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := modeltest.PlainRequest()
			r.Bounds = c.b
			a, err := modeltest.Read(served(t, answers(nil, c.stream), flash, nil).Stream(t.Context(), r))
			if c.b.Duration > 0 { // what came before it was over is the machine's affair
				a.Text = strings.ReplaceAll(a.Text, "123456", "")
			}
			if !errors.Is(err, scrollback.ErrReplyBound) && (err == nil || !strings.Contains(err.Error(), "beyond")) ||
				a.Text+a.Reasoning != c.text || len(a.Calls) > 3 {
				t.Errorf("%q, %d calls, %v", a.Text+a.Reasoning, len(a.Calls), err)
			}
		})
	}
}

// An answer that the model garbled is asked for once more, if nothing of it was
// told; all that was asked for is counted.
func TestGarbled(t *testing.T) {
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"} {
		bad := frame("", reason, "")
		var bodies []string
		a, err := modeltest.Read(served(t, answers(&bodies, bad, frame("ok", "STOP", "")), flash, nil).Stream(t.Context(),
			modeltest.PlainRequest()))
		if err != nil || a.Text != "ok" || len(bodies) != 2 || a.Usage.InputTokens != 20 || a.RequestID != "r1" {
			t.Errorf("%s: %q, %+v after %d, %v", reason, a.Text, a.Usage, len(bodies), err)
		}
		bodies = nil
		a, err = modeltest.Read(served(t, answers(&bodies, bad), flash, nil).Stream(t.Context(), modeltest.PlainRequest()))
		if scrollback.CodeOf(err) != scrollback.Unavailable || !errors.Is(err, scrollback.ErrUpstream) || len(bodies) != 2 ||
			a.Usage.InputTokens != 20 {
			t.Errorf("%s again: %v after %d", reason, err, len(bodies))
		}
		bodies = nil
		a, err = modeltest.Read(served(t, answers(&bodies, frame("half", reason, "")), flash, nil).Stream(t.Context(),
			modeltest.PlainRequest()))
		if scrollback.CodeOf(err) != scrollback.Unavailable || len(bodies) != 1 || a.Text != "half" {
			t.Errorf("%s after words: %v after %d", reason, err, len(bodies))
		}
	}
}

// A reader that stops, and a context that ends, end the hops too.
func TestHopsEnd(t *testing.T) {
	goOn := frame("a", "CONTINUATION", `,"continuationToken":"t#"`)
	var bodies []string
	m := served(t, answers(&bodies, goOn), flash, nil)
	said := 0
	for d, err := range m.Stream(t.Context(), modeltest.PlainRequest()) {
		if err != nil {
			t.Fatal(err)
		}
		if said += len(d.Text); said == 3 {
			break
		}
	}
	if len(bodies) != 3 {
		t.Errorf("%d requests for a reader who stopped at the third", len(bodies))
	}
	bodies = nil
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said = 0
	var last error
	for d, err := range m.Stream(ctx, modeltest.PlainRequest()) {
		last = err
		if said += len(d.Text); said == 3 {
			cancel()
		}
	}
	if scrollback.CodeOf(last) != scrollback.Canceled || len(bodies) > 3 {
		t.Errorf("%v after %d requests", last, len(bodies))
	}
}

// A connection that breaks is an error, unless the answer was whole by then.
func TestDropped(t *testing.T) {
	drop := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = io.WriteString(w, text)
		}
	}
	m := served(t, drop(frame("a", "STOP", "")), flash, func(p *remote.Endpoint) { p.Options.Retries = -1 })
	if a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest())); err != nil || a.Finish != "stop" {
		t.Errorf("behind the end: %+v, %v", a, err)
	}
	m = served(t, drop(frame("a", "", "")), flash, nil)
	if a, err := modeltest.Read(m.Stream(t.Context(),
		modeltest.PlainRequest())); scrollback.CodeOf(err) != scrollback.Unavailable || a.Text != "a" {
		t.Errorf("amid the answer: %q, %v", a.Text, err)
	}
}
