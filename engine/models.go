package engine

import (
	"cmp"
	"context"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
)

// ModelEntry is a model that can be asked here: its Name; its window, Limit, and LimitFrom,
// where that is known from; MaxOutput and Price; Factor, how its tokens compare with ours, and
// whether that is Learned; whether it is the Default; WebSearch, who can search the web for
// it; Provider, Here and Offline, where it runs; Efforts and Images, what it can; and Taught,
// what its server has taught. It is [request.ModelEntry].
type ModelEntry = request.ModelEntry

// Models lists the models that are set up here, the default first.
func (v *View) Models(ctx context.Context) ([]ModelEntry, error) {
	if err := v.door.requireAccess(scrollback.AccessRead); err != nil {
		return nil, err
	}
	names := []string{v.e.o.Model}
	if v.e.o.ModelNames != nil {
		for _, name := range v.e.o.ModelNames(ctx) {
			if name != v.e.o.Model {
				names = append(names, name)
			}
		}
	}
	out := []ModelEntry{}
	for i, name := range names {
		settings, err := v.e.resolver.Resolve(ctx, scrollback.Conversation{Model: name}, Overrides{})
		if err != nil || settings.Facts.Unready != nil {
			continue // the default, if its key is not set
		}
		var taught *scrollback.Learned
		if k := settings.Learned; k.Limit > 0 || k.MaxOutput > 0 || len(k.Dropped) > 0 || k.Strict != "" || k.API != "" {
			k.Factor = 0
			taught = &k
		}
		facts := v.e.o.Catalog.Find(name)
		m := ModelEntry{Name: name, Taught: taught, Limit: settings.ModelBudget.Limit, LimitFrom: settings.LimitFrom,
			MaxOutput: settings.Facts.MaxOutput,
			Price:     facts.Price, Factor: settings.Factor, Learned: settings.Learned.Factor > 0, Default: i == 0,
			WebSearch: v.e.chooseSearcher(&settings, nil),
			Here:      settings.Facts.Here, Offline: settings.Facts.Offline, Efforts: request.ListEfforts(settings.Facts, facts)}
		if provider, _, ok := strings.Cut(name, "/"); ok {
			m.Provider = provider
		}
		if sees := facts.Sees; facts.Known || settings.Facts.Offline {
			m.Images = &sees
		}
		out = append(out, m)
	}
	return out, nil
}

// CheckModel returns an error if a model cannot be asked here: it does not exist, or its key
// is missing. The empty name is the default model.
func (v *View) CheckModel(name string) error {
	m, err := v.e.resolver.FindModel(cmp.Or(name, v.e.o.Model))
	if err != nil {
		return err
	}
	return m.Facts().Unready
}

// CheckSettings returns an error if the conversation's own model, policy or limit cannot be used
// here. That a model's key is missing is no such error; see [View.CheckModel].
func (v *View) CheckSettings(c scrollback.Conversation) error {
	return v.e.resolver.CheckConversation(c, scrollback.Project{})
}

// noModels finds the models of an engine that was given none.
func noModels(name string) (model.Model, error) {
	return nil, scrollback.ParamErrorf("engine", "model", i18n.NoModelsSetUp,
		name).WithReason(scrollback.ErrNoModel)
}
