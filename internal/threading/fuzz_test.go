package threading_test

import (
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

// Any two bodies after each other, each sent twice, are threaded: the second time nothing is new, unless a conversation
// begins again.
func FuzzMatch(f *testing.F) {
	f.Add(byte(0), []byte(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`),
		[]byte(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`))
	f.Add(byte(1), []byte(`{"prompt_cache_key":"k","input":[{"type":"function_call","call_id":"1"},{"type":"function_call_output","call_id":"1"}]}`),
		[]byte(`{"prompt_cache_key":"k","input":[{"type":"compaction_trigger"},{"role":"assistant","content":"x"}]}`))
	f.Add(byte(2), []byte(`{"messages":[{"content":[{"text":"<system-reminder>"},{"text":"x"},{"type":"tool_use","id":"i"}]}]}`), []byte(`{"messages":[]}`))
	of := []threading.Dialect{threading.Chat, threading.Responses, threading.Messages, threading.Gemini, threading.Ollama}
	f.Fuzz(func(t *testing.T, which byte, first, second []byte) {
		d := newDesk(t)
		at := noon
		for _, body := range [][]byte{first, second, first} {
			r, err := dialect.Read(of[int(which)%len(of)], func(string) string { return "" }, body)
			if err != nil {
				return
			}
			for again := range 2 {
				at = at.Add(2 * time.Minute)
				m := d.begin(r, at)
				if m.Side == "" && m.Thread == "" {
					t.Errorf("a %s is in no thread", m.Purpose)
				}
				if again == 1 && m.Side == "" && len(m.New) > 0 && m.Course != threading.Begins && m.Course != threading.NewLane &&
					m.Course != threading.Unknown {
					t.Errorf("sent again it is a %s that %s with %d new atoms", m.Purpose, m.Course, len(m.New))
				}
				d.finish(m, finished("An answer to it"), at)
			}
		}
	})
}
