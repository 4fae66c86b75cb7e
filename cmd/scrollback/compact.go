package main

import (
	"io"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/terminal"
)

type compactCmd struct {
	oneConversation
	Policy string             `help:"how" placeholder:"P"`
	Set    map[string]float64 `help:"number-policy-compaction-only" placeholder:"NAME=NUMBER"`
	Force  bool               `help:"compact-now-even-where-policy-would-not"`
}

// Run implements the command.
func (c *compactCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		defer a.waitFinished(g.ctx)
		return g.printReceipt(a.Compact(g.ctx, id, engine.CompactRequest{Overrides: engine.Overrides{Policy: c.Policy,
			Compaction: c.Set}, Force: c.Force}))
	})
}

type uncompactCmd struct {
	oneConversation
	Segment string `arg:"" optional:"" help:"undo-every-compaction-back-one-made-segment"`
}

// Run implements the command.
func (c *uncompactCmd) Run(g *globals) error {
	segment := scrollback.SegmentID(strings.TrimPrefix(c.Segment, scrollback.RefHistory+":"))
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		return g.printReceipt(a.Uncompact(g.ctx, id, segment))
	})
}

type clearCmd struct{ oneConversation }

// Run implements the command.
func (c *clearCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		defer a.waitFinished(g.ctx)
		return g.printReceipt(a.Compact(g.ctx, id, engine.CompactRequest{Clear: true}))
	})
}

type pinCmd struct {
	oneConversation
	Seqs   []int64 `arg:"" optional:"" name:"seq" help:"messages-keep-sight-when-they-compacted"`
	Remove bool    `short:"r" help:"unpin-them-instead"`
}

// Run implements the command.
func (c *pinCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		if len(c.Seqs) > 0 || c.Remove {
			_, err := a.Patch(g.ctx, id, 0, func(v *scrollback.Conversation) error {
				v.PinnedSeqs = c.changedPins(v.PinnedSeqs)
				return nil
			})
			if err != nil {
				return err
			}
		}
		ms, err := a.Recall().PinnedMessages(g.ctx, id)
		if err != nil {
			return err
		}
		return g.printResult(map[string]any{"messages": ms},
			func(w io.Writer) error { return terminal.WritePinned(w, localeLanguage(), ms) })
	})
}

// changedPins returns what was pinned, changed as the command says.
func (c *pinCmd) changedPins(was []int64) []int64 {
	switch {
	case !c.Remove:
		return append(slices.Clone(was), c.Seqs...)
	case len(c.Seqs) == 0:
		return []int64{}
	}
	return slices.DeleteFunc(slices.Clone(was), func(seq int64) bool { return slices.Contains(c.Seqs, seq) })
}

// printReceipt prints what a compaction did.
func (g *globals) printReceipt(r scrollback.Receipt, err error) error {
	if err != nil {
		return err
	}
	return g.printResult(r, func(w io.Writer) error { return terminal.WriteReceipt(w, g.localeTexts(), r) })
}
