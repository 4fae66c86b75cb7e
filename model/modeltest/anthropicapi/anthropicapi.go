// Package anthropicapi stands in for Anthropic's Messages API: it refuses what the
// real server refuses, in its words, and plays a model for the rest.
//
// Words it adds: issue (a block of thinking as it was sent, recognised by its signature
// or its redacted data), mark (a cache_control, where the prompt cache may
// end).
//
// Thinking comes back whole, unchanged and in its order, to the model that made it.
// For a model that is bound, nothing before it may have changed either. What a model
// accepts is a row of Models. What the server refuses is listed in
// docs/guides/dialects-anthropic.md.
//
// It may not know model/anthropic, which is tested with it, nor another stand-in.
package anthropicapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Model is a model that the stand-in has.
type Model struct {
	Name                string
	MaxInput, MaxOutput int64
	Thinks              string // the types of thinking it takes, with blanks between: adaptive, enabled, disabled
	Default             bool   // it thinks unasked
	Efforts             string // the levels it knows, with blanks between
	Sampling            bool   // it takes temperature, top_p and top_k
	Prefill             bool   // an assistant may have the last word
	Bound               bool   // its thinking is refused once what stood before it has changed
}

// Models returns models as the real server has them.
func Models() []Model {
	const all = "low medium high xhigh max"
	return []Model{
		{Name: "claude-opus-5-5", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive", Default: true, Efforts: all,
			Bound: true},
		{Name: "claude-fable-5-1", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive", Default: true, Efforts: all,
			Bound: true},
		{Name: "claude-haiku-5-5", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive disabled", Default: true,
			Efforts: all},
		{Name: "claude-sonnet-5", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive disabled", Default: true,
			Efforts: all},
		{Name: "claude-opus-4-8", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive disabled", Efforts: all},
		{Name: "claude-opus-4-6", MaxInput: 1_000_000, MaxOutput: 128_000, Thinks: "adaptive enabled disabled",
			Efforts: "low medium high max", Sampling: true},
		{Name: "claude-sonnet-4-5", MaxInput: 200_000, MaxOutput: 64_000, Thinks: "enabled disabled", Sampling: true,
			Prefill: true},
		{Name: "claude-3-5-haiku-20241022", MaxInput: 200_000, MaxOutput: 8192, Thinks: "disabled", Sampling: true,
			Prefill: true},
	}
}

// Options say what the stand-in is like; zero fields are the real server's.
type Options struct {
	Key    string   // the one that is taken; empty takes any
	Limit  int64    // of input, in tokens of four bytes; 0 for the model's own
	Models []Model  // nil for Models
	Refuse []string // fields of a request that it does not know

	NoSearch bool // it does not search the web
}

// server is the protocol of the Messages API.
type server struct {
	o Options

	mu      sync.Mutex
	issued  map[string]issuedThinking // by signature, or redacted data
	answers int
	pending map[*http.Request]*body
}

// issuedThinking is a block of thinking as it was given out.
type issuedThinking struct {
	model, text, prefix string
	redacted            bool
	answer, place       int // of which answer, and which of its blocks of thinking
	calls               int // of the answer that stood before it
}

// New returns a stand-in of Anthropic's Messages API that plays m. It gives
// thinking signatures, and refuses thinking that comes back changed, in part, in
// another order, or to another model.
func New(m model.Model, o *Options) *modeltest.Strict {
	s := &server{issued: map[string]issuedThinking{}, pending: map[*http.Request]*body{}}
	if o != nil {
		s.o = *o
	}
	if s.o.Models == nil {
		s.o.Models = Models()
	}
	return modeltest.NewStrict(m, s)
}

func (s *server) findModel(name string) (Model, bool) {
	i := slices.IndexFunc(s.o.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return s.o.Models[i], true
}

func (s *server) Handles(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/v1/messages"
}

// Serve describes one model.
func (s *server) Serve(w http.ResponseWriter, r *http.Request) {
	if why := s.checkHead(r); why != nil {
		s.Refuse(w, *why)
		return
	}
	id, ok := strings.CutPrefix(r.URL.Path, "/v1/models/")
	m, known := s.findModel(id)
	switch {
	case !ok || r.Method != http.MethodGet:
		s.Refuse(w, *modeltest.Refused{Rule: "address", Status: http.StatusNotFound,
			Code: "not_found_error"}.WithWords("Not found"))
	case !known:
		s.Refuse(w, *modeltest.Refused{Rule: "model", Status: http.StatusNotFound,
			Code: "not_found_error"}.WithWords("model: %s", id))
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"type":"model","id":%q,"display_name":%q,"created_at":"1970-01-01T00:00:00Z","max_input_tokens":%d,"max_tokens":%d,"capabilities":null}`,
			m.Name, m.Name, cmp.Or(s.o.Limit, m.MaxInput), m.MaxOutput)
	}
}

// checkHead judges what stands before a body.
func (s *server) checkHead(r *http.Request) *modeltest.Refused {
	switch key := r.Header.Get("X-Api-Key"); {
	case key == "":
		return modeltest.Refused{Rule: "key", Status: http.StatusUnauthorized,
			Code: "authentication_error"}.WithWords("x-api-key header is required")
	case s.o.Key != "" && key != s.o.Key:
		return modeltest.Refused{Rule: "key", Status: http.StatusUnauthorized,
			Code: "authentication_error"}.WithWords("invalid x-api-key")
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return badRequest("version", "anthropic-version: header is required")
	}
	return nil
}

func (s *server) Refuse(w http.ResponseWriter, why modeltest.Refused) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_refused")
	w.WriteHeader(why.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]any{"type": "error", "request_id": "req_refused", // the client may be gone
		"error": map[string]string{"type": why.Code, "message": why.Words}})
}

func (s *server) Read(r *http.Request, raw []byte) (model.Request, *modeltest.Refused) {
	if why := s.checkHead(r); why != nil {
		return model.Request{}, why
	}
	if len(raw) > 32<<20 {
		return model.Request{}, modeltest.Refused{Rule: "bytes", Status: http.StatusRequestEntityTooLarge,
			Code: "request_too_large"}.WithWords("Request exceeds the maximum size")
	}
	if modeltest.IllFormed(raw) {
		return model.Request{}, badRequest("well-formed",
			"The request body is not valid JSON: no low surrogate in string: line 1 column %d (char %d)", len(raw), len(raw)-1)
	}
	b, why := s.readBody(raw)
	if why != nil {
		return model.Request{}, why
	}
	b.binds = strings.Contains(r.Header.Get("Anthropic-Beta"), "thinking-binding-controls-2026-08-01")
	for _, rule := range []func(*body) *modeltest.Refused{s.checkParameters, s.checkThinking, s.checkMarks,
		s.checkContents, s.checkCalls,
		s.checkThoughts, s.checkLength} {
		if why := rule(b); why != nil {
			return model.Request{}, why
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending[r] = b
	context.AfterFunc(r.Context(), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.pending, r)
	})
	return b.toRequest(), nil
}
