package drivertest

import (
	"fmt"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// testEmpty: a new index is of no cut, and finds nothing.
func testEmpty(w *indexHarness) {
	w.wantSame("state", driver.IndexState{}, w.readState())
	_, behind := w.readUnindexed(10)
	w.wantSame("behind", 0, len(behind))
	w.checkQuery(driver.PostingQuery{Terms: []string{"red", "re*"}})
	w.checkQuery(driver.PostingQuery{})
	more, err := w.Index.Maintain(w.ctx)
	w.wantOK(err)
	w.wantSame("more to tend", false, more)
}

// testBehind: messages come as they are read elsewhere, in the order in which they were
// stored, as many as asked for.
func testBehind(w *indexHarness) {
	a := w.addConversation("one")
	b := w.addConversation("one")
	var want []scrollback.Message
	for i := range 6 {
		id := a.ID
		if i%3 == 1 {
			id = b.ID
		}
		want = append(want, w.appendMessages(id, w.randomTexts(4)...)...)
	}
	var got []scrollback.Message
	last := int64(0)
	_, all := w.readUnindexed(1000)
	for _, m := range all {
		if m.Number <= last {
			w.t.Fatalf("number %d after %d", m.Number, last)
		}
		last = m.Number
		if m.Place.Seq() != m.Seq || m.Place != driver.NewPlace(w.branchNumber(m.Branch), m.Seq) {
			w.t.Fatalf("message #%d of branch %s, number %d, is at %d, #%d", m.Seq, m.Branch, w.branchNumber(m.Branch),
				m.Place.Branch(), m.Place.Seq())
		}
		got = append(got, m.Message)
	}
	w.wantSame("messages", want, got)
	w.wantSame("the newest", last, w.readState().Newest)

	read := func(q driver.UnindexedQuery) int {
		some, err := w.Index.ReadUnindexed(w.ctx, q)
		w.wantOK(err)
		for i, m := range some {
			if at := len(all) - len(some) + i; q.After > 0 && q.Bytes == 0 && q.Limit > len(all) && m.Number != all[at].Number {
				w.t.Fatalf("%+v: number %d, want %d", q, m.Number, all[at].Number)
			}
		}
		return len(some)
	}
	w.wantSame("five", 5, read(driver.UnindexedQuery{Limit: 5}))
	w.wantSame("after the fifth", len(all)-5, read(driver.UnindexedQuery{After: all[4].Number, Limit: 1000}))
	w.wantSame("after the last", 0, read(driver.UnindexedQuery{After: last, Limit: 1000}))
	w.wantSame("a byte is one message", 1, read(driver.UnindexedQuery{Limit: 1000, Bytes: 1}))
	w.wantSame("many bytes", len(all), read(driver.UnindexedQuery{Limit: 1000, Bytes: 1 << 30}))

	for _, known := range []int{0, 3, len(all)} { // what is known is the same, and what is not is read
		q := driver.UnindexedQuery{Limit: 1000, Known: func(id scrollback.MessageID) (scrollback.Message, bool) {

			for _, m := range all[:known] {
				if m.ID == id {
					return m.Message, true
				}
			}
			return scrollback.Message{}, false
		}}
		for got := 0; got < len(all); {
			some, err := w.Index.ReadUnindexed(w.ctx, q)
			w.wantOK(err)
			if len(some) == 0 {
				w.t.Fatalf("with %d known, %d of %d were read", known, got, len(all))
			}
			w.wantSame(fmt.Sprint("with ", known, " known from ", got), all[got:got+len(some)], some)
			got += len(some)
			q.After = some[len(some)-1].Number
		}
	}
}

// branchNumber returns the number of a branch.
func (w *indexHarness) branchNumber(id scrollback.BranchID) int64 {
	w.t.Helper()
	b, err := w.Log.FindBranch(w.ctx, id)
	w.wantOK(err)
	lines, err := w.Index.ListBranchesOf(w.ctx, []scrollback.ConversationID{b.Conversation})
	w.wantOK(err)
	for _, l := range lines {
		if l.Branch == id {
			return l.Number
		}
	}
	w.t.Fatalf("branch %s is no line", id)
	return 0
}

// testBehindIsAtomic: what was not stored is not behind the index, however it failed.
func testBehindIsAtomic(w *indexHarness) {
	c := w.addConversation("one")
	w.appendMessages(c.ID, "kept")
	_, err := w.Log.AppendEntries(w.ctx, driver.Append{Conversation: c.ID, Now: w.advanceClock(), IfHead: 7,
		Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "lost")}})
	w.wantCode(err, scrollback.Conflict)
	turn := scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")), Conversation: c.ID, State: scrollback.TurnOpen,
		Owner: "o", StartedAt: w.advanceClock(), LeaseUntil: w.now + 9999}
	no := scrollback.Errorf(scrollback.Refused, "indextest", "no")
	_, err = w.Turns.Begin(w.ctx, driver.BeginRequest{Turn: turn, Now: w.now,
		Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "lost")},
		Admit:   func(*scrollback.Turn) error { return no }})
	w.wantCode(err, scrollback.Refused)
	_, err = w.Turns.Begin(w.ctx, driver.BeginRequest{Turn: turn, Now: w.now,
		Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "kept")}})
	w.wantOK(err)
	_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: "thief", Now: w.advanceClock(),
		State:   scrollback.TurnComplete,
		Entries: []driver.Entry{w.makeEntry(scrollback.RoleAssistant, "lost")}})
	w.wantCode(err, scrollback.Conflict)
	_, behind := w.readUnindexed(100)
	w.wantSame("messages", 2, len(behind))
	w.catchUp(0)
	w.wantSame("lost", []driver.Postings{{}}, w.findPostings(driver.PostingQuery{Terms: []string{"lost"}}))
	w.wantSame("kept", int64(2), w.findPostings(driver.PostingQuery{Terms: []string{"kept"}})[0].Holding)
}

// testPut: documents are there with the watermark that passes them, in batches of any size.
func testPut(w *indexHarness) {
	a := w.addConversation("one")
	b := w.addConversation("two")
	for i := range 30 {
		w.appendMessages(a.ID, w.randomTexts(1+i%3)...)
		w.appendMessages(b.ID, w.randomTexts(2)...)
		w.catchUp([]int{1, 2, 5, 0}[i%4])
		if i%5 == 0 {
			w.checkAll()
		}
	}
	w.catchUp(0)
	w.checkAll()
	s := w.readState()
	w.wantSame("the watermark", s.Newest, s.Watermark)
	w.wantSame("the cut", cutName, s.Cut)
	w.appendMessages(a.ID, "zebra")
	w.wantSame("what is behind is not in it", w.expectedPostings(driver.PostingQuery{Terms: []string{"zebra"}}),
		w.findPostings(driver.PostingQuery{Terms: []string{"zebra"}}))
}

// testPutOnce: documents from another watermark, or cut in another way, change nothing.
func testPutOnce(w *indexHarness) {
	c := w.addConversation("one")
	w.appendMessages(c.ID, w.randomTexts(8)...)
	w.catchUp(5)
	s, behind := w.readUnindexed(3)
	d := driver.DocumentBatch{Cut: cutName, From: s.Watermark, To: behind[2].Number}
	for _, m := range behind {
		one := makeDocument(m)
		one.Terms = append(one.Terms, "other")
		one.Length += 1
		d.All = append(d.All, one)
	}
	refused := func(what string, d driver.DocumentBatch) {
		w.t.Helper()
		put, err := w.Index.PutDocuments(w.ctx, d)
		w.wantOK(err)
		w.wantSame(what, false, put)
		w.wantSame("the state after "+what, s, w.readState())
		w.checkAll()
		w.checkQuery(driver.PostingQuery{Terms: []string{"other"}})
	}
	again := d
	early := d
	late := d
	again.Cut++
	early.From--
	late.From = d.To
	refused("another cut", again)
	refused("too early", early)
	refused("too late", late)
	put, err := w.Index.PutDocuments(w.ctx, d)
	w.wantOK(err)
	w.wantSame("put", true, put)
	w.expectDocuments(d.All...)
	s = w.readState()
	refused("a second time", d)
}

// testPutNothing: the watermark passes messages without terms.
func testPutNothing(w *indexHarness) {
	c := w.addConversation("one")
	w.appendMessages(c.ID, "", "", "")
	w.catchUp(0)
	s := w.readState()
	w.wantSame("the watermark", s.Newest, s.Watermark)
	w.checkAll()
	w.appendMessages(c.ID, "", "red")
	w.catchUp(1)
	w.catchUp(0)
	w.checkAll()
}

// testPutConcurrently: of several who index the same, one moves the watermark; each document
// is there once, while others write and read.
func testPutConcurrently(w *indexHarness) {
	c := w.addConversation("one")
	w.wantOK(w.Index.Reset(w.ctx, cutName))
	const rounds = 12
	var all sync.WaitGroup
	fail := make(chan error, 100)
	all.Go(func() {
		for i := range rounds {
			e := []driver.Entry{{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint("c", i)),
				Role: scrollback.RoleUser, Status: scrollback.StatusComplete,
				CreatedAt: 5, Parts: scrollback.Parts{scrollback.Text{Text: "red blue"}}, Weight: scrollback.Weight{Bytes: 8}}}}
			if _, err := w.Log.AppendEntries(w.ctx,
				driver.Append{Conversation: c.ID, Now: int64(2_000_000_000_000 + i), IfHead: -1,
					Entries: e}); err != nil {
				fail <- err
			}
		}
	})
	for range 3 {
		all.Go(func() {
			for s := (driver.IndexState{}); s.Documents < rounds; {
				if err := w.indexOneBatch(&s); err != nil {
					fail <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(fail)
	for err := range fail {
		w.t.Fatal(err)
	}
	_, rest := w.readUnindexed(10)
	w.wantSame("behind", 0, len(rest))
	got := w.findPostings(driver.PostingQuery{Terms: []string{"red"}})[0]
	w.wantSame("holding", int64(rounds), got.Holding)
	w.wantSame("places", rounds, len(got.Places))
}

// indexOneBatch indexes one batch if nobody else does, and looks whether anything is there twice.
func (w *indexHarness) indexOneBatch(s *driver.IndexState) (err error) {
	if *s, err = w.Index.ReadState(w.ctx); err != nil {
		return err
	}
	batch, err := w.Index.ReadUnindexed(w.ctx, driver.UnindexedQuery{After: s.Watermark, Limit: 3})
	if err != nil {
		return err
	}
	if len(batch) > 0 {
		d := driver.DocumentBatch{Cut: cutName, From: s.Watermark, To: batch[len(batch)-1].Number}
		for _, m := range batch {
			d.All = append(d.All, makeDocument(m))
		}
		if _, err = w.Index.PutDocuments(w.ctx, d); err != nil {
			return err
		}
	}
	if _, err = w.Index.Maintain(w.ctx); err != nil {
		return err
	}
	got, err := w.Index.FindPostings(w.ctx, driver.PostingQuery{Terms: []string{"red"}})
	for i := 1; err == nil && i < len(got[0].Places); i++ {
		if got[0].Places[i-1] >= got[0].Places[i] {
			return fmt.Errorf("place %d after %d", got[0].Places[i], got[0].Places[i-1])
		}
	}
	if err == nil && int(got[0].Holding) != len(got[0].Places) {
		return fmt.Errorf("%d hold it, at %d places", got[0].Holding, len(got[0].Places))
	}
	return err
}

// testReset: everything is behind it again, for terms that are cut in another way; the log
// stays as it is, and what was on its way into the old index is not put into the new one.
func testReset(w *indexHarness) {
	c := w.addConversation("one")
	w.appendMessages(c.ID, w.randomTexts(20)...)
	w.catchUp(15)
	s, behind := w.readUnindexed(5)
	late := driver.DocumentBatch{Cut: cutName, From: s.Watermark, To: behind[4].Number,
		All: []driver.Document{makeDocument(behind[0])}}
	w.wantOK(w.Index.Reset(w.ctx, cutName+1))
	w.expected = map[driver.Place]driver.Document{}
	w.wantSame("state", driver.IndexState{Cut: cutName + 1, Newest: s.Newest}, w.readState())
	w.checkAll()
	put, err := w.Index.PutDocuments(w.ctx, late)
	w.wantOK(err)
	w.wantSame("a late batch is put", false, put)
	_, behind = w.readUnindexed(100)
	w.wantSame("behind", 20, len(behind))
	for range 5 { // in steps, with the first cut again
		w.catchUp(5)
	}
	w.checkAll()
	w.maintainAll()
	w.checkAll()
	w.wantOK(w.Index.Reset(w.ctx, cutName)) // of the same cut, as a repair does it
	w.expected = map[driver.Place]driver.Document{}
	w.checkAll()
	w.catchUp(0)
	w.checkAll()
}

// testTend: however many batches there were, tending changes nothing that is found, and ends.
func testTend(w *indexHarness) {
	c := w.addConversation("one")
	for i := range 150 {
		w.appendMessages(c.ID, w.randomTexts(1+w.randomBelow(4))...)
		w.catchUp(0)
		if i%9 == 0 {
			_, err := w.Index.Maintain(w.ctx)
			w.wantOK(err)
		}
		if i%50 == 0 {
			w.checkAll()
		}
	}
	s := w.readState()
	w.checkAll()
	w.maintainAll()
	w.wantSame("state after tending", s, w.readState())
	w.checkAll()
}
