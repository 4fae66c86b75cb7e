package request

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/window"
)

// TurnContext is what the requests of a turn showed, step by step.
type TurnContext struct {
	TurnID    scrollback.TurnID     `json:"turn_id"`
	Model     string                `json:"model"`
	StartedAt int64                 `json:"started_at"`
	Steps     []scrollback.Manifest `json:"steps"`
}

// PastRequest says what is wanted of what a turn sent: of one step, or of all (0), with what the
// model read in the step, or in the last one.
type PastRequest struct {
	Step    int
	Content bool
}

// ReplayTurn returns what the steps of a turn of a conversation sent. A turn that is older than the
// accounts of steps has the totals of its last request, or nothing.
func (x *Previewer) ReplayTurn(
	ctx context.Context,
	c scrollback.Conversation,
	t scrollback.Turn,
	q PastRequest,
) (TurnContext, error) {
	const op = "engine.Turns.Context"
	out := TurnContext{TurnID: t.ID, StartedAt: t.StartedAt, Steps: []scrollback.Manifest{}}
	sent, err := x.store.Turns.ReadSteps(ctx, t.ID)
	if err != nil {
		return out, err
	}
	if len(sent) == 0 && t.Window != nil && t.Window.Sent != nil {
		old := *t.Window.Sent
		old.Step = 1
		old.Partial = true
		old.Excluded = []scrollback.Excluded{}
		out.Model = old.Model
		out.Steps = append(out.Steps, old)
		return out, nil
	}
	if q.Step > 0 {
		sent = slices.DeleteFunc(sent, func(s scrollback.SentRequest) bool { return s.Step != q.Step })
	}
	switch {
	case len(sent) == 0 && q.Step > 0:
		return out, scrollback.Errorf(scrollback.NotFound, op, i18n.NothingStoredOfStep, q.Step, t.ID)
	case len(sent) == 0:
		return out, scrollback.Errorf(scrollback.NotFound, op, i18n.WhatTurnSentNotStored, t.ID)
	}
	for i := range sent {
		m := buildPastManifest(c.ID, &sent[i])
		if q.Content && i == len(sent)-1 {
			w, exact, err := x.layOutAgain(ctx, c, t, &sent[i])
			if err != nil {
				return out, err
			}
			m.Partial = !exact && !m.Forwarded
			if m.Items, err = x.listContent(ctx, w, sent[i].Factor); err != nil {
				return out, err
			}
		}
		out.Model = m.Model
		out.Steps = append(out.Steps, m)
	}
	return out, nil
}

// layOutAgain lays out again what a step sent, and says whether it is exactly that.
func (x *Previewer) layOutAgain(ctx context.Context, c scrollback.Conversation, t scrollback.Turn,
	s *scrollback.SentRequest) (scrollback.Window, bool, error) {
	in, err := x.rebuildInput(ctx, c, t, s)
	if err != nil {
		return scrollback.Window{}, false, err
	}
	w := window.Assemble(in)
	if len(s.Again) > 0 {
		parts, err := x.intake.RepeatReferences(ctx, scrollback.Branch{ID: t.Branch, HeadSeq: s.Last},
			window.UnshownReferences(w))
		if err != nil {
			return w, false, err
		}
		w = x.appendRepeated(w, parts, s.Again, in.Dialect)
	}
	if found := findSearch(t, s.Web); found != nil {
		w, _ = x.appendSearch(w, *found, s.Web.Chars, in.Dialect)
	}
	return w, window.TakeFingerprint(w, nil).Hash() == s.Hash, nil
}

// findSearch returns what a step quoted of a search; nil for nothing.
func findSearch(t scrollback.Turn, q *scrollback.SentSearch) *scrollback.Search {
	if q == nil || t.Meta == nil {
		return nil
	}
	for _, s := range t.Meta.Searches {
		if s.Query == q.Query {
			s.Results = s.Results[:min(q.Results, len(s.Results))]
			return &s
		}
	}
	return nil
}

// rebuildInput returns what a step was laid out from, as far as it is known.
func (x *Previewer) rebuildInput(ctx context.Context, c scrollback.Conversation, t scrollback.Turn,
	s *scrollback.SentRequest) (window.Input, error) {
	in := window.Input{PinnedTokens: math.MaxInt64, PromptSeq: s.Prompt, FoldedAt: s.FoldedAt,
		Without: s.Without, Language: s.Language, NotCompacted: s.NotCompacted, Dialect: findDialect(s)}
	if s.PinnedTokens > 0 {
		in.PinnedTokens = s.PinnedTokens
	}
	texts, err := x.store.Turns.ReadTexts(ctx, c.ID, s.Instructions, s.Tools)
	if err != nil {
		return in, err
	}
	if in.Instructions = texts[s.Instructions]; in.Instructions != "" {
		in.InstructionsWeight = x.resolver.WeighText(in.Instructions)
	}
	if tools, ok := texts[s.Tools]; ok {
		if err := json.Unmarshal([]byte(tools), &in.Tools); err != nil {
			return in, scrollback.Wrap(scrollback.Internal, "engine.Turns.Context", err)
		}
		in.ToolsWeight = x.resolver.WeighText(tools)
	}
	isRecall := func(t scrollback.Tool) bool { return scrollback.ToolCall{Name: t.Name}.IsRecall() }
	if !slices.ContainsFunc(in.Tools, isRecall) {
		in.Recall = &window.RecallTools{} // else the history names tools that were not offered
	}
	if env := c.Environment; env != nil && s.Environment != "" {
		in.Environment = env.WholeText()
		in.EnvironmentWeight = x.resolver.WeighText(in.Environment)
	}
	if in.Segments, err = x.store.ReadSegments(ctx, s.Segments); err != nil {
		return in, err
	}
	if len(s.Kept) > 0 {
		if in.Kept, err = x.readKeptAgain(ctx, c, t, s.Kept); err != nil {
			return in, err
		}
	}
	if s.Summary != nil {
		of, err := x.store.ReadSegments(ctx, []scrollback.SegmentID{s.Summary.Segment})
		if err != nil {
			return in, err
		}
		in.Summary = compact.WindowSummary(*s.Summary, of[0].Summary, s.Without)
	}
	b := scrollback.Branch{ID: t.Branch, HeadSeq: max(s.Last, t.LastSeq)}
	for _, list := range []struct {
		seqs []int64
		into *[]scrollback.Message
	}{{s.Carried, &in.Carried}, {s.Pinned, &in.Pinned}} {
		for _, seq := range list.seqs {
			m, err := x.store.ReadMessageAt(ctx, b, seq)
			if err != nil {
				return in, err
			}
			*list.into = append(*list.into, m)
		}
	}
	if s.Last > 0 {
		in.Live, err = x.store.ReadMessages(ctx, b.ID, s.First, s.Last)
	}
	return in, err
}

// findDialect returns the dialect that a step was laid out for.
func findDialect(s *scrollback.SentRequest) scrollback.Dialect {
	for _, d := range window.Dialects() {
		if d.Name == s.Dialect {
			d.ImageURLs = s.ImageURLs
			return d
		}
	}
	return scrollback.Dialect{Name: s.Dialect, ImageURLs: s.ImageURLs}
}

// readKeptAgain reads what people had said about kept sentences when a step was sent, by the ids of that.
func (x *Previewer) readKeptAgain(ctx context.Context, c scrollback.Conversation, t scrollback.Turn,
	changes []string) ([]scrollback.Kept, error) {
	b := scrollback.Branch{ID: t.Branch, HeadSeq: t.LastSeq}
	all, err := x.store.Kept.ListChanges(ctx, store.Head{Conversation: c}, b)
	return slices.DeleteFunc(all, func(k scrollback.Kept) bool { return !slices.Contains(changes, k.Change) }), err
}
