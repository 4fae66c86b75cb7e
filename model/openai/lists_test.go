package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// Lists of models, in the forms of the servers, by the path that is asked.
func TestLists(t *testing.T) {
	type answers map[string]string
	for name, c := range map[string]struct {
		preset, id string
		answers    answers
		limit, out int64
		code       scrollback.Code
	}{
		"vllm": {"vllm", "qwen", answers{"/v1/models": `{"object":"list","data":[{"id":"qwen","object":"model",` +
			`"owned_by":"vllm","root":"Qwen/Qwen3","max_model_len":32768}]}`}, 32768, 0, ""},
		"vllm, other name": {"vllm", "whatever", answers{"/v1/models": `{"data":[{"id":"qwen","max_model_len":32768}]}`},
			32768, 0, ""},
		"vllm, adapters": {"vllm", "mine",
			answers{"/v1/models": `{"data":[{"id":"qwen","max_model_len":32768},{"id":"mine",` +
				`"parent":"qwen","max_model_len":null}]}`}, 0, 0, ""},
		"LM Studio": {"lmstudio", "b",
			answers{"/api/v0/models": `{"data":[{"id":"a","state":"loaded","max_context_length":131072,` +
				`"loaded_context_length":4096},{"id":"b","state":"loaded","max_context_length":131072,"loaded_context_length":8192}]}`},
			8192, 0, ""},
		"LM Studio, not loaded": {"lmstudio", "b",
			answers{"/api/v0/models": `{"data":[{"id":"b","state":"not-loaded","max_context_length":131072}]}`}, 0, 0, ""},
		"LM Studio, older": {"lmstudio", "b", answers{"/v1/models": `{"data":[{"id":"b"}]}`}, 0, 0, scrollback.Invalid},
		"llama.cpp": {"llama.cpp", "m",
			answers{"/props?model=m": `{"default_generation_settings":{"id":0,"n_ctx":8192,"params":{}},` +
				`"total_slots":4}`,
				"/v1/models": `{"data":[{"id":"m","meta":{"n_ctx_train":131072}}]}`}, 8192, 0, ""},
		"llama.cpp, slots": {"llama.cpp", "m", answers{"/props?model=m": `{"default_generation_settings":null}`,
			"/slots": `[{"id":0,"n_ctx":4096},{"id":1,"n_ctx":4096}]`}, 4096, 0, ""},
		"llama.cpp, neither": {"llama.cpp", "m", answers{"/v1/models": `{"data":[{"id":"m","meta":null}]}`}, 0, 0,
			scrollback.Invalid},
		"openrouter": {"openrouter", "a/b",
			answers{"/v1/models": `{"data":[{"id":"a/b:free","context_length":9},{"id":"A/b",` +
				`"context_length":163840,"top_provider":{"context_length":131072,"max_completion_tokens":16384,"is_moderated":false}}]}`},
			131072, 16384, ""},
		"openrouter, no bound": {"openrouter", "a/b",
			answers{"/v1/models": `{"data":[{"id":"a/b","context_length":163840,"top_provider":{"context_length":null,` +
				`"max_completion_tokens":null}}]}`}, 163840, 0, ""},
		"openrouter, another": {"openrouter", "a/b", answers{"/v1/models": `{"data":[{"id":"a/c","context_length":163840}]}`},
			0, 0, ""},
		"moonshot": {"moonshot", "kimi-k2.6",
			answers{"/v1/models": `{"data":[{"id":"kimi-k2.6","context_length":262144,"supports_image_in":true},{"id":"x","context_length":8192}]}`},
			262144, 0, ""},
		"poe, a number": {"poe", "Bot", answers{"/v1/models": `{"data":[{"id":"bot","context_window":200000},{"id":"x"}]}`},
			200000, 0, ""},
		"poe, an object": {"poe", "Bot",
			answers{"/v1/models": `{"data":[{"id":"bot","context_window":{"context_length":200000,` +
				`"max_output_tokens":8192}},{"id":"x"}]}`}, 200000, 0, ""},
		"poe, nothing": {"poe", "Bot", answers{"/v1/models": `{"data":[{"id":"bot","context_window":null},{"id":"x"}]}`}, 0,
			0, ""},
		"custom": {"custom", "m", answers{"/v1/models": `{"object":"list","data":[{"id":"m","object":"model"},{"id":"n",` +
			`"object":"model"}]}`}, 0, 0, ""},
		"custom, with one": {"custom", "m",
			answers{"/v1/models": `{"data":[{"id":"m","context_length":"65536"},{"id":"n"}]}`}, 65536, 0, ""},
		"empty": {"custom", "m", answers{"/v1/models": `{"data":[]}`}, 0, 0, ""},
		"null":  {"custom", "m", answers{"/v1/models": `{"data":null}`}, 0, 0, ""},
		"odd figures": {"custom", "m", answers{"/v1/models": `{"data":[{"id":"m","context_length":-5,"max_model_len":1e300,` +
			`"top_provider":{"max_completion_tokens":-1}}]}`}, 0, 0, ""},
		"a list of texts": {"custom", "m", answers{"/v1/models": `{"data":["m"]}`}, 0, 0, scrollback.Unavailable},
		"a page":          {"custom", "m", answers{"/v1/models": `<!doctype html><p>hello`}, 0, 0, scrollback.Unavailable},
		"none":            {"custom", "m", nil, 0, 0, scrollback.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			m := respServe(t, c.preset, c.id, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, ok := c.answers[r.URL.RequestURI()]
				if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+respKey {
					t.Errorf("asked by %s with %v", r.Method, r.Header)
				}
				if !ok {
					http.NotFound(w, r)
					return
				}
				io.WriteString(w, answer)
			}))
			limit, out, err := m.(model.Lister).List(t.Context())
			if limit != c.limit || out != c.out || scrollback.CodeOf(err) != c.code {
				t.Errorf("%d, %d, %v", limit, out, err)
			}
			if err != nil && (strings.Contains(err.Error(), respKey) || errors.Is(err, scrollback.ErrReplyBound)) {
				t.Errorf("%v", err)
			}
		})
	}
	for _, preset := range []string{"openai", "xai", "deepseek"} {
		if _, ok := respOpen(t, preset, "m", "", nil).(model.Lister); ok {
			t.Errorf("the list of %s tells no windows, and is asked", preset)
		}
	}
}
