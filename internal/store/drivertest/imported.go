package drivertest

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/filltest"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// testImported: imported calls are counted once each by what they are called, whatever conversation has them, are in no
// sums of days and never spending, and one that was made through this program is not counted again.
func testImported(w *limitsHarness) {
	c := w.addConversation("house")
	day := scrollback.DayOf(w.now)
	call := func(id scrollback.ConversationID, name string, at, tokens int64) driver.ImportedCall {
		return driver.ImportedCall{Conversation: id, Call: name, Project: "house", Tool: "codex", Model: "gpt", At: at,
			Usage: scrollback.Usage{InputTokens: tokens, OutputTokens: 1, TotalTokens: tokens + 1, Cost: 0.5,
				Currency: "USD"}}
	}
	enter := func(all ...driver.ImportedCall) {
		w.t.Helper()
		w.wantOK(w.Access.EnterImported(w.ctx, all))
	}
	enter(call(c.ID, "a", w.now, 1), call(c.ID, "b", w.now, 2), call(c.ID, "a", w.now, 4))
	enter(call(c.ID, "b", w.now, 8), call("another", "a", w.now, 16), call("another", "c", w.now+scrollback.DayMS, 32))
	sum := func(day int64, id scrollback.ConversationID, calls, in int64) scrollback.UsageDay {
		return scrollback.UsageDay{Day: day, Model: "gpt", Project: "house", Tool: "codex", Calls: calls, Conversation: id,
			Usage: scrollback.Usage{InputTokens: in, OutputTokens: calls, TotalTokens: in + calls, Cost: 0.5 * float64(calls),
				Currency: "USD"}}
	}
	read := func(q driver.UsagePartsQuery) []scrollback.UsageDay {
		w.t.Helper()
		got, err := w.Access.DivideImported(w.ctx, q)
		w.wantOK(err)
		return got
	}
	w.wantSame("all", []scrollback.UsageDay{sum(day, "", 2, 3), sum(day+1, "", 1, 32)},
		read(driver.UsagePartsQuery{First: day, Last: day + 1}))
	w.wantSame("one day by conversation", []scrollback.UsageDay{sum(day, c.ID, 2, 3)},
		read(driver.UsagePartsQuery{First: day, Last: day, ByConversation: true}))
	w.wantSame("of one", []scrollback.UsageDay{sum(day+1, "", 1, 32)},
		read(driver.UsagePartsQuery{First: day, Last: day + 1, Conversation: "another"}))
	purposes := sum(day, "", 2, 3)
	purposes.Purpose = scrollback.PurposeImported
	w.wantSame("by purpose", []scrollback.UsageDay{purposes},
		read(driver.UsagePartsQuery{First: day, Last: day, ByPurpose: true, ByKey: true}))
	far := time.FixedZone("far", 14*60*60) // there it is the next day already
	w.wantSame("in a zone", []scrollback.UsageDay{sum(scrollback.DayIn(far, w.now), "", 2, 3)},
		read(driver.UsagePartsQuery{First: scrollback.DayIn(far, w.now), Last: scrollback.DayIn(far, w.now), Zone: far}))

	days, err := w.Access.ListUsageDays(w.ctx, day, day+1)
	w.wantOK(err)
	w.wantSame("the sums of days", []scrollback.UsageDay(nil), days)
	parts, err := w.Access.DivideUsage(w.ctx, driver.UsagePartsQuery{First: day, Last: day + 1})
	w.wantOK(err)
	w.wantSame("own calls", []scrollback.UsageDay(nil), parts)
	for _, q := range []driver.SpendingQuery{{Day: day, Project: "house", Currency: "USD"}, {Day: day, Key: "k"}} {
		spent, err := w.Access.SumSpending(w.ctx, q)
		w.wantOK(err)
		w.wantSame("spending", scrollback.Usage{Currency: q.Currency}, spent)
	}

	own := scrollback.UsageRecord{Conversation: "door", Model: "openai/gpt", Purpose: "turn", At: w.now,
		Usage: scrollback.Usage{InputTokens: 77, OutputTokens: 1, TotalTokens: 78}}
	w.wantOK(w.Access.EnterUsage(w.ctx, "house", []scrollback.UsageRecord{own}))
	enter(call(c.ID, "through here", w.now+1000, 77))
	w.wantSame("with one that came through here", []scrollback.UsageDay{sum(day, "", 2, 3)},
		read(driver.UsagePartsQuery{First: day, Last: day}))
	enter(call(c.ID, "long after it", w.now+driver.CallWindow+1, 77))
	w.wantSame("with one like it, later", []scrollback.UsageDay{sum(day, "", 3, 80)},
		read(driver.UsagePartsQuery{First: day, Last: day}))

	filled := filltest.Filled[driver.ImportedCall](&filltest.Filler{N: 1})
	filled.Currency = "EUR"
	filled.At = w.now + 9*scrollback.DayMS
	enter(filled)
	want := scrollback.UsageDay{Day: day + 9, Model: filled.Model, Project: filled.Project, Tool: filled.Tool,
		Conversation: filled.Conversation, Usage: scrollback.Usage{Currency: "EUR"}}
	want.AddCall(filled.Usage)
	w.wantSame("a call with every field", []scrollback.UsageDay{want},
		read(driver.UsagePartsQuery{First: day + 9, Last: day + 9, ByConversation: true}))
	w.wantCode(w.Access.EnterImported(cancelled(w.ctx), []driver.ImportedCall{filled}), scrollback.Canceled)
}

// cancelled returns the context of a caller who has gone.
func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// enterImported enters calls that were imported.
func (w *randomWalk) enterImported() {
	var all []driver.ImportedCall
	for range 1 + w.rng.IntN(3) {
		all = append(all, driver.ImportedCall{Conversation: w.pickConversation().ID,
			Call: fmt.Sprint("call ", w.rng.IntN(30)), Project: pickOne(w, "p", "q"),
			Tool: pickOne(w, "codex", "pi"), Model: "m", At: w.now,
			Usage: scrollback.Usage{InputTokens: w.rng.Int64N(99), OutputTokens: w.rng.Int64N(3), Cost: 0.125,
				Currency: pickOne(w, "", "USD")}})
	}
	callBothError(w, fmt.Sprint("enter imported calls ", len(all)),
		func(d *driver.Driver) error { return d.Access.EnterImported(w.ctx, all) })
}

// testThreadsSpan: the span of a name is that of all requests of the threads that it names, in every scope.
func testThreadsSpan(w *threadsHarness) {
	span := func(want ...int64) {
		w.t.Helper()
		first, last, err := w.Driver.Threads.FindSpan(w.ctx, "claude:here")
		w.wantOK(err)
		w.wantSame("the span", want, []int64{first, last})
	}
	span(0, 0)
	w.say(scopeOne, newRequest("claude:other", textItems("Which door is open?")), "The green one.")
	span(0, 0)
	w.say(scopeOne, newRequest("claude:here", textItems("Where is the key?")), "Under the mat.")
	first := w.now
	span(first, first)
	w.say(threading.Scope{Project: "two"}, newRequest("claude:here", textItems("Where is the lamp?")), "In the hall.")
	span(first, w.now)
}
