package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/chatapi"
	"github.com/scrollback-ai/scrollback/model/remote"
)

const chatRandomStreams = 4000

// chatCut reads a stream in pieces of any size.
type chatCut struct {
	r    io.Reader
	rand *rand.Rand
}

func (c *chatCut) Read(p []byte) (int, error) {
	if c.rand.IntN(8) == 0 {
		runtime.Gosched()
		return 0, nil
	}
	return c.r.Read(p[:min(len(p), 1+c.rand.IntN(40))])
}

func chatRandomText(r *rand.Rand) string {
	pieces := []string{"a", "word ", "\n\n", "data: x\n", "é", "世界", "\"", "\\", "<b>", "{}", "🙂", "\u2028", "[DONE]"}
	var b strings.Builder
	for range 1 + r.IntN(5) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// chatRandomAnswer returns an answer of a model, and what it says.
func chatRandomAnswer(r *rand.Rand) (ds []model.Delta, said string) {
	var thought, text, calls strings.Builder
	for range r.IntN(5) {
		s := chatRandomText(r)
		thought.WriteString(s)
		ds = append(ds, model.Delta{Reasoning: s})
	}
	for range r.IntN(5) {
		s := chatRandomText(r)
		text.WriteString(s)
		ds = append(ds, model.Delta{Text: s})
	}
	for i := range r.IntN(4) {
		// always encodes
		args, _ := json.Marshal(map[string]any{"q": chatRandomText(r), "n": i, "in": map[string]any{"x": []int{i}}})
		if r.IntN(4) == 0 {
			args = []byte("{}")
		}
		name := []string{"f", "g"}[r.IntN(2)]
		ds = append(ds, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: name, Arguments: args}})
		fmt.Fprintf(&calls, "%s %s|", name, args)
	}
	ds = append(ds, model.Delta{Usage: &scrollback.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15}})
	return ds, thought.String() + "|" + text.String() + "|" + calls.String()
}

// chatRandomStream returns an answer as some server streams it.
func chatRandomStream(t *testing.T, r *rand.Rand) (stream, said string) {
	ds, said := chatRandomAnswer(r)
	o := chatapi.Options{Quirks: chatapi.Quirks(r.Uint32()) & (chatapi.LateID<<1 - 1),
		Reasoning: []string{"reasoning", "reasoning_content"}[r.IntN(2)], Details: r.IntN(3) == 0}
	w := httptest.NewRecorder()
	chatapi.New(modeltest.NewScript(model.Facts{}, modeltest.Step{Deltas: ds}), o).ServeHTTP(w,
		httptest.NewRequest(http.MethodPost, "/v1/chat/completions",
			strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}]}`)))
	if w.Code != 200 {
		t.Fatal(w.Body.String())
	}
	return w.Body.String(), said
}

// chatDamaged returns a stream that came to harm on the way.
func chatDamaged(r *rand.Rand, stream string) string {
	frames := strings.SplitAfter(stream, "\n\n")
	for range 1 + r.IntN(4) {
		i := r.IntN(len(frames))
		j := r.IntN(len(frames))
		switch r.IntN(6) {
		case 0:
			frames = slices.Insert(frames, i, frames[j])
		case 1:
			frames[i] = ""
		case 2:
			frames[i], frames[j] = frames[j], frames[i]
		case 3:
			frames = frames[:i+1]
		case 4:
			frames[i] = frames[i][:r.IntN(len(frames[i])+1)]
		case 5:
			if b := []byte(frames[i]); len(b) > 0 {
				b[r.IntN(len(b))] = byte(r.IntN(256))
				frames[i] = string(b)
			}
		}
	}
	return strings.Join(frames, "")
}

// chatPayloads joins the payloads of an answer.
func chatPayloads(a modeltest.Answer) string {
	var b strings.Builder
	for _, p := range modeltest.StoredParts(a.Deltas) {
		if r, ok := p.(scrollback.Reasoning); ok {
			fmt.Fprintf(&b, "%q %s\n", r.Text, r.Opaque)
		}
	}
	return b.String()
}

// Streams of random answers in random dialects say the same however they are cut
// into pieces, and break nothing however they are damaged.
func TestChatRandomStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	var body io.Reader
	m := chatModel(t, "custom", "m", "http://chat.test/v1", func(o *remote.Options) {
		o.Retries = -1
		o.Client = &http.Client{Transport: chatWay(func(*http.Request) *http.Response {
			return chatReply(200, "text/event-stream", body)
		})}
	})
	read := func(b io.Reader) (modeltest.Answer, error) {
		body = b
		return modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
	}
	whole := 0
	broken := 0
	streams := modeltest.Times(chatRandomStreams)
	for i := range streams {
		stream, said := chatRandomStream(t, r)
		if i%2 == 0 {
			a, err := read(strings.NewReader(stream))
			b, err2 := read(&chatCut{strings.NewReader(stream), r})
			got := a.Reasoning + "|" + a.Text + "|"
			for _, c := range a.Calls {
				got += c.Name + " " + string(c.Arguments) + "|"
			}
			if err != nil || err2 != nil || got != said || chatSaid(a) != chatSaid(b) || chatPayloads(a) != chatPayloads(b) ||
				a.Finish == "" ||
				(a.Reasoning != "") != (chatPayloads(a) != "") {
				t.Fatalf("stream %d: %v %v\n%s\n%s\n%s\n%s", i, err, err2, said, chatSaid(a), chatSaid(b), stream)
			}
			whole++
			continue
		}
		a, err := read(&chatCut{bytes.NewReader([]byte(chatDamaged(r, stream))), r})
		if err != nil && scrollback.CodeOf(err) == scrollback.Internal {
			t.Fatalf("stream %d: %v", i, err)
		}
		if err != nil {
			broken++
		}
		ids := map[string]bool{}
		for _, c := range a.Calls {
			var object map[string]any
			if c.ID == "" || ids[c.ID] || c.Name == "" || json.Unmarshal(c.Arguments, &object) != nil {
				t.Fatalf("stream %d: the call %+v", i, c)
			}
			ids[c.ID] = true
		}
		for j, d := range a.Deltas {
			if d.Finish != "" && j < len(a.Deltas)-1 || d.Opaque != nil && !json.Valid(d.Opaque) {
				t.Fatalf("stream %d: %+v of %d", i, d, len(a.Deltas))
			}
		}
		if u := a.Usage; u != nil && min(u.InputTokens, u.OutputTokens, u.TotalTokens) < 0 {
			t.Fatalf("stream %d: %+v", i, u)
		}
	}
	if whole != streams/2 || broken < streams/40 {
		t.Errorf("%d streams whole, %d broken", whole, broken)
	}
}
