package engine

import (
	"context"

	"github.com/scrollback-ai/scrollback"
)

// Point is a point of a conversation: message Seq on the path of a branch. An empty
// Branch is the current one; a nil Seq is where the branch ends, 0 is before the
// first message.
type Point struct {
	Branch scrollback.BranchID
	Seq    *int64
}

// Branches lists the branches of a conversation, oldest first.
func (e *Engine) Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.BranchEntry, error) {
	return e.store.Branches.List(ctx, id)
}

// Rewind makes a place the head of the conversation: what follows it stays on its
// branch, what is said next starts another. A place on another branch switches to
// that. While a turn is being answered it is conflict.
func (e *Engine) Rewind(ctx context.Context, id scrollback.ConversationID, to Point) (scrollback.Conversation, error) {
	const op = "engine.Rewind"
	if to.Branch == "" && to.Seq == nil {
		return scrollback.Conversation{}, scrollback.ParamErrorf(op, "seq", "say where to: a seq, a branch, or both")
	}
	_, b, err := e.store.Branches.Get(ctx, id, to.Branch)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	head, err := e.store.Branches.Rewind(ctx, id, b.ID, to.seq(b), forgetChanges)
	return head.Conversation, err
}

func (p Point) seq(b scrollback.Branch) int64 {
	if p.Seq == nil {
		return b.HeadSeq
	}
	return *p.Seq
}

// Fork makes a conversation that goes on from a place of another. It copies
// nothing: the new one reads what is before the place where it stands. An empty
// title is the parent's.
func (e *Engine) Fork(ctx context.Context, id scrollback.ConversationID, at Point, title string) (scrollback.Conversation, error) {
	head, b, err := e.store.Branches.Get(ctx, id, at.Branch)
	if err != nil {
		return scrollback.Conversation{}, err
	}
	seq := at.seq(b)
	c := scrollback.Conversation{Project: head.Project, Title: nonEmpty(title, head.Title), Model: head.Model, Instructions: head.Instructions,
		Policy: head.Policy, Limit: head.Limit, Roots: head.Roots, Settings: head.Settings, Meta: head.Meta, Environment: head.Environment}
	forgetChanges(&c)
	c.Settings.Pinned = false
	return e.store.Branches.Fork(ctx, head, b, seq, c)
}

// PurgeResult says what a purge removed, in messages and artifacts. Kept counts the
// messages that stay because forks inherit them, and Waiting the artifacts that
// were put so lately that their bytes stay a while.
type PurgeResult struct {
	ID        scrollback.ConversationID `json:"id"`
	Removed   int64                     `json:"removed"`
	Kept      int64                     `json:"kept"`
	Artifacts int                       `json:"artifacts"`
	Waiting   int                       `json:"waiting,omitempty"`
}

// Purge removes a conversation for good. What forks inherit stays, readable through
// them only. Nothing brings the rest back.
func (e *Engine) Purge(ctx context.Context, id scrollback.ConversationID) (PurgeResult, error) {
	return e.purge(ctx, id, 0)
}

func (e *Engine) purge(ctx context.Context, id scrollback.ConversationID, trashedBy int64) (PurgeResult, error) {
	out := PurgeResult{ID: id}
	_, known := e.store.Head(ctx, id)
	if known != nil && scrollback.CodeOf(known) != scrollback.NotFound {
		return out, known
	}
	purged, err := e.store.Purge(ctx, id, trashedBy) // of one unknown: a purge that was interrupted goes on
	if err == nil && known != nil && purged.Removed == 0 {
		err = known
	}
	if err != nil {
		return out, err
	}
	out.Removed, out.Kept = purged.Removed, purged.Kept
	if err := e.archive.Forget(id); err != nil {
		return out, err
	}
	for _, art := range purged.Loose {
		gone, err := e.archive.DeleteArtifact(ctx, art)
		switch {
		case err != nil:
			return out, err
		case gone:
			out.Artifacts++
		default:
			out.Waiting++
		}
	}
	return out, nil
}

// PurgeTrash purges what has been in the trash for longer than age, in ms, and
// answers how many conversations that were. One that somebody takes out meanwhile,
// or in which a turn still runs, stays.
func (e *Engine) PurgeTrash(ctx context.Context, age int64) (int, error) {
	purged, trashedBy := 0, e.store.Now()-age
	q := ListQuery{Trash: true, Limit: scrollback.ListMax}
	for {
		page, next, err := e.store.List(ctx, q)
		if err != nil {
			return purged, err
		}
		for _, c := range page {
			if c.DeletedAt > trashedBy {
				continue
			}
			_, err := e.purge(ctx, c.ID, trashedBy)
			switch scrollback.CodeOf(err) {
			case "":
				purged++
			case scrollback.NotFound, scrollback.Conflict:
			default:
				return purged, err
			}
		}
		if next == "" {
			return purged, nil
		}
		q.Cursor = next
	}
}
