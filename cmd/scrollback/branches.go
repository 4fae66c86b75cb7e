package main

import (
	"cmp"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/title"
)

// place is a point in a conversation.
type place struct {
	Seq    *int64 `arg:"" optional:"" help:"seq-message"`
	Branch string `help:"branch" placeholder:"ID"`
}

func (p place) of() engine.Point {
	return engine.Point{Branch: scrollback.BranchID(p.Branch), Seq: p.Seq}
}

type forkCmd struct {
	one
	place
	Title string `help:"title-fork" placeholder:"TITLE"`
}

// Run implements the command.
func (c *forkCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		from, err := a.Get(g.ctx, id)
		if err != nil {
			return err
		}
		name := cmp.Or(c.Title, title.Copy(g.texts().Say(i18n.ChatCopyOf), from.Title))
		return g.changed(a.Branches().Fork(g.ctx, id, c.of(), name))
	})
}

type rewindCmd struct {
	one
	place
}

// Run implements the command.
func (c *rewindCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		return g.changed(a.Branches().Rewind(g.ctx, id, c.of()))
	})
}

type branchesCmd struct{ one }

// Run implements the command.
func (c *branchesCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		bs, err := a.Branches().List(g.ctx, id)
		if err != nil {
			return err
		}
		return g.print(map[string]any{"branches": bs}, func(w io.Writer) error {
			return terminal.Branches(w, g.texts(), bs, g.zone)
		})
	})
}
