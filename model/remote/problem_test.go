package remote_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

func classify(status int, body string) error {
	x := remote.Exchange{Params: []string{"temperature", "reasoning", "reasoning.effort", "reasoning.summary", "include",
		"stream",
		"prompt_cache_key", "stream_options", "input_image"}, Once: []string{"encrypted_content"}}
	return client(remote.Options{}).Classify(remote.ReadProblem(status, nil, []byte(body)), x)
}

// What servers say of a request that is too long, and what they are read to say.
// The cases are those of docs/guides/dialects-openai.md and the other dialects.
func TestTooLong(t *testing.T) {
	for _, c := range []struct {
		server, body string
		status       int
		limit, asked int64
	}{
		{"openai",
			`{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 140012 ` +
				`tokens.","param":"messages","code":"context_length_exceeded"}}`, 400, 128000, 140012},
		{"openai, words only",
			`{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens ` +
				`(8000 in the messages, 1000 in the completion).","code":null}}`, 400, 8192, 8000},
		{"responses",
			`{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try ` +
				`again.","code":"context_length_exceeded"}}`, 400, 0, 0},
		{"responses, streaming", `{"type":"response.failed","response":{"id":"resp_1","status":"failed",` +
			`"error":{"code":"context_length_exceeded","message":""}}}`, 0, 0, 0},
		{"responses, event",
			`{"type":"error","sequence_number":2,"error":{"type":"invalid_request_error","code":"context_length_exceeded",` +
				`"message":"","param":"input"}}`, 0, 0, 0},
		{"responses, old event",
			`{"type":"error","code":"context_length_exceeded","message":"","param":null,"sequence_number":2}`, 0, 0, 0},
		{"openai, a text",
			`{"error":{"message":"Invalid 'input[3].content[0].text': string too long. Expected a string with maximum length ` +
				`10485760, but got a string with length 10485999 instead.","code":"string_above_max_length"}}`, 400, 0, 0},
		{"anthropic",
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
			400, 200000, 210000},
		{"anthropic with output",
			"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and " +
				"`max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again\"}}", 400, 200000,
			190000},
		{"anthropic bytes",
			`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, 413, 0, 0},
		{"gemini",
			`{"error":{"code":400,"message":"The input token count (1050000) exceeds the maximum number of tokens allowed ` +
				`(1048576).","status":"INVALID_ARGUMENT"}}`, 400, 1048576, 1050000},
		{"gemini, no count",
			`{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed ` +
				`(1048576).","status":"INVALID_ARGUMENT"}}`, 400, 1048576, 0},
		{"ollama", `{"error":"the prompt is longer than the context length currently available to the model"}`, 400, 0, 0},
		{"moonshot", `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: ` +
			`270001)","type":"invalid_request_error"}}`, 400, 262144, 270001},
		{"xai",
			`{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`, 400,
			131072, 140000},
		{"openrouter",
			`{"error":{"message":"This endpoint's maximum context length is 163840 tokens. However, you requested about 170100 ` +
				`tokens (169100 of text input, 1000 in the output).","code":400}}`, 400, 163840, 169100},
		{"openrouter, hidden", `{"error":{"message":"Provider returned ` +
			`error","code":502,"metadata":{"raw":"{\"error\":{\"message\":\"x\",\"code\":\"context_length_exceeded\"}}","provider_name":"P"}}}`, 502,
			0, 0},
		{"dashscope",
			`{"error":{"code":"invalid_parameter_error","message":"<400> InternalError.Algo.InvalidParameter: Range of input ` +
				`length should be [1, 98304]","type":"invalid_request_error"},"request_id":"r"}`, 400, 98304, 0},
		{"ark",
			`{"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens. Request id: ` +
				`02","param":"","type":"BadRequest"}}`, 400, 0, 0},
		{"workers-ai",
			`{"success":false,"errors":[{"code":5021,"message":"AiError: The estimated number of input and maximum output tokens ` +
				`(33000) exceeded this model context window limit (32768)."}]}`, 413, 32768, 0},
		{"vllm",
			`{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 512 output tokens and ` +
				`your prompt contains at least 3585 input tokens, for a total of at least 4097 ` +
				`tokens.","type":"BadRequestError","param":"input_tokens","code":400}}`, 400, 4096, 0},
		{"llama.cpp", `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing ` +
			`it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, 400, 8192, 9000},
		{"llama.cpp, words",
			`{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try ` +
				`increasing it","type":"x"}}`, 400, 8192, 9000},
		{"LM Studio",
			`{"error":"Trying to keep the first 9000 tokens when context the overflows. The number of tokens to keep from the ` +
				`initial prompt is greater than the context length (n_keep: 9000>= n_ctx: 4096)."}`, 400, 4096, 9000},
		{"LM Studio 200", `{"error":"Cannot truncate prompt with n_keep (9000) >= n_ctx (4096)"}`, 0, 4096, 9000},
		{"LM Studio loaded", `{"error":"The model is loaded with context length of only 4096 tokens"}`, 400, 4096, 0},
	} {
		err := classify(c.status, c.body)
		l := model.LessonOf(err)
		if scrollback.CodeOf(err) != scrollback.OverBudget || l == nil || !l.TooLong || l.Limit != c.limit ||
			l.Requested != c.asked ||
			l.Bytes != strings.Contains(c.server, "bytes") {
			t.Errorf("%s: %v %+v, want %d and %d", c.server, err, l, c.limit, c.asked)
		}
		safe(t, err)
	}
}

// What is anything else: by code, by words, by status, in this order.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		body   string
		status int
		code   scrollback.Code
		words  string
		lesson model.Lesson
	}{
		// tools: every conversation has some, so that nothing can be left out
		{`{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be ` +
			`set","type":"BadRequestError","param":null,"code":400}`, 400, scrollback.Invalid, "cannot call tools",
			model.Lesson{}},
		{`{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, 500,
			scrollback.Invalid, "--jinja",
			model.Lesson{}},
		{`{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: ` +
			`https://openrouter.ai/docs","code":404}}`, 404, scrollback.Invalid, "cannot call tools", model.Lesson{}},
		{`{"error":"registry.ollama.ai/library/gemma does not support tools"}`, 400, scrollback.Invalid, "cannot call tools",
			model.Lesson{}},
		// not a request that is too long
		{`{"error":{"code":"InvalidParameter","message":"The parameter max_tokens specified in the request is not valid: should be less ` +
			`than or equal to 4096","param":"max_tokens"}}`, 400, scrollback.Unavailable, "as long as",
			model.Lesson{MaxOutput: 4096}},
		{`{"error":{"message":"Range of max_tokens should be [1, 8192]"}}`, 400, scrollback.Unavailable, "as long as",
			model.Lesson{MaxOutput: 8192}},
		{`{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 128000 > 64000, which is the maximum allowed ` +
			`number of output tokens for m"}}`, 400, scrollback.Unavailable, "as long as", model.Lesson{MaxOutput: 64000}},
		{`{"error":{"message":"Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 ` +
			`(inclusive) to 65537 (exclusive)."}}`, 400, scrollback.Unavailable, "as long as", model.Lesson{MaxOutput: 65536}},
		{`{"message":"Too many tokens, please wait before trying again."}`, 429, scrollback.RateLimited, "asks to wait",
			model.Lesson{}},
		{`{"error":{"message":"Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with ` +
			`length 70 instead.","param":"prompt_cache_key","code":"string_above_max_length"}}`, 400, scrollback.Unavailable,
			"the parameter prompt_cache_key", model.Lesson{Drop: "prompt_cache_key"}},
		// no money
		{`{"error":{"message":"You exceeded your current quota, please check your ` +
			`plan","type":"insufficient_quota","code":"insufficient_quota"}}`, 429, scrollback.Refused, "no money or quota left",
			model.Lesson{}},
		{`{"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}`,
			429, scrollback.Refused, "no money", model.Lesson{}},
		{`{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, 402,
			scrollback.Refused,
			"no money", model.Lesson{}},
		{`{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance."}}`, 403,
			scrollback.Refused, "no money", model.Lesson{}},
		{`{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}}`, 400,
			scrollback.Refused,
			"no money", model.Lesson{}},
		{`{"success":false,"errors":[{"code":3036,"message":"you have used up your daily free allocation of 10,000 neurons"}]}`, 429,
			scrollback.Refused, "no money", model.Lesson{}},
		// wait, or do not
		{`{"success":false,"errors":[{"code":3040,"message":"Capacity temporarily exceeded"}]}`, 429, scrollback.RateLimited,
			"asks to wait",
			model.Lesson{}},
		{`{"error":"server busy, please try again. maximum pending requests exceeded"}`, 503, scrollback.RateLimited,
			"asks to wait",
			model.Lesson{}},
		// the key
		{`{"error":{"message":"Incorrect API key provided: sk-pr***fA.","code":"invalid_api_key"}}`, 401, scrollback.Refused,
			"acme refuses the key (ACME_KEY)", model.Lesson{}},
		{`{"code":"invalid-argument","error":"Incorrect API key provided: xa***89. You can obtain an API key from https://console.x.ai."}`, 400,
			scrollback.Refused, "refuses the key", model.Lesson{}},
		{`{"error":{"code":400,"message":"API key not valid. Please pass a valid API ` +
			`key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, 400, scrollback.Refused,
			"refuses the key",
			model.Lesson{}},
		{`{"error":"forbidden"}`, 403, scrollback.Refused, "does not allow this with the key", model.Lesson{}},
		// the model
		{`{"error":{"message":"The model 'gpt-9' does not exist or you do not have access to it.","code":"model_not_found"}}`,
			404,
			scrollback.Invalid, "acme does not know the model", model.Lesson{}},
		{`{"code":"Some requested entity was not found","error":"The model grok-9 does not exist or your team has no access to it."}`, 404,
			scrollback.Invalid, "acme does not know the model", model.Lesson{}},
		{`{"error":{"message":"No endpoints found for a/b.","code":404}}`, 404, scrollback.Invalid, "does not know the model",
			model.Lesson{}},
		{``, 404, scrollback.Invalid, "or is at another address (ACME_URL)", model.Lesson{}},
		// rules on content, which mention parameters in links
		{`{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a ` +
			`different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting","code":"invalid_prompt"}}`,
			400,
			scrollback.Refused, "rules on content", model.Lesson{}},
		// parameters
		{`{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this ` +
			`model.","param":"reasoning.effort","code":"unsupported_parameter"}}`, 400, scrollback.Unavailable,
			"the parameter reasoning.effort",
			model.Lesson{Drop: "reasoning.effort"}},
		{`{"error":{"message":"Your organization must be verified to generate reasoning summaries. Please go to: ` +
			`https://platform.openai.com/settings/organization/general and click on Verify ` +
			`Organization.","param":"reasoning.summary","code":"unsupported_value"}}`, 400, scrollback.Unavailable,
			"the parameter reasoning.summary", model.Lesson{Drop: "reasoning.summary"}},
		{`{"error":{"message":"Your organization must be verified to stream this model.","param":"stream","code":"unsupported_value"}}`, 400,
			scrollback.Unavailable, "the parameter stream", model.Lesson{Drop: "stream"}},
		{`{"error":{"message":"Encrypted content is not supported with this model.","param":"include","code":null}}`, 400,
			scrollback.Unavailable,
			"the parameter include", model.Lesson{Drop: "include"}},
		{`{"code":"400","error":"Argument not supported: include"}`, 400, scrollback.Unavailable, "the parameter include",
			model.Lesson{Drop: "include"}},
		{`{"code":"invalid-argument","error":"Model grok-build does not support parameter reasoningEffort."}`, 400,
			scrollback.Unavailable,
			"the parameter reasoning.effort", model.Lesson{Drop: "reasoning.effort"}},
		{`{"error":{"message":"The encrypted content gAAA...DQ== could not be ` +
			`verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`, 400,
			scrollback.Unavailable,
			"the parameter encrypted_content", model.Lesson{Drop: "encrypted_content"}},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`,
			422,
			scrollback.Unavailable, "the parameter stream_options", model.Lesson{Drop: "stream_options"}},
		{`{"error":{"message":"Unknown value: please include a valid user to stream the answer","code":"unknown_value"}}`,
			400,
			scrollback.Unavailable, "did not take the request (status 400)", model.Lesson{}},
		{`{"error":{"message":"Unsupported temperature"}}`, 500, scrollback.Unavailable, "fault of its own (status 500)",
			model.Lesson{}},
		// templates
		{`{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}}`, 400,
			scrollback.Unavailable,
			"another order", model.Lesson{Strict: scrollback.StrictTurns}},
		{`{"error":{"message":"System role not supported"}}`, 500, scrollback.Unavailable, "another order",
			model.Lesson{Strict: scrollback.StrictNoSystem}},
		// and the rest
		{`{"error":"boom"}`, 0, scrollback.Unavailable, "broke its answer off with an error", model.Lesson{}},
		{`{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, 503, scrollback.Unavailable,
			"fault of its own (status 503)", model.Lesson{}},
		{`Client sent an HTTP request to an HTTPS server.`, 400, scrollback.Unavailable, "it speaks https", model.Lesson{}},
		{`<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>`, 400,
			scrollback.Unavailable,
			"it speaks https", model.Lesson{}},
		{`null`, 418, scrollback.Unavailable, "did not take the request (status 418)", model.Lesson{}},
	} {
		err := classify(c.status, c.body)
		own(t, err, c.code, c.words)
		var got model.Lesson
		if l := model.LessonOf(err); l != nil {
			got = *l
		}
		if got != c.lesson {
			t.Errorf("%s teaches %+v, want %+v", c.body, got, c.lesson)
		}
	}
}

func TestNoKeySet(t *testing.T) {
	err := remote.New(remote.Options{Provider: "acme", KeyVariable: "ACME_KEY"}).Classify(remote.ReadProblem(401, nil,
		[]byte(`{}`)),
		remote.Exchange{})
	own(t, err, scrollback.Refused, "acme needs a key, and none is set (ACME_KEY)")
}

// Bounds of what is kept of a server's words.
func TestReadProblem(t *testing.T) {
	deep := strings.Repeat(`{"error":`, 2000) + `"down there"` + strings.Repeat(`}`, 2000)
	if p := remote.ReadProblem(400, nil, []byte(deep)); p.Message != "" {
		t.Errorf("%.50q was found too deep", p.Message)
	}
	if p := remote.ReadProblem(400, nil, []byte(`{"message":"`+strings.Repeat("x", 1<<20)+`"}`)); len(p.Message) > 20<<10 {
		t.Errorf("%d bytes of words", len(p.Message))
	}
	if p := remote.ReadProblem(0, nil,
		[]byte(`{"error":{"message":"a","code":"429","metadata":{"raw":"{\"error\":{\"code\":17,`+
			`\"message\":\"b\"}}"}}}`)); p.Message != "a · b" && !strings.HasPrefix(p.Message, "a") || p.Code != "17" {
		t.Errorf("%+v", p)
	}
}

func FuzzReadProblem(f *testing.F) {
	for _, body := range []string{`{"error":{"message":"m","code":"c","param":"p"}}`, `{"error":"text"}`,
		`{"errors":[{"code":5021,"message":"m"}]}`, `{"detail":[{"loc":["body","x"],"msg":"m"}]}`,
		`{"error":{"code":502,"metadata":{"raw":"{\"error\":{\"message\":\"inner\"}}"}}}`, `<html>`, `null`, ``, `[`,
		`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":""}}}`,
		`{"error":{"message":"max_tokens: 99999999999999999999 > 8192"}}`,
		`{"error":{"details":[{"retryDelay":"9223372036s"},{"quotaId":"PerDay"}]}}`,
		`prompt is too long: 1,,2 tokens > 99999999999999999999`} {
		f.Add(400, "application/json", "7", body)
		f.Add(0, "text/html", "Wed, 21 Oct 2015 07:28:00 GMT", body)
	}
	c := client(remote.Options{})
	f.Fuzz(func(t *testing.T, status int, contentType, after, body string) {
		p := remote.ReadProblem(status, http.Header{"Content-Type": {contentType}, "Retry-After": {after},
			"Retry-After-Ms": {after},
			"X-Should-Retry": {after}}, []byte(body))
		if len(p.Message) > 40<<10 || p.After < 0 {
			t.Errorf("%d bytes of words, after %v", len(p.Message), p.After)
		}
		err := c.Classify(p, remote.Exchange{Params: []string{"temperature", "include"}, OlderAPI: true})
		var known *scrollback.Error
		if !errors.As(err, &known) || known.Err == nil || utf8.RuneCountInString(known.Detail) > 520 {
			t.Errorf("%v", err)
		}
		if l := model.LessonOf(err); l != nil && (l.Limit < 0 || l.Requested < 0 || l.MaxOutput < 0) {
			t.Errorf("%+v", l)
		}
		if strings.Contains(known.Err.Error(), "://") {
			t.Errorf("shown: %v", known.Err)
		}
	})
}
