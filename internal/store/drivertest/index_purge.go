package drivertest

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// purge purges a conversation to the end, two messages at a time.
func (w *indexBench) purge(id scrollback.ConversationID) {
	w.t.Helper()
	for range 1000 {
		p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: id, Now: w.tick(), Limit: 2})
		w.ok(err)
		if p.Done {
			return
		}
	}
	w.t.Fatal("a purge never ends")
}

// forget notes that the messages of a branch from a seq on are gone.
func (w *indexBench) forget(n, from int64) {
	for p := range w.expected {
		if p.Branch() == n && p.Seq() >= from {
			delete(w.expected, p)
		}
	}
}

// located wants just so many of the places that a term is found at to have a message.
func (w *indexBench) located(term string, want int) {
	w.t.Helper()
	got, err := w.Index.ReadMessagesAt(w.ctx, w.find(driver.PostingQuery{Terms: []string{term}})[0].Places)
	w.ok(err)
	w.same("messages found by "+term, want, len(got))
}

// testPurged: nothing of a purged conversation is read at once, and its terms are gone once
// the index was tended; what others said stays.
func testPurged(w *indexBench) {
	a := w.indexed("red only", "red", "blue")
	b := w.indexed("red")
	for range 30 {
		w.say(a[0].ConversationID, append(w.words(3), "only")...)
		w.say(b[0].ConversationID, w.words(2)...)
		w.catchUp(0)
	}
	n := w.number(a[0].Branch)
	w.located("only", 31)
	w.purge(a[0].ConversationID)
	w.located("only", 0)
	lines, err := w.Index.FindBranches(w.ctx, driver.IndexedBranchQuery{Numbers: []int64{n}, Trash: true})
	w.ok(err)
	w.same("its line", 0, len(lines))
	w.forget(n, 0)
	w.tend()
	w.checkAll()
	w.check(driver.PostingQuery{Terms: []string{"only", "on*"}})
	w.say(b[0].ConversationID, "only here")
	w.catchUp(0)
	w.checkAll()
	w.located("only", 1)
}

// testPurgedShared: what another conversation inherits stays in the index, and in its line.
func testPurgedShared(w *indexBench) {
	ms := w.indexed("red one", "red two", "red three", "red four")
	a, err := w.Log.ReadHead(w.ctx, ms[0].ConversationID)
	w.ok(err)
	child := w.fork(a.Conversation, ms[1])
	w.say(child.ID, "red five")
	w.catchUp(0)
	n := w.number(a.Branch.ID)
	w.purge(a.ID)
	w.located("red", 3)
	w.tend()
	w.forget(n, 3)
	w.checkAll()
	w.check(driver.PostingQuery{Terms: []string{"one", "two", "three", "four", "five", "red"}})
	lines, err := w.Index.FindBranches(w.ctx, driver.IndexedBranchQuery{Numbers: []int64{n}, Trash: true})
	w.ok(err)
	w.same("its line", map[int64]driver.IndexedBranch{n: {Number: n, Branch: a.Branch.ID, Conversation: a.ID,
		First: 1, Head: 2}},
		lines)
	w.purge(child.ID)
	w.purge(a.ID)
	w.tend()
	w.expected = map[driver.Place]driver.Document{}
	w.checkAll()
	w.located("red", 0)
}

// testPurgedBehind: a batch that was read before a purge brings nothing back.
func testPurgedBehind(w *indexBench) {
	a := w.indexed("red")
	w.say(a[0].ConversationID, "red", "blue")
	other := w.conversation("one")
	w.say(other.ID, "red")
	s, behind := w.behind(10)
	d := driver.DocumentBatch{Cut: cut, From: s.Watermark, To: behind[2].Number}
	for _, m := range behind {
		d.All = append(d.All, document(m))
	}
	n := w.number(a[0].Branch)
	w.purge(a[0].ConversationID)
	put, err := w.Index.PutDocuments(w.ctx, d)
	w.ok(err)
	w.same("put", true, put)
	w.expect(d.All...)
	w.forget(n, 0)
	w.located("red", 1)
	w.tend()
	w.checkAll()
}

// testPurgedNewest: numbers of messages and branches do not come twice, also after the
// newest of them were purged: what is said next is behind the index.
func testPurgedNewest(w *indexBench) {
	w.indexed("red")
	for range 3 {
		old := w.indexed("blue", "blue", "blue")
		n := w.number(old[0].Branch)
		watermark := w.state().Watermark
		w.purge(old[0].ConversationID)
		w.forget(n, 0)
		c := w.conversation("one")
		w.say(c.ID, "blue green")
		if again := w.number(c.Branch); again <= n {
			w.t.Fatalf("a branch has number %d after %d", again, n)
		}
		_, behind := w.behind(10)
		if len(behind) != 1 || behind[0].Number <= watermark {
			w.t.Fatalf("behind the watermark %d: %+v", watermark, behind)
		}
		w.catchUp(0)
		w.located("blue", 1)
		w.tend()
		w.checkAll()
		w.purge(c.ID)
		w.forget(behind[0].Place.Branch(), 0)
		w.tend()
		w.checkAll()
	}
}

// testClosed: a closed database and a caller who has gone get an error from every method.
func testClosed(w *indexBench) {
	ms := w.indexed("red")
	place := driver.NewPlace(w.number(ms[0].Branch), 1)
	calls := map[string]func(context.Context) error{
		"State": func(ctx context.Context) error { _, err := w.Index.ReadState(ctx); return err },
		"Behind": func(ctx context.Context) error {
			_, err := w.Index.ReadUnindexed(ctx, driver.UnindexedQuery{Limit: 1})
			return err
		},
		"Put": func(ctx context.Context) error {
			_, err := w.Index.PutDocuments(ctx, driver.DocumentBatch{Cut: cut, From: 1 << 40})
			return err
		},
		"Reset": func(ctx context.Context) error { return w.Index.Reset(ctx, cut) },
		"Tend":  func(ctx context.Context) error { _, err := w.Index.Maintain(ctx); return err },
		"Postings": func(ctx context.Context) error {
			_, err := w.Index.FindPostings(ctx, driver.PostingQuery{Terms: []string{"red"}})
			return err
		},
		"Lines": func(ctx context.Context) error {
			_, err := w.Index.FindBranches(ctx, driver.IndexedBranchQuery{Numbers: []int64{place.Branch()}})
			return err
		},
		"LinesOf": func(ctx context.Context) error {
			_, err := w.Index.ListBranchesOf(ctx, []scrollback.ConversationID{ms[0].ConversationID})
			return err
		},
		"Marks": func(ctx context.Context) error { _, err := w.Index.ReadMarks(ctx, []driver.Place{place}); return err },
		"Located": func(ctx context.Context) error {
			_, err := w.Index.ReadMessagesAt(ctx, []driver.Place{place})
			return err
		},
	}
	ended, cancel := context.WithCancel(w.ctx)
	cancel()
	for name, call := range calls {
		if err := call(ended); scrollback.CodeOf(err) != scrollback.Canceled {
			w.t.Errorf("%s for a caller who has gone: %v", name, err)
		}
	}
	w.checkAll()
	w.ok(w.Close())
	for name, call := range calls {
		if err := call(w.ctx); scrollback.CodeOf(err) != scrollback.Unavailable {
			w.t.Errorf("%s of a closed database: %v", name, err)
		}
	}
}
