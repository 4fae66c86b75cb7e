// Package all is the table of providers.
package all

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/anthropic"
	"github.com/scrollback-ai/scrollback/model/gemini"
	"github.com/scrollback-ai/scrollback/model/ollama"
	"github.com/scrollback-ai/scrollback/model/openai"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// Providers lists the providers, those on the user's own machine last.
func Providers() []remote.Preset {
	out := append(openai.Presets(), anthropic.Preset(), gemini.Preset(), ollama.Preset())
	slices.SortStableFunc(out, func(a, b remote.Preset) int { return rank(a) - rank(b) })
	return out
}

func rank(p remote.Preset) int {
	switch {
	case p.Name == "custom":
		return 2
	case p.Local:
		return 1
	}
	return 0
}

// Names lists the names of the providers, for help and errors.
func Names() []string {
	var out []string
	for _, p := range Providers() {
		out = append(out, p.Name)
	}
	return out
}

// Provider is the provider of a name.
func Provider(name string) (remote.Preset, bool) {
	for _, p := range Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return remote.Preset{}, false
}

// Find makes the model of a name like "openai/gpt-5"; env reads the environment,
// and o says how to ask. It is invalid for an unknown provider, with ErrNoModel as
// the reason, and refused if a key is missing.
func Find(name string, env func(string) string, o remote.Options) (model.Model, error) {
	provider, id, _ := strings.Cut(name, "/")
	p, ok := Provider(provider)
	if !ok {
		return nil, scrollback.ParamErrorf("all.Find", "model", "unknown model %q: offline, or PROVIDER/NAME as in openai/gpt-5, of %s",
			name, strings.Join(Names(), ", ")).Because(scrollback.ErrNoModel)
	}
	at, err := p.Endpoint(id, env, o)
	if err != nil {
		return nil, err
	}
	return p.Open(at), nil
}

// Ready lists the providers that the environment sets up: of those on the user's own
// machine, the ones whose address was set.
func Ready(env func(string) string) []string {
	var out []string
	for _, p := range Providers() {
		if p.Local && env(p.Base) == "" {
			continue
		}
		if _, err := p.Endpoint("x", env, remote.Options{}); err == nil {
			out = append(out, p.Name)
		}
	}
	slices.Sort(out)
	return out
}
