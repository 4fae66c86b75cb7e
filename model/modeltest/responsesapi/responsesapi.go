// Package responsesapi stands in for servers of OpenAI's Responses API, OpenAI's own
// and xAI's: it refuses what they refuse, in their words, and plays a model for the
// rest.
//
// Words it adds: item (one entry of an input: a message, a call, an output of one,
// reasoning), late (a server that notices an error only within its response).
//
// Nothing is stored, so reasoning comes back encrypted, as it was sent, to the model
// that produced it, and never alone. A call that comes back under its item's id comes
// after the reasoning that it originally followed. Each call has one output. What
// the servers refuse is described in docs/guides/dialects-openai.md.
//
// It may not know model/openai, which is tested with it, nor another stand-in.
package responsesapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Options say what the server of responses is like.
type Options struct {
	XAI     bool     // it is xAI's: errors are texts, and there is no role developer
	Limit   int64    // of tokens, four bytes each; 0 for none
	Models  []string // that it knows; nil for all
	Refuses []string // parameters that it refuses beside what its models do
	Key     string   // that it wants; empty for any
	IDs     string   // begins the ids that it gives out, so that those of two servers differ

	Late       bool   // what is too long, or cannot be paid, it says within HTTP 200
	Wordless   bool   // and then without a message
	Spent      bool   // there is no quota left
	Incomplete string // why no answer is whole; empty where it is
	NoSearch   bool   // no model of it searches the web
	Cut        bool   // its streams end without their last event
	Phases     bool   // its messages have a phase
	Forgets    bool   // it cannot read the reasoning it made any more
}

// New stands in for a server of OpenAI's responses.
func New(m model.Model, o Options) *modeltest.Strict {
	return modeltest.NewStrict(m, newServer(o))
}

func newServer(o Options) *server {
	return &server{o: o, thoughts: map[string]issuedReasoning{}, calls: map[string]string{}}
}

// server is the protocol of responses.
type server struct {
	o Options

	mu       sync.Mutex
	made     int
	thoughts map[string]issuedReasoning // by encrypted content
	calls    map[string]string          // of a call's item its reasoning's, by ids
}

// issuedReasoning is reasoning that was given out.
type issuedReasoning struct{ id, model string }

// pendingAnswer is what Write knows of the request.
type pendingAnswer struct {
	model     string
	encrypted bool
	summary   bool
	stream    bool
	tools     bool
}

type askKey struct{}

func (s *server) Handles(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses")
}

func (s *server) Serve(w http.ResponseWriter, r *http.Request) {
	s.Refuse(w, *modeltest.Refused{Rule: "url", Status: http.StatusNotFound,
		Code: "unknown_url"}.WithWords("Unknown request URL: %s %s. Please check the URL for typos, or see the docs",
		r.Method,
		r.URL.Path))
}

// newID makes an id of a kind.
func (s *server) newID(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return fmt.Sprintf("%s_%s%032x", kind, s.o.IDs, s.made)
}

// isReasoner reports whether a model reasons.
func isReasoner(model string) bool {
	return slices.ContainsFunc([]string{"gpt-5", "gpt-6", "o1", "o3", "o4", "codex", "grok-4", "grok-3-mini", "grok-code"},
		func(b string) bool { return strings.HasPrefix(model, b) })
}

func (s *server) Read(r *http.Request, body []byte) (model.Request, *modeltest.Refused) {
	if modeltest.IllFormed(body) {
		return model.Request{}, modeltest.Refused{Rule: "well-formed",
			Status: http.StatusBadRequest}.WithWords(
			"We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)")
	}
	var fields map[string]json.RawMessage
	var req wire.ResponsesRequest
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(body, &req) != nil {
		return model.Request{}, modeltest.Refused{Rule: "json",
			Status: http.StatusBadRequest}.WithWords("We could not parse the JSON body of your request.")
	}
	for _, judge := range []func() *modeltest.Refused{
		func() *modeltest.Refused { return s.judgeCaller(r, req) },
		func() *modeltest.Refused { return s.judgeParams(req, fields) },
		func() *modeltest.Refused { return s.judgeItems(req) },
		func() *modeltest.Refused { return s.judgeLength(body) },
	} {
		if why := judge(); why != nil {
			return model.Request{}, why
		}
	}
	asked := pendingAnswer{model: req.Model, stream: req.Stream,
		encrypted: slices.Contains(req.Include, "reasoning.encrypted_content"),
		summary:   req.Reasoning != nil && req.Reasoning.Summary != "", tools: len(req.Tools) > 0}
	*r = *r.WithContext(context.WithValue(r.Context(), askKey{}, asked))
	return toRequest(req), nil
}

func (s *server) judgeCaller(r *http.Request, req wire.ResponsesRequest) *modeltest.Refused {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case s.o.Key != "" && key != s.o.Key:
		masked := key[:min(len(key), 8)] + "***" + key[max(len(key)-4, 0):]
		return modeltest.Refused{Rule: "key", Status: http.StatusUnauthorized,
			Code: "invalid_api_key"}.WithWords(
			"Incorrect API key provided: %s. You can find your API key at https://platform.openai.com/account/api-keys.", masked)
	case req.Model == "":
		return modeltest.Refused{Rule: "model", Status: http.StatusBadRequest,
			Code: "missing_required_parameter"}.WithWords("Missing required parameter: 'model'.")
	case s.o.Models != nil && !slices.Contains(s.o.Models, req.Model):
		return modeltest.Refused{Rule: "model", Status: http.StatusNotFound,
			Code: "model_not_found"}.WithWords("The model '%s' does not exist or you do not have access to it.", req.Model)
	case s.o.Spent:
		return modeltest.Refused{Rule: "quota", Status: http.StatusTooManyRequests,
			Code: "insufficient_quota"}.WithWords("You exceeded your current quota, please check your plan and billing details.")
	}
	return nil
}

// knownFields are the fields of a request.
var knownFields = []string{"model", "input", "instructions", "tools", "tool_choice", "max_output_tokens", "reasoning",
	"include", "prompt_cache_key", "store", "stream", "temperature", "top_p", "text", "metadata"}

func (s *server) judgeParams(req wire.ResponsesRequest, fields map[string]json.RawMessage) *modeltest.Refused {
	sent := func(name string) bool {
		switch name {
		case "reasoning.effort":
			return req.Reasoning != nil && req.Reasoning.Effort != ""
		case "reasoning.summary":
			return req.Reasoning != nil && req.Reasoning.Summary != ""
		case "stream":
			return req.Stream
		}
		return fields[name] != nil
	}
	for name := range fields {
		if !slices.Contains(knownFields, name) {
			return s.refuseParam("unknown", name, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", name))
		}
	}
	reasons := isReasoner(req.Model)
	for _, name := range []string{"reasoning.effort", "reasoning.summary", "include", "temperature", "top_p",
		"prompt_cache_key", "stream", "tool_choice", "max_output_tokens"} {
		refused := slices.Contains(s.o.Refuses, name)
		switch name {
		case "reasoning.effort":
			refused = refused || !reasons || s.o.XAI && !strings.HasPrefix(req.Model, "grok-4.3") &&
				!strings.HasPrefix(req.Model, "grok-3-mini")
		case "include", "reasoning.summary":
			refused = refused || !reasons
		case "temperature", "top_p":
			refused = refused || reasons
		}
		if refused && sent(name) {
			return s.checkRefusedParam(req.Model, name)
		}
	}
	switch {
	case req.Store:
		return s.refuseParam("store", "store", "", "Store must be set to false")
	case sent("max_output_tokens") && req.MaxOutputTokens < 16:
		return s.refuseParam("min output", "max_output_tokens", "integer_below_min_value",
			fmt.Sprintf("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.",
				req.MaxOutputTokens))
	case len(req.PromptCacheKey) > 64:
		return s.refuseParam("cache key", "prompt_cache_key", "string_above_max_length",
			fmt.Sprintf("Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", len(req.PromptCacheKey)))
	}
	for i, t := range req.Tools {
		if t.Type == "web_search" && t.Name == "" && t.Strict == nil {
			if s.o.NoSearch {
				return s.refuseParam("search", "tools", "",
					fmt.Sprintf("Hosted tool 'web_search' is not supported with %s.", req.Model))
			}
			continue
		}
		if t.Name == "" || len(t.Parameters) == 0 {
			return s.refuseParam("tool", fmt.Sprintf("tools[%d].parameters", i), "missing_required_parameter",
				fmt.Sprintf("Missing required parameter: 'tools[%d].parameters'.", i))
		}
	}
	return nil
}

// checkRefusedParam refuses a parameter in the words for it.
func (s *server) checkRefusedParam(model, name string) *modeltest.Refused {
	switch {
	case s.o.XAI && name == "reasoning.effort":
		return s.refuseParam("effort", name, "invalid-argument",
			fmt.Sprintf("Model %s does not support parameter reasoningEffort.", model))
	case s.o.XAI:
		return s.refuseParam("xai "+name, name, "invalid-argument", fmt.Sprintf("Argument not supported: %s", name))
	case name == "reasoning.summary" && isReasoner(model):
		return s.refuseParam("summary", name, "unsupported_value",
			"Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.")
	case name == "stream":
		return s.refuseParam("stream", name, "unsupported_value",
			"Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.")
	case name == "include":
		return s.refuseParam("include", name, "", "Encrypted content is not supported with this model.")
	}
	return s.refuseParam(name, name, "unsupported_parameter",
		fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name))
}

// refuseParam returns the refusal of a parameter.
func (s *server) refuseParam(rule, name, code, words string) *modeltest.Refused {
	return &modeltest.Refused{Rule: rule, Status: http.StatusBadRequest, Code: code, Param: name, Words: words}
}

func (s *server) judgeLength(body []byte) *modeltest.Refused {
	n := int64(len(body) / 4)
	switch {
	case s.o.Limit == 0 || n <= s.o.Limit:
		return nil
	case s.o.XAI:
		return modeltest.Refused{Rule: "too long", Status: http.StatusBadRequest,
			Code: "invalid-argument"}.WithWords("This model's maximum prompt length is %d but the request contains %d tokens.",
			s.o.Limit, n)
	}
	why := modeltest.Refused{Rule: "too long", Status: http.StatusBadRequest,
		Code: "context_length_exceeded"}.WithWords(
		"Your input exceeds the context window of this model. Please adjust your input and try again.")
	why.Param = "input"
	return why
}

// Refuse writes a refusal: within a stream, where the server notices late.
func (s *server) Refuse(w http.ResponseWriter, why modeltest.Refused) {
	if s.o.Late && (why.Rule == "too long" || why.Rule == "quota") {
		if s.o.Wordless {
			why.Words = ""
		}
		out := &answerWriter{s: s, w: w, stream: true, id: s.newID("resp")}
		out.beginAnswer()
		if why.Rule == "quota" {
			out.writeEvent("error", map[string]any{"error": map[string]any{"type": why.Code, "code": why.Code,
				"message": why.Words,
				"param":   nil}})
		}
		out.writeEvent("response.failed", map[string]any{"response": out.responseSoFar("failed",
			map[string]any{"error": map[string]any{"code": why.Code, "message": why.Words}})})
		return
	}
	var param, code any
	if why.Param != "" {
		param = why.Param
	}
	if why.Code != "" {
		code = why.Code
	}
	body := map[string]any{"error": map[string]any{"message": why.Words, "type": "invalid_request_error", "param": param,
		"code": code}}
	if s.o.XAI {
		body = map[string]any{"code": code, "error": why.Words}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(why.Status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

// toRequest returns a request in our own words, without images and reasoning.
func toRequest(req wire.ResponsesRequest) model.Request {
	r := model.Request{MaxOutputTokens: req.MaxOutputTokens, AnswerOnly: req.ToolChoice == "none",
		CacheKey: req.PromptCacheKey}
	for _, raw := range req.Input {
		var it item
		_ = json.Unmarshal(raw, &it) // it was judged
		item := scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.Role(it.Role)}
		switch it.Type {
		case "message", "":
			for _, c := range it.readContent() {
				item.Parts = append(item.Parts, scrollback.Text{Text: c.Text})
			}
		case "function_call":
			item.Role = scrollback.RoleAssistant
			item.Parts = scrollback.Parts{scrollback.ToolCall{ID: it.CallID, Name: it.Name,
				Arguments: json.RawMessage(it.Arguments)}}
		case "function_call_output":
			item.Role = scrollback.RoleTool
			item.Parts = scrollback.Parts{scrollback.ToolResult{CallID: it.CallID, Text: it.Output}}
		default:
			continue
		}
		r.Items = append(r.Items, item)
	}
	for _, t := range req.Tools {
		if t.Type != "function" {
			r.WebSearch = true
			continue
		}
		r.Tools = append(r.Tools, scrollback.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return r
}
