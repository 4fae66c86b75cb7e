package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

type chatObject = map[string]any

// chatStream writes one answer, a frame a write.
type chatStream struct {
	s       *chatServer
	w       http.ResponseWriter
	n       int // of the answer
	thought chatThought
	open    bool // reasoning is being written whose signature has not come
	words   string
	used    *scrollback.Usage
	calls   []scrollback.ToolCall
}

func (s *chatServer) write(w http.ResponseWriter, _ *http.Request, answer Stream) {
	s.mu.Lock()
	s.answers++
	starve := s.starved < s.o.Starved
	if starve {
		s.starved++
	}
	out := &chatStream{s: s, w: w, n: s.answers}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if s.quirk(ChatComments) {
		fmt.Fprint(w, ": keep-alive\n\n")
	}
	if starve {
		out.choice(chatObject{}, "insufficient_system_resource", nil)
		return
	}
	out.choice(chatObject{"role": "assistant", "content": ""}, nil, nil)
	answer(func(d model.Delta, err error) bool {
		if err != nil {
			out.frame(s.complaint(Refused{Status: 500, Code: "500", Words: "the upstream failed"}))
			return false
		}
		out.delta(d)
		return true
	})
	if !s.quirk(ChatNoDone) {
		out.frame([]byte("[DONE]"))
	}
}

func (o *chatStream) frame(data []byte) {
	if o.s.quirk(ChatComments) {
		fmt.Fprint(o.w, ": keep-alive\n\n")
	}
	fmt.Fprintf(o.w, "data: %s\n\n", data)
	_ = http.NewResponseController(o.w).Flush() // the client may be gone
}

// choice writes a chunk with one choice. A usage goes where the server has it.
func (o *chatStream) choice(delta chatObject, finish any, usage chatObject) {
	choice := chatObject{"index": 0, "delta": delta, "finish_reason": finish}
	chunk := chatObject{"id": fmt.Sprintf("chatcmpl-%d", o.n), "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []any{choice}}
	if o.s.quirk(ChatNumericIDs) {
		chunk["id"] = o.n
	}
	if o.s.quirk(ChatFractions) {
		chunk["created"] = 1.25
	}
	if o.s.quirk(ChatUsageNull) {
		chunk["usage"] = nil
	}
	apart := usage != nil && o.s.quirk(ChatUsageNull)
	switch {
	case usage != nil && o.s.quirk(ChatUsageInChoice):
		choice["usage"] = usage
	case usage != nil && !apart:
		chunk["usage"] = usage
	}
	o.json(chunk)
	if apart {
		chunk["choices"], chunk["usage"] = []any{}, usage
		o.json(chunk)
	}
}

func (o *chatStream) json(v any) {
	b, _ := json.Marshal(v) // our own values always encode
	o.frame(b)
}

func (o *chatStream) delta(d model.Delta) {
	if d.Reasoning != "" && o.s.o.Reasoning != "" {
		o.thought.text += d.Reasoning
		o.open = true
		delta := chatObject{o.s.o.Reasoning: d.Reasoning, "content": nil}
		if o.s.o.Details {
			delta["reasoning_details"] = []any{chatObject{"type": "reasoning.text", "text": d.Reasoning, "signature": nil, "format": "anthropic-claude-v1", "index": 0}}
		}
		o.choice(delta, nil, nil)
	}
	if d.Text != "" {
		o.sign()
		o.words += d.Text
		content := any(d.Text)
		if o.s.quirk(ChatContentList) {
			content = []any{chatObject{"type": "text", "text": d.Text}}
		}
		o.choice(chatObject{"content": content}, nil, nil)
	}
	if d.Call != nil {
		o.sign()
		o.call(*d.Call)
	}
	if d.Usage != nil {
		o.used = d.Usage
	}
	if d.Finish != "" {
		o.sign()
		o.end(d)
	}
}

// sign ends reasoning with its signature, and a detail that nobody can read.
func (o *chatStream) sign() {
	if !o.open || !o.s.o.Details {
		return
	}
	o.open = false
	signature, sealed := fmt.Sprintf("sig-%d", o.n), chatObject{"type": "reasoning.encrypted", "data": fmt.Sprintf("sealed-%d", o.n), "id": fmt.Sprintf("rs-%d", o.n), "format": "anthropic-claude-v1", "index": 1.0}
	o.choice(chatObject{"reasoning_details": []any{chatObject{"type": "reasoning.text", "signature": signature, "format": "anthropic-claude-v1", "index": 0}}}, nil, nil)
	o.choice(chatObject{"reasoning_details": []any{sealed}}, nil, nil)
	o.thought.details = append(o.thought.details, chatObject{"type": "reasoning.text", "text": o.thought.text, "signature": signature, "format": "anthropic-claude-v1", "index": 0.0}, sealed)
}

// call writes a call in pieces.
func (o *chatStream) call(c scrollback.ToolCall) {
	at := len(o.calls)
	if o.s.quirk(ChatNumericIDs) {
		c.ID = strconv.Itoa(7000 + 10*o.n + at)
	}
	o.calls = append(o.calls, c)
	var pieces []any
	switch args := string(c.Arguments); {
	case o.s.quirk(ChatObjectArgument):
		pieces = []any{c.Arguments}
	case o.s.quirk(ChatWholeCalls|ChatOneIndex) || len(args) < 2:
		pieces = []any{args}
	default:
		half := len(args) / 2
		for !utf8.RuneStart(args[half]) {
			half--
		}
		pieces = []any{"", args[:half], args[half:]}
	}
	for i, arguments := range pieces {
		piece := chatObject{"function": chatObject{"arguments": arguments}}
		switch {
		case i == 0:
			piece["id"], piece["type"], piece["function"] = c.ID, "function", chatObject{"name": c.Name, "arguments": arguments}
			if n, err := strconv.Atoi(c.ID); err == nil && o.s.quirk(ChatNumericIDs) {
				piece["id"] = n
			}
		case o.s.quirk(ChatLateID):
			piece["id"], piece["function"] = "", chatObject{"name": "", "arguments": arguments}
		}
		switch {
		case o.s.quirk(ChatOneIndex):
			piece["index"] = 0
		case o.s.quirk(ChatIndexFromOne):
			piece["index"] = at + 1
		case !o.s.quirk(ChatNoIndex):
			piece["index"] = at
		}
		o.choice(chatObject{"tool_calls": []any{piece}}, nil, nil)
	}
}

// end closes the answer, and remembers what was thought for it.
func (o *chatStream) end(d model.Delta) {
	for _, c := range o.calls {
		o.s.remember(c.ID, o.thought)
	}
	if len(o.calls) == 0 {
		o.s.remember("says "+o.words, o.thought)
	}
	finish := d.Finish
	if finish == scrollback.FinishToolCalls && o.s.quirk(ChatSaysStop) {
		finish = "stop"
	}
	o.choice(chatObject{}, finish, o.usage(o.used))
}

func (o *chatStream) usage(u *scrollback.Usage) chatObject {
	if u == nil {
		return nil
	}
	output := u.OutputTokens
	if o.s.quirk(ChatReasoningAside) {
		output -= u.ReasoningTokens
	}
	number := func(n int64) any {
		if o.s.quirk(ChatFractions) {
			return json.Number(fmt.Sprintf("%d.0", n))
		}
		return n
	}
	out := chatObject{"prompt_tokens": number(u.InputTokens), "completion_tokens": number(output), "total_tokens": number(u.InputTokens + u.OutputTokens),
		"completion_tokens_details": chatObject{"reasoning_tokens": number(u.ReasoningTokens)}}
	switch {
	case o.s.quirk(ChatCachedOnTop):
		out["cached_tokens"] = number(u.CachedTokens)
	case o.s.quirk(ChatCacheHits):
		out["prompt_cache_hit_tokens"], out["prompt_cache_miss_tokens"] = number(u.CachedTokens), number(u.InputTokens-u.CachedTokens)
	default:
		out["prompt_tokens_details"] = chatObject{"cached_tokens": number(u.CachedTokens), "cache_write_tokens": number(u.CacheWriteTokens)}
	}
	return out
}
