package chatapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

type object = map[string]any

// answerWriter writes one answer, a frame a write.
type answerWriter struct {
	s       *server
	w       http.ResponseWriter
	n       int // of the answer
	thought thought
	open    bool // reasoning is being written whose signature has not come
	words   string
	used    *scrollback.Usage
	calls   []scrollback.ToolCall
}

func (s *server) Write(w http.ResponseWriter, _ *http.Request, answer modeltest.Stream) {
	s.mu.Lock()
	s.answers++
	starve := s.starved < s.o.Starved
	if starve {
		s.starved++
	}
	out := &answerWriter{s: s, w: w, n: s.answers}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if s.hasQuirk(Comments) {
		fmt.Fprint(w, ": keep-alive\n\n")
	}
	if starve {
		out.writeChoice(object{}, "insufficient_system_resource", nil)
		return
	}
	out.writeChoice(object{"role": "assistant", "content": ""}, nil, nil)
	answer(func(d model.Delta, err error) bool {
		if err != nil {
			out.writeFrame(s.refusalBody(modeltest.Refused{Status: 500, Code: "500", Words: "the upstream failed"}))
			return false
		}
		out.writeDelta(d)
		return true
	})
	if !s.hasQuirk(NoDone) {
		out.writeFrame([]byte("[DONE]"))
	}
}

func (o *answerWriter) writeFrame(data []byte) {
	if o.s.hasQuirk(Comments) {
		fmt.Fprint(o.w, ": keep-alive\n\n")
	}
	fmt.Fprintf(o.w, "data: %s\n\n", data)
	_ = http.NewResponseController(o.w).Flush() // the client may be gone
}

// writeChoice writes a chunk with one choice. A usage goes where the server has it.
func (o *answerWriter) writeChoice(delta object, finish any, usage object) {
	choice := object{"index": 0, "delta": delta, "finish_reason": finish}
	chunk := object{"id": fmt.Sprintf("chatcmpl-%d", o.n), "object": "chat.completion.chunk", "created": 1, "model": "m",
		"choices": []any{choice}}
	if o.s.hasQuirk(NumericIDs) {
		chunk["id"] = o.n
	}
	if o.s.hasQuirk(Fractions) {
		chunk["created"] = 1.25
	}
	if o.s.hasQuirk(UsageNull) {
		chunk["usage"] = nil
	}
	apart := usage != nil && o.s.hasQuirk(UsageNull)
	switch {
	case usage != nil && o.s.hasQuirk(UsageInChoice):
		choice["usage"] = usage
	case usage != nil && !apart:
		chunk["usage"] = usage
	}
	o.writeJSON(chunk)
	if apart {
		chunk["choices"] = []any{}
		chunk["usage"] = usage
		o.writeJSON(chunk)
	}
}

func (o *answerWriter) writeJSON(v any) {
	b, _ := json.Marshal(v) // our own values always encode
	o.writeFrame(b)
}

func (o *answerWriter) writeDelta(d model.Delta) {
	if d.Reasoning != "" && o.s.o.Reasoning != "" {
		o.thought.text += d.Reasoning
		o.open = true
		delta := object{o.s.o.Reasoning: d.Reasoning, "content": nil}
		if o.s.o.Details {
			delta["reasoning_details"] = []any{object{"type": "reasoning.text", "text": d.Reasoning, "signature": nil,
				"format": "anthropic-claude-v1", "index": 0}}
		}
		o.writeChoice(delta, nil, nil)
	}
	if d.Text != "" {
		o.signReasoning()
		o.words += d.Text
		content := any(d.Text)
		if o.s.hasQuirk(ContentList) {
			content = []any{object{"type": "text", "text": d.Text}}
		}
		o.writeChoice(object{"content": content}, nil, nil)
	}
	if d.Search != nil {
		var pages []any
		for _, r := range d.Search.Results {
			pages = append(pages, object{"type": "url_citation",
				"url_citation": object{"url": r.URL, "title": r.Title, "content": r.Text, "start_index": 0, "end_index": 1}})
		}
		o.writeChoice(object{"content": "", "annotations": pages}, nil, nil)
	}
	if d.Call != nil {
		o.signReasoning()
		o.writeCall(*d.Call)
	}
	if d.Usage != nil {
		o.used = d.Usage
	}
	if d.Finish != "" {
		o.signReasoning()
		o.endAnswer(d)
	}
}

// signReasoning ends reasoning with its signature, and a detail that nobody can read.
func (o *answerWriter) signReasoning() {
	if !o.open || !o.s.o.Details {
		return
	}
	o.open = false
	signature := fmt.Sprintf("sig-%d", o.n)
	sealed := object{"type": "reasoning.encrypted", "data": fmt.Sprintf("sealed-%d", o.n), "id": fmt.Sprintf("rs-%d", o.n),
		"format": "anthropic-claude-v1", "index": 1.0}
	o.writeChoice(object{"reasoning_details": []any{object{"type": "reasoning.text", "signature": signature,
		"format": "anthropic-claude-v1", "index": 0}}}, nil, nil)
	o.writeChoice(object{"reasoning_details": []any{sealed}}, nil, nil)
	o.thought.details = append(o.thought.details,
		object{"type": "reasoning.text", "text": o.thought.text, "signature": signature, "format": "anthropic-claude-v1",
			"index": 0.0}, sealed)
}

// writeCall writes a call in pieces.
func (o *answerWriter) writeCall(c scrollback.ToolCall) {
	at := len(o.calls)
	if o.s.hasQuirk(NumericIDs) {
		c.ID = strconv.Itoa(7000 + 10*o.n + at)
	}
	o.calls = append(o.calls, c)
	var pieces []any
	switch args := string(c.Arguments); {
	case o.s.hasQuirk(ObjectArgument):
		pieces = []any{c.Arguments}
	case o.s.hasQuirk(WholeCalls|OneIndex) || len(args) < 2:
		pieces = []any{args}
	default:
		half := len(args) / 2
		for !utf8.RuneStart(args[half]) {
			half--
		}
		pieces = []any{"", args[:half], args[half:]}
	}
	for i, arguments := range pieces {
		piece := object{"function": object{"arguments": arguments}}
		switch {
		case i == 0:
			piece["id"] = c.ID
			piece["type"] = "function"
			piece["function"] = object{"name": c.Name, "arguments": arguments}
			if n, err := strconv.Atoi(c.ID); err == nil && o.s.hasQuirk(NumericIDs) {
				piece["id"] = n
			}
		case o.s.hasQuirk(LateID):
			piece["id"] = ""
			piece["function"] = object{"name": "", "arguments": arguments}
		}
		switch {
		case o.s.hasQuirk(OneIndex):
			piece["index"] = 0
		case o.s.hasQuirk(IndexFromOne):
			piece["index"] = at + 1
		case !o.s.hasQuirk(NoIndex):
			piece["index"] = at
		}
		o.writeChoice(object{"tool_calls": []any{piece}}, nil, nil)
	}
}

// endAnswer closes the answer, and remembers what was thought for it.
func (o *answerWriter) endAnswer(d model.Delta) {
	for _, c := range o.calls {
		o.s.rememberThought(c.ID, o.thought)
	}
	if len(o.calls) == 0 {
		o.s.rememberThought("says "+o.words, o.thought)
	}
	finish := d.Finish
	if finish == scrollback.FinishToolCalls && o.s.hasQuirk(SaysStop) {
		finish = "stop"
	}
	o.writeChoice(object{}, finish, o.usageObject(o.used))
}

func (o *answerWriter) usageObject(u *scrollback.Usage) object {
	if u == nil {
		return nil
	}
	output := u.OutputTokens
	if o.s.hasQuirk(ReasoningAside) {
		output -= u.ReasoningTokens
	}
	number := func(n int64) any {
		if o.s.hasQuirk(Fractions) {
			return json.Number(fmt.Sprintf("%d.0", n))
		}
		return n
	}
	out := object{"prompt_tokens": number(u.InputTokens), "completion_tokens": number(output),
		"total_tokens":              number(u.InputTokens + u.OutputTokens),
		"completion_tokens_details": object{"reasoning_tokens": number(u.ReasoningTokens)}}
	switch {
	case o.s.hasQuirk(CachedOnTop):
		out["cached_tokens"] = number(u.CachedTokens)
	case o.s.hasQuirk(CacheHits):
		out["prompt_cache_hit_tokens"] = number(u.CachedTokens)
		out["prompt_cache_miss_tokens"] = number(u.InputTokens - u.CachedTokens)
	default:
		out["prompt_tokens_details"] = object{"cached_tokens": number(u.CachedTokens),
			"cache_write_tokens": number(u.CacheWriteTokens)}
	}
	return out
}
