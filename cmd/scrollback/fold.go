package main

import (
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback"
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

type uncompactCmd struct{ one }

// Run implements the command.
func (c *uncompactCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error { return g.receipt(a.Uncompact(g.ctx, id)) })
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
	return g.print(r, func(w io.Writer) error {
		if r.Result != scrollback.FoldCompacted {
			_, err := fmt.Fprintf(w, "%s: nothing changed\n", r.Result)
			return err
		}
		fmt.Fprintf(w, "#%d–#%d: %s → %s tokens\n", r.FirstSeq, r.LastSeq, thousands(r.TokensBefore), thousands(r.TokensAfter))
		for _, ref := range r.Refs {
			fmt.Fprintln(w, ref)
		}
		return nil
	})
}
