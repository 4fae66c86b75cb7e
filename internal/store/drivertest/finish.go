package drivertest

import (
	"encoding/json"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

func newWindowMark(hash string) *scrollback.WindowMark {
	ref := scrollback.HistoryRef("0")
	return &scrollback.WindowMark{Items: 3, Tokens: 40, Hash: hash,
		Layers: []scrollback.LayerMark{{Items: 1, Tokens: 10, Hash: "i"}},
		Sent: &scrollback.Manifest{ConversationID: "c", Model: "m", Limit: 9, CacheReuse: 0.5,
			Layers:   []scrollback.ManifestLayer{{Name: scrollback.LayerMessages, Tokens: 40}},
			Excluded: []scrollback.Excluded{{FirstSeq: 1, LastSeq: 2, Ref: &ref, Reason: "folded"}}}}
}

// testFinishStep: a step keeps the turn open, with a fresh lease and no draft.
func testFinishStep(w *harness) {
	c := w.addConversation()
	turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	_, err := w.saveDraft(turn, textDraft("writing"))
	w.wantOK(err)
	before := w.readHead(c.ID)
	call := w.makeEntry(scrollback.RoleAssistant, "")
	result := w.makeEntry(scrollback.RoleTool, "result")
	f := driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(), LeaseUntil: w.now + leaseTime,
		Entries: []driver.Entry{call, result}, State: scrollback.TurnOpen, Window: newWindowMark("one"),
		Usage: []scrollback.UsageRecord{{Conversation: c.ID, TurnID: turn.ID, Model: "m", Purpose: "turn", At: w.now}}}
	got, err := w.Turns.FinishStep(w.ctx, f)
	w.wantOK(err)
	wantSame(w.t, "head", w.wantOneWrite(before), got.Head)
	wantSame(w.t, "messages", w.readMessages(c.Branch, 2, 9), got.Messages)
	want := turn
	want.Reply = call.ID
	want.LastSeq = 3
	want.LeaseUntil = f.LeaseUntil
	want.Window = f.Window
	wantSame(w.t, "turn", want, w.readTurn(turn.ID))
	w.wantUnchanged(func() {
		_, err := w.tryBegin(c.ID, nil)
		w.wantCode(err, scrollback.Conflict)
	})

	before = w.readHead(c.ID)
	f.Entries = nil
	f.Window = nil
	f.Now = w.advanceClock()
	got, err = w.Turns.FinishStep(w.ctx, f)
	w.wantOK(err)
	w.wantOneWrite(before)
	if len(got.Messages) != 0 {
		w.t.Errorf("%d messages of none", len(got.Messages))
	}
	wantSame(w.t, "reply and window stay", want, w.readTurn(turn.ID))
}

// testFinishReply: the last message of the assistant, and none of another's.
func testFinishReply(w *harness) {
	turn := w.beginTurn(w.addConversation().ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	var want scrollback.MessageID
	for _, roles := range [][]scrollback.Role{{scrollback.RoleTool},
		{scrollback.RoleAssistant, scrollback.RoleAssistant, scrollback.RoleTool},
		{scrollback.RoleTool, scrollback.RoleSystem}, nil, {scrollback.RoleTool, scrollback.RoleAssistant}} {
		var entries []driver.Entry
		for _, r := range roles {
			entries = append(entries, w.makeEntry(r, ""))
			if r == scrollback.RoleAssistant {
				want = entries[len(entries)-1].ID
			}
		}
		w.finishTurn(turn, scrollback.TurnOpen, entries...)
		wantSame(w.t, fmt.Sprint("reply after ", roles), want, w.readTurn(turn.ID).Reply)
	}
}

// testFinishEnds: every other state frees the conversation and is stored as given.
func testFinishEnds(w *harness) {
	for _, state := range []scrollback.TurnState{scrollback.TurnWaiting, scrollback.TurnComplete,
		scrollback.TurnInterrupted, scrollback.TurnFailed, scrollback.TurnOverBudget} {
		c := w.addConversation()
		turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
		_, err := w.saveDraft(turn, textDraft("writing"))
		w.wantOK(err)
		w.finishTurn(turn, scrollback.TurnOpen, w.makeEntry(scrollback.RoleAssistant, ""))
		before := w.readHead(c.ID)
		answer := w.makeEntry(scrollback.RoleAssistant, "answer")
		f := driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(), Entries: []driver.Entry{answer},
			State: state, FinishReason: scrollback.FinishLength, Window: newWindowMark("two"),
			Failure:   &scrollback.Failure{Code: scrollback.Unavailable, Message: "try \"again\""},
			OpenCalls: []scrollback.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(`{"q":"<二>"}`)}}}
		got, err := w.Turns.FinishStep(w.ctx, f)
		w.wantOK(err)
		wantSame(w.t, "head", w.wantOneWrite(before), got.Head)
		want := turn
		want.State = state
		want.EndedAt = w.now
		want.Reply = answer.ID
		want.FinishReason = f.FinishReason
		want.Failure = f.Failure
		want.OpenCalls = f.OpenCalls
		want.Window = f.Window
		want.LastSeq = 3
		want = withoutLease(want)
		wantSame(w.t, "turn", want, w.readTurn(turn.ID))
		next := w.beginTurn(c.ID)
		wantSame(w.t, "previous", want, withoutLease(*next.Previous))
	}
}

// testFinishConflict: another owner, or a turn that has ended, writes nothing.
func testFinishConflict(w *harness) {
	c := w.addConversation()
	turn := w.beginTurn(c.ID).Turn
	try := func(owner string, id scrollback.TurnID) error {
		e := w.makeEntry(scrollback.RoleAssistant, "stolen")
		e.Mentions = []scrollback.Artifact{{ID: artifactID("stolen"), Size: 1, CreatedAt: w.now}}
		_, err := w.Turns.FinishStep(w.ctx,
			driver.FinishedStep{Turn: id, Owner: owner, Now: w.advanceClock(), LeaseUntil: w.now + leaseTime,
				Entries: []driver.Entry{e}, State: scrollback.TurnComplete})
		return err
	}
	w.wantUnchanged(func() { w.wantLeaseLost(try("thief", turn.ID)) })
	w.wantUnchanged(func() {
		if err := try("thief", "unknown"); err == nil {
			w.t.Error("an unknown turn was finished")
		}
	})
	w.finishTurn(turn, scrollback.TurnWaiting)
	w.wantUnchanged(func() { w.wantLeaseLost(try(turn.Owner, turn.ID)) })
	w.wantFound([]string{"stolen"})
	noRefs(w, c.ID)
}

// testAppend: entries outside a turn keep their own times.
func testAppend(w *harness) {
	c := w.addConversation()
	before := w.readHead(c.ID)
	old := w.makeEntry(scrollback.RoleUser, "imported")
	old.CreatedAt = 5
	entries := []driver.Entry{old, w.makeEntry(scrollback.RoleAssistant, "")}
	got, err := w.tryAppend(c.ID, nil, entries...)
	w.wantOK(err)
	wantSame(w.t, "head", w.wantOneWrite(before), got.Head)
	wantSame(w.t, "messages", w.readMessages(c.Branch, 1, 9), got.Messages)
	if got.Messages[0].CreatedAt != 5 {
		w.t.Errorf("created at %d", got.Messages[0].CreatedAt)
	}
	w.moveToTrash(c.ID)
	w.wantUnchanged(func() {
		_, err := w.tryAppend(c.ID, nil, w.makeEntry(scrollback.RoleUser, "trashed"))
		w.wantCode(err, scrollback.NotFound)
	})
}

// testAppendHeld: an open turn keeps it out while its lease lasts.
func testAppendHeld(w *harness) {
	c := w.addConversation()
	turn := w.beginTurn(c.ID).Turn
	held := func() {
		w.t.Helper()
		w.wantUnchanged(func() {
			_, err := w.tryAppend(c.ID, func(a *driver.Append) {
				a.Salvage = func(scrollback.Turn) []driver.Entry { w.t.Error("salvage of a held turn"); return nil }
			}, w.makeEntry(scrollback.RoleUser, "held"))
			w.wantCode(err, scrollback.Conflict)
		})
	}
	held()
	w.finishTurn(turn, scrollback.TurnWaiting)
	w.appendMessages(c.ID, 1)
	turn = w.beginTurn(c.ID).Turn
	held()
	w.finishTurn(turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, ""))
	w.wantFound([]string{"held"})
	CheckInvariants(w.t, w.Driver)
}

// testAppendIfHead: only onto the head that the caller saw, when it says which.
func testAppendIfHead(w *harness) {
	c := w.addConversation()
	for head := range int64(3) {
		for _, other := range []int64{head - 1, head + 1} {
			if other < 0 {
				continue
			}
			w.wantUnchanged(func() {
				_, err := w.tryAppend(c.ID, func(a *driver.Append) { a.IfHead = other }, w.makeEntry(scrollback.RoleUser, ""))
				w.wantCode(err, scrollback.Conflict)
			})
		}
		got, err := w.tryAppend(c.ID, func(a *driver.Append) { a.IfHead = head }, w.makeEntry(scrollback.RoleUser, ""))
		w.wantOK(err)
		wantSame(w.t, "head", head+1, got.Head.Messages)
	}
	child := w.addFork(c, 2) // its head is its parent's
	_, err := w.tryAppend(child.ID, func(a *driver.Append) { a.IfHead = 2 }, w.makeEntry(scrollback.RoleUser, ""))
	w.wantOK(err)
}

// testAppendTakesOver: a turn whose lease has ended is closed, and what it had
// comes first; not so where the head is another than the caller saw.
func testAppendTakesOver(w *harness) {
	c, old := addExpired(w)
	salvaged := []driver.Entry{w.makeEntry(scrollback.RoleAssistant, "salvaged"),
		w.makeEntry(scrollback.RoleTool, "salvaged")}
	mine := w.makeEntry(scrollback.RoleUser, "mine")
	try := func(ifHead int64) (driver.AppendResult, error) {
		return w.tryAppend(c.ID, func(a *driver.Append) {
			a.IfHead = ifHead
			a.Salvage = func(t scrollback.Turn) []driver.Entry {
				wantSame(w.t, "draft to salvage", textDraft("half an ans"), t.Draft)
				return salvaged
			}
		}, mine)
	}
	w.wantUnchanged(func() {
		_, err := try(0)
		w.wantCode(err, scrollback.Conflict)
	})
	before := w.readHead(c.ID)
	got, err := try(1)
	w.wantOK(err)
	wantSame(w.t, "head", w.wantOneWrite(before), got.Head)
	all := w.readMessages(c.Branch, 1, 9)
	if len(all) != 4 || all[1].ID != salvaged[0].ID || all[3].ID != mine.ID {
		w.t.Fatalf("log after the takeover: %+v", all)
	}
	wantSame(w.t, "the caller's messages", all[3:], got.Messages)
	want := old
	want.State = scrollback.TurnInterrupted
	want.EndedAt = w.now
	want.Reply = salvaged[0].ID
	want.LastSeq = 3
	wantSame(w.t, "the old turn", withoutLease(want), w.readTurn(old.ID))
	w.wantUnchanged(func() {
		_, err := w.saveDraft(old, textDraft("late"))
		w.wantLeaseLost(err)
	})
	w.appendMessages(c.ID, 1)
	w.beginTurn(c.ID)
	CheckInvariants(w.t, w.Driver)
}

// testTroubled: turns that did not end well are found at their place on the path, whatever
// came after them, and the others are not.
func testTroubled(w *harness) {
	c := w.addConversation()
	end := func(state scrollback.TurnState, reason string, entries ...driver.Entry) scrollback.TurnID {
		turn := w.beginTurn(c.ID).Turn
		_, err := w.Turns.FinishStep(w.ctx,
			driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(), State: state,
				FinishReason: reason, Entries: entries})
		w.wantOK(err)
		return turn.ID
	}
	reads := func(what string, q driver.TurnQuery, want ...scrollback.TurnID) {
		w.t.Helper()
		got, err := w.Turns.ListUnsuccessful(w.ctx, q)
		w.wantOK(err)
		var ids []scrollback.TurnID
		for _, t := range got {
			ids = append(ids, t.ID)
			wantSame(w.t, what, withoutLease(w.readTurn(t.ID)), withoutLease(t))
		}
		wantSame(w.t, what, want, ids)
	}
	all := func(b scrollback.BranchID) driver.TurnQuery { return driver.TurnQuery{Branch: b, To: 99, Limit: 99} }
	reads("of nothing", all(c.Branch))
	w.appendMessages(c.ID, 1)
	failed := end(scrollback.TurnFailed, "")
	big := end(scrollback.TurnOverBudget, "")
	w.finishTurn(w.beginTurn(c.ID).Turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, "an answer")) // 2
	w.appendMessages(c.ID, 1)
	// 4, 5
	stopped := end(scrollback.TurnInterrupted, "", w.makeEntry(scrollback.RoleAssistant, "half"),
		w.makeEntry(scrollback.RoleTool, ""))
	end(scrollback.TurnWaiting, "tool_calls", w.makeEntry(scrollback.RoleAssistant, ""))
	w.appendMessages(c.ID, 1)
	steps := end(scrollback.TurnComplete, scrollback.FinishMaxSteps, w.makeEntry(scrollback.RoleAssistant, "")) // 8
	long := end(scrollback.TurnComplete, scrollback.FinishLength, w.makeEntry(scrollback.RoleAssistant, ""))    // 9
	reads("all of it", all(c.Branch), failed, big, stopped, steps, long)
	reads("a stretch", driver.TurnQuery{Branch: c.Branch, From: 2, To: 8, Limit: 9}, stopped, steps)
	reads("the newest of them", driver.TurnQuery{Branch: c.Branch, To: 8, Limit: 2}, stopped, steps)
	reads("between two", driver.TurnQuery{Branch: c.Branch, From: 2, To: 4, Limit: 9})

	turn := w.beginTurn(c.ID).Turn // 9
	w.finishTurn(turn, scrollback.TurnOpen)
	_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
		LeaseUntil: w.now + leaseTime,
		State:      scrollback.TurnOpen, FinishReason: scrollback.FinishLength})
	w.wantOK(err)
	reads("an open one is not among them", driver.TurnQuery{Branch: c.Branch, From: 9, To: 9, Limit: 9}, long)
	w.finishTurn(turn, scrollback.TurnComplete)

	reads("left behind them", all(rewindHead(w, c.ID, 6).Branch.ID), failed, big, stopped)
	reads("left at a message of one", all(rewindHead(w, c.ID, 5).Branch.ID), failed, big, stopped)
	reads("left within one", all(rewindHead(w, c.ID, 4).Branch.ID), failed, big)
	reads("left at the question", all(rewindHead(w, c.ID, 1).Branch.ID))
	again := end(scrollback.TurnFailed, "") // where the new branch begins
	side := w.readHead(c.ID).Branch.ID
	reads("where a branch begins", all(side), again)
	w.appendMessages(c.ID, 2)
	reads("on both", all(rewindHead(w, c.ID, 2).Branch.ID), again)
	reads("the first branch is as it was", all(c.Branch), failed, big, stopped, steps, long)
	reads("a fork reads its parent's", all(w.addFork(c, 5).Branch), failed, big, stopped)
	reads("no such branch", all("x"))
}

// learnLast returns a factor that is the last report, so that a test can see each.
func learnLast(_ float64, r scrollback.UsageRecord) float64 {
	return float64(r.InputTokens) / float64(r.WindowTokens)
}

// testBooks: calls of turns and of folds are added up by day, model, project and
// currency; what fails enters nothing.
func testBooks(w *harness) {
	c := w.addConversation()
	turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	day := w.now / scrollback.DayMS
	record := func(at, input int64, model, currency string, estimated bool) scrollback.UsageRecord {
		return scrollback.UsageRecord{Conversation: c.ID, Model: model, Purpose: "turn", At: at,
			Usage: scrollback.Usage{InputTokens: input, CachedTokens: 2,
				CacheWriteTokens: 3, OutputTokens: 4, ReasoningTokens: 5, TotalTokens: input + 4, Cost: 0.25, Currency: currency,
				Estimated: estimated}}
	}
	records := []scrollback.UsageRecord{record(w.now, 10, "a/x", "USD", false), record(w.now, 20, "a/x", "USD", true),
		record(w.now, 1, "a/x", "EUR", false), record(w.now+scrollback.DayMS, 7, "a/x", "USD", false),
		record(w.now, 3, "b/y", "USD", false)}
	f := driver.FinishedStep{Turn: turn.ID, Owner: "another", Now: w.advanceClock(), State: scrollback.TurnOpen,
		LeaseUntil: w.now + leaseTime, Usage: records}
	_, err := w.Turns.FinishStep(w.ctx, f)
	w.wantCode(err, scrollback.Conflict)
	if got, err := w.Access.ListUsageDays(w.ctx, 0, 1<<40); err != nil || len(got) != 0 {
		w.t.Fatalf("a refused Finish entered %+v (%v)", got, err)
	}
	f.Owner = turn.Owner
	_, err = w.Turns.FinishStep(w.ctx, f)
	w.wantOK(err)
	b := w.readHead(c.ID).Branch
	fold := driver.FoldCommit{Conversation: c.ID, Branch: b.ID, IfViewVersion: b.ViewVersion + 1, View: b.View,
		Now:     w.advanceClock(),
		Receipt: scrollback.Receipt{Result: scrollback.ResultInflated},
		Usage:   []scrollback.UsageRecord{record(w.now, 100, "a/x", "USD", false)}}
	w.wantCode(w.Views.CommitFold(w.ctx, fold), scrollback.Conflict)
	fold.IfViewVersion--
	w.wantOK(w.Views.CommitFold(w.ctx, fold))

	sum := func(day int64, model, currency string, n, input int64, estimated int64) scrollback.UsageDay {
		return scrollback.UsageDay{Day: day, Model: model, Project: c.Project, Calls: n, EstimatedCalls: estimated,
			Usage: scrollback.Usage{InputTokens: input,
				CachedTokens: 2 * n, CacheWriteTokens: 3 * n, OutputTokens: 4 * n, ReasoningTokens: 5 * n, TotalTokens: input + 4*n,
				Cost:     0.25 * float64(n),
				Currency: currency, Estimated: estimated > 0}}
	}
	today := []scrollback.UsageDay{sum(day, "a/x", "EUR", 1, 1, 0), sum(day, "a/x", "USD", 3, 130, 1),
		sum(day, "b/y", "USD", 1, 3, 0)}
	got, err := w.Access.ListUsageDays(w.ctx, day, day)
	w.wantOK(err)
	wantSame(w.t, "the day", today, got)
	got, err = w.Access.ListUsageDays(w.ctx, day, day+5)
	w.wantOK(err)
	wantSame(w.t, "both days", append(today, sum(day+1, "a/x", "USD", 1, 7, 0)), got)
	got, err = w.Access.ListUsageDays(w.ctx, day+2, day+5)
	w.wantOK(err)
	wantSame(w.t, "no day", []scrollback.UsageDay(nil), got)
}

// testBooksInBounds: sums of a day stop at their bounds, and are read as they are.
func testBooksInBounds(w *harness) {
	c := w.addConversation()
	turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	most := scrollback.Usage{InputTokens: scrollback.MaxSumTokens, TotalTokens: scrollback.MaxSumTokens,
		Cost: scrollback.MaxSumCost, Currency: "USD"}
	for range 2 {
		_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
			State: scrollback.TurnOpen, LeaseUntil: w.now + leaseTime,
			Usage: []scrollback.UsageRecord{{Usage: most, Conversation: c.ID, Model: "a/x", Purpose: "turn", At: w.now}}})
		w.wantOK(err)
	}
	day := scrollback.DayOf(w.now)
	got, err := w.Access.ListUsageDays(w.ctx, day, day)
	w.wantOK(err)
	wantSame(w.t, "the day", []scrollback.UsageDay{{Usage: most, Day: day, Model: "a/x", Project: c.Project,
		Calls: 2}}, got)
}

// finishWithReport makes a Finish with one report of model a/x for an open turn.
func (w *harness) finishWithReport(turn scrollback.Turn, sent, input int64, estimated bool) {
	w.t.Helper()
	_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
		State: scrollback.TurnOpen, LeaseUntil: w.now + leaseTime, Learn: learnLast,
		Usage: []scrollback.UsageRecord{{Conversation: turn.Conversation, Model: "a/x", Purpose: "turn", At: w.now,
			WindowTokens: sent, Usage: scrollback.Usage{InputTokens: input, Estimated: estimated}}}})
	w.wantOK(err)
}

// wantLearned wants something to be known of a model.
func wantLearned(w *harness, model string, want scrollback.Learned) {
	w.t.Helper()
	got, err := w.Turns.ReadLearned(w.ctx, model)
	w.wantOK(err)
	wantSame(w.t, "what is known of "+model, want, got)
}

// testFactor: a report that its provider counted teaches, and no other.
func testFactor(w *harness) {
	turn := w.beginTurn(w.addConversation().ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	want := func(f float64) {
		w.t.Helper()
		wantLearned(w, "a/x", scrollback.Learned{Factor: f})
		wantLearned(w, "b/y", scrollback.Learned{})
	}
	want(0)
	w.finishWithReport(turn, 1000, 1500, true)
	w.finishWithReport(turn, 0, 1500, false)
	w.finishWithReport(turn, 1000, 0, false)
	want(0)
	w.finishWithReport(turn, 1000, 1500, false)
	want(1.5)
	w.finishWithReport(turn, 1000, 1250, false)
	want(1.25)
}

// fullLearned is known of a model.
var fullLearned = scrollback.Learned{Factor: 1.25, Limit: 131072, LimitFrom: scrollback.LimitRefusal, LimitAt: 5,
	MaxOutput: 8192, ListedAt: 6,
	Dropped: []string{"temperature", "top_p"}, Strict: scrollback.StrictNoSystem, API: "chat"}

// testTeach: what was taught is known, of that model alone, and no caller holds what
// is stored.
func testTeach(w *harness) {
	w.wantOK(w.Turns.UpdateLearned(w.ctx, "a/x", func(l *scrollback.Learned) {
		wantSame(w.t, "before anything", scrollback.Learned{}, *l)
	}))
	wantLearned(w, "a/x", scrollback.Learned{})
	dropped := []string{"temperature", "top_p"}
	w.wantOK(w.Turns.UpdateLearned(w.ctx, "a/x", func(l *scrollback.Learned) {
		*l = fullLearned
		l.Dropped = dropped
	}))
	dropped[0] = "changed"
	wantLearned(w, "a/x", fullLearned)
	wantLearned(w, "b/y", scrollback.Learned{})
	w.wantOK(w.Turns.UpdateLearned(w.ctx, "a/x", func(l *scrollback.Learned) {
		wantSame(w.t, "before the second time", fullLearned, *l)
		l.Limit = 1
		l.Dropped = append(l.Dropped, "seed")
	}))
	want := fullLearned
	want.Limit = 1
	want.Dropped = []string{"temperature", "top_p", "seed"}
	got, err := w.Turns.ReadLearned(w.ctx, "a/x")
	w.wantOK(err)
	wantSame(w.t, "what is known", want, got)
	got.Dropped[0] = "changed"
	wantLearned(w, "a/x", want)
	w.wantOK(w.Turns.UpdateLearned(w.ctx, "a/x", func(l *scrollback.Learned) { *l = scrollback.Learned{} }))
	wantLearned(w, "a/x", scrollback.Learned{})
}

// testTeachAndFactor: UpdateLearned keeps the factor that FinishStep has learned, and FinishStep
// what was taught.
func testTeachAndFactor(w *harness) {
	turn := w.beginTurn(w.addConversation().ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	w.finishWithReport(turn, 1000, 1250, false)
	want := fullLearned
	w.wantOK(w.Turns.UpdateLearned(w.ctx, "a/x", func(l *scrollback.Learned) { want.Factor = l.Factor; *l = want }))
	if want.Factor != 1.25 {
		w.t.Errorf("the edit saw the factor %v", want.Factor)
	}
	wantLearned(w, "a/x", want)
	w.finishWithReport(turn, 1000, 1500, false)
	want.Factor = 1.5
	wantLearned(w, "a/x", want)
	w.wantOK(w.Turns.UpdateLearned(w.ctx, "a/x", func(l *scrollback.Learned) { l.Factor = 2 }))
	want.Factor = 2
	wantLearned(w, "a/x", want)
}

// testConcurrentTeach: many who teach at once lose nothing of each other.
func testConcurrentTeach(w *harness) {
	const times = 10
	turn := w.beginTurn(w.addConversation().ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	f := driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(), State: scrollback.TurnOpen,
		LeaseUntil: w.now + leaseTime,
		Learn:      func(was float64, _ scrollback.UsageRecord) float64 { return was + 1 },
		Usage: []scrollback.UsageRecord{{Conversation: turn.Conversation, Model: "a/x", At: w.now, WindowTokens: 1,
			Usage: scrollback.Usage{InputTokens: 1}}}}
	edits := []func(*scrollback.Learned){func(l *scrollback.Learned) { l.Limit++ },
		func(l *scrollback.Learned) { l.MaxOutput++ },
		func(l *scrollback.Learned) { l.Dropped = append(l.Dropped, "x") }}
	for _, err := range runTogether(func(i int) error {
		for range times {
			if i == 0 {
				if _, err := w.Turns.FinishStep(w.ctx, f); err != nil {
					return err
				}
				continue
			}
			if err := w.Turns.UpdateLearned(w.ctx, "a/x", edits[i%len(edits)]); err != nil {
				return err
			}
		}
		return nil
	}) {
		w.wantOK(err)
	}
	want := scrollback.Learned{Factor: times}
	if w.Clock != nil { // where many servers learn, a turn does not wait for what another learns, and alone it learns
		l, err := w.Turns.ReadLearned(w.ctx, "a/x")
		w.wantOK(err)
		_, err = w.Turns.FinishStep(w.ctx, f)
		w.wantOK(err)
		if want.Factor = l.Factor + 1; l.Factor < 0 || l.Factor > times {
			w.t.Errorf("%d turns taught a factor of %v", times, l.Factor)
		}
	}
	for i := 1; i < workerCount; i++ {
		for range times {
			edits[i%len(edits)](&want)
		}
	}
	wantLearned(w, "a/x", want)
}

func (w *randomWalk) updateLearned() {
	edit := pickOne(w, func(l *scrollback.Learned) { l.Limit = w.now },
		func(l *scrollback.Learned) { l.Strict = scrollback.StrictTurns },
		func(l *scrollback.Learned) { l.Dropped = append(l.Dropped, "p") }, func(*scrollback.Learned) {})
	callBothError(w, "teach", func(d *driver.Driver) error { return d.Turns.UpdateLearned(w.ctx, "m", edit) })
}
