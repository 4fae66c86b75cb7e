package restapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

type usageAnswer struct {
	Usage []scrollback.UsageSum `json:"usage"`
	Total []scrollback.UsageSum `json:"total"` // one per currency
}

type modelList struct {
	Models []engine.ModelEntry `json:"models"`
}

func (a *api) books() {
	huma.Register(a.huma, huma.Operation{OperationID: "usage", Method: http.MethodGet, Path: "/api/usage",
		Summary: "What calls to models have cost, by whole days in UTC"},
		func(ctx context.Context, in *struct {
			From    int64  `query:"from" minimum:"0" doc:"Unix ms."`
			To      int64  `query:"to" minimum:"0" doc:"Unix ms; 0 for now."`
			GroupBy string `query:"group_by" doc:"Any of day, model, project, key and conversation, separated by commas."`
		}) (*body[usageAnswer], error) {
			q := scrollback.UsageQuery{From: in.From, To: in.To}
			for group := range strings.SplitSeq(in.GroupBy, ",") {
				switch group {
				case "":
				case "day":
					q.ByDay = true
				case "model":
					q.ByModel = true
				case "project":
					q.ByProject = true
				case "key":
					q.ByKey = true
				case "conversation":
					q.ByConversation = true
				default:
					return seen(usageAnswer{}, scrollback.ParamErrorf("restapi", "group_by", "usage is grouped by day, model, project, key and conversation, not by %q", group))
				}
			}
			var out usageAnswer
			var err error
			if out.Usage, err = a.as(ctx).Usage(ctx, q); err == nil {
				out.Total, err = a.as(ctx).Usage(ctx, scrollback.UsageQuery{From: in.From, To: in.To})
			}
			return seen(out, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "list-models", Method: http.MethodGet, Path: "/api/models",
		Summary: "List the models that are set up here"},
		func(ctx context.Context, _ *struct{}) (*body[modelList], error) {
			ms, err := a.as(ctx).Models(ctx)
			return seen(modelList{ms}, err)
		})
}
