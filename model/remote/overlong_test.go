package remote_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// A request that does not fit is recognised by what the words say, of which most are not in
// any list.
func TestTooLongInAnyWords(t *testing.T) {
	for _, c := range []struct {
		words            string
		limit, requested int64
		bytes            bool
	}{
		// SiliconFlow, GLM, Mistral, Bedrock, Copilot, vLLM, Kimi
		{"length of prompt_tokens (40961) must be less than max_seq_len (32768).", 32768, 40961, false},
		{"Prompt exceeds max length", 0, 0, false},
		{"Prompt contains 40001 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32768,
			40001, false},
		{"Input is too long for requested model.", 0, 0, false},
		{"prompt token count of 140001 exceeds the limit of 128000", 128000, 140001, false},
		{"The decoder prompt (length 9001) is longer than the maximum model length of " +
			"8192. Make sure that `max_model_len` is no smaller.", 8192, 9001, false},
		{"The prompt is too long to fit into the model (context length 4096).", 4096, 0, false},
		{"You passed 9001 input tokens and requested 256 output tokens. However, the model's context length is only 8192 tokens, " +
			"resulting in a maximum input length of 7936 tokens.", 8192, 9001, false},
		{"the model's context length is only 8192 tokens", 8192, 0, false},
		{"total message size 4194999 exceeds limit 4194304", 0, 0, true},
		// and others
		{"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. " +
			"Given: 5000 `inputs` tokens and 512 `max_new_tokens`", 4096, 0, false},
		{"Input validation error: `inputs` must have less than 1024 tokens. Given: 2048", 0, 0, false},
		{"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.", 272000, 0,
			false},
		{"invalid params, context window exceeds limit (2013)", 0, 0, false},
		{"Please reduce the length of the messages or completion.", 0, 0, false},
		{"This request would exceed the model's maximum of 32,768 tokens (35,001 given)", 32768, 35001, false},
		{"Your conversation is too long for this model", 0, 0, false},
		{"The total number of tokens (9000) in the input is above the model's 8,192", 8192, 9000, false},
		{"requested tokens (5000) exceed context window of 4096", 4096, 5000, false},
		{"The sequence does not fit into the context", 0, 0, false},
		{"http: request body too large", 0, 0, true},
		{"Request payload size exceeds the limit: 20971520 bytes.", 0, 0, true},
		{"tokens in request more than max tokens allowed", 0, 0, false},
		{"Input length 131073 exceeds maximum allowed token size 131072", 131072, 131073, false},
		{"too many tokens: size limit exceeded by 1066 tokens", 0, 0, false},
		{"The input (8500 tokens) is longer than the model's context length (8192 tokens).", 8192, 8500, false},
		{"token limit exceeded", 0, 0, false},
		{"输入内容过长，超过模型最大上下文长度", 0, 0, false},
		{"請求超過模型的最大上下文長度", 0, 0, false},
		{"对话过长，请新建对话", 0, 0, false},
		{"La solicitud supera la longitud máxima de contexto (8192 tokens)", 8192, 0, false},
		{"プロンプトが長すぎます。最大コンテキスト長は8192トークンです", 0, 0, false},
		{"Die Anfrage überschreitet die maximale Kontextlänge von 8192 Token", 8192, 0, false},
		{"입력이 너무 깁니다. 최대 8192 토큰", 8192, 0, false},
		{"Запрос превышает максимальную длину контекста 8192 токенов", 8192, 0, false},
		{"La requête dépasse la longueur maximale du contexte : 9000 > 8192", 8192, 9000, false},
		{"n_ctx 8192 is smaller than n_tokens 9000", 8192, 9000, false},
		{"9000 tokens > 8192 maximum", 8192, 9000, false},
		{"Requested 40000 tokens, but only 32768 fit the model's window", 32768, 40000, false},
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": c.words}})
		if err != nil {
			t.Fatal(err)
		}
		got := classify(400, string(body))
		l := model.LessonOf(got)
		if scrollback.CodeOf(got) != scrollback.OverBudget || l == nil || !l.TooLong || l.Bytes != c.bytes {
			t.Errorf("%q is %v %+v", c.words, got, l)
			continue
		}
		if l.Limit != c.limit && c.limit > 0 || l.Requested != c.requested && c.requested > 0 {
			t.Errorf("%q: %d of %d, want %d of %d", c.words, l.Requested, l.Limit, c.requested, c.limit)
		}
	}
}

// What has a limit and is not the request's length is not too long.
func TestNotTooLong(t *testing.T) {
	for _, c := range []struct {
		status int
		words  string
	}{
		{429, "Rate limit reached for gpt-4o in organization org-1 " +
			"on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s."},
		{429, "Rate limit reached for m on requests per min (RPM): Limit 3, Used 3, Requested 1."},
		{429, "Rate limit reached for m on requests per min (RPM): Limit 300, Requested 301."},
		{429, "Too many tokens, please wait before trying again."},
		{429, "You exceeded your current quota, please check your plan and billing details."},
		{429, "Number of request tokens has exceeded your per-minute rate limit"},
		{400,
			"max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192."},
		{400, "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for m"},
		{400, "Output tokens exceed the maximum of 4096"},
		{400, "At most 1 image(s) may be provided in one request."},
		{400, "Too many images in request: 25 exceeds the limit of 20"},
		{400, "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"},
		{400,
			"messages.3.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"},
		{400, "Invalid 'messages[2].tool_calls[0].id': string too long. " +
			"Expected a string with maximum length 40, but got a string with length 1632 instead."},
		{400,
			"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead."},
		{400, "Invalid 'messages[0].name': string too long. Expected a string with maximum length 64"},
		{400, "Too many stop sequences: the request has more than 4"},
		{400, "`max_tokens` must be greater than `thinking.budget_tokens`"},
		{400, "thinking.budget_tokens must be less than max_tokens"},
		{400, "temperature: must be less than or equal to 1"},
		{408, "Request timeout exceeded"},
		{504, "The request exceeded the deadline of 60 seconds"},
		{400, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."},
		{503, "Too many pending requests in the queue"},
		{400, "Request header fields too large"},
		{400, "The model produced more tokens than allowed in its response"},
		{400, "messages: roles must alternate between user and assistant"},
		{400, "the schema of function f exceeds the maximum depth of 5 in the request"},
		{402,
			"This request requires more credits, or fewer max_tokens. You requested up to 8192 tokens, but can only afford 120."},
		{400, "Unknown parameter: 'input[2].context'"},
		{429, "1分あたりのトークン数が上限を超えました"},
		{400, "画像が大きすぎます。入力の上限を超えています"},
		{429, "분당 토큰 한도를 초과했습니다"},
		{400, "messages: at most 100000 items are allowed in a request"},
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": c.words}})
		if err != nil {
			t.Fatal(err)
		}
		got := classify(c.status, string(body))
		if l := model.LessonOf(got); scrollback.CodeOf(got) == scrollback.OverBudget || l != nil && l.TooLong {
			t.Errorf("%d %q: %v %+v", c.status, c.words, got, l)
		}
	}
}

// A request that asks for more than its server gives in a minute never fits, whatever the
// status says; one that asks for less only has to wait.
func TestNeverFits(t *testing.T) {
	const large = `{"error":{"message":"Request too large for model m in organization o on tokens per minute (TPM): ` +
		`Limit 8000, Requested 9445, ` +
		`please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`
	const used = `{"error":{"message":"Rate limit reached for m on tokens per min (TPM): ` +
		`Limit 10,000, Used 400, Requested 12,500.","type":"tokens",` +
		`"code":"rate_limit_exceeded"}}`
	for _, c := range []struct {
		body             string
		limit, requested int64
	}{
		{large, 8000, 9445},
		{used, 10000, 12500},
		{`{"error":"Request of 9000 tokens exceeds your limit of 8000 tokens per minute"}`, 8000, 9000},
		{`{"error":"This request requires 9445 tokens but the limit is 8000 TPM"}`, 8000, 9445},
		{`{"error":{"message":"Rate limit exceeded: tokens per minute limit 8000, this request has 9445"}}`, 8000, 9445},
		{`{"error":{"message":"tokens per minute: limit=8000 requested=9445"}}`, 8000, 9445},
		{`{"error":{"message":"TPM limit is 8000 but 9445 requested"}}`, 8000, 9445},
	} {
		for _, status := range []int{0, 400, 413, 429} {
			err := classify(status, c.body)
			l := model.LessonOf(err)
			if scrollback.CodeOf(err) != scrollback.OverBudget || l == nil || !l.TooLong || l.Bytes ||
				l.Limit != c.limit || l.Requested != c.requested {
				t.Errorf("%d: %v %+v", status, err, l)
			}
		}
	}
}

// Where a server says only what it gives in a minute, a request that is heavier never fits: it
// is too long, and a lighter one has to wait.
func TestNeverFitsByItsWeight(t *testing.T) {
	const words = "This request would exceed your organization's rate limit of 10,000 input tokens per minute."
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"type":"error","error":{"type":"rate_limit_error","message":"` + words + `"}}`))
	})
	for weight, want := range map[int64]scrollback.Code{15000: scrollback.OverBudget, 9000: scrollback.RateLimited} {
		r := model.Request{Items: []scrollback.Item{{Role: scrollback.RoleUser, Weight: scrollback.Weight{Tokens: weight}}}}
		_, err := ask(client(remote.Options{Retries: -1}), srv.URL, r)
		l := model.LessonOf(err)
		if scrollback.CodeOf(err) != want || (l != nil && l.Limit == 10000) != (want == scrollback.OverBudget) {
			t.Errorf("%d tokens: %v %+v", weight, err, l)
		}
	}
}
