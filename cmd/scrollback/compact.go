package main

import (
	"io"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/terminal"
)

type compactCmd struct {
	one
	Policy string             `help:"how" placeholder:"P"`
	Set    map[string]float64 `help:"number-policy-compaction-only" placeholder:"NAME=NUMBER"`
	Force  bool               `help:"compact-now-even-where-policy-would-not"`
}

// Run implements the command.
func (c *compactCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		defer a.finish(g.ctx)
		return g.receipt(a.Compact(g.ctx, id, engine.CompactRequest{Overrides: engine.Overrides{Policy: c.Policy,
			Compaction: c.Set}, Force: c.Force}))
	})
}

type uncompactCmd struct {
	one
	Segment string `arg:"" optional:"" help:"undo-every-compaction-back-one-made-segment"`
}

// Run implements the command.
func (c *uncompactCmd) Run(g *globals) error {
	segment := scrollback.SegmentID(strings.TrimPrefix(c.Segment, scrollback.RefHistory+":"))
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		return g.receipt(a.Uncompact(g.ctx, id, segment))
	})
}

type clearCmd struct{ one }

// Run implements the command.
func (c *clearCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		defer a.finish(g.ctx)
		return g.receipt(a.Compact(g.ctx, id, engine.CompactRequest{Clear: true}))
	})
}

type pinCmd struct {
	one
	Seqs   []int64 `arg:"" optional:"" name:"seq" help:"messages-keep-sight-when-they-compacted"`
	Remove bool    `short:"r" help:"unpin-them-instead"`
}

// Run implements the command.
func (c *pinCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		if len(c.Seqs) > 0 || c.Remove {
			_, err := a.Patch(g.ctx, id, 0, func(v *scrollback.Conversation) error {
				v.PinnedSeqs = c.pinned(v.PinnedSeqs)
				return nil
			})
			if err != nil {
				return err
			}
		}
		ms, err := a.Recall().Pinned(g.ctx, id)
		if err != nil {
			return err
		}
		return g.print(map[string]any{"messages": ms}, func(w io.Writer) error { return terminal.Pinned(w, language(), ms) })
	})
}

// pinned is what was pinned, changed as the command says.
func (c *pinCmd) pinned(was []int64) []int64 {
	switch {
	case !c.Remove:
		return append(slices.Clone(was), c.Seqs...)
	case len(c.Seqs) == 0:
		return []int64{}
	}
	return slices.DeleteFunc(slices.Clone(was), func(seq int64) bool { return slices.Contains(c.Seqs, seq) })
}

// receipt prints what a compaction did.
func (g *globals) receipt(r scrollback.Receipt, err error) error {
	if err != nil {
		return err
	}
	return g.print(r, func(w io.Writer) error { return terminal.Receipt(w, g.texts(), r) })
}
