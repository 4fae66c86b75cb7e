package main

import (
	"cmp"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/title"
)

// place is a point in a conversation.
type place struct {
	Seq    *int64 `arg:"" optional:"" help:"Seq of the message; 0 is before the first. Default: the end of the branch."`
	Branch string `help:"Branch. Default: the current one." placeholder:"ID"`
}

func (p place) of() engine.Point {
	return engine.Point{Branch: scrollback.BranchID(p.Branch), Seq: p.Seq}
}

type forkCmd struct {
	one
	place
	Title string `help:"Title of the fork. Default: copy of the parent's." placeholder:"TITLE"`
}

// Run implements the command.
func (c *forkCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		from, err := a.Get(g.ctx, id)
		if err != nil {
			return err
		}
		return g.changed(a.Branches().Fork(g.ctx, id, c.of(), cmp.Or(c.Title, title.Copy(g.texts().CopyOf, from.Title))))
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
		return g.print(map[string]any{"branches": bs}, func(w io.Writer) error { return terminal.Branches(w, bs, g.zone) })
	})
}
