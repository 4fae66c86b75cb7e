package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// page reads a page of a conversation.
func page(r *enginetest.Rig, id scrollback.ConversationID, q scrollback.PageQuery) scrollback.MessagePage {
	r.T.Helper()
	p, err := r.Turns().Page(context.Background(), id, q)
	if err != nil {
		r.T.Fatal(err)
	}
	return p
}

// brief returns a page in short: its messages by seq, and its turns as state, finish reason,
// content and advice, with a + if they can be tried again.
func brief(p scrollback.MessagePage) string {
	var out []string
	for _, m := range p.Messages {
		out = append(out, fmt.Sprint(m.Seq))
		for _, e := range p.TurnsAfter(m.Seq) {
			text := string(e.State)
			if e.FinishReason != "" {
				text += "/" + e.FinishReason
			}
			if e.Content != "" {
				text += fmt.Sprintf(" %q", e.Content)
			}
			if e.Error != nil {
				text += " " + string(e.Error.Advice) + e.Error.Setting
			}
			if e.Retry {
				text += "+"
			}
			out = append(out, "("+text+")")
		}
	}
	return strings.Join(out, " ")
}

// writes begins a turn in another process, and saves what it has written.
func writes(r *enginetest.Rig, id scrollback.ConversationID, text string) scrollback.TurnID {
	r.T.Helper()
	ctx := context.Background()
	begun, err := r.Store.Turns.Begin(ctx, store.BeginRequest{Conversation: id, Owner: "another",
		Messages: []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleUser,
			Parts: enginetest.Say("q")}}}})
	if err == nil {
		_, err = r.Store.Turns.SaveDraft(ctx, begun.Turn, scrollback.Draft{Content: text})
	}
	if err != nil {
		r.T.Fatal(err)
	}
	return begun.Turn.ID
}

// What a turn has written is shown to readers in another process: as running while
// it runs, and as interrupted once that process has died. Nothing is written by that, and
// the next turn keeps the text as a message, once.
func TestCutOffIsShown(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("one"), modeltest.Say("again"))
	id := r.NewConversation()
	r.Ask(id, "first").WantDone(t, scrollback.TurnComplete, "stop")
	turn := writes(r, id, "half an ans")
	p := page(r, id, scrollback.PageQuery{})
	if got, want := brief(p), `1 2 3 (open "half an ans")`; got != want || p.Running == nil || *p.Running != turn {
		t.Errorf("while it runs: %s, running %v, want %s", got, p.Running, want)
	}
	if got := brief(page(r, id, scrollback.PageQuery{Before: 3})); got != "1 2" {
		t.Errorf("the page before: %s", got)
	}
	r.Clock.Add(time.Minute.Milliseconds())
	before, err := r.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	want := `1 2 3 (interrupted "half an ans"+)`
	for range 2 {
		p = page(r, id, scrollback.PageQuery{})
		if got := brief(p); got != want || p.Running != nil || p.Turns[0].TurnID != turn {
			t.Errorf("once its owner is gone: %s, running %v, want %s", got, p.Running, want)
		}
	}
	if after, err := r.Get(ctx, id); err != nil || after.Version != before.Version {
		t.Errorf("reading has written: version %d, then %d, %v", before.Version, after.Version, err)
	}
	r.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnComplete, "stop")
	if got := brief(page(r, id, scrollback.PageQuery{})); got != "1 2 3 4 5" {
		t.Errorf("after the next turn: %s", got)
	}
	r.WantOutline(id, "u:first", "a:one", "u:q", "a(interrupted):half an ans", "a:again")
}

// Turns that failed stay at their place, with the reason, whatever comes after them.
func TestFailuresAreShown(t *testing.T) {
	ctx := context.Background()
	gone := scrollback.Errorf(scrollback.Refused, "test", "acme refuses the key").WithAdvice(scrollback.AdviceCheckKey,
		"ACME_KEY")
	gone.Cause = "no such key"
	half := modeltest.Say("ha", "lf")
	half.Err = scrollback.Errorf(scrollback.Unavailable, "test", "acme broke off").WithReason(scrollback.ErrUpstream)
	r := enginetest.New(t, enginetest.Options{}, modeltest.Step{Err: gone}, modeltest.Say("fine"), half,
		modeltest.Say("well"))
	id := r.NewConversation()
	r.Ask(id, "first").WantDone(t, scrollback.TurnFailed, "")
	p := page(r, id, scrollback.PageQuery{})
	if got := brief(p); got != "1 (failed check_keyACME_KEY+)" {
		t.Fatalf("after a failure: %s", got)
	}
	if e := p.Turns[0].Error; e.Code != scrollback.Refused || e.Message != "acme refuses the key" ||
		e.Cause != "no such key" {
		t.Errorf("its reason: %+v", e)
	}
	r.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnComplete, "stop")
	r.Ask(id, "second").WantDone(t, scrollback.TurnFailed, "")
	all := "1 (failed check_keyACME_KEY) 2 3 4 (failed retry"
	if got := brief(page(r, id, scrollback.PageQuery{})); got != all+"+)" {
		t.Errorf("after another: %s", got)
	}
	r.Ask(id, "third").WantDone(t, scrollback.TurnComplete, "stop")
	if got := brief(page(r, id, scrollback.PageQuery{})); got != all+") 5 6" {
		t.Errorf("later: %s", got)
	}
	for q, want := range map[scrollback.PageQuery]string{{Limit: 2}: "5 6", {Before: 5, Limit: 2}: "3 4 (failed retry)",
		{Before: 3}: "1 (failed check_keyACME_KEY) 2"} {
		if got := brief(page(r, id, q)); got != want {
			t.Errorf("page %+v: %s, want %s", q, got, want)
		}
	}
	fork, err := r.Branches().Fork(ctx, id, engine.Point{Seq: new(int64(3))}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := brief(page(r, fork.ID, scrollback.PageQuery{})); got != "1 (failed check_keyACME_KEY) 2 3" {
		t.Errorf("a fork: %s", got)
	}
}

// A turn that did not fit, one that was stopped before a word and one that had to be told
// to answer are shown; what stopped turns wrote is a message already.
func TestOtherEndsAreShown(t *testing.T) {
	ctx := context.Background()
	silent, quiet := gated("never said")
	halting, gate := gated("so ", "far")
	r := enginetest.New(t, enginetest.Options{Limit: 3000}, silent, halting)
	id := r.NewConversation()
	turn, events, err := r.Begin(ctx, engine.TurnRequest{Conversation: id, Message: enginetest.Say("q")})
	if err == nil {
		err = r.Turns().Cancel(ctx, id, turn)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range events {
	}
	close(quiet)
	if got := brief(page(r, id, scrollback.PageQuery{})); got != "1 (interrupted+)" {
		t.Errorf("stopped before a word: %s", got)
	}
	turn = started(r, id, gate)
	if err := r.Turns().Cancel(ctx, id, turn); err != nil {
		t.Fatal(err)
	}
	attach(r, id, turn, 0).WantDone(t, scrollback.TurnInterrupted, "")
	close(gate)
	r.WantOutline(id, "u:q", "u:q", "a(interrupted):so ")
	if got := brief(page(r, id, scrollback.PageQuery{})); got != "1 (interrupted) 2 3" {
		t.Errorf("stopped later: %s", got)
	}
}
