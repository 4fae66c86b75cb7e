// Package all is the table of providers.
package all

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
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
	slices.SortStableFunc(out, func(a, b remote.Preset) int { return providerRank(a) - providerRank(b) })
	return out
}

func providerRank(p remote.Preset) int {
	switch {
	case p.Name == "custom":
		return 2
	case p.Local:
		return 1
	}
	return 0
}

// ProviderNames lists the names of the providers, for help and errors.
func ProviderNames() []string {
	var out []string
	for _, p := range Providers() {
		out = append(out, p.Name)
	}
	return out
}

// FindProvider returns the provider of a name.
func FindProvider(name string) (remote.Preset, bool) {
	for _, p := range Providers() {
		if p.Name == name {
			return p, true
		}
	}
	return remote.Preset{}, false
}

// FindModel makes the model of a name like "openai/gpt-5"; env reads the environment,
// and o says how to ask. It is invalid for an unknown provider, with ErrNoModel as
// the reason. A model whose key, account or address is not set has its facts, which say
// that it is unready, and every request to it is refused.
func FindModel(name string, env func(string) string, o remote.Options) (model.Model, error) {
	provider, id, _ := strings.Cut(name, "/")
	p, ok := FindProvider(provider)
	if !ok {
		return nil, scrollback.ParamErrorf("all.Find", "model",
			i18n.UnknownModel,
			name, strings.Join(ProviderNames(), ", ")).WithReason(scrollback.ErrNoModel)
	}
	at, err := p.Endpoint(id, env, o)
	switch {
	case err != nil && !at.Unset:
		return nil, err
	case err != nil:
		return unreadyModel{p.Open(at), err}, nil
	}
	return p.Open(at), nil
}

// unreadyModel is a model that cannot be asked until somebody sets what is missing.
type unreadyModel struct {
	model model.Model
	why   error
}

// Facts implements model.Model.
func (u unreadyModel) Facts() model.Facts {
	facts := u.model.Facts()
	facts.Unready = u.why
	return facts
}

// Stream implements model.Model.
func (u unreadyModel) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	if r.Forward != nil && r.Forward.Credential != nil {
		return u.model.Stream(ctx, r)
	}
	return func(yield func(model.Delta, error) bool) { yield(model.Delta{}, u.why) }
}

// ReadyProviders lists the providers that the environment sets up: of those on the user's own
// machine, the ones whose address was set.
func ReadyProviders(env func(string) string) []string {
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
