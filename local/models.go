package local

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback/model"
	providers "github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/token"
)

// knownModels finds the models that can be used.
type knownModels struct {
	options *Options
	catalog *token.Catalog
	offered offeredModels
}

func (k *knownModels) lookupEnv(name string) string {
	if k.options.Env != nil {
		return k.options.Env(name)
	}
	return os.Getenv(name)
}

// findModel makes a model by its name.
func (k *knownModels) findModel(name string) (model.Model, error) {
	if m := k.options.Models[name]; m != nil {
		return m, nil
	}
	if name == offline.Name {
		return offline.New(&offline.Options{Pace: k.options.OfflinePace}), nil
	}
	return providers.FindModel(name, k.lookupEnv, remote.Options{Agent: cmp.Or(k.options.Agent, "scrollback")})
}

// listModels lists the models that can be asked, each once: the caller's own, the offline
// one, those of providers whose key is set, and those that servers on the user's own
// machine say they have.
func (k *knownModels) listModels(ctx context.Context) []string {
	names := append(slices.Sorted(maps.Keys(k.options.Models)), offline.Name)
	seen := map[string]bool{}
	for _, provider := range providers.ReadyProviders(k.lookupEnv) {
		names = append(names, k.catalog.Names(provider)...)
	}
	names = append(names, k.offered.listNames(ctx, k)...)
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

// offeredModels is what the servers that a person runs said they serve, for as long as it is believed.
type offeredModels struct {
	mu    sync.Mutex
	until time.Time
	last  []string
}

const (
	offerFor      = 30 * time.Second // how long a list is believed
	offerPatience = 2 * time.Second  // how long servers are waited for; one that is slower shows no names
)

// listNames asks each server that a person set up for its list, all at once.
func (o *offeredModels) listNames(ctx context.Context, k *knownModels) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Now().Before(o.until) {
		return o.last
	}
	ctx, cancel := context.WithTimeout(ctx, offerPatience)
	defer cancel()
	var servers []model.Offerer
	used, _, _ := strings.Cut(k.options.Model, "/")
	ready := providers.ReadyProviders(k.lookupEnv)
	for _, p := range providers.Providers() {
		if !p.Local || !slices.Contains(ready, p.Name) && p.Name != used {
			continue
		}
		m, err := k.findModel(p.Name + "/x") // the name matters to nobody who is asked for a list
		if err != nil {
			continue
		}
		if server, ok := m.(model.Offerer); ok {
			servers = append(servers, server)
		}
	}
	lists := make([][]string, len(servers))
	var wait sync.WaitGroup
	for i, server := range servers {
		wait.Go(func() { lists[i], _ = server.OfferedModels(ctx) }) // without a list, names can still be typed
	}
	wait.Wait()
	o.last = slices.Concat(lists...)
	o.until = time.Now().Add(offerFor)
	return o.last
}
