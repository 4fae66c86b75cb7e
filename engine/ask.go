package engine

import (
	"context"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/recall"
)

// asked is what the question of a window weighs in tokens: its newest user message.
func asked(w scrollback.Window) (tokens int64) {
	newest := int64(0)
	for _, it := range w.Items {
		if it.Kind == scrollback.KindMessage && it.Role == scrollback.RoleUser && it.Seq > newest {
			newest, tokens = it.Seq, it.Weight.Tokens
		}
	}
	return tokens
}

// reply is what a model said in one step.
type reply struct {
	parts     scrollback.Parts // with the provider's opaque payloads
	finish    string
	usage     scrollback.Usage // as the provider counted, or nothing
	credits   *model.Credits
	requestID string
}

// ask streams one answer into the draft.
func (lt *liveTurn) ask(ctx context.Context, r model.Request) (reply, error) {
	var t reply
	clock := thinkingClock{asked: lt.e.store.Now()}
	for d, err := range lt.resolved.model.Stream(ctx, r) {
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return t, err
		}
		clock.hear(d, lt.e.store.Now())
		lt.write(d)
		if d.Usage != nil {
			t.usage = *d.Usage
		}
		if d.Credits != nil {
			t.credits = d.Credits
		}
		if d.RequestID != "" {
			t.requestID = d.RequestID
		}
		if d.Finish != "" {
			t.finish = d.Finish
		}
	}
	if ctx.Err() != nil && t.finish == "" {
		return t, context.Cause(ctx)
	}
	if ms := clock.thought(t.usage); ms > 0 {
		lt.meta.ThinkingMS += ms
		lt.emit(lt.meta)
	}
	lt.mu.Lock()
	defer lt.mu.Unlock()
	t.parts = lt.draft.writing.Whole()
	return t, nil
}

// thinkingClock measures how long a model thinks before it speaks, in Unix ms: from
// its first thought, or where none is shown from the question.
type thinkingClock struct{ asked, began, spoke int64 }

func (c *thinkingClock) hear(d model.Delta, now int64) {
	if d.Reasoning != "" && c.began == 0 {
		c.began = now
	}
	if (d.Text != "" || d.Call != nil || d.Finish != "") && c.spoke == 0 {
		c.spoke = now
	}
}

// thought is how long, at least a millisecond where it thought at all.
func (c *thinkingClock) thought(u scrollback.Usage) int64 {
	switch {
	case c.began > 0:
		return max(c.spoke-c.began, 1)
	case u.ReasoningTokens > 0:
		return max(c.spoke-c.asked, 1)
	}
	return 0
}

// answerCalls answers the calls of a step that are ours to answer: those of
// recall tools, and those of tools nobody has defined. The rest stay open for
// the client.
func (lt *liveTurn) answerCalls(ctx context.Context, step int, calls []scrollback.ToolCall) (answers scrollback.Parts, open []scrollback.ToolCall) {
	known, look := map[string]bool{}, lt.view.Recall()
	lt.mu.Lock()
	for _, t := range lt.head.Settings.Tools {
		known[t.Name] = true
	}
	lt.mu.Unlock()
	for _, c := range calls {
		if known[c.Name] {
			open = append(open, c)
			continue
		}
		r := scrollback.ToolResult{CallID: c.ID, Name: c.Name, Recall: recall.IsTool(c.Name)}
		switch {
		case !r.Recall:
			r.Text, r.IsError = "There is no tool named "+c.Name+".", true
		case step > maxSteps:
			r.Text, r.IsError = "No more look-ups in this turn: answer now with what you have.", true
		default:
			text, err := look.Call(ctx, lt.turn.Conversation, c.Name, c.Arguments, lt.room(len(calls)))
			r.Text = text
			if err != nil {
				r.Text, r.IsError = scrollback.Shown(err), true
			}
		}
		answers = append(answers, r)
	}
	return answers, open
}

// Bounds of a recall result: a share of the budget; of those that are asked for at
// once, a share of the budget together.
const (
	recallShare  = 0.15
	recallsShare = 0.3
)

// room is how big a recall result may be, where so many calls are made at once.
func (lt *liveTurn) room(calls int) recall.Room {
	share := min(recallShare, recallsShare/float64(calls))
	return recall.Room{Bytes: recall.RoomMax.Bytes, Tokens: min(int64(share*float64(lt.resolved.budget.Tokens)), lt.resolved.room().Outputs()/int64(calls))}
}

// artifactBytes reads an artifact whole.
func (e *Engine) artifactBytes(ctx context.Context, id scrollback.ArtifactID) ([]byte, error) {
	f, _, err := e.archive.OpenArtifact(ctx, id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, e.intake.Limits.ArtifactBytes+1))
	return b, scrollback.Wrap(scrollback.Unavailable, "engine", err)
}
