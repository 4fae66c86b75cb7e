package drivertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// workerCount is how many goroutines meet at one driver.
const workerCount = 8

// runTogether runs call on every worker at once and returns their errors.
func runTogether(call func(i int) error) []error {
	var wg sync.WaitGroup
	errs := make([]error, workerCount)
	start := make(chan struct{})
	for i := range workerCount {
		wg.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// oneWins wants no error from one worker and a conflict from the others.
func oneWins(w *harness, errs []error) {
	w.t.Helper()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		w.wantCode(err, scrollback.Conflict)
	}
	if won != 1 {
		w.t.Fatalf("%d of %d won: %v", won, workerCount, errs)
	}
}

// testConcurrentConversations: turns of different conversations all get through.
func testConcurrentConversations(w *harness) {
	const turns = 5
	type job struct {
		begin  driver.BeginRequest
		finish driver.FinishedStep
	}
	jobs := make([][]job, workerCount)
	ids := make([]scrollback.ConversationID, workerCount)
	for i := range jobs {
		ids[i] = w.addConversation().ID
		for range turns {
			now := w.advanceClock()
			t := scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")), Conversation: ids[i], State: scrollback.TurnOpen,
				Owner:      "o",
				LeaseUntil: now + leaseTime, StartedAt: now}
			jobs[i] = append(jobs[i], job{
				driver.BeginRequest{Turn: t, Now: now, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "ask")}},
				driver.FinishedStep{Turn: t.ID, Owner: "o", Now: now, State: scrollback.TurnComplete,
					Entries: []driver.Entry{w.makeEntry(scrollback.RoleAssistant, "answer")}},
			})
		}
	}
	for _, err := range runTogether(func(i int) error {
		for _, j := range jobs[i] {
			_, err := w.Turns.Begin(w.ctx, j.begin)
			_, saveErr := w.Turns.SaveDraft(w.ctx, driver.SavedDraft{Turn: j.begin.Turn.ID, Owner: "o", Draft: textDraft("x"),
				LeaseUntil: j.begin.Turn.LeaseUntil})
			_, finishErr := w.Turns.FinishStep(w.ctx, j.finish)
			_, readErr := w.Index.FindPostings(w.ctx, driver.PostingQuery{Terms: []string{"ask"}})
			if err := errors.Join(err, saveErr, finishErr, readErr); err != nil {
				return err
			}
		}
		return nil
	}) {
		w.wantOK(err)
	}
	for _, id := range ids {
		if h := w.readHead(id); h.Messages != 2*turns || h.Version != 1+2*turns {
			w.t.Errorf("%d messages at version %d", h.Messages, h.Version)
		}
	}
	wantSame(w.t, "found", workerCount*turns, len(w.searchTerms("answer")))
	CheckInvariants(w.t, w.Driver)
}

// beginRequests returns one call of Begin a worker, on one conversation.
func beginRequests(w *harness, id scrollback.ConversationID, k scrollback.Idempotency) []driver.BeginRequest {
	out := make([]driver.BeginRequest, workerCount)
	for i := range out {
		now := w.advanceClock()
		out[i] = driver.BeginRequest{Now: now, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "ask")},
			Turn: scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")), Conversation: id, State: scrollback.TurnOpen,
				Owner: fmt.Sprint(i), LeaseUntil: now + leaseTime, StartedAt: now, Idempotency: k}}
	}
	return out
}

// testConcurrentBegin: one turn of many opens, also when all take one over.
func testConcurrentBegin(w *harness) {
	c := w.addConversation()
	for round := range int64(3) {
		calls := beginRequests(w, c.ID, scrollback.Idempotency{})
		oneWins(w, runTogether(func(i int) error {
			_, err := w.Turns.Begin(w.ctx, calls[i])
			return err
		}))
		if h := w.readHead(c.ID); h.Messages != round+1 || h.Version != round+2 {
			w.t.Fatalf("%d messages at version %d", h.Messages, h.Version)
		}
		w.now += leaseTime + 1
	}
	CheckInvariants(w.t, w.Driver)
}

// testConcurrentKey: the same request many times at once is one turn.
func testConcurrentKey(w *harness) {
	c := w.addConversation()
	calls := beginRequests(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"})
	got := make([]driver.BeginResult, workerCount)
	for _, err := range runTogether(func(i int) (err error) {
		got[i], err = w.Turns.Begin(w.ctx, calls[i])
		return err
	}) {
		w.wantOK(err)
	}
	fresh := 0
	for _, g := range got {
		wantSame(w.t, "turn", got[0].Turn, g.Turn)
		if !g.Replayed {
			fresh++
		}
	}
	if fresh != 1 || w.readHead(c.ID).Messages != 1 {
		w.t.Fatalf("%d turns began, %d messages", fresh, w.readHead(c.ID).Messages)
	}
}

// testConcurrentAppend: all get in, each run of entries unbroken.
func testConcurrentAppend(w *harness) {
	c := w.addConversation()
	const each, runs = 3, 4
	entries := make([][]driver.Entry, workerCount)
	for i := range entries {
		for range each * runs {
			entries[i] = append(entries[i], w.makeEntry(scrollback.RoleUser, ""))
		}
	}
	for _, err := range runTogether(func(i int) error {
		for r := range runs {
			got, err := w.Log.AppendEntries(w.ctx, driver.Append{Conversation: c.ID, Now: w.now, IfHead: -1,
				Entries: entries[i][r*each : (r+1)*each]})
			if err != nil {
				return err
			}
			if d := got.Messages[each-1].Seq - got.Messages[0].Seq; d != each-1 {
				return fmt.Errorf("a run of %d spans %d seqs", each, d+1)
			}
		}
		return nil
	}) {
		w.wantOK(err)
	}
	wantSame(w.t, "messages", int64(workerCount*each*runs), w.readHead(c.ID).Messages)
	CheckInvariants(w.t, w.Driver)
}

// testConcurrentIfHead: of many who saw the same head, one appends.
func testConcurrentIfHead(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 2)
	entries := make([]driver.Entry, workerCount)
	for i := range entries {
		entries[i] = w.makeEntry(scrollback.RoleUser, "")
	}
	oneWins(w, runTogether(func(i int) error {
		_, err := w.Log.AppendEntries(w.ctx,
			driver.Append{Conversation: c.ID, Now: w.now, IfHead: 2, Entries: entries[i : i+1]})
		return err
	}))
	wantSame(w.t, "messages", int64(3), w.readHead(c.ID).Messages)
	CheckInvariants(w.t, w.Driver)
}

// testConcurrentCommit: one fold of many on the same view.
func testConcurrentCommit(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, workerCount)
	commits := make([]driver.FoldCommit, workerCount)
	for i := range commits {
		commits[i] = plainCommit(w, c, 1, int64(i+1))
	}
	oneWins(w, runTogether(func(i int) error { return w.Views.CommitFold(w.ctx, commits[i]) }))
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.wantOK(err)
	refs := refsOf(w, driver.RefQuery{Conversations: []scrollback.ConversationID{c.ID}, Limit: 9})
	if len(receipts) != 1 || len(refs) != 1 {
		w.t.Fatalf("%d receipts and %d refs of one fold", len(receipts), len(refs))
	}
	wantSame(w.t, "ref and receipt", receipts[0].Refs[0], refs[0].Ref)
}

func textDraft(text string) scrollback.Draft {
	return scrollback.Draft{Content: text, Reasoning: "because", Model: "maker/model",
		ToolCalls: []scrollback.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(`{"a":1}`)}}}
}

// saveDraft keeps a draft and renews the lease.
func (w *harness) saveDraft(t scrollback.Turn, d scrollback.Draft) (bool, error) {
	return w.Turns.SaveDraft(w.ctx,
		driver.SavedDraft{Turn: t.ID, Owner: t.Owner, Draft: d, LeaseUntil: w.advanceClock() + leaseTime})
}

// testMeta: what is kept beside a turn's messages stays from save to save, also when its
// owner is gone, and is found by the turn's id.
func testMeta(w *harness) {
	c := w.addConversation()
	searched := scrollback.TurnMeta{ThinkingMS: 7, Searches: []scrollback.Search{
		{Query: "潮汐 <x>", Results: []scrollback.Source{{Title: "T", URL: "https://a.test/?q=1&r=2", Text: "\"x\""}}},
		{Query: "none", Results: []scrollback.Source{}, Error: "nothing came"}}}
	save := func(t scrollback.Turn, m *scrollback.TurnMeta) {
		_, err := w.Turns.SaveDraft(w.ctx, driver.SavedDraft{Turn: t.ID, Owner: t.Owner, Draft: textDraft("x"), Meta: m,
			LeaseUntil: w.now + leaseTime})
		w.wantOK(err)
	}
	finish := func(t scrollback.Turn, state scrollback.TurnState, m *scrollback.TurnMeta) {
		_, err := w.Turns.FinishStep(w.ctx,
			driver.FinishedStep{Turn: t.ID, Owner: t.Owner, Now: w.advanceClock(), LeaseUntil: w.now + leaseTime,
				State: state, Meta: m})
		w.wantOK(err)
	}
	plain := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	save(plain, nil)
	finish(plain, scrollback.TurnComplete, nil)
	one := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	save(one, &searched)
	save(one, nil)
	wantSame(w.t, "meta of an open turn", &searched, w.readTurn(one.ID).Meta)
	finish(one, scrollback.TurnOpen, nil)
	more := searched
	more.ThinkingMS = 9
	finish(one, scrollback.TurnComplete, &more)
	gone := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	save(gone, &searched)
	w.now += 2 * leaseTime
	w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, ""))
	got, err := w.Turns.ReadMeta(w.ctx, []scrollback.TurnID{plain.ID, one.ID, gone.ID, "unknown", one.ID})
	w.wantOK(err)
	wantSame(w.t, "meta by turn", map[scrollback.TurnID]scrollback.TurnMeta{one.ID: more, gone.ID: searched}, got)
	got, err = w.Turns.ReadMeta(w.ctx, nil)
	w.wantOK(err)
	wantSame(w.t, "of no turns", 0, len(got))
}

// newSalvager makes n messages of what is left of a turn and checks what it is given.
func newSalvager(w *harness, want scrollback.TurnID, n int) func(scrollback.Turn) []driver.Entry {
	var entries []driver.Entry
	for range n {
		entries = append(entries, w.makeEntry(scrollback.RoleAssistant, "salvaged"))
	}
	return func(t scrollback.Turn) []driver.Entry {
		if t.ID != want {
			w.t.Errorf("salvage of %s, want %s", t.ID, want)
		}
		wantSame(w.t, "draft to salvage", textDraft("half an ans"), t.Draft)
		return entries
	}
}

// addExpired returns a turn with a draft, whose lease has ended.
func addExpired(w *harness) (scrollback.Conversation, scrollback.Turn) {
	w.t.Helper()
	c := w.addConversation()
	begun := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, ""))
	_, err := w.saveDraft(begun.Turn, textDraft("half an ans"))
	w.wantOK(err)
	_, err = w.tryBegin(c.ID, nil)
	w.wantCode(err, scrollback.Conflict)
	w.now += leaseTime + 1
	return c, begun.Turn
}

// testLeaseTakenOver: the old turn is closed, what it had comes first, and Admit
// and the caller see it closed.
func testLeaseTakenOver(w *harness) {
	c, old := addExpired(w)
	before := w.readHead(c.ID)
	var admitted scrollback.Turn
	got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Salvage = newSalvager(w, old.ID, 2)
		b.Admit = func(last *scrollback.Turn) error { admitted = *last; return nil }
		b.Now = w.advanceClock()
	}, w.makeEntry(scrollback.RoleUser, "mine"))
	w.wantOK(err)
	wantSame(w.t, "head", w.wantOneWrite(before), got.Head)
	all := w.readMessages(c.Branch, 1, 9)
	if len(all) != 4 || all[1].Role != scrollback.RoleAssistant || all[3].Role != scrollback.RoleUser {
		w.t.Fatalf("log after the takeover: %+v", all)
	}
	wantSame(w.t, "the caller's messages", all[3:], got.Messages)
	w.wantFound([]string{"salvaged"}, all[1], all[2])
	want := old
	want.State = scrollback.TurnInterrupted
	want.EndedAt = w.now
	want.Reply = all[2].ID
	want.LastSeq = 3
	want = withoutLease(want)
	wantSame(w.t, "the old turn", want, w.readTurn(old.ID))
	wantSame(w.t, "admitted", want, withoutLease(admitted))
	wantSame(w.t, "previous", want, withoutLease(*got.Previous))
	if got.Turn.Seq != 4 || got.Turn.State != scrollback.TurnOpen {
		w.t.Fatalf("new turn %+v", got.Turn)
	}
	CheckInvariants(w.t, w.Driver)
}

// testTakeOver: a turn whose lease has ended is closed by the first caller that asks, once; any other turn
// stays as it is.
func testTakeOver(w *harness) {
	c, old := addExpired(w)
	before := w.readHead(c.ID)
	take := func(id scrollback.TurnID, left int) scrollback.Turn {
		w.t.Helper()
		salvage := newSalvager(w, old.ID, left)
		got, err := w.Turns.TakeOver(w.ctx, driver.Takeover{Turn: id, Salvage: salvage, Now: w.advanceClock()})
		w.wantOK(err)
		return got
	}
	got := take(old.ID, 2)
	w.wantOneWrite(before)
	all := w.readMessages(c.Branch, 1, 9)
	if len(all) != 3 || got.State != scrollback.TurnInterrupted || got.Reply != all[2].ID || got.LastSeq != 3 {
		w.t.Fatalf("the turn is %+v; the log %+v", got, all)
	}
	wantSame(w.t, "the turn as stored", withoutLease(got), w.readTurn(old.ID))
	w.wantUnchanged(func() { wantSame(w.t, "the turn once more", withoutLease(got), withoutLease(take(old.ID, 1))) })
	_, err := w.Turns.SaveDraft(w.ctx, driver.SavedDraft{Turn: old.ID, Owner: old.Owner, LeaseUntil: w.now + 9})
	w.wantLeaseLost(err)
	begun := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "mine"))
	w.wantUnchanged(func() {
		if held := take(begun.Turn.ID, 1); held.State != scrollback.TurnOpen {
			w.t.Fatalf("a turn that is held: %+v", held)
		}
	})
	_, err = w.Turns.TakeOver(w.ctx, driver.Takeover{Turn: "nobody", Now: w.now})
	w.wantCode(err, scrollback.NotFound)
	CheckInvariants(w.t, w.Driver)
}

// testLeaseTakenOverUnsalvaged: nothing left, nothing appended.
func testLeaseTakenOverUnsalvaged(w *harness) {
	for _, salvage := range []bool{true, false} {
		c, old := addExpired(w)
		before := w.readHead(c.ID)
		_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			if salvage {
				b.Salvage = newSalvager(w, old.ID, 0)
			}
		})
		w.wantOK(err)
		h := w.wantOneWrite(before)
		got := w.readTurn(old.ID)
		if h.Messages != 1 || got.State != scrollback.TurnInterrupted || got.EndedAt != w.now || got.Reply != "" {
			w.t.Fatalf("%d messages, old turn %+v", h.Messages, got)
		}
	}
}

// testLeaseAdmitRefuses: with a no, not even the old turn is closed.
func testLeaseAdmitRefuses(w *harness) {
	c, old := addExpired(w)
	no := errors.New("no")
	w.wantUnchanged(func() {
		_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			b.Salvage = newSalvager(w, old.ID, 2)
			b.Admit = func(last *scrollback.Turn) error {
				if last.State != scrollback.TurnInterrupted {
					w.t.Errorf("admitted with the old turn %s", last.State)
				}
				return no
			}
		}, w.makeEntry(scrollback.RoleUser, ""))
		if !errors.Is(err, no) {
			w.t.Fatalf("error %v, want Admit's own", err)
		}
	})
	w.finishTurn(old, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, "after all"))
}

// testLeaseLost: an owner whose turn was taken over can write nothing any more.
func testLeaseLost(w *harness) {
	c, old := addExpired(w)
	w.beginTurn(c.ID)
	w.wantUnchanged(func() {
		_, err := w.saveDraft(old, textDraft("late"))
		w.wantLeaseLost(err)
		_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: old.ID, Owner: old.Owner, Now: w.advanceClock(),
			State: scrollback.TurnComplete, Entries: []driver.Entry{w.makeEntry(scrollback.RoleAssistant, "late")}})
		w.wantLeaseLost(err)
		w.wantOK(w.Turns.Stop(w.ctx, old.ID))
	})
	w.wantFound([]string{"late"})
}

// testLeaseLapsed: a lease that ended is still its owner's until somebody takes
// over, and a Save renews it.
func testLeaseLapsed(w *harness) {
	c, old := addExpired(w)
	_, err := w.saveDraft(old, textDraft("more"))
	w.wantOK(err)
	w.wantUnchanged(func() {
		_, err = w.tryBegin(c.ID, nil)
		w.wantCode(err, scrollback.Conflict)
	})
	w.now += leaseTime + 1
	w.finishTurn(old, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, ""))
}

// testSave: the draft and the lease, and nothing else.
func testSave(w *harness) {
	c := w.addConversation()
	begun := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, ""))
	before := w.readHead(c.ID)
	for _, d := range []scrollback.Draft{textDraft("one"), textDraft("two <&> 二"), {}} {
		stop, err := w.saveDraft(begun.Turn, d)
		w.wantOK(err)
		if stop {
			w.t.Fatal("asked to stop by nobody")
		}
		want := begun.Turn
		want.Draft = d
		want.LeaseUntil = w.now + leaseTime
		wantSame(w.t, "turn", want, w.readTurn(want.ID))
	}
	wantSame(w.t, "head", before, w.readHead(c.ID))
}

// testSaveConflict: only the owner, and only while the turn is open.
func testSaveConflict(w *harness) {
	c := w.addConversation()
	turn := w.beginTurn(c.ID).Turn
	thief := turn
	thief.Owner = "thief"
	w.wantUnchanged(func() {
		_, err := w.saveDraft(thief, textDraft("x"))
		w.wantLeaseLost(err)
	})
	w.finishTurn(turn, scrollback.TurnComplete)
	w.wantUnchanged(func() {
		_, err := w.saveDraft(turn, textDraft("x"))
		w.wantLeaseLost(err)
	})
}

// testStop: an open turn hears of it at its next save; an ended one stays.
func testStop(w *harness) {
	c := w.addConversation()
	other := w.addConversation()
	turn := w.beginTurn(c.ID).Turn
	deaf := w.beginTurn(other.ID).Turn
	before := w.readHead(c.ID)
	for range 2 {
		w.wantOK(w.Turns.Stop(w.ctx, turn.ID))
	}
	wantSame(w.t, "head", before, w.readHead(c.ID))
	if !w.readTurn(turn.ID).Cancel {
		w.t.Error("the turn does not say that it was asked to stop")
	}
	for _, rule := range []struct {
		turn scrollback.Turn
		stop bool
	}{{turn, true}, {turn, true}, {deaf, false}} {
		stop, err := w.saveDraft(rule.turn, textDraft("x"))
		w.wantOK(err)
		if stop != rule.stop {
			w.t.Errorf("asked to stop: %v, want %v", stop, rule.stop)
		}
	}
	w.finishTurn(deaf, scrollback.TurnComplete)
	w.wantUnchanged(func() { w.wantOK(w.Turns.Stop(w.ctx, deaf.ID)) })
}
