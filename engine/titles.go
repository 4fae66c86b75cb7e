package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/title"
)

// Titles selects where conversations without a given title get one.
type Titles string

// The ways to a title.
const (
	TitlesPrompt Titles = "prompt" // the beginning of the first prompt; the default
	TitlesModel  Titles = "model"  // the same, until a model has given one after the first answer
	TitlesOff    Titles = "off"    // they have none
)

const (
	titleTime     = 20 * time.Second // for a model to give a title
	titleMessages = 12               // from the first, among which the question and its answer are looked for
	titleBookTime = 5 * time.Second  // for entering what was spent, also when the asking was broken off
)

// SetTitle gives a conversation that is to be created the title of its first prompt, where
// it may have one. Turns and histories do so by themselves.
func (e *Engine) SetTitle(c *scrollback.Conversation, prompt scrollback.Parts) {
	switch e.o.Titles {
	case TitlesOff:
	case TitlesModel:
		c.Title = title.FromPrompt(prompt)
		c.TitleBy = scrollback.TitlePrompt
	default:
		c.Title = title.FromPrompt(prompt)
	}
}

// askTitle has a model asked for a title once the conversation is answered, if none has
// been. Only Close waits for it, after breaking it off.
func (lt *liveTurn) askTitle(last scrollback.DoneEvent) {
	// nobody writes to it any more
	e := lt.e
	head := lt.head
	if e.o.Titles != TitlesModel || e.o.NoTitleCalls || last.Status != scrollback.TurnComplete ||
		head.TitleBy != scrollback.TitlePrompt ||
		lt.settings.Facts.NoSummaries {
		return
	}
	leave, err := e.enterGroup(&e.aside)
	if err != nil {
		return
	}
	go func() {
		defer leave()
		ctx, cancel := context.WithTimeout(e.base, titleTime)
		defer cancel()
		if err := e.askForTitle(ctx, head, lt.settings); err != nil && e.base.Err() == nil {
			e.o.Log.Warn("a conversation keeps the title of its first prompt", "conversation", head.ID, "error", err)
		}
	}()
}

// askForTitle asks a model for the title of a conversation, unless another server has or does, and
// stores what it gives and costs. A model that was asked is not asked again, whatever it answered;
// if this process dies before that is stored, one is asked after another answer.
func (e *Engine) askForTitle(ctx context.Context, head store.Head, settings request.Settings) error {
	if err := e.gate.checkBudget(ctx, settings.Overrides.Key, head.Project); err != nil {
		return err
	}
	if e.o.TitleModel != "" {
		var err error
		if settings, err = e.resolver.Resolve(ctx, head.Conversation,
			Overrides{Model: e.o.TitleModel, Key: settings.Overrides.Key}); err != nil {
			return err
		}
		if settings.Facts.NoSummaries {
			return nil
		}
	}
	if settings.Facts.Unready != nil { // it may be asked after a later answer
		return settings.Facts.Unready
	}
	ms, err := e.store.ReadMessages(ctx, head.Branch.ID, 1, min(head.Branch.HeadSeq, titleMessages))
	if err != nil {
		return err
	}
	ms = slices.DeleteFunc(ms, func(m scrollback.Message) bool { return head.Branch.View.LeavesOut(m.Seq) })
	if !slices.ContainsFunc(ms, func(m scrollback.Message) bool { return m.Role == scrollback.RoleUser }) {
		return nil // what was asked first is left out
	}
	claim, err := e.store.Claims.ClaimWork(ctx, head.ID, "title")
	if err != nil || claim == nil {
		return err
	}
	defer claim.Release()
	now, err := e.As(scrollback.Operator()).door.openHead(ctx, head.ID, scrollback.AccessWrite)
	if err != nil || now.TitleBy != scrollback.TitlePrompt {
		return err
	}
	r := title.NewRequest(ms, settings.Facts.Dialect)
	r.MaxOutputTokens = min(r.MaxOutputTokens, settings.ModelBudget.Reserve)
	r.Limit = settings.ModelBudget.Limit
	if settings.Thinking.IsOff() {
		r.Thinking = settings.Thinking
	}
	made, err := title.AskModel(e.o.Watch.WithWatch(ctx), watch.WrapModel(settings.Model), r)
	given := store.TitleChange{Conversation: head.ID, From: scrollback.TitlePrompt, To: scrollback.TitleAsked,
		Usage: e.priceTitle(head.ID, settings, made)}
	if name, ok := title.ParseAnswer(made.Answer); ok && err == nil {
		given.Title = name
		given.To = scrollback.TitleModel
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), titleBookTime)
	defer cancel()
	_, bookErr := e.store.ChangeTitle(ctx, given)
	return cmp.Or(err, bookErr)
}

// priceTitle returns what a call for a title cost, as the books keep it; nothing if it came to
// nothing.
func (e *Engine) priceTitle(
	id scrollback.ConversationID,
	settings request.Settings,
	made title.Call,
) []scrollback.UsageRecord {
	u := made.Usage
	if u.InputTokens == 0 && u.OutputTokens == 0 {
		if made.Answer == "" {
			return nil
		}
		u.InputTokens = settings.ModelTokens(e.store.WeighParts(made.Sent, nil).Tokens)
		u.Estimated = true
		u.OutputTokens = settings.ModelTokens(e.store.WeighParts(scrollback.Say(made.Answer), nil).Tokens)
		u.TotalTokens = u.InputTokens + u.OutputTokens
	}
	return []scrollback.UsageRecord{
		{Usage: e.resolver.AddPrice(settings.Facts.Name, u), Conversation: id, Key: settings.Overrides.Key,
			Model:   settings.Facts.Name,
			Purpose: "title", RequestID: made.RequestID, At: e.store.Now()},
	}
}
