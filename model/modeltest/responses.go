package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/wire"
)

// ResponsesOptions say what the server of responses is like.
type ResponsesOptions struct {
	XAI     bool     // it is xAI's: errors are texts, and there is no role developer
	Limit   int64    // of tokens, four bytes each; 0 for none
	Models  []string // that it knows; nil for all
	Refuses []string // parameters that it refuses beside what its models do
	Key     string   // that it wants; empty for any

	Late       bool   // what is too long, or cannot be paid, it says within HTTP 200
	Wordless   bool   // and then without a message
	Spent      bool   // there is no quota left
	Incomplete string // why no answer is whole; empty where it is
	Cut        bool   // its streams end without their last event
	Phases     bool   // its messages have a phase
	Forgets    bool   // it cannot read the reasoning it made any more
}

// NewResponses stands in for a server of OpenAI's responses.
func NewResponses(m model.Model, o ResponsesOptions) *Strict {
	return &Strict{model: m, speak: &responses{o: o, thoughts: map[string]responsesThought{}, calls: map[string]string{}}}
}

type responses struct {
	o ResponsesOptions

	mu       sync.Mutex
	made     int
	thoughts map[string]responsesThought // by encrypted content
	calls    map[string]string           // of a call's item its reasoning's, by ids
}

// responsesThought is reasoning that was given out.
type responsesThought struct{ id, model string }

// responsesAsked is what write knows of the request.
type responsesAsked struct {
	model     string
	encrypted bool
	summary   bool
	stream    bool
	tools     bool
}

type responsesKey struct{}

func (p *responses) handles(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses")
}

func (p *responses) serve(w http.ResponseWriter, r *http.Request) {
	p.refuse(w, *refusef("url", http.StatusNotFound, "unknown_url", "Unknown request URL: %s %s. Please check the URL for typos, or see the docs", r.Method, r.URL.Path))
}

// id makes an id of a kind.
func (p *responses) id(kind string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return fmt.Sprintf("%s_%032x", kind, p.made)
}

// responsesReason says whether a model reasons.
func responsesReason(model string) bool {
	return slices.ContainsFunc([]string{"gpt-5", "gpt-6", "o1", "o3", "o4", "codex", "grok-4", "grok-3-mini", "grok-code"}, func(b string) bool { return strings.HasPrefix(model, b) })
}

func (p *responses) read(r *http.Request, body []byte) (model.Request, *Refused) {
	var fields map[string]json.RawMessage
	var req wire.ResponsesRequest
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(body, &req) != nil {
		return model.Request{}, refusef("json", http.StatusBadRequest, "", "We could not parse the JSON body of your request.")
	}
	for _, judge := range []func() *Refused{
		func() *Refused { return p.judgeCaller(r, req) },
		func() *Refused { return p.judgeParams(req, fields) },
		func() *Refused { return p.judgeItems(req) },
		func() *Refused { return p.judgeLength(body) },
	} {
		if why := judge(); why != nil {
			return model.Request{}, why
		}
	}
	asked := responsesAsked{model: req.Model, stream: req.Stream, encrypted: slices.Contains(req.Include, "reasoning.encrypted_content"),
		summary: req.Reasoning != nil && req.Reasoning.Summary != "", tools: len(req.Tools) > 0}
	*r = *r.WithContext(context.WithValue(r.Context(), responsesKey{}, asked))
	return responsesRequest(req), nil
}

func (p *responses) judgeCaller(r *http.Request, req wire.ResponsesRequest) *Refused {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case p.o.Key != "" && key != p.o.Key:
		masked := key[:min(len(key), 8)] + "***" + key[max(len(key)-4, 0):]
		return refusef("key", http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: %s. You can find your API key at https://platform.openai.com/account/api-keys.", masked)
	case req.Model == "":
		return refusef("model", http.StatusBadRequest, "missing_required_parameter", "Missing required parameter: 'model'.")
	case p.o.Models != nil && !slices.Contains(p.o.Models, req.Model):
		return refusef("model", http.StatusNotFound, "model_not_found", "The model '%s' does not exist or you do not have access to it.", req.Model)
	case p.o.Spent:
		return refusef("quota", http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")
	}
	return nil
}

// responsesParams are the fields of a request.
var responsesParams = []string{"model", "input", "instructions", "tools", "tool_choice", "max_output_tokens", "reasoning", "include", "prompt_cache_key", "store", "stream", "temperature", "top_p", "text", "metadata"}

func (p *responses) judgeParams(req wire.ResponsesRequest, fields map[string]json.RawMessage) *Refused {
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
		if !slices.Contains(responsesParams, name) {
			return p.param("unknown", name, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", name))
		}
	}
	reasons := responsesReason(req.Model)
	for _, name := range []string{"reasoning.effort", "reasoning.summary", "include", "temperature", "top_p", "prompt_cache_key", "stream", "tool_choice", "max_output_tokens"} {
		refused := slices.Contains(p.o.Refuses, name)
		switch name {
		case "reasoning.effort":
			refused = refused || !reasons || p.o.XAI && !strings.HasPrefix(req.Model, "grok-4.3") && !strings.HasPrefix(req.Model, "grok-3-mini")
		case "include", "reasoning.summary":
			refused = refused || !reasons
		case "temperature", "top_p":
			refused = refused || reasons
		}
		if refused && sent(name) {
			return p.refusedParam(req.Model, name)
		}
	}
	switch {
	case req.Store:
		return p.param("store", "store", "", "Store must be set to false")
	case sent("max_output_tokens") && req.MaxOutputTokens < 16:
		return p.param("min output", "max_output_tokens", "integer_below_min_value", fmt.Sprintf("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", req.MaxOutputTokens))
	case len(req.PromptCacheKey) > 64:
		return p.param("cache key", "prompt_cache_key", "string_above_max_length", fmt.Sprintf("Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", len(req.PromptCacheKey)))
	}
	for i, t := range req.Tools {
		if t.Name == "" || len(t.Parameters) == 0 {
			return p.param("tool", fmt.Sprintf("tools[%d].parameters", i), "missing_required_parameter", fmt.Sprintf("Missing required parameter: 'tools[%d].parameters'.", i))
		}
	}
	return nil
}

// refusedParam refuses a parameter in the words for it.
func (p *responses) refusedParam(model, name string) *Refused {
	switch {
	case p.o.XAI && name == "reasoning.effort":
		return p.param("effort", name, "invalid-argument", fmt.Sprintf("Model %s does not support parameter reasoningEffort.", model))
	case p.o.XAI:
		return p.param("xai "+name, name, "invalid-argument", fmt.Sprintf("Argument not supported: %s", name))
	case name == "reasoning.summary" && responsesReason(model):
		return p.param("summary", name, "unsupported_value", "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.")
	case name == "stream":
		return p.param("stream", name, "unsupported_value", "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.")
	case name == "include":
		return p.param("include", name, "", "Encrypted content is not supported with this model.")
	}
	return p.param(name, name, "unsupported_parameter", fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name))
}

// param is the refusal of a parameter.
func (p *responses) param(rule, name, code, words string) *Refused {
	return &Refused{Rule: rule, Status: http.StatusBadRequest, Code: code, Param: name, Words: words}
}

func (p *responses) judgeLength(body []byte) *Refused {
	n := int64(len(body) / 4)
	switch {
	case p.o.Limit == 0 || n <= p.o.Limit:
		return nil
	case p.o.XAI:
		return refusef("too long", http.StatusBadRequest, "invalid-argument", "This model's maximum prompt length is %d but the request contains %d tokens.", p.o.Limit, n)
	}
	why := refusef("too long", http.StatusBadRequest, "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again.")
	why.Param = "input"
	return why
}

// refuse writes a refusal: within a stream, where the server notices late.
func (p *responses) refuse(w http.ResponseWriter, why Refused) {
	if p.o.Late && (why.Rule == "too long" || why.Rule == "quota") {
		if p.o.Wordless {
			why.Words = ""
		}
		out := &responsesWriter{p: p, w: w, stream: true, id: p.id("resp")}
		out.begin()
		if why.Rule == "quota" {
			out.event("error", map[string]any{"error": map[string]any{"type": why.Code, "code": why.Code, "message": why.Words, "param": nil}})
		}
		out.event("response.failed", map[string]any{"response": out.response("failed", map[string]any{"error": map[string]any{"code": why.Code, "message": why.Words}})})
		return
	}
	var param, code any
	if why.Param != "" {
		param = why.Param
	}
	if why.Code != "" {
		code = why.Code
	}
	body := map[string]any{"error": map[string]any{"message": why.Words, "type": "invalid_request_error", "param": param, "code": code}}
	if p.o.XAI {
		body = map[string]any{"code": code, "error": why.Words}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(why.Status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

// responsesRequest is a request in our own words, without images and reasoning.
func responsesRequest(req wire.ResponsesRequest) model.Request {
	r := model.Request{MaxOutputTokens: req.MaxOutputTokens, AnswerOnly: req.ToolChoice == "none", CacheKey: req.PromptCacheKey}
	for _, raw := range req.Input {
		var it responsesItem
		_ = json.Unmarshal(raw, &it) // it was judged
		item := scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.Role(it.Role)}
		switch it.Type {
		case "message", "":
			for _, c := range it.content() {
				item.Parts = append(item.Parts, scrollback.Text{Text: c.Text})
			}
		case "function_call":
			item.Role, item.Parts = scrollback.RoleAssistant, scrollback.Parts{scrollback.ToolCall{ID: it.CallID, Name: it.Name, Arguments: json.RawMessage(it.Arguments)}}
		case "function_call_output":
			item.Role, item.Parts = scrollback.RoleTool, scrollback.Parts{scrollback.ToolResult{CallID: it.CallID, Text: it.Output}}
		default:
			continue
		}
		r.Items = append(r.Items, item)
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, scrollback.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return r
}
