package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// ollamaLine is one line of an answer.
type ollamaLine struct {
	Model      string     `json:"model"`
	CreatedAt  string     `json:"created_at"`
	Message    ollamaSaid `json:"message"`
	Done       bool       `json:"done"`
	DoneReason string     `json:"done_reason,omitempty"`
	Total      int64      `json:"total_duration,omitempty"`
	Prompt     int64      `json:"prompt_eval_count,omitempty"`
	Cached     int64      `json:"prompt_eval_cached_count,omitempty"`
	Eval       int64      `json:"eval_count,omitempty"`
}

type ollamaSaid struct {
	Role      string       `json:"role"`
	Content   string       `json:"content"`
	Thinking  string       `json:"thinking,omitempty"`
	ToolCalls []ollamaCall `json:"tool_calls,omitempty"`
}

// ollamaOut writes an answer, a line a write.
type ollamaOut struct {
	p       *ollama
	w       http.ResponseWriter
	asked   ollamaAsked
	wrote   bool
	thought string
	calls   int
	usage   *scrollback.Usage
}

func (p *ollama) write(w http.ResponseWriter, r *http.Request, answer Stream) {
	kept, _ := p.pending.LoadAndDelete(r)
	asked, _ := kept.(ollamaAsked)
	out := &ollamaOut{p: p, w: w, asked: asked}
	if asked.load {
		ollamaJSON(w, http.StatusOK, ollamaLine{Model: asked.model, CreatedAt: ollamaTime, Message: ollamaSaid{Role: "assistant"}, Done: true, DoneReason: "load"})
		return
	}
	for d, err := range answer {
		if err != nil {
			out.fail(err)
			return
		}
		out.delta(d)
	}
}

const ollamaTime = "2026-01-02T03:04:05.678901Z"

// fail reports an error: with its status, or as a line where lines came before.
func (o *ollamaOut) fail(err error) {
	if !o.wrote {
		o.p.refuse(o.w, Refused{Status: http.StatusInternalServerError, Words: err.Error()})
		return
	}
	o.send(map[string]string{"error": err.Error()})
}

func (o *ollamaOut) send(v any) {
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

func (o *ollamaOut) delta(d model.Delta) {
	line := ollamaLine{Model: o.asked.model, CreatedAt: ollamaTime, Message: ollamaSaid{Role: "assistant", Content: d.Text, Thinking: d.Reasoning}}
	o.thought += d.Reasoning
	if d.Usage != nil {
		o.usage = d.Usage
	}
	if d.Call != nil {
		line.Message.ToolCalls = []ollamaCall{o.call(*d.Call)}
	}
	if d.Text != "" || d.Reasoning != "" || d.Call != nil {
		o.send(line)
	}
	if d.Finish == "" {
		return
	}
	line.Message = ollamaSaid{Role: "assistant"}
	line.Done, line.DoneReason, line.Total = true, d.Finish, 1
	if d.Finish == scrollback.FinishToolCalls {
		line.DoneReason = "stop"
	}
	line.Prompt = o.asked.tokens
	if o.usage != nil {
		line.Eval = o.usage.OutputTokens
		if !o.p.o.Old {
			line.Cached = min(o.usage.CachedTokens, line.Prompt)
		}
	}
	o.send(line)
}

// call gives a call an id, and remembers what was thought before it.
func (o *ollamaOut) call(c scrollback.ToolCall) ollamaCall {
	var out ollamaCall
	out.Function.Name, out.Function.Arguments = c.Name, ollamaArguments(c.Arguments)
	if o.p.o.Old {
		return out
	}
	index := o.calls
	out.Function.Index = &index
	o.calls++
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	o.p.calls++
	out.ID = fmt.Sprintf("call_%s%06x", o.p.o.IDs, o.p.calls)
	if index == 0 {
		o.p.thoughts[out.ID] = o.thought
	}
	return out
}
