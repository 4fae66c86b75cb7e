package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
)

func (a *api) messages() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-messages", Method: http.MethodGet, Path: "/api/conversations/{id}/messages",
		Summary: "Read messages by seq: after one, before one, or the newest; with the turns between them that have no stored answer"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Branch string `query:"branch"`
			Before int64  `query:"before" minimum:"0"`
			After  int64  `query:"after" default:"-1" doc:"0 for the first."`
			Limit  int    `query:"limit"`
		}) (*body[scrollback.MessagePage], error) {
			id, err := a.resolve(ctx, in.ID)
			if err != nil {
				return seen(scrollback.MessagePage{}, err)
			}
			q := scrollback.PageQuery{Branch: scrollback.BranchID(in.Branch), Before: in.Before, Limit: in.Limit}
			if in.After >= 0 {
				q.After = &in.After
			}
			page, err := a.as(ctx).Turns().Page(ctx, id, q)
			return seen(page, err)
		})
}
