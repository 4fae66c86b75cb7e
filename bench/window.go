//go:build linux

package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
)

// measureWindow measures what a request reads and lays out, for a short and for a long
// conversation whose past is folded behind eight placeholders.
func (b *bench) measureWindow() error {
	for _, n := range []int{1000, b.big} {
		s, err := b.openLoaded(n)
		if err != nil {
			return err
		}
		err = b.windowAt(s, formatCount(n))
		if err = errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) windowAt(s *store.Store, at string) error {
	if _, err := appendTurns(b.ctx, s, conversation, newWriter(7), 5); err != nil { // so that there is a last turn
		return err
	}
	if err := b.foldAllBut(s, 20); err != nil {
		return err
	}
	bucket := blob.NewMemory()
	defer func() { _ = bucket.Close() }() // in memory
	// less the reserve: 8,000 tokens
	eng := engine.New(s, archive.New(s, bucket, nil), engine.Options{Limit: 10_048, Model: "offline",
		Models: func(string) (model.Model, error) { return offline.New(nil), nil }})
	e := eng.As(scrollback.Operator())
	defer func() { _ = eng.Close(b.ctx) }() // it runs nothing
	const times = 200
	for r := range rounds {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var took []time.Duration
		for range times {
			start := time.Now()
			m, err := e.Context(b.ctx, conversation)
			if err != nil {
				return err
			}
			took = append(took, time.Since(start))
			if m.Tokens < 4000 || m.Tokens > m.Budget {
				return fmt.Errorf("the window weighs %d tokens of %d: not what was to be measured", m.Tokens, m.Budget)
			}
		}
		runtime.ReadMemStats(&after)
		b.addNumber("window at "+at, r, percentileMS(took, 0.5), "ms")
		b.addNumber("allocations at "+at, r, float64(after.Mallocs-before.Mallocs)/times, "")
	}
	return nil
}

// foldAllBut gives the conversation the view that folding everything but its
// newest messages leaves, without rendering a million of them.
func (b *bench) foldAllBut(s *store.Store, newest int64) error {
	head, err := s.ReadHead(b.ctx, conversation)
	if err != nil || head.Branch.HeadSeq-head.Branch.View.Boundary == newest {
		return err
	}
	boundary := head.Branch.HeadSeq - newest
	last, err := s.ReadMessageAt(b.ctx, head.Branch, boundary)
	if err != nil {
		return err
	}
	c := store.FoldCommit{Conversation: head.ID, Branch: head.Branch.ID, IfViewVersion: head.Branch.ViewVersion,
		Now:     s.Now(),
		View:    scrollback.View{Boundary: boundary, Sum: last.Sum},
		Receipt: scrollback.Receipt{Result: scrollback.ResultCompacted}}
	for i := range int64(8) {
		g := scrollback.Segment{ID: scrollback.SegmentID(s.NewID()), Conversation: head.ID, Branch: head.Branch.ID,
			FirstSeq: 1 + i*boundary/8, LastSeq: (i + 1) * boundary / 8,
			Placeholder: newWriter(uint64(i)).makeText(400), TokensAfter: 100, SummaryBy: scrollback.SummaryExtractive}
		c.Segments = append(c.Segments, g)
		c.View.Segments = append(c.View.Segments, scrollback.ViewItem{ID: g.ID, FirstSeq: g.FirstSeq, LastSeq: g.LastSeq})
	}
	return s.Views.CommitFold(b.ctx, c)
}
