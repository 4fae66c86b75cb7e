package local

import (
	"cmp"
	"maps"
	"os"
	"slices"

	"github.com/scrollback-ai/scrollback/model"
	providers "github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/token"
)

// known are the models that can be asked.
type known struct {
	options *Options
	catalog *token.Catalog
}

func (k *known) env(name string) string {
	if k.options.Env != nil {
		return k.options.Env(name)
	}
	return os.Getenv(name)
}

// find makes a model by its name.
func (k *known) find(name string) (model.Model, error) {
	if m := k.options.Models[name]; m != nil {
		return m, nil
	}
	if name == offline.Name {
		return offline.New(&offline.Options{Pace: k.options.OfflinePace}), nil
	}
	return providers.Find(name, k.env, remote.Options{Agent: cmp.Or(k.options.Agent, "scrollback")})
}

// names lists the models that can be asked, each once: the caller's own, the offline
// one, and those of providers whose key is set.
func (k *known) names() []string {
	own := slices.Sorted(maps.Keys(k.options.Models))
	others := []string{offline.Name}
	for _, provider := range providers.Ready(k.env) {
		others = append(others, k.catalog.Names(provider)...)
	}
	return append(own, slices.DeleteFunc(others, func(name string) bool { return k.options.Models[name] != nil })...)
}
