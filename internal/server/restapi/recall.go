package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// TimeZone is the zone whose days a query means. It is exported because /openapi.json leaves
// out the fields of an embedded type that is not.
type TimeZone struct {
	Name string `query:"tz" maxLength:"64" doc:"The time zone whose days are meant, such as Europe/Madrid. Default: UTC."`
}

type RefPath struct {
	ConversationPath
	Ref string `path:"ref" doc:"history:<id>, artifact:<id>, or numbers of messages: 392 or 392-410"`
}

type refPage struct {
	Refs []scrollback.RefEntry `json:"refs"`
	Next *string               `json:"next"`
}

// addRecall adds the recall operations.
func (a *api) addRecall() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-refs", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/refs",
		Summary: "List refs, newest first"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Kind   string `query:"kind"`
			Limit  int    `query:"limit"`
			Cursor string `query:"cursor"`
		}) (*body[refPage], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(refPage{}, err)
			}
			refs, next, err := a.viewFor(ctx).Recall().Refs(ctx, id,
				scrollback.RefQuery{Kind: in.Kind, Cursor: in.Cursor, Limit: in.Limit})
			return wrapBody(refPage{refs, nullIfZero(next)}, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "read-ref", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/refs/{ref}",
		Summary: "Read what a ref points at, page by page"},
		func(ctx context.Context, in *struct {
			RefPath
			Offset int64 `query:"offset"`
			Limit  int   `query:"limit"`
		}) (*body[scrollback.Page], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(scrollback.Page{}, err)
			}
			return wrapBody(a.viewFor(ctx).Recall().Read(ctx, id, scrollback.Ref(in.Ref), in.Offset, in.Limit))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "tail-ref", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/refs/{ref}/tail",
		Summary: "Read the last lines of what a ref points at"},
		func(ctx context.Context, in *struct {
			RefPath
			Lines int `query:"lines"`
		}) (*body[scrollback.Tail], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(scrollback.Tail{}, err)
			}
			return wrapBody(a.viewFor(ctx).Recall().Tail(ctx, id, scrollback.Ref(in.Ref), in.Lines))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "grep", Method: http.MethodGet, Path: "/api/conversations/{id}/grep",
		Summary: "Find lines that match a regular expression (RE2)"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Pattern       string `query:"pattern" required:"true"`
			Ref           string `query:"ref"`
			MaxResults    int    `query:"max_results"`
			ContextLines  int    `query:"context_lines"`
			CaseSensitive bool   `query:"case_sensitive"`
		}) (*body[scrollback.GrepResult], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(scrollback.GrepResult{}, err)
			}
			return wrapBody(a.viewFor(ctx).Recall().Grep(ctx, id,
				scrollback.GrepQuery{Ref: scrollback.Ref(in.Ref), Pattern: in.Pattern,
					MaxResults: in.MaxResults, ContextLines: in.ContextLines, CaseSensitive: in.CaseSensitive}))
		})
	addOriginals(a)
	a.addSearch()
}

// addOriginals adds what compacted messages consist of, and the whole log at a glance.
func addOriginals(a *api) {
	huma.Register(a.huma, huma.Operation{OperationID: "list-leaves", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/refs/{ref}/leaves",
		Summary: "List what a roll-up consists of, oldest first"},
		func(ctx context.Context, in *RefPath) (*body[recall.Leaves], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(recall.Leaves{}, err)
			}
			return wrapBody(a.viewFor(ctx).Recall().Leaves(ctx, id, scrollback.Ref(in.Ref)))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "list-segments", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/segments",
		Summary: "List what stands for compacted messages, oldest first"},
		func(ctx context.Context, in *ConversationPath) (*body[recall.SegmentList], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(recall.SegmentList{}, err)
			}
			return wrapBody(a.viewFor(ctx).Recall().Segments(ctx, id))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "shape", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/shape",
		Summary: "The whole log at a glance, as bins of equally many messages"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Bins int `query:"bins"`
		}) (*body[scrollback.Shape], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(scrollback.Shape{}, err)
			}
			return wrapBody(a.viewFor(ctx).Recall().Shape(ctx, id, in.Bins))
		})
}

func (a *api) addSearch() {
	huma.Register(a.huma, huma.Operation{OperationID: "search", Method: http.MethodGet, Path: "/api/search",
		Summary: "Find messages by words, best first or in order of time"},
		func(ctx context.Context, in *struct {
			TimeZone
			Q            string `query:"q" required:"true" doc:"words; \"quoted\" ones must occur; role:user, after:2026-03-01, before:2026-04, on:2026-03-05 narrow it down"`
			Conversation string `query:"conversation"`
			Project      string `query:"project"`
			Role         string `query:"role"`
			From         int64  `query:"from" minimum:"0" doc:"Unix ms."`
			To           int64  `query:"to" minimum:"0" doc:"Unix ms, not included."`
			Limit        int    `query:"limit"`
			Offset       int    `query:"offset"`
			Around       int    `query:"around" default:"1"`
			Order        string `query:"order" doc:"relevance (the default) or time"`
		}) (*body[scrollback.SearchResult], error) {
			zone, err := scrollback.ParseZone(in.Name)
			if err != nil {
				return wrapBody(scrollback.SearchResult{}, err)
			}
			q := scrollback.SearchQuery{Query: in.Q, Project: in.Project, Role: scrollback.Role(in.Role), From: in.From,
				To: in.To, Zone: zone,
				Limit: in.Limit, Offset: in.Offset, Around: in.Around, Order: in.Order}
			if in.Conversation != "" {
				id, err := a.resolveID(ctx, in.Conversation)
				if err != nil {
					return wrapBody(scrollback.SearchResult{}, err)
				}
				q.Conversation = id
			}
			return wrapBody(a.viewFor(ctx).Recall().Search(ctx, q))
		})
}
