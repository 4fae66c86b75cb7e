package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

// KeptPath is a kept sentence in a path.
type KeptPath struct {
	ConversationPath
	Kept string `path:"kept_id" doc:"Id of a kept sentence, or a unique prefix of one."`
}

// keptBody is a sentence to be kept.
type keptBody struct {
	Seq  int64  `json:"seq" doc:"The message that says it."`
	Text string `json:"text" doc:"The sentence as it stands in the message, at most 600 bytes."`
	Kind string `json:"kind,omitempty" enum:"trait,instruction,todo" doc:"Default: what it reads as."`
}

// keptStateBody is what becomes of a kept sentence.
type keptStateBody struct {
	State string `json:"state" enum:"done,open" doc:"done is for to-dos; open lets it stand again."`
}

type keptList struct {
	Kept []scrollback.Kept `json:"kept"`
}

// addKept adds what is kept of conversations: listing and correcting it.
func (a *api) addKept() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-kept", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/kept",
		Summary: "What is carried word for word through every compaction"},
		func(ctx context.Context, in *struct {
			ConversationPath
			All bool `query:"all"`
		}) (*body[keptList], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(keptList{}, err)
			}
			list, err := a.viewFor(ctx).Kept().List(ctx, id, in.All)
			return wrapBody(keptList{list}, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "list-project-kept", Method: http.MethodGet,
		Path:    "/api/projects/{name}/kept",
		Summary: "What stands in the conversations of a project"},
		func(ctx context.Context, in *ProjectPath) (*body[keptList], error) {
			list, err := a.viewFor(ctx).Kept().ListProject(ctx, in.Name)
			return wrapBody(keptList{list}, err)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "keep", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/kept",
		Summary: "Keep a sentence of a message", DefaultStatus: http.StatusCreated, MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *struct {
			ConversationPath
			Body keptBody
		}) (*body[scrollback.Kept], error) {
			return a.changeKept(ctx, in.ConversationPath,
				func(k engine.Kept, id scrollback.ConversationID) (scrollback.Kept, error) {
					return k.Keep(ctx, id, in.Body.Seq, in.Body.Text, scrollback.KeptKind(in.Body.Kind))
				})
		})
	huma.Register(a.huma, huma.Operation{OperationID: "patch-kept", Method: http.MethodPatch,
		Path:    "/api/conversations/{id}/kept/{kept_id}",
		Summary: "Tick a to-do off, or let a sentence stand again", MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *struct {
			KeptPath
			Body keptStateBody
		}) (*body[scrollback.Kept], error) {
			return a.setKeptState(ctx, in.KeptPath, scrollback.KeptState(in.Body.State))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "drop-kept", Method: http.MethodDelete,
		Path:    "/api/conversations/{id}/kept/{kept_id}",
		Summary: "Carry a sentence no longer"},
		func(ctx context.Context, in *KeptPath) (*body[scrollback.Kept], error) {
			return a.setKeptState(ctx, *in, scrollback.KeptDropped)
		})
}

func (a *api) setKeptState(ctx context.Context, in KeptPath,
	state scrollback.KeptState) (*body[scrollback.Kept], error) {
	return a.changeKept(ctx, in.ConversationPath,
		func(k engine.Kept, id scrollback.ConversationID) (scrollback.Kept, error) {
			return k.SetState(ctx, id, scrollback.KeptID(in.Kept), state)
		})
}

// changeKept changes what is kept of the conversation in a path.
func (a *api) changeKept(ctx context.Context, in ConversationPath,
	change func(engine.Kept, scrollback.ConversationID) (scrollback.Kept, error)) (*body[scrollback.Kept], error) {
	id, err := a.resolveID(ctx, in.ID)
	if err != nil {
		return wrapBody(scrollback.Kept{}, err)
	}
	return wrapBody(change(a.viewFor(ctx).Kept(), id))
}
