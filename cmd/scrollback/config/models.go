package config

import (
	"cmp"
	"os"
	"strings"
	"time"

	"github.com/knadh/koanf/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
	providers "github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/token"
)

// providerVariables maps the variables that providers read to their values in the
// file.
func providerVariables(k *koanf.Koanf) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range k.MapKeys("providers") {
		p, ok := providers.FindProvider(name)
		if !ok {
			return nil, scrollback.ParamErrorf("scrollback", "providers", i18n.NoSuchProviderInSetting, name,
				strings.Join(providers.ProviderNames(), ", "))
		}
		variables := map[string]string{"api_key": p.Key, "base_url": p.Base}
		for _, key := range k.MapKeys("providers" + dot + name) {
			out[variables[key]] = k.String("providers" + dot + name + dot + key)
		}
	}
	return out, nil
}

// modelFacts returns the tables of models, by name.
func modelFacts(k *koanf.Koanf) (map[string]token.Facts, error) {
	out := map[string]token.Facts{}
	for _, name := range k.MapKeys("models") {
		if !strings.Contains(name, "/") && name != "offline" {
			return nil, scrollback.ParamErrorf("scrollback", "models", i18n.ModelSettingNeedsProvider, name)
		}
		at := "models" + dot + name + dot
		f := token.Facts{Limit: k.Int64(at + "limit"), MaxOutput: k.Int64(at + "max_output"),
			Factor: k.Float64(at + "factor")}
		p := token.Price{Input: k.Float64(at + "price_input"), CachedInput: k.Float64(at + "price_cached_input"),
			Output: k.Float64(at + "price_output"), Currency: cmp.Or(k.String(at+"currency"), "USD")}
		if min(float64(f.Limit), float64(f.MaxOutput), p.Input, p.CachedInput, p.Output, f.Factor) < 0 {
			return nil, scrollback.ParamErrorf("scrollback", "models", i18n.ModelSettingBelowZero, name)
		}
		if p.Input > 0 || p.Output > 0 {
			f.Price = &p
		}
		if f != (token.Facts{}) {
			out[name] = f
		}
	}
	return out, nil
}

// modelStrictness returns what the file says about models' chat templates, by name.
func modelStrictness(k *koanf.Koanf) (map[string]scrollback.Strictness, error) {
	out := map[string]scrollback.Strictness{}
	for _, name := range k.MapKeys("models") {
		switch s := scrollback.Strictness(k.String("models" + dot + name + dot + "strict")); s {
		case scrollback.StrictNothing:
		case scrollback.StrictTurns, scrollback.StrictNoSystem:
			out[name] = s
		default:
			return nil, scrollback.ParamErrorf("scrollback", "models", i18n.StrictIsOneOf, name,
				scrollback.StrictTurns, scrollback.StrictNoSystem, s)
		}
	}
	return out, nil
}

// replyBounds bound one reply of a model.
func replyBounds(k *koanf.Koanf) (model.Bounds, error) {
	n := func(key string) int { return int(k.Int64("reply" + dot + key)) }
	for _, key := range k.MapKeys("reply") {
		if v := k.Int64("reply" + dot + key); v < 0 || v > 1<<31 {
			return model.Bounds{}, scrollback.ParamErrorf("scrollback", "reply",
				i18n.ReplySettingOutOfRange, key)
		}
	}
	return model.Bounds{Chars: n("chars"), ReasoningChars: n("reasoning_chars"), ArgumentBytes: n("argument_bytes"),
		OpaqueBytes: n("opaque_bytes"),
		Calls:       n("calls"), FrameBytes: n("frame_bytes"), Duration: time.Duration(n("seconds")) * time.Second}, nil
}

// Env reads the environment, then what the config file sets in its place.
func (s *Settings) Env(name string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return s.variables[name]
}
