package engine

import (
	"cmp"
	"context"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Kept are the sentences that are kept of conversations, as one caller sees them.
type Kept struct{ v *View }

// Kept lists what is carried word for word, and lets a person correct it.
func (v *View) Kept() Kept { return Kept{v} }

// keptConversations is how many conversations of a project, the newest, are looked at.
const keptConversations = 100

// List lists what is kept of a conversation along its current path: to-dos, traits and instructions, each by
// seq. What was said several times stands where it was said last. All lists what no longer
// stands too.
func (k Kept) List(ctx context.Context, id scrollback.ConversationID, all bool) ([]scrollback.Kept, error) {
	h, err := k.v.door.openHead(ctx, id, scrollback.AccessRead)
	if err != nil {
		return nil, err
	}
	return k.list(ctx, h, all)
}

func (k Kept) list(ctx context.Context, h store.Head, all bool) ([]scrollback.Kept, error) {
	entries, err := k.v.e.store.Kept.List(ctx, h, h.Branch, h.Branch.HeadSeq)
	if err != nil {
		return nil, err
	}
	return kept.Arrange(entries, all), nil
}

// ListProject lists what stands in the newest hundred conversations of a project, the newest
// conversation first.
func (k Kept) ListProject(ctx context.Context, name string) ([]scrollback.Kept, error) {
	if _, err := k.v.door.limitProjects(name, nil); err != nil {
		return nil, err
	}
	conversations, _, err := k.v.List(ctx, scrollback.ListQuery{Project: name, Limit: keptConversations})
	if err != nil {
		return nil, err
	}
	out := []scrollback.Kept{}
	for _, c := range conversations {
		some, err := k.List(ctx, c.ID, false)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// Keep keeps a sentence of a message: text must stand in it. Without a kind, that follows from what it says.
func (k Kept) Keep(ctx context.Context, id scrollback.ConversationID, seq int64, text string,
	kind scrollback.KeptKind) (scrollback.Kept, error) {
	const op = "engine.Keep"
	switch kind {
	case "", scrollback.KeptTodo, scrollback.KeptTrait, scrollback.KeptInstruction:
	default:
		return scrollback.Kept{}, scrollback.ParamErrorf(op, "kind", i18n.KeptKindIsOneOf)
	}
	h, err := k.v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return scrollback.Kept{}, err
	}
	if seq < 1 || seq > h.Branch.HeadSeq {
		return scrollback.Kept{}, scrollback.Errorf(scrollback.NotFound, op, i18n.KeptMessageNotThere, seq, h.Branch.HeadSeq)
	}
	m, err := k.v.e.store.ReadMessageAt(ctx, h.Branch, seq)
	if err != nil {
		return scrollback.Kept{}, err
	}
	return k.v.e.store.Kept.Add(ctx, h, &m, cmp.Or(kind, kept.GuessKind(text)), text, k.v.door.caller.Key)
}

// SetState says that a to-do is done, that a sentence stands again (open), or that it is no longer to be
// carried (dropped). It holds for a sentence wherever it was said. The beginning of an id is enough, if no other
// begins like it.
func (k Kept) SetState(ctx context.Context, id scrollback.ConversationID, which scrollback.KeptID,
	state scrollback.KeptState) (scrollback.Kept, error) {
	const op = "engine.SetKept"
	h, err := k.v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return scrollback.Kept{}, err
	}
	entries, err := k.v.e.store.Kept.List(ctx, h, h.Branch, h.Branch.HeadSeq)
	if err != nil {
		return scrollback.Kept{}, err
	}
	i, err := findKept(entries, which)
	switch {
	case err != nil:
		return scrollback.Kept{}, err
	case state == scrollback.KeptDone && entries[i].Kind != scrollback.KeptTodo:
		return scrollback.Kept{}, scrollback.ParamErrorf(op, "state", i18n.OnlyTodosAreDone)
	case state != scrollback.KeptDone && state != scrollback.KeptOpen && state != scrollback.KeptDropped:
		return scrollback.Kept{}, scrollback.ParamErrorf(op, "state", i18n.KeptStateIsOneOf)
	case entries[i].State == state:
		return entries[i], nil
	}
	return k.v.e.store.Kept.Change(ctx, h, entries[i], state, k.v.door.caller.Key)
}

// findKept returns the index of the entry that an id, or the beginning of one, names.
func findKept(entries []scrollback.Kept, which scrollback.KeptID) (int, error) {
	const op = "engine.SetKept"
	found := -1
	for i, e := range entries {
		switch {
		case e.ID == which:
			return i, nil
		case which == "" || !strings.HasPrefix(string(e.ID), string(which)):
		case found >= 0:
			return 0, scrollback.ParamErrorf(op, "kept_id", i18n.KeptIDIsAmbiguous, which)
		default:
			found = i
		}
	}
	if found < 0 {
		return 0, scrollback.Errorf(scrollback.NotFound, op, i18n.NothingKeptUnderID, which)
	}
	return found, nil
}
