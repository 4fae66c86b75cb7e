// Package naming asks a model for the title of a conversation, once on all servers.
//
// Invariants: while one server asks, the others leave it; a model that was asked is not asked
// again, whatever it said, unless its server died before that was stored; what it cost is
// entered.
//
// It may not know turns or callers.
package naming

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/setting"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/title"
)

const (
	// most is how many messages, from the first, are looked at for the question and its answer.
	most = 12
	// bookTime is for entering what was spent, also when the asking was broken off.
	bookTime = 5 * time.Second
)

// Namer asks for titles.
type Namer struct {
	Store    *store.Store
	Resolver *setting.Resolver
	Model    string // asked in place of the one that answered; empty for that one
	// Open reads a conversation whose title is asked for, as it is now.
	Open func(context.Context, scrollback.ConversationID) (store.Head, error)
	// Afford returns why no model may be asked for a key in a project; nil if it may be.
	Afford func(ctx context.Context, key scrollback.KeyID, project string) error
	Watch  *watch.Watch // nil watches nothing
}

// Ask asks a model for a title, unless somebody else has or does, and stores what it gives
// and costs. If this process dies meanwhile, one is asked for after another answer.
func (n *Namer) Ask(ctx context.Context, head store.Head, sh setting.Resolved) error {
	if err := n.Afford(ctx, sh.Over.Key, head.Project); err != nil {
		return err
	}
	if n.Model != "" {
		var err error
		if sh, err = n.Resolver.Resolve(ctx, head.Conversation,
			setting.Overrides{Model: n.Model, Key: sh.Over.Key}); err != nil {
			return err
		}
		if sh.Facts.NoSummaries {
			return nil
		}
	}
	if sh.Facts.Unready != nil { // it may be asked after a later answer
		return sh.Facts.Unready
	}
	ms, err := n.Store.Messages(ctx, head.Branch.ID, 1, min(head.Branch.HeadSeq, most))
	if err != nil {
		return err
	}
	ms = slices.DeleteFunc(ms, func(m scrollback.Message) bool { return head.Branch.View.LeavesOut(m.Seq) })
	if !slices.ContainsFunc(ms, func(m scrollback.Message) bool { return m.Role == scrollback.RoleUser }) {
		return nil // what was asked first is left out
	}
	claim, err := n.Store.Claims.Take(ctx, head.ID, "title")
	if err != nil || claim == nil {
		return err
	}
	defer claim.Release()
	now, err := n.Open(ctx, head.ID)
	if err != nil || now.TitleBy != scrollback.TitlePrompt {
		return err
	}
	r := title.Request(ms, sh.Facts.Dialect)
	r.MaxOutputTokens = min(r.MaxOutputTokens, sh.ModelBudget.Reserve)
	r.Limit = sh.ModelBudget.Limit
	if sh.Thinking.Off() {
		r.Thinking = sh.Thinking
	}
	made, err := title.Ask(n.Watch.In(ctx), watch.Model(sh.Model), r)
	given := store.Entitle{Conversation: head.ID, From: scrollback.TitlePrompt, To: scrollback.TitleAsked,
		Usage: n.cost(head.ID, sh, made)}
	if name, ok := title.Judge(made.Answer); ok && err == nil {
		given.Title = name
		given.To = scrollback.TitleModel
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookTime)
	defer cancel()
	_, bookErr := n.Store.Entitle(ctx, given)
	return cmp.Or(err, bookErr)
}

// cost is what a call for a title cost, as the books keep it; nothing if it came to nothing.
func (n *Namer) cost(id scrollback.ConversationID, sh setting.Resolved, made title.Call) []scrollback.UsageRecord {
	u := made.Usage
	if u.InputTokens == 0 && u.OutputTokens == 0 {
		if made.Answer == "" {
			return nil
		}
		u.InputTokens = sh.ModelTokens(n.Store.Weigh(made.Sent, nil).Tokens)
		u.Estimated = true
		u.OutputTokens = sh.ModelTokens(n.Store.Weigh(scrollback.Say(made.Answer), nil).Tokens)
		u.TotalTokens = u.InputTokens + u.OutputTokens
	}
	return []scrollback.UsageRecord{{Usage: n.Resolver.Priced(sh.Facts.Name, u), Conversation: id, Key: sh.Over.Key,
		Model:   sh.Facts.Name,
		Purpose: "title", RequestID: made.RequestID, At: n.Store.Now()}}
}
