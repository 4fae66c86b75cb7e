package store

import (
	"context"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// BranchBy is a branch of any conversation, seen or hidden; not_found if unknown.
func (s *Store) BranchBy(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	return s.d.Branch(ctx, id)
}

// AllBranches are the branches of a conversation, empty ones too, by id.
func (s *Store) AllBranches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	return s.d.Branches(ctx, id)
}

// Own walks the refs of a kind that one conversation mentions, and none of its
// ancestors; newest first.
func (s *Store) Own(ctx context.Context, id scrollback.ConversationID, kind string) iter.Seq2[scrollback.RefEntry, error] {
	q := driver.RefQuery{Conversations: []scrollback.ConversationID{id}, Kind: kind, Limit: scrollback.ListMax}
	return pages(func() ([]scrollback.RefEntry, bool, error) {
		page, err := s.d.Refs(ctx, q)
		if n := len(page); n > 0 {
			q.Before = &driver.ListKey{At: page[n-1].CreatedAt, ID: string(page[n-1].Ref)}
		}
		return page, len(page) == q.Limit, err
	})
}

// Folds walks what was folded in a conversation, oldest first.
func (s *Store) Folds(ctx context.Context, id scrollback.ConversationID) iter.Seq2[scrollback.Fold, error] {
	skip := 0
	return pages(func() ([]scrollback.Fold, bool, error) {
		page, err := s.d.Folds(ctx, id, skip, scrollback.ListMax)
		skip += len(page)
		return page, len(page) == scrollback.ListMax, err
	})
}

// pages walks pages until there is no more.
func pages[T any](next func() (page []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for more := true; more; {
			page, again, err := next()
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
			more = again
		}
	}
}

// Growth is what a branch grows by: messages with ids and times of their own, behind
// IfHead. What they weigh and are found by is the store's to say.
type Growth struct {
	scrollback.Branch
	IfHead   int64
	Messages []Incoming
}

// Adopt brings a batch of a history that was made elsewhere; see [driver.Adopt].
func (s *Store) Adopt(ctx context.Context, a driver.Adopt, grow ...Growth) error {
	if err := s.complete("store.Adopt", &a.Conversation); err != nil {
		return err
	}
	for _, g := range grow {
		a.Branches = append(a.Branches, driver.AdoptBranch{Branch: g.Branch, IfHead: g.IfHead, Entries: s.entries(g.Messages, "")})
	}
	a.Now, a.Salvage = s.Now(), s.salvage
	return s.d.Adopt(ctx, a)
}

// Admits says what is wrong with a conversation's own fields.
func (s *Store) Admits(c scrollback.Conversation) error { return s.complete("store.Adopt", &c) }
