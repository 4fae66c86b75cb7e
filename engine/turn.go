package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/intake"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// TurnRequest requests an answer. Message is the user's; without one, ToolResults are
// for the calls that the last turn waits for, and with neither the head of the
// conversation is answered again. Tools, if not nil, replace the client's tools that
// are kept with the conversation. A request sent twice under one Key is run once.
//
// Its JSON is what a key's hash is made from: the names stay, so that a request that is
// sent again after an update of the program is still known.
type TurnRequest struct {
	Conversation scrollback.ConversationID `json:"-"`
	Message      scrollback.Parts          `json:"message,omitempty"`
	MessageID    scrollback.MessageID      `json:"message_id,omitempty"`
	Key          string                    `json:"-"`
	Tools        []scrollback.Tool         `json:"tools,omitempty"`
	ToolResults  []ToolResult              `json:"tool_results,omitempty"`
	WebSearch    bool                      `json:"web_search,omitempty"`  // before it is answered, for this request only
	PlainMarks   bool                      `json:"plain_marks,omitempty"` // @path refers to a file without brackets too
	Overrides    Overrides                 `json:"shape"`

	// Without, if not nil, are all the messages, by seq, that this and later requests of the
	// branch leave out; an empty list takes all back. A call goes with its results. See
	// [View.LeavingOut].
	Without *[]int64 `json:"without,omitempty"`

	// Zone is where the person is who asks: the date that the model is told is the one there.
	// Nil is the zone of the [Options.Place].
	Zone *time.Location `json:"-"`

	subagents *subagents // that a sub-agent's turn belongs to

	// Quota counts the turn for its caller; nil counts nothing. A replay is not counted.
	Quota *scrollback.Quota `json:"-"`
}

// ToolResult is a client's result for one call.
type ToolResult struct {
	CallID   string                `json:"call_id"`
	Text     string                `json:"text,omitempty"`
	Artifact scrollback.ArtifactID `json:"artifact,omitempty"`
	IsError  bool                  `json:"is_error,omitempty"`
}

// Turn runs one turn and yields its events. An error before the first event
// means that nothing was written; a later failure is an ErrorEvent. Once begun, the turn
// continues when the caller stops reading or ctx ends; [Turns.Attach] reads on,
// [Turns.Cancel] stops it. [scrollback.ReplyOf] makes one text of the events.
func (v *View) Turn(ctx context.Context, r TurnRequest) iter.Seq2[scrollback.Event, error] {
	return func(yield func(scrollback.Event, error) bool) {
		_, events, err := v.Begin(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		for n, err := range events {
			if !yield(n.Event, err) {
				return
			}
		}
	}
}

// Begin begins a turn and returns its id and numbered events; for a replayed request,
// those of the turn that it began. It is for faces whose frames are numbered.
func (v *View) Begin(ctx context.Context, r TurnRequest) (scrollback.TurnID, iter.Seq2[SequencedEvent, error], error) {
	watched := v.e.o.Watch.BeginTurn(ctx, r.Conversation)
	part, done := watch.BeginPart(watched, "begin")
	lt, replayed, err := beginTurn(part, v, r)
	done(err)
	switch {
	case err != nil:
		watch.EndRefused(watched, err)
		return "", nil, err
	case lt == nil:
		watch.EndRefused(watched, nil)
		return replayed, v.Turns().Attach(ctx, r.Conversation, replayed, 0), nil
	}
	go func() {
		defer v.e.running.Done()
		lt.run(watch.WithTurn(v.e.base, watched))
	}()
	return lt.turn.ID, func(yield func(SequencedEvent, error) bool) { lt.readEvents(ctx, 0, yield) }, nil
}

// beginTurn stores the beginning of a turn, and makes it live; or it returns the turn that the
// same request began before. The process that runs the turn reports when it is done.
func beginTurn(ctx context.Context, v *View, r TurnRequest) (lt *liveTurn, replayed scrollback.TurnID, err error) {
	e := v.e
	for tries := 0; ; tries++ {
		begin, settings, web, err := v.prepareTurn(ctx, &r)
		if err != nil {
			return nil, "", err
		}
		leave, err := e.enter()
		if err != nil {
			return nil, "", err
		}
		begun, err := e.store.Turns.Begin(ctx, begin)
		switch {
		case err != nil && tries < maxMoved && v.door.hasMoved(ctx, begin, err):
			leave()
		case err != nil:
			leave()
			return nil, "", err
		case begun.Replayed:
			leave()
			return nil, begun.Turn.ID, nil
		default:
			lt = makeLive(v, begun, settings)
			lt.web = web
			lt.subagents = newSubagents(e.o.Agents, r.subagents)
			lt.maxLookups = maxSteps
			if begun.Head.AgentOf != nil {
				lt.maxLookups = max(e.o.Agents.Steps-2, 1) // two more are told to answer
			}
			return lt, "", nil
		}
	}
}

// maxMoved bounds how often the marks of a prompt are followed again because somebody else
// wrote to the conversation meanwhile.
const maxMoved = 3

// hasMoved reports whether a turn did not begin because the head for which the references of
// its prompt were numbered is no longer the head.
func (d access) hasMoved(ctx context.Context, b store.BeginRequest, err error) bool {
	if b.IfHead == nil || scrollback.CodeOf(err) != scrollback.Conflict {
		return false
	}
	now, err := d.openHead(ctx, b.Conversation, scrollback.AccessWrite)
	return err == nil && (now.Branch.ID != b.IfHead.ID || now.Branch.HeadSeq != b.IfHead.HeadSeq)
}

// resolveRequest finds the settings of a request, and how it searches the web.
func (e *Engine) resolveRequest(ctx context.Context, head store.Head,
	r *TurnRequest) (request.Settings, webSearch, error) {
	conv := head.Conversation
	if r.Tools != nil {
		conv.Settings.Tools = r.Tools
	}
	settings, err := e.resolver.ResolveTurn(ctx, conv, r.Overrides)
	if err == nil && len(r.ToolResults) > 0 {
		err = e.weighQuestion(ctx, head.Branch, &settings)
	}
	if err != nil {
		return settings, webSearch{}, err
	}
	web, err := e.planSearch(ctx, head, r, &settings)
	return settings, web, err
}

// prepareTurn checks a request and makes of it what begins its turn.
func (v *View) prepareTurn(ctx context.Context,
	r *TurnRequest) (begin store.BeginRequest, settings request.Settings, web webSearch, err error) {
	e := v.e
	head, err := v.door.openHead(ctx, r.Conversation, scrollback.AccessWrite)
	if err != nil {
		return begin, settings, web, err
	}
	quota, against, err := e.gate.checkLimits(ctx, v.door.caller.Key, head.Project, r.Quota)
	if err == nil && r.Key == "" && r.MessageID == "" { // else it may be a replay
		err = against
	}
	if err != nil {
		return begin, settings, web, err
	}
	if err := v.door.applyLeftOut(ctx, e.store, &head, r); err != nil {
		return begin, settings, web, err
	}
	r.Overrides.Key = v.door.caller.Key
	if settings, web, err = e.resolveRequest(ctx, head, r); err != nil {
		return begin, settings, web, err
	}
	in, err := (&incomingTurn{v, head, r, settings, e.intake}).buildMessages(ctx)
	if err != nil {
		return begin, settings, web, err
	}
	if len(in) == 0 && head.Messages == 0 {
		return begin, settings, web, scrollback.ParamErrorf(
			"engine.Turn",
			"message",
			i18n.NothingToAnswer,
		)
	}
	if err := scrollback.CheckTools(r.Tools); err != nil {
		return begin, settings, web, err
	}
	env, change, err := v.buildEnvironment(ctx, head.Conversation, settings, r.Zone)
	if err != nil {
		return begin, settings, web, err
	}
	if len(r.Message) > 0 { // nothing may come between a call and its result
		in = append(change, in...)
	}
	key, err := makeIdempotency(*r)
	if err != nil {
		return begin, settings, web, err
	}
	var numberedFor *scrollback.Branch
	if r.Without != nil || len(in) > 0 && len(in[len(in)-1].Parts.References()) > 0 {
		numberedFor = &head.Branch
	}
	var without *[]int64
	if r.Without != nil {
		without = &head.Branch.View.Without
	}
	end, err := e.findEnding(ctx, head, r)
	return store.BeginRequest{
		Conversation: r.Conversation, Owner: e.store.NewID(), Idempotency: key, Messages: in, Quota: quota,
		IfHead: numberedFor, Without: without,
		Admit: func(last *scrollback.Turn) error {
			if against != nil {
				return against
			}
			return admitAfter(cmp.Or(last, end), r)
		},
		Edit: func(c *scrollback.Conversation) {
			e.keepWithConversation(c, r)
			keepEnvironment(c, env, len(change) > 0 && len(r.Message) > 0)
		},
	}, settings, web, err
}

// incomingTurn is what a request of a caller brings to a conversation.
type incomingTurn struct {
	v        *View
	head     store.Head
	request  *TurnRequest
	settings request.Settings
	in       *intake.Intake
}

// buildMessages checks what a request brings and turns it into messages: a prompt has behind it
// what its marks name.
func (a *incomingTurn) buildMessages(ctx context.Context) ([]store.IncomingMessage, error) {
	const op = "engine.Turn"
	r := a.request
	if len(r.Message) > 0 && len(r.ToolResults) > 0 {
		return nil, scrollback.ParamErrorf(op, "tool_results", i18n.GiveMessageOrResults)
	}
	if len(r.MessageID) > 100 || strings.ContainsFunc(string(r.MessageID), notPrintable) {
		return nil, scrollback.ParamErrorf(op, "message_id", i18n.MessageIDTooLong)
	}
	var m scrollback.Message
	var attached map[int][]byte
	switch {
	case len(r.Message) > 0:
		m = scrollback.Message{ID: r.MessageID, Role: scrollback.RoleUser}
		err := a.in.Limits.Check(r.Message)
		if err == nil {
			m.Parts, attached, err = a.in.FollowMarks(ctx, a.buildPrompt())
		}
		if err != nil {
			return nil, err
		}
	case len(r.ToolResults) > 0:
		m = scrollback.Message{ID: r.MessageID, Role: scrollback.RoleTool}
		for _, res := range orderResults(a.settings.Calls, r.ToolResults) {
			m.Parts = append(m.Parts, scrollback.ToolResult{CallID: res.CallID, Text: res.Text, Artifact: res.Artifact,
				IsError: res.IsError})
		}
	default:
		return nil, nil
	}
	if len(r.ToolResults) > a.in.Limits.Parts {
		return nil, scrollback.ParamErrorf(op, "tool_results", i18n.TooManyResults,
			a.in.Limits.Parts).WithReason(scrollback.ErrTooLarge)
	}
	in, err := a.in.Admit(ctx, r.Conversation, m, a.settings.IntakeRoom(), attached)
	in.SaidBy = a.v.door.caller.Key
	return []store.IncomingMessage{in}, err
}

func notPrintable(r rune) bool { return r <= ' ' || r > '~' }

// weighQuestion sets the weight in tokens of what outputs must fit beside at the end of a path:
// the newest user message, and the newest message that made calls, with those calls. What
// is more than a page of messages back counts as half of the budget.
func (e *Engine) weighQuestion(ctx context.Context, b scrollback.Branch, settings *request.Settings) error {
	ms, err := e.store.ReadMessages(ctx, b.ID, max(1, b.HeadSeq-scrollback.ListDefault), b.HeadSeq)
	found := false
	for _, m := range slices.Backward(ms) {
		switch {
		case m.Role == scrollback.RoleUser:
			settings.Asked += m.Weight.Tokens
			return err
		case m.Role == scrollback.RoleAssistant && !found:
			settings.Asked = m.Weight.Tokens
			settings.Calls = m.Parts.Calls()
			found = true
		}
	}
	settings.Asked += settings.Budget.Tokens / 2
	return err
}

// makeIdempotency names a request by its key, or else by the message id it brings.
func makeIdempotency(r TurnRequest) (scrollback.Idempotency, error) {
	key := r.Key
	if key == "" {
		key = string(r.MessageID)
	}
	if key == "" {
		return scrollback.Idempotency{}, nil
	}
	if len(key) > 200 {
		return scrollback.Idempotency{}, scrollback.ParamErrorf("engine.Turn", "idempotency_key",
			i18n.IdempotencyKeyTooLong)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return scrollback.Idempotency{}, scrollback.Wrap(scrollback.Invalid, "engine.Turn", err)
	}
	sum := sha256.Sum256(body)
	return scrollback.Idempotency{Key: key, Hash: hex.EncodeToString(sum[:])}, nil
}

// findEnding stands for the last turn of a path at whose end no turn ended, because the path
// was cut off there or begins with a history: the turn as it would have been left by
// the writer of the newest message, or nil. A request that brings a message does not ask.
func (e *Engine) findEnding(ctx context.Context, head store.Head, r *TurnRequest) (*scrollback.Turn, error) {
	if len(r.Message) > 0 {
		return nil, nil
	}
	answered := map[string]bool{}
	for seq := head.Branch.HeadSeq; seq > 0; seq-- {
		m, err := e.store.ReadMessageAt(ctx, head.Branch, seq)
		if err != nil {
			return nil, err
		}
		for _, res := range m.Parts.Results() {
			answered[res.CallID] = true
		}
		if m.Role == scrollback.RoleTool {
			continue
		}
		open := slices.DeleteFunc(m.Parts.Calls(), func(c scrollback.ToolCall) bool {
			return c.IsRecall() || request.IsAgentCall(head.Conversation, c.Name) || answered[c.ID]
		})
		switch {
		case m.Role != scrollback.RoleAssistant || m.Status != scrollback.StatusComplete:
		case len(open) > 0:
			return &scrollback.Turn{State: scrollback.TurnWaiting, OpenCalls: open}, nil
		case len(m.Parts.Calls()) == 0 && len(answered) == 0:
			return &scrollback.Turn{State: scrollback.TurnComplete}, nil
		}
		return nil, nil // something waits for the model
	}
	return nil, nil
}

// admitAfter checks a request against the turn before it. It runs inside Begin.
func admitAfter(last *scrollback.Turn, r *TurnRequest) error {
	const op = "engine.Turn"
	waiting := last != nil && last.State == scrollback.TurnWaiting
	switch {
	case len(r.ToolResults) > 0 && !waiting:
		return scrollback.ParamErrorf(op, "tool_results", i18n.NoCallWaitsForResult)
	case len(r.ToolResults) > 0:
		ids := make([]string, len(r.ToolResults))
		for i, res := range r.ToolResults {
			ids[i] = res.CallID
		}
		return matchResults(last.OpenCalls, ids)
	case len(r.Message) == 0 && waiting:
		return scrollback.ParamErrorf(op, "tool_results", i18n.LastTurnWaitsForResults,
			listCalls(last.OpenCalls))
	case len(r.Message) == 0 && last != nil && last.State == scrollback.TurnComplete:
		return scrollback.ParamErrorf(op, "message", i18n.LastMessageAnsweredAlready)
	}
	return nil
}

// keepWithConversation keeps the client's tools with the conversation, and gives it a title
// when this is its first message. It runs inside Begin.
func (e *Engine) keepWithConversation(c *scrollback.Conversation, r *TurnRequest) {
	if c.Title == "" && c.Messages == 0 {
		e.SetTitle(c, r.Message)
	}
	if r.Tools != nil {
		c.Settings.Tools = r.Tools
	}
}
