package modeltest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// AnthropicModel is a model that the stand-in of Anthropic's server has.
type AnthropicModel struct {
	Name                string
	MaxInput, MaxOutput int64
	Thinks              string // the types of thinking it takes, with blanks between: adaptive, enabled, disabled
	Default             bool   // it thinks unasked
	Efforts             string // the levels it knows, with blanks between
	Sampling            bool   // it takes temperature, top_p and top_k
	Prefill             bool   // an assistant may have the last word
	Bound               bool   // its thinking is refused once what stood before it has changed
}

// AnthropicModels are models as the real server has them.
func AnthropicModels() []AnthropicModel {
	const all = "low medium high xhigh max"
	return []AnthropicModel{
		{Name: "claude-opus-5-5", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive", Default: true, Efforts: all, Bound: true},
		{Name: "claude-fable-5-1", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive", Default: true, Efforts: all, Bound: true},
		{Name: "claude-haiku-5-5", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive disabled", Default: true, Efforts: all},
		{Name: "claude-sonnet-5", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive disabled", Default: true, Efforts: all},
		{Name: "claude-opus-4-8", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive disabled", Efforts: all},
		{Name: "claude-opus-4-6", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive enabled disabled", Efforts: "low medium high max", Sampling: true},
		{Name: "claude-sonnet-4-5", MaxInput: 200_000, MaxOutput: 64_000, Thinks: "enabled disabled", Sampling: true, Prefill: true},
		{Name: "claude-3-5-haiku-20241022", MaxInput: 200_000, MaxOutput: 8192, Thinks: "disabled", Sampling: true, Prefill: true},
	}
}

// AnthropicOptions say what the stand-in is like; zero fields are the real server's.
type AnthropicOptions struct {
	Key    string           // the one that is taken; empty takes any
	Limit  int64            // of input, in tokens of four bytes; 0 for the model's own
	Models []AnthropicModel // nil for AnthropicModels
	Refuse []string         // fields of a request that it does not know
}

// anthropic is the stand-in of Anthropic's server.
type anthropic struct {
	o AnthropicOptions

	mu      sync.Mutex
	issued  map[string]anthropicIssue // by signature, or redacted data
	answers int
	pending map[*http.Request]*anthropicBody
}

// anthropicIssue is a block of thinking as it was given out.
type anthropicIssue struct {
	model, text, prefix string
	redacted            bool
	answer, place       int // of which answer, and which of its blocks of thinking
	calls               int // of the answer that stood before it
}

// NewAnthropic is a stand-in of Anthropic's Messages API that plays m. It gives
// thinking signatures, and refuses thinking that comes back changed, in part, in
// another order, or to another model.
func NewAnthropic(m model.Model, o *AnthropicOptions) *Strict {
	a := &anthropic{issued: map[string]anthropicIssue{}, pending: map[*http.Request]*anthropicBody{}}
	if o != nil {
		a.o = *o
	}
	if a.o.Models == nil {
		a.o.Models = AnthropicModels()
	}
	return &Strict{model: m, speak: a}
}

func (a *anthropic) find(name string) (AnthropicModel, bool) {
	i := slices.IndexFunc(a.o.Models, func(m AnthropicModel) bool { return m.Name == name })
	if i < 0 {
		return AnthropicModel{}, false
	}
	return a.o.Models[i], true
}

func (a *anthropic) handles(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/v1/messages"
}

// serve tells of one model.
func (a *anthropic) serve(w http.ResponseWriter, r *http.Request) {
	if why := a.head(r); why != nil {
		a.refuse(w, *why)
		return
	}
	id, ok := strings.CutPrefix(r.URL.Path, "/v1/models/")
	m, known := a.find(id)
	switch {
	case !ok || r.Method != http.MethodGet:
		a.refuse(w, *refusef("address", http.StatusNotFound, "not_found_error", "Not found"))
	case !known:
		a.refuse(w, *refusef("model", http.StatusNotFound, "not_found_error", "model: %s", id))
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"type":"model","id":%q,"display_name":%q,"created_at":"1970-01-01T00:00:00Z","max_input_tokens":%d,"max_tokens":%d,"capabilities":null}`,
			m.Name, m.Name, cmp.Or(a.o.Limit, m.MaxInput), m.MaxOutput)
	}
}

// head judges what stands before a body.
func (a *anthropic) head(r *http.Request) *Refused {
	switch key := r.Header.Get("X-Api-Key"); {
	case key == "":
		return refusef("key", http.StatusUnauthorized, "authentication_error", "x-api-key header is required")
	case a.o.Key != "" && key != a.o.Key:
		return refusef("key", http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return refusef("version", http.StatusBadRequest, "invalid_request_error", "anthropic-version: header is required")
	}
	return nil
}

func (a *anthropic) refuse(w http.ResponseWriter, why Refused) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_refused")
	w.WriteHeader(why.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]any{"type": "error", "request_id": "req_refused", // the client may be gone
		"error": map[string]string{"type": why.Code, "message": why.Words}})
}

func (a *anthropic) read(r *http.Request, raw []byte) (model.Request, *Refused) {
	if why := a.head(r); why != nil {
		return model.Request{}, why
	}
	if len(raw) > 32<<20 {
		return model.Request{}, refusef("bytes", http.StatusRequestEntityTooLarge, "request_too_large", "Request exceeds the maximum size")
	}
	b, why := a.body(raw)
	if why != nil {
		return model.Request{}, why
	}
	b.binds = strings.Contains(r.Header.Get("Anthropic-Beta"), "thinking-binding-controls-2026-08-01")
	for _, rule := range []func(*anthropicBody) *Refused{a.parameters, a.thinking, a.marks, a.contents, a.calls, a.thoughts, a.length} {
		if why := rule(b); why != nil {
			return model.Request{}, why
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending[r] = b
	context.AfterFunc(r.Context(), func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.pending, r)
	})
	return b.request(), nil
}

// anthropicStream writes one answer.
type anthropicStream struct {
	a    *anthropic
	w    http.ResponseWriter
	body *anthropicBody

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

// write plays an answer. Reasoning that ends with a payload that says "redacted" is
// redacted; a payload alone is thinking whose text is not shown.
func (a *anthropic) write(w http.ResponseWriter, r *http.Request, answer Stream) {
	a.mu.Lock()
	body := a.pending[r]
	delete(a.pending, r)
	a.answers++
	s := &anthropicStream{a: a, w: w, body: body, n: a.answers, index: -1}
	a.mu.Unlock()
	prefixes := body.prefixes()
	s.prefix = prefixes[len(prefixes)-1]
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Request-Id", fmt.Sprintf("req_%04d", s.n))
	for d, err := range answer {
		if err != nil {
			s.begin()
			s.send("error", map[string]any{"error": map[string]string{"type": "api_error", "message": "Internal server error"}})
			return
		}
		s.delta(d)
	}
}

func (s *anthropicStream) send(kind string, fields map[string]any) {
	fields["type"] = kind
	b, err := json.Marshal(fields)
	if err != nil {
		return // our own types always encode
	}
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, b)
	_ = http.NewResponseController(s.w).Flush() // the client may be gone
}

func (s *anthropicStream) begin() {
	if s.begun {
		return
	}
	s.begun = true
	s.send("message_start", map[string]any{"message": map[string]any{"id": fmt.Sprintf("msg_%04d", s.n), "type": "message", "role": "assistant", "model": s.body.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": s.body.weight(), "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}}})
	s.send("ping", map[string]any{})
}

// block begins a block.
func (s *anthropicStream) block(fields map[string]any) {
	s.close()
	s.begin()
	s.index++
	s.kind, _ = fields["type"].(string)
	s.send("content_block_start", map[string]any{"index": s.index, "content_block": fields})
}

func (s *anthropicStream) piece(kind, field, text string) {
	s.send("content_block_delta", map[string]any{"index": s.index, "delta": map[string]any{"type": kind, field: text}})
}

// close ends the block; thinking gets its signature.
func (s *anthropicStream) close() {
	if s.kind == "" {
		return
	}
	if s.kind == "thinking" {
		s.piece("signature_delta", "signature", s.issue(s.text, false))
	}
	s.send("content_block_stop", map[string]any{"index": s.index})
	s.kind, s.text = "", ""
}

// issue makes what is to come back, and remembers it.
func (s *anthropicStream) issue(text string, redacted bool) string {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	sign := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "signed?>~%s/%d/%d", s.body.Model, s.n, s.place))
	s.a.issued[sign] = anthropicIssue{model: s.body.Model, text: text, prefix: s.prefix, redacted: redacted, answer: s.n, place: s.place, calls: s.calls}
	s.place++
	return sign
}

func (s *anthropicStream) delta(d model.Delta) {
	if d.Reasoning != "" && s.body.thinks() {
		if s.kind != "thinking" {
			s.block(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
		}
		s.text += d.Reasoning
		s.piece("thinking_delta", "thinking", d.Reasoning)
	}
	if d.Text != "" {
		if s.kind != "text" {
			s.block(map[string]any{"type": "text", "text": ""})
		}
		s.piece("text_delta", "text", d.Text)
	}
	switch {
	case d.Call != nil:
		s.call(*d.Call)
	case d.Opaque != nil && s.body.thinks():
		s.payload(d.Opaque)
	case d.End:
		s.close()
	}
	if d.Usage != nil {
		s.usage = *d.Usage
	}
	if d.Finish != "" {
		s.end(d.Finish)
	}
}

func (s *anthropicStream) call(c scrollback.ToolCall) {
	s.block(map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}})
	s.calls++
	if args := string(c.Arguments); args != "{}" {
		s.piece("input_json_delta", "partial_json", "")
		half := len(args) / 2
		for half > 0 && args[half]&0xC0 == 0x80 { // not within a character
			half--
		}
		s.piece("input_json_delta", "partial_json", args[:half])
		s.piece("input_json_delta", "partial_json", args[half:])
	}
	s.close()
}

func (s *anthropicStream) payload(o scrollback.Opaque) {
	var says struct {
		Redacted string `json:"redacted"`
	}
	redacted := json.Unmarshal(o, &says) == nil && says.Redacted != ""
	switch {
	case s.kind == "thinking":
	case redacted:
		s.block(map[string]any{"type": "redacted_thinking", "data": s.issue("", true)})
	default:
		s.block(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
	}
	s.close()
}

func (s *anthropicStream) end(finish string) {
	s.close()
	s.begin()
	reason := map[string]string{scrollback.FinishStop: "end_turn", scrollback.FinishToolCalls: "tool_use", scrollback.FinishLength: "max_tokens", "content_filter": "refusal"}[finish]
	if reason == "" {
		reason = finish
	}
	u := s.usage
	s.send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
		"usage": map[string]any{"input_tokens": u.InputTokens - u.CachedTokens - u.CacheWriteTokens, "cache_read_input_tokens": u.CachedTokens,
			"cache_creation_input_tokens": u.CacheWriteTokens, "output_tokens": u.OutputTokens, "output_tokens_details": map[string]any{"thinking_tokens": u.ReasoningTokens}}})
	s.send("message_stop", map[string]any{})
}
