// Package geminiapi stands in for Google's Gemini API: it refuses what the real
// server refuses, in its words, and plays a model for the rest.
//
// Words it adds: hop (the frames of a reply that one request gets; a token requests
// the next ones), signature (what a part of a reply must bring back).
//
// A signature comes back on the part that it was given on, unchanged, to the model
// that gave it. The real server checks the calls of the current turn; this one checks
// the whole conversation, so that nothing is lost unnoticed. What it refuses
// is listed in docs/guides/dialects-gemini.md.
//
// It may not know model/gemini, which is tested with it, nor another stand-in.
package geminiapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Options say what the stand-in is like. Zero values are those of the real server.
type Options struct {
	Key       string   // empty takes any key
	Models    []string // that are served; empty for one of each family
	Limit     int64    // tokens of input, four bytes each; 0 means 1,048,576
	MaxOutput int64    // 0 means 65,536
	Refuse    []string // fields that it does not know
	NoSearch  bool     // it does not search the web
	NoIDs     bool     // calls come without ids
	Hop       int      // frames after which an answer goes on in another request; 0 for never
}

// New stands in for the server of the Gemini API.
func New(m model.Model, o *Options) *modeltest.Strict {
	s := &server{given: map[string]signaturePlace{}, ids: map[string]string{}, more: map[string]remainder{},
		asked: map[*http.Request]request{}}
	if o != nil {
		s.o = *o
	}
	if len(s.o.Models) == 0 {
		s.o.Models = []string{"gemini-3-flash-preview", "gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.5-pro",
			"gemini-2.0-flash", "gemma-3-27b-it"}
	}
	s.o.Limit = cmp.Or(s.o.Limit, 1<<20)
	s.o.MaxOutput = cmp.Or(s.o.MaxOutput, 1<<16)
	return modeltest.NewStrict(m, s)
}

// server is the protocol of the Gemini API.
type server struct {
	o Options

	mu      sync.Mutex
	answers []keptAnswer
	given   map[string]signaturePlace // by signature
	ids     map[string]string         // of calls → the model that made them
	more    map[string]remainder      // by token
	asked   map[*http.Request]request
}

// signaturePlace is where a signature was given: on which part of which answer.
type signaturePlace struct {
	answer int
	part   string // without its signature
}

// keptAnswer is what is kept of an answer, to know it again.
type keptAnswer struct {
	model, text, thoughts string
	signatures            []string
}

// remainder is what is left of an answer that goes on in another request.
type remainder struct {
	body   string
	frames []frame
}

const modelsPath = "/v1beta/models/"

// parseTarget returns the model that a request names, and what it wants of it.
func parseTarget(r *http.Request) (id, method string) {
	id, method, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, modelsPath), ":")
	return id, method
}

func (s *server) Handles(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, modelsPath)
}

// Serve describes a model as the list of models does.
func (s *server) Serve(w http.ResponseWriter, r *http.Request) {
	id, _ := parseTarget(r)
	if why := s.checkEntry(r, id); why != nil {
		s.Refuse(w, *why)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	// the client may be gone
	_ = json.NewEncoder(w).Encode(map[string]any{"name": "models/" + id, "inputTokenLimit": s.o.Limit,
		"outputTokenLimit":           s.o.MaxOutput,
		"supportedGenerationMethods": []string{"generateContent", "countTokens"}})
}

// checkEntry judges the key and the model.
func (s *server) checkEntry(r *http.Request, id string) *modeltest.Refused {
	switch key := r.Header.Get("X-Goog-Api-Key"); {
	case key == "":
		return modeltest.Refused{Rule: "no-key", Status: 403,
			Code: "PERMISSION_DENIED"}.WithWords(
			"Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.")
	case s.o.Key != "" && key != s.o.Key:
		return refuseInvalid("bad-key", "API key not valid. Please pass a valid API key.")
	case !slices.Contains(s.o.Models, id):
		return modeltest.Refused{Rule: "no-model", Status: 404,
			Code: "NOT_FOUND"}.WithWords(
			"models/%s is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.", id)
	}
	return nil
}

// refusal is the body of a refusal.
type refusal struct {
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
		Details []any  `json:"details,omitempty"`
	} `json:"error"`
}

func (s *server) Refuse(w http.ResponseWriter, why modeltest.Refused) {
	var body refusal
	body.Error.Code = why.Status
	body.Error.Message = why.Words
	body.Error.Status = why.Code
	switch why.Rule {
	case "bad-key":
		body.Error.Details = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
			"reason": "API_KEY_INVALID",
			"domain": "googleapis.com", "metadata": map[string]string{"service": "generativelanguage.googleapis.com"}}}
	case "field":
		body.Error.Details = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.BadRequest",
			"fieldViolations": []any{map[string]string{"description": why.Words}}}}
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(why.Status)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(body) // the client may be gone
}
