package drivertest

import (
	"fmt"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// madeElsewhere is a history that was made elsewhere: a conversation whose second branch
// leaves the first behind message 3, with a segment, a receipt and an artifact.
type foreignHistory struct {
	scrollback.Conversation
	first, second driver.AdoptedBranch
	segment       scrollback.Segment
	fold          scrollback.StoredReceipt
	artifact      scrollback.Artifact
}

func madeElsewhere(w *harness) foreignHistory {
	c, b := newConversation(w)
	c.Title = "from afar"
	c.UpdatedAt = 77
	c.PinnedSeqs = []int64{2}
	f := foreignHistory{Conversation: c, first: driver.AdoptedBranch{Branch: b},
		artifact: w.makeArtifact("afar", w.advanceClock())}
	f.first.UpdatedAt = 70
	for i := range 4 {
		f.first.Entries = append(f.first.Entries, w.makeEntry(scrollback.RoleUser, fmt.Sprint("afar word", i)))
	}
	f.first.Entries[1].Mentions = []scrollback.Artifact{f.artifact}
	f.second = driver.AdoptedBranch{IfHead: 3, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "afar second")}}
	f.second.ID = scrollback.BranchID(w.newID("branch"))
	f.second.Conversation = c.ID
	f.second.Parent = b.ID
	f.second.AtSeq = 3
	f.second.UpdatedAt = 76
	f.segment = makeSegment(w, c, 1, 2)
	f.fold = scrollback.StoredReceipt{Branch: b.ID, Folded: true,
		Before: scrollback.View{Boundary: 1, Sum: scrollback.Weight{Tokens: 99}},
		Receipt: scrollback.Receipt{Result: scrollback.ResultCompacted, Segments: []scrollback.SegmentID{f.segment.ID},
			FirstSeq: 1, LastSeq: 2, CreatedAt: w.now}}
	return f
}

func adoptHistory(w *harness, a driver.Adoption) error {
	a.Now = w.advanceClock()
	return w.Log.AdoptHistory(w.ctx, a)
}

// viewRepair returns what the first branch shows at last: two messages folded, one of them
// carried.
func (f foreignHistory) viewRepair(version int64) []driver.ViewRepair {
	return []driver.ViewRepair{{Branch: f.first.ID, IfViewVersion: version,
		View: scrollback.View{Boundary: 2, Carried: []int64{1}, Sum: scrollback.Weight{Bytes: 1},
			Segments: []scrollback.ViewItem{{ID: f.segment.ID, FirstSeq: 1, LastSeq: 2}}}}}
}

// adoptAll adopts all of a foreign history, batch by batch.
func adoptAll(w *harness, f foreignHistory) {
	w.t.Helper()
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.first}}))
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.second},
		Segments: []scrollback.Segment{f.segment}}))
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Views: f.viewRepair(0),
		Folds:   []scrollback.StoredReceipt{f.fold},
		Current: f.second.ID}))
}

// testAdopt: what comes from elsewhere is hidden until it is whole, and then is as if
// it had been written here.
func testAdopt(w *harness) {
	f := madeElsewhere(w)
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.first}}))
	_, err := w.Log.ReadHead(w.ctx, f.ID)
	w.wantCode(err, scrollback.NotFound)
	_, err = w.tryAppend(f.ID, nil, w.makeEntry(scrollback.RoleUser, "x"))
	w.wantCode(err, scrollback.NotFound)
	_, err = w.tryBegin(f.ID, nil)
	w.wantCode(err, scrollback.NotFound)
	if listed := readAll(w.t, w.Driver); len(listed.Threads) > 0 || len(listed.Projects) > 0 {
		w.t.Fatalf("a hidden conversation is listed: %+v", listed)
	}
	w.wantFound([]string{"afar"})
	own, err := w.Log.ListBranches(w.ctx, f.ID)
	w.wantOK(err)
	if len(own) != 1 || own[0].HeadSeq != 4 || own[0].UpdatedAt != 70 {
		w.t.Fatalf("its branches are %+v", own)
	}
	CheckInvariants(w.t, w.Driver)

	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.second},
		Segments: []scrollback.Segment{f.segment}}))
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Views: f.viewRepair(0),
		Folds:   []scrollback.StoredReceipt{f.fold},
		Current: f.second.ID}))
	h := w.readHead(f.ID)
	want := f.Conversation
	want.Branch = f.second.ID
	want.Messages = 4
	want.Version = h.Version
	wantSame(w.t, "conversation", want, h.Conversation)
	ms := w.readMessages(f.second.ID, 1, 9)
	if len(ms) != 4 || ms[3].ID != f.second.Entries[0].ID || ms[3].Sum != ms[2].Sum.Add(ms[3].Weight) ||
		ms[0].Sum != ms[0].Weight {
		w.t.Fatalf("its path is %+v", ms)
	}
	b, err := w.Log.FindBranch(w.ctx, f.first.ID)
	w.wantOK(err)
	view := f.viewRepair(0)[0].View
	view.Sum = ms[1].Sum.Sub(ms[0].Weight)
	wantSame(w.t, "view", view, b.View)
	folds, err := w.Views.ListStoredReceipts(w.ctx, f.ID, 0, 9)
	w.wantOK(err)
	f.fold.Before.Sum = ms[0].Sum
	wantSame(w.t, "folds", []scrollback.StoredReceipt{f.fold}, folds)
	refs, err := w.Log.ListRefs(w.ctx, driver.RefQuery{Conversations: []scrollback.ConversationID{f.ID}, Limit: 9})
	w.wantOK(err)
	if len(refs) != 2 {
		w.t.Fatalf("it mentions %+v", refs)
	}
	w.wantFound([]string{"second"}, ms[3])
	_, err = w.undoFold(f.first.ID)
	w.wantOK(err)
	w.appendEntries(f.ID, w.makeEntry(scrollback.RoleUser, "on"))
	CheckInvariants(w.t, w.Driver)
}

// testAdoptLeft: a turn that left a draft elsewhere is shown here, without holding anything.
func testAdoptLeft(w *harness) {
	for _, last := range []int64{4, 2} { // at the head, and before it
		f := madeElsewhere(w)
		left := scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")), Conversation: f.ID, Branch: f.first.ID, Seq: last,
			LastSeq: last,
			State:   scrollback.TurnInterrupted, Draft: textDraft("half"), StartedAt: 60}
		brings := driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.first}, Left: &left}
		w.wantOK(adoptHistory(w, brings))
		_, err := w.Turns.Get(w.ctx, left.ID)
		w.wantCode(err, scrollback.NotFound) // hidden, until the conversation is not
		brings.Branches = nil
		brings.Current = f.first.ID
		w.wantOK(adoptHistory(w, brings))
		wantSame(w.t, "the turn", left, w.readTurn(left.ID))
		found, err := w.Turns.ListUnsuccessful(w.ctx, driver.TurnQuery{Branch: f.first.ID, To: 9, Limit: 9})
		w.wantOK(err)
		wantSame(w.t, "on the path", []scrollback.Turn{left}, found)
		newest, err := w.Turns.GetLast(w.ctx, f.ID)
		if (err == nil && newest.ID == left.ID) != (last == 4) {
			w.t.Errorf("the newest turn is %+v, %v", newest, err)
		}
		again := left
		again.Draft = textDraft("other")
		brings.Left = &again
		w.wantOK(adoptHistory(w, brings))
		wantSame(w.t, "brought again", left, w.readTurn(left.ID))
		w.beginTurn(f.ID, w.makeEntry(scrollback.RoleUser, "on"))
		CheckInvariants(w.t, w.Driver)
	}
}

// testAdoptAgain: a batch that is there already is conflict, and so is what is not
// the same; segments and receipts that are there stay.
func testAdoptAgain(w *harness) {
	f := madeElsewhere(w)
	adoptAll(w, f)
	h := w.readHead(f.ID)
	is := func(code scrollback.Code, a driver.Adoption) {
		w.t.Helper()
		a.Conversation.ID = f.ID
		w.wantUnchanged(func() { w.wantCode(adoptHistory(w, a), code) })
	}
	grow := f.first
	grow.Entries = []driver.Entry{w.makeEntry(scrollback.RoleUser, "more")}
	is(scrollback.Conflict, driver.Adoption{Branches: []driver.AdoptedBranch{grow}})
	grow.IfHead = 4
	other := grow
	other.AtSeq = 1
	is(scrollback.Conflict, driver.Adoption{Branches: []driver.AdoptedBranch{other}})
	other = grow
	other.Entries = []driver.Entry{grow.Entries[0], f.first.Entries[0]}
	is(scrollback.Conflict, driver.Adoption{Branches: []driver.AdoptedBranch{other}})
	other = grow
	other.ID = "new"
	other.Parent = f.first.ID
	other.AtSeq = 9
	other.IfHead = 9
	is(scrollback.NotFound, driver.Adoption{Branches: []driver.AdoptedBranch{other}})
	stranger := forkPoint(w)
	other.Parent = stranger.Branch
	other.AtSeq = 5
	other.IfHead = 5
	is(scrollback.NotFound, driver.Adoption{Branches: []driver.AdoptedBranch{other}})
	forged := f.segment
	forged.Hash = "another"
	is(scrollback.Conflict, driver.Adoption{Segments: []scrollback.Segment{forged}})
	is(scrollback.Conflict, driver.Adoption{Views: f.viewRepair(7), Branches: []driver.AdoptedBranch{grow}})
	is(scrollback.Conflict, driver.Adoption{Current: stranger.Branch})
	is(scrollback.NotFound, driver.Adoption{Current: "unknown"})
	is(scrollback.Conflict,
		driver.Adoption{Conversation: scrollback.Conversation{
			Ancestors: []scrollback.ConversationID{stranger.ConversationID},
		}})
	w.wantUnchanged(func() {
		w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Segments: []scrollback.Segment{f.segment},
			Folds: []scrollback.StoredReceipt{f.fold}}))
	})

	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{grow}}))
	if got := w.readHead(f.ID); got.Branch.ID != h.Branch.ID || got.Messages != h.Messages {
		w.t.Fatalf("growing another branch moved the head: %+v", got)
	}
	f.UpdatedAt = 1 << 50
	f.fold.Undone = true
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Folds: []scrollback.StoredReceipt{f.fold},
		Current: f.first.ID,
		Edit: func(c *scrollback.Conversation) {
			c.Title = "edited"
			c.ID = "other"
		}}))
	got := w.readHead(f.ID)
	if got.Branch.ID != f.first.ID || got.Messages != 5 || got.Title != "edited" || got.UpdatedAt != 1<<50 {
		w.t.Fatalf("extended to %+v", got)
	}
	folds, err := w.Views.ListStoredReceipts(w.ctx, f.ID, 0, 9)
	w.wantOK(err)
	if len(folds) != 1 || !folds[0].Undone {
		w.t.Fatalf("its folds are %+v", folds)
	}
	CheckInvariants(w.t, w.Driver)
}

// testAdoptRefused: not beside an open turn, not into the trash.
func testAdoptRefused(w *harness) {
	f := madeElsewhere(w)
	adoptAll(w, f)
	held := w.beginTurn(f.ID, w.makeEntry(scrollback.RoleUser, "asked"))
	f.second.IfHead = 5
	f.second.Entries = []driver.Entry{w.makeEntry(scrollback.RoleUser, "more")}
	a := driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.second},
		Salvage: newSalvager(w, held.Turn.ID, 1)}
	w.wantUnchanged(func() { w.wantCode(adoptHistory(w, a), scrollback.Conflict) })
	w.now += 2 * leaseTime
	_, err := w.saveDraft(held.Turn, textDraft("half an ans"))
	w.wantOK(err)
	w.now += 2 * leaseTime
	w.wantCode(adoptHistory(w, a), scrollback.Conflict) // what the turn had written stands there
	a.Branches[0].IfHead = 6
	a.Branches[0].Entries = slices.Clone(a.Branches[0].Entries)
	w.wantOK(adoptHistory(w, a))
	if got := w.readHead(f.ID); got.Messages != 7 || w.readTurn(held.Turn.ID).State != scrollback.TurnInterrupted {
		t := w.readTurn(held.Turn.ID)
		w.t.Fatalf("%d messages, and the turn is %s", got.Messages, t.State)
	}
	CheckInvariants(w.t, w.Driver)
	w.moveToTrash(f.ID)
	a.Branches[0].IfHead = 7
	w.wantUnchanged(func() { w.wantCode(adoptHistory(w, a), scrollback.Conflict) })
}

// testAdoptShared: what only others inherit is purged with the last of them, and can come again for another heir; a
// purged conversation itself does not come back.
func testAdoptShared(w *harness) {
	f := madeElsewhere(w)
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.first}}))
	c, b := newConversation(w)
	c.Ancestors = []scrollback.ConversationID{f.ID}
	c.Parent = &scrollback.ParentRef{ID: f.ID, Branch: f.first.ID, Seq: 2}
	heir := driver.AdoptedBranch{Branch: b, IfHead: 2, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "heir")}}
	heir.Parent = f.first.ID
	heir.AtSeq = 2
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: c, Branches: []driver.AdoptedBranch{heir}, Current: b.ID}))
	if ms := w.readMessages(b.ID, 1, 9); len(ms) != 3 || ms[1].ConversationID != f.ID {
		w.t.Fatalf("the heir's path is %+v", ms)
	}
	owners, err := w.Log.FindOwners(w.ctx, []scrollback.MessageID{"unknown", f.first.Entries[3].ID, heir.Entries[0].ID})
	w.wantOK(err)
	if len(owners) != 2 || owners[f.first.Entries[3].ID] != f.ID || owners[heir.Entries[0].ID] != c.ID {
		w.t.Fatalf("the owners are %v", owners)
	}
	CheckInvariants(w.t, w.Driver)
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.second},
		Segments: []scrollback.Segment{f.segment}}))
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Current: f.second.ID}))
	w.readHead(f.ID)
	for id := f.ID; id != ""; {
		p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: id, Now: w.advanceClock(), Limit: 100})
		w.wantOK(err)
		if id = p.Next; !p.Done {
			w.t.Fatalf("purged %+v", p)
		}
	}
	f.second.IfHead = 2
	f.first.IfHead = 2
	f.first.Entries = f.first.Entries[2:]
	w.wantUnchanged(func() {
		w.wantCode(adoptHistory(w, driver.Adoption{Conversation: f.Conversation,
			Branches: []driver.AdoptedBranch{f.first}, Current: f.first.ID}), scrollback.Conflict)
	})
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: f.Conversation, Branches: []driver.AdoptedBranch{f.first}}))
	_, err = w.Log.ReadHead(w.ctx, f.ID)
	w.wantCode(err, scrollback.NotFound)
	CheckInvariants(w.t, w.Driver)
}

// testAdoptInheritsMore: a conversation that an heir's history brought without what it
// inherits itself comes whole later, and all of it goes with the heir.
func testAdoptInheritsMore(w *harness) {
	parent := madeElsewhere(w)
	fork := madeElsewhere(w)
	fork.first.Entries = fork.first.Entries[:2]
	fork.second = driver.AdoptedBranch{}
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: fork.Conversation,
		Branches: []driver.AdoptedBranch{fork.first}}))
	heir, b := newConversation(w)
	heir.Ancestors = []scrollback.ConversationID{fork.ID}
	leaves := driver.AdoptedBranch{Branch: b, IfHead: 2, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "heir")}}
	leaves.Parent = fork.first.ID
	leaves.AtSeq = 2
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: heir, Branches: []driver.AdoptedBranch{leaves}, Current: b.ID}))
	CheckInvariants(w.t, w.Driver)

	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: parent.Conversation,
		Branches: []driver.AdoptedBranch{parent.first}}))
	fork.Ancestors = []scrollback.ConversationID{parent.ID}
	other := driver.AdoptedBranch{IfHead: 2, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "of the fork")}}
	other.ID = scrollback.BranchID(w.newID("branch"))
	other.Conversation = fork.ID
	other.Parent = parent.first.ID
	other.AtSeq = 2
	w.wantOK(adoptHistory(w, driver.Adoption{Conversation: fork.Conversation, Branches: []driver.AdoptedBranch{other},
		Current: other.ID}))
	if got := w.readHead(fork.ID); !slices.Equal(got.Ancestors, fork.Ancestors) || got.Messages != 3 {
		w.t.Fatalf("the fork is %+v", got)
	}
	CheckInvariants(w.t, w.Driver)
	seen := fork.Conversation
	seen.Ancestors = []scrollback.ConversationID{parent.ID, "stranger"}
	w.wantUnchanged(func() { w.wantCode(adoptHistory(w, driver.Adoption{Conversation: seen}), scrollback.Conflict) })

	for _, id := range []scrollback.ConversationID{fork.ID, heir.ID} {
		w.moveToTrash(id)
		for id != "" {
			p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: id, Now: w.advanceClock(), Limit: 100})
			w.wantOK(err)
			if id = p.Next; !p.Done {
				w.t.Fatalf("purged %+v", p)
			}
		}
		CheckInvariants(w.t, w.Driver)
	}
	for _, b := range []scrollback.BranchID{parent.first.ID, fork.first.ID, other.ID} {
		_, err := w.Log.FindBranch(w.ctx, b)
		w.wantCode(err, scrollback.NotFound)
	}
}
