package drivertest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// workers is how many goroutines meet at one driver.
const workers = 8

// together runs call on every worker at once and answers their errors.
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
func (w *bench) oneWins(errs []error) {
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
		begin  driver.Begin
		finish driver.Finish
	}
	jobs := make([][]job, workers)
	ids := make([]scrollback.ConversationID, workers)
	for i := range jobs {
		ids[i] = w.conversation().ID
		for range turns {
			now := w.tick()
			t := scrollback.Turn{ID: scrollback.TurnID(w.id("turn")), Conversation: ids[i], State: scrollback.TurnOpen, Owner: "o",
				LeaseUntil: now + lease, StartedAt: now}
			jobs[i] = append(jobs[i], job{
				driver.Begin{Turn: t, Now: now, Entries: []driver.Entry{w.entry(scrollback.RoleUser, "ask")}},
				driver.Finish{Turn: t.ID, Owner: "o", Now: now, State: scrollback.TurnComplete,
					Entries: []driver.Entry{w.entry(scrollback.RoleAssistant, "answer")}},
			})
		}
	}
	for _, err := range together(func(i int) error {
		for _, j := range jobs[i] {
			_, err := w.Begin(w.ctx, j.begin)
			_, saveErr := w.Save(w.ctx, driver.Save{Turn: j.begin.Turn.ID, Owner: "o", Draft: draft("x"), LeaseUntil: j.begin.Turn.LeaseUntil})
			_, finishErr := w.Finish(w.ctx, j.finish)
			_, readErr := w.Search(w.ctx, driver.SearchQuery{Match: anyOf("ask"), Limit: 5})
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
	same(w.t, "found", workers*turns, len(w.search(driver.SearchQuery{Match: anyOf("answer")}).Found))
	Check(w.t, w.Driver)
}

// begins is one call of Begin a worker, on one conversation.
func (w *bench) begins(id scrollback.ConversationID, k scrollback.Idempotency) []driver.Begin {
	out := make([]driver.Begin, workers)
	for i := range out {
		now := w.tick()
		out[i] = driver.Begin{Now: now, Entries: []driver.Entry{w.entry(scrollback.RoleUser, "ask")},
			Turn: scrollback.Turn{ID: scrollback.TurnID(w.id("turn")), Conversation: id, State: scrollback.TurnOpen,
				Owner: fmt.Sprint(i), LeaseUntil: now + lease, StartedAt: now, Idempotency: k}}
	}
	return out
}

// testConcurrentBegin: one turn of many opens, also when all take one over.
func testConcurrentBegin(w *bench) {
	c := w.conversation()
	for round := range int64(3) {
		calls := w.begins(c.ID, scrollback.Idempotency{})
		w.oneWins(together(func(i int) error {
			_, err := w.Begin(w.ctx, calls[i])
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
	calls := w.begins(c.ID, scrollback.Idempotency{Key: "k", Hash: "h"})
	got := make([]driver.Begun, workers)
	for _, err := range together(func(i int) (err error) {
		got[i], err = w.Begin(w.ctx, calls[i])
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
			got, err := w.Append(w.ctx, driver.Append{Conversation: c.ID, Now: w.now, IfHead: -1, Entries: entries[i][r*each : (r+1)*each]})
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
	w.oneWins(together(func(i int) error {
		_, err := w.Append(w.ctx, driver.Append{Conversation: c.ID, Now: w.now, IfHead: 2, Entries: entries[i : i+1]})
		return err
	}))
	same(w.t, "messages", int64(3), w.head(c.ID).Messages)
	Check(w.t, w.Driver)
}

// testConcurrentCommit: one fold of many on the same view.
func testConcurrentCommit(w *bench) {
	c := w.conversation()
	w.say(c.ID, workers)
	commits := make([]driver.Commit, workers)
	for i := range commits {
		commits[i] = w.plainCommit(c, 1, int64(i+1))
	}
	w.oneWins(together(func(i int) error { return w.Commit(w.ctx, commits[i]) }))
	receipts, err := w.Receipts(w.ctx, c.ID, 9)
	w.ok(err)
	refs := w.refs(driver.RefQuery{Conversations: []scrollback.ConversationID{c.ID}, Limit: 9})
	if len(receipts) != 1 || len(refs) != 1 {
		w.t.Fatalf("%d receipts and %d refs of one fold", len(receipts), len(refs))
	}
	same(w.t, "ref and receipt", receipts[0].Refs[0], refs[0].Ref)
}
