package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/wire"
)

func (s *chatServer) noKey() *Refused {
	switch s.o.Server {
	case "deepseek":
		return refusef("key", 401, "invalid_request_error", "Authentication Fails, Your api key: ****key is invalid")
	case "xai":
		return refusef("key", 400, "invalid-argument", "Incorrect API key provided: sk***ey. You can obtain an API key from https://console.x.ai.")
	case "ark":
		return refusef("key", 401, "AuthenticationError", "The API key format is incorrect.")
	case "openrouter":
		return refusef("key", 401, "401", "No auth credentials found")
	case "moonshot":
		return refusef("key", 401, "invalid_authentication_error", "Invalid Authentication")
	case "workers-ai":
		return refusef("key", 401, "10000", "Authentication error")
	}
	return refusef("key", 401, "invalid_api_key", "Incorrect API key provided: sk-wrong. You can find your API key at https://platform.openai.com/account/api-keys.")
}

func (s *chatServer) noModel(name string) *Refused {
	switch s.o.Server {
	case "deepseek":
		return refusef("model", 400, "invalid_request_error", "Model Not Exist")
	case "ark":
		return refusef("model", 404, "InvalidEndpointOrModel.NotFound", "The model or endpoint %s does not exist or you do not have access to it.", name)
	case "openrouter":
		return refusef("model", 400, "400", "%s is not a valid model ID", name)
	case "moonshot":
		return refusef("model", 404, "resource_not_found_error", "Not found the model %s or Permission denied", name)
	case "workers-ai":
		return refusef("model", 400, "5007", "No such model %s or task", name)
	}
	return refusef("model", 404, "model_not_found", "The model `%s` does not exist or you do not have access to it.", name)
}

func (s *chatServer) noParameter(name string) *Refused {
	why := refusef("parameter", 400, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", name)
	why.Param = name
	switch s.o.Server {
	case "openai":
		if name == "max_tokens" {
			why.Words += " Use 'max_completion_tokens' instead."
		}
	case "xai":
		why = refusef("parameter", 400, "invalid-argument", "Argument not supported on this model: %s", name)
	case "vllm":
		why = refusef("parameter", 400, "", "[{'type': 'extra_forbidden', 'loc': ('body', '%s'), 'msg': 'Extra inputs are not permitted'}]", name)
	case "workers-ai":
		why = refusef("parameter", 400, "5006", "AiError: Bad input: Error: unknown property '%s'", name)
	case "dashscope", "ark":
		why = refusef("parameter", 400, "InvalidParameter", "The parameter `%s` specified in the request is not supported by this model.", name)
	case "lmstudio", "llama.cpp":
		why = refusef("parameter", 400, "invalid_request_error", "Unrecognized key(s) in object: '%s'", name)
	case "custom":
		why = refusef("parameter", 400, "invalid_request_error", "Unknown parameter: %s", name)
	}
	return why
}

// roles refuses what the model's template does, in its words.
func (s *chatServer) roles(messages []chatMessage) *Refused {
	before := ""
	for i, m := range messages {
		if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) && !(m.Role == "developer" && s.o.Server == "openai") {
			return refusef("role", 400, "invalid_request_error", "Failed to deserialize the JSON body into the target type: messages[%d].role: unknown variant `%s`, expected one of `system`, `user`, `assistant`, `tool`", i, m.Role)
		}
		switch {
		case m.Role == "system" && s.has(ChatNoSystem):
			return refusef("no-system", 400, "", "System role not supported")
		case m.Role == "system" && i > 0 && s.has(ChatSystemFront):
			return refusef("system-front", 400, "", "System message must be at the beginning.")
		case s.has(ChatAlternates|ChatNoSystem) && (m.Role == "system" && i > 0 || m.Role == before && m.Role != "tool" || m.Role == "assistant" && (before == "" || before == "system")):
			return refusef("turns", 400, "", "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...")
		}
		before = m.Role
	}
	return nil
}

// lengths refuses a request or an answer that is too long.
func (s *chatServer) lengths(raw map[string]json.RawMessage, req wire.ChatRequest) *Refused {
	asked, n := int64(max(req.MaxTokens, req.MaxCompletionTokens)), int64(len(raw["messages"])+len(raw["tools"]))/4
	if s.o.MaxOutput > 0 && asked > s.o.MaxOutput {
		return s.tooMuch(asked)
	}
	sums := !slices.Contains([]string{"xai", "moonshot", "dashscope", "llama.cpp", "lmstudio"}, s.o.Server)
	if s.o.Limit > 0 && (n > s.o.Limit || sums && n+asked > s.o.Limit) {
		return s.tooLong(n, asked)
	}
	return nil
}

func (s *chatServer) tooMuch(asked int64) *Refused {
	const rule = "max-output"
	switch s.o.Server {
	case "dashscope":
		return refusef(rule, 400, "invalid_parameter_error", "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, %d]", s.o.MaxOutput)
	case "ark":
		return refusef(rule, 400, "InvalidParameter", "The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= %d, but got %d instead.", s.o.MaxOutput, asked)
	case "deepseek":
		return refusef(rule, 400, "invalid_request_error", "Invalid max_tokens value, the valid range of max_tokens is [1, %d]", s.o.MaxOutput)
	}
	return refusef(rule, 400, "invalid_value", "max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", asked, s.o.MaxOutput, asked)
}

func (s *chatServer) tooLong(n, asked int64) *Refused {
	const rule = "too-long"
	l := s.o.Limit
	switch s.o.Server {
	case "deepseek":
		return refusef(rule, 400, "invalid_request_error", "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.", l, n+asked, n, asked)
	case "moonshot":
		return refusef(rule, 400, "invalid_request_error", "Invalid request: Your request exceeded model token limit: %d (requested: %d)", l, n)
	case "xai":
		return refusef(rule, 400, "invalid-argument", "This model's maximum prompt length is %d but the request contains %d tokens.", l, n)
	case "openrouter":
		return refusef(rule, 400, "400", "This endpoint's maximum context length is %d tokens. However, you requested about %d tokens (%d of text input, %d in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.", l, n+asked, n, asked)
	case "dashscope":
		return refusef(rule, 400, "invalid_parameter_error", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, %d]", l)
	case "ark":
		return refusef(rule, 400, "InvalidParameter", "Total tokens of image and text exceed max message tokens")
	case "workers-ai":
		return refusef(rule, 413, "5021", "AiError: AiError: The estimated number of input and maximum output tokens (%d) exceeded this model context window limit (%d)", n+asked, l)
	case "vllm":
		return refusef(rule, 400, "", "This model's maximum context length is %d tokens. However, you requested %d output tokens and your prompt contains at least %d input tokens, for a total of at least %d tokens. Please reduce the length of the input prompt or the number of requested output tokens.", l, asked, l-asked+1, l+1)
	case "llama.cpp":
		return refusef(rule, 400, "", "request (%d tokens) exceeds the available context size (%d tokens), try increasing it", n, l)
	case "lmstudio":
		return refusef(rule, 400, "", "Trying to keep the first %d tokens when context the overflows. However, the number of tokens to keep from the initial prompt is greater than the context length (n_keep: %d>= n_ctx: %d)", n, n, l)
	}
	return refusef(rule, 400, "context_length_exceeded", "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", l, n)
}

// refuse implements protocol.
func (s *chatServer) refuse(w http.ResponseWriter, why Refused) {
	if why.Rule == "too-long" && s.has(ChatLongWithin200) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: error\ndata: %s\n\n", s.complaint(why))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(why.Status)
	_, _ = w.Write(s.complaint(why)) // the client may be gone
}

// complaint is the body of a refusal in the server's form.
func (s *chatServer) complaint(why Refused) []byte {
	type object = map[string]any
	kind, code, param := "invalid_request_error", any(why.Code), any(nil)
	if why.Param != "" {
		param = why.Param
	}
	if why.Code == "" {
		code = nil
	}
	var body any = object{"error": object{"message": why.Words, "type": kind, "param": param, "code": code}}
	switch s.o.Server {
	case "xai":
		body = object{"code": why.Code, "error": why.Words}
	case "lmstudio":
		words := why.Words
		if why.Rule == "turns" {
			words = "Error rendering prompt with jinja template: \"" + words + "\". This is usually an issue with the model's prompt template."
		}
		body = object{"error": words}
	case "moonshot":
		body = object{"error": object{"message": why.Words, "type": why.Code}}
	case "openrouter":
		body = object{"error": object{"message": why.Words, "code": why.Status}}
		if !slices.Contains([]string{"key", "model", "too-long"}, why.Rule) { // of those who serve the model
			raw, _ := json.Marshal(object{"error": object{"message": why.Words, "type": kind, "param": param}}) // texts always encode
			body = object{"error": object{"message": "Provider returned error", "code": why.Status, "metadata": object{"raw": string(raw), "provider_name": "Someone"}}}
		}
	case "dashscope":
		body = object{"error": object{"message": why.Words, "type": why.Code, "param": param, "code": why.Code}, "request_id": "3f1c"}
	case "ark":
		body = object{"error": object{"message": why.Words + " Request id: 0217", "type": "BadRequest", "param": "", "code": why.Code}}
	case "workers-ai":
		number, err := strconv.Atoi(why.Code)
		if err != nil {
			number = 5006 // a bad input
		}
		body = object{"success": false, "errors": []any{object{"message": why.Words, "code": number}}, "result": object{}, "messages": []any{}}
	case "vllm":
		body = object{"error": object{"message": why.Words, "type": "BadRequestError", "param": param, "code": why.Status}}
	case "llama.cpp":
		inner := object{"message": why.Words, "type": kind, "code": why.Status}
		var n, l int64
		if _, err := fmt.Sscanf(why.Words, "request (%d tokens) exceeds the available context size (%d", &n, &l); err == nil {
			inner = object{"message": why.Words, "type": "exceed_context_size_error", "code": why.Status, "n_prompt_tokens": n, "n_ctx": l}
		}
		body = object{"error": inner}
	}
	b, _ := json.Marshal(body) // texts and numbers always encode
	return []byte(strings.TrimSpace(string(b)))
}
