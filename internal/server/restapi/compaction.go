package restapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// PolicyNumbers are the numbers of a policy in a request. It is exported because
// /openapi.json leaves out the fields of an embedded type that is not.
type PolicyNumbers struct {
	Compaction map[string]float64 `json:"compaction,omitempty" doc:"Numbers of the policy, by name."`
	Folding    map[string]float64 `json:"folding,omitempty" hidden:"true"` // the old name
}

// given returns those given under the new name, or else under the old one; nil when
// there are none.
func (n PolicyNumbers) given() map[string]float64 {
	if n.Compaction != nil {
		return n.Compaction
	}
	return n.Folding
}

type receiptList struct {
	Receipts []scrollback.Receipt `json:"receipts"`
}

// addCompaction adds compact, clear, undo, and what the next request shows.
func (a *api) addCompaction() {
	huma.Register(a.huma, huma.Operation{OperationID: "compact", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/compact",
		Summary: "Compact old messages; refs lead back to them", MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *struct {
			ConversationPath
			Body *struct {
				Policy string `json:"policy,omitempty"`
				Force  bool   `json:"force,omitempty"`
				PolicyNumbers
			} `required:"false"`
		}) (*body[scrollback.Receipt], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(scrollback.Receipt{}, err)
			}
			var q engine.CompactRequest
			if in.Body != nil {
				q = engine.CompactRequest{Overrides: engine.Overrides{Policy: in.Body.Policy, Compaction: in.Body.given()},
					Force: in.Body.Force}
			}
			q.Quota = access.QuotaOf(ctx)
			return wrapBody(a.viewFor(ctx).Compact(ctx, id, q))
		})
	a.addUndoing()
	huma.Register(a.huma, huma.Operation{OperationID: "context", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/context",
		Summary: "What the next request would show, and what it leaves out"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Content bool   `query:"content"`
			Zone    string `query:"tz" maxLength:"64" doc:"The time zone of the person, such as Europe/Madrid: the model is told the date there."`
		}) (*body[scrollback.Manifest], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(scrollback.Manifest{}, err)
			}
			zone, err := scrollback.ParseZone(in.Zone)
			if err != nil {
				return wrapBody(scrollback.Manifest{}, err)
			}
			return wrapBody(a.viewFor(ctx).Context(ctx, id, engine.ContextRequest{Content: in.Content, Zone: zone}))
		})
	addPreviews(a)
	huma.Register(a.huma, huma.Operation{OperationID: "receipts", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/receipts",
		Summary: "The compactions so far, newest first"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Limit int `query:"limit"`
		}) (*body[receiptList], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(receiptList{}, err)
			}
			rs, err := a.viewFor(ctx).Receipts(ctx, id, in.Limit)
			return wrapBody(receiptList{rs}, err)
		})
}

// draftBody is a message that is being written, and what it would be sent with.
type draftBody struct {
	Message *messageContent `json:"message,omitempty"`
	Model   string          `json:"model,omitempty"`
	Limit   int64           `json:"limit,omitempty"`
	Policy  string          `json:"policy,omitempty"`
	PolicyNumbers
	ReasoningEffort string   `json:"reasoning_effort,omitempty"`
	Thinking        *bool    `json:"thinking,omitempty"`
	ThinkingBudget  int64    `json:"thinking_budget,omitempty"`
	WebSearch       bool     `json:"web_search,omitempty"`
	PlainMarks      bool     `json:"plain_marks,omitempty"`
	Zone            string   `json:"tz,omitempty" maxLength:"64"`
	Without         *[]int64 `json:"without,omitempty"`
	Content         bool     `json:"content,omitempty"`
}

// addPreviews adds what a draft would send, and what the steps of a turn sent.
func addPreviews(a *api) {
	huma.Register(a.huma, huma.Operation{OperationID: "preview", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/context",
		Summary: "What sending a message would show, and compact", MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *struct {
			ConversationPath
			Body draftBody
		}) (*body[scrollback.Manifest], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(scrollback.Manifest{}, err)
			}
			b := in.Body
			q := engine.ContextRequest{Content: b.Content, Sending: true, Without: b.Without, WebSearch: b.WebSearch,
				PlainMarks: b.PlainMarks, Overrides: engine.Overrides{Model: b.Model, Limit: b.Limit, Policy: b.Policy,
					Compaction: b.given(), Thinking: scrollback.Thinking{Effort: b.ReasoningEffort, On: b.Thinking,
						Budget: b.ThinkingBudget}}}
			if q.Zone, err = scrollback.ParseZone(b.Zone); err != nil {
				return wrapBody(scrollback.Manifest{}, err)
			}
			if b.Message != nil {
				if q.Message, err = b.Message.requireParts(); err != nil {
					return wrapBody(scrollback.Manifest{}, err)
				}
			}
			return wrapBody(a.viewFor(ctx).Context(ctx, id, q))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "turn-context", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/turns/{turn}/context",
		Summary: "What the steps of a turn sent to its model"},
		func(ctx context.Context, in *struct {
			TurnPath
			Step    int  `query:"step" minimum:"0"`
			Content bool `query:"content"`
		}) (*body[engine.TurnContext], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(engine.TurnContext{}, err)
			}
			return wrapBody(a.viewFor(ctx).Turns().Context(ctx, id, scrollback.TurnID(in.Turn),
				engine.PastRequest{Step: in.Step, Content: in.Content}))
		})
}

// addUndoing adds starting afresh, and undoing compactions.
func (a *api) addUndoing() {
	huma.Register(a.huma, huma.Operation{OperationID: "clear", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/clear",
		Summary: "Compact everything so far: start afresh"},
		func(ctx context.Context, in *ConversationPath) (*body[scrollback.Receipt], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(scrollback.Receipt{}, err)
			}
			return wrapBody(a.viewFor(ctx).Compact(ctx, id, engine.CompactRequest{Clear: true}))
		})
	type undo = func(engine.Compactions, context.Context, scrollback.ConversationID,
		engine.UndoRequest) (scrollback.Receipt, error)
	for name, of := range map[string]struct {
		summary string
		do      undo
	}{
		"uncompact": {"Undo the newest compaction, or all back to the one that made a segment", engine.Compactions.Undo},
		"recompact": {"Do the compaction again that was undone last, or all up to the one that made a segment",
			engine.Compactions.Redo},
	} {
		huma.Register(a.huma, huma.Operation{OperationID: name, Method: http.MethodPost,
			Path:    "/api/conversations/{id}/" + name,
			Summary: of.summary, MaxBodyBytes: a.limits.Body},
			func(ctx context.Context, in *struct {
				ConversationPath
				Body *struct {
					Segment string `json:"segment,omitempty"`
					DryRun  bool   `json:"dry_run,omitempty"`
				} `required:"false"`
			}) (*body[scrollback.Receipt], error) {
				id, err := a.resolveID(ctx, in.ID)
				if err != nil {
					return wrapBody(scrollback.Receipt{}, err)
				}
				var q engine.UndoRequest
				if in.Body != nil {
					q = engine.UndoRequest{DryRun: in.Body.DryRun,
						Segment: scrollback.SegmentID(strings.TrimPrefix(in.Body.Segment, scrollback.RefHistory+":"))}
				}
				return wrapBody(of.do(a.viewFor(ctx).Compactions(), ctx, id, q))
			})
	}
}
