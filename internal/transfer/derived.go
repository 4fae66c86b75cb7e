package transfer

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// deriveID returns the id of a message of a file that is to be added, which follows from where it stands and what it
// says; empty for one that gets any: what is added to a conversation of another source is not the same elsewhere.
func (im *importer) deriveID(ctx context.Context, c *importing, e *fileMessage) (scrollback.MessageID, error) {
	if im.q.Into != "" || im.cells {
		return "", nil
	}
	before := c.written
	if seq := c.newestSeq(); !c.fresh || before == "" {
		on := c.at
		if c.fresh {
			on = c.head.Branch
			seq = on.HeadSeq
		}
		if before = ""; seq > 0 {
			m, err := im.store.ReadMessageAt(ctx, on, seq)
			if err != nil {
				return "", err
			}
			before = m.ID
		}
	}
	return ids.Message(c.ID, before, e.id, e.said), nil
}

// branchOf returns the id of a branch that begins with a message; empty if that gets any.
func branchOf(first scrollback.MessageID) scrollback.BranchID {
	if first == "" {
		return ""
	}
	return ids.Branch(first)
}

// mayBegin reports whether a message may be the next one of the current branch of a conversation: where that has none
// yet and was begun for another, the message begins a branch of its own.
func mayBegin(head store.Head, first scrollback.MessageID) bool {
	b := head.Branch
	return first == "" || b.HeadSeq > b.AtSeq || b.ID == ids.Branch(first) || b.ID == ids.RootBranch(head.ID) ||
		!ids.IsDerived(head.ID)
}
