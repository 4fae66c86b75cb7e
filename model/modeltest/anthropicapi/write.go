package anthropicapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// answerWriter writes one answer.
type answerWriter struct {
	s    *server
	w    http.ResponseWriter
	body *body

	n      int    // the answer's
	index  int    // of the block that is written
	kind   string // of it; empty for none
	text   string // of thinking so far
	place  int    // of the next block of thinking
	calls  int
	begun  bool
	usage  scrollback.Usage
	prefix string
}

// Write plays an answer. Reasoning that ends with a payload that says "redacted" is
// redacted; a payload alone is thinking whose text is not shown.
func (s *server) Write(w http.ResponseWriter, r *http.Request, answer modeltest.Stream) {
	s.mu.Lock()
	body := s.pending[r]
	delete(s.pending, r)
	s.answers++
	out := &answerWriter{s: s, w: w, body: body, n: s.answers, index: -1}
	s.mu.Unlock()
	prefixes := body.listPrefixes()
	out.prefix = prefixes[len(prefixes)-1]
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Request-Id", fmt.Sprintf("req_%04d", out.n))
	for d, err := range answer {
		if err != nil {
			out.beginMessage()
			out.sendEvent("error", map[string]any{"error": map[string]string{"type": "api_error",
				"message": "Internal server error"}})
			return
		}
		out.writeDelta(d)
	}
}

func (o *answerWriter) sendEvent(kind string, fields map[string]any) {
	fields["type"] = kind
	b, err := json.Marshal(fields)
	if err != nil {
		return // our own types always encode
	}
	fmt.Fprintf(o.w, "event: %s\ndata: %s\n\n", kind, b)
	_ = http.NewResponseController(o.w).Flush() // the client may be gone
}

func (o *answerWriter) beginMessage() {
	if o.begun {
		return
	}
	o.begun = true
	o.sendEvent("message_start", map[string]any{"message": map[string]any{"id": fmt.Sprintf("msg_%04d", o.n),
		"type": "message",
		"role": "assistant", "model": o.body.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": o.body.countTokens(), "cache_creation_input_tokens": 0,
			"cache_read_input_tokens": 0, "output_tokens": 1}}})
	o.sendEvent("ping", map[string]any{})
}

// beginBlock begins a block.
func (o *answerWriter) beginBlock(fields map[string]any) {
	o.endBlock()
	o.beginMessage()
	o.index++
	o.kind, _ = fields["type"].(string)
	o.sendEvent("content_block_start", map[string]any{"index": o.index, "content_block": fields})
}

func (o *answerWriter) sendPiece(kind, field, text string) {
	o.sendEvent("content_block_delta", map[string]any{"index": o.index,
		"delta": map[string]any{"type": kind, field: text}})
}

// endBlock ends the block; thinking gets its signature.
func (o *answerWriter) endBlock() {
	if o.kind == "" {
		return
	}
	if o.kind == "thinking" {
		o.sendPiece("signature_delta", "signature", o.issueSignature(o.text, false))
	}
	o.sendEvent("content_block_stop", map[string]any{"index": o.index})
	o.kind = ""
	o.text = ""
}

// issueSignature makes what is to come back, and remembers it.
func (o *answerWriter) issueSignature(text string, redacted bool) string {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	sign := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "signed?>~%s/%d/%d", o.body.Model, o.n, o.place))
	o.s.issued[sign] = issuedThinking{model: o.body.Model, text: text, prefix: o.prefix, redacted: redacted, answer: o.n,
		place: o.place, calls: o.calls}
	o.place++
	return sign
}

func (o *answerWriter) writeDelta(d model.Delta) {
	if d.Reasoning != "" && o.body.isThinking() {
		if o.kind != "thinking" {
			o.beginBlock(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
		}
		o.text += d.Reasoning
		o.sendPiece("thinking_delta", "thinking", d.Reasoning)
	}
	if d.Text != "" {
		if o.kind != "text" {
			o.beginBlock(map[string]any{"type": "text", "text": ""})
		}
		o.sendPiece("text_delta", "text", d.Text)
	}
	if d.Search != nil {
		o.writeSearch(*d.Search)
	}
	switch {
	case d.Call != nil:
		o.writeCall(*d.Call)
	case d.Opaque != nil && o.body.isThinking():
		o.writePayload(d.Opaque)
	case d.End:
		o.endBlock()
	}
	if d.Usage != nil {
		o.usage = *d.Usage
	}
	if d.Finish != "" {
		o.endMessage(d.Finish)
	}
}

func (o *answerWriter) writeCall(c scrollback.ToolCall) {
	o.beginBlock(map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}})
	o.calls++
	if args := string(c.Arguments); args != "{}" {
		o.sendPiece("input_json_delta", "partial_json", "")
		half := len(args) / 2
		for half > 0 && args[half]&0xC0 == 0x80 { // not within a character
			half--
		}
		o.sendPiece("input_json_delta", "partial_json", args[:half])
		o.sendPiece("input_json_delta", "partial_json", args[half:])
	}
	o.endBlock()
}

// writeSearch writes what is searched for and what was found, as the server does by itself.
func (o *answerWriter) writeSearch(s scrollback.Search) {
	id := fmt.Sprintf("srvtoolu_%04d", o.index+1)
	o.beginBlock(map[string]any{"type": "server_tool_use", "id": id, "name": "web_search", "input": map[string]any{}})
	input, _ := json.Marshal(map[string]string{"query": s.Query}) // texts always encode
	o.sendPiece("input_json_delta", "partial_json", string(input))
	var found any = map[string]any{"type": "web_search_tool_result_error", "error_code": "unavailable"}
	if s.Error == "" {
		pages := []any{}
		for _, r := range s.Results {
			pages = append(pages, map[string]any{"type": "web_search_result", "url": r.URL, "title": r.Title,
				"encrypted_content": "EqgfCioI", "page_age": nil})
		}
		found = pages
	}
	o.beginBlock(map[string]any{"type": "web_search_tool_result", "tool_use_id": id, "content": found})
	o.endBlock()
}

func (o *answerWriter) writePayload(p scrollback.Opaque) {
	var says struct {
		Redacted string `json:"redacted"`
	}
	redacted := json.Unmarshal(p, &says) == nil && says.Redacted != ""
	switch {
	case o.kind == "thinking":
	case redacted:
		o.beginBlock(map[string]any{"type": "redacted_thinking", "data": o.issueSignature("", true)})
	default:
		o.beginBlock(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
	}
	o.endBlock()
}

func (o *answerWriter) endMessage(finish string) {
	o.endBlock()
	o.beginMessage()
	reason := map[string]string{scrollback.FinishStop: "end_turn", scrollback.FinishToolCalls: "tool_use",
		scrollback.FinishLength: "max_tokens", "content_filter": "refusal"}[finish]
	if reason == "" {
		reason = finish
	}
	u := o.usage
	o.sendEvent("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
		"usage": map[string]any{"input_tokens": u.InputTokens - u.CachedTokens - u.CacheWriteTokens,
			"cache_read_input_tokens":     u.CachedTokens,
			"cache_creation_input_tokens": u.CacheWriteTokens, "output_tokens": u.OutputTokens,
			"output_tokens_details": map[string]any{"thinking_tokens": u.ReasoningTokens}}})
	o.sendEvent("message_stop", map[string]any{})
}
