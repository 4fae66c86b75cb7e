package token_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/token"
)

// owned returns a catalog whose owner knows a few models that the built-in one does not.
func owned() *token.Catalog {
	return token.NewCatalog(map[string]token.Facts{
		"openai/gpt-4":      {Limit: 8192},
		"openai/o1":         {Limit: 200_000},
		"openai/chatgpt-4o": {Limit: 1},
		"custom/mine":       {Limit: 4096, Factor: 1.4},
		"who/house":         {Limit: 9000},
	})
}

// Every other name of a model leads to it, and to no other.
func TestAliases(t *testing.T) {
	c := owned()
	for _, k := range []struct{ name, as string }{
		// dates
		{"openai/gpt-5-2025-08-07", "openai/gpt-5"},
		{"openai/gpt-5-mini-2025-08-07", "openai/gpt-5-mini"},
		{"openai/gpt-4o-20241120", "openai/gpt-4o"},
		{"openai/gpt-4-0613", "openai/gpt-4"},
		{"claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5-20250929"},
		{"anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5-20250929"},
		{"anthropic/claude-sonnet-4-5@20250929", "anthropic/claude-sonnet-4-5-20250929"},
		{"anthropic/claude-opus-4", "anthropic/claude-opus-4-20250514"},
		{"anthropic/claude-opus-4.8", "anthropic/claude-opus-4-8"},
		{"anthropic/claude-opus-4-8@default", "anthropic/claude-opus-4-8"},
		{"openrouter/anthropic/claude-sonnet-4-5-20250929", "openrouter/anthropic/claude-sonnet-4.5"},
		{"openrouter/qwen/qwen3.5-plus", "openrouter/qwen/qwen3.5-plus-20260420"},
		{"ark/doubao-seed-1-6-250615", "ark/doubao-seed-1-6"},
		// the newest, and previews
		{"anthropic/claude-haiku-4-5-latest", "anthropic/claude-haiku-4-5-20251001"},
		{"openai/gpt-5.1-chat-latest", "openrouter/openai/gpt-5.1-chat"},
		{"gemini/gemini-2.5-pro-preview-06-05", "gemini/gemini-2.5-pro"},
		{"gemini/gemini-2.5-flash-preview-09-2025", "gemini/gemini-2.5-flash"},
		{"gemini/gemini-2.5-pro-exp-03-25", "gemini/gemini-2.5-pro"},
		{"gemini/gemini-2.5-flash-001", "gemini/gemini-2.5-flash"},
		{"gemini/gemini-3-flash", "gemini/gemini-3-flash-preview"},
		{"moonshot/kimi-k2-0905-preview", "openrouter/moonshotai/kimi-k2-0905"},
		{"xai/grok-4.3-beta", "xai/grok-4.3"},
		// names that stay while the model behind them changes
		{"deepseek/deepseek-chat", "deepseek/deepseek-v4-flash"},
		{"deepseek/deepseek-reasoner", "deepseek/deepseek-v4-flash"},
		{"deepseek-reasoner", "deepseek/deepseek-v4-flash"},
		// prefixes
		{"openrouter/anthropic/claude-mythos-5", "anthropic/claude-mythos-5"},
		{"openrouter/moonshotai/kimi-k2.7-code-highspeed", "moonshot/kimi-k2.7-code-highspeed"},
		{"custom/openai/gpt-5", "openai/gpt-5"},
		{"custom/openrouter/anthropic/claude-fable-5", "anthropic/claude-fable-5"},
		{"models/gemini-2.5-pro", "gemini/gemini-2.5-pro"},
		{"gemini/models/gemini-2.5-pro", "gemini/gemini-2.5-pro"},
		{"accounts/fireworks/models/glm-5p2", "dashscope/glm-5.2"},
		{"custom/accounts/fireworks/models/gpt-oss-20b", "openrouter/openai/gpt-oss-20b"},
		{"@cf/meta/llama-3.3-70b-instruct-fp8-fast", "openrouter/meta-llama/llama-3.3-70b-instruct"},
		{"workers-ai/@cf/meta/llama-3.1-8b-instruct", "openrouter/meta-llama/llama-3.1-8b-instruct"},
		{"poe/Claude-Sonnet-4.5", "openrouter/anthropic/claude-sonnet-4.5"},
		{"poe/GPT-5", "openai/gpt-5"},
		{"ark/deepseek-v3.2", "dashscope/deepseek-v3.2"},
		// OpenRouter's services
		{"openrouter/qwen/qwen3-8b:free", "openrouter/qwen/qwen3-8b"},
		{"openrouter/openai/gpt-5:nitro", "openrouter/openai/gpt-5"},
		{"openrouter/openai/gpt-5:floor", "openrouter/openai/gpt-5"},
		{"openrouter/anthropic/claude-sonnet-4.5:thinking", "openrouter/anthropic/claude-sonnet-4.5"},
		{"openrouter/openai/gpt-4o-2024-07-01:online", "openrouter/openai/gpt-4o"},
		// formats
		{"custom/qwen3-8b-Q4_K_M", "openrouter/qwen/qwen3-8b"},
		{"ollama/qwen3:8b", "openrouter/qwen/qwen3-8b"},
		{"ollama/qwen3-8b:q4_0", "openrouter/qwen/qwen3-8b"},
		{"ollama/hf.co/unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL", "openrouter/qwen/qwen3-8b"},
		{"vllm/Qwen/Qwen3-32B-AWQ", "openrouter/qwen/qwen3-32b"},
		{"vllm/Qwen/Qwen3-30B-A3B-GPTQ-Int4", "openrouter/qwen/qwen3-30b-a3b"},
		{"lmstudio/mlx-community/Qwen3-8B-4bit", "openrouter/qwen/qwen3-8b"},
		{"lmstudio/qwen3-8b-bf16-mlx", "openrouter/qwen/qwen3-8b"},
		{"lmstudio/qwen/qwen3-8b@q8_0", "openrouter/qwen/qwen3-8b"},
		{"llama.cpp/Qwen3-8B-IQ4_XS.gguf", "openrouter/qwen/qwen3-8b"},
		{"custom/zai-org/GLM-5.1-FP8", "dashscope/glm-5.1"},
		{"custom/mine:Q4_K_M", "custom/mine"},
		// capitals
		{"openai/GPT-5", "openai/gpt-5"},
		{"OpenAI/gpt-5", "openai/gpt-5"},
		{"moonshot/Kimi-K3", "moonshot/kimi-k3"},
		{"custom/meta-llama/Llama-3.3-70B-Instruct", "openrouter/meta-llama/llama-3.3-70b-instruct"},
	} {
		if f := c.Find(k.name); f.As != k.as || !f.Known {
			t.Errorf("%s is taken for %q (known: %v), want %s", k.name, f.As, f.Known, k.as)
		}
	}
}

// A name that only looks like another model's leads nowhere, or to what it is.
func TestAliasTraps(t *testing.T) {
	c := owned()
	for _, name := range []string{
		// another size, another line, another age
		"openai/gpt-6", "openai/gpt-5-micro", "openai/gpt-50", "openai/gpt", "gpt", "openai/gpt-5-ultra-2025-08-07",
		"anthropic/claude-3", "anthropic/claude-3-5", "anthropic/claude-sonnet", "anthropic/claude-sonnet-4-9", "claude",
		"anthropic/claude-opus-40", "anthropic/claude-opus-4-8-fast-cheap",
		"custom/qwen3-80b", "custom/qwen3-8", "custom/qwen3-88b-gguf", "custom/qwen3-8b-base", "custom/qwen3-8b-distill",
		"ollama/qwen3:80b",
		"ollama/qwen3",
		"custom/qwen3-30b-a3b-2507", "custom/qwen3-235b-a22b-2601",
		"gemini/gemini-2.5", "gemini/gemini-flash-latest", "gemini/gemini-2.5-flash-preview-tts",
		"gemini/gemini-2.5-pro-native-audio",
		"deepseek/deepseek-r1-250528", "deepseek/deepseek-r2", "deepseek/deepseek-v4",
		"openrouter/deepseek/deepseek-reasoner",
		"deepseek/deepseek-coder",
		"moonshot/kimi-k2-0711", "moonshot/kimi-latest", "xai/grok-4", "xai/grok-4.20-reasoning",
		// what is no date of a snapshot
		"openai/o1-preview", "openai/o1-preview-2024-09-12", "openai/gpt-4-0125-preview", "openai/gpt-4-1106-preview",
		"openai/chatgpt-4o-latest-2", "openai/gpt-4o-realtime-preview",
		"openai/gpt-4o-audio-preview-2024-12-17", "openai/gpt-4o-search-preview", "openai/gpt-5-chat-latest",
		"openai/gpt-4-9913",
		"openai/gpt-5-2025-13-07", "openai/gpt-5-2025-08", "openai/gpt-5-20",
		"openrouter/mistralai/mistral-large-2411", "openai/gpt-4-32k-0613",
		// others' models of the same name, and what is no name at all
		"openrouter/elsewhere/gpt-5", "custom/elsewhere/qwen3-8b", "custom/finetunes/kimi-k2.7-code", "who/house-2",
		"openai/:free", "openai/-2025-08-07", "openai/", "/", "", "/gpt-5", "custom/Q4_K_M", "openai//", "offline", "script",
		"who/what",
		"openai/gpt-5" + strings.Repeat("-gguf", 300),
	} {
		if f := c.Find(name); f.As != "" || f.Known || f.Limit != 0 || f.Price != nil || f.MaxOutput != 0 {
			t.Errorf("%.60q is taken for %q: %+v", name, f.As, f)
		}
	}
	for _, k := range []struct{ name, not string }{
		{"openai/gpt-5-mini", "openai/gpt-5"}, {"custom/gpt-5-mini", "openai/gpt-5"},
		{"openrouter/deepseek/deepseek-r1-0528", "openrouter/deepseek/deepseek-r1"},
		{"deepseek/deepseek-r1-0528", "openrouter/deepseek/deepseek-r1"},
		{"moonshot/kimi-k2-0905", "openrouter/moonshotai/kimi-k2"},
		{"openrouter/deepseek/deepseek-chat", "deepseek/deepseek-v4-flash"}, {"openrouter/qwen/qwen3-235b-a22b-2507",
			"openrouter/qwen/qwen3-235b-a22b"},
		{"openrouter/openai/gpt-oss-20b:free", "openrouter/openai/gpt-oss-20b"},
		{"openai/chatgpt-4o-latest", "openai/gpt-4o"},
		{"openai/gpt-4-turbo-preview", "openai/gpt-4"}, {"openai/gpt-4-turbo-2024-04-09", "openai/gpt-4"},
	} {
		if f := c.Find(k.name); f.As == k.not || !f.Known {
			t.Errorf("%s is taken for %q (known: %v)", k.name, f.As, f.Known)
		}
	}
}

// A window is taken only from where it is served, and a price from who is paid.
func TestAliasFacts(t *testing.T) {
	c := owned()
	for _, name := range []string{"custom/openai/gpt-5", "vllm/gpt-5", "lmstudio/gpt-5", "llama.cpp/gpt-5", "ollama/gpt-5",
		"workers-ai/gpt-5",
		"anyone/gpt-5",
		"custom/Qwen/Qwen3-8B", "openai/qwen3-8b", "anthropic/kimi-k3", "custom/mine-gguf", "@cf/meta/llama-3.1-8b-instruct",
		"accounts/fireworks/models/kimi-k2p6"} {
		if f := c.Find(name); !f.Known || f.Limit != 0 || f.MaxOutput != 0 || f.Price != nil || f.Factor < 1 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := c.Find("custom/mine-gguf"); f.Factor != 1.4 {
		t.Errorf("what the owner says of the tokens is lost: %+v", f)
	}
	if a, b := c.Find("custom/openai/gpt-5").Factor, c.Find("custom/claude-fable-5").Factor; a != 1 || b <= 1 {
		t.Errorf("%v, %v", a, b)
	}
	for name, priced := range map[string]bool{"openai/gpt-5-2025-08-07": true, "gpt-5": true,
		"openrouter/openai/gpt-5":              true,
		"openrouter/anthropic/claude-mythos-5": true,
		"openrouter/openai/gpt-5:nitro":        false, "openrouter/qwen/qwen3-8b:free": false,
		"openrouter/openai/gpt-5:thinking": true,
		"poe/GPT-5":                        false, "dashscope/kimi-k2.6": false, "moonshot/kimi-k2-0905-preview": false,
		"ark/doubao-seed-1-6-250615": false} {
		if f := c.Find(name); f.Limit < 100_000 || priced != (f.Price != nil) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	own := token.NewCatalog(map[string]token.Facts{"openai/gpt-5": {Limit: 7777},
		"openai/gpt-5-2025-08-07": {MaxOutput: 55}})
	if f := own.Find("openai/gpt-5-2025-08-07"); f.Limit != 7777 || f.MaxOutput != 55 || f.Price == nil ||
		f.As != "openai/gpt-5" {
		t.Errorf("%+v", f)
	}
}

// Every name of the catalog is its own, in capitals too, and packed in whatever way.
func TestAliasesKeepExactNames(t *testing.T) {
	c := token.NewCatalog(nil)
	providers := []string{"openai", "deepseek", "xai", "openrouter", "dashscope", "moonshot", "anthropic", "gemini"}
	for _, provider := range providers {
		names := c.Names(provider)
		if len(names) == 0 {
			t.Errorf("nothing of %s is known", provider)
		}
		for _, name := range names {
			if f := c.Find(name); f.As != "" || !f.Known {
				t.Errorf("%s is taken for %s", name, f.As)
			}
			for _, other := range []string{strings.ToUpper(name), name + "-GGUF", name + "-FP8"} {
				if f := c.Find(other); f.As != name {
					t.Errorf("%s is taken for %q", other, f.As)
				}
			}
		}
	}
	all := c.Names("openai")
	for _, name := range all {
		for _, tail := range []string{"-x", "0", "-mega", "-32k"} {
			if f := c.Find(name + tail); f.Known && f.As != "" && !slices.Contains(all, name+tail) &&
				!strings.HasPrefix(f.As, "openrouter/"+name+tail) {
				t.Errorf("%s is taken for %s", name+tail, f.As)
			}
		}
	}
}

func TestNear(t *testing.T) {
	c := owned()
	for _, k := range []struct{ name, first string }{
		{"gpt-5", "openai/gpt-5"}, {"gpt5", "openai/gpt-5"}, {"opanai/gpt-5", "openai/gpt-5"},
		{"openai/gtp-5", "openai/gpt-5"},
		{"openai/gpt_5", "openai/gpt-5"},
		{"open-ai/gpt-5", "openai/gpt-5"}, {"openaigpt5", "openai/gpt-5"}, {"openai/gpt-5-mni", "openai/gpt-5-mini"},
		{"claude-sonet-4.5", "anthropic/claude-sonnet-4-5-20250929"},
		{"google/gemini-2.5-pro", "gemini/gemini-2.5-pro"}, {"gemini/gemini-2.5-flahs", "gemini/gemini-2.5-flash"},
		{"openrouter/antropic/claude-opus-4.8", "openrouter/anthropic/claude-opus-4.8"},
		{"sonnet-4-5", "anthropic/claude-sonnet-4-5-20250929"}, {"anthropic/claude-fable", "anthropic/claude-fable-5"},
		{"deepseek/deepseek-v4-flsh", "deepseek/deepseek-v4-flash"},
		{"custom/mien", "custom/mine"}, {"who/hous", "who/house"},
	} {
		near := c.NearNames(k.name)
		if len(near) == 0 || len(near) > 3 || near[0] != k.first {
			t.Errorf("near %s are %q, want %s first", k.name, near, k.first)
		}
		if again := owned().NearNames(k.name); !slices.Equal(again, near) {
			t.Errorf("near %s are %q, then %q", k.name, near, again)
		}
	}
	for _, name := range []string{"", "a", "/", "xyzzy", "offline", "who/what", "openai/", "custom/my-own-model",
		"openai/gpt-5", "who/house",
		"模型", strings.Repeat("gpt-5", 1000)} {
		if near := c.NearNames(name); len(near) != 0 {
			t.Errorf("near %.40q are %q", name, near)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringN(0, 80, 300).Draw(t, "name")
		near := c.NearNames(name)
		if len(near) > 3 {
			t.Fatalf("%q", near)
		}
		for _, n := range near {
			if f := c.Find(n); !f.Known || f.As != "" {
				t.Fatalf("%s is near %q, and not known: %+v", n, name, f)
			}
		}
	})
}

// A report between half and double is followed, and never further than tokenizers
// differ; a bigger report never teaches a smaller factor.
func TestLearnIsBounded(t *testing.T) {
	for _, k := range []struct {
		was            float64
		sent, reported int64
		want           float64
	}{
		// the prompt was cut, or only a part was counted
		{0, 1000, 499, 0}, {1.2, 1000, 499, 1.2}, {1.2, 1001, 500, 1.2}, {1.2, 1000, 1, 1.2},
		{0, 1000, 500, 0.7}, {0, 1000, 690, 0.7}, {0, 1000, 2000, 2}, {0, 1000, 100_000, 2},
		{4, 1000, 1, 2}, {0.5, 1000, 1, 0.7}, {0.5, 100, 100, 0.7}, {1, 1000, 1500, 1.1},
	} {
		if got := token.LearnFactor(k.was, k.sent, k.reported); math.Abs(got-k.want) > 1e-9 {
			t.Errorf("from %v, sent %d and reported %d: %v, want %v", k.was, k.sent, k.reported, got, k.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		was := rapid.Float64Range(0.7, 2).Draw(t, "was")
		sent := rapid.Int64Range(500, 1<<40).Draw(t, "sent")
		a := rapid.Int64Range(sent-sent/2, sent*3).Draw(t, "one report")
		b := rapid.Int64Range(a, sent*4).Draw(t, "a bigger one")
		one := token.LearnFactor(was, sent, a)
		bigger := token.LearnFactor(was, sent, b)
		if one > bigger || one < 0.7 || bigger > 2 {
			t.Fatalf("%v, then %v", one, bigger)
		}
	})
}

// A refusal raises the factor at once, within bounds, and never lowers it.
func TestRaise(t *testing.T) {
	for _, k := range []struct {
		was             float64
		sent, requested int64
		want            float64
	}{
		{1, 1000, 1500, 1.5}, {0, 1000, 1500, 1.5}, {1.6, 1000, 1500, 1.6}, {1, 1000, 90_000, 2}, {2, 1000, 90_000, 2},
		{0, 1000, 900, 0}, {0.8, 1000, 900, 0.9}, {1.1, 1000, 0, 1.1}, {1.1, 1000, -5, 1.1}, {1.1, 499, 900, 1.1},
		{1.1, 0, 900, 1.1},
	} {
		if got := token.RaiseFactor(k.was, k.sent, k.requested); got != k.want {
			t.Errorf("from %v, sent %d and counted %d: %v, want %v", k.was, k.sent, k.requested, got, k.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		was := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0.7, 2)).Draw(t, "was")
		sent := rapid.Int64Range(-1, 1<<40).Draw(t, "sent")
		a := rapid.Int64Range(-1, 1<<40).Draw(t, "one count")
		b := rapid.Int64Range(a, 1<<41).Draw(t, "a bigger one")
		one := token.RaiseFactor(was, sent, a)
		bigger := token.RaiseFactor(was, sent, b)
		if one < was || one > bigger || bigger > 2 {
			t.Fatalf("%v, then %v", one, bigger)
		}
	})
}
