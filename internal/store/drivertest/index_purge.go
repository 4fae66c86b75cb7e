package drivertest

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// purgeConversation purges a conversation to the end, two messages at a time.
func (w *indexHarness) purgeConversation(id scrollback.ConversationID) {
	w.t.Helper()
	for range 1000 {
		p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: id, Now: w.advanceClock(), Limit: 2})
		w.wantOK(err)
		if p.Done {
			return
		}
	}
	w.t.Fatal("a purge never ends")
}

// forgetFrom notes that the messages of a branch from a seq on are gone.
func (w *indexHarness) forgetFrom(n, from int64) {
	for p := range w.expected {
		if p.Branch() == n && p.Seq() >= from {
			delete(w.expected, p)
		}
	}
}

// wantLocated wants exactly that number of a term's places to have a message.
func (w *indexHarness) wantLocated(term string, want int) {
	w.t.Helper()
	got, err := w.Index.ReadMessagesAt(w.ctx, w.findPostings(driver.PostingQuery{Terms: []string{term}})[0].Places)
	w.wantOK(err)
	w.wantSame("messages found by "+term, want, len(got))
}

// testPurged: nothing of a purged conversation is read at once, and its terms are gone once
// the index was maintained; what others said stays.
func testPurged(w *indexHarness) {
	a := w.addIndexed("red only", "red", "blue")
	b := w.addIndexed("red")
	for range 30 {
		w.appendMessages(a[0].ConversationID, append(w.randomTexts(3), "only")...)
		w.appendMessages(b[0].ConversationID, w.randomTexts(2)...)
		w.catchUp(0)
	}
	n := w.branchNumber(a[0].Branch)
	w.wantLocated("only", 31)
	w.purgeConversation(a[0].ConversationID)
	w.wantLocated("only", 0)
	lines, err := w.Index.FindBranches(w.ctx, driver.IndexedBranchQuery{Numbers: []int64{n}, Trash: true})
	w.wantOK(err)
	w.wantSame("its line", 0, len(lines))
	w.forgetFrom(n, 0)
	w.maintainAll()
	w.checkAll()
	w.checkQuery(driver.PostingQuery{Terms: []string{"only", "on*"}})
	w.appendMessages(b[0].ConversationID, "only here")
	w.catchUp(0)
	w.checkAll()
	w.wantLocated("only", 1)
}

// testPurgedShared: what another conversation inherits stays in the index, and in its line.
func testPurgedShared(w *indexHarness) {
	ms := w.addIndexed("red one", "red two", "red three", "red four")
	a, err := w.Log.ReadHead(w.ctx, ms[0].ConversationID)
	w.wantOK(err)
	child := w.addFork(a.Conversation, ms[1])
	w.appendMessages(child.ID, "red five")
	w.catchUp(0)
	n := w.branchNumber(a.Branch.ID)
	w.purgeConversation(a.ID)
	w.wantLocated("red", 3)
	w.maintainAll()
	w.forgetFrom(n, 3)
	w.checkAll()
	w.checkQuery(driver.PostingQuery{Terms: []string{"one", "two", "three", "four", "five", "red"}})
	lines, err := w.Index.FindBranches(w.ctx, driver.IndexedBranchQuery{Numbers: []int64{n}, Trash: true})
	w.wantOK(err)
	w.wantSame("its line", map[int64]driver.IndexedBranch{n: {Number: n, Branch: a.Branch.ID, Conversation: a.ID,
		First: 1, Head: 2}},
		lines)
	w.purgeConversation(child.ID)
	w.purgeConversation(a.ID)
	w.maintainAll()
	w.expected = map[driver.Place]driver.Document{}
	w.checkAll()
	w.wantLocated("red", 0)
}

// testPurgedBehind: a batch that was read before a purge brings nothing back.
func testPurgedBehind(w *indexHarness) {
	a := w.addIndexed("red")
	w.appendMessages(a[0].ConversationID, "red", "blue")
	other := w.addConversation("one")
	w.appendMessages(other.ID, "red")
	s, behind := w.readUnindexed(10)
	d := driver.DocumentBatch{Cut: cutName, From: s.Watermark, To: behind[2].Number}
	for _, m := range behind {
		d.All = append(d.All, makeDocument(m))
	}
	n := w.branchNumber(a[0].Branch)
	w.purgeConversation(a[0].ConversationID)
	put, err := w.Index.PutDocuments(w.ctx, d)
	w.wantOK(err)
	w.wantSame("put", true, put)
	w.expectDocuments(d.All...)
	w.forgetFrom(n, 0)
	w.wantLocated("red", 1)
	w.maintainAll()
	w.checkAll()
}

// testPurgedNewest: numbers of messages and branches do not come twice, also after the
// newest of them were purged: what is said next is behind the index.
func testPurgedNewest(w *indexHarness) {
	w.addIndexed("red")
	for range 3 {
		old := w.addIndexed("blue", "blue", "blue")
		n := w.branchNumber(old[0].Branch)
		watermark := w.readState().Watermark
		w.purgeConversation(old[0].ConversationID)
		w.forgetFrom(n, 0)
		c := w.addConversation("one")
		w.appendMessages(c.ID, "blue green")
		if again := w.branchNumber(c.Branch); again <= n {
			w.t.Fatalf("a branch has number %d after %d", again, n)
		}
		_, behind := w.readUnindexed(10)
		if len(behind) != 1 || behind[0].Number <= watermark {
			w.t.Fatalf("behind the watermark %d: %+v", watermark, behind)
		}
		w.catchUp(0)
		w.wantLocated("blue", 1)
		w.maintainAll()
		w.checkAll()
		w.purgeConversation(c.ID)
		w.forgetFrom(behind[0].Place.Branch(), 0)
		w.maintainAll()
		w.checkAll()
	}
}

// testClosed: a closed database and a caller who has gone get an error from every method.
func testClosed(w *indexHarness) {
	ms := w.addIndexed("red")
	place := driver.NewPlace(w.branchNumber(ms[0].Branch), 1)
	calls := map[string]func(context.Context) error{
		"State": func(ctx context.Context) error { _, err := w.Index.ReadState(ctx); return err },
		"Behind": func(ctx context.Context) error {
			_, err := w.Index.ReadUnindexed(ctx, driver.UnindexedQuery{Limit: 1})
			return err
		},
		"Put": func(ctx context.Context) error {
			_, err := w.Index.PutDocuments(ctx, driver.DocumentBatch{Cut: cutName, From: 1 << 40})
			return err
		},
		"Reset": func(ctx context.Context) error { return w.Index.Reset(ctx, cutName) },
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
	w.wantOK(w.Close())
	for name, call := range calls {
		if err := call(w.ctx); scrollback.CodeOf(err) != scrollback.Unavailable {
			w.t.Errorf("%s of a closed database: %v", name, err)
		}
	}
}
