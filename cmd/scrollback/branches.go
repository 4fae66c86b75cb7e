package main

import (
	"cmp"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/title"
)

// place is a point in a conversation.
type place struct {
	Seq    *int64 `arg:"" optional:"" help:"seq-message"`
	Branch string `help:"branch" placeholder:"ID"`
}

func (p place) toPoint() engine.Point {
	return engine.Point{Branch: scrollback.BranchID(p.Branch), Seq: p.Seq}
}

type forkCmd struct {
	oneConversation
	place
	Title string `help:"title-fork" placeholder:"TITLE"`
}

// Run implements the command.
func (c *forkCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		from, err := a.Get(g.ctx, id)
		if err != nil {
			return err
		}
		name := cmp.Or(c.Title, title.CopyTitle(g.localeTexts().Say(i18n.ChatCopyOf), from.Title))
		return g.printConversation(a.Branches().Fork(g.ctx, id, c.toPoint(), name))
	})
}

type rewindCmd struct {
	oneConversation
	place
}

// Run implements the command.
func (c *rewindCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		return g.printConversation(a.Branches().Rewind(g.ctx, id, c.toPoint()))
	})
}

type branchesCmd struct{ oneConversation }

// Run implements the command.
func (c *branchesCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		bs, err := a.Branches().List(g.ctx, id)
		if err != nil {
			return err
		}
		return g.printResult(map[string]any{"branches": bs}, func(w io.Writer) error {
			return terminal.WriteBranches(w, g.localeTexts(), bs, g.zone)
		})
	})
}
