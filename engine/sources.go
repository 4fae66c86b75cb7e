package engine

import (
	"context"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// A session of a tool may come twice: its requests through the door, and its file by an import. Both are the same
// conversation: it has the session's origin, whichever came first.

// noteSource notes which session of a tool a conversation is, unless another one in its project is that already.
func (v *View) noteSource(ctx context.Context, head store.Head, o scrollback.Origin) error {
	there, err := v.e.store.Origins.List(ctx, store.OriginQuery{Tool: o.Tool, ID: o.ID,
		Projects: []string{head.Project}, Limit: 1})
	if err != nil || len(there) > 0 {
		return err
	}
	o.Conversation = head.ID
	return v.e.store.Origins.Put(ctx, o, "")
}

// matchSource matches a request that goes on with nothing against the conversation that an import made of its session;
// m stays if there is none, or if it is about something else.
func (v *View) matchSource(ctx context.Context, project string, r *threading.Request,
	m *threading.Match) (*threading.Match, error) {
	in, found, err := v.openSource(ctx, project, r)
	if err != nil || !found {
		return m, err
	}
	other, err := v.e.matcher().Match(ctx, v.threadScope(in), r, time.UnixMilli(v.e.store.Now()))
	if err != nil || other.Begins() {
		return m, err
	}
	return other, nil
}

// openSource lets a request go on with the conversation that an import made of its session, and returns the project
// whose threads it is matched among; found says whether there is one.
func (v *View) openSource(ctx context.Context, project string, r *threading.Request) (in string, found bool,
	err error) {
	if r.Source == (threading.Source{}) || r.Explicit {
		return project, false, nil
	}
	q := store.OriginQuery{Tool: r.Source.Tool, ID: r.Source.ID, Limit: scrollback.ListDefault}
	if !v.door.caller.AllProjects {
		q.Projects = append([]string{}, v.door.caller.Projects...)
	}
	origins, err := v.e.store.Origins.List(ctx, q)
	if err != nil {
		return project, false, err
	}
	for _, o := range origins {
		if o.Shared {
			continue
		}
		head, err := v.door.openHead(ctx, o.Conversation, scrollback.AccessWrite)
		if code := scrollback.CodeOf(err); code == scrollback.NotFound || code == scrollback.Refused {
			continue
		}
		if err != nil {
			return project, false, err
		}
		thread, err := v.e.store.Threads.Index().Thread(ctx, threading.ThreadID(head.ID))
		if err != nil {
			return project, false, err
		}
		scope := v.threadScope(head.Project)
		switch {
		case thread == nil:
			thread = &threading.ThreadRow{ID: threading.ThreadID(head.ID), Scope: scope, Dialect: r.Dialect}
		case thread.Scope != scope:
			continue // another key's
		}
		err = v.e.adoptMessages(ctx, head, *thread)
		if err == nil {
			err = v.e.nameThread(ctx, thread.ID, scope, r.Name)
		}
		return scope.Project, err == nil, err
	}
	return project, false, nil
}

// nameThread notes what a client calls a thread, unless that is known.
func (e *Engine) nameThread(ctx context.Context, id threading.ThreadID, scope threading.Scope, name string) error {
	if name == "" {
		return nil
	}
	index := e.store.Threads.Index()
	known, err := index.Named(ctx, scope, name, scrollback.ListDefault)
	if err != nil || slices.ContainsFunc(known, func(t threading.ThreadRow) bool { return t.ID == id }) {
		return err
	}
	return e.store.Threads.Write(ctx, threading.Rows{Name: &threading.NameRow{Scope: scope, Name: name, Thread: id}})
}

// AdoptBrought lets requests of clients go on behind what was added to a conversation that they have gone on with.
func (b Bulk) AdoptBrought(ctx context.Context, id scrollback.ConversationID) error {
	head, err := b.v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return err
	}
	thread, err := b.v.e.store.Threads.Index().Thread(ctx, threading.ThreadID(id))
	if err != nil || thread == nil {
		return err
	}
	return b.v.e.adoptMessages(ctx, head, *thread)
}

// HasThread reports whether requests of clients have gone on with a conversation.
func (b Bulk) HasThread(ctx context.Context, id scrollback.ConversationID) (bool, error) {
	head, err := b.v.door.openHead(ctx, id, scrollback.AccessRead)
	if err != nil {
		return false, err
	}
	thread, err := b.v.e.store.Threads.Index().Thread(ctx, threading.ThreadID(head.ID))
	return thread != nil, err
}

// TakeApart returns what a message says, as it is compared with what clients send: without what they tell a model
// beside the history, and without what was looked up here.
func (b Bulk) TakeApart(m scrollback.Message) []threading.Atom {
	return b.v.e.o.SideCalls().TakeApart(itemsOfMessage(m))
}
