package store_test

import (
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// What a client sends again is found where its first request began a conversation, and its retry joins while the
// turn runs; once the turn's owner is gone it does not.
func TestThreadOfAClient(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		scope := threading.Scope{Project: "p", Caller: "c"}
		request := &threading.Request{Dialect: threading.Chat, Model: "m", Body: threading.HashOf("body"),
			Items: []threading.Item{{Role: threading.User, Kind: threading.Text, Text: "Which way to the old mill?"}}}
		match := func() *threading.Match {
			t.Helper()
			m := threading.Matcher{Index: b.Threads.Index(), Table: threading.BuiltInTable()}
			out := must2(m.Match(t.Context(), scope, request, time.UnixMilli(b.now)))(t)
			if err := b.Threads.CountAsked(t.Context(), out); err != nil {
				t.Fatal(err)
			}
			return out
		}
		c := b.create()
		m := match()
		rows := m.Begin(threading.IDs{Thread: threading.ThreadID(c.ID), Request: "01890000-0000-7000-8000-000000000002",
			Branch: func() threading.BranchID { return "b" }})
		rows.Request.At = time.UnixMilli(b.now)
		begun := must2(b.Turns.Begin(t.Context(), store.BeginRequest{Conversation: c.ID, Owner: "o", Thread: &rows,
			Turn: scrollback.TurnID(rows.Request.ID), At: &store.Place{Branch: c.Branch},
			Messages: []store.IncomingMessage{text(scrollback.RoleUser, "Which way to the old mill?")}}))(t)
		if got := match(); got.Purpose != threading.Join || got.Thread != threading.ThreadID(c.ID) {
			t.Errorf("while the turn runs, the same again is %+v", got)
		}
		b.now += 2 * store.Lease.Milliseconds()
		if got := match(); got.Purpose == threading.Join {
			t.Errorf("with the owner gone, the same again is %+v", got)
		}
		of, body := m.Asked()
		_, asked, err := b.Threads.Index().Same(t.Context(), of, body, time.UnixMilli(0), 9)
		if err != nil || asked != 3 {
			t.Errorf("asked %d times, %v", asked, err)
		}
		matcher := threading.Matcher{Index: b.Threads.Index(), Table: threading.BuiltInTable()}
		ended := must2(matcher.Finish(t.Context(), m, threading.Answer{State: threading.Finished, ID: "answer",
			Items: []threading.Item{{Role: threading.Assistant, Kind: threading.Text, Text: "Along the river."}}},
			time.UnixMilli(b.now), func() threading.BranchID { return "other" }))(t)
		must2(b.Turns.FinishStep(t.Context(), store.FinishRequest{Turn: begun.Turn, State: scrollback.TurnComplete,
			Thread: &ended}))(t)
		answer := must2(b.Threads.Index().Answer(t.Context(), scope, "answer"))(t)
		if answer == nil || answer.Thread != threading.ThreadID(c.ID) || answer.Place.Seq != 2 {
			t.Errorf("the answer is %+v", answer)
		}
		side := threading.RequestRow{ID: "side", Scope: scope, Side: "title", State: threading.Finished}
		if err := b.Threads.Write(t.Context(), threading.Rows{Request: &side}); err != nil {
			t.Fatal(err)
		}
		if row := must2(b.Threads.Index().Request(t.Context(), "side"))(t); row == nil || row.Side != "title" {
			t.Errorf("the side call is %+v", row)
		}
	})
}
