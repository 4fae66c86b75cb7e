package engine

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/workspace"
)

// Create makes a conversation, or returns the one that already has the given id and
// false. Its model and policy must exist, and its roots must be granted. It may begin
// with a history: messages of any role but the environment's, stored as complete; an
// error about one names its index. The same call again changes nothing.
func (v *View) Create(ctx context.Context, c scrollback.Conversation,
	history ...scrollback.Message) (scrollback.Conversation, bool, error) {
	for i := range history {
		if err := v.e.intake.Limits.CheckHistory(i, &history[i]); err != nil {
			return c, false, err
		}
		if c.Title == "" && history[i].Role == scrollback.RoleUser {
			v.e.SetTitle(&c, history[i].Parts)
		}
	}
	c.AgentOf = nil // only a model's call makes a sub-agent
	if err := admitConversation(ctx, v, &c); err != nil {
		return c, false, err
	}
	if c.ID == "" {
		c.ID = scrollback.ConversationID(v.e.store.NewID())
	}
	known, err := v.door.openHead(ctx, c.ID, scrollback.AccessWrite)
	if err == nil && (known.Messages > 0 || len(history) == 0) { // it has begun already
		return known.Conversation, false, nil
	}
	in, err := v.e.admitHistory(ctx, c, history)
	if err != nil {
		return c, false, err
	}
	made, created, err := v.e.store.CreateConversation(ctx, c, in...)
	switch {
	case err != nil && scrollback.CodeOf(err) != scrollback.Conflict && len(in) > 0:
		ctx = context.WithoutCancel(ctx)
		if gone, err := v.e.store.DiscardConversation(ctx, c.ID); err == nil {
			_, _, _ = v.e.archive.DeleteConversation(ctx, c.ID, gone.Loose) // what it fails to remove is only space
		}
	case err == nil && !v.door.caller.SeesProject(made.Project):
		return scrollback.Conversation{}, false, scrollback.Errorf(scrollback.NotFound, "engine.Create",
			i18n.ConversationIDUnusable)
	case err == nil && !created && made.Messages == 0 && len(in) > 0:
		if known, err = v.door.openHead(ctx, made.ID, scrollback.AccessWrite); err != nil {
			return made, false, err
		}
		done, err := v.e.store.AppendMessages(ctx, known, in)
		return done.Head.Conversation, false, err
	}
	return made, created, err
}

// admitHistory admits the messages that a conversation begins with.
func (e *Engine) admitHistory(ctx context.Context, c scrollback.Conversation,
	history []scrollback.Message) ([]store.IncomingMessage, error) {
	if len(history) == 0 {
		return nil, nil
	}
	settings, err := e.resolver.Resolve(ctx, c, Overrides{})
	if err != nil {
		return nil, err
	}
	in := make([]store.IncomingMessage, len(history))
	for i, m := range history {
		settings.RememberCalls(scrollback.Message{Parts: m.Parts})
		if in[i], err = e.intake.Admit(ctx, c.ID,
			scrollback.Message{Role: m.Role, Name: m.Name, Parts: m.Parts, Model: m.Model}, settings.IntakeRoom(),
			nil); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// admitConversation checks what a caller wants of a conversation, and fills in where it goes.
func admitConversation(ctx context.Context, v *View, c *scrollback.Conversation) error {
	const op = "engine.Create"
	err := v.door.requireAccess(scrollback.AccessWrite)
	if err == nil {
		c.Project, err = v.door.resolveProject(c.Project)
	}
	if err == nil {
		c.Roots, err = v.e.grants.NarrowRoots(c.Roots)
	}
	if err != nil {
		return err
	}
	if c.Settings.Agents {
		err = v.e.checkAgentsAllowed()
	}
	if err != nil {
		return err
	}
	if len(c.PinnedSeqs) > 0 {
		return scrollback.ParamErrorf(op, "pinned_seqs", i18n.NoMessageToPinYet)
	}
	of, err := v.e.resolver.FindProject(ctx, c.Project)
	if err == nil {
		err = v.e.resolver.CheckConversation(*c, of)
	}
	if err != nil {
		return err
	}
	return scrollback.CheckTools(c.Settings.Tools)
}

// checkAgentsAllowed returns an error unless models may start sub-agents here.
func (e *Engine) checkAgentsAllowed() error {
	if e.o.Agents.Allowed {
		return nil
	}
	return scrollback.Errorf(scrollback.Refused, "engine",
		i18n.SubAgentsNotAllowed)
}

// checkSubagentEdit checks an edit of a sub-agent: its folders only become fewer, and its project is
// that of the conversation that it works for.
func checkSubagentEdit(c, was *scrollback.Conversation) error {
	switch {
	case c.AgentOf == nil:
		return nil
	case c.Project != was.Project:
		return scrollback.ParamErrorf("engine.Patch", "project",
			i18n.SubAgentStaysInProject)
	case slices.Equal(c.Roots, was.Roots):
		return nil
	}
	_, err := workspace.NewGrants(was.Roots).NarrowRoots(c.Roots)
	return err
}

// Resolve finds a conversation by what a person calls it: an id, a unique
// beginning of one, or "latest".
func (v *View) Resolve(ctx context.Context, name string) (scrollback.ConversationID, error) {
	within, err := v.door.limitProjects("", nil)
	if err != nil {
		return "", err
	}
	return v.e.store.ResolveName(ctx, name, within)
}

// Get returns a conversation.
func (v *View) Get(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	h, err := v.door.openHead(ctx, id, scrollback.AccessRead)
	return h.Conversation, err
}

// List returns a page of conversations, newest change first, and the cursor of
// the next.
func (v *View) List(ctx context.Context, q scrollback.ListQuery) ([]scrollback.Conversation, string, error) {
	var err error
	if q.Projects, err = v.door.limitProjects(q.Project, q.Projects); err != nil {
		return nil, "", err
	}
	items, next, err := v.e.store.ListConversations(ctx, q)
	if items == nil {
		items = []scrollback.Conversation{}
	}
	return items, next, err
}

// Patch changes a conversation's own fields; ifVersion 0 means any version. edit may
// be called twice.
func (v *View) Patch(ctx context.Context, id scrollback.ConversationID, ifVersion int64,
	edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	head, err := v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	pins, err := v.e.resolver.CheckPins(ctx, head, edit)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	return v.e.store.PatchConversation(ctx, head.ID, ifVersion, func(c *scrollback.Conversation) error {
		was := *c
		if err := edit(c); err != nil {
			return err
		}
		if c.Title != was.Title { // which no model replaces from now on
			c.TitleBy = scrollback.TitleGiven
		}
		if err := pins.Apply(c, was); err != nil {
			return err
		}
		if err := scrollback.CheckTools(c.Settings.Tools); err != nil {
			return err
		}
		if !v.door.caller.SeesProject(c.Project) {
			return scrollback.Errorf(scrollback.NotFound, "engine.Patch", i18n.NoProject, c.Project)
		}
		if err := checkSubagentEdit(c, &was); err != nil {
			return err
		}
		if c.Settings.Agents && !was.Settings.Agents {
			if err := v.e.checkAgentsAllowed(); err != nil {
				return err
			}
		}
		if !slices.Equal(c.Roots, was.Roots) {
			roots, err := v.e.grants.ChangeRoots(was.Roots, c.Roots)
			if err != nil {
				return err
			}
			c.Roots = roots
		}
		if request.SameSettings(c, &was) {
			return nil
		}
		return v.e.resolver.CheckConversation(*c, pins.Project)
	})
}

// Trash puts a conversation in the trash, with its sub-agents; Restore takes them out.
func (v *View) Trash(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	if err := v.door.checkAccess(ctx, id, scrollback.AccessWrite); err != nil {
		return scrollback.Conversation{}, err
	}
	return v.e.store.TrashConversation(ctx, id)
}

// Restore takes a conversation out of the trash, with the sub-agents that went there with
// it; a sub-agent whose conversation stays there is conflict.
func (v *View) Restore(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	if err := v.door.checkAccess(ctx, id, scrollback.AccessWrite); err != nil {
		return scrollback.Conversation{}, err
	}
	return v.e.store.RestoreConversation(ctx, id)
}

// PurgeResult says what a purge removed of a conversation and its sub-agents, in messages
// and artifacts. Kept counts the
// messages that stay because forks inherit them, and Waiting the artifacts that
// were added so recently that their bytes stay for a while.
type PurgeResult struct {
	ID        scrollback.ConversationID `json:"id"`
	Removed   int64                     `json:"removed"`
	Kept      int64                     `json:"kept"`
	Artifacts int                       `json:"artifacts"`
	Waiting   int                       `json:"waiting,omitempty"`
}

// Purge removes a conversation for good, and its sub-agents. What forks inherit stays, but can only be read
// through them. Nothing brings the rest back.
func (v *View) Purge(ctx context.Context, id scrollback.ConversationID) (PurgeResult, error) {
	_, known := v.door.openHead(ctx, id, scrollback.AccessWrite)
	if known != nil && !(v.door.caller.AllProjects && scrollback.CodeOf(known) == scrollback.NotFound) {
		return PurgeResult{ID: id}, known
	}
	out, err := v.e.purgeConversation(ctx, id, 0) // of one unknown: an interrupted purge continues
	if err == nil && known != nil && out.Removed == 0 {
		err = known
	}
	return out, err
}

// purgeConversation removes a conversation and its sub-agents; see [store.Store.PurgeConversation].
func (e *Engine) purgeConversation(ctx context.Context, id scrollback.ConversationID,
	trashedBy int64) (PurgeResult, error) {
	out := PurgeResult{ID: id}
	doomed, err := e.store.Agents.ListPurgeOrder(ctx, id, trashedBy)
	if err != nil {
		return out, err
	}
	for _, one := range doomed {
		by := trashedBy
		if one != id { // it goes with the conversation, whenever it went there
			by = 0
		}
		purged, err := e.store.PurgeConversation(ctx, one, by)
		if err != nil {
			return out, err
		}
		gone, waiting, err := e.archive.DeleteConversation(ctx, one, purged.Loose)
		if err != nil {
			return out, err
		}
		out.Removed += purged.Removed
		out.Kept += purged.Kept
		out.Artifacts += gone
		out.Waiting += waiting
	}
	return out, nil
}
