package drivertest

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// mergingTests are those of what another store knows better.
var mergingTests = []suiteTest{
	{"MergeFields", testMergeFields},
	{"MergeTrash", testMergeTrash},
	{"MergeReadings", testMergeReadings},
	{"PutClocks", testPutClocks},
}

// testMergeFields: fields come with the clocks that they have elsewhere, and what is pinned follows from these.
func testMergeFields(w *harness) {
	c := w.addConversation()
	ms := w.appendMessages(c.ID, 3)
	owner := stamp.OfConversation(c.ID)
	want := []stamp.Clock{
		{Owner: owner, Field: stamp.PinField(ms[1].ID), Stamp: stamp.Stamp{At: 80, By: "far"}, Value: stamp.Yes},
		{Owner: owner, Field: stamp.FieldTitle, Stamp: stamp.Stamp{At: 70, By: "far"}},
	}
	w.wantOK(w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: w.readHead(c.ID).Conversation, Merge: true,
		Now: w.advanceClock(), Current: c.Branch, Clocks: want, Edit: func(c *scrollback.Conversation) {
			c.Title = "from afar"
			c.Instructions = "Be brief."
		}}))
	h := w.readHead(c.ID)
	if h.Title != "from afar" || h.Instructions != "Be brief." {
		w.t.Errorf("it is %+v", h.Conversation)
	}
	wantSame(w.t, "what is pinned", []int64{2}, h.PinnedSeqs)
	got, err := w.Log.ReadClocks(w.ctx, owner)
	w.wantOK(err)
	wantSame(w.t, "the clocks", want, got)
}

// testMergeTrash: what is in the trash is written to, and comes out of it only where that was said elsewhere.
func testMergeTrash(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 1)
	_, err := w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(), func(c *scrollback.Conversation) error {
		c.DeletedAt = w.now
		return nil
	})
	w.wantOK(err)
	adopt := func(a driver.Adoption) error {
		a.Conversation = w.readHead(c.ID).Conversation
		a.Now = w.advanceClock()
		return w.Log.AdoptHistory(w.ctx, a)
	}
	grow := func() []driver.AdoptedBranch {
		b := w.readHead(c.ID).Branch
		return []driver.AdoptedBranch{{Branch: b, IfHead: b.HeadSeq,
			Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "theirs")}}}
	}
	w.wantCode(adopt(driver.Adoption{Branches: grow()}), scrollback.Conflict)
	w.wantOK(adopt(driver.Adoption{Branches: grow(), Merge: true}))
	if h := w.readHead(c.ID); h.DeletedAt == 0 || h.Branch.HeadSeq != 2 {
		w.t.Errorf("it is %+v on %+v", h.Conversation, h.Branch)
	}
	w.wantOK(adopt(driver.Adoption{Merge: true, Current: c.Branch,
		Edit: func(c *scrollback.Conversation) { c.DeletedAt = 0 }}))
	if h := w.readHead(c.ID); h.DeletedAt != 0 {
		w.t.Errorf("it is %+v", h.Conversation)
	}
}

// testMergeReadings: where messages were written elsewhere is read back, once, and goes with its conversation.
func testMergeReadings(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 2)
	want := []driver.Reading{{Conversation: c.ID, Branch: "a", From: 2, Born: "b"},
		{Conversation: c.ID, Branch: "a", From: 9, Born: "c"}}
	for range 2 {
		w.wantOK(w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: w.readHead(c.ID).Conversation, Merge: true,
			Now: w.advanceClock(), Readings: []driver.Reading{want[1], want[0]}}))
	}
	got, err := w.Log.ReadReadings(w.ctx, c.ID)
	w.wantOK(err)
	wantSame(w.t, "the readings", want, got)
	p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: c.ID, Now: w.advanceClock(), Limit: 100})
	w.wantOK(err)
	got, err = w.Log.ReadReadings(w.ctx, c.ID)
	w.wantOK(err)
	if !p.Done || len(got) > 0 {
		w.t.Errorf("after the purge there are %v", got)
	}
}

// testPutClocks: a clock from elsewhere takes the place of the one that is here.
func testPutClocks(w *harness) {
	owner := stamp.OfProject("p")
	w.wantOK(w.Log.PutClocks(w.ctx, nil))
	for at := range int64(2) {
		want := []stamp.Clock{{Owner: owner, Field: "x", Stamp: stamp.Stamp{At: at + 1, By: "far"}, Value: "[1]"},
			{Owner: owner, Field: "y", Stamp: stamp.Stamp{At: 9 - at, By: "far"}}}
		w.wantOK(w.Log.PutClocks(w.ctx, want))
		got, err := w.Log.ReadClocks(w.ctx, owner)
		w.wantOK(err)
		wantSame(w.t, "the clocks", want, got)
	}
}
