//go:build linux

package main

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// Sizes of the figure.
const (
	policyMessages = 2000
	policyLimit    = 32_768
)

// quotingModel stands for a model that writes summaries: under each heading that it is asked
// for it quotes some of what it is given.
type quotingModel struct{ asked, calls atomic.Int64 } // tokens and times

// Facts implements model.Model.
func (*quotingModel) Facts() model.Facts { return model.Facts{Name: "quoter", Limit: policyLimit} }

// Stream implements model.Model.
func (q *quotingModel) Stream(_ context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		q.calls.Add(1)
		var headings, said []string
		for i, it := range r.Items {
			text := it.Parts.Text()
			q.asked.Add(int64(token.Count(text)))
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				switch {
				case i == 0 && strings.HasPrefix(line, "## "):
					headings = append(headings, line)
				case i > 0 && strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "##"):
					said = append(said, "- "+strings.TrimLeft(clipText(line, 200), "# "))
				}
			}
		}
		var b strings.Builder
		for i, h := range headings {
			b.WriteString(h + "\n")
			from := min(len(said), i*6)
			if from == len(said) {
				b.WriteString("- none\n")
			}
			for _, line := range said[from:min(len(said), from+6)] {
				b.WriteString(line + "\n")
			}
		}
		yield(model.Delta{Text: b.String(), Finish: scrollback.FinishStop}, nil)
	}
}

// clipText is at most n bytes of s, cut between characters.
func clipText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// measurePolicies measures what each policy saves of the tokens that sending everything with
// each request would cost.
func (b *bench) measurePolicies() error {
	s, err := b.openCounting(fmt.Sprint("policy-", time.Now().UnixNano()))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()           // nothing is kept of it
	for _, name := range compact.Names()[1:] { // but auto
		if err := b.policyOf(s, name); err != nil {
			return err
		}
	}
	return nil
}

// policyOf measures one policy.
func (b *bench) policyOf(s *store.Store, name string) error {
	bucket := blob.NewMemory()
	defer func() { _ = bucket.Close() }() // in memory
	q := &quotingModel{}
	eng := engine.New(s, archive.New(s, bucket, nil),
		engine.Options{Model: "quoter", Models: func(string) (model.Model, error) { return q, nil }})
	e := eng.As(scrollback.Operator())
	defer func() { _ = eng.Close(b.ctx) }() // it runs nothing
	c, _, err := e.Create(b.ctx, scrollback.Conversation{Policy: name})
	if err != nil {
		return err
	}
	var sent, whole, folds int64
	first := int64(-1) // what comes before the messages
	messages, _ := sample.MakeSample(sample.Options{Seed: 11, Messages: policyMessages})
	for _, m := range messages {
		text := ""
		for _, p := range m.Content {
			if t, ok := p["text"].(string); ok {
				text += t
			}
		}
		head, err := s.ReadHead(b.ctx, c.ID)
		if err != nil {
			return err
		}
		role := scrollback.RoleUser // a call or an output counts as said by the one who answers
		if m.Role != string(scrollback.RoleUser) {
			role = scrollback.RoleAssistant
		}
		if _, err := s.AppendMessages(b.ctx, head, []store.IncomingMessage{newIncoming(role, text)}); err != nil {
			return err
		}
		if role != scrollback.RoleUser {
			continue
		}
		got, err := e.Compact(b.ctx, c.ID, engine.CompactRequest{})
		if err != nil {
			return err
		}
		if got.Result == scrollback.ResultCompacted {
			folds++
		}
		window, err := e.Context(b.ctx, c.ID)
		if err != nil {
			return err
		}
		if head, err = s.ReadHead(b.ctx, c.ID); err != nil {
			return err
		}
		if first < 0 {
			first = window.Tokens - head.Branch.Sum.Tokens
		}
		sent += window.Tokens
		whole = whole + first + head.Branch.Sum.Tokens
	}
	b.addNumber(name+", saved", 0, 100*(1-float64(sent)/float64(whole)), "%")
	b.addNumber(name+", saved with what summaries cost", 0, 100*(1-float64(sent+q.asked.Load())/float64(whole)), "%")
	b.addNumber(name+", folds", 0, float64(folds), "")
	b.addNumber(name+", summaries asked for", 0, float64(q.calls.Load()), "")
	return nil
}
