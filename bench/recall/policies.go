package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// policies are compared by what they save and what can still be answered. No model
// takes part: summaries are extracts, as they are when no model can be asked.
var policies = compact.Names()[1:] // but auto

// The talks that policies are compared on: messages in each, the window of the model
// in tokens, and how much of a look-up is read.
const (
	policyMessages = 1500
	policyLimit    = 8192
	lookUpTokens   = 2000
)

// policySum is what a policy comes to, added up over talks: tokens of requests and of what
// they stand for, and shares of evidence.
type policySum struct {
	sent, whole    int64
	questions      int
	shown, lookUps float64
}

// listener is a model that keeps the last request it got.
type listener struct{ last model.Request }

// Facts implements model.Model.
func (*listener) Facts() model.Facts {
	return model.Facts{Name: "listener", Limit: policyLimit, NoSummaries: true}
}

// Stream implements model.Model.
func (l *listener) Stream(_ context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		l.last = r
		yield(model.Delta{Text: "Yes.", Finish: scrollback.FinishStop}, nil)
	}
}

// foldTalk puts a talk through a policy, a turn at a time, and asks its questions of the
// last request, and of that and one look-up.
func (k *policySum) foldTalk(ctx context.Context, s *store.Store, policy string, t talk) error {
	bucket := blob.NewMemory()
	defer func() { _ = bucket.Close() }() // in memory
	l := &listener{}
	eng := engine.New(s, archive.New(s, bucket, nil),
		engine.Options{NoBackgroundFolds: true, Models: func(string) (model.Model, error) { return l, nil }})
	e := eng.As(scrollback.Operator())
	defer func() { _ = eng.Close(ctx) }() // it runs nothing
	c, _, err := e.Create(ctx, scrollback.Conversation{Policy: policy})
	if err != nil {
		return err
	}
	head, err := s.ReadHead(ctx, c.ID)
	for i := 0; i < len(t.said) && err == nil; i++ {
		if _, err = s.AppendMessages(ctx, head, []store.IncomingMessage{{Message: t.said[i].toMessage()}}); err == nil {
			err = k.foldRequest(ctx, e, s, c.ID)
		}
		if err == nil {
			head, err = s.ReadHead(ctx, c.ID)
		}
	}
	if err != nil {
		return err
	}
	for _, err := range e.Turn(ctx, engine.TurnRequest{Conversation: c.ID,
		Message: scrollback.Parts{scrollback.Text{Text: "Are you there?"}}}) {
		if err != nil {
			return err
		}
	}
	return k.askQuestions(ctx, product{e, c.ID}, windowText(l.last), t)
}

// foldRequest folds as a turn would, and books what one would send.
func (k *policySum) foldRequest(ctx context.Context, e *engine.View, s *store.Store,
	id scrollback.ConversationID) error {
	if _, err := e.Compact(ctx, id, engine.CompactRequest{}); err != nil {
		return err
	}
	m, err := e.Context(ctx, id)
	if err != nil {
		return err
	}
	head, err := s.ReadHead(ctx, id)
	k.sent += m.Tokens
	k.whole += m.Layers[0].Tokens + head.Branch.Sum.Tokens
	return err
}

// windowText returns the text of a request, each part as JSON has it.
func windowText(r model.Request) string {
	var b strings.Builder
	for _, it := range r.Items {
		body, err := json.Marshal(it.Parts.Text())
		if err == nil {
			b.Write(body)
		}
	}
	return b.String()
}

// askQuestions looks for the evidence of each question.
func (k *policySum) askQuestions(ctx context.Context, p product, window string, t talk) error {
	for _, q := range t.questions {
		a, err := p.find(ctx, q.text)
		if err != nil {
			return err
		}
		k.questions++
		share := 1 / float64(len(q.evidence))
		for i, sentence := range q.sentences {
			end := endOf(a.text, q.evidence[i], sentence)
			found := end >= 0 && token.Count(a.text[:end]) <= lookUpTokens
			if findSentence(window, sentence) >= 0 {
				k.shown += share
				found = true
			}
			if found {
				k.lookUps += share
			}
		}
	}
	return nil
}

// policyReport returns the table of policies.
func policyReport(of map[string]*policySum) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
## What a policy saves, and what can still be answered

Conversations of %d messages in a window of %d tokens, compacted after each message; no model writes summaries. Tokens saved are
those of all requests, compared with sending everything each time. Evidence is looked for in the last request alone, and
in it and the first %d tokens of one look-up. In percent.

| | tokens saved | in the window | and one look-up |
|---|---|---|---|
`, policyMessages, policyLimit, lookUpTokens)
	for _, name := range policies {
		k := of[name]
		n := float64(max(1, k.questions))
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f |\n", name, 100*(1-float64(k.sent)/float64(max(1, k.whole))),
			100*k.shown/n, 100*k.lookUps/n)
	}
	return b.String()
}
