package openai_test

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

const chatOpenAI = `{"error":{"message":"%","type":"invalid_request_error","param":null,"code":null}}`

// chatRefusal is what a server says, and what is made of it.
type chatRefusal struct {
	name, preset string
	status       int
	body         string // of which % stands for words
	words        string
	code         scrollback.Code
	again        bool // it is asked again
	lesson       model.Lesson
}

// chatRefusals are the words of docs/guides/dialects.md, and of the servers behind
// them.
var chatRefusals = []chatRefusal{
	// too long
	{"openai", "openai", 400,
		`{"error":{"message":"%","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length " +
			"of the messages.", "over_budget", false, model.Lesson{TooLong: true, Limit: 128000, Requested: 140000}},
	{"openai older", "openai", 400, chatOpenAI,
		"This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the " +
			"completion). Please reduce the length of the messages or completion.", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 4097, Requested: 4000}},
	{"openai without words", "openai", 400, `{"error":{"message":"","code":"context_length_exceeded"}}`, "", "over_budget",
		false,
		model.Lesson{TooLong: true}},
	{"responses' words", "openai", 400, chatOpenAI,
		"Your input exceeds the context window of this model. Please adjust your input and try again.", "over_budget", false,
		model.Lesson{TooLong: true}},
	{"deepseek", "deepseek", 400,
		`{"error":{"message":"%","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
		"This model's maximum context length is 131072 tokens. However, you requested 139000 tokens (131000 in the messages, 8000 in the " +
			"completion). Please reduce the length of the messages or completion.", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 131072, Requested: 131000}},
	{"moonshot", "moonshot", 400, `{"error":{"message":"%","type":"invalid_request_error"}}`,
		"Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 262144, Requested: 291351}},
	{"xai", "xai", 400, `{"code":"invalid-argument","error":"%"}`,
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 131072, Requested: 537812}},
	{"openrouter", "openrouter", 400, `{"error":{"message":"%","code":400,"metadata":{"provider_name":null}}}`,
		"This endpoint's maximum context length is 200000 tokens. However, you requested about 250123 tokens (218123 of text input, 32000 " +
			"in the output). Please reduce the length of either one.", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 200000, Requested: 218123}},
	{"openrouter upstream", "openrouter", 502,
		`{"error":{"message":"Provider returned ` +
			`error","code":502,"metadata":{"raw":"{\"error\":{\"message\":\"%\",\"type\":\"invalid_request_error\",` +
			`\"code\":\"context_length_exceeded\"}}","provider_name":"Azure"}}}`,
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
		"over_budget", false,
		model.Lesson{TooLong: true, Limit: 128000, Requested: 140000}},
	{"openrouter upstream without words", "openrouter", 502,
		`{"error":{"message":"Provider returned ` +
			`error","code":502,"metadata":{"raw":"{\"error\":{\"message\":\"no\",\"code\":\"context_length_exceeded\"}}"}}}`, "",
		"over_budget",
		false, model.Lesson{TooLong: true}},
	{"dashscope", "dashscope", 400, `{"error":{"message":"%","type":"invalid_request_error","param":null,` +
		`"code":"invalid_parameter_error"},"request_id":"a-1"}`,
		"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 98304}},
	{"ark", "ark", 400, `{"error":{"code":"InvalidParameter","message":"%","param":"","type":"BadRequest"}}`,
		"Total tokens of image and text exceed max message tokens. Request id: 02", "over_budget", false,
		model.Lesson{TooLong: true}},
	{"ark code", "ark", 400, `{"error":{"code":"OutofContextError","message":"%","param":"","type":"BadRequest"}}`,
		"The input is out of context", "over_budget", false, model.Lesson{TooLong: true}},
	{"workers-ai", "workers-ai", 413, `{"errors":[{"message":"%","code":5021}],"success":false,"result":{},"messages":[]}`,
		"AiError: AiError: The estimated number of input and maximum output tokens (40000) exceeded this model context window limit (32768)",
		"over_budget", false, model.Lesson{TooLong: true, Limit: 32768}},
	{"workers-ai code", "workers-ai", 400,
		`{"errors":[{"message":"AiError: Request is too large","code":3010}],"success":false}`, "",
		"over_budget", false, model.Lesson{TooLong: true}},
	{"vllm", "vllm", 400, `{"error":{"message":"%","type":"BadRequestError","param":"input_tokens","code":400}}`,
		"This model's maximum context length is 4096 tokens. However, you requested 512 output tokens and your prompt contains at least " +
			"3585 input tokens, for a total of at least 4097 tokens. Please reduce the length of the input prompt or the number of requested " +
			"output tokens.", "over_budget", false, model.Lesson{TooLong: true, Limit: 4096}},
	{"vllm older", "vllm", 400, `{"object":"error","message":"%","type":"BadRequestError","param":null,"code":400}`,
		"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4488 in the messages, 512 in the " +
			"completion). Please reduce the length of the messages or completion.", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 4096, Requested: 4488}},
	{"vllm answer", "vllm", 400, `{"object":"error","message":"%","type":"BadRequestError","param":null,"code":400}`,
		"'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request " +
			"has 100 input tokens (4000 > 4096 - 100).", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 4096, Requested: 100}},
	{"llama.cpp", "llama.cpp", 400,
		`{"error":{"code":400,"message":"%","type":"exceed_context_size_error","n_prompt_tokens":9001,` +
			`"n_ctx":8192}}`, "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it",
		"over_budget", false,
		model.Lesson{TooLong: true, Limit: 8192, Requested: 9001}},
	{"llama.cpp older", "llama.cpp", 400, `{"error":{"code":400,"message":"%","type":"invalid_request_error"}}`,
		"the request exceeds the available context size. try increasing the context size or enable context shift",
		"over_budget", false,
		model.Lesson{TooLong: true}},
	{"LM Studio", "lmstudio", 400, `{"error":"%"}`,
		"Trying to keep the first 11514 tokens when context the overflows. However, the model is loaded with context length of only 4096 " +
			"tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
		"over_budget", false,
		model.Lesson{TooLong: true, Limit: 4096, Requested: 11514}},
	{"LM Studio n_keep", "lmstudio", 400, `{"error":"%"}`,
		"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 11514>= n_ctx: 4096). Try to load " +
			"the model with a larger context length, or provide a shorter input.", "over_budget", false,
		model.Lesson{TooLong: true, Limit: 4096, Requested: 11514}},
	{"LM Studio truncate", "lmstudio", 400, `{"error":"%"}`, "Cannot truncate prompt with n_keep (11514) >= n_ctx (4096)",
		"over_budget",
		false, model.Lesson{TooLong: true, Limit: 4096, Requested: 11514}},
	{"LM Studio within 200", "lmstudio", 200, `{"error":"%"}`,
		"Cannot truncate prompt with n_keep (11514) >= n_ctx (4096)", "over_budget",
		false, model.Lesson{TooLong: true, Limit: 4096, Requested: 11514}},
	{"bytes", "custom", 413, `<html>413 Request Entity Too Large</html>`, "", "over_budget", false,
		model.Lesson{TooLong: true, Bytes: true}},
	{"bytes without a page", "custom", 413, ``, "", "over_budget", false, model.Lesson{TooLong: true, Bytes: true}},

	// an answer too long: asked again with what it gives
	{"dashscope's answer", "dashscope", 400,
		`{"error":{"message":"%","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"},"request_id":"a-1"}`,
		"<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 400]", "unavailable", true,
		model.Lesson{MaxOutput: 400}},
	{"ark's answer", "ark", 400,
		`{"error":{"code":"InvalidParameter","message":"%","param":"max_tokens","type":"BadRequest"}}`,
		"The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 400, but got " +
			"512 instead. Request id: 02", "unavailable", true, model.Lesson{MaxOutput: 400}},
	{"deepseek's answer", "deepseek", 400, chatOpenAI,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 400]", "unavailable",
		true, model.Lesson{MaxOutput: 400}},
	{"openai's answer", "openai", 400,
		`{"error":{"message":"%","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}`,
		"max_tokens is too large: 512. This model supports at most 400 completion tokens, whereas you provided 512.",
		"unavailable", true,
		model.Lesson{MaxOutput: 400}},

	// parameters: asked again without
	{"max_completion_tokens", "openai", 400,
		`{"error":{"message":"%","type":"invalid_request_error","param":"max_completion_tokens","code":"unsupported_parameter"}}`,
		"Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use 'max_tokens' instead.",
		"unavailable", true,
		model.Lesson{Drop: "max_completion_tokens"}},
	{"stream_options", "custom", 422,
		`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not ` +
			`permitted","input":{"include_usage":true}}]}`, "", "unavailable", true, model.Lesson{Drop: "stream_options"}},
	{"stream_options within 200", "custom", 200, chatOpenAI, "Unrecognized request argument supplied: stream_options",
		"unavailable", true,
		model.Lesson{Drop: "stream_options"}},
	{"tool_choice", "custom", 400, chatOpenAI, "Unrecognized request argument supplied: tool_choice", "unavailable", true,
		model.Lesson{Drop: "tool_choice"}},
	{"prompt_cache_key", "moonshot", 400, chatOpenAI, "Unknown parameter: 'prompt_cache_key'.", "unavailable", true,
		model.Lesson{Drop: "prompt_cache_key"}},
	{"reasoning_effort", "xai", 400, `{"code":"invalid-argument","error":"%"}`,
		"Model grok-4.20-reasoning does not support parameter reasoningEffort.", "unavailable", true,
		model.Lesson{Drop: "reasoning_effort"}},
	{"effort and tools", "openai", 400,
		`{"error":{"message":"%","type":"invalid_request_error","param":"reasoning_effort","code":null}}`,
		"Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. Please use /v1/responses instead.",
		"unavailable", true, model.Lesson{Drop: "function tools with reasoning_effort"}},
	{"an image", "deepseek", 400, chatOpenAI,
		"Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 99",
		"unavailable", true, model.Lesson{Drop: "image_url"}},
	{"images by OpenRouter", "openrouter", 404, `{"error":{"message":"%","code":404}}`,
		"No endpoints found that support image input",
		"invalid", true, model.Lesson{Drop: "image_url"}},
	{"images by llama.cpp", "llama.cpp", 500, `{"error":{"code":500,"message":"%","type":"server_error"}}`,
		"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", "unavailable", true,
		model.Lesson{Drop: "image_url"}},
	{"images by vLLM", "vllm", 400, chatOpenAI, "m is not a multimodal model", "unavailable", true,
		model.Lesson{Drop: "image_url"}},
	{"one image", "openai", 400,
		`{"error":{"message":"%","type":"invalid_request_error","param":"messages[1].content[1].image_url",` +
			`"code":"invalid_image_format"}}`, "You uploaded an unsupported image. image_url is invalid.", "unavailable", true,
		model.Lesson{NoImages: "d1a85a56b1a8d72b9f38362c"}},

	// templates
	{"gemma", "vllm", 400, `{"error":{"message":"%","type":"BadRequestError","param":null,"code":400}}`,
		"System role not supported",
		"unavailable", false, model.Lesson{Strict: scrollback.StrictNoSystem}},
	{"gemma in llama.cpp", "llama.cpp", 500, `{"error":{"code":500,"message":"%","type":"server_error"}}`,
		"Jinja Exception: System role not supported", "unavailable", false, model.Lesson{Strict: scrollback.StrictNoSystem}},
	{"gemma's turns", "vllm", 400, chatOpenAI, "Conversation roles must alternate user/assistant/user/assistant/...",
		"unavailable", false,
		model.Lesson{Strict: scrollback.StrictTurns}},
	{"mistral", "vllm", 400, chatOpenAI,
		"After the optional system message, conversation roles must alternate user and assistant roles " +
			"except for tool calls and results.", "unavailable", false, model.Lesson{Strict: scrollback.StrictTurns}},
	{"mistral 0.3", "vllm", 400, chatOpenAI,
		"Only user and assistant roles are supported, with the exception of an initial optional system message!",
		"unavailable", false,
		model.Lesson{Strict: scrollback.StrictTurns}},
	{"mistral 0.1", "vllm", 400, chatOpenAI, "Only user and assistant roles are supported!", "unavailable", false,
		model.Lesson{Strict: scrollback.StrictNoSystem}},
	{"mistral's tokenizer", "vllm", 400, chatOpenAI, "Unexpected role 'user' after role 'tool'", "unavailable", false,
		model.Lesson{Strict: scrollback.StrictTurns}},
	{"qwen", "llama.cpp", 500, `{"error":{"code":500,"message":"%","type":"server_error"}}`,
		"System message must be at the beginning.",
		"unavailable", false, model.Lesson{Strict: scrollback.StrictTurns}},
	{"LM Studio's template", "lmstudio", 400, `{"error":"%"}`,
		`Error rendering prompt with jinja template: \"Conversation roles must alternate user/assistant/user/assistant/...\". This is ` +
			`usually an issue with the model's prompt template.`, "unavailable", false,
		model.Lesson{Strict: scrollback.StrictTurns}},

	// money, rates, faults
	{"no quota", "openai", 429,
		`{"error":{"message":"You exceeded your current quota, please check your plan and billing ` +
			`details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, "", "refused", false,
		model.Lesson{}},
	{"a rate", "openai", 429,
		`{"error":{"message":"Rate limit reached for gpt-5 in organization o on tokens per min (TPM): Limit 30000, ` +
			`Used 29000, Requested 5000. Please try again in 8s.","type":"tokens","code":"rate_limit_exceeded"}}`, "",
		"rate_limited", true,
		model.Lesson{}},
	{"openai's fault", "openai", 500,
		`{"error":{"message":"The server had an error while processing your request.","type":"server_error"}}`,
		"", "unavailable", true, model.Lesson{}},
	{"a conflict", "openai", 409, `{"error":{"message":"lock"}}`, "", "unavailable", true, model.Lesson{}},
	{"a prompt", "openai", 400,
		`{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage ` +
			`policy.","type":"invalid_request_error","code":"invalid_prompt"}}`, "", "refused", false, model.Lesson{}},
	{"bio", "openai", 400, `{"error":{"message":"no","code":"bio_policy"}}`, "", "refused", false, model.Lesson{}},
	{"deepseek's balance", "deepseek", 402,
		`{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, "", "refused",
		false,
		model.Lesson{}},
	{"deepseek's parameters", "deepseek", 422, `{"error":{"message":"Invalid parameters","type":"invalid_request_error"}}`,
		"", "unavailable",
		false, model.Lesson{}},
	{"deepseek's load", "deepseek", 503,
		`{"error":{"message":"Service is too busy. We advise users to temporarily switch to alternative ` +
			`LLM API service providers.","type":"service_unavailable_error","code":"service_unavailable_error"}}`, "",
		"unavailable", true,
		model.Lesson{}},
	{"moonshot's balance", "moonshot", 429,
		`{"error":{"message":"Your account org is suspended due to insufficient balance, please recharge your ` +
			`account","type":"exceeded_current_quota_error"}}`, "", "refused", false, model.Lesson{}},
	{"moonshot's 403", "moonshot", 403, `{"error":{"message":"Your account is not active, current state: no ` +
		`balance","type":"permission_denied_error"}}`, "", "refused", false, model.Lesson{}},
	{"moonshot's load", "moonshot", 429, `{"error":{"message":"The engine is currently overloaded, please try again ` +
		`later","type":"engine_overloaded_error"}}`, "", "rate_limited", true, model.Lesson{}},
	{"moonshot's rate", "moonshot", 429,
		`{"error":{"message":"Your account reached max organization concurrency: 1, please try again ` +
			`after 1 seconds","type":"rate_limit_reached_error"}}`, "", "rate_limited", true, model.Lesson{}},
	{"moonshot's reasoning", "moonshot", 400, chatOpenAI,
		"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", "unavailable",
		false, model.Lesson{}},
	{"credits", "openrouter", 402,
		`{"error":{"message":"Insufficient credits. Add more using https://openrouter.ai/credits","code":402}}`, "",
		"refused", false, model.Lesson{}},
	{"moderation", "openrouter", 403, `{"error":{"message":"X requires moderation on Y. Your input was flagged for ` +
		`\"violence\".","code":403,"metadata":{"reasons":["violence"],"flagged_input":"a"}}}`, "", "refused", false,
		model.Lesson{}},
	{"openrouter's timeout", "openrouter", 408, `{"error":{"message":"timed out","code":408}}`, "", "unavailable", true,
		model.Lesson{}},
	{"openrouter's 502", "openrouter", 502,
		`{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"bad gateway"}}}`, "",
		"unavailable", true, model.Lesson{}},
	{"openrouter's 503", "openrouter", 503,
		`{"error":{"message":"There is no available model provider that meets your routing requirements","code":503}}`, "",
		"unavailable", true,
		model.Lesson{}},
	{"openrouter within 200", "openrouter", 200,
		`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down"}}}`,
		"", "rate_limited", true, model.Lesson{}},
	{"credits within 200", "openrouter", 200, `{"error":{"message":"no","code":402}}`, "", "refused", false,
		model.Lesson{}},
	{"a quota upstream", "openrouter", 429,
		`{"error":{"message":"Provider returned ` +
			`error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"m\",\"code\":\"insufficient_quota\"}}"}}}`, "",
		"refused", false,
		model.Lesson{}},
	{"dashscope's arrears", "dashscope", 400,
		`{"error":{"message":"Access denied, please make sure your account is in good ` +
			`standing.","type":"Arrearage","param":null,"code":"Arrearage"},"request_id":"a"}`, "", "refused", false,
		model.Lesson{}},
	{"dashscope's rate", "dashscope", 429, `{"error":{"message":"Requests rate limit ` +
		`exceeded","type":"limit_requests","code":"limit_requests"}}`, "", "rate_limited", true, model.Lesson{}},
	{"dashscope's throttle", "dashscope", 400,
		`{"error":{"message":"Requests too fast","type":"x","code":"Throttling.RateQuota"}}`, "",
		"rate_limited", true, model.Lesson{}},
	{"dashscope's inspection", "dashscope", 400,
		`{"error":{"message":"Input data may contain inappropriate content.","code":"data_inspection_failed"}}`, "",
		"refused", false,
		model.Lesson{}},
	{"ark's debt", "ark", 403,
		`{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue ` +
			`balance","type":"Forbidden"}}`, "", "refused", false, model.Lesson{}},
	{"ark's model", "ark", 404,
		`{"error":{"code":"ModelNotOpen","message":"Your account has not activated the model","type":"NotFound"}}`, "",
		"invalid", false, model.Lesson{}},
	{"ark's risk", "ark", 400,
		`{"error":{"code":"InputTextRiskDetection","message":"The request failed because the input text may ` +
			`contain sensitive information","type":"BadRequest"}}`, "", "refused", false, model.Lesson{}},
	{"ark's rate", "ark", 429,
		`{"error":{"code":"RateLimitExceeded.EndpointTPMExceeded","message":"The Tokens Per Minute limit is ` +
			`exceeded","type":"TooManyRequests"}}`, "", "rate_limited", true, model.Lesson{}},
	{"poe's rights", "poe", 403,
		`{"error":{"code":403,"type":"permission_error","message":"You do not have access to this bot"}}`, "",
		"refused", false, model.Lesson{}},
	{"poe's points", "poe", 402, `{"error":{"code":402,"type":"insufficient_credits","message":"Insufficient points"}}`,
		"", "refused", false,
		model.Lesson{}},
	{"poe's load", "poe", 529, `{"error":{"code":529,"type":"overloaded_error","message":"try later"}}`, "",
		"rate_limited", true,
		model.Lesson{}},
	{"workers' day", "workers-ai", 429, `{"errors":[{"message":"you have used up your daily free allocation of 10,000 ` +
		`neurons","code":3036}],"success":false}`, "", "refused", false, model.Lesson{}},
	{"workers' capacity", "workers-ai", 429,
		`{"errors":[{"message":"Capacity temporarily exceeded, please try again.","code":3040}],"success":false}`, "",
		"rate_limited", true,
		model.Lesson{}},
	{"workers' timeout", "workers-ai", 408, `{"errors":[{"message":"Request timeout","code":3007}],"success":false}`, "",
		"unavailable", true,
		model.Lesson{}},
	{"workers' envelope", "workers-ai", 200,
		`{"errors":[{"message":"Capacity temporarily exceeded","code":3040}],"success":false,"result":{}}`, "",
		"rate_limited", true,
		model.Lesson{}},
	{"workers' rights", "workers-ai", 403,
		`{"errors":[{"message":"Unauthorized to access requested resource","code":9109}],"success":false}`,
		"", "refused", false, model.Lesson{}},
	{"loading", "llama.cpp", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, "",
		"unavailable", true,
		model.Lesson{}},

	// keys, models, pages
	{"a key", "openai", 401, `{"error":{"message":"Incorrect API key provided: ` +
		`sk-chat.","type":"invalid_request_error","code":"invalid_api_key"}}`, "", "refused", false, model.Lesson{}},
	{"xai's key", "xai", 400,
		`{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk***at. You can ` +
			`obtain an API key from https://console.x.ai."}`, "", "refused", false, model.Lesson{}},
	{"openrouter's key", "openrouter", 200, `{"error":{"message":"No auth credentials found","code":401}}`, "", "refused",
		false,
		model.Lesson{}},
	{"a model", "openai", 404,
		`{"error":{"message":"The model does not exist or you do not have access to it.","code":"model_not_found"}}`,
		"", "invalid", false, model.Lesson{}},
	{"deepseek's model", "deepseek", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`, "",
		"invalid", false,
		model.Lesson{}},
	{"workers' model", "workers-ai", 400,
		`{"errors":[{"message":"No such model @cf/x or task","code":5007}],"success":false}`, "", "invalid",
		false, model.Lesson{}},
	{"openrouter's model", "openrouter", 400, `{"error":{"message":"x/y is not a valid model ID","code":400}}`, "",
		"invalid", false,
		model.Lesson{}},
	{"a page", "custom", 200, `<!doctype html><title>Sign in</title>`, "", "unavailable", false, model.Lesson{}},
	{"a page of a gateway", "custom", 502, `<html>bad gateway</html>`, "", "unavailable", true, model.Lesson{}},
	{"another route", "vllm", 404, `{"detail":"Not Found"}`, "", "invalid", false, model.Lesson{}},
	{"nothing", "custom", 200, ``, "", "unavailable", true, model.Lesson{}},
	{"half", "custom", 200, `{"choices":[{"mess`, "", "unavailable", true, model.Lesson{}},
}

// What servers say is wrong is told apart.
func TestChatRefusals(t *testing.T) {
	if len(chatRefusals) < 80 {
		t.Fatalf("%d refusals: is this the table?", len(chatRefusals))
	}
	r := chatEverything()
	r.AnswerOnly = true
	r.Thinking = scrollback.Thinking{Effort: "high"}
	r.MaxOutputTokens = 512
	r.Learned = chatKnown
	for _, c := range chatRefusals {
		t.Run(c.name, func(t *testing.T) {
			tries := 0
			m := chatAnswered(t, c.preset, "m", func(req *http.Request) *http.Response {
				tries++
				_, _ = io.Copy(io.Discard, req.Body)
				body := strings.ReplaceAll(c.body, "%", c.words)
				kind := "application/json"
				if strings.HasPrefix(body, "<") {
					kind = "text/html"
				}
				return chatReply(c.status, kind, strings.NewReader(body))
			})
			a, lessons, err := chatLessons(m, r)
			lesson := *cmp.Or(model.LessonOf(err), &model.Lesson{})
			if len(lessons) > 0 {
				lesson = lessons[0]
			}
			if scrollback.CodeOf(err) != c.code || lesson != c.lesson || (tries > 1) != c.again || len(a.Deltas) > len(lessons) {
				t.Errorf("%v (%s) after %d tries, %+v; want %s, again %v, %+v", err, scrollback.CodeOf(err), tries, lesson, c.code,
					c.again, c.lesson)
			}
			if shown := scrollback.PublicMessage(err); strings.Contains(shown, "sk-chat") ||
				strings.Contains(shown, "chat.test") ||
				c.words != "" && strings.Contains(shown, c.words) {
				t.Errorf("shown: %s", shown)
			}
		})
	}
}

// chatLessons reads an answer, and what it taught on the way.
func chatLessons(m model.Model, r model.Request) (modeltest.Answer, []model.Lesson, error) {
	a, err := modeltest.Read(m.Stream(chatContext, r))
	var lessons []model.Lesson
	var ds []model.Delta
	for _, d := range a.Deltas {
		if d.Lesson != nil {
			lessons = append(lessons, *d.Lesson)
		}
		ds = append(ds, d)
	}
	a.Deltas = ds
	return a, lessons, err
}
