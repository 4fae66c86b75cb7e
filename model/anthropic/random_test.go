package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/anthropic"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// transport answers every request with what it is given, without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// chopped reads a text in pieces of any size, characters cut apart.
type chopped struct {
	rest string
	rng  *rand.Rand
}

func (c *chopped) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := min(1+c.rng.IntN(40), len(c.rest), len(p))
	n = copy(p, c.rest[:n])
	c.rest = c.rest[n:]
	return n, nil
}

func (c *chopped) Close() error { return nil }

// dealt is a stream of frames, and the parts that it says.
type dealt struct {
	frames []string
	parts  scrollback.Parts
	finish string
}

func (d *dealt) frame(v map[string]any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(err.Error())
	}
	d.frames = append(d.frames, fmt.Sprintf("event: %s\ndata: %s\n\n", v["type"], b))
}

// pieces deals a text out, whole characters at a time.
func (d *dealt) pieces(rng *rand.Rand, i int, kind, field, text string) {
	for rest := []rune(text); len(rest) > 0; {
		n := min(1+rng.IntN(9), len(rest))
		d.frame(map[string]any{"type": "content_block_delta", "index": i,
			"delta": map[string]any{"type": kind, field: string(rest[:n])}})
		rest = rest[n:]
		if rng.IntN(8) == 0 {
			d.frames = append(d.frames, ": still here\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n")
		}
	}
}

// deal makes a stream.
func deal(rng *rand.Rand) *dealt {
	d := &dealt{finish: "stop"}
	text := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(30) {
			b.WriteString([]string{"a", "é", "世", "🙂", " ", "\n", "\"", "<", "\\", "\u2028", "data: "}[rng.IntN(11)])
		}
		return b.String()
	}
	d.frame(map[string]any{"type": "message_start",
		"message": map[string]any{"usage": map[string]any{"input_tokens": 5, "output_tokens": 1}}})
	for i := range rng.IntN(8) {
		switch rng.IntN(4) {
		case 0:
			s := text()
			d.frame(map[string]any{"type": "content_block_start", "index": i,
				"content_block": map[string]any{"type": "text", "text": ""}})
			d.pieces(rng, i, "text_delta", "text", s)
			d.parts = append(d.parts, scrollback.Text{Text: s})
		case 1:
			s := ""
			sign := fmt.Sprintf("sig%d+/==", rng.IntN(1000))
			if rng.IntN(3) > 0 {
				s = text()
			}
			d.frame(map[string]any{"type": "content_block_start", "index": i,
				"content_block": map[string]any{"type": "thinking", "thinking": "",
					"signature": ""}})
			d.pieces(rng, i, "thinking_delta", "thinking", s)
			d.pieces(rng, i, "signature_delta", "signature", sign)
			d.parts = append(d.parts, thought(s, `{"signature":"`+sign+`"}`))
		case 2:
			d.frame(map[string]any{"type": "content_block_start", "index": i,
				"content_block": map[string]any{"type": "redacted_thinking",
					"data": fmt.Sprint("r", i)}})
			d.parts = append(d.parts, thought("", fmt.Sprintf(`{"redacted":"r%d"}`, i)))
		case 3:
			args, err := json.Marshal(map[string]any{"x": text(), "n": rng.IntN(9)})
			if err != nil || rng.IntN(4) == 0 {
				args = []byte("{}")
			}
			id := fmt.Sprintf("toolu_%d", i)
			d.frame(map[string]any{"type": "content_block_start", "index": i,
				"content_block": map[string]any{"type": "tool_use", "id": id,
					"name": "f", "input": map[string]any{}}})
			if string(args) != "{}" {
				d.pieces(rng, i, "input_json_delta", "partial_json", string(args))
			}
			d.parts = append(d.parts, calls(id, string(args)))
			d.finish = "tool_calls"
		}
		d.frame(map[string]any{"type": "content_block_stop", "index": i})
	}
	reason := map[string]string{"stop": "end_turn", "tool_calls": "tool_use"}[d.finish]
	d.frame(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": reason},
		"usage": map[string]any{"output_tokens": 9}})
	d.frame(map[string]any{"type": "message_stop"})
	return d
}

// spoil drops frames, repeats them, swaps them, cuts one short, and breaks off.
func (d *dealt) spoil(rng *rand.Rand) []string {
	var out []string
	for _, f := range d.frames {
		switch rng.IntN(20) {
		case 0:
			continue
		case 1:
			out = append(out, f, f)
		case 2:
			out = append(out, f[:rng.IntN(len(f))]+"\n\n")
		case 3:
			at := rng.IntN(len(out) + 1)
			out = append(out[:at:at], append([]string{f}, out[at:]...)...)
		default:
			out = append(out, f)
		}
	}
	return out[:len(out)-rng.IntN(len(out)/2+1)]
}

// Streams of any content, cut anywhere, say what was streamed; spoiled ones end,
// and say nothing that breaks a promise.
func TestRandomStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	body := ""
	whole := 0
	m := anthropic.New(remote.Endpoint{Name: "anthropic/m", Model: "claude-opus-4-8", BaseURL: "http://127.0.0.1/v1",
		Options: remote.Options{Provider: "anthropic", Key: "k", Retries: -1,
			Client: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Request: r,
					Header: http.Header{"Content-Type": {"text/event-stream"}},
					Body:   &chopped{body, rng}}, nil
			})}}})
	streams := modeltest.Times(2000)
	for i := range streams {
		d := deal(rng)
		frames := d.frames
		spoiled := i%2 == 1
		if spoiled {
			frames = d.spoil(rng)
		}
		body = strings.Join(frames, "")
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		ps := modeltest.StoredParts(a.Deltas)
		if !spoiled {
			if whole++; err != nil || shown(ps) != shown(d.parts) || a.Finish != d.finish || a.Usage.OutputTokens != 9 {
				t.Fatalf("stream %d: %v, finish %q\n%s\nwant %q\n%s", i, err, a.Finish, shown(ps), d.finish, shown(d.parts))
			}
			continue
		}
		for j, delta := range a.Deltas {
			if delta.Finish != "" && j < len(a.Deltas)-1 ||
				delta.Call != nil && (delta.Call.ID == "" || !json.Valid(delta.Call.Arguments)) {
				t.Fatalf("stream %d, delta %d of %d: %+v", i, j, len(a.Deltas), delta)
			}
		}
		if err != nil && scrollback.CodeOf(err) != scrollback.Unavailable {
			t.Fatalf("stream %d: %v", i, err)
		}
	}
	if whole != streams/2 {
		t.Errorf("%d streams were whole", whole)
	}
}
