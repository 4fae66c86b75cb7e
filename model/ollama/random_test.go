package ollama_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// spoken is a random answer, and its lines.
type spoken struct {
	text, reasoning string
	calls           []string
	lines           []string
}

func speak(rng *rand.Rand) (s spoken) {
	say := func(message map[string]any, more string) {
		b, _ := json.Marshal(message) // texts and lists always encode
		s.lines = append(s.lines, fmt.Sprintf(`{"model":"m","created_at":"2026-10-02T08:00:00Z","message":%s,"done":%s}`, b,
			more)+"\n")
	}
	word := func() string {
		return []string{"a ", "世界", "\n", "🌊", "\"quoted\"", "<b>", "\\", "\u2028",
			"long " + strings.Repeat("x", rng.IntN(300))}[rng.IntN(9)]
	}
	for range rng.IntN(12) + 1 {
		switch w := word(); rng.IntN(4) {
		case 0:
			s.reasoning += w
			say(map[string]any{"role": "assistant", "content": "", "thinking": w}, "false")
		case 1:
			var list []any
			for i := range rng.IntN(3) + 1 {
				list = append(list, map[string]any{"id": fmt.Sprintf("call_%d_%d", len(s.calls), i),
					"function": map[string]any{"index": i, "name": "f", "arguments": map[string]any{"w": w}}})
				b, _ := json.Marshal(map[string]any{"w": w})
				s.calls = append(s.calls, string(b))
			}
			say(map[string]any{"role": "assistant", "content": "", "tool_calls": list}, "false")
		default:
			s.text += w
			say(map[string]any{"role": "assistant", "content": w}, "false")
		}
	}
	say(map[string]any{"role": "assistant", "content": ""},
		`true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4`)
	return s
}

// harm repeats, drops, swaps or damages lines.
func harm(rng *rand.Rand, lines []string) []string {
	out := slices.Clone(lines)
	for range rng.IntN(4) + 1 {
		i := rng.IntN(len(out))
		switch rng.IntN(6) {
		case 0:
			out = slices.Insert(out, i, out[rng.IntN(len(out))])
		case 1:
			if len(out) > 1 {
				out = slices.Delete(out, i, i+1)
			}
		case 2:
			out[i] = out[i][:rng.IntN(len(out[i]))]
		case 3:
			b := []byte(out[i])
			b[rng.IntN(len(b))] = byte(rng.IntN(256))
			out[i] = string(b)
		case 4:
			out[i] = []string{"null\n", "{}\n", "[]\n", `{"message":null,"done":true}` + "\n",
				`{"message":{"tool_calls":[{}]}}` + "\n",
				`{"error":{}}` + "\n", "\n\n", "data: {}\n"}[rng.IntN(8)]
		case 5:
			j := rng.IntN(len(out))
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}

// Streams cut anywhere say what they say whole; harmed ones end, and do not panic.
func TestRandomStreams(t *testing.T) {
	streams := modeltest.Times(2000)
	var body atomic.Pointer[[]string]
	m := serve(t, "m", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, chunk := range *body.Load() {
			_, _ = w.Write([]byte(chunk))
			_ = http.NewResponseController(w).Flush() // the client may be gone
		}
	}))
	clean := 0
	failed := 0
	for seed := range uint64(streams) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := speak(rng)
		lines := s.lines
		harmed := seed%2 == 1
		if harmed {
			lines = harm(rng, lines)
		}
		var chunks []string
		for rest := strings.Join(lines, ""); rest != ""; {
			n := min(rng.IntN(200)+1, len(rest))
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		body.Store(&chunks)
		r := ask("q")
		r.Bounds.FrameBytes = 64 << 10
		a, err := modeltest.Read(m.Stream(t.Context(), r))
		if harmed {
			if err != nil && scrollback.CodeOf(err) == scrollback.Internal {
				t.Errorf("seed %d: %v", seed, err)
			}
			if err != nil {
				failed++
			}
			continue
		}
		clean++
		if err != nil || a.Text != s.text || a.Reasoning != s.reasoning || !slices.Equal(argumentsOf(a), s.calls) ||
			!finished(a) {
			t.Fatalf("seed %d: %v\n got %q %q %v %q\nwant %q %q %v", seed, err, a.Text, a.Reasoning, argumentsOf(a), a.Finish,
				s.text, s.reasoning,
				s.calls)
		}
	}
	if clean != streams/2 || failed < streams/8 || failed == streams/2 {
		t.Errorf("%d clean, %d of the harmed failed: is the harm done?", clean, failed)
	}
}

func argumentsOf(a modeltest.Answer) (out []string) {
	for _, c := range a.Calls {
		out = append(out, string(c.Arguments))
	}
	return out
}

func finished(a modeltest.Answer) bool {
	ids := map[string]bool{}
	for _, c := range a.Calls {
		ids[c.ID] = true
	}
	want := scrollback.FinishStop
	if len(ids) > 0 {
		want = scrollback.FinishToolCalls
	}
	return a.Finish == want && len(ids) == len(a.Calls) && a.Deltas[len(a.Deltas)-1].Finish != ""
}

// Bounds stop an answer, and what came before stays.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		bounds model.Bounds
		file   string
	}{
		"text":      {model.Bounds{Chars: 5}, "plain"},
		"reasoning": {model.Bounds{ReasoningChars: 5}, "reasoning"},
		"arguments": {model.Bounds{ArgumentBytes: 5}, "calls"},
		"calls":     {model.Bounds{Calls: 1}, "calls"},
		"frame":     {model.Bounds{FrameBytes: 100}, "plain"},
	} {
		r := ask("q")
		r.Bounds = c.bounds
		_, err := modeltest.Read(serve(t, "m", play(recorded(t, c.file))).Stream(t.Context(), r))
		if err == nil || !strings.Contains(err.Error(), "went beyond") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
