package chatapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

func (s *server) refuseKey() *modeltest.Refused {
	switch s.o.Server {
	case "deepseek":
		return modeltest.Refused{Rule: "key", Status: 401,
			Code: "invalid_request_error"}.WithWords("Authentication Fails, Your api key: ****key is invalid")
	case "xai":
		return badRequest("key", "invalid-argument",
			"Incorrect API key provided: sk***ey. You can obtain an API key from https://console.x.ai.")
	case "ark":
		return modeltest.Refused{Rule: "key", Status: 401,
			Code: "AuthenticationError"}.WithWords("The API key format is incorrect.")
	case "openrouter":
		return modeltest.Refused{Rule: "key", Status: 401, Code: "401"}.WithWords("No auth credentials found")
	case "moonshot":
		return modeltest.Refused{Rule: "key", Status: 401,
			Code: "invalid_authentication_error"}.WithWords("Invalid Authentication")
	case "workers-ai":
		return modeltest.Refused{Rule: "key", Status: 401, Code: "10000"}.WithWords("Authentication error")
	}
	return modeltest.Refused{Rule: "key", Status: 401,
		Code: "invalid_api_key"}.WithWords(
		"Incorrect API key provided: sk-wrong. You can find your API key at https://platform.openai.com/account/api-keys.")
}

func (s *server) refuseModel(name string) *modeltest.Refused {
	switch s.o.Server {
	case "deepseek":
		return badRequest("model", "invalid_request_error", "Model Not Exist")
	case "ark":
		return modeltest.Refused{Rule: "model", Status: 404,
			Code: "InvalidEndpointOrModel.NotFound"}.WithWords(
			"The model or endpoint %s does not exist or you do not have access to it.", name)
	case "openrouter":
		return badRequest("model", "400", "%s is not a valid model ID", name)
	case "moonshot":
		return modeltest.Refused{Rule: "model", Status: 404,
			Code: "resource_not_found_error"}.WithWords("Not found the model %s or Permission denied", name)
	case "workers-ai":
		return badRequest("model", "5007", "No such model %s or task", name)
	}
	return modeltest.Refused{Rule: "model", Status: 404,
		Code: "model_not_found"}.WithWords("The model `%s` does not exist or you do not have access to it.", name)
}

func (s *server) refuseParameter(name string) *modeltest.Refused {
	why := badRequest("parameter", "unsupported_parameter",
		"Unsupported parameter: '%s' is not supported with this model.", name)
	why.Param = name
	switch s.o.Server {
	case "openai":
		if name == "max_tokens" {
			why.Words += " Use 'max_completion_tokens' instead."
		}
	case "xai":
		why = badRequest("parameter", "invalid-argument", "Argument not supported on this model: %s", name)
	case "vllm":
		why = badRequest("parameter", "",
			"[{'type': 'extra_forbidden', 'loc': ('body', '%s'), 'msg': 'Extra inputs are not permitted'}]", name)
	case "workers-ai":
		why = badRequest("parameter", "5006", "AiError: Bad input: Error: unknown property '%s'", name)
	case "dashscope", "ark":
		why = badRequest("parameter", "InvalidParameter",
			"The parameter `%s` specified in the request is not supported by this model.", name)
	case "lmstudio", "llama.cpp":
		why = badRequest("parameter", "invalid_request_error", "Unrecognized key(s) in object: '%s'", name)
	case "custom":
		why = badRequest("parameter", "invalid_request_error", "Unknown parameter: %s", name)
	}
	return why
}

// checkRoles refuses what the model's template does, in its words.
func (s *server) checkRoles(messages []message) *modeltest.Refused {
	before := ""
	for i, m := range messages {
		if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) &&
			!(m.Role == "developer" && s.o.Server == "openai") {
			return badRequest("role", "invalid_request_error",
				"Failed to deserialize the JSON body into the target type: messages[%d].role: unknown variant `%s`, expected one of `system`, `user`, `assistant`, `tool`", i, m.Role)
		}
		switch {
		case m.Role == "system" && s.hasRule(NoSystem):
			return badRequest("no-system", "", "System role not supported")
		case m.Role == "system" && i > 0 && s.hasRule(SystemFront):
			return badRequest("system-front", "", "System message must be at the beginning.")
		case s.hasRule(Alternates|NoSystem) && (m.Role == "system" && i > 0 || m.Role == before && m.Role != "tool" ||
			m.Role == "assistant" && (before == "" || before == "system")):
			return badRequest("turns", "",
				"After the optional system message, conversation roles must alternate user/assistant/user/assistant/...")
		}
		before = m.Role
	}
	return nil
}

// checkLengths refuses a request or an answer that is too long.
func (s *server) checkLengths(raw map[string]json.RawMessage, req wire.ChatRequest) *modeltest.Refused {
	asked := max(req.MaxTokens, req.MaxCompletionTokens)
	n := int64(len(raw["messages"])+len(raw["tools"])) / 4
	if s.o.MaxOutput > 0 && asked > s.o.MaxOutput {
		return s.refuseMaximum(asked)
	}
	sums := !slices.Contains([]string{"xai", "moonshot", "dashscope", "llama.cpp", "lmstudio"}, s.o.Server)
	if s.o.Limit > 0 && (n > s.o.Limit || sums && n+asked > s.o.Limit) {
		return s.refuseLength(n, asked)
	}
	return nil
}

func (s *server) refuseMaximum(asked int64) *modeltest.Refused {
	const rule = "max-output"
	switch s.o.Server {
	case "dashscope":
		return badRequest(rule, "invalid_parameter_error",
			"<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, %d]", s.o.MaxOutput)
	case "ark":
		return badRequest(rule, "InvalidParameter",
			"The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= %d, but got %d instead.", s.o.MaxOutput, asked)
	case "deepseek":
		return badRequest(rule, "invalid_request_error", "Invalid max_tokens value, the valid range of max_tokens is [1, %d]",
			s.o.MaxOutput)
	}
	return badRequest(rule, "invalid_value",
		"max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", asked,
		s.o.MaxOutput, asked)
}

func (s *server) refuseLength(n, asked int64) *modeltest.Refused {
	const rule = "too-long"
	l := s.o.Limit
	switch s.o.Server {
	case "deepseek":
		return badRequest(rule, "invalid_request_error",
			"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.", l, n+asked, n, asked)
	case "moonshot":
		return badRequest(rule, "invalid_request_error",
			"Invalid request: Your request exceeded model token limit: %d (requested: %d)", l, n)
	case "xai":
		return badRequest(rule, "invalid-argument",
			"This model's maximum prompt length is %d but the request contains %d tokens.",
			l, n)
	case "openrouter":
		return badRequest(rule, "400",
			"This endpoint's maximum context length is %d tokens. However, you requested about %d tokens (%d of text input, %d in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.", l, n+asked, n, asked)
	case "dashscope":
		return badRequest(rule, "invalid_parameter_error",
			"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, %d]", l)
	case "ark":
		return badRequest(rule, "InvalidParameter", "Total tokens of image and text exceed max message tokens")
	case "workers-ai":
		return modeltest.Refused{Rule: rule, Status: 413,
			Code: "5021"}.WithWords(
			"AiError: AiError: The estimated number of input and maximum output tokens (%d) exceeded this model context window limit (%d)", n+asked, l)
	case "vllm":
		return badRequest(rule, "",
			"This model's maximum context length is %d tokens. However, you requested %d output tokens and your prompt contains at least %d input tokens, for a total of at least %d tokens. Please reduce the length of the input prompt or the number of requested output tokens.", l, asked, l-asked+1, l+1)
	case "llama.cpp":
		return badRequest(rule, "", "request (%d tokens) exceeds the available context size (%d tokens), try increasing it",
			n, l)
	case "lmstudio":
		return badRequest(rule, "",
			"Trying to keep the first %d tokens when context the overflows. However, the number of tokens to keep from the initial prompt is greater than the context length (n_keep: %d>= n_ctx: %d)", n, n, l)
	}
	return badRequest(rule, "context_length_exceeded",
		"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", l, n)
}

func (s *server) Refuse(w http.ResponseWriter, why modeltest.Refused) {
	if why.Rule == "too-long" && s.hasRule(LongWithin200) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: error\ndata: %s\n\n", s.refusalBody(why))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(why.Status)
	_, _ = w.Write(s.refusalBody(why)) // the client may be gone
}

// refusalBody returns the body of a refusal in the server's form.
func (s *server) refusalBody(why modeltest.Refused) []byte {
	kind := "invalid_request_error"
	code := any(why.Code)
	param := any(nil)
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
			words = "Error rendering prompt with jinja template: \"" + words +
				"\". This is usually an issue with the model's prompt template."
		}
		body = object{"error": words}
	case "moonshot":
		body = object{"error": object{"message": why.Words, "type": why.Code}}
	case "openrouter":
		body = object{"error": object{"message": why.Words, "code": why.Status}}
		if !slices.Contains([]string{"key", "model", "too-long"}, why.Rule) { // of those who serve the model
			// texts always encode
			raw, _ := json.Marshal(object{"error": object{"message": why.Words, "type": kind, "param": param}})
			body = object{"error": object{"message": "Provider returned error", "code": why.Status,
				"metadata": object{"raw": string(raw), "provider_name": "Someone"}}}
		}
	case "dashscope":
		body = object{"error": object{"message": why.Words, "type": why.Code, "param": param, "code": why.Code},
			"request_id": "3f1c"}
	case "ark":
		body = object{"error": object{"message": why.Words + " Request id: 0217", "type": "BadRequest", "param": "",
			"code": why.Code}}
	case "workers-ai":
		number, err := strconv.Atoi(why.Code)
		if err != nil {
			number = 5006 // a bad input
		}
		body = object{"success": false, "errors": []any{object{"message": why.Words, "code": number}}, "result": object{},
			"messages": []any{}}
	case "vllm":
		body = object{"error": object{"message": why.Words, "type": "BadRequestError", "param": param, "code": why.Status}}
	case "llama.cpp":
		inner := object{"message": why.Words, "type": kind, "code": why.Status}
		var n, l int64
		if _, err := fmt.Sscanf(why.Words, "request (%d tokens) exceeds the available context size (%d", &n, &l); err == nil {
			inner = object{"message": why.Words, "type": "exceed_context_size_error", "code": why.Status, "n_prompt_tokens": n,
				"n_ctx": l}
		}
		body = object{"error": inner}
	}
	b, _ := json.Marshal(body) // texts and numbers always encode
	return []byte(strings.TrimSpace(string(b)))
}

// badRequest returns a refusal of a request that is not as it should be.
func badRequest(rule, code, format string, args ...any) *modeltest.Refused {
	return modeltest.Refused{Rule: rule, Status: http.StatusBadRequest, Code: code}.WithWords(format, args...)
}
