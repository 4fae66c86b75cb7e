package engine

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store"
)

// ListQuery pages through conversations; PageQuery through messages; RefQuery
// through refs. Cursors are opaque.
type (
	ListQuery = store.ListQuery
	PageQuery = store.PageQuery
	RefQuery  = store.RefQuery
)

// pageAfter reads what follows the beginning of a turn.
func pageAfter(t scrollback.Turn) PageQuery {
	return PageQuery{Branch: t.Branch, After: &t.Seq, Limit: scrollback.ListMax}
}

// Create makes a conversation, or answers the one that has the given id already.
// Its model and policy must exist, and its roots be granted.
func (e *Engine) Create(ctx context.Context, c scrollback.Conversation) (scrollback.Conversation, bool, error) {
	var err error
	if c.Roots, err = e.narrow(c.Roots); err != nil {
		return c, false, err
	}
	if len(c.PinnedSeqs) > 0 {
		return c, false, scrollback.ParamErrorf("engine.Create", "pinned_seqs", "a conversation that is made has no message to pin")
	}
	c.Policy = cmp.Or(c.Policy, e.policyOf(c.Project))
	if _, err := e.choose(c, Overrides{}, scrollback.Learned{}); err != nil {
		return c, false, err
	}
	if err := checkTools(c.Settings.Tools); err != nil {
		return c, false, err
	}
	return e.store.Create(ctx, c)
}

// policyOf is the policy that a conversation of a project gets when it names none.
func (e *Engine) policyOf(project string) string {
	return cmp.Or(e.o.Projects[cmp.Or(project, scrollback.DefaultProject)].Policy, e.o.Compaction.Policy)
}

// CreateWith is Create for a conversation that begins with a history: messages of
// any role but the environment's, kept as complete. What is wrong with one names its
// index. The same call again changes nothing.
func (e *Engine) CreateWith(ctx context.Context, c scrollback.Conversation, history []scrollback.Message) (scrollback.Conversation, bool, error) {
	for i := range history {
		if err := e.checkHistory(i, &history[i]); err != nil {
			return c, false, err
		}
		if c.Title == "" && history[i].Role == scrollback.RoleUser {
			c.Title = titleOf(history[i].Parts.Text())
		}
	}
	c, created, err := e.Create(ctx, c)
	if err != nil || len(history) == 0 {
		return c, created, err
	}
	head, err := e.store.Head(ctx, c.ID)
	if err != nil || head.Messages > 0 { // it has begun already
		return c, created, err
	}
	sh, err := e.resolve(ctx, head.Conversation, Overrides{})
	if err != nil {
		return c, created, err
	}
	var in []store.Incoming
	for _, m := range history {
		one, err := e.admitParts(ctx, c.ID, scrollback.Message{Role: m.Role, Name: m.Name, Parts: m.Parts, Model: m.Model}, sh, nil)
		if err != nil {
			return c, created, err
		}
		in = append(in, one)
	}
	done, err := e.store.Append(ctx, head, in)
	return done.Head.Conversation, created, err
}

// checkHistory says what is wrong with message i of a history.
func (e *Engine) checkHistory(i int, m *scrollback.Message) error {
	const op = "engine.CreateWith"
	role, err := scrollback.ParseRole(string(m.Role))
	switch {
	case err != nil:
		return scrollback.ParamErrorf(op, "history", "message %d: %w", i, err)
	case role == scrollback.RoleSystem && m.Name == scrollback.EnvironmentName:
		return scrollback.ParamErrorf(op, "history", "message %d: the name %s is reserved", i, m.Name)
	case len(m.Parts) == 0 || len(m.Parts) > e.o.MaxParts:
		return scrollback.ParamErrorf(op, "history", "message %d (%s) has %d parts; 1 to %d are taken", i, role, len(m.Parts), e.o.MaxParts)
	}
	return nil
}

// Resolve finds a conversation by what a person calls it: an id, a unique
// beginning of one, or "latest".
func (e *Engine) Resolve(ctx context.Context, name string) (scrollback.ConversationID, error) {
	return e.store.Resolve(ctx, name)
}

// Get is a conversation as it stands.
func (e *Engine) Get(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	h, err := e.store.Head(ctx, id)
	return h.Conversation, err
}

// Running is the turn that holds a conversation open, or nil.
func (e *Engine) Running(ctx context.Context, id scrollback.ConversationID) (*scrollback.Turn, error) {
	t, err := e.store.Turns.Last(ctx, id)
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case t.State != scrollback.TurnOpen || e.store.Turns.Expired(t):
		return nil, nil
	}
	return &t, nil
}

// OrphanDraft is what a turn had written whose owner is gone and that nobody has closed
// yet, or nil. The next turn keeps it as an interrupted message.
func (e *Engine) OrphanDraft(ctx context.Context, id scrollback.ConversationID) (*scrollback.Draft, error) {
	t, err := e.store.Turns.Last(ctx, id)
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case !e.store.Turns.Expired(t):
		return nil, nil
	}
	return &t.Draft, nil
}

// Patch changes a conversation's own fields; ifVersion 0 means any version. Edit may
// be called twice.
func (e *Engine) Patch(ctx context.Context, id scrollback.ConversationID, ifVersion int64, edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	pins, err := e.newPins(ctx, id, edit)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	return e.store.Patch(ctx, id, ifVersion, func(c *scrollback.Conversation) error {
		was := *c
		if err := edit(c); err != nil {
			return err
		}
		if err := pins.apply(c, was); err != nil {
			return err
		}
		if err := checkTools(c.Settings.Tools); err != nil {
			return err
		}
		if !slices.Equal(c.Roots, was.Roots) {
			roots, err := e.narrowed(was.Roots, c.Roots)
			if err != nil {
				return err
			}
			c.Roots = roots
		}
		if c.Model == was.Model && c.Policy == was.Policy && c.Limit == was.Limit && maps.Equal(c.Settings.Compaction, was.Settings.Compaction) && c.Project == was.Project && c.Settings.ModelThinking() == was.Settings.ModelThinking() {
			return nil
		}
		_, err := e.choose(*c, Overrides{}, scrollback.Learned{})
		return err
	})
}

// pins are messages that were found fit to be pinned, on a branch.
type pins struct {
	branch scrollback.BranchID
	seqs   []int64
}

// newPins judges the messages that an edit of a conversation pins, before its
// transaction: each was said, by somebody, on the path, and together they leave room.
func (e *Engine) newPins(ctx context.Context, id scrollback.ConversationID, edit func(*scrollback.Conversation) error) (pins, error) {
	const op = "engine.Patch"
	head, err := e.store.Head(ctx, id)
	if err != nil {
		return pins{}, err
	}
	out, c := pins{branch: head.Branch.ID}, head.Conversation
	if err := edit(&c); err != nil {
		return out, err
	}
	out.seqs = slices.Compact(slices.Sorted(slices.Values(c.PinnedSeqs)))
	if len(out.seqs) == 0 || slices.Equal(out.seqs, head.PinnedSeqs) {
		return out, nil
	}
	if n := len(out.seqs); n > scrollback.PinsMax {
		return out, scrollback.ParamErrorf(op, "pinned_seqs", "at most %d messages can be pinned, not %d", scrollback.PinsMax, n)
	}
	sh, err := e.resolve(ctx, c, Overrides{})
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
		case m.Role == scrollback.RoleTool || len(m.Parts.Calls()) > 0: // half of a call stands nowhere
			return out, scrollback.ParamErrorf(op, "pinned_seqs", "message %d is a call of a tool or its result: pin what was said of it", seq)
		}
		tokens += m.Weight.Tokens
	}
	if room := sh.policy.PinnedBound(sh.budget.Tokens); tokens > room {
		return out, scrollback.ParamErrorf(op, "pinned_seqs", "the pinned messages weigh %d tokens, and at most %d (%v of the budget) are taken", sh.modelTokens(tokens), sh.modelTokens(room), sh.policy.PinnedShare)
	}
	return out, nil
}

// apply gives the edited conversation its pins in order.
func (p pins) apply(c *scrollback.Conversation, was scrollback.Conversation) error {
	c.PinnedSeqs = slices.Compact(slices.Sorted(slices.Values(c.PinnedSeqs)))
	if slices.Equal(c.PinnedSeqs, was.PinnedSeqs) || len(c.PinnedSeqs) == 0 || slices.Equal(c.PinnedSeqs, p.seqs) && was.Branch == p.branch {
		return nil
	}
	return scrollback.Errorf(scrollback.Conflict, "engine.Patch", "the conversation was changed meanwhile; pin again")
}

// pinsAlong are those pins, set on the path of a branch, whose messages are on the path
// that a bundle makes the current one.
func (b *bundleImport) pinsAlong(pins []int64, set scrollback.BranchID) []int64 {
	find := func(id scrollback.BranchID) (scrollback.Branch, bool) {
		for _, a := range b.order {
			if br, ok := a.branches[id]; ok {
				return br, true
			}
		}
		return scrollback.Branch{}, false
	}
	owner := func(id scrollback.BranchID, seq int64) scrollback.BranchID {
		for br, ok := find(id); ok; br, ok = find(br.Parent) {
			switch {
			case seq > br.HeadSeq:
				return ""
			case seq > br.AtSeq:
				return br.ID
			}
		}
		return ""
	}
	now := b.main().conv.Branch
	return slices.DeleteFunc(append([]int64{}, pins...), func(pin int64) bool {
		of := owner(now, pin)
		return of == "" || of != owner(set, pin)
	})
}

// Pinned are the messages that are pinned, oldest first.
func (e *Engine) Pinned(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Message, error) {
	head, err := e.store.Head(ctx, id)
	out := []scrollback.Message{}
	for _, seq := range head.PinnedSeqs {
		m, err := e.store.At(ctx, head.Branch, seq)
		if err != nil {
			return out, err
		}
		out = append(out, m)
	}
	return out, err
}

// List answers a page of conversations, newest change first, and the cursor of
// the next.
func (e *Engine) List(ctx context.Context, q ListQuery) ([]scrollback.Conversation, string, error) {
	items, next, err := e.store.List(ctx, q)
	if items == nil {
		items = []scrollback.Conversation{}
	}
	return items, next, err
}

// Projects lists the projects.
func (e *Engine) Projects(ctx context.Context) ([]scrollback.Project, error) {
	return e.store.Projects(ctx)
}

// Messages answers a page of a path and the seq to go on from, or 0.
func (e *Engine) Messages(ctx context.Context, id scrollback.ConversationID, q PageQuery) ([]scrollback.Message, int64, error) {
	ms, next, err := e.store.Page(ctx, id, q)
	if ms == nil {
		ms = []scrollback.Message{}
	}
	return ms, next, err
}

// All reads every message on a conversation's path.
func (e *Engine) All(ctx context.Context, id scrollback.ConversationID) iter.Seq2[scrollback.Message, error] {
	return e.store.All(ctx, id)
}

// Trash puts a conversation in the trash; Restore takes it out.
func (e *Engine) Trash(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	return e.store.Trash(ctx, id)
}

// Restore takes a conversation out of the trash.
func (e *Engine) Restore(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	return e.store.Restore(ctx, id)
}

// Ready says whether the store answers.
func (e *Engine) Ready(ctx context.Context) error {
	return e.store.Ready(ctx)
}
