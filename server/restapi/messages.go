package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
)

type messagePage struct {
	Messages []scrollback.Message `json:"messages"`
	Next     *int64               `json:"next"`
	// Running is the turn that is running now, to attach to.
	Running *scrollback.TurnID `json:"running,omitempty"`
}

func (a *api) messages() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-messages", Method: http.MethodGet, Path: "/api/conversations/{id}/messages",
		Summary: "Read messages by seq: after one, before one, or the newest"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Branch string `query:"branch"`
			Before int64  `query:"before" minimum:"0"`
			After  int64  `query:"after" default:"-1" doc:"0 for the first."`
			Limit  int    `query:"limit"`
		}) (*body[messagePage], error) {
			id, err := a.resolve(ctx, in.ID)
			if err != nil {
				return seen(messagePage{}, err)
			}
			q := scrollback.PageQuery{Branch: scrollback.BranchID(in.Branch), Before: in.Before, Limit: in.Limit}
			if in.After >= 0 {
				q.After = &in.After
			}
			ms, next, err := a.as(ctx).Recall().Messages(ctx, id, q)
			if err != nil {
				return seen(messagePage{}, err)
			}
			page := messagePage{Messages: ms, Next: nullable(next)}
			t, err := a.as(ctx).Turns().Running(ctx, id)
			if t != nil {
				page.Running = &t.ID
			}
			return seen(page, err)
		})
}
