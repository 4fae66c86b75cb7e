package engine

import (
	"cmp"
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/title"
)

// Point is a point in a conversation: message Seq on the path of a branch. An empty
// Branch is the current one; a nil Seq is where the branch ends, 0 is before the
// first message.
type Point struct {
	Branch scrollback.BranchID
	Seq    *int64
}

// Branches are the branches of conversations as one caller sees them.
type Branches struct{ v *View }

// Branches lists branches, and continues from any point of them.
func (v *View) Branches() Branches { return Branches{v} }

// List returns the branches of a conversation, oldest first. One that goes on from the end of another, where there is
// no choice, is one with it.
func (b Branches) List(ctx context.Context, id scrollback.ConversationID) ([]scrollback.BranchEntry, error) {
	if err := b.v.door.checkAccess(ctx, id, scrollback.AccessRead); err != nil {
		return nil, err
	}
	all, err := b.v.e.store.Branches.List(ctx, id)
	return joinContinued(all), err
}

// joinContinued makes one entry of branches that go on from each other's ends, unless that end is the head of the
// conversation or others go on from it too.
func joinContinued(all []scrollback.BranchEntry) []scrollback.BranchEntry {
	type end struct {
		of  scrollback.BranchID
		seq int64
	}
	places := map[scrollback.BranchID]int{}
	going := map[end]int{} // how many branches go on from there
	for i, b := range all {
		places[b.ID] = i
		going[end{b.Parent, b.AtSeq}]++
	}
	shown := map[scrollback.BranchID]scrollback.BranchID{} // as which others are shown that go on
	before := map[scrollback.BranchID]int{}
	for _, b := range all {
		i, ok := places[b.Parent]
		if p := b.Parent; ok && b.Messages > 0 && b.AtSeq == all[i].HeadSeq && all[i].Messages > 0 &&
			!all[i].Current && going[end{p, b.AtSeq}] == 1 {
			shown[p] = b.ID
			before[b.ID] = i
		}
	}
	if len(shown) == 0 {
		return all
	}
	out := make([]scrollback.BranchEntry, 0, len(all)-len(shown))
	last := map[scrollback.BranchID]scrollback.BranchID{}
	for _, b := range all {
		if shown[b.ID] != "" {
			continue
		}
		for i, ok := before[b.ID]; ok; i, ok = before[all[i].ID] {
			was := all[i]
			b.Joined = append(b.Joined, was.ID)
			b.Parent = was.Parent
			b.AtSeq = was.AtSeq
			b.Messages += was.Messages
			last[was.ID] = b.ID
		}
		out = append(out, b)
	}
	for i, b := range out {
		out[i].Parent = cmp.Or(last[b.Parent], b.Parent)
	}
	return out
}

// Rewind makes a point the head of the conversation: what follows it stays on its
// branch, and what is said next starts another. A point on another branch switches to
// that branch. It is conflict while a turn is being answered.
func (b Branches) Rewind(ctx context.Context, id scrollback.ConversationID, to Point) (scrollback.Conversation, error) {
	const op = "engine.Rewind"
	if to.Branch == "" && to.Seq == nil {
		return scrollback.Conversation{}, scrollback.ParamErrorf(op, "seq", i18n.SayWhereTo)
	}
	head, on, err := b.openBranch(ctx, id, to.Branch)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	head, err = b.v.e.store.Branches.Rewind(ctx, head, on, to.seqOn(on), (*scrollback.Conversation).RepeatEnvironment)
	return head.Conversation, err
}

func (p Point) seqOn(b scrollback.Branch) int64 {
	if p.Seq == nil {
		return b.HeadSeq
	}
	return *p.Seq
}

// Fork makes a conversation that continues from a point in another. It copies nothing: the
// new one reads what is before that point from its parent. Its title is name, or a copy's.
func (b Branches) Fork(ctx context.Context, id scrollback.ConversationID, at Point,
	name string) (scrollback.Conversation, error) {
	head, on, err := b.openBranch(ctx, id, at.Branch)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	c := forkOf(head.Conversation)
	c.Title = cmp.Or(name, title.CopyTitle(title.CopyOf, head.Title))
	return b.v.e.store.Branches.Fork(ctx, head, on, at.seqOn(on), c)
}

// forkOf returns what a fork has of a conversation: all but what the store decides about each, and what
// one had done to that conversation alone. TestForkCarries lists what is cleared.
func forkOf(c scrollback.Conversation) scrollback.Conversation {
	c.ID = ""
	c.Version = 0
	c.Branch = ""
	c.Messages = 0
	c.CreatedAt = 0
	c.UpdatedAt = 0
	c.Parent = nil
	c.AgentOf = nil
	c.PinnedSeqs = nil
	c.DeletedAt = 0
	c.Ancestors = nil
	c.PurgedAt = 0
	c.Title = ""
	c.TitleBy = scrollback.TitleGiven
	c.Settings.Pinned = false
	c.RepeatEnvironment()
	return c
}

// openBranch returns a branch of a conversation that the caller may write to.
func (b Branches) openBranch(ctx context.Context, id scrollback.ConversationID,
	branch scrollback.BranchID) (store.Head, scrollback.Branch, error) {
	head, err := b.v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return head, head.Branch, err
	}
	on, err := b.v.e.store.Branches.Find(ctx, head, branch)
	return head, on, err
}
