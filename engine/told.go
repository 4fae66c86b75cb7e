package engine

import (
	"context"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// TellRequest adds messages to a conversation of a client without asking a model.
type TellRequest struct {
	Project string // where it begins; empty for the caller's own
	// Of is the conversation; empty for one that begins with ID and Meta.
	Of   scrollback.ConversationID
	ID   scrollback.ConversationID
	Meta json.RawMessage
	// Behind is the place of its thread that the messages follow. Where the conversation does not end there, nothing is
	// added. The zero value is its end.
	Behind threading.Place
	// Name is what the client calls it; empty for nothing.
	Name     string
	Messages []ExchangeMessage
}

// clientSource is the meta of messages that a client added without asking a model.
var clientSource = json.RawMessage(`{"source":"client"}`)

// Tell adds messages to a conversation, and returns it with them as they are stored. Requests of the client go on
// behind them. It is conflict if something else is said in the conversation at the same time.
func (v *View) Tell(ctx context.Context, r TellRequest) (scrollback.ConversationID, []scrollback.Message, error) {
	e := v.e
	head, err := v.openTold(ctx, r)
	if err != nil {
		return "", nil, err
	}
	if r.Behind != (threading.Place{}) {
		at, err := e.findPlace(ctx, head, r.Behind)
		if err != nil || at != (store.Place{Branch: head.Branch.ID, Seq: head.Branch.HeadSeq}) {
			return head.ID, nil, err
		}
	}
	index := e.store.Threads.Index()
	thread, err := index.Thread(ctx, threading.ThreadID(head.ID))
	if err != nil {
		return "", nil, err
	}
	if thread == nil {
		thread = &threading.ThreadRow{ID: threading.ThreadID(head.ID), Scope: v.threadScope(head.Project),
			Dialect: threading.Responses}
		rows, err := e.matcher().Adopt(ctx, *thread, threading.Place{}, nil,
			func() threading.BranchID { return threading.BranchID(e.store.NewID()) })
		if err != nil {
			return "", nil, err
		}
		thread = rows.Thread
		if r.Name != "" {
			rows.Name = &threading.NameRow{Scope: thread.Scope, Name: r.Name, Thread: thread.ID}
		}
		if err := e.store.Threads.Write(ctx, rows); err != nil {
			return "", nil, err
		}
	}
	stored, err := v.appendTold(ctx, &head, r.Messages)
	if err == nil {
		err = e.adoptMessages(ctx, head, *thread)
	}
	return head.ID, stored, err
}

// openTold returns the conversation that messages are added to.
func (v *View) openTold(ctx context.Context, r TellRequest) (store.Head, error) {
	if r.Of != "" {
		return v.door.openHead(ctx, r.Of, scrollback.AccessWrite)
	}
	c := scrollback.Conversation{Project: r.Project, Meta: r.Meta, ID: r.ID}
	if err := admitConversation(ctx, v, &c); err != nil {
		return store.Head{}, err
	}
	v.e.titleTold(&c, r.Messages)
	made, isNew, err := v.e.store.CreateConversation(ctx, c)
	if err != nil {
		return store.Head{}, err
	}
	return v.openWithID(ctx, made.ID, isNew)
}

// titleTold gives a conversation the title of the first thing that a person says in it.
func (e *Engine) titleTold(c *scrollback.Conversation, all []ExchangeMessage) {
	for _, m := range all {
		if m.Role == scrollback.RoleUser {
			e.SetTitle(c, m.Parts)
			return
		}
	}
}

// appendTold stores messages behind a head, and moves that.
func (v *View) appendTold(ctx context.Context, head *store.Head,
	all []ExchangeMessage) ([]scrollback.Message, error) {
	if len(all) == 0 {
		return nil, nil
	}
	backlog, err := v.Bulk().Backlog(ctx, head.ID)
	if err != nil {
		return nil, err
	}
	in := make([]store.IncomingMessage, len(all))
	for i, m := range all {
		m.Meta = clientSource
		if in[i], err = backlog.Admit(ctx, m.Message, m.Attached); err != nil {
			return nil, scrollback.ParamErrorf("engine.Tell", "items", i18n.MessageFailed, i, err)
		}
		in[i].SaidBy = v.door.caller.Key
	}
	begin := head.Branch.HeadSeq
	if _, err := v.e.store.AppendMessages(ctx, *head, in); err != nil {
		return nil, err
	}
	if *head, err = v.door.openHead(ctx, head.ID, scrollback.AccessWrite); err != nil {
		return nil, err
	}
	return v.e.store.ReadMessages(ctx, head.Branch.ID, begin+1, begin+int64(len(in)))
}
