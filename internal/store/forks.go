package store

import (
	"context"
	"iter"

	"github.com/scrollback-ai/scrollback"
)

// Forks are the branches of a conversation by where they leave each other's paths, as they
// were when they were read. A writer meanwhile puts what has changed.
type Forks struct {
	p       Branches
	all     map[scrollback.BranchID]scrollback.Branch
	leaving map[fork][]scrollback.BranchID
	heirs   []scrollback.BranchID // those that leave a branch of another conversation
}

// fork is a message that branches follow, by the branch that owns it.
type fork struct {
	owner scrollback.BranchID
	seq   int64
}

// ReadForks reads the branches of a conversation.
func (p Branches) ReadForks(ctx context.Context, id scrollback.ConversationID) (*Forks, error) {
	all, err := p.s.d.Log.ListBranches(ctx, id)
	f := &Forks{p: p, all: map[scrollback.BranchID]scrollback.Branch{}, leaving: map[fork][]scrollback.BranchID{}}
	for _, b := range all {
		f.all[b.ID] = b
	}
	for _, b := range all {
		f.linkBranch(b)
	}
	return f, err
}

// Put takes a branch as it is now.
func (f *Forks) Put(b scrollback.Branch) {
	_, known := f.all[b.ID]
	if f.all[b.ID] = b; !known {
		f.linkBranch(b)
	}
}

func (f *Forks) linkBranch(b scrollback.Branch) {
	at := fork{b.Parent, b.AtSeq}
	f.leaving[at] = append(f.leaving[at], b.ID)
	if _, own := f.all[b.Parent]; !own && b.AtSeq > 0 {
		f.heirs = append(f.heirs, b.ID)
	}
}

// WalkContinuations yields the other branches that continue after message seq of a branch's
// path: the one that owns the message, those that leave it there, and, of a fork, those that
// inherit it and more.
func (f *Forks) WalkContinuations(ctx context.Context, b scrollback.Branch,
	seq int64) iter.Seq2[scrollback.Branch, error] {
	return func(yield func(scrollback.Branch, error) bool) {
		at := fork{seq: seq}
		if seq > 0 {
			m, err := f.p.s.ReadMessageAt(ctx, b, seq)
			if err != nil {
				yield(b, err)
				return
			}
			at.owner = m.Branch
		}
		goes := func(id scrollback.BranchID) bool { // to the next one
			o, own := f.all[id]
			return !own || o.ID == b.ID || o.HeadSeq <= seq || yield(o, nil)
		}
		if !goes(at.owner) {
			return
		}
		for _, id := range f.leaving[at] {
			if !goes(id) {
				return
			}
		}
		for _, id := range f.heirs {
			if f.all[id].AtSeq <= seq {
				continue // it leaves there, or before
			}
			passes, err := f.p.pathHas(ctx, f.all[id], seq, at.owner)
			if err != nil {
				yield(b, err)
				return
			}
			if passes && !goes(id) {
				return
			}
		}
	}
}

// pathHas reports whether a branch's path has a message that a branch owns, or begins where
// that has none.
func (p Branches) pathHas(ctx context.Context, b scrollback.Branch, seq int64, owner scrollback.BranchID) (bool,
	error) {
	if seq == 0 {
		return true, nil
	}
	m, err := p.s.ReadMessageAt(ctx, b, seq)
	return m.Branch == owner, err
}
