package responsesapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// answerWriter writes one answer.
type answerWriter struct {
	s      *server
	w      http.ResponseWriter
	asked  pendingAnswer
	stream bool
	id     string
	seq    int

	output []map[string]any // that is done
	open   map[string]any   // the item that is being written
	text   string           // of it
	rs     string           // the reasoning before it
	usage  *scrollback.Usage
	cited  []any // pages that the next message cites
}

func (s *server) Write(w http.ResponseWriter, r *http.Request, answer modeltest.Stream) {
	asked, _ := r.Context().Value(askKey{}).(pendingAnswer)
	out := &answerWriter{s: s, w: w, asked: asked, stream: asked.stream, id: s.newID("resp")}
	if s.o.XAI {
		w.Header().Set("X-Request-Id", "xai-request")
	}
	out.beginAnswer()
	finish := ""
	for d, err := range answer {
		if err != nil {
			out.writeEvent("response.failed", map[string]any{"response": out.responseSoFar("failed",
				map[string]any{"error": map[string]any{"code": "server_error", "message": err.Error()}})})
			return
		}
		out.writeDelta(d)
		if d.Finish != "" {
			finish = d.Finish
		}
	}
	out.endAnswer(finish)
}

func (o *answerWriter) beginAnswer() {
	o.writeEvent("response.created", map[string]any{"response": o.responseSoFar("in_progress", nil)})
	o.writeEvent("response.in_progress", map[string]any{"response": o.responseSoFar("in_progress", nil)})
}

// responseSoFar returns the response as far as it is.
func (o *answerWriter) responseSoFar(status string, more map[string]any) map[string]any {
	out := map[string]any{"id": o.id, "object": "response", "created_at": 1764000000, "status": status,
		"model": o.asked.model, "output": []any{}, "error": nil, "incomplete_details": nil,
		"store": false, "parallel_tool_calls": true, "usage": nil, "metadata": map[string]any{}}
	maps.Copy(out, more)
	return out
}

// writeEvent writes one event, each in a separate write.
func (o *answerWriter) writeEvent(kind string, fields map[string]any) {
	body := map[string]any{"type": kind, "sequence_number": o.seq}
	o.seq++
	maps.Copy(body, fields)
	if !o.stream {
		return
	}
	b, _ := json.Marshal(body) // maps of texts and numbers always encode
	o.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	fmt.Fprintf(o.w, "event: %s\ndata: %s\n\n", kind, b)
	_ = http.NewResponseController(o.w).Flush() // the client may be gone
}

// addPlace returns the fields that place an event.
func (o *answerWriter) addPlace(more map[string]any) map[string]any {
	out := map[string]any{"item_id": o.open["id"], "output_index": len(o.output)}
	maps.Copy(out, more)
	return out
}

func (o *answerWriter) writeDelta(d model.Delta) {
	if d.Usage != nil {
		o.usage = d.Usage
	}
	if d.Reasoning != "" {
		o.beginItem("reasoning")
		o.text += d.Reasoning
		if o.asked.summary {
			o.writeEvent("response.reasoning_summary_text.delta",
				o.addPlace(map[string]any{"summary_index": 0, "delta": d.Reasoning}))
		}
	}
	if d.Text != "" {
		o.beginItem("message")
		o.text += d.Text
		o.writeEvent("response.output_text.delta",
			o.addPlace(map[string]any{"content_index": 0, "delta": d.Text, "logprobs": []any{}}))
	}
	if d.Search != nil {
		o.writeSearch(*d.Search)
	}
	if d.Call != nil {
		o.writeCall(*d.Call)
	} else if d.Opaque != nil || d.End {
		o.endItem()
	}
}

// beginItem begins an item, unless it is being written.
func (o *answerWriter) beginItem(kind string) {
	if o.open != nil && o.open["type"] == kind {
		return
	}
	o.endItem()
	o.text = ""
	if kind == "reasoning" {
		o.rs = o.s.newID("rs")
		o.open = map[string]any{"id": o.rs, "type": kind, "summary": []any{}}
		if o.asked.encrypted { // of an item that was only added, it is not the last word
			o.open["encrypted_content"] = "gAAAAA" + base64.StdEncoding.EncodeToString([]byte("not yet"))
		}
		o.writeEvent("response.output_item.added", map[string]any{"output_index": len(o.output), "item": o.open})
		if o.asked.summary {
			o.writeEvent("response.reasoning_summary_part.added",
				o.addPlace(map[string]any{"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": ""}}))
		}
		return
	}
	o.open = map[string]any{"id": o.s.newID("msg"), "type": kind, "status": "in_progress", "role": "assistant",
		"content": []any{}}
	if o.s.o.Phases {
		o.open["phase"] = "final_answer"
		if o.asked.tools {
			o.open["phase"] = "commentary"
		}
	}
	o.writeEvent("response.output_item.added", map[string]any{"output_index": len(o.output), "item": o.open})
	o.writeEvent("response.content_part.added", o.addPlace(map[string]any{"content_index": 0,
		"part": map[string]any{"type": "output_text", "annotations": []any{}, "logprobs": []any{}, "text": ""}}))
}

// endItem ends the item that is being written.
func (o *answerWriter) endItem() {
	if o.open == nil {
		return
	}
	switch o.open["type"] {
	case "reasoning":
		if o.asked.summary {
			part := map[string]any{"type": "summary_text", "text": o.text}
			o.writeEvent("response.reasoning_summary_text.done", o.addPlace(map[string]any{"summary_index": 0, "text": o.text}))
			o.writeEvent("response.reasoning_summary_part.done", o.addPlace(map[string]any{"summary_index": 0, "part": part}))
			o.open["summary"] = []any{part}
		}
		if o.asked.encrypted {
			o.open["encrypted_content"] = o.s.encryptThought(o.rs, o.asked.model)
		}
	case "message":
		for i, a := range o.cited {
			o.writeEvent("response.output_text.annotation.added",
				o.addPlace(map[string]any{"content_index": 0, "annotation_index": i, "annotation": a}))
		}
		part := map[string]any{"type": "output_text", "annotations": append([]any{}, o.cited...), "logprobs": []any{},
			"text": o.text}
		o.writeEvent("response.output_text.done",
			o.addPlace(map[string]any{"content_index": 0, "text": o.text, "logprobs": []any{}}))
		o.writeEvent("response.content_part.done", o.addPlace(map[string]any{"content_index": 0, "part": part}))
		o.open["status"] = "completed"
		o.open["content"] = []any{part}
	}
	o.writeDone()
}

func (o *answerWriter) writeDone() {
	o.writeEvent("response.output_item.done", map[string]any{"output_index": len(o.output), "item": o.open})
	o.output = append(o.output, o.open)
	o.open = nil
}

// writeSearch writes what is searched for; the pages are cited by the message behind it.
func (o *answerWriter) writeSearch(s scrollback.Search) {
	o.endItem()
	o.open = map[string]any{"id": o.s.newID("ws"), "type": "web_search_call", "status": "in_progress"}
	o.writeEvent("response.output_item.added", map[string]any{"output_index": len(o.output), "item": o.open})
	o.writeEvent("response.web_search_call.searching", o.addPlace(nil))
	o.open["status"] = "completed"
	o.open["action"] = map[string]any{"type": "search", "query": s.Query}
	o.writeDone()
	for _, r := range s.Results {
		o.cited = append(o.cited, map[string]any{"type": "url_citation", "url": r.URL, "title": r.Title, "start_index": 0,
			"end_index": 1})
	}
}

// encryptThought makes encrypted content, and remembers it.
func (s *server) encryptThought(id, model string) string {
	sum := sha256.Sum256([]byte(id + model))
	text := "gAAAAA" + base64.StdEncoding.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thoughts[text] = issuedReasoning{id: id, model: model}
	return text
}

func (o *answerWriter) writeCall(c scrollback.ToolCall) {
	o.endItem()
	id := o.s.newID("fc")
	o.s.mu.Lock()
	o.s.calls[id] = o.rs
	o.s.mu.Unlock()
	o.open = map[string]any{"id": id, "type": "function_call", "status": "in_progress", "call_id": c.ID, "name": c.Name,
		"arguments": ""}
	o.writeEvent("response.output_item.added", map[string]any{"output_index": len(o.output), "item": o.open})
	args := string(c.Arguments)
	for _, piece := range []string{args[:len(args)/2], args[len(args)/2:]} {
		if piece != "" {
			o.writeEvent("response.function_call_arguments.delta", o.addPlace(map[string]any{"delta": piece}))
		}
	}
	o.writeEvent("response.function_call_arguments.done", o.addPlace(map[string]any{"arguments": string(c.Arguments)}))
	o.open["status"] = "completed"
	o.open["arguments"] = string(c.Arguments)
	o.writeDone()
}

func (o *answerWriter) endAnswer(finish string) {
	o.endItem()
	if o.s.o.Cut || finish == "" {
		return
	}
	more := map[string]any{"output": o.output}
	if o.usage != nil {
		more["usage"] = map[string]any{"input_tokens": o.usage.InputTokens,
			"input_tokens_details":  map[string]any{"cached_tokens": o.usage.CachedTokens},
			"output_tokens":         o.usage.OutputTokens,
			"output_tokens_details": map[string]any{"reasoning_tokens": o.usage.ReasoningTokens},
			"total_tokens":          o.usage.TotalTokens}
	}
	status := "completed"
	reason := o.s.o.Incomplete
	if reason == "" && finish == scrollback.FinishLength {
		reason = "max_output_tokens"
	}
	if reason != "" {
		status = "incomplete"
		more["incomplete_details"] = map[string]any{"reason": reason}
	}
	whole := o.responseSoFar(status, more)
	o.writeEvent("response."+status, map[string]any{"response": whole})
	if !o.stream {
		o.w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(o.w).Encode(whole) // the client may be gone
	}
}
