package restapi

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/language"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/shown"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
)

// chatBody is a turn as a client requests it.
type chatBody struct {
	Message     *messageContent  `json:"message,omitempty"`
	MessageID   string           `json:"message_id,omitempty"`
	Tools       *[]toolBody      `json:"tools,omitempty"`
	ToolResults []toolResultBody `json:"tool_results,omitempty"`
	Model       string           `json:"model,omitempty"`
	Limit       int64            `json:"limit,omitempty"`
	Policy      string           `json:"policy,omitempty"`
	PolicyNumbers

	ReasoningEffort string `json:"reasoning_effort,omitempty"`
	Thinking        *bool  `json:"thinking,omitempty"`
	ThinkingBudget  int64  `json:"thinking_budget,omitempty"`

	WebSearch bool `json:"web_search,omitempty" doc:"Search the web before the answer, for this request only. Who can is in GET /api/models."`

	PlainMarks bool `json:"plain_marks,omitempty" doc:"@path names a file without brackets too."`

	Zone string `json:"tz,omitempty" maxLength:"64" doc:"The time zone of the person, such as Europe/Madrid: the model is told the date there."`

	Without *[]int64 `json:"without,omitempty" doc:"All messages, by seq, that this and later requests of the branch leave out; [] takes all back. A call goes with its results."`

	Stream *bool `json:"stream,omitempty"`
	HTML   bool  `json:"html,omitempty" doc:"Also send closed blocks of the answer as HTML, as block events."`
}

type toolBody struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Parameters  *object `json:"parameters,omitempty"`
}

type toolResultBody struct {
	CallID   string `json:"call_id"`
	Text     string `json:"text,omitempty"`
	Artifact string `json:"artifact,omitempty"`
	IsError  bool   `json:"is_error,omitempty"`
}

func (b *chatBody) toRequest(id scrollback.ConversationID, key string) (engine.TurnRequest, error) {
	r := engine.TurnRequest{Conversation: id, Key: key, MessageID: scrollback.MessageID(b.MessageID),
		WebSearch: b.WebSearch, PlainMarks: b.PlainMarks, Without: b.Without,
		Overrides: engine.Overrides{Model: b.Model, Limit: b.Limit, Policy: b.Policy, Compaction: b.given(),
			Thinking: scrollback.Thinking{Effort: b.ReasoningEffort, On: b.Thinking, Budget: b.ThinkingBudget}}}
	var err error
	if r.Zone, err = scrollback.ParseZone(b.Zone); err != nil {
		return r, err
	}
	if b.Message != nil {
		if r.Message, err = b.Message.requireParts(); err != nil {
			return r, err
		}
	}
	if b.Tools != nil {
		r.Tools = readTools(*b.Tools)
	}
	for _, t := range b.ToolResults {
		r.ToolResults = append(r.ToolResults, engine.ToolResult{CallID: t.CallID, Text: t.Text,
			Artifact: scrollback.ArtifactID(t.Artifact), IsError: t.IsError})
	}
	return r, nil
}

func readTools(bodies []toolBody) []scrollback.Tool {
	out := []scrollback.Tool{}
	for _, t := range bodies {
		tool := scrollback.Tool{Name: t.Name, Description: t.Description}
		if t.Parameters != nil {
			tool.Parameters = t.Parameters.RawMessage
		}
		out = append(out, tool)
	}
	return out
}

type TurnPath struct {
	ConversationPath
	Turn string `path:"turn"`
}

// canceledTurn is a turn that was asked to stop.
type canceledTurn struct {
	TurnID scrollback.TurnID `json:"turn_id"`
}

func (a *api) addChat() {
	huma.Register(a.huma, huma.Operation{OperationID: "chat", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/chat",
		Summary: "Run one turn; replies with server-sent events unless stream is false", MaxBodyBytes: a.limits.Body,
		BodyReadTimeout: time.Minute,
		Responses: spec.Responses(http.StatusOK, describeTurnEvents(a.typeSchemas()),
			spec.JSON[turnAnswer](a.typeSchemas()))}, a.runTurn)
	huma.Register(a.huma, huma.Operation{OperationID: "turn-events", Method: http.MethodGet,
		Path:      "/api/conversations/{id}/turns/{turn}/events",
		Summary:   "Read the rest of a turn's events",
		Responses: spec.Responses(http.StatusOK, describeTurnEvents(a.typeSchemas()))},
		func(ctx context.Context, in *struct {
			TurnPath
			After  int    `query:"after" minimum:"0"`
			HTML   bool   `query:"html"`
			LastID string `header:"Last-Event-ID"`
		}) (*huma.StreamResponse, error) {
			id, err := a.resolveID(ctx, in.ID)
			if err == nil {
				_, err = a.viewFor(ctx).Turns().Get(ctx, id, scrollback.TurnID(in.Turn))
			}
			if err != nil {
				return wrapAnswer[huma.StreamResponse](nil, err)
			}
			after := in.After
			if n, err := strconv.Atoi(in.LastID); err == nil {
				seen, err := a.viewFor(ctx).Turns().IsLastEvent(ctx, id, scrollback.TurnID(in.Turn), n)
				if err != nil {
					return wrapAnswer[huma.StreamResponse](nil, err)
				}
				if seen { // a browser connects again until it gets this
					return &huma.StreamResponse{Body: endStream}, nil
				}
				after = max(after, n)
			}
			var d *shown.AnswerDrawer
			if in.HTML {
				d = shown.NewAnswerDrawer(a.markdown, id)
			}
			if in.HTML && after < engine.Stored { // else a snapshot comes first
				d.CatchUp(a.viewFor(ctx).Turns().Attach(ctx, id, scrollback.TurnID(in.Turn), 0), after)
			}
			return streamTurn(a.viewFor(ctx).Turns().Attach(ctx, id, scrollback.TurnID(in.Turn), after), d), nil
		})
	huma.Register(a.huma, huma.Operation{OperationID: "cancel-turn", Method: http.MethodPost,
		Path:    "/api/conversations/{id}/turns/{turn}/cancel",
		Summary: "Stop a turn; what it wrote is kept", DefaultStatus: http.StatusAccepted},
		func(ctx context.Context, in *TurnPath) (*body[canceledTurn], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err == nil {
				err = a.viewFor(ctx).Turns().Cancel(ctx, id, scrollback.TurnID(in.Turn))
			}
			return wrapBody(canceledTurn{scrollback.TurnID(in.Turn)}, err)
		})
}

func (a *api) runTurn(ctx context.Context, in *struct {
	ConversationPath
	HTML bool   `query:"html"`
	Key  string `header:"Idempotency-Key"`
	Body chatBody
}) (*huma.StreamResponse, error) {

	id, err := a.resolveID(ctx, in.ID)
	if err != nil {
		return wrapAnswer[huma.StreamResponse](nil, err)
	}
	req, err := in.Body.toRequest(id, in.Key)
	if err != nil {
		return wrapAnswer[huma.StreamResponse](nil, err)
	}
	req.Quota = access.QuotaOf(ctx)
	turn, events, err := a.viewFor(ctx).Begin(ctx, req)
	if err != nil {
		return wrapAnswer[huma.StreamResponse](nil, err)
	}
	if in.Body.Stream == nil || *in.Body.Stream {
		var d *shown.AnswerDrawer
		if in.Body.HTML || in.HTML {
			d = shown.NewAnswerDrawer(a.markdown, id)
		}
		return streamTurn(events, d), nil
	}
	out, err := a.collectAnswer(ctx, id, turn, events)
	if err != nil {
		return wrapAnswer[huma.StreamResponse](nil, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "application/json")
		l := language.Of(hc.Header("Accept-Language"))
		for i := range out.Compactions {
			out.Compactions[i] = l.Receipt(out.Compactions[i])
		}
		_ = writePlainJSON(hc.BodyWriter(), out) // the reply is stored; the client may be gone
	}}, nil
}

// turnAnswer is the response of a turn that was not streamed.
type turnAnswer struct {
	TurnID      scrollback.TurnID    `json:"turn_id"`
	Message     *scrollback.Message  `json:"message"`
	Usage       scrollback.Usage     `json:"usage"`
	Compactions []scrollback.Receipt `json:"compactions"`
	Status      scrollback.TurnState `json:"status"`
	Finish      string               `json:"finish_reason,omitempty"`

	References []scrollback.Reference `json:"references,omitempty"`
}

func (a *api) collectAnswer(ctx context.Context, id scrollback.ConversationID, turn scrollback.TurnID,
	events iter.Seq2[engine.SequencedEvent, error]) (turnAnswer, error) {
	out := turnAnswer{TurnID: turn, Compactions: []scrollback.Receipt{}}
	var failed *scrollback.Failure
	seqs := map[scrollback.MessageID]int64{}
	var reply int64
	for n, err := range events {
		if err != nil {
			return out, err
		}
		switch ev := n.Event.(type) {
		case scrollback.MetaEvent:
			out.References = append(out.References, ev.References...)
		case scrollback.UsageEvent:
			out.Usage = ev.Usage
		case scrollback.CompactionEvent:
			out.Compactions = append(out.Compactions, ev.Receipt)
		case scrollback.ErrorEvent:
			failed = &ev.Failure
		case scrollback.MessageEvent:
			seqs[ev.MessageID] = ev.Seq
		case scrollback.DoneEvent:
			out.Status = ev.Status
			out.Finish = ev.FinishReason
			reply = seqs[ev.MessageID]
		}
	}
	if failed != nil {
		return out, failed.Err("restapi.chat")
	}
	if reply > 0 {
		ms, _, err := a.viewFor(ctx).Recall().Messages(ctx, id, scrollback.PageQuery{Before: reply + 1, Limit: 1})
		if err != nil || len(ms) == 0 {
			return out, err
		}
		out.Message = &ms[0]
	}
	return out, nil
}
