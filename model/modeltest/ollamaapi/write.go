package ollamaapi

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// answerLine is one line of an answer.
type answerLine struct {
	Model      string        `json:"model"`
	CreatedAt  string        `json:"created_at"`
	Message    answerMessage `json:"message"`
	Done       bool          `json:"done"`
	DoneReason string        `json:"done_reason,omitempty"`
	Total      int64         `json:"total_duration,omitempty"`
	Prompt     int64         `json:"prompt_eval_count,omitempty"`
	Cached     int64         `json:"prompt_eval_cached_count,omitempty"`
	Eval       int64         `json:"eval_count,omitempty"`
}

type answerMessage struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Thinking  string `json:"thinking,omitempty"`
	ToolCalls []call `json:"tool_calls,omitempty"`
}

// answerWriter writes an answer, a line a write.
type answerWriter struct {
	s       *server
	w       http.ResponseWriter
	asked   pendingAnswer
	wrote   bool
	thought string
	calls   int
	usage   *scrollback.Usage
}

func (s *server) Write(w http.ResponseWriter, r *http.Request, answer modeltest.Stream) {
	kept, _ := s.pending.LoadAndDelete(r)
	asked, _ := kept.(pendingAnswer)
	out := &answerWriter{s: s, w: w, asked: asked}
	if asked.load {
		writeJSON(w, http.StatusOK, answerLine{Model: asked.model, CreatedAt: createdAt,
			Message: answerMessage{Role: "assistant"},
			Done:    true, DoneReason: "load"})
		return
	}
	for d, err := range answer {
		if err != nil {
			out.writeFailure(err)
			return
		}
		out.writeDelta(d)
	}
}

const createdAt = "2026-01-02T03:04:05.678901Z"

// writeFailure reports an error: with its status, or as a line where lines came before.
func (o *answerWriter) writeFailure(err error) {
	if !o.wrote {
		o.s.Refuse(o.w, modeltest.Refused{Status: http.StatusInternalServerError, Words: err.Error()})
		return
	}
	o.writeLine(map[string]string{"error": err.Error()})
}

func (o *answerWriter) writeLine(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return // our own types always encode
	}
	if !o.wrote {
		o.w.Header().Set("Content-Type", "application/x-ndjson")
		o.wrote = true
	}
	fmt.Fprintf(o.w, "%s\n", b)
	_ = http.NewResponseController(o.w).Flush() // the client may be gone
}

func (o *answerWriter) writeDelta(d model.Delta) {
	line := answerLine{Model: o.asked.model, CreatedAt: createdAt,
		Message: answerMessage{Role: "assistant", Content: d.Text, Thinking: d.Reasoning}}
	o.thought += d.Reasoning
	if d.Usage != nil {
		o.usage = d.Usage
	}
	if d.Call != nil {
		line.Message.ToolCalls = []call{o.makeCall(*d.Call)}
	}
	if d.Text != "" || d.Reasoning != "" || d.Call != nil {
		o.writeLine(line)
	}
	if d.Finish == "" {
		return
	}
	line.Message = answerMessage{Role: "assistant"}
	line.Done = true
	line.DoneReason = d.Finish
	line.Total = 1
	if d.Finish == scrollback.FinishToolCalls {
		line.DoneReason = "stop"
	}
	line.Prompt = o.asked.tokens
	if o.usage != nil {
		line.Eval = o.usage.OutputTokens
		if !o.s.o.Old {
			line.Cached = min(o.usage.CachedTokens, line.Prompt)
		}
	}
	o.writeLine(line)
}

// makeCall gives a call an id, and remembers what was thought before it.
func (o *answerWriter) makeCall(c scrollback.ToolCall) call {
	var out call
	out.Function.Name = c.Name
	out.Function.Arguments = arguments(c.Arguments)
	if o.s.o.Old {
		return out
	}
	index := o.calls
	out.Function.Index = &index
	o.calls++
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	o.s.calls++
	out.ID = fmt.Sprintf("call_%s%06x", o.s.o.IDs, o.s.calls)
	if index == 0 {
		o.s.thoughts[out.ID] = o.thought
	}
	return out
}
