package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/responsesapi"
)

// respRandomAnswer returns an answer of any shape.
func respRandomAnswer(r *rand.Rand) (ds []model.Delta) {
	text := func() string {
		words := []string{"a", " b\n", "\n\n", "四十二", "🙂", "\"", "\\u0041", "<x>", "data: ", "\u2028", "\r",
			strings.Repeat("long ", r.IntN(40))}
		var out strings.Builder
		for range 1 + r.IntN(4) {
			out.WriteString(words[r.IntN(len(words))])
		}
		return out.String()
	}
	for i := range 1 + r.IntN(8) {
		switch r.IntN(4) {
		case 0:
			ds = append(ds, model.Delta{Reasoning: text()})
		case 1:
			ds = append(ds, model.Delta{Text: text()})
		case 2:
			ds = append(ds, model.Delta{End: true})
		case 3:
			args, _ := json.Marshal(map[string]string{"q": text()}) // texts always encode
			ds = append(ds, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: "f", Arguments: args}})
		}
	}
	return append(ds, model.Delta{Text: "end",
		Usage: &scrollback.Usage{InputTokens: int64(r.IntN(1000)), OutputTokens: 7, TotalTokens: 2000}})
}

// respRandomStream returns what the stand-in writes of an answer.
func respRandomStream(t *testing.T, ds []model.Delta, o responsesapi.Options) string {
	t.Helper()
	w := httptest.NewRecorder()
	body := `{"model":"gpt-5","input":[{"type":"message","role":"user","content":"q"}],"store":false,"stream":true,` +
		`"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"}}`
	responsesapi.New(modeltest.NewScript(model.Facts{}, modeltest.Step{Deltas: ds}), o).ServeHTTP(w,
		httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(body)))
	if w.Code != 200 {
		t.Fatal(w.Body)
	}
	return w.Body.String()
}

// respCut reads a stream in pieces of any length, some of them none.
type respCut struct {
	r    io.Reader
	rand *rand.Rand
}

func (c *respCut) Read(p []byte) (int, error) {
	n := c.rand.IntN(64)
	if c.rand.IntN(8) == 0 {
		n = c.rand.IntN(4096)
	}
	return c.r.Read(p[:min(n, len(p))])
}

// respDamage repeats, drops, swaps and breaks frames.
func respDamage(r *rand.Rand, stream string) string {
	frames := strings.SplitAfter(stream, "\n\n")
	for range 1 + r.IntN(4) {
		i := r.IntN(len(frames))
		j := r.IntN(len(frames))
		switch r.IntN(7) {
		case 0:
			frames[i] = ""
		case 1:
			frames[i] += frames[i]
		case 2:
			frames[i], frames[j] = frames[j], frames[i]
		case 3:
			frames[i] = frames[i][:r.IntN(len(frames[i])+1)]
		case 4:
			b := []byte(frames[i])
			if len(b) > 0 {
				b[r.IntN(len(b))] = byte(r.IntN(256))
			}
			frames[i] = string(b)
		case 5:
			frames[i] += ": comment\n\ndata: null\n\nevent: x\n\n"
		case 6:
			frames = frames[:max(i, 1)]
		}
	}
	return strings.Join(frames, "")
}

// 4,000 streams: however one is cut, it says the same; however it is damaged, it
// ends, with an error of ours or without.
func TestResponsesRandomStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 42))
	var stream string
	cut := rand.New(rand.NewPCG(1, 1))
	m := respPlay(t, "text/event-stream", func() io.Reader { return &respCut{bytes.NewReader([]byte(stream)), cut} })
	streams := modeltest.Times(2000)
	for i := range streams {
		ds := respRandomAnswer(r)
		stream = respRandomStream(t, ds, responsesapi.Options{Phases: i%2 == 0})
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
		var text, thought, calls strings.Builder
		for _, d := range ds {
			text.WriteString(d.Text)
			thought.WriteString(d.Reasoning)
			if d.Call != nil {
				fmt.Fprintln(&calls, d.Call.ID, d.Call.Name, string(d.Call.Arguments))
			}
		}
		var got strings.Builder
		for _, c := range a.Calls {
			fmt.Fprintln(&got, c.ID, c.Name, string(c.Arguments))
		}
		if a.Text != text.String() || a.Reasoning != thought.String() || got.String() != calls.String() || a.Usage == nil ||
			a.Finish == "" {
			t.Fatalf("stream %d reads as %q %q %s\nwant %q %q %s", i, a.Text, a.Reasoning, got.String(), text.String(),
				thought.String(),
				calls.String())
		}
		if want, have := respItems(t, stream), respPayloads(t, a.Deltas); strings.Join(want, "\n") != strings.Join(have,
			"\n") {
			t.Fatalf("stream %d has the payloads\n%s\nwant\n%s", i, strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
	}
	fine := 0
	for i := range streams {
		stream = respDamage(r, respRandomStream(t, respRandomAnswer(r), responsesapi.Options{Phases: i%2 == 0}))
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if code := scrollback.CodeOf(err); err != nil && code != scrollback.Unavailable {
			t.Fatalf("damaged stream %d: %v (%s)", i, err, code)
		}
		if err == nil && a.Finish != "" {
			fine++
		}
		for _, p := range modeltest.StoredParts(a.Deltas) {
			if c, ok := p.(scrollback.ToolCall); ok && !json.Valid(c.Arguments) {
				t.Fatalf("damaged stream %d calls with %s", i, c.Arguments)
			}
		}
	}
	if fine < streams/10 || fine > streams*9/10 {
		t.Errorf("%d of %d damaged streams end well", fine, streams)
	}
}

// respItems lists the reasoning and the ids of calls of a stream, by its items that
// are done.
func respItems(t *testing.T, stream string) (out []string) {
	t.Helper()
	for line := range strings.SplitSeq(stream, "\n") {
		var ev struct {
			Type string
			Item json.RawMessage
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || json.Unmarshal([]byte(data), &ev) != nil || ev.Type != "response.output_item.done" {
			continue
		}
		var it struct{ Type, ID string }
		if err := json.Unmarshal(ev.Item, &it); err != nil {
			t.Fatal(err)
		}
		switch it.Type {
		case "reasoning":
			out = append(out, string(ev.Item))
		case "function_call":
			out = append(out, it.ID)
		}
	}
	return out
}

// respPayloads lists what an answer carries of them.
func respPayloads(t *testing.T, ds []model.Delta) (out []string) {
	t.Helper()
	for _, p := range modeltest.StoredParts(ds) {
		var o scrollback.Opaque
		switch p := p.(type) {
		case scrollback.Reasoning:
			o = p.Opaque
		case scrollback.ToolCall:
			o = p.Opaque
		}
		var payload struct {
			Item json.RawMessage
			ID   string
		}
		if o == nil {
			continue
		}
		if err := json.Unmarshal(o, &payload); err != nil {
			t.Fatal(err)
		}
		out = append(out, string(payload.Item)+payload.ID)
	}
	return out
}
