package drivertest

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// makeSegment covers [first, last] of a branch.
func makeSegment(w *harness, c scrollback.Conversation, first, last int64) scrollback.Segment {
	return scrollback.Segment{
		ID: scrollback.SegmentID(w.newID("segment")), Conversation: c.ID, Branch: c.Branch,
		FirstSeq: first, LastSeq: last, Messages: int(last - first + 1), Hash: "hash",
		From: 100 + first, To: 100 + last, Summary: "what was said\nin two lines", SummaryBy: scrollback.SummaryExtractive,
		SummaryOf: 1, PromptVersion: 2, Placeholder: "[folded] 二", TokensBefore: 90, TokensAfter: 9,
		Renderer: 1, Bytes: 1234, SHA256: strings.Repeat("ab", 32), CreatedAt: w.advanceClock(),
	}
}

// plainCommit folds [first, last] of the current branch into one segment.
func plainCommit(w *harness, c scrollback.Conversation, first, last int64) driver.FoldCommit {
	w.t.Helper()
	b := w.readHead(c.ID).Branch
	s := makeSegment(w, c, first, last)
	view := scrollback.View{Boundary: last, Sum: w.readMessages(b.ID, last, last)[0].Sum,
		Segments: append(append([]scrollback.ViewItem{}, b.View.Segments...),
			scrollback.ViewItem{ID: s.ID, FirstSeq: first, LastSeq: last})}
	return driver.FoldCommit{
		Conversation: c.ID, Branch: b.ID, IfViewVersion: b.ViewVersion, View: view,
		Segments: []scrollback.Segment{s}, Now: w.advanceClock(),
		Receipt: scrollback.Receipt{Result: scrollback.ResultCompacted, Segments: []scrollback.SegmentID{s.ID},
			Refs: []scrollback.Ref{scrollback.HistoryRef(s.ID)}, FirstSeq: first, LastSeq: last,
			TokensBefore: 90, TokensAfter: 9, SummaryBy: "maker/model", Cost: 0.5, Cleared: true, CreatedAt: w.now},
		Usage: []scrollback.UsageRecord{{Conversation: c.ID, Model: "m", Purpose: "summary", At: w.now}},
	}
}

// commitFold commits [first, last] and returns what it committed.
func (w *harness) commitFold(c scrollback.Conversation, first, last int64) driver.FoldCommit {
	w.t.Helper()
	cm := plainCommit(w, c, first, last)
	w.wantOK(w.Views.CommitFold(w.ctx, cm))
	return cm
}

// retryAt commits no segment, only a new RetryAt.
func retryAt(w *harness, c scrollback.Conversation, tokens int64) driver.FoldCommit {
	w.t.Helper()
	b := w.readHead(c.ID).Branch
	cm := driver.FoldCommit{Conversation: c.ID, Branch: b.ID, IfViewVersion: b.ViewVersion, View: b.View,
		Now:     w.advanceClock(),
		Receipt: scrollback.Receipt{Result: scrollback.ResultInflated, TokensBefore: tokens, CreatedAt: w.now}}
	cm.View.RetryAt = tokens
	w.wantOK(w.Views.CommitFold(w.ctx, cm))
	return cm
}

// testCommit: segments, view and receipt in one go; the messages stay.
func testCommit(w *harness) {
	c := w.addConversation()
	ms := w.appendMessages(c.ID, 6)
	before := w.readHead(c.ID)
	first := w.commitFold(c, 1, 2)
	h := w.wantOneWrite(before)
	want := before
	want.Version = h.Version
	want.UpdatedAt = h.UpdatedAt
	want.Branch.View = first.View
	want.Branch.ViewVersion = before.Branch.ViewVersion + 1
	wantSame(w.t, "head", want, h)
	wantSame(w.t, "messages", ms, w.readMessages(c.Branch, 1, 9))

	second := plainCommit(w, c, 3, 4) // with a roll-up
	roll := makeSegment(w, c, 1, 4)
	roll.Level = 1
	roll.Children = []scrollback.SegmentID{first.Segments[0].ID, second.Segments[0].ID}
	second.Segments = append(second.Segments, roll)
	second.View.Segments = []scrollback.ViewItem{{ID: roll.ID, FirstSeq: 1, LastSeq: 4, Level: 1}}
	w.wantOK(w.Views.CommitFold(w.ctx, second))
	got, err := w.Views.ReadSegments(w.ctx, []scrollback.SegmentID{roll.ID, first.Segments[0].ID, second.Segments[0].ID})
	w.wantOK(err)
	wantSame(w.t, "segments", []scrollback.Segment{roll, first.Segments[0], second.Segments[0]}, got)
	h = w.readHead(c.ID)
	wantSame(w.t, "view", second.View, h.Branch.View)
	wantSame(w.t, "view version", before.Branch.ViewVersion+2, h.Branch.ViewVersion)
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.wantOK(err)
	wantSame(w.t, "receipts", []scrollback.Receipt{second.Receipt, first.Receipt}, receipts)
}

// testCommitConflict: a view that has moved is not overwritten.
func testCommitConflict(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 4)
	stale := plainCommit(w, c, 1, 2)
	ahead := plainCommit(w, c, 1, 2)
	ahead.IfViewVersion++
	w.wantUnchanged(func() { w.wantCode(w.Views.CommitFold(w.ctx, ahead), scrollback.Conflict) })
	w.commitFold(c, 1, 1)
	w.wantUnchanged(func() { w.wantCode(w.Views.CommitFold(w.ctx, stale), scrollback.Conflict) })
	_, err := w.Views.ReadSegments(w.ctx, []scrollback.SegmentID{stale.Segments[0].ID})
	w.wantCode(err, scrollback.NotFound)
	fresh := plainCommit(w, c, 2, 3)
	_, err = w.undoFold(c.Branch)
	w.wantOK(err)
	w.wantUnchanged(func() { w.wantCode(w.Views.CommitFold(w.ctx, fresh), scrollback.Conflict) })
}

// testCommitNothing: without segments, only RetryAt and the receipt.
func testCommitNothing(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 3)
	folded := w.commitFold(c, 1, 2)
	before := w.readHead(c.ID)
	cm := retryAt(w, c, 500)
	h := w.wantOneWrite(before)
	folded.View.RetryAt = 500
	wantSame(w.t, "view", folded.View, h.Branch.View)
	wantSame(w.t, "view version", before.Branch.ViewVersion+1, h.Branch.ViewVersion)
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 1)
	w.wantOK(err)
	wantSame(w.t, "receipt", []scrollback.Receipt{cm.Receipt}, receipts)
}

// testCommitMeanwhile: a fold and a turn do not get into each other's way.
func testCommitMeanwhile(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 3)
	cm := plainCommit(w, c, 1, 2)
	turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	stored := w.readTurn(turn.ID)
	w.wantOK(w.Views.CommitFold(w.ctx, cm))
	wantSame(w.t, "the turn", stored, w.readTurn(turn.ID))
	got := w.finishTurn(turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, ""))
	wantSame(w.t, "view", cm.View, got.Head.Branch.View)
	CheckInvariants(w.t, w.Driver)
}

// testWithout: a turn sets what its branch leaves out, whole lists at a time; folds, their
// undoing and their doing again leave that as it is.
func testWithout(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 4)
	shows := func(step string, version int64, without ...int64) {
		w.t.Helper()
		b := w.readHead(c.ID).Branch
		wantSame(w.t, step+": left out", without, b.View.Without)
		wantSame(w.t, step+": view version", version, b.ViewVersion)
	}
	leave := func(without *[]int64) {
		w.t.Helper()
		got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) { b.Without = without })
		w.wantOK(err)
		wantSame(w.t, "head", w.readHead(c.ID), got.Head)
		w.finishTurn(got.Turn, scrollback.TurnComplete)
	}
	leave(&[]int64{2, 3})
	shows("set", 1, 2, 3)
	leave(nil)
	shows("not named", 1, 2, 3)
	leave(&[]int64{2, 3})
	shows("the same again", 1, 2, 3)
	w.commitFold(c, 1, 2) // whose view knows of nothing that is left out
	w.wantOK(w.Views.CommitFold(w.ctx, func() driver.FoldCommit {
		cm := plainCommit(w, c, 3, 3)
		cm.View = cm.View.WithLeftOut([]int64{3})
		return cm
	}()))
	shows("what a fold says", 3, 3)
	leave(&[]int64{4})
	shows("another list", 4, 4)
	_, err := w.undoFold(c.Branch)
	w.wantOK(err)
	shows("undone", 5, 4)
	folds, err := w.Views.ListFolds(w.ctx, driver.FoldQuery{Branch: c.Branch, Undone: true, Limit: 9})
	w.wantOK(err)
	_, err = w.Views.RedoFold(w.ctx, driver.FoldRedo{Branch: c.Branch, Number: folds[0].Number, Now: w.advanceClock(),
		IfViewVersion: 5})
	w.wantOK(err)
	shows("done again", 6, 4)
	leave(&[]int64{})
	shows("nothing", 7)
	_, err = w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Without = &[]int64{1}
		b.Admit = func(*scrollback.Turn) error { return errNo }
	})
	w.wantCode(err, scrollback.Refused)
	shows("refused", 7)
}

// testWithoutRewound: where a rewind leads, what the path leaves out is left out, also on a
// branch that was there before.
func testWithoutRewound(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 4)
	to := func(without ...int64) driver.Head {
		w.t.Helper()
		h, err := w.Log.RewindHead(w.ctx, driver.Rewind{Conversation: c.ID, Now: w.advanceClock(), To: scrollback.Branch{
			ID: scrollback.BranchID(w.newID("branch")), Parent: c.Branch, AtSeq: 2, HeadSeq: 2,
			View: scrollback.View{}.WithLeftOut(without)}})
		w.wantOK(err)
		wantSame(w.t, "stored", h, w.readHead(c.ID))
		return h
	}
	first := to(1)
	wantSame(w.t, "a new branch", []int64{1}, first.Branch.View.Without)
	back, err := w.Log.RewindHead(w.ctx, driver.Rewind{Conversation: c.ID, Now: w.advanceClock(), To: scrollback.Branch{
		ID: scrollback.BranchID(w.newID("branch")), Parent: c.Branch, AtSeq: 4, HeadSeq: 4}})
	w.wantOK(err)
	wantSame(w.t, "the branch that ends there", c.Branch, back.Branch.ID)
	again := to(2)
	wantSame(w.t, "an empty branch that was there", first.Branch.ID, again.Branch.ID)
	wantSame(w.t, "what it leaves out now", []int64{2}, again.Branch.View.Without)
	wantSame(w.t, "its view version", first.Branch.ViewVersion+1, again.Branch.ViewVersion)
}

// testUnfold: back through the folds, one by one; what was written since stays.
func testUnfold(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 6)
	unfold := func(want driver.FoldCommit, view scrollback.View) {
		w.t.Helper()
		before := w.readHead(c.ID)
		got, err := w.undoFold(c.Branch)
		w.wantOK(err)
		wantSame(w.t, "receipt", want.Receipt, got)
		h := w.wantOneWrite(before)
		wantSame(w.t, "view", view, h.Branch.View)
		wantSame(w.t, "view version", before.Branch.ViewVersion+1, h.Branch.ViewVersion)
	}
	none := func() {
		w.t.Helper()
		w.wantUnchanged(func() {
			_, err := w.undoFold(c.Branch)
			w.wantCode(err, scrollback.NotFound)
		})
	}
	none()
	retryAt(w, c, 11)
	none() // it folded nothing
	retry := w.readHead(c.ID).Branch.View
	one := w.commitFold(c, 1, 1)
	two := w.commitFold(c, 2, 2)
	retryAt(w, c, 22)
	w.appendMessages(c.ID, 1)
	refs := refsOf(w, driver.RefQuery{Conversations: []scrollback.ConversationID{c.ID}, Limit: 9})
	unfold(two, one.View)
	three := w.commitFold(c, 2, 3)
	unfold(three, one.View)
	unfold(one, retry)
	none()
	wantSame(w.t, "refs stay", refs, refsOf(w, driver.RefQuery{Conversations: []scrollback.ConversationID{c.ID},
		Limit: 9})[1:])
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.wantOK(err)
	var undone []bool // newest first; two of them folded nothing
	for _, r := range receipts {
		undone = append(undone, r.Undone)
	}
	if want := []bool{true, false, true, true, false}; !slices.Equal(undone, want) {
		w.t.Errorf("of the receipts %v are undone, want %v; undoing takes none away", undone, want)
	}
	again := w.commitFold(c, 1, 4)
	unfold(again, retry)
	none()
}

// testUnfoldOfAFork: a branch undoes its own folds only.
func testUnfoldOfAFork(w *harness) {
	parent := w.addConversation()
	w.appendMessages(parent.ID, 4)
	folded := w.commitFold(parent, 1, 2)
	child := w.addFork(parent, 3)
	w.wantUnchanged(func() {
		_, err := w.undoFold(child.Branch)
		w.wantCode(err, scrollback.NotFound)
	})
	w.appendMessages(child.ID, 2)
	w.commitFold(child, 4, 4)
	_, err := w.undoFold(child.Branch)
	w.wantOK(err)
	wantSame(w.t, "the parent's view", folded.View, w.readHead(parent.ID).Branch.View)
	w.wantUnchanged(func() {
		_, err := w.undoFold(child.Branch)
		w.wantCode(err, scrollback.NotFound)
	})
}

// testReceipts: a conversation's own, newest first, whatever their times say.
func testReceipts(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 4)
	var want []scrollback.Receipt
	for i := range int64(4) {
		cm := plainCommit(w, c, i+1, i+1)
		cm.Receipt.CreatedAt = 1000 - i/2
		w.wantOK(w.Views.CommitFold(w.ctx, cm))
		want = append([]scrollback.Receipt{cm.Receipt}, want...)
	}
	other := w.addConversation()
	w.appendMessages(other.ID, 1)
	w.commitFold(other, 1, 1)
	for limit := 1; limit <= 5; limit++ {
		got, err := w.Views.ListReceipts(w.ctx, c.ID, limit)
		w.wantOK(err)
		wantSame(w.t, "receipts", want[:min(limit, 4)], got)
	}
}

// testSegments: in the order asked for; the first missing one is named.
func testSegments(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 2)
	a := w.commitFold(c, 1, 1).Segments[0]
	b := w.commitFold(c, 2, 2).Segments[0]
	got, err := w.Views.ReadSegments(w.ctx, []scrollback.SegmentID{b.ID, a.ID})
	w.wantOK(err)
	wantSame(w.t, "segments", []scrollback.Segment{b, a}, got)
	got, err = w.Views.ReadSegments(w.ctx, nil)
	w.wantOK(err)
	wantSame(w.t, "of none", []scrollback.Segment(nil), got)
	_, err = w.Views.ReadSegments(w.ctx, []scrollback.SegmentID{a.ID, "gone-1", b.ID, "gone-2"})
	w.wantCode(err, scrollback.NotFound)
	if s := err.Error(); !strings.Contains(s, "gone-1") || strings.Contains(s, "gone-2") {
		w.t.Errorf("%q does not name just the first that is missing", s)
	}
}
