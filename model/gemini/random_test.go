package gemini_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// streamed is a random stream: its frames, and the parts it should become.
type streamed struct {
	frames [][]byte
	want   scrollback.Parts
	calls  int
}

var pieces = []string{"a", "word ", "\n\n", "data: x\n", `"quoted\"`, "字", "😀", "\u2028", "<&>", "}{", ": ", "é",
	strings.Repeat("long ", 300)}

func words(rnd *rand.Rand) string {
	var out strings.Builder
	for range 1 + rnd.IntN(4) {
		out.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return out.String()
}

// randomStream makes a stream of one to thirty parts.
func randomStream(rnd *rand.Rand) *streamed {
	s := &streamed{}
	open := false
	var frame []string
	flush := func(finish string) {
		s.frames = append(s.frames, fmt.Appendf(nil,
			`data: {"candidates": [{"content": {"parts": [%s],"role": "model"}%s}],"responseId": "R"}`,
			strings.Join(frame, ","), finish))
		s.frames[len(s.frames)-1] = append(s.frames[len(s.frames)-1], []string{"\n\n", "\r\n\r\n"}[rnd.IntN(2)]...)
		frame = nil
	}
	for i := range 1 + rnd.IntN(30) {
		open = s.part(rnd, i, open, &frame)
		if rnd.IntN(3) > 0 {
			flush("")
		}
		if rnd.IntN(9) == 0 {
			s.frames = append(s.frames, []byte(": keep-alive\n\n"))
		}
	}
	flush(`,"finishReason": "STOP"`)
	return s
}

// part adds a part, and says whether what follows of its kind is joined with it.
func (s *streamed) part(rnd *rand.Rand, i int, open bool, frame *[]string) bool {
	text := words(rnd)
	sig := fmt.Sprintf(`"S%d+/="`, i)
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	signed := func(more string) scrollback.Opaque {
		return scrollback.Opaque(`{"thoughtSignature":` + sig + more + `}`)
	}
	n := len(s.want)
	add := func(wire string, p scrollback.Part) {
		*frame = append(*frame, wire)
		s.want = append(s.want, p)
	}
	switch kind := rnd.IntN(9); kind {
	case 0, 1:
		*frame = append(*frame, `{"text": `+string(raw)+`}`)
		if open && n > 0 {
			if before, ok := s.want[n-1].(scrollback.Text); ok {
				s.want[n-1] = scrollback.Text{Text: before.Text + text}
				return true
			}
		}
		s.want = append(s.want, scrollback.Text{Text: text})
		return true
	case 2, 3:
		*frame = append(*frame, `{"text": `+string(raw)+`,"thought": true}`)
		if open && n > 0 {
			if before, ok := s.want[n-1].(scrollback.Reasoning); ok {
				s.want[n-1] = scrollback.Reasoning{Text: before.Text + text}
				return true
			}
		}
		s.want = append(s.want, scrollback.Reasoning{Text: text})
		return true
	case 4:
		add(`{"text": `+string(raw)+`,"thoughtSignature": `+sig+`}`, scrollback.Text{Text: text, Opaque: signed("")})
	case 5:
		add(`{"text": "","thoughtSignature": `+sig+`}`, scrollback.Reasoning{Opaque: signed(`,"text":true`)})
	case 6:
		add(`{"thought":true,"text": `+string(raw)+`,"thoughtSignature": `+sig+`}`,
			scrollback.Reasoning{Text: text, Opaque: signed("")})
	case 7:
		id := fmt.Sprintf("id%d", i)
		add(`{"functionCall":{"name":"f","id":"`+id+`","args":{"a":`+string(raw)+`}},"thoughtSignature":`+sig+`}`,
			scrollback.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(`{"a":` + string(raw) + `}`),
				Opaque: signed(`,"id":"` + id + `"`)})
		s.calls++
	default:
		*frame = append(*frame, `{"text": ""}`) // nothing
		return open
	}
	return false
}

// cut writes bytes in pieces of any size.
func cut(w http.ResponseWriter, rnd *rand.Rand, all []byte) {
	rc := http.NewResponseController(w)
	for len(all) > 0 {
		n := 1 + rnd.IntN(len(all))
		if rnd.IntN(2) == 0 {
			n = min(n, 1+rnd.IntN(20))
		}
		if _, err := w.Write(all[:n]); err != nil || rc.Flush() != nil {
			return
		}
		for range rnd.IntN(3) {
			runtime.Gosched()
		}
		all = all[n:]
	}
}

// Streams that are only cut into other pieces are read as they were written; those
// that are damaged end soon, and with an error of ours if with one.
func TestRandomStreams(t *testing.T) {
	streams := modeltest.Times(2000)
	var body []byte
	var rnd *rand.Rand
	m := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		cut(w, rand.New(rand.NewPCG(rnd.Uint64(), 7)), body)
	}), flash, func(p *remote.Endpoint) { p.Options.Retries = -1; p.Options.Silence = 20 * time.Second })
	whole := 0
	for seed := range uint64(streams) {
		rnd = rand.New(rand.NewPCG(seed, 42))
		s := randomStream(rnd)
		damaged := seed%4 == 3
		if damaged {
			s.frames = damage(rnd, s.frames)
		}
		body = bytes.Join(s.frames, nil)
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if damaged {
			if err != nil && scrollback.CodeOf(err) == scrollback.Internal {
				t.Fatalf("stream %d: %v", seed, err)
			}
			continue
		}
		finish := scrollback.FinishStop
		if s.calls > 0 {
			finish = scrollback.FinishToolCalls
		}
		if got, want := told(modeltest.StoredParts(a.Deltas)), told(s.want); err != nil || got != want || a.Finish != finish {
			t.Fatalf("stream %d, %q: %v\n%s\nwanted\n%s", seed, a.Finish, err, got, want)
		}
		whole++
	}
	if whole != streams*3/4 {
		t.Errorf("only %d streams were compared", whole)
	}
}

// damage repeats, drops, cuts, swaps and soils frames.
func damage(rnd *rand.Rand, frames [][]byte) (out [][]byte) {
	for _, f := range frames {
		f = bytes.Clone(f)
		switch rnd.IntN(8) {
		case 0:
		case 1:
			out = append(out, f, f)
		case 2:
			out = append(out, f[:rnd.IntN(len(f))])
		case 3:
			f[rnd.IntN(len(f))] = byte(rnd.IntN(256))
			out = append(out, f)
		case 4:
			out = append([][]byte{f}, out...)
		default:
			out = append(out, f)
		}
	}
	return out
}
