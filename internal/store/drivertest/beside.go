package drivertest

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// besideTests are those of turns that run beside others.
var besideTests = []suiteTest{
	{"Beside", testBeside},
	{"BesideGivenUp", testGivenUp},
	{"BesideInThePast", testBesideInThePast},
	{"BesideNewest", testBesideNewest},
	{"BesideFailed", testBesideFailed},
	{"BesideTakenOver", testBesideTakenOver},
	{"BesideLapsedNewest", testBesideLapsedNewest},
	{"BesideFolded", testBesideFolded},
	{"BesideRefused", testBesideRefused},
	{"BesidePurge", testBesidePurge},
}

// newBranchAt returns a branch that leaves another's own messages behind one of them.
func (w *harness) newBranchAt(parent scrollback.BranchID, at int64) scrollback.Branch {
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), AtSeq: at}
	if at > 0 {
		b.Parent = parent
	}
	return b
}

// beginBeside opens a turn with one message beside others, behind a message of a branch.
func (w *harness) beginBeside(id scrollback.ConversationID, parent scrollback.BranchID,
	at int64) driver.BeginResult {
	w.t.Helper()
	to := w.newBranchAt(parent, at)
	got, err := w.tryBegin(id, func(b *driver.BeginRequest) {
		b.At = &to
		b.IfBranch = "another branch"
		b.Admit = func(*scrollback.Turn) error { w.t.Error("Admit was asked"); return nil }
		b.Salvage = func(scrollback.Turn) []driver.Entry { w.t.Error("a turn was salvaged"); return nil }
		b.Entries[0].TurnID = b.Turn.ID
	}, w.makeEntry(scrollback.RoleUser, "beside"))
	w.wantOK(err)
	if got.Previous != nil || got.Turn.Branch != got.Head.Branch.ID || got.Turn.Seq != at+1 {
		w.t.Fatalf("a turn beside others began as %+v", got)
	}
	return got
}

// beginHolding opens an ordinary turn with one message of it.
func (w *harness) beginHolding(id scrollback.ConversationID) driver.BeginResult {
	w.t.Helper()
	got, err := w.tryBegin(id, func(b *driver.BeginRequest) { b.Entries[0].TurnID = b.Turn.ID },
		w.makeEntry(scrollback.RoleUser, "holding"))
	w.wantOK(err)
	return got
}

// answer ends a turn with a message of it.
func (w *harness) answer(t scrollback.Turn, words string) driver.AppendResult {
	w.t.Helper()
	e := w.makeEntry(scrollback.RoleAssistant, words)
	e.TurnID = t.ID
	return w.finishTurn(t, scrollback.TurnComplete, e)
}

// wantNewest wants a turn to be the one by which a conversation goes on; empty for none.
func (w *harness) wantNewest(id scrollback.ConversationID, want scrollback.TurnID) {
	w.t.Helper()
	got, err := w.Turns.GetLast(w.ctx, id)
	if want == "" {
		w.wantCode(err, scrollback.NotFound)
		return
	}
	w.wantOK(err)
	if got.ID != want {
		w.t.Errorf("the newest turn is %s, want %s", got.ID, want)
	}
}

// testBeside: two turns that begin behind one message run at once, and each answers its own question. The
// one that held the conversation goes on with a branch of its own, and the conversation with it.
func testBeside(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 2)
	held := w.beginHolding(c.ID)
	first := w.beginBeside(c.ID, c.Branch, 3)
	if first.Head.Branch.ID != c.Branch {
		w.t.Fatalf("it began on %s, not where the branch ended", first.Head.Branch.ID)
	}
	second := w.beginBeside(c.ID, c.Branch, 3)
	if h := w.readHead(c.ID); h.Branch.ID != second.Turn.Branch || h.Branch.ID == c.Branch || h.Branch.AtSeq != 3 {
		w.t.Fatalf("the second one began on %+v", h.Branch)
	}
	w.wantNewest(c.ID, held.Turn.ID)
	_, err := w.tryBegin(c.ID, nil)
	w.wantCode(err, scrollback.Conflict)

	got := w.answer(held.Turn, "held")
	own := w.readTurn(held.Turn.ID)
	if own.Branch == c.Branch || own.LastSeq != 4 || got.Head.Branch.ID != own.Branch || got.Head.Branch.AtSeq != 3 {
		w.t.Errorf("the turn went on as %+v on %+v", own, got.Head.Branch)
	}
	if got.Head.Conversation.Branch != second.Turn.Branch {
		w.t.Error("a turn took a conversation along that was elsewhere")
	}
	w.wantNewest(c.ID, "")
	w.answer(first.Turn, "first")
	w.wantNewest(c.ID, "")
	w.answer(second.Turn, "second")
	w.wantNewest(c.ID, second.Turn.ID)
	for _, want := range []struct {
		turn scrollback.TurnID
		said string
	}{{held.Turn.ID, "held"}, {first.Turn.ID, "first"}, {second.Turn.ID, "second"}} {
		t := w.readTurn(want.turn)
		path := w.readMessages(t.Branch, 1, 9)
		last := path[len(path)-1]
		if last.Seq != t.LastSeq || last.Parts.Text() != want.said || last.ID != t.Reply {
			w.t.Errorf("turn %+v ended with %+v", t, last)
		}
		w.wantFound([]string{want.said}, last)
		hashes, err := w.Admin.VerifyHashes(w.ctx, driver.MessageQuery{Branch: t.Branch, From: 1, To: t.LastSeq})
		w.wantOK(err)
		if hashes.Without > 0 || len(hashes.Damaged) > 0 {
			w.t.Errorf("hashes of branch %s: %+v", t.Branch, hashes)
		}
	}
	CheckInvariants(w.t, w.Driver)
	checkSound(w.t, w.Driver)
}

// testGivenUp: an answer that was given up, or failed, while another turn went on from its question takes no
// conversation along; a whole one does.
func testGivenUp(w *harness) {
	for state, follows := range map[scrollback.TurnState]bool{scrollback.TurnInterrupted: false,
		scrollback.TurnFailed: false, scrollback.TurnComplete: true} {
		c := w.addConversation()
		w.appendMessages(c.ID, 2)
		late := w.beginBeside(c.ID, c.Branch, 2)
		w.beginBeside(c.ID, c.Branch, 3)
		e := w.makeEntry(scrollback.RoleAssistant, "late")
		e.TurnID = late.Turn.ID
		w.finishTurn(late.Turn, state, e)
		own := w.readTurn(late.Turn.ID).Branch
		if now := w.readHead(c.ID).Branch.ID; own == c.Branch || (now == own) != follows {
			w.t.Errorf("%s: it ended on %s, and the conversation is on %s, not %s", state, own, now, c.Branch)
		}
	}
	CheckInvariants(w.t, w.Driver)
}

// testBesideInThePast: a turn that begins further back takes the conversation there; the one that held it
// ends where it was, and is not seen again.
func testBesideInThePast(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 4)
	held := w.beginHolding(c.ID)
	edited := w.beginBeside(c.ID, c.Branch, 1)
	before := w.readHead(c.ID)
	if before.Branch.ID == c.Branch || before.Branch.AtSeq != 1 || before.Messages != 2 {
		w.t.Fatalf("it began on %+v", before.Branch)
	}
	got := w.answer(held.Turn, "held")
	if t := w.readTurn(held.Turn.ID); t.Branch != c.Branch || t.LastSeq != 6 || got.Head.Branch.ID != c.Branch {
		w.t.Errorf("the turn ended as %+v on %+v", t, got.Head.Branch)
	}
	if h := w.wantOneWrite(before); h.Branch.ID != before.Branch.ID || h.Messages != 2 {
		w.t.Errorf("the head moved to %+v", h)
	}
	w.wantNewest(c.ID, "")
	w.answer(edited.Turn, "edited")
	w.wantNewest(c.ID, edited.Turn.ID)
	again := w.beginBeside(c.ID, c.Branch, 6)
	if again.Head.Branch.ID != c.Branch || len(w.readMessages(c.Branch, 1, 9)) != 7 {
		w.t.Errorf("back on the first branch it began on %+v", again.Head.Branch)
	}
	w.wantNewest(c.ID, held.Turn.ID)
	CheckInvariants(w.t, w.Driver)
}

// testBesideNewest: the page goes on with what a turn beside others has left at the head.
func testBesideNewest(w *harness) {
	c := w.addConversation()
	one := w.beginBeside(c.ID, "", 0)
	w.wantNewest(c.ID, "")
	w.answer(one.Turn, "one")
	two := w.beginBeside(c.ID, c.Branch, 2)
	w.wantNewest(c.ID, one.Turn.ID)
	w.finishTurn(two.Turn, scrollback.TurnOpen, w.makeEntry(scrollback.RoleAssistant, "a step"))
	w.wantNewest(c.ID, one.Turn.ID)
	w.answer(two.Turn, "two")
	w.wantNewest(c.ID, two.Turn.ID)
	var admitted *scrollback.Turn
	next, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Admit = func(last *scrollback.Turn) error { admitted = last; return nil }
	})
	w.wantOK(err)
	wantSame(w.t, "admitted behind", two.Turn.ID, admitted.ID)
	wantSame(w.t, "previous", two.Turn.ID, next.Previous.ID)
	w.wantNewest(c.ID, next.Turn.ID)
}

// testBesideFailed: a turn that brought nothing stands where it began.
func testBesideFailed(w *harness) {
	c := w.addConversation()
	failed := w.beginBeside(c.ID, "", 0)
	other := w.beginBeside(c.ID, c.Branch, 1)
	w.finishTurn(failed.Turn, scrollback.TurnFailed)
	if t := w.readTurn(failed.Turn.ID); t.Branch != c.Branch || t.LastSeq != 1 {
		w.t.Errorf("the turn ended as %+v", t)
	}
	w.wantNewest(c.ID, "")
	w.finishTurn(other.Turn, scrollback.TurnFailed)
	w.wantNewest(c.ID, other.Turn.ID)
	if all, err := w.Log.ListBranches(w.ctx, c.ID); err != nil || len(all) != 1 {
		w.t.Errorf("nothing was said, and there are branches %v, %v", all, err)
	}
}

// testBesideTakenOver: a turn beside others whose owner is gone is closed with its draft behind what it brought:
// on its branch, or beside what others have said there.
func testBesideTakenOver(w *harness) {
	c := w.addConversation()
	grown := w.beginBeside(c.ID, "", 0)
	other := w.beginBeside(c.ID, c.Branch, 1)
	kept := w.makeEntry(scrollback.RoleAssistant, "salvaged")
	kept.TurnID = grown.Turn.ID
	kept.Kept = []scrollback.Kept{{ID: "k", Kind: scrollback.KeptTrait, Text: "salvaged", By: scrollback.KeptByRule,
		State: scrollback.KeptOpen, CreatedAt: w.now}}
	take := func(id scrollback.TurnID, left driver.Entry) scrollback.Turn {
		w.t.Helper()
		got, err := w.Turns.TakeOver(w.ctx, driver.Takeover{Turn: id, Now: w.advanceClock(),
			Salvage: func(scrollback.Turn) []driver.Entry { return []driver.Entry{left} }})
		w.wantOK(err)
		return got
	}
	w.wantUnchanged(func() { take(grown.Turn.ID, kept) })
	w.now += 2 * leaseTime
	w.now -= w.now % 10
	before := w.readHead(c.ID)
	got := take(grown.Turn.ID, kept)
	if got.State != scrollback.TurnInterrupted || got.Branch == c.Branch || got.LastSeq != 2 || got.Reply != kept.ID {
		w.t.Errorf("the turn was closed as %+v", got)
	}
	if h := w.wantOneWrite(before); h.Branch.ID != c.Branch {
		w.t.Errorf("the conversation went along, to %+v", h.Branch)
	}
	rows, err := w.Log.ReadKept(w.ctx, driver.KeptQuery{Branch: got.Branch, To: 2, Limit: 9})
	w.wantOK(err)
	if len(rows) != 1 || rows[0].Branch != got.Branch || rows[0].Seq != 2 {
		w.t.Errorf("kept of it is %+v", rows)
	}
	w.wantFound([]string{"salvaged"}, w.readMessages(got.Branch, 2, 2)...)
	w.wantNewest(c.ID, "")

	left := w.makeEntry(scrollback.RoleAssistant, "left")
	left.TurnID = other.Turn.ID
	got = take(other.Turn.ID, left)
	if got.Branch != c.Branch || got.LastSeq != 3 || w.readHead(c.ID).Messages != 3 {
		w.t.Errorf("the turn at the head was closed as %+v", got)
	}
	w.wantNewest(c.ID, other.Turn.ID)
	CheckInvariants(w.t, w.Driver)
}

// testBesideLapsedNewest: a turn whose owner is gone, and from whose branch the conversation was taken away, is closed
// there; who begins then goes on behind the head as they saw it.
func testBesideLapsedNewest(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 2)
	lapsed := w.beginHolding(c.ID)
	edited := w.beginBeside(c.ID, c.Branch, 1)
	w.answer(edited.Turn, "edited")
	w.wantNewest(c.ID, lapsed.Turn.ID)
	w.now += 2 * leaseTime
	w.now -= w.now % 10
	seen := w.readHead(c.ID)
	left := w.makeEntry(scrollback.RoleAssistant, "left")
	got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.IfBranch = seen.Branch.ID
		b.IfHead = seen.Messages
		b.Salvage = func(scrollback.Turn) []driver.Entry { return []driver.Entry{left} }
	}, w.makeEntry(scrollback.RoleUser, "on"))
	w.wantOK(err)
	wantSame(w.t, "previous", edited.Turn.ID, got.Previous.ID)
	if got.Turn.Branch != seen.Branch.ID || got.Turn.Seq != seen.Messages+1 {
		w.t.Errorf("it began as %+v", got.Turn)
	}
	if t := w.readTurn(lapsed.Turn.ID); t.State != scrollback.TurnInterrupted || t.Branch != c.Branch || t.LastSeq != 4 {
		w.t.Errorf("the turn was closed as %+v", t)
	}
	CheckInvariants(w.t, w.Driver)
}

// testBesideFolded: a branch that a turn goes on with shows what is folded before it, and nothing of a fold that
// others made behind.
func testBesideFolded(w *harness) {
	for _, last := range []int64{2, 5} {
		c := w.addConversation()
		w.appendMessages(c.ID, 3)
		mine := w.beginBeside(c.ID, c.Branch, 3)
		other := w.beginBeside(c.ID, c.Branch, 4)
		w.answer(other.Turn, "other")
		w.commitFold(c, 1, last)
		view := w.readHead(c.ID).Branch.View
		if last > 4 {
			view = scrollback.View{}
		}
		got := w.answer(mine.Turn, "mine")
		wantSame(w.t, "view", view, got.Head.Branch.View)
		wantSame(w.t, "the conversation's branch", got.Head.Branch, w.readHead(c.ID).Branch)
		CheckInvariants(w.t, w.Driver)
	}
}

// testBesideRefused: what a rewind would not find is not there for a turn either, and nothing is written.
func testBesideRefused(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 2)
	foreign := w.addConversation()
	w.appendMessages(foreign.ID, 2)
	try := func(to scrollback.Branch) {
		w.t.Helper()
		w.wantUnchanged(func() {
			_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) { b.At = &to }, w.makeEntry(scrollback.RoleUser, "lost"))
			w.wantCode(err, scrollback.NotFound)
		})
	}
	try(w.newBranchAt(c.Branch, 3))
	try(w.newBranchAt(foreign.Branch, 1))
	try(w.newBranchAt("unknown", 1))
	w.moveToTrash(c.ID)
	try(w.newBranchAt(c.Branch, 2))
}

// testBesidePurge: nothing is purged under an open turn, though it holds nothing.
func testBesidePurge(w *harness) {
	c := w.addConversation()
	open := w.beginBeside(c.ID, "", 0)
	purge := driver.Purge{Conversation: c.ID, Now: w.advanceClock(), Limit: 100}
	w.wantUnchanged(func() {
		_, err := w.Log.PurgeConversation(w.ctx, purge)
		w.wantCode(err, scrollback.Conflict)
	})
	w.answer(open.Turn, "done")
	got, err := w.Log.PurgeConversation(w.ctx, purge)
	w.wantOK(err)
	if !got.Done || got.Removed != 2 {
		w.t.Errorf("purged: %+v", got)
	}
}
