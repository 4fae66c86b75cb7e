package main

import (
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/terminal"
)

type compactCmd struct {
	one
	Policy string `help:"How: auto or segments." placeholder:"P"`
	Force  bool   `help:"Fold now, even where the policy would not yet."`
}

// Run implements the command.
func (c *compactCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		return g.receipt(a.Compact(g.ctx, id, c.Policy, c.Force))
	})
}

type uncompactCmd struct {
	one
	Segment string `arg:"" optional:"" help:"Undo every fold back to the one that holds this segment (a history ref will do)."`
}

// Run implements the command.
func (c *uncompactCmd) Run(g *globals) error {
	segment := scrollback.SegmentID(strings.TrimPrefix(c.Segment, scrollback.RefHistory+":"))
	return c.with(g, func(a *app, id scrollback.ConversationID) error { return g.receipt(a.Uncompact(g.ctx, id, segment)) })
}

type clearCmd struct{ one }

// Run implements the command.
func (c *clearCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error { return g.receipt(a.Clear(g.ctx, id)) })
}

// receipt prints what a fold did.
func (g *globals) receipt(r scrollback.Receipt, err error) error {
	if err != nil {
		return err
	}
	return g.print(r, func(w io.Writer) error { return terminal.Receipt(w, r) })
}
