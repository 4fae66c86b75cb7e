package engine

import (
	"context"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/title"
	"github.com/scrollback-ai/scrollback/model"
)

// SideCallRequest is a request of a client that is no turn of a conversation: a title, a summary, a classifier. Nothing
// of it is stored as a message.
type SideCallRequest struct {
	Match    *threading.Match
	Project  string
	Settings Overrides
	// MayForward is as in [ExchangeRequest].
	MayForward bool
	Request    func(model.Facts) model.Request // what the model is sent
	Follow     func(model.Delta)
	ID         string
	Items      func(scrollback.Parts) []threading.Item
}

// BeginSideCall notes that a side call was asked, and returns what answers it. Its id is the request's.
func (v *View) BeginSideCall(ctx context.Context, r SideCallRequest) (threading.RequestID,
	func(context.Context) (ExchangeAnswer, error), error) {
	e := v.e
	if err := v.door.requireAccess(scrollback.AccessWrite); err != nil {
		return "", nil, err
	}
	project, err := v.door.resolveProject(r.Project)
	if err == nil {
		err = e.gate.checkBudget(ctx, v.door.caller.Key, project)
	}
	if err != nil {
		return "", nil, err
	}
	r.Settings.Key = v.door.caller.Key
	settings, err := e.resolveExchange(ctx, scrollback.Conversation{Project: project}, r.Settings, r.MayForward)
	if err != nil {
		return "", nil, err
	}
	id := threading.RequestID(e.store.NewID())
	if err := e.store.Threads.Write(ctx, r.Match.Begin(threading.IDs{Request: id})); err != nil {
		return "", nil, err
	}
	return id, func(ctx context.Context) (ExchangeAnswer, error) {
		leave, err := e.enter()
		if err != nil {
			return ExchangeAnswer{}, err
		}
		defer leave()
		ctx, call := watch.BeginCall(ctx, settings.Facts.Name)
		var said model.Writing
		out := ExchangeAnswer{}
		requestID := ""
		for d, fault := range settings.Model.Stream(ctx, r.Request(settings.Facts)) {
			if err = fault; err != nil {
				break
			}
			if d.Usage != nil {
				out.Usage = *d.Usage
			}
			if d.RequestID != "" {
				requestID = d.RequestID
			}
			if d.Finish != "" {
				out.Done.FinishReason = d.Finish
			}
			said.Add(d)
			r.Follow(d)
		}
		call.End(out.Done.FinishReason, out.Usage, err)
		state := threading.Finished
		parts := said.TakeParts()
		if err != nil {
			state = threading.Failed
		}
		out.Usage = e.resolver.AddPrice(settings.Facts.Name, out.Usage)
		if err == nil && r.Match.Side == sideTitle {
			v.takeEarlyTitle(ctx, r.Match, parts.Text())
		}
		return out, e.endSideCall(sideCallEnd{match: r.Match, project: project, answer: threading.Answer{ID: r.ID,
			Items: r.Items(parts), State: state}, record: scrollback.UsageRecord{Usage: out.Usage,
			Conversation: scrollback.ConversationID(r.Match.Thread), Key: settings.Overrides.Key, Model: settings.Facts.Name,
			Purpose: "side_call", RequestID: requestID, At: e.store.Now()}}, err)
	}, nil
}

// sideTitle is how a side call is named that asks for a title.
const sideTitle = "title"

// earlyTitles are titles that clients asked for before the conversations had begun that they are of, by what the
// clients call these.
type earlyTitles struct {
	mu sync.Mutex
	of map[calledConversation]string
}

type calledConversation struct {
	threading.Scope
	name string
}

// maxEarlyTitles bounds them: most are taken within seconds.
const maxEarlyTitles = 256

func (t *earlyTitles) keep(c calledConversation, title string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) >= maxEarlyTitles {
		t.of = map[calledConversation]string{}
	}
	t.of[c] = title
}

func (t *earlyTitles) take(c calledConversation) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	title := t.of[c]
	delete(t.of, c)
	return title
}

// takeEarlyTitle gives the title that a side call has answered to its conversation, which may begin only now: clients
// ask for it beside the first prompt.
func (v *View) takeEarlyTitle(ctx context.Context, m *threading.Match, answer string) {
	if m.Thread != "" {
		v.takeTitle(ctx, scrollback.ConversationID(m.Thread), answer)
		return
	}
	scope, name := m.Called()
	if name == "" {
		return
	}
	c := calledConversation{scope, name}
	v.e.titles.keep(c, answer)
	begun, err := v.e.store.Threads.Index().Named(ctx, scope, name, 1)
	if err == nil && len(begun) > 0 {
		v.takeTitle(ctx, scrollback.ConversationID(begun[0].ID), v.e.titles.take(c))
	}
}

// takeTitle gives a conversation the title that its client has asked for, unless a person gave it one.
func (v *View) takeTitle(ctx context.Context, id scrollback.ConversationID, answer string) {
	name, ok := title.ParseAnswer(answer)
	if !ok || id == "" {
		return
	}
	head, err := v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err == nil && (head.Title == "" || head.TitleBy != scrollback.TitleGiven) {
		_, err = v.e.store.ChangeTitle(ctx, store.TitleChange{Conversation: id, From: head.TitleBy, To: scrollback.TitleTool,
			Title: name})
	}
	if err != nil {
		v.e.o.Log.Warn("a conversation did not get the title of its client", "conversation", id, "error", err)
	}
}

type sideCallEnd struct {
	match   *threading.Match
	project string
	answer  threading.Answer
	record  scrollback.UsageRecord
}

// endSideCall stores what a side call came to, and enters what it cost. It returns the fault of the call if there is
// one.
func (e *Engine) endSideCall(s sideCallEnd, fault error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // also when nobody waits any more
	defer cancel()
	rows, err := e.matcher().Finish(ctx, s.match, s.answer, time.UnixMilli(e.store.Now()), func() threading.BranchID {
		return threading.BranchID(e.store.NewID())
	})
	if err == nil {
		err = e.store.Threads.Write(ctx, rows)
	}
	if err == nil && s.record.TotalTokens > 0 {
		err = e.store.Books.EnterUsage(ctx, s.project, []scrollback.UsageRecord{s.record})
	}
	if fault != nil {
		return fault
	}
	return err
}

// StoredAnswer is the answer to a client's request as it is stored.
type StoredAnswer struct {
	Conversation scrollback.ConversationID
	Turn         scrollback.Turn
	Parts        scrollback.Parts  // of its messages, without what was looked up here
	Usage        scrollback.Usage  // of the newest
	Tools        []scrollback.Tool // that the client offers in the conversation now
}

// ReadAnswer reads the answer of a turn, and waits until it has ended, wherever it runs.
func (v *View) ReadAnswer(ctx context.Context, conversation scrollback.ConversationID,
	turn scrollback.TurnID) (StoredAnswer, error) {
	out := StoredAnswer{Conversation: conversation}
	head, err := v.door.openHead(ctx, conversation, scrollback.AccessRead)
	if err != nil {
		return out, err
	}
	out.Tools = head.Settings.Tools
	for {
		t, err := v.e.closeAbandoned(ctx, conversation, turn)
		if err != nil {
			return out, err
		}
		if out.Turn = t; t.State != scrollback.TurnOpen {
			break
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return out, scrollback.Wrap(scrollback.Canceled, "engine.ReadAnswer", ctx.Err())
		}
	}
	ms, err := v.e.store.ReadMessages(ctx, out.Turn.Branch, out.Turn.Seq+1, out.Turn.LastSeq)
	for _, m := range ms {
		if m.TurnID != turn || m.Role != scrollback.RoleAssistant {
			continue
		}
		for _, p := range m.Parts {
			if c, ok := p.(scrollback.ToolCall); !ok || !c.IsRecall() {
				out.Parts = append(out.Parts, p)
			}
		}
		if m.Usage != nil {
			out.Usage = *m.Usage
		}
	}
	return out, err
}
