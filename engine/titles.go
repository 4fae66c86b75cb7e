package engine

import (
	"context"
	"time"

	"github.com/scrollback-ai/scrollback"
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

const titleTime = 20 * time.Second // for a model to give a title

// Entitle gives a conversation that is to be created the title of its first prompt, where
// it may have one. Turns and histories do so by themselves.
func (e *Engine) Entitle(c *scrollback.Conversation, prompt scrollback.Parts) {
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
		if err := e.namer.Ask(ctx, head, lt.resolved); err != nil && e.base.Err() == nil {
			e.o.Log.Warn("a conversation keeps the title of its first prompt", "conversation", head.ID, "error", err)
		}
	}()
}
