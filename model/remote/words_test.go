package remote_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// bodyOf returns a refusal with these words, if they are not a body themselves.
func bodyOf(t *testing.T, words string) string {
	t.Helper()
	if strings.HasPrefix(words, "{") {
		return words
	}
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": words}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Gateways, clouds and local servers say in their own words, fields and statuses that a
// request is too long; the figures are those that they name, and never the number of an
// error. The same holds within an answer, where there is no status.
func TestTooLongElsewhere(t *testing.T) {
	for _, c := range []struct {
		status           int
		limit, requested int64
		words            string
	}{
		{400, 4097, 4118, `litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: ` +
			`OpenAIException - This model's maximum context length is 4097 tokens. However, your messages ` +
			`resulted in 4118 tokens. Please reduce the length of the messages.`},
		{400, 0, 0, `{"error":{"message":"litellm.ContextWindowExceededError: Context window ` +
			`exceeded","type":null,"param":null,"code":"400"}}`},
		{422, 8193, 9000, "{\"error\":{\"message\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= " +
			"8193. Given: 9000 `inputs` tokens and 100 `max_new_tokens`\",\"type\":\"invalid_request_error\"}}"},
		{422, 8193, 9000, "{\"error\":\"Input validation error: `inputs` must have less than 8193 tokens. Given: " +
			`9000","error_type":"validation"}`},
		{400, 8191, 8300, `{"error":{"object":"error","type":"invalid_request_error","message":"The prompt is too long: ` +
			`8300, model maximum context length: 8191"}}`},
		{400, 0, 0, `{"error":{"object":"error","type":"invalid_request_error","message":"The prompt is too long"}}`},
		{400, 131072, 131100,
			`{"message":"Please reduce the length of the messages or completion. Current length is 131100 ` +
				`while limit is ` +
				`131072","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`},
		{400, 8192, 12000, `{"message":"Current length is 12000 while limit is ` +
			`8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`},
		{400, 30720, 0, `{"error":{"code":"invalid_parameter_error","param":null,"message":"<400> ` +
			`InternalError.Algo.InvalidParameter: Range of input length should be [1, ` +
			`30720]","type":"invalid_request_error"},"id":"x","request_id":"y"}`},
		{400, 0, 0, `{"code":"InvalidParameter","message":"Input length exceeds the maximum allowed","request_id":"z"}`},
		{400, 0, 0, `{"error":{"code":"1261","message":"Prompt 超长"}}`},
		{400, 0, 0, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`},
		{400, 0, 0, `{"type":"error","error":{"type":"bad_request_error","message":"invalid params, context window ` +
			`exceeds limit (2013)","http_code":"400"}}`},
		{200, 0, 0, `{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}`},
		{200, 0, 0, `{"base_resp":{"status_code":1039,"status_msg":"token limit"}}`},
		{400, 0, 0, `{"error":{"code":"invalid_argument","message":"the length of messages exceeds the ` +
			`limit","type":"invalid_request_error"}}`},
		{200, 0, 0, `{"error_code":336007,"error_msg":"the max input characters is 20000"}`},
		{400, 5120, 0, `{"error_code":336103,"error_msg":"Prompt tokens too long, max 5120"}`},
		{400, 0, 0, `{"error":{"code":"tokens_too_long","message":"Prompt tokens too ` +
			`long","type":"invalid_request_error"}}`},
		{400, 8192, 9216, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested ` +
			`10240 tokens (9216 in the messages, 1024 in the completion). Please reduce the length of the ` +
			`messages or ` +
			`completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		{400, 272000, 0, `Input tokens exceed the configured limit of 272000 tokens. Please reduce the length of the ` +
			`messages.`},
		{400, 0, 0, `{"message":"Input is too long for requested model."}`},
		{400, 0, 0, `{"message":"The model returned the following errors: Input is too long for requested model."}`},
		{400, 200000, 206000,
			`{"message":"The model returned the following errors: prompt is too long: 206000 tokens > 200000 ` +
				`maximum"}`},
		{400, 8000, 9000, `{"__type":"ValidationException","message":"Too many input tokens. Max input tokens: 8000, ` +
			`request input token count: 9000 "}`},
		{400, 128000, 130001,
			`{"message":"This model's maximum context length is 128000 tokens. Please reduce the length of ` +
				`the prompt. Input tokens: 130001"}`},
		{400, 0, 0, `{"message":"Malformed input request: expected maxLength: 50000, actual: 60123, please reformat ` +
			`your input and try again."}`},
		{400, 8192, 9000, `{"message":"Input Tokens Exceeded: Number of input tokens exceeds maximum length. Passed in ` +
			`9000, maximum 8192"}`},
		{400, 128000, 140000, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 128000 - ` +
			`received 140000. Try using a shorter prompt, or enable prompt truncating."}`},
		{400, 4081, 4200, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received ` +
			`4200. Try using a shorter prompt or a smaller max_tokens value."}`},
		{400, 131072, 537812,
			`{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is ` +
				`131072 but the request contains 537812 tokens."}`},
		{400, 64000, 66000, `This endpoint's maximum context length is 64000 tokens. However, you requested about 70000 ` +
			`tokens (66000 of text input, 4000 in the output). Please reduce the length of either one, or ` +
			`use the "middle-out" transform to compress your prompt automatically.`},
		{400, 4096, 4200, `{"error":"Trying to keep the first 4200 tokens when context the overflows. However, the model ` +
			`is loaded with context length of only 4096 tokens, which is not enough. Try to load the model ` +
			`with a larger context length, or provide a shorter input"}`},
		{200, 4096, 5000, `{"error":"The number of tokens to keep from the initial prompt is greater than the context ` +
			`length (n_keep: 5000>= n_ctx: 4096). Try to load the model with a larger context length, or ` +
			`provide a shorter input."}`},
		{500, 0, 0, `{"error":{"code":500,"message":"context shift is disabled","type":"server_error"}}`},
		{400, 8192, 8200, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing ` +
			`the context size or enable context ` +
			`shift","type":"exceed_context_size_error","n_prompt_tokens":8200,"n_ctx":8192}}`},
		{500, 0, 0, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`},
		{500, 0, 0, `{"error":{"code":500,"message":"input is too large to process. increase the physical batch ` +
			`size","type":"server_error"}}`},
		{400, 32768, 40000, `{"object":"error","message":"Requested token count exceeds the model's maximum context length ` +
			`of 32768 tokens. You requested a total of 41000 tokens: 40000 tokens from the input messages ` +
			`and 1000 tokens for the completion. Please reduce the number of tokens in the input messages or ` +
			`the completion to fit within the limit.","type":"BadRequest","param":null,"code":400}`},
		{400, 32768, 40001,
			`{"object":"error","message":"The input (40001 tokens) is longer than the model's context length ` +
				`(32768 tokens).","type":"BadRequestError","param":null,"code":400}`},
		{400, 128000, 140001, `{"error":{"message":"prompt token count of 140001 exceeds the limit of ` +
			`128000","code":"model_max_prompt_tokens_exceeded"}}`},
		{400, 0, 0, `{"error":{"message":"","code":"model_max_prompt_tokens_exceeded"}}`},
		{413, 0, 0, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max ` +
			`size: 8000 tokens.","details":"Request body too large for gpt-4o model. Max size: 8000 ` +
			`tokens."}}`},
		{400, 0, 0, `{"error":{"message":"Your input is longer than the model's context","type":"bad_request"}}`},
		{400, 1048576, 1196265,
			`{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of ` +
				`tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`},
		{400, 1048576, 1100000, `{"error":{"code":400,"message":"Unable to submit request because the input token count is ` +
			`1100000 but model only supports up to 1048576. Reduce the input token count and try again. You ` +
			`can also use the CountTokens API to calculate prompt token count and billable ` +
			`characters.","status":"INVALID_ARGUMENT"}}`},
		{400, 0, 0, `{"error":{"code":400,"message":"Request contains text fields that are too ` +
			`large.","status":"INVALID_ARGUMENT"}}`},
		{400, 0, 0, `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 ` +
			`bytes.","status":"INVALID_ARGUMENT"}}`},
		{500, 32768, 0, `This model only supports up to 32768 tokens`},
		{400, 0, 0, `{"error":{"message":"The context length is exceeded","type":"BadRequestError"}}`},
		{400, 16384, 20000, `{"detail":"Prompt length (20000 tokens) is above the max allowed 16384"}`},
		{400, 4096, 5000, `{"detail":[{"msg":"prompt has 5000 tokens, but the model supports ` +
			`4096","loc":["body","messages"],"type":"value_error"}]}`},
		{400, 0, 0, `{"message":"Conversation too long. Start a new chat."}`},
		{400, 65536, 70000, `Number of prompt tokens (70000) has exceeded the model's maximum context (65536)`},
		{400, 8000, 9000, `{"error":"You have exceeded the maximum prompt size of 8000 tokens with 9000 tokens"}`},
		{400, 0, 0, `Total tokens of image and text exceed max message tokens. Request id: 0217`},
		{400, 0, 0, `{"error":{"code":"OutofContextError","message":"The request failed because the prompt is out of ` +
			`the model context"}}`},
		{400, 128000, 0, `The max context size is 128000 tokens and your request is bigger`},
		{400, 8192, 8500, `{"error":{"message":"This model's maximum context length is 8192 tokens, but the given prompt ` +
			`is 8500 tokens long"}}`},
		{400, 0, 0, `模型输入超出最大长度限制`},
		{400, 0, 0, `{"error":{"message":"输入token数超过模型上限，请缩短输入","type":"invalid_request_error"}}`},
		{400, 0, 0, `{"error":{"message":"请求的 tokens 总数超过了模型的最大上下文长度","code":"20015"}}`},
		{400, 32768, 40000, `{"code":20015,"message":"length of prompt_tokens (40000) must be less than max_seq_len ` +
			`(32768).","data":null}`},
		{400, 16000, 18000, `{"error":{"type":"invalid_request_error","message":"The request's 18000 tokens do not fit the ` +
			`16000 tokens of the model"}}`},
		{400, 4096, 4500, `prompt with 4500 tokens cannot fit in a window of 4096 tokens`},
		{400, 8192, 0, `requires shorter input: context is limited to 8192 tokens`},
		{400, 0, 9001, `Prompt of 9001 tokens is too long`},
		{400, 0, 9001, `Prompt too long (9001 tokens)`},
		{400, 8192, 0, `Input exceeds 8192 tokens`},
		{400, 0, 0, `Maximum input tokens: 8192. Your input exceeds this.`},
		{400, 8192, 9000, `max context: 8192 tokens, got: 9000 tokens`},
		{400, 8192, 9000, `input tokens 9000 > 8192`},
		{400, 8192, 9000, `9000 tokens in the prompt > 8192 allowed`},
		{400, 0, 0, `context limit of 8k exceeded`},
		{429, 8000, 9445, "Request too large for `m` on tokens per minute (TPM): Limit 8000, Requested 9445"},
		{429, 30000, 45000, `Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, ` +
			`Requested 45000. The input or output tokens must be reduced in order to run successfully.`},
		{429, 8000, 9000, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 ` +
			`tokens > 8000 maximum"}}`},
		{500, 131072, 140000,
			`{"error":{"message":"Internal error: input length 140000 exceeds the maximum context 131072"}}`},
		{400, 32000, 0, `{"error":{"message":"message too long, max 32000 tokens"}}`},
		{400, 0, 0, `{"error":{"message":"prompt_too_long"}}`},
		{400, 0, 0, `{"error":{"code":"string_above_max_length","message":"Invalid 'input': string too long. ` +
			`Expected a string with maximum length 10485760, but got a string with length 12345678 ` +
			`instead.","param":"input"}}`},
		{400, 0, 0, `{"error":{"code":"context_window_full","message":"context window is full"}}`},
		{400, 0, 0, `{"error":{"message":"Context overflow: prompt too large for the model."}}`},
		{400, 0, 0, `{"error":{"message":"The request exceeds the model's capacity: shorten your conversation"}}`},
		{400, 0, 0, `{"error":{"message":"Token limit reached for this conversation"}}`},
		{400, 0, 0, `{"type":"error","error":{"type":"invalid_request_error","message":"context_window_exceeded"}}`},
		{400, 200000, 0, "The model `x` has a context window of 200000 tokens, which your request exceeds"},
		{400, 8192, 8193, `This model supports at most 8192 tokens of context, got 8193`},
		{400, 0, 0, `{"error":{"message":"the prompt is longer than the context length currently available to the ` +
			`model"}}`},
		{400, 8192, 10000, `input_tokens (10000) should be no more than 8192`},
		{400, 32768, 33000, `Prompt has 33000 tokens; the limit is 32768`},
		{400, 32768, 33000, `The prompt you sent has 33000 tokens. The limit for this model is 32768.`},
		{400, 8192, 0, `Invalid input: too many tokens, maximum is 8192`},
		{400, 128000, 129000, `Requested 129000 tokens, max 128000`},
		{500, 8192, 0, `litellm.InternalServerError: Error code: 500 - {'error': {'message': 'Input exceeds maximum of ` +
			`8192 tokens'}}`},
		{400, 0, 0, `Error code: 400 - Input is too long for requested model`},
		{400, 0, 0, `HTTP 413: prompt too long (request id 4711)`},
		{400, 0, 0, `context limit exceeded, error code 1234`},
	} {
		for _, status := range []int{c.status, 0} {
			err := classify(status, bodyOf(t, c.words))
			l := model.LessonOf(err)
			if scrollback.CodeOf(err) != scrollback.OverBudget || l == nil || !l.TooLong {
				t.Errorf("%d %s: %v %+v", status, c.words, err, l)
				continue
			}
			if l.Limit != c.limit || l.Requested != c.requested {
				t.Errorf("%d %s: %d of %d, want %d of %d", status, c.words, l.Requested, l.Limit, c.requested, c.limit)
			}
		}
	}
	for _, body := range []string{"<html><head><title>413 Request Entity Too Large</title></head></html>",
		"Payload Too Large", ""} {
		if l := model.LessonOf(classify(413, body)); l == nil || !l.TooLong || !l.Bytes {
			t.Errorf("413 %q: %+v", body, l)
		}
	}
}

// What else has a limit is not taken for it.
func TestOtherLimits(t *testing.T) {
	for _, c := range []struct {
		status int
		words  string
	}{
		{429, `Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used ` +
			`29000, Requested 2000. Please try again in 2s.`},
		{429, `Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-02-01 have ` +
			`exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds.`},
		{429, `You have exceeded the token rate limit of your pricing tier`},
		{429, `{"message":"Too many tokens, please wait before trying again."}`},
		{429, `{"message":"Too many tokens per day, please wait before trying again."}`},
		{429, `This request would exceed your organization's rate limit of 40,000 input tokens per minute`},
		{429, `This request would exceed your account's rate limit. Please try again later.`},
		{429, `Tokens per minute limit exceeded - too many tokens processed.`},
		{429, `Daily token limit reached: 100000 tokens, used 100500`},
		{429, `Your free tier limit of 100000 tokens is reached`},
		{429, `Token quota exceeded: limit 500000, used 500100`},
		{403, `Token budget exceeded for this key: max 10000, current 12000`},
		{400, `{"error":{"message":"Budget has been exceeded! Current cost: 120.5, Max budget: ` +
			`100.0","type":"budget_exceeded"}}`},
		{429, `Max parallel request limit reached. Limit: 100, current: 101`},
		{429, `Rate limit exceeded: 120 requests, maximum 100 requests a minute`},
		{400, `max_tokens must be at most 8192`},
		{400, `max_tokens (100000) exceeds the model's limit of 8192`},
		{400, "`max_tokens` is too large: 100000. Maximum is 32768."},
		{400, `max_completion_tokens is too large: 100000. This model supports at most 16384 completion ` +
			`tokens, whereas you provided 100000.`},
		{400, `Range of max_tokens should be [1, 8192]`},
		{400, `max_new_tokens 9000 > 8192`},
		{400, `Requested 9000 output tokens, max 8192`},
		{400, `Too many tools: 200, maximum 128`},
		{400, `tools.0.custom.name: String should have at most 128 characters`},
		{400, `tools.12.custom.description: String should have at most 1024 characters`},
		{400, `Invalid 'tools[3].function.description': string too long. Expected a string with maximum length ` +
			`1024, but got a string with length 2300 instead.`},
		{400, `Invalid 'metadata.user_id': string too long, max 256, got 300`},
		{400, `prompt_cache_key too long: max 64, got 200`},
		{400, `Invalid 'user': string too long. Expected a string with maximum length 64, but got a string ` +
			`with length 280 instead.`},
		{402, `Prompt tokens limit exceeded: 17000 > 3000. To increase, visit the settings and upgrade to a paid account`},
		{400, `Prompt tokens limit exceeded: 17000 > 3000`},
		{402,
			`This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 4000.`},
		{400, `Too many messages per minute: limit 100, current 120`},
		{429, `Too many messages, please slow down`},
		{400, `image too large: 6000000 bytes, max 5242880`},
		{400, `Image dimensions 9000x9000 exceed the limit of 8000`},
		{400, `messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 ` +
			`bytes`},
		{400, `The image is too large for the model's context`},
		{400, `PDF has 120 pages, maximum is 100`},
		{400, `A maximum of 100 PDF pages may be provided.`},
		{400, `A maximum of 4 blocks with cache_control may be provided. Found 5.`},
		{400, `thinking.budget_tokens must be greater than or equal to 1024`},
		{400, `The thinking budget 40000 is invalid. Please choose a value between 512 and 24576.`},
		{400, `logprobs: at most 20, got 100`},
		{400, `n must be less than 128`},
		{400, `seed must be less than 2147483647`},
		{400, `stop: array too long, maximum 4`},
		{400, `The 'response_format.json_schema.name' is too long: maximum length 64`},
		{400, `Schema too large: 5100 properties, maximum 5000`},
		{500, `CUDA out of memory. Tried to allocate 2.00 GiB`},
		{500, `Request timeout: 600 seconds exceeded`},
		{503, `Model is overloaded. Queue size 120 exceeds limit 100`},
		{400, `Function name too long: must be at most 64 characters`},
		{400, `tool_call_id must be at most 64 characters, got 1600`},
		{400, `Expected maximum of 9 characters in tool call id`},
		{401, `Token expired: token is too old`},
		{401, `Your token exceeds its lifetime of 3600 seconds`},
		{403, `Access token limit exceeded`},
		{400, `temperature must be less than or equal to 2`},
		{400, `Requested 200 messages, max 100`},
		{400, `Reasoning tokens exceed limit of 8192`},
		{400, `input[3].id: string too long, max length 64, got 408`},
		{400, `Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64, but got ` +
			`a string with length 112 instead.`},
		{402, `Prompt tokens limit exceeded: 17000 > 3000. To increase, visit ` +
			`https://openrouter.ai/settings/credits and upgrade to a paid account`},
		{400, `Unsupported parameter: 'max_tokens' is not supported with this model. Use ` +
			`'max_completion_tokens' instead.`},
		{400, "`temperature` and `top_p` cannot both be specified for this model."},
		{400, `messages: text content blocks must be non-empty`},
		{400, "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01. Each " +
			"`tool_result` block must have a corresponding `tool_use` block in the previous message."},
		{400, `Your request was rejected as a result of our safety system`},
		{529, `Overloaded`},
		{500, `Internal server error`},
		{400, `The cached content is of 1000 tokens. The minimum token count to start caching is 4096.`},
		{400, `Cached content is too small. total_token_count=500, min_total_token_count=1024`},
		{400, `The maximum number of tools supported is 512 but 600 were given in the request`},
		{400, `input audio too long: max 600 seconds`},
		{400, `Request has too many images: got 150, max 100`},
		{400, `Only 100 images allowed in a request with 8192 tokens`},
		{400, `request id 12345678 limit 100: invalid token`},
		{403, `Your IP address is blocked`},
		{400, `Tool names are case-sensitive`},
		{400, `No endpoints found matching your data policy. Configure: https://openrouter.ai/settings/privacy`},
		{400, `Invalid input. The maximum number of tokens for stop is 4`},
	} {
		err := classify(c.status, bodyOf(t, c.words))
		if l := model.LessonOf(err); scrollback.CodeOf(err) == scrollback.OverBudget || l != nil && l.TooLong {
			t.Errorf("%d %s: %v %+v", c.status, c.words, err, l)
		}
	}
}

// A refusal because of what is said comes again with the same request, whatever its status,
// and a person can rephrase it.
func TestRefusedForItsContent(t *testing.T) {
	for _, c := range []struct {
		status int
		words  string
	}{
		{400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's ` +
			`content management policy. Please modify your prompt and ` +
			`retry.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":` +
			`{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":` +
			`"high"}}}}}`},
		{400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's ` +
			`content management policy."}}`},
		{400, `{"error":{"code":"data_inspection_failed","param":null,"message":"Input data may contain ` +
			`inappropriate content.","type":"data_inspection_failed"},"id":"x"}`},
		{400, `{"error":{"code":"data_inspection_failed","message":"<400> ` +
			`InternalError.Algo.DataInspectionFailed: Output data may contain inappropriate content."}}`},
		{400, `` +
			`{"contentFilter":[{"level":1,"role":"user"}],"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容，` +
			`请您避免输入易产生敏感内容的提示语，感谢您的配合。"}}`},
		{400, `{"error":{"code":"1301","message":"The system detected potentially unsafe or sensitive content ` +
			`in the input or generation."}}`},
		{400, `{"error":{"message":"The request was rejected because it was considered high ` +
			`risk","type":"content_filter"}}`},
		{400, `{"error":{"message":"Content Exists ` +
			`Risk","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`},
		{200, `{"base_resp":{"status_code":1026,"status_msg":"input new_sensitive"}}`},
		{200, `{"base_resp":{"status_code":1027,"status_msg":"output new_sensitive"}}`},
		{400, `{"type":"error","error":{"type":"bad_request_error","message":"invalid params, input ` +
			`new_sensitive (1026)"}}`},
		{400, `{"error":{"code":"InputTextSensitiveContentDetected","message":"The request failed because the ` +
			`input text may contain sensitive information. Request id: 02","type":"BadRequest"}}`},
		{400, `{"error":{"code":"SensitiveContentDetected.SevereViolation","message":"The request failed ` +
			`because the input text may contain severe violation information","type":"BadRequest"}}`},
		{400, `{"error":{"code":"content_policy_violation","message":"Your request was rejected as a result of ` +
			`our safety system."}}`},
		{400, `{"error":{"message":"Your request was rejected as a result of our safety system. Your prompt ` +
			`may contain text that is not allowed by our safety ` +
			`system.","type":"invalid_request_error","code":null}}`},
		{400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage ` +
			`policy. Please try again with a different prompt","code":"invalid_prompt"}}`},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content ` +
			`filtering policy"}}`},
		{403, `{"error":{"code":403,"message":"m requires moderation on Provider. Your input was flagged for ` +
			`\"violence\". No credits were ` +
			`charged.","metadata":{"reasons":["violence"],"flagged_input":"..."}}}`},
		{403, `{"code":"The caller does not have permission","error":"Content violates usage guidelines. ` +
			`Failed check: SAFETY_CHECK_TYPE_BIO"}`},
		{400, `{"error":{"code":336104,"message":"the prompt contains sensitive content"}}`},
		{400, `{"message":"litellm.ContentPolicyViolationError: litellm.BadRequestError: AzureException - ` +
			`blocked"}`},
		{400, `{"message":"Violated guardrail policy"}`},
		{400, `{"error":{"message":"Content violates safety guidelines","code":"guardrail_violation"}}`},
		{400, `{"error":{"message":"Your request was blocked by the content safety filter"}}`},
		{451, `{"error":{"message":"content blocked","code":"censorship_blocked"}}`},
		{400, `{"error":{"message":"输入内容包含敏感信息","code":"sensitive"}}`},
		{400, `{"error":{"message":"内容违规，请修改后重试"}}`},
		{400, `{"error":{"message":"内容安全审核未通过","code":"10014"}}`},
		{400, `{"error":{"message":"The content you provided or machine outputted is ` +
			`blocked.","type":"content_filter_error"}}`},
		{400, `{"error":{"message":"Request blocked by Gemini: PROHIBITED_CONTENT"}}`},
		{400, `{"error":{"message":"prompt blocked due to safety settings"}}`},
		{422, `{"error":{"message":"This request was flagged by our moderation ` +
			`system","type":"moderation_error"}}`},
		{500, `{"error":{"message":"The response was filtered due to the prompt triggering content management ` +
			`policy","code":"content_filter"}}`},
	} {
		for _, status := range []int{c.status, 0} {
			err := classify(status, bodyOf(t, c.words))
			f := scrollback.FailureOf(err)
			if !errors.Is(err, scrollback.ErrPermanent) || f.Code != scrollback.Refused ||
				f.Advice != scrollback.AdviceRephrase || remote.Again(err) {
				t.Errorf("%d %s: %v, %+v", status, c.words, err, f)
			}
		}
	}
}
