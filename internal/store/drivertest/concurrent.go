package drivertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// workers is how many goroutines meet at one driver.
const workers = 8

// together runs call on every worker at once and returns their errors.
func together(call func(i int) error) []error {
	var wg sync.WaitGroup
	errs := make([]error, workers)
	start := make(chan struct{})
	for i := range workers {
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
func oneWins(w *bench, errs []error) {
	w.t.Helper()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		w.code(err, scrollback.Conflict)
	}
	if won != 1 {
		w.t.Fatalf("%d of %d won: %v", won, workers, errs)
	}
}

// testConcurrentConversations: turns of different conversations all get through.
func testConcurrentConversations(w *bench) {
	const turns = 5
	type job struct {
		begin  driver.BeginRequest
		finish driver.FinishedStep
	}
	jobs := make([][]job, workers)
	ids := make([]scrollback.ConversationID, workers)
	for i := range jobs {
		ids[i] = w.conversation().ID
		for range turns {
			now := w.tick()
			t := scrollback.Turn{ID: scrollback.TurnID(w.id("turn")), Conversation: ids[i], State: scrollback.TurnOpen,
				Owner:      "o",
				LeaseUntil: now + lease, StartedAt: now}
			jobs[i] = append(jobs[i], job{
				driver.BeginRequest{Turn: t, Now: now, Entries: []driver.Entry{w.entry(scrollback.RoleUser, "ask")}},
				driver.FinishedStep{Turn: t.ID, Owner: "o", Now: now, State: scrollback.TurnComplete,
					Entries: []driver.Entry{w.entry(scrollback.RoleAssistant, "answer")}},
			})
		}
	}
	for _, err := range together(func(i int) error {
		for _, j := range jobs[i] {
			_, err := w.Turns.Begin(w.ctx, j.begin)
			_, saveErr := w.Turns.SaveDraft(w.ctx, driver.SavedDraft{Turn: j.begin.Turn.ID, Owner: "o", Draft: draft("x"),
				LeaseUntil: j.begin.Turn.LeaseUntil})
			_, finishErr := w.Turns.FinishStep(w.ctx, j.finish)
			_, readErr := w.Index.FindPostings(w.ctx, driver.PostingQuery{Terms: []string{"ask"}})
			if err := errors.Join(err, saveErr, finishErr, readErr); err != nil {
				return err
			}
		}
		return nil
	}) {
		w.ok(err)
	}
	for _, id := range ids {
		if h := w.head(id); h.Messages != 2*turns || h.Version != 1+2*turns {
			w.t.Errorf("%d messages at version %d", h.Messages, h.Version)
		}
	}
	same(w.t, "found", workers*turns, len(w.search("answer")))
	Check(w.t, w.Driver)
}

// begins is one call of Begin a worker, on one conversation.
func begins(w *bench, id scrollback.ConversationID, k scrollback.Idempotency) []driver.BeginRequest {
	out := make([]driver.BeginRequest, workers)
	for i := range out {
		now := w.tick()
		out[i] = driver.BeginRequest{Now: now, Entries: []driver.Entry{w.entry(scrollback.RoleUser, "ask")},
			Turn: scrollback.Turn{ID: scrollback.TurnID(w.id("turn")), Conversation: id, State: scrollback.TurnOpen,
				Owner: fmt.Sprint(i), LeaseUntil: now + lease, StartedAt: now, Idempotency: k}}
	}
	return out
}

// testConcurrentBegin: one turn of many opens, also when all take one over.
func testConcurrentBegin(w *bench) {
	c := w.conversation()
	for round := range int64(3) {
		calls := begins(w, c.ID, scrollback.Idempotency{})
		oneWins(w, together(func(i int) error {
			_, err := w.Turns.Begin(w.ctx, calls[i])
			return err
		}))
		if h := w.head(c.ID); h.Messages != round+1 || h.Version != round+2 {
			w.t.Fatalf("%d messages at version %d", h.Messages, h.Version)
		}
		w.now += lease + 1
	}
	Check(w.t, w.Driver)
}

// testConcurrentKey: the same request many times at once is one turn.
func testConcurrentKey(w *bench) {
	c := w.conversation()
	calls := begins(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"})
	got := make([]driver.BeginResult, workers)
	for _, err := range together(func(i int) (err error) {
		got[i], err = w.Turns.Begin(w.ctx, calls[i])
		return err
	}) {
		w.ok(err)
	}
	fresh := 0
	for _, g := range got {
		same(w.t, "turn", got[0].Turn, g.Turn)
		if !g.Replayed {
			fresh++
		}
	}
	if fresh != 1 || w.head(c.ID).Messages != 1 {
		w.t.Fatalf("%d turns began, %d messages", fresh, w.head(c.ID).Messages)
	}
}

// testConcurrentAppend: all get in, each run of entries unbroken.
func testConcurrentAppend(w *bench) {
	c := w.conversation()
	const each, runs = 3, 4
	entries := make([][]driver.Entry, workers)
	for i := range entries {
		for range each * runs {
			entries[i] = append(entries[i], w.entry(scrollback.RoleUser, ""))
		}
	}
	for _, err := range together(func(i int) error {
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
		w.ok(err)
	}
	same(w.t, "messages", int64(workers*each*runs), w.head(c.ID).Messages)
	Check(w.t, w.Driver)
}

// testConcurrentIfHead: of many who saw the same head, one appends.
func testConcurrentIfHead(w *bench) {
	c := w.conversation()
	w.say(c.ID, 2)
	entries := make([]driver.Entry, workers)
	for i := range entries {
		entries[i] = w.entry(scrollback.RoleUser, "")
	}
	oneWins(w, together(func(i int) error {
		_, err := w.Log.AppendEntries(w.ctx,
			driver.Append{Conversation: c.ID, Now: w.now, IfHead: 2, Entries: entries[i : i+1]})
		return err
	}))
	same(w.t, "messages", int64(3), w.head(c.ID).Messages)
	Check(w.t, w.Driver)
}

// testConcurrentCommit: one fold of many on the same view.
func testConcurrentCommit(w *bench) {
	c := w.conversation()
	w.say(c.ID, workers)
	commits := make([]driver.FoldCommit, workers)
	for i := range commits {
		commits[i] = plainCommit(w, c, 1, int64(i+1))
	}
	oneWins(w, together(func(i int) error { return w.Views.CommitFold(w.ctx, commits[i]) }))
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.ok(err)
	refs := refsOf(w, driver.RefQuery{Conversations: []scrollback.ConversationID{c.ID}, Limit: 9})
	if len(receipts) != 1 || len(refs) != 1 {
		w.t.Fatalf("%d receipts and %d refs of one fold", len(receipts), len(refs))
	}
	same(w.t, "ref and receipt", receipts[0].Refs[0], refs[0].Ref)
}

func draft(text string) scrollback.Draft {
	return scrollback.Draft{Content: text, Reasoning: "because", Model: "maker/model",
		ToolCalls: []scrollback.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(`{"a":1}`)}}}
}

// save keeps a draft and renews the lease.
func (w *bench) save(t scrollback.Turn, d scrollback.Draft) (bool, error) {
	return w.Turns.SaveDraft(w.ctx, driver.SavedDraft{Turn: t.ID, Owner: t.Owner, Draft: d, LeaseUntil: w.tick() + lease})
}

// testMeta: what is kept beside a turn's messages stays from save to save, also when its
// owner is gone, and is found by the turn's id.
func testMeta(w *bench) {
	c := w.conversation()
	searched := scrollback.TurnMeta{ThinkingMS: 7, Searches: []scrollback.Search{
		{Query: "潮汐 <x>", Results: []scrollback.Source{{Title: "T", URL: "https://a.test/?q=1&r=2", Text: "\"x\""}}},
		{Query: "none", Results: []scrollback.Source{}, Error: "nothing came"}}}
	save := func(t scrollback.Turn, m *scrollback.TurnMeta) {
		_, err := w.Turns.SaveDraft(w.ctx, driver.SavedDraft{Turn: t.ID, Owner: t.Owner, Draft: draft("x"), Meta: m,
			LeaseUntil: w.now + lease})
		w.ok(err)
	}
	finish := func(t scrollback.Turn, state scrollback.TurnState, m *scrollback.TurnMeta) {
		_, err := w.Turns.FinishStep(w.ctx,
			driver.FinishedStep{Turn: t.ID, Owner: t.Owner, Now: w.tick(), LeaseUntil: w.now + lease,
				State: state, Meta: m})
		w.ok(err)
	}
	plain := w.begin(c.ID, w.entry(scrollback.RoleUser, "")).Turn
	save(plain, nil)
	finish(plain, scrollback.TurnComplete, nil)
	one := w.begin(c.ID, w.entry(scrollback.RoleUser, "")).Turn
	save(one, &searched)
	save(one, nil)
	same(w.t, "meta of an open turn", &searched, w.turn(one.ID).Meta)
	finish(one, scrollback.TurnOpen, nil)
	more := searched
	more.ThinkingMS = 9
	finish(one, scrollback.TurnComplete, &more)
	gone := w.begin(c.ID, w.entry(scrollback.RoleUser, "")).Turn
	save(gone, &searched)
	w.now += 2 * lease
	w.begin(c.ID, w.entry(scrollback.RoleUser, ""))
	got, err := w.Turns.ReadMeta(w.ctx, []scrollback.TurnID{plain.ID, one.ID, gone.ID, "unknown", one.ID})
	w.ok(err)
	same(w.t, "meta by turn", map[scrollback.TurnID]scrollback.TurnMeta{one.ID: more, gone.ID: searched}, got)
	got, err = w.Turns.ReadMeta(w.ctx, nil)
	w.ok(err)
	same(w.t, "of no turns", 0, len(got))
}

// salvager makes n messages of what is left of a turn and checks what it is given.
func salvager(w *bench, want scrollback.TurnID, n int) func(scrollback.Turn) []driver.Entry {
	var entries []driver.Entry
	for range n {
		entries = append(entries, w.entry(scrollback.RoleAssistant, "salvaged"))
	}
	return func(t scrollback.Turn) []driver.Entry {
		if t.ID != want {
			w.t.Errorf("salvage of %s, want %s", t.ID, want)
		}
		same(w.t, "draft to salvage", draft("half an ans"), t.Draft)
		return entries
	}
}

// expired is a turn with a draft, whose lease has ended.
func expired(w *bench) (scrollback.Conversation, scrollback.Turn) {
	w.t.Helper()
	c := w.conversation()
	begun := w.begin(c.ID, w.entry(scrollback.RoleUser, ""))
	_, err := w.save(begun.Turn, draft("half an ans"))
	w.ok(err)
	_, err = w.tryBegin(c.ID, nil)
	w.code(err, scrollback.Conflict)
	w.now += lease + 1
	return c, begun.Turn
}

// testLeaseTakenOver: the old turn is closed, what it had comes first, and Admit
// and the caller see it closed.
func testLeaseTakenOver(w *bench) {
	c, old := expired(w)
	before := w.head(c.ID)
	var admitted scrollback.Turn
	got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Salvage = salvager(w, old.ID, 2)
		b.Admit = func(last *scrollback.Turn) error { admitted = *last; return nil }
		b.Now = w.tick()
	}, w.entry(scrollback.RoleUser, "mine"))
	w.ok(err)
	same(w.t, "head", w.wrote(before), got.Head)
	all := w.messages(c.Branch, 1, 9)
	if len(all) != 4 || all[1].Role != scrollback.RoleAssistant || all[3].Role != scrollback.RoleUser {
		w.t.Fatalf("log after the takeover: %+v", all)
	}
	same(w.t, "the caller's messages", all[3:], got.Messages)
	w.finds([]string{"salvaged"}, all[1], all[2])
	want := old
	want.State = scrollback.TurnInterrupted
	want.EndedAt = w.now
	want.Reply = all[2].ID
	want.LastSeq = 3
	want = settled(want)
	same(w.t, "the old turn", want, w.turn(old.ID))
	same(w.t, "admitted", want, settled(admitted))
	same(w.t, "previous", want, settled(*got.Previous))
	if got.Turn.Seq != 4 || got.Turn.State != scrollback.TurnOpen {
		w.t.Fatalf("new turn %+v", got.Turn)
	}
	Check(w.t, w.Driver)
}

// testTakeOver: a turn whose lease has ended is closed by whoever asks, once; any other turn
// stays as it is.
func testTakeOver(w *bench) {
	c, old := expired(w)
	before := w.head(c.ID)
	take := func(id scrollback.TurnID, left int) scrollback.Turn {
		w.t.Helper()
		salvage := salvager(w, old.ID, left)
		got, err := w.Turns.TakeOver(w.ctx, driver.Takeover{Turn: id, Salvage: salvage, Now: w.tick()})
		w.ok(err)
		return got
	}
	got := take(old.ID, 2)
	w.wrote(before)
	all := w.messages(c.Branch, 1, 9)
	if len(all) != 3 || got.State != scrollback.TurnInterrupted || got.Reply != all[2].ID || got.LastSeq != 3 {
		w.t.Fatalf("the turn is %+v; the log %+v", got, all)
	}
	same(w.t, "the turn as stored", settled(got), w.turn(old.ID))
	w.unchanged(func() { same(w.t, "the turn once more", settled(got), settled(take(old.ID, 1))) })
	_, err := w.Turns.SaveDraft(w.ctx, driver.SavedDraft{Turn: old.ID, Owner: old.Owner, LeaseUntil: w.now + 9})
	w.lost(err)
	begun := w.begin(c.ID, w.entry(scrollback.RoleUser, "mine"))
	w.unchanged(func() {
		if held := take(begun.Turn.ID, 1); held.State != scrollback.TurnOpen {
			w.t.Fatalf("a turn that is held: %+v", held)
		}
	})
	_, err = w.Turns.TakeOver(w.ctx, driver.Takeover{Turn: "nobody", Now: w.now})
	w.code(err, scrollback.NotFound)
	Check(w.t, w.Driver)
}

// testLeaseTakenOverUnsalvaged: nothing left, nothing appended.
func testLeaseTakenOverUnsalvaged(w *bench) {
	for _, salvage := range []bool{true, false} {
		c, old := expired(w)
		before := w.head(c.ID)
		_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			if salvage {
				b.Salvage = salvager(w, old.ID, 0)
			}
		})
		w.ok(err)
		h := w.wrote(before)
		got := w.turn(old.ID)
		if h.Messages != 1 || got.State != scrollback.TurnInterrupted || got.EndedAt != w.now || got.Reply != "" {
			w.t.Fatalf("%d messages, old turn %+v", h.Messages, got)
		}
	}
}

// testLeaseAdmitRefuses: with a no, not even the old turn is closed.
func testLeaseAdmitRefuses(w *bench) {
	c, old := expired(w)
	no := errors.New("no")
	w.unchanged(func() {
		_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			b.Salvage = salvager(w, old.ID, 2)
			b.Admit = func(last *scrollback.Turn) error {
				if last.State != scrollback.TurnInterrupted {
					w.t.Errorf("admitted with the old turn %s", last.State)
				}
				return no
			}
		}, w.entry(scrollback.RoleUser, ""))
		if !errors.Is(err, no) {
			w.t.Fatalf("error %v, want Admit's own", err)
		}
	})
	w.finish(old, scrollback.TurnComplete, w.entry(scrollback.RoleAssistant, "after all"))
}

// testLeaseLost: whoever was taken over from writes nothing any more.
func testLeaseLost(w *bench) {
	c, old := expired(w)
	w.begin(c.ID)
	w.unchanged(func() {
		_, err := w.save(old, draft("late"))
		w.lost(err)
		_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: old.ID, Owner: old.Owner, Now: w.tick(),
			State: scrollback.TurnComplete, Entries: []driver.Entry{w.entry(scrollback.RoleAssistant, "late")}})
		w.lost(err)
		w.ok(w.Turns.Stop(w.ctx, old.ID))
	})
	w.finds([]string{"late"})
}

// testLeaseLapsed: a lease that ended is still its owner's until somebody takes
// over, and a Save renews it.
func testLeaseLapsed(w *bench) {
	c, old := expired(w)
	_, err := w.save(old, draft("more"))
	w.ok(err)
	w.unchanged(func() {
		_, err = w.tryBegin(c.ID, nil)
		w.code(err, scrollback.Conflict)
	})
	w.now += lease + 1
	w.finish(old, scrollback.TurnComplete, w.entry(scrollback.RoleAssistant, ""))
}

// testSave: the draft and the lease, and nothing else.
func testSave(w *bench) {
	c := w.conversation()
	begun := w.begin(c.ID, w.entry(scrollback.RoleUser, ""))
	before := w.head(c.ID)
	for _, d := range []scrollback.Draft{draft("one"), draft("two <&> 二"), {}} {
		stop, err := w.save(begun.Turn, d)
		w.ok(err)
		if stop {
			w.t.Fatal("asked to stop by nobody")
		}
		want := begun.Turn
		want.Draft = d
		want.LeaseUntil = w.now + lease
		same(w.t, "turn", want, w.turn(want.ID))
	}
	same(w.t, "head", before, w.head(c.ID))
}

// testSaveConflict: only the owner, and only while the turn is open.
func testSaveConflict(w *bench) {
	c := w.conversation()
	turn := w.begin(c.ID).Turn
	thief := turn
	thief.Owner = "thief"
	w.unchanged(func() {
		_, err := w.save(thief, draft("x"))
		w.lost(err)
	})
	w.finish(turn, scrollback.TurnComplete)
	w.unchanged(func() {
		_, err := w.save(turn, draft("x"))
		w.lost(err)
	})
}

// testStop: an open turn hears of it at its next save; an ended one stays.
func testStop(w *bench) {
	c := w.conversation()
	other := w.conversation()
	turn := w.begin(c.ID).Turn
	deaf := w.begin(other.ID).Turn
	before := w.head(c.ID)
	for range 2 {
		w.ok(w.Turns.Stop(w.ctx, turn.ID))
	}
	same(w.t, "head", before, w.head(c.ID))
	if !w.turn(turn.ID).Cancel {
		w.t.Error("the turn does not say that it was asked to stop")
	}
	for _, rule := range []struct {
		turn scrollback.Turn
		stop bool
	}{{turn, true}, {turn, true}, {deaf, false}} {
		stop, err := w.save(rule.turn, draft("x"))
		w.ok(err)
		if stop != rule.stop {
			w.t.Errorf("asked to stop: %v, want %v", stop, rule.stop)
		}
	}
	w.finish(deaf, scrollback.TurnComplete)
	w.unchanged(func() { w.ok(w.Turns.Stop(w.ctx, deaf.ID)) })
}
