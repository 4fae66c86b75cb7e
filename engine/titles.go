package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/setting"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/title"
)

// Titles says where the titles of conversations come from that nobody gives one.
type Titles string

// The ways to a title.
const (
	TitlesPrompt Titles = "prompt" // the beginning of the first prompt; the default
	TitlesModel  Titles = "model"  // the same, until a model has given one after the first answer
	TitlesOff    Titles = "off"    // they have none
)

const (
	titleTime = 20 * time.Second // for a model to give a title
	// titleMessages is how many messages, from the first, are looked at for the question
	// and its answer.
	titleMessages = 12
)

// Entitle gives a conversation that is to be created the title of its first prompt, where
// it may have one. Turns and histories do so by themselves.
func (e *Engine) Entitle(c *scrollback.Conversation, prompt scrollback.Parts) {
	switch e.o.Titles {
	case TitlesOff:
	case TitlesModel:
		c.Title, c.TitleBy = title.FromPrompt(prompt), scrollback.TitlePrompt
	default:
		c.Title = title.FromPrompt(prompt)
	}
}

// askTitle has a model asked for a title once the conversation is answered, if none has
// been. Only Close waits for it, after breaking it off.
func (lt *liveTurn) askTitle(last scrollback.DoneEvent) {
	e, head := lt.e, lt.head // nobody writes to it any more
	if e.o.Titles != TitlesModel || e.o.NoTitleCalls || last.Status != scrollback.TurnComplete || head.TitleBy != scrollback.TitlePrompt ||
		lt.resolved.Facts.NoSummaries {
		return
	}
	leave, err := e.join(&e.aside)
	if err != nil {
		return
	}
	go func() {
		defer leave()
		ctx, cancel := context.WithTimeout(e.base, titleTime)
		defer cancel()
		if err := e.title(ctx, head, lt.resolved); err != nil && e.base.Err() == nil {
			e.o.Log.Warn("a conversation keeps the title of its first prompt", "conversation", head.ID, "error", err)
		}
	}()
}

// title asks a model for a title, unless somebody else has, and stores what it gives and
// costs. If this process dies meanwhile, nobody asks again.
func (e *Engine) title(ctx context.Context, head store.Head, sh setting.Resolved) error {
	if e.o.TitleModel != "" {
		var err error
		if sh, err = e.resolver.Resolve(ctx, head.Conversation, Overrides{Model: e.o.TitleModel, Key: sh.Over.Key}); err != nil {
			return err
		}
		if sh.Facts.NoSummaries {
			return nil
		}
	}
	ms, err := e.store.Messages(ctx, head.Branch.ID, 1, min(head.Branch.HeadSeq, titleMessages))
	if err != nil {
		return err
	}
	claim := store.Entitle{Conversation: head.ID, From: scrollback.TitlePrompt, To: scrollback.TitleAsked}
	if won, err := e.store.Entitle(ctx, claim); err != nil || !won {
		return err
	}
	r := title.Request(ms, sh.Facts.Dialect)
	r.MaxOutputTokens, r.Limit = min(r.MaxOutputTokens, sh.ModelBudget.Reserve), sh.ModelBudget.Limit
	if sh.Thinking.Off() {
		r.Thinking = sh.Thinking
	}
	made, err := title.Ask(ctx, sh.Model, r)
	given := store.Entitle{Conversation: head.ID, From: scrollback.TitleAsked, To: scrollback.TitleAsked, Usage: e.titleCost(head.ID, sh, made)}
	if name, ok := title.Judge(made.Answer); ok && err == nil {
		given.Title, given.To = name, scrollback.TitleModel
	}
	if given.Title == "" && len(given.Usage) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // what was spent is entered
	defer cancel()
	_, bookErr := e.store.Entitle(ctx, given)
	return cmp.Or(err, bookErr)
}

// titleCost is what a call for a title cost, as the books keep it; nothing if it came to
// nothing.
func (e *Engine) titleCost(id scrollback.ConversationID, sh setting.Resolved, made title.Call) []scrollback.UsageRecord {
	u := made.Usage
	if u.InputTokens == 0 && u.OutputTokens == 0 {
		if made.Answer == "" {
			return nil
		}
		u.InputTokens, u.Estimated = sh.ModelTokens(e.store.Weigh(made.Sent, nil).Tokens), true
		u.OutputTokens = sh.ModelTokens(e.store.Weigh(scrollback.Say(made.Answer), nil).Tokens)
		u.TotalTokens = u.InputTokens + u.OutputTokens
	}
	return []scrollback.UsageRecord{{Usage: e.resolver.Priced(sh.Facts.Name, u), Conversation: id, Key: sh.Over.Key, Model: sh.Facts.Name,
		Purpose: "title", RequestID: made.RequestID, At: e.store.Now()}}
}
