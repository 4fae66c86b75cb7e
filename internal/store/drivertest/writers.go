package drivertest

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// writerTests are those of branches that another writes.
var writerTests = []suiteTest{
	{"ElsewhereAppended", testElsewhereAppended},
	{"ElsewhereTurn", testElsewhereTurn},
	{"ElsewhereFolded", testElsewhereFolded},
	{"ElsewhereAdopted", testElsewhereAdopted},
}

// appendForeign adds n messages of another to the current branch.
func (w *harness) appendForeign(id scrollback.ConversationID, n int) driver.AppendResult {
	w.t.Helper()
	entries := make([]driver.Entry, n)
	for i := range entries {
		entries[i] = w.makeEntry(scrollback.RoleUser, "theirs")
	}
	got, err := w.tryAppend(id, func(a *driver.Append) { a.Elsewhere = true }, entries...)
	w.wantOK(err)
	return got
}

// testElsewhereAppended: a branch is written by whom its first message is of; others go on behind it.
func testElsewhereAppended(w *harness) {
	c := w.addConversation()
	if w.appendForeign(c.ID, 0); w.readHead(c.ID).Branch.Elsewhere {
		w.t.Error("nothing was written, and the branch is another's")
	}
	theirs := w.appendForeign(c.ID, 2)
	if b := theirs.Head.Branch; !b.Elsewhere || b.ID != c.Branch || b.HeadSeq != 2 {
		w.t.Fatalf("the branch is %+v", b)
	}
	wantSame(w.t, "the stored branch", theirs.Head.Branch, w.readHead(c.ID).Branch)
	if more := w.appendForeign(c.ID, 1); more.Head.Branch.ID != c.Branch || more.Head.Messages != 3 {
		w.t.Errorf("what they went on with is on %+v", more.Head.Branch)
	}
	own := w.appendMessages(c.ID, 2)
	h := w.readHead(c.ID)
	want := scrollback.Branch{ID: scrollback.BranchID(own[0].ID), Conversation: c.ID, Parent: c.Branch, AtSeq: 3,
		HeadSeq: 5, UpdatedAt: w.now, Sum: own[1].Sum}
	wantSame(w.t, "the branch of what is said here", want, h.Branch)
	if own[0].Seq != 4 || own[0].Branch != h.Branch.ID || h.Messages != 5 {
		w.t.Errorf("%+v stands in %+v", own[0], h.Conversation)
	}
	if ms := w.readMessages(h.Branch.ID, 1, 9); len(ms) != 5 || ms[2].Branch != c.Branch || ms[3].ID != own[0].ID {
		w.t.Errorf("the path is %+v", ms)
	}
	if w.appendForeign(c.ID, 1); w.readHead(c.ID).Branch.ID != h.Branch.ID {
		w.t.Error("a branch of ours was left by what another said")
	}
	if b := w.readHead(c.ID).Branch; b.Elsewhere {
		w.t.Error("a branch with messages of ours became another's")
	}
}

// testElsewhereTurn: a turn behind another's branch goes on, and ends, on its own.
func testElsewhereTurn(w *harness) {
	c := w.addConversation()
	w.appendForeign(c.ID, 2)
	begun := w.beginHolding(c.ID)
	if b := begun.Head.Branch; begun.Turn.Branch != b.ID || b.ID == c.Branch || b.Parent != c.Branch || b.AtSeq != 2 ||
		b.Elsewhere || begun.Turn.Seq != 3 || begun.Head.Conversation.Branch != b.ID {
		w.t.Fatalf("the turn began as %+v on %+v", begun.Turn, b)
	}
	w.answer(begun.Turn, "answer")
	w.wantNewest(c.ID, begun.Turn.ID)
	if next := w.beginHolding(c.ID); next.Turn.Branch != begun.Turn.Branch || next.Turn.Seq != 5 {
		w.t.Errorf("the next turn began as %+v", next.Turn)
	}
}

// testElsewhereFolded: what another's branch shows is shown behind it.
func testElsewhereFolded(w *harness) {
	c := w.addConversation()
	w.appendForeign(c.ID, 3)
	view := w.commitFold(c, 1, 2).View
	w.appendMessages(c.ID, 1)
	if got := w.readHead(c.ID).Branch; got.ID == c.Branch || got.View.Boundary != 2 || got.View.Sum != view.Sum ||
		len(got.View.Segments) != 1 {
		w.t.Errorf("it shows %+v", got.View)
	}
}

// testElsewhereAdopted: a branch that was brought is another's where that is said, and stays whose it was.
func testElsewhereAdopted(w *harness) {
	c := w.addConversation()
	own := w.appendMessages(c.ID, 1)
	b := w.newBranchAt(c.Branch, 1)
	b.Elsewhere = true
	known := w.readHead(c.ID).Branch
	known.Elsewhere = true
	brought := []driver.AdoptedBranch{
		{Branch: b, IfHead: 1, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "theirs")}},
		{Branch: known, IfHead: 1},
	}
	w.wantOK(w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: c, Now: w.advanceClock(), Branches: brought,
		Current: b.ID}))
	if h := w.readHead(c.ID); h.Branch.ID != b.ID || !h.Branch.Elsewhere {
		w.t.Fatalf("it stands on %+v", h.Branch)
	}
	if w.appendMessages(c.ID, 1); w.readHead(c.ID).Branch.Parent != b.ID {
		w.t.Errorf("what was said here is on %+v", w.readHead(c.ID).Branch)
	}
	got, err := w.Log.FindBranch(w.ctx, own[0].Branch)
	w.wantOK(err)
	if got.Elsewhere {
		w.t.Error("a branch of ours became another's")
	}
}
