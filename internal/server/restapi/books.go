package restapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

type usageAnswer struct {
	Usage []scrollback.UsageSum `json:"usage"`
	Total []scrollback.UsageSum `json:"total"` // one per currency, and imported calls apart
}

type modelList struct {
	Models []engine.ModelEntry `json:"models"`
}

// groupBy sets what usage is grouped by.
func groupBy(q *scrollback.UsageQuery, groups string) error {
	for group := range strings.SplitSeq(groups, ",") {
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
		case "purpose":
			q.ByPurpose = true
		case "tool":
			q.ByTool = true
		default:
			return scrollback.ParamErrorf("restapi", "group_by",
				i18n.UsageGroupedByUnknown, group)
		}
	}
	return nil
}

func (a *api) addBooks() {
	huma.Register(a.huma, huma.Operation{OperationID: "usage", Method: http.MethodGet, Path: "/api/usage",
		Summary: "What calls to models have cost, by whole days"},
		func(ctx context.Context, in *struct {
			TimeZone
			From    int64  `query:"from" minimum:"0" doc:"Unix ms."`
			To      int64  `query:"to" minimum:"0" doc:"Unix ms; 0 for now."`
			GroupBy string `query:"group_by" doc:"Any of day, model, project, key, conversation, purpose and tool, separated by commas."`
			Of      string `query:"conversation" doc:"Only the calls of this conversation."`
			Top     int    `query:"top" minimum:"0" doc:"Only so many entries, those with the most tokens first; 0 for all."`
		}) (*body[usageAnswer], error) {
			zone, err := scrollback.ParseZone(in.Name)
			if err != nil {
				return wrapBody(usageAnswer{}, err)
			}
			q := scrollback.UsageQuery{From: in.From, To: in.To, Zone: zone}
			if in.Of != "" {
				id, err := a.resolveID(ctx, in.Of)
				if err != nil {
					return wrapBody(usageAnswer{}, err)
				}
				q.Conversation = id
			}
			total := q
			if err := groupBy(&q, in.GroupBy); err != nil {
				return wrapBody(usageAnswer{}, err)
			}
			var out usageAnswer
			if out.Usage, err = a.viewFor(ctx).Usage(ctx, q); err == nil {
				out.Total, err = a.viewFor(ctx).Usage(ctx, total)
			}
			if in.Top > 0 {
				slices.SortStableFunc(out.Usage, func(a, b scrollback.UsageSum) int {
					return cmp.Compare(b.TotalTokens, a.TotalTokens)
				})
				out.Usage = out.Usage[:min(in.Top, len(out.Usage))]
			}
			return wrapBody(out, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "list-models", Method: http.MethodGet, Path: "/api/models",
		Summary: "List the models that are set up here"},
		func(ctx context.Context, _ *struct{}) (*body[modelList], error) {
			ms, err := a.viewFor(ctx).Models(ctx)
			return wrapBody(modelList{ms}, err)
		})
}
