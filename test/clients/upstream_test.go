package clients_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

type object = map[string]any

// upstream is a server that speaks the APIs of all providers and answers by rules. The stand-ins of model/modeltest
// take what our own clients of these APIs send and refuse the rest, as real servers refuse it; this one takes what any
// client sends.
type upstream struct {
	file string       // that is to be read when a prompt asks for it
	slow atomic.Int64 // pieces that were written of slow answers

	mu    sync.Mutex
	asked []exchange
}

// exchange is what the server was sent, and which rule answered.
type exchange struct {
	Path, Rule string
	Asked      *threading.Request
	Body       json.RawMessage
}

// answer is what a rule says.
type answer struct {
	rule   string
	pieces []string
	pause  time.Duration // before each piece
	call   string        // the name of a tool
	args   string
	used   int  // tokens of the request, if not those that it has
	custom bool // the arguments are a text of the tool's own form
}

// What prompts ask for, as the clients are given it.
const (
	askFile = "Please read the file notes.txt and say when you have it."
	askFact = "Which code opens the harbour gate?"
	askFull = "Stop counting. Now the third step." // and says that the window is nearly full
	askSlow = "Please count slowly to one hundred."
	fact    = "ZEBRA-4417"
	words   = "The harbour gate is opened by the code " + fact + ".\n"
)

// slowPieces is how many pieces a slow answer has.
const slowPieces = 100

// compacting is what clients ask for a summary by, in one way or another.
var compacting = regexp.MustCompile(`(?i)summar|compact|checkpoint|state_snapshot`)

// judge returns the answer to a request.
func (u *upstream) judge(n int, r *threading.Request, body []byte) answer {
	prompt := ""
	result := ""
	last := ""
	everything := strings.Join(r.System, "\n")
	for _, it := range r.Items {
		everything += "\n" + it.Text
		last = it.Text
		switch {
		case it.Role == threading.User && it.Kind == threading.Text:
			if p := findPrompt(it.Text); p != "" {
				prompt = p
				result = ""
			}
		case it.Kind == threading.Result:
			result = cmp.Or(it.Text, "nothing")
		}
	}
	offered := listTools(body)
	switch {
	case r.Compacts, strings.HasSuffix(r.Declared, ":compaction"), strings.Contains(last, "<state_snapshot>"),
		len(offered) == 0 && compacting.MatchString(everything):
		return answer{rule: "summary", pieces: []string{
			"<analysis>A file was read.</analysis>\n<summary>A file was read; what it says is left out.</summary>\n",
			"<state_snapshot><overall_goal>Reading a file.</overall_goal></state_snapshot>"}}
	case strings.Contains(result, fact) && prompt == askFact:
		return answer{rule: "recalled", pieces: []string{"The code is ", fact, "."}}
	case result != "" && prompt == askFile:
		return answer{rule: "tool read", pieces: []string{fmt.Sprintf("The file is read, at step %d.", n)}}
	case prompt == askFile:
		if a := u.callTool(offered); a.call != "" {
			return a
		}
		return answer{rule: "no tool", pieces: []string{"There is no tool that reads."}}
	case prompt == askFact && result == "" && strings.Contains(everything, fact):
		return answer{rule: "echo", pieces: []string{"It is ", fact, "."}}
	case prompt == askFact && result == "" && offered["context_grep"] != nil:
		return answer{rule: "recall", call: "context_grep", args: `{"pattern":"opened by the code"}`}
	case prompt == askFact:
		return answer{rule: "unknown", pieces: []string{"That is not known here."}}
	case prompt == askSlow:
		a := answer{rule: "slow", pause: 200 * time.Millisecond}
		for i := range slowPieces {
			a.pieces = append(a.pieces, fmt.Sprintf("%d, ", i+1))
		}
		return a
	}
	a := answer{rule: "text", pieces: []string{"Noted", fmt.Sprintf(", at step %d.", n)}}
	if prompt == askFull {
		a.used = 190_000
	}
	return a
}

// steps are prompts that ask for nothing.
var steps = regexp.MustCompile(`[Nn]ow the (second|fourth) step\.|This is (streamed|not)\.`)

// findPrompt returns the newest prompt of ours in a text, which may have more around it.
func findPrompt(text string) (prompt string) {
	at := -1
	for _, p := range append(steps.FindAllString(text, -1), askFull, askFile, askFact, askSlow) {
		if i := strings.LastIndex(text, p); i > at {
			at = i
			prompt = p
		}
	}
	return prompt
}

// callTool returns a call that reads the file, with a tool that the client offers.
func (u *upstream) callTool(offered map[string]object) answer {
	for _, name := range []string{"Read", "read_file", "read", "exec_command", "shell", "shell_command", "Bash", "bash"} {
		tool := offered[name]
		if tool == nil {
			continue
		}
		out := object{}
		for property, of := range tool {
			kind, _ := of.(object)["type"].(string)
			switch property {
			case "file_path", "filePath", "absolute_path", "path":
				out[property] = u.file
			case "cmd", "command":
				out[property] = "cat " + u.file
				if kind == "array" {
					out[property] = []string{"cat", u.file}
				}
			case "description":
				out[property] = "Reads the file"
			}
		}
		text, _ := json.Marshal(out) // texts always encode
		return answer{rule: "tool", call: name, args: string(text)}
	}
	if offered["exec"] != nil { // Codex' own: a program that calls the tools
		return answer{rule: "tool", call: "exec", custom: true,
			args: fmt.Sprintf("text(await tools.exec_command({cmd: %q}))", "cat "+u.file)}
	}
	return answer{}
}

// listTools returns the tools that a request offers, wherever they stand in it, and the properties of their arguments.
func listTools(body []byte) map[string]object {
	var all any
	if json.Unmarshal(body, &all) != nil {
		return nil
	}
	out := map[string]object{}
	addTools(all, out)
	return out
}

func addTools(v any, out map[string]object) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			addTools(one, out)
		}
	case object:
		name, _ := v["name"].(string)
		for _, key := range []string{"parameters", "input_schema", "parametersJsonSchema", "format"} {
			if schema, is := v[key].(object); is && name != "" {
				out[name], _ = schema["properties"].(object)
				if out[name] == nil {
					out[name] = object{}
				}
				return
			}
		}
		for _, one := range v {
			addTools(one, out)
		}
	}
}

// exchanges returns what was asked so far.
func (u *upstream) exchanges() []exchange {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.asked)
}

// ServeHTTP implements http.Handler.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	path := r.URL.Path
	speaks := map[string]threading.Dialect{"completions": threading.Chat, "responses": threading.Responses,
		"messages": threading.Messages, "chat": threading.Ollama}[filepath.Base(path)]
	if strings.Contains(path, "enerateContent") {
		speaks = threading.Gemini
	}
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, object{"input_tokens": len(body) / 4})
		return
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, object{"totalTokens": len(body) / 4})
		return
	case speaks == "" || r.Method != http.MethodPost:
		http.NotFound(w, r)
		return
	}
	asked, err := dialect.Read(speaks, func(name string) string { return r.Header.Get(name) }, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u.mu.Lock()
	n := len(u.asked) + 1
	a := u.judge(n, asked, body)
	u.asked = append(u.asked, exchange{Path: path, Rule: a.rule, Asked: asked, Body: body})
	u.mu.Unlock()
	var form struct{ Stream *bool }
	_ = json.Unmarshal(body, &form) // it was read before
	streams := form.Stream != nil && *form.Stream || strings.Contains(path, "stream") ||
		form.Stream == nil && speaks == threading.Ollama
	out := &writing{w: w, r: r, u: u, n: n, model: cmp.Or(asked.Model, "scripted"), used: cmp.Or(a.used, len(body)/4)}
	write := map[threading.Dialect][2]func(*writing, answer){threading.Chat: {wholeChat, streamChat},
		threading.Responses: {wholeResponse, streamResponse}, threading.Messages: {wholeMessage, streamMessage},
		threading.Gemini: {wholeGemini, streamGemini}, threading.Ollama: {wholeOllama, streamOllama}}[speaks]
	if !streams {
		write[0](out, a)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if speaks == threading.Ollama {
		w.Header().Set("Content-Type", "application/x-ndjson")
	}
	write[1](out, a)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// writing writes one answer.
type writing struct {
	w     http.ResponseWriter
	r     *http.Request
	u     *upstream
	n     int
	model string
	used  int // tokens of the request
}

// say writes one frame. The kind is the name of its event, if it has one.
func (o *writing) say(kind, before string, v any) {
	b, _ := json.Marshal(v) // our own values always encode
	var frame bytes.Buffer
	if kind != "" {
		fmt.Fprintf(&frame, "event: %s\n", kind)
	}
	fmt.Fprintf(&frame, "%s%s\n", before, b)
	if before != "" {
		frame.WriteByte('\n')
	}
	_, _ = o.w.Write(frame.Bytes())             // the client may be gone
	_ = http.NewResponseController(o.w).Flush() // the same
}

// each calls f for each piece of an answer, as long as somebody reads it.
func (o *writing) each(a answer, f func(piece string)) bool {
	for _, p := range a.pieces {
		select {
		case <-o.r.Context().Done():
			return false
		case <-time.After(a.pause):
		}
		f(p)
		if a.pause > 0 {
			o.u.slow.Add(1)
		}
	}
	return true
}

func (o *writing) id(kind string) string { return fmt.Sprintf("%s_up_%d", kind, o.n) }
func (a answer) text() string            { return strings.Join(a.pieces, "") }

func chatUsage(o *writing) object {
	return object{"prompt_tokens": o.used, "completion_tokens": 5, "total_tokens": o.used + 5}
}

func chatCalls(o *writing, a answer) []any {
	return []any{object{"index": 0, "id": o.id("call"), "type": "function",
		"function": object{"name": a.call, "arguments": a.args}}}
}

func wholeChat(o *writing, a answer) {
	message := object{"role": "assistant", "content": a.text()}
	finish := "stop"
	if a.call != "" {
		message["tool_calls"] = chatCalls(o, a)
		finish = "tool_calls"
	}
	writeJSON(o.w, object{"id": o.id("chatcmpl"), "object": "chat.completion", "created": 1, "model": o.model,
		"choices": []any{object{"index": 0, "message": message, "finish_reason": finish}}, "usage": chatUsage(o)})
}

func streamChat(o *writing, a answer) {
	chunk := func(delta object, finish any) {
		c := object{"id": o.id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": o.model,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}}
		if finish != nil {
			c["usage"] = chatUsage(o)
		}
		o.say("", "data: ", c)
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if !o.each(a, func(p string) { chunk(object{"content": p}, nil) }) {
		return
	}
	finish := "stop"
	if a.call != "" {
		chunk(object{"tool_calls": chatCalls(o, a)}, nil)
		finish = "tool_calls"
	}
	chunk(object{}, finish)
	fmt.Fprint(o.w, "data: [DONE]\n\n")
}

// response returns a response of the Responses API.
func response(o *writing, status string, items []any) object {
	return object{"id": o.id("resp"), "object": "response", "created_at": 1, "status": status, "model": o.model,
		"output": items, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "error": nil,
		"incomplete_details": nil, "instructions": nil, "metadata": object{}, "temperature": 1, "top_p": 1,
		"usage": object{"input_tokens": o.used, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 5,
			"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": o.used + 5}}
}

func responseItem(o *writing, a answer) object {
	if a.custom {
		return object{"type": "custom_tool_call", "id": o.id("ctc"), "call_id": o.id("call"), "name": a.call,
			"input": a.args, "status": "completed"}
	}
	if a.call != "" {
		return object{"type": "function_call", "id": o.id("fc"), "call_id": o.id("call"), "name": a.call,
			"arguments": a.args, "status": "completed"}
	}
	return object{"type": "message", "id": o.id("msg"), "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": a.text(), "annotations": []any{}}}}
}

func wholeResponse(o *writing, a answer) {
	writeJSON(o.w, response(o, "completed", []any{responseItem(o, a)}))
}

func streamResponse(o *writing, a answer) {
	n := 0
	event := func(kind string, more object) {
		more["type"] = kind
		more["sequence_number"] = n
		n++
		o.say(kind, "data: ", more)
	}
	event("response.created", object{"response": response(o, "in_progress", []any{})})
	item := responseItem(o, a)
	switch {
	case a.custom:
		event("response.output_item.added", object{"output_index": 0, "item": item})
	case a.call != "":
		begun := object{"type": "function_call", "id": item["id"], "call_id": item["call_id"], "name": a.call,
			"arguments": "", "status": "in_progress"}
		event("response.output_item.added", object{"output_index": 0, "item": begun})
		event("response.function_call_arguments.delta", object{"item_id": item["id"], "output_index": 0, "delta": a.args})
		event("response.function_call_arguments.done", object{"item_id": item["id"], "output_index": 0, "name": a.call,
			"arguments": a.args})
	default:
		in := func(more object) object {
			more["item_id"] = item["id"]
			more["output_index"] = 0
			more["content_index"] = 0
			return more
		}
		event("response.output_item.added", object{"output_index": 0, "item": object{"type": "message",
			"id": item["id"], "role": "assistant", "status": "in_progress", "content": []any{}}})
		event("response.content_part.added", in(object{"part": object{"type": "output_text", "text": "",
			"annotations": []any{}}}))
		if !o.each(a, func(p string) {
			event("response.output_text.delta", in(object{"delta": p, "logprobs": []any{}}))
		}) {
			return
		}
		event("response.output_text.done", in(object{"text": a.text(), "logprobs": []any{}}))
		event("response.content_part.done", in(object{"part": item["content"].([]any)[0]}))
	}
	event("response.output_item.done", object{"output_index": 0, "item": item})
	event("response.completed", object{"response": response(o, "completed", []any{item})})
}

// message returns an answer of the Messages API.
func message(o *writing, a answer) object {
	out := object{"id": o.id("msg"), "type": "message", "role": "assistant", "model": o.model, "stop_reason": "end_turn",
		"stop_sequence": nil, "usage": object{"input_tokens": o.used, "output_tokens": 5,
			"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
		"content": []any{object{"type": "text", "text": a.text()}}}
	if a.call != "" {
		out["stop_reason"] = "tool_use"
		out["content"] = []any{object{"type": "tool_use", "id": o.id("toolu"), "name": a.call,
			"input": json.RawMessage(a.args)}}
	}
	return out
}

func wholeMessage(o *writing, a answer) { writeJSON(o.w, message(o, a)) }

func streamMessage(o *writing, a answer) {
	event := func(kind string, more object) {
		more["type"] = kind
		o.say(kind, "data: ", more)
	}
	whole := message(o, a)
	stop := whole["stop_reason"]
	block := whole["content"].([]any)[0].(object)
	whole["content"] = []any{}
	whole["stop_reason"] = nil
	event("message_start", object{"message": whole})
	if a.call != "" {
		block["input"] = object{}
		event("content_block_start", object{"index": 0, "content_block": block})
		event("content_block_delta", object{"index": 0, "delta": object{"type": "input_json_delta", "partial_json": a.args}})
	} else {
		event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
		if !o.each(a, func(p string) {
			event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": p}})
		}) {
			return
		}
	}
	event("content_block_stop", object{"index": 0})
	event("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": 5}})
	event("message_stop", object{})
}

// geminiChunk returns a piece of an answer of Google's API.
func geminiChunk(o *writing, part object, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": []any{part}}}
	out := object{"responseId": o.id("r"), "modelVersion": o.model, "candidates": []any{candidate}}
	if finish != "" {
		candidate["finishReason"] = finish
		out["usageMetadata"] = object{"promptTokenCount": o.used, "candidatesTokenCount": 5, "totalTokenCount": o.used + 5}
	}
	return out
}

func geminiCall(o *writing, a answer) object {
	return object{"functionCall": object{"id": o.id("call"), "name": a.call, "args": json.RawMessage(a.args)},
		"thoughtSignature": "c2lnbmF0dXJl"}
}

func wholeGemini(o *writing, a answer) {
	if a.call != "" {
		writeJSON(o.w, geminiChunk(o, geminiCall(o, a), "STOP"))
		return
	}
	writeJSON(o.w, geminiChunk(o, object{"text": a.text()}, "STOP"))
}

func streamGemini(o *writing, a answer) {
	if a.call != "" {
		o.say("", "data: ", geminiChunk(o, geminiCall(o, a), "STOP"))
		return
	}
	if o.each(a, func(p string) { o.say("", "data: ", geminiChunk(o, object{"text": p}, "")) }) {
		o.say("", "data: ", geminiChunk(o, object{"text": ""}, "STOP"))
	}
}

// ollamaChunk returns a piece of an answer of Ollama's API.
func ollamaChunk(o *writing, message object, done bool) object {
	message["role"] = "assistant"
	out := object{"model": o.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done}
	if done {
		out["done_reason"] = "stop"
		out["prompt_eval_count"] = o.used
		out["eval_count"] = 5
	}
	return out
}

func ollamaCalls(a answer) object {
	return object{"content": "", "tool_calls": []any{object{"function": object{"name": a.call,
		"arguments": json.RawMessage(a.args)}}}}
}

func wholeOllama(o *writing, a answer) {
	if a.call != "" {
		writeJSON(o.w, ollamaChunk(o, ollamaCalls(a), true))
		return
	}
	writeJSON(o.w, ollamaChunk(o, object{"content": a.text()}, true))
}

func streamOllama(o *writing, a answer) {
	if a.call != "" {
		o.say("", "", ollamaChunk(o, ollamaCalls(a), false))
	}
	if o.each(a, func(p string) { o.say("", "", ollamaChunk(o, object{"content": p}, false)) }) {
		o.say("", "", ollamaChunk(o, object{"content": ""}, true))
	}
}
