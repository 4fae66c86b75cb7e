package openai

import (
	"time"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// serverDialect is how one server differs from the standard. The rows and their sources are
// described in docs/guides/dialects.md.
type serverDialect struct {
	responses bool   // it speaks /responses, which is asked first
	search    string // the tool with which it searches the web; empty for none
	system    string // the role of instructions in responses; empty means system

	oldMaxTokens bool // max_tokens, and not max_completion_tokens
	noNull       bool // content is a text also where nothing is said
	thinking     thinkingForm
	cacheKey     string // the field of the conversation's key in chat completions, or a header's name behind ":"

	field  string // which field carries reasoning back, where it did not say
	replay replayMode
	absent string // what stands for the reasoning of a call that has none, behind ":"; empty for no field
	// preserve is the parameter that makes a server read the reasoning it is sent
	// back, and families the beginnings of the names of models that take it.
	preserve string
	families []string

	// marks are the beginnings of the names of models whose prompts are cached up to
	// marks only.
	marks []string

	noAddresses bool // images are taken as bytes only

	list    windowLister
	silence time.Duration // in which it may think without a word; 0 means the usual
}

// quiet is how long a model may think whose thoughts are not streamed.
const quiet = 15 * time.Minute

// replayMode is when reasoning goes back to the model that made it.
type replayMode int

const (
	replayNever  replayMode = iota
	replayCalls             // with each message that holds calls, until it is folded
	replayAlways            // with each message
)

// thinkingForm is how a server is told how much to think.
type thinkingForm int

const (
	thinkEffort    thinkingForm = iota // reasoning_effort
	thinkReasoning                     // reasoning: an effort, a budget, or on and off
	thinkType                          // thinking: on and off, and reasoning_effort where the model has levels
	thinkEnable                        // enable_thinking and thinking_budget
)

// servers is the table of presets. A model is named "preset/name as the server
// knows it".
var servers = []struct {
	remote.Preset
	serverDialect
}{
	{remote.Preset{Name: "openai", URL: "https://api.openai.com/v1", Key: "OPENAI_API_KEY", Base: "OPENAI_BASE_URL"},
		serverDialect{responses: true, search: "web_search", system: "developer", cacheKey: "prompt_cache_key",
			field: "reasoning_content", replay: replayCalls, silence: quiet}},
	{remote.Preset{Name: "deepseek", URL: "https://api.deepseek.com/v1", Key: "DEEPSEEK_API_KEY",
		Base: "DEEPSEEK_BASE_URL"},
		serverDialect{oldMaxTokens: true, thinking: thinkType, field: "reasoning_content", replay: replayCalls, absent: ":"}},
	{remote.Preset{Name: "xai", URL: "https://api.x.ai/v1", Key: "XAI_API_KEY", Base: "XAI_BASE_URL"},
		serverDialect{responses: true, search: "web_search", cacheKey: ":x-grok-conv-id", field: "reasoning_content",
			replay: replayNever, silence: quiet}},
	{remote.Preset{Name: "poe", URL: "https://api.poe.com/v1", Key: "POE_API_KEY", Base: "POE_BASE_URL"},
		serverDialect{field: "reasoning_content", replay: replayCalls, list: listPlain}},
	{remote.Preset{Name: "ark", URL: "https://ark.cn-beijing.volces.com/api/v3", Key: "ARK_API_KEY", Base: "ARK_BASE_URL"},
		serverDialect{oldMaxTokens: true, thinking: thinkType, field: "reasoning_content", replay: replayCalls}},
	{remote.Preset{Name: "openrouter", URL: "https://openrouter.ai/api/v1", Key: "OPENROUTER_API_KEY",
		Base: "OPENROUTER_BASE_URL"},
		serverDialect{oldMaxTokens: true, search: "openrouter:web_search", thinking: thinkReasoning, field: "reasoning",
			replay: replayAlways, marks: []string{"anthropic/"}, list: listPlain}},
	{remote.Preset{Name: "dashscope", URL: "https://dashscope.aliyuncs.com/compatible-mode/v1", Key: "DASHSCOPE_API_KEY",
		Base: "DASHSCOPE_BASE_URL"},
		serverDialect{oldMaxTokens: true, thinking: thinkEnable, field: "reasoning_content", replay: replayNever,
			preserve: "preserve_thinking", families: []string{"qwen3.6", "qwen3.7", "qwen3.8", "qwen4"}}},
	{remote.Preset{Name: "moonshot", URL: "https://api.moonshot.cn/v1", Key: "MOONSHOT_API_KEY",
		Base: "MOONSHOT_BASE_URL"},
		serverDialect{thinking: thinkType, cacheKey: "prompt_cache_key", field: "reasoning_content", replay: replayCalls,
			absent: ": ", noAddresses: true, list: listPlain,
			preserve: "thinking", families: []string{"kimi-k2.6"}}},
	{remote.Preset{Name: "workers-ai", URL: "https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1",
		Key: "CLOUDFLARE_API_KEY", Base: "WORKERS_AI_BASE_URL", Account: "CLOUDFLARE_ACCOUNT_ID"},
		serverDialect{oldMaxTokens: true, noNull: true, cacheKey: ":x-session-affinity", field: "reasoning_content",
			replay: replayCalls}},
	{remote.Preset{Name: "custom", Key: "SCROLLBACK_API_KEY", Base: "SCROLLBACK_BASE_URL", Local: true},
		serverDialect{oldMaxTokens: true, field: "reasoning_content", replay: replayCalls, list: listPlain}},
	{remote.Preset{Name: "lmstudio", URL: "http://127.0.0.1:1234/v1", Key: "LMSTUDIO_API_KEY", Base: "LMSTUDIO_BASE_URL",
		Local: true},
		serverDialect{oldMaxTokens: true, field: "reasoning_content", replay: replayCalls, noAddresses: true,
			list: listLMStudio}},
	{remote.Preset{Name: "vllm", URL: "http://127.0.0.1:8000/v1", Key: "VLLM_API_KEY", Base: "VLLM_BASE_URL", Local: true},
		serverDialect{oldMaxTokens: true, field: "reasoning", replay: replayCalls, list: listPlain}},
	{remote.Preset{Name: "llama.cpp", URL: "http://127.0.0.1:8080/v1", Key: "LLAMA_CPP_API_KEY",
		Base: "LLAMA_CPP_BASE_URL", Local: true},
		serverDialect{oldMaxTokens: true, field: "reasoning_content", replay: replayCalls, list: listLlamaCPP}},
}

// Presets lists the servers of this kind.
func Presets() []remote.Preset {
	var out []remote.Preset
	for _, s := range servers {
		p := s.Preset
		d := s.serverDialect
		p.Open = func(at remote.Endpoint) model.Model {
			if d.list != nil {
				return &listedModel{Model: newModel(at, d)}
			}
			return newModel(at, d)
		}
		out = append(out, p)
	}
	return out
}
