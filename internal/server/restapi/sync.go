package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/relay"
	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// Remotes says how the store stands with its remotes. Where there is no data folder, it is nil.
type Remotes func() ([]relay.Standing, error)

// RemoteList is how the store stands with each remote.
type RemoteList struct {
	Remotes []relay.Standing `json:"remotes"`
}

// addSync adds the remotes of the store, for admins of all projects: what is met there is in all of them.
func (a *api) addSync() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-remotes", Method: http.MethodGet, Path: "/api/sync",
		Summary: "List the remotes of the store"},
		func(ctx context.Context, _ *struct{}) (*body[RemoteList], error) {
			if _, err := a.viewFor(ctx).Admin(); err != nil {
				return wrapBody(RemoteList{}, err)
			}
			out := RemoteList{Remotes: []relay.Standing{}}
			if a.remotes == nil {
				return wrapBody(out, nil)
			}
			all, err := a.remotes()
			out.Remotes = append(out.Remotes, all...)
			return wrapBody(out, err)
		})
}

// offerSync says of a caller whether it has to do with remotes of the store.
func (a *api) offerSync(who access.Who) access.Who {
	who.Sync = a.remotes != nil && who.Role == scrollback.AccessAdmin && len(who.Projects) == 0
	return who
}

// offer says of a caller what of the machine, and of the whole store, it has to do with.
func (a *api) offer(ctx context.Context, who access.Who) access.Who {
	return a.offerSync(a.offerBackups(a.offerAgents(ctx, who)))
}
