package openai

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// preset is a server known by name. Key names the environment variable that holds
// its key; Base another that replaces its address, or the address itself is empty
// and must come from there.
type preset struct {
	URL, Key, Base string
	Account        string // the variable that stands for account in URL
	OldMaxTokens   bool
	NoImages       bool
	Thinking       string
}

// account stands in an address for the name of an account.
const account = "{account}"

// presets is the table of servers. A model is named "preset/name as the server
// knows it".
var presets = map[string]preset{
	"openai":     {URL: "https://api.openai.com/v1", Key: "OPENAI_API_KEY", Base: "OPENAI_BASE_URL"},
	"deepseek":   {URL: "https://api.deepseek.com/v1", Key: "DEEPSEEK_API_KEY", OldMaxTokens: true, NoImages: true, Thinking: "type"},
	"xai":        {URL: "https://api.x.ai/v1", Key: "XAI_API_KEY"},
	"poe":        {URL: "https://api.poe.com/v1", Key: "POE_API_KEY"},
	"ark":        {URL: "https://ark.cn-beijing.volces.com/api/v3", Key: "ARK_API_KEY", OldMaxTokens: true, Thinking: "type"},
	"openrouter": {URL: "https://openrouter.ai/api/v1", Key: "OPENROUTER_API_KEY", OldMaxTokens: true, Thinking: "reasoning"},
	"dashscope":  {URL: "https://dashscope.aliyuncs.com/compatible-mode/v1", Key: "DASHSCOPE_API_KEY", OldMaxTokens: true, Thinking: "enable"},
	"moonshot":   {URL: "https://api.moonshot.cn/v1", Key: "MOONSHOT_API_KEY", OldMaxTokens: true, Thinking: "type"},
	"workers-ai": {URL: "https://api.cloudflare.com/client/v4/accounts/" + account + "/ai/v1", Key: "CLOUDFLARE_API_KEY", Account: "CLOUDFLARE_ACCOUNT_ID", OldMaxTokens: true},
	"custom":     {Key: "SCROLLBACK_API_KEY", Base: "SCROLLBACK_BASE_URL", OldMaxTokens: true},
}

// Presets lists the names of the servers, for help and errors.
func Presets() string {
	return "openai, deepseek, xai, poe, ark, openrouter, dashscope, moonshot, workers-ai, custom"
}

// Find makes the model of a name like "openai/gpt-5". env reads the environment.
// It is invalid for an unknown preset, and refused when the key is missing.
func Find(name string, env func(string) string) (*Model, error) {
	const op = "openai.Find"
	server, id, ok := strings.Cut(name, "/")
	p, known := presets[server]
	if !ok || !known || id == "" {
		return nil, scrollback.ParamErrorf(op, "model", "unknown model %q: offline, or one of %s, as in openai/NAME", name, Presets())
	}
	o := Options{BaseURL: p.URL, Key: env(p.Key), Model: id, OldMaxTokens: p.OldMaxTokens, NoImages: p.NoImages, Thinking: p.Thinking}
	if p.Base != "" && env(p.Base) != "" {
		o.BaseURL = env(p.Base)
	}
	if p.Account != "" {
		o.BaseURL = strings.ReplaceAll(o.BaseURL, account, url.PathEscape(env(p.Account)))
	}
	switch {
	case p.Account != "" && env(p.Account) == "":
		return nil, scrollback.Errorf(scrollback.Refused, op, "%s needs the name of an account: set %s", name, p.Account)
	case o.BaseURL == "":
		return nil, scrollback.ParamErrorf(op, "model", "%s needs an address: set %s", name, p.Base)
	case o.Key == "" && p.URL != "" && (p.Base == "" || env(p.Base) == ""):
		return nil, scrollback.Errorf(scrollback.Refused, op, "%s needs a key: set %s", name, p.Key)
	}
	return New(name, o), nil
}

// Ready lists the servers that can be asked as the environment is, by name.
func Ready(env func(string) string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		if _, err := Find(name+"/x", env); err == nil {
			out = append(out, name)
		}
	}
	return out
}
