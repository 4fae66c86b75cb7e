package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

// PlaceBody is a point in a conversation. It is exported because /openapi.json leaves out
// the fields of an embedded type that is not.
type PlaceBody struct {
	Seq    *int64 `json:"seq,omitempty" doc:"0 is before the first message. Default: the end of the branch."`
	Branch string `json:"branch,omitempty" doc:"Default: the current one."`
}

// forkBody is where a fork begins, and its title.
type forkBody struct {
	PlaceBody
	Title string `json:"title,omitempty" doc:"Default: copy of the parent's."`
}

type branchList struct {
	Branches []scrollback.BranchEntry `json:"branches"`
}

func (b *PlaceBody) toPoint() engine.Point {
	return engine.Point{Branch: scrollback.BranchID(b.Branch), Seq: b.Seq}
}

// addBranches adds rewind, fork, and the list of branches.
func (a *api) addBranches() {
	huma.Register(a.huma, huma.Operation{OperationID: "branches", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/branches",
		Summary: "The branches of a conversation, oldest first"},
		func(ctx context.Context, in *ConversationPath) (*body[branchList], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(branchList{}, err)
			}
			bs, err := a.viewFor(ctx).Branches().List(ctx, id)
			return wrapBody(branchList{bs}, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "rewind", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/rewind",
		Summary: "Make an earlier message the newest, or switch to another branch", MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *struct {
			ConversationPath
			Body PlaceBody
		}) (*tagged, error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapAnswer[tagged](nil, err)
			}
			return withTag(a.viewFor(ctx).Branches().Rewind(ctx, id, in.Body.toPoint()))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "fork", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/fork",
		Summary: "Continue from a message in a new conversation", MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *struct {
			ConversationPath
			Body forkBody
		}) (*tagged, error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapAnswer[tagged](nil, err)
			}
			out, err := withTag(a.viewFor(ctx).Branches().Fork(ctx, id, in.Body.toPoint(), in.Body.Title))
			if err == nil {
				out.Status = http.StatusCreated
			}
			return out, err
		})
}
