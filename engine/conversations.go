package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store"
)

// Create makes a conversation, or returns the one that already has the given id and
// false. Its model and policy must exist, and its roots must be granted. It may begin
// with a history: messages of any role but the environment's, stored as complete; an
// error about one names its index. The same call again changes nothing.
func (v *View) Create(ctx context.Context, c scrollback.Conversation, history ...scrollback.Message) (scrollback.Conversation, bool, error) {
	for i := range history {
		if err := v.e.intake.Limits.CheckHistory(i, &history[i]); err != nil {
			return c, false, err
		}
		if c.Title == "" && history[i].Role == scrollback.RoleUser {
			v.e.Entitle(&c, history[i].Parts)
		}
	}
	if err := admits(ctx, v, &c); err != nil {
		return c, false, err
	}
	if c.ID == "" {
		c.ID = scrollback.ConversationID(v.e.store.NewID())
	}
	known, err := v.door.head(ctx, c.ID, scrollback.AccessWrite)
	if err == nil && (known.Messages > 0 || len(history) == 0) { // it has begun already
		return known.Conversation, false, nil
	}
	in, err := v.e.begins(ctx, c, history)
	if err != nil {
		return c, false, err
	}
	made, created, err := v.e.store.Create(ctx, c, in...)
	switch {
	case err != nil && scrollback.CodeOf(err) != scrollback.Conflict && len(in) > 0:
		ctx = context.WithoutCancel(ctx)
		if gone, err := v.e.store.Discard(ctx, c.ID); err == nil {
			_, _, _ = v.e.archive.Drop(ctx, c.ID, gone.Loose) // what it fails to remove is only space
		}
	case err == nil && !v.door.caller.Sees(made.Project):
		return scrollback.Conversation{}, false, scrollback.Errorf(scrollback.NotFound, "engine.Create", "the id of this conversation cannot be used")
	case err == nil && !created && made.Messages == 0 && len(in) > 0:
		if known, err = v.door.head(ctx, made.ID, scrollback.AccessWrite); err != nil {
			return made, false, err
		}
		done, err := v.e.store.Append(ctx, known, in)
		return done.Head.Conversation, false, err
	}
	return made, created, err
}

// begins admits the messages that a conversation begins with.
func (e *Engine) begins(ctx context.Context, c scrollback.Conversation, history []scrollback.Message) ([]store.Incoming, error) {
	if len(history) == 0 {
		return nil, nil
	}
	sh, err := e.resolver.Resolve(ctx, c, Overrides{})
	if err != nil {
		return nil, err
	}
	in := make([]store.Incoming, len(history))
	for i, m := range history {
		sh.Remember(scrollback.Message{Parts: m.Parts})
		if in[i], err = e.intake.Admit(ctx, c.ID, scrollback.Message{Role: m.Role, Name: m.Name, Parts: m.Parts, Model: m.Model}, sh.Room(), nil); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// admits checks what a caller wants of a conversation, and fills in where it goes.
func admits(ctx context.Context, v *View, c *scrollback.Conversation) error {
	const op = "engine.Create"
	err := v.door.may(scrollback.AccessWrite)
	if err == nil {
		c.Project, err = v.door.project(c.Project)
	}
	if err == nil {
		c.Roots, err = v.e.grants.Narrow(c.Roots)
	}
	if err != nil {
		return err
	}
	if len(c.PinnedSeqs) > 0 {
		return scrollback.ParamErrorf(op, "pinned_seqs", "a conversation that is being created has no message to pin")
	}
	of, err := v.e.resolver.Project(ctx, c.Project)
	if err == nil {
		err = v.e.resolver.Check(*c, of)
	}
	if err != nil {
		return err
	}
	return scrollback.CheckTools(c.Settings.Tools)
}

// Resolve finds a conversation by what a person calls it: an id, a unique
// beginning of one, or "latest".
func (v *View) Resolve(ctx context.Context, name string) (scrollback.ConversationID, error) {
	within, err := v.door.projects("", nil)
	if err != nil {
		return "", err
	}
	return v.e.store.Resolve(ctx, name, within)
}

// Get returns a conversation.
func (v *View) Get(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	h, err := v.door.head(ctx, id, scrollback.AccessRead)
	return h.Conversation, err
}

// List returns a page of conversations, newest change first, and the cursor of
// the next.
func (v *View) List(ctx context.Context, q scrollback.ListQuery) ([]scrollback.Conversation, string, error) {
	var err error
	if q.Projects, err = v.door.projects(q.Project, q.Projects); err != nil {
		return nil, "", err
	}
	items, next, err := v.e.store.List(ctx, q)
	if items == nil {
		items = []scrollback.Conversation{}
	}
	return items, next, err
}

// Patch changes a conversation's own fields; ifVersion 0 means any version. edit may
// be called twice.
func (v *View) Patch(ctx context.Context, id scrollback.ConversationID, ifVersion int64, edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	head, err := v.door.head(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	pins, err := v.e.newPins(ctx, head, edit)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	return v.e.store.Patch(ctx, id, ifVersion, func(c *scrollback.Conversation) error {
		was := *c
		if err := edit(c); err != nil {
			return err
		}
		if c.Title != was.Title { // which no model replaces from now on
			c.TitleBy = scrollback.TitleGiven
		}
		if err := pins.apply(c, was); err != nil {
			return err
		}
		if err := scrollback.CheckTools(c.Settings.Tools); err != nil {
			return err
		}
		if !v.door.caller.Sees(c.Project) {
			return scrollback.Errorf(scrollback.NotFound, "engine.Patch", "no project %s", c.Project)
		}
		if !slices.Equal(c.Roots, was.Roots) {
			roots, err := v.e.grants.Change(was.Roots, c.Roots)
			if err != nil {
				return err
			}
			c.Roots = roots
		}
		if resolvesAlike(c, &was) {
			return nil
		}
		return v.e.resolver.Check(*c, pins.of)
	})
}

// resolvesAlike reports whether an edit changed nothing that a request's model, policy
// and limit depend on.
func resolvesAlike(c, was *scrollback.Conversation) bool {
	return c.Model == was.Model && c.Policy == was.Policy && c.Limit == was.Limit && c.Project == was.Project &&
		maps.Equal(c.Settings.Compaction, was.Settings.Compaction) && c.Settings.ModelThinking() == was.Settings.ModelThinking()
}

// Trash puts a conversation in the trash, with its sub-agents; Restore takes them out.
func (v *View) Trash(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	if err := v.door.allow(ctx, id, scrollback.AccessWrite); err != nil {
		return scrollback.Conversation{}, err
	}
	return v.e.store.Trash(ctx, id)
}

// Restore takes a conversation out of the trash, with the sub-agents that went there with
// it; a sub-agent whose conversation stays there is conflict.
func (v *View) Restore(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	if err := v.door.allow(ctx, id, scrollback.AccessWrite); err != nil {
		return scrollback.Conversation{}, err
	}
	return v.e.store.Restore(ctx, id)
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
	_, known := v.door.head(ctx, id, scrollback.AccessWrite)
	if known != nil && !(v.door.caller.AllProjects && scrollback.CodeOf(known) == scrollback.NotFound) {
		return PurgeResult{ID: id}, known
	}
	out, err := v.e.purge(ctx, id, 0) // of one unknown: an interrupted purge continues
	if err == nil && known != nil && out.Removed == 0 {
		err = known
	}
	return out, err
}

// purge removes a conversation and its sub-agents; see [store.Store.Purge].
func (e *Engine) purge(ctx context.Context, id scrollback.ConversationID, trashedBy int64) (PurgeResult, error) {
	out := PurgeResult{ID: id}
	doomed, err := e.store.Doomed(ctx, id, trashedBy)
	for _, one := range doomed {
		by := trashedBy
		if one != id { // it goes with the conversation, whenever it went there
			by = 0
		}
		purged, err := e.store.Purge(ctx, one, by)
		if err != nil {
			return out, err
		}
		gone, waiting, err := e.archive.Drop(ctx, one, purged.Loose)
		if err != nil {
			return out, err
		}
		out.Removed, out.Kept, out.Artifacts, out.Waiting = out.Removed+purged.Removed, out.Kept+purged.Kept, out.Artifacts+gone, out.Waiting+waiting
	}
	return out, err
}

// pins are messages of a branch that were checked and may be pinned, and what is stored of
// the project that the conversation is then in, if that matters to the edit.
type pins struct {
	branch scrollback.BranchID
	seqs   []int64
	of     scrollback.Project
}

// newPins checks the messages that an edit pins, before its transaction: each must be
// something that was said on the path, and together they must leave room.
func (e *Engine) newPins(ctx context.Context, head store.Head, edit func(*scrollback.Conversation) error) (pins, error) {
	const op = "engine.Patch"
	out, c := pins{branch: head.Branch.ID}, head.Conversation
	if err := edit(&c); err != nil {
		return out, err
	}
	if !resolvesAlike(&c, &head.Conversation) {
		var err error
		if out.of, err = e.resolver.Project(ctx, c.Project); err != nil {
			return out, err
		}
	}
	out.seqs = slices.Compact(slices.Sorted(slices.Values(c.PinnedSeqs)))
	if len(out.seqs) == 0 || slices.Equal(out.seqs, head.PinnedSeqs) {
		return out, nil
	}
	if n := len(out.seqs); n > scrollback.PinsMax {
		return out, scrollback.ParamErrorf(op, "pinned_seqs", "at most %d messages can be pinned, not %d", scrollback.PinsMax, n)
	}
	sh, err := e.resolver.Resolve(ctx, c, Overrides{})
	if err != nil {
		return out, err
	}
	var tokens int64
	for _, seq := range out.seqs {
		if seq < 1 || seq > head.Branch.HeadSeq {
			return out, scrollback.ParamErrorf(op, "pinned_seqs", "there is no message %d on this path, which has %d", seq, head.Branch.HeadSeq)
		}
		m, err := e.store.At(ctx, head.Branch, seq)
		switch {
		case err != nil:
			return out, err
		case m.Role == scrollback.RoleTool || len(m.Parts.Calls()) > 0: // a call without its result can be sent nowhere
			return out, scrollback.ParamErrorf(op, "pinned_seqs", "message %d is a call of a tool or its result: pin what was said of it", seq)
		}
		tokens += m.Weight.Tokens
	}
	if room := sh.Policy.PinnedBound(sh.Budget.Tokens); tokens > room {
		return out, scrollback.ParamErrorf(op, "pinned_seqs", "the pinned messages weigh %d tokens, and at most %d (%v of the budget) are taken", sh.ModelTokens(tokens), sh.ModelTokens(room), sh.Policy.PinnedShare)
	}
	return out, nil
}

// apply puts the pins of the edited conversation in order.
func (p pins) apply(c *scrollback.Conversation, was scrollback.Conversation) error {
	c.PinnedSeqs = slices.Compact(slices.Sorted(slices.Values(c.PinnedSeqs)))
	if slices.Equal(c.PinnedSeqs, was.PinnedSeqs) || len(c.PinnedSeqs) == 0 || slices.Equal(c.PinnedSeqs, p.seqs) && was.Branch == p.branch {
		return nil
	}
	return scrollback.Errorf(scrollback.Conflict, "engine.Patch", "the conversation was changed meanwhile; pin again")
}
