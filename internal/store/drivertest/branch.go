package drivertest

import (
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// rewindTo plans a rewind to a seq on the path of a branch.
func rewindTo(w *harness, id scrollback.ConversationID, branch scrollback.BranchID, seq int64) driver.Rewind {
	w.t.Helper()
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), AtSeq: seq, HeadSeq: seq}
	if seq > 0 {
		m := w.readMessages(branch, seq, seq)[0]
		b.Parent = m.Branch
		b.Sum = m.Sum
	}
	return driver.Rewind{Conversation: id, Now: w.advanceClock(), To: b}
}

// rewindHead goes back to a seq of the current path.
func rewindHead(w *harness, id scrollback.ConversationID, seq int64) driver.Head {
	w.t.Helper()
	h, err := w.Log.RewindHead(w.ctx, rewindTo(w, id, w.readHead(id).Branch.ID, seq))
	w.wantOK(err)
	return h
}

// testRewind: the head moves, nothing is copied, and every way back stays open.
func testRewind(w *harness) {
	c := w.addConversation()
	old := w.appendMessages(c.ID, 5)
	before := w.readHead(c.ID)
	r := rewindTo(w, c.ID, c.Branch, 3)
	r.To.View = scrollback.View{RetryAt: 7}
	r.Edit = func(c *scrollback.Conversation) {
		c.Title = "back"
		c.Branch = "x"
		c.Messages = 99
	}
	back, err := w.Log.RewindHead(w.ctx, r)
	w.wantOK(err)
	want := r.To
	want.Conversation = c.ID
	want.UpdatedAt = r.Now
	wantSame(w.t, "the new branch", want, back.Branch)
	if back.Title != "back" || back.Messages != 3 || back.Conversation.Branch != r.To.ID ||
		back.Version != before.Version+1 {
		w.t.Errorf("the head is %+v", back.Conversation)
	}
	wantSame(w.t, "stored", back, w.wantOneWrite(before))
	wantSame(w.t, "the path", old[:3], w.readMessages(back.Branch.ID, 1, 99))
	wantSame(w.t, "the path that was left", old, w.readMessages(c.Branch, 1, 99))

	again := rewindHead(w, c.ID, 3) // where it stands
	wantSame(w.t, "an empty branch serves again", back.Branch, again.Branch)
	second := w.appendMessages(c.ID, 2)
	if second[0].Seq != 4 || second[0].Sum != old[2].Sum.Add(second[0].Weight) || second[0].Branch != back.Branch.ID {
		w.t.Errorf("what follows is %+v", second[0])
	}
	h, err := w.Log.RewindHead(w.ctx, rewindTo(w, c.ID, c.Branch, 5))
	w.wantOK(err)
	wantSame(w.t, "back on the first branch", before.Branch, h.Branch)
	more := w.appendMessages(c.ID, 1)
	wantSame(w.t, "the first branch goes on", append(old[:5:5], more...), w.readMessages(c.Branch, 1, 99))

	start := rewindHead(w, c.ID, 0)
	if start.Messages != 0 || start.Branch.Parent != "" {
		w.t.Errorf("before the first message the head is %+v", start)
	}
	fresh := w.appendMessages(c.ID, 1)
	if fresh[0].Seq != 1 || fresh[0].Sum != fresh[0].Weight {
		w.t.Errorf("a new first message is %+v", fresh[0])
	}
	for i := range 3 { // deep: each branch leaves the one before
		rewindHead(w, c.ID, w.readHead(c.ID).Messages)
		w.appendMessages(c.ID, 2)
		rewindHead(w, c.ID, w.readHead(c.ID).Messages-1)
		w.appendMessages(c.ID, 1)
		CheckInvariants(w.t, w.Driver)
		if n := w.readHead(c.ID).Messages; n != int64(3+2*i) {
			w.t.Errorf("after %d rounds the path has %d messages", i+1, n)
		}
	}
}

// testRewindRefused: what is not there cannot be gone to, and nothing is written.
func testRewindRefused(w *harness) {
	c := w.addConversation()
	other := w.addConversation()
	w.appendMessages(c.ID, 3)
	w.appendMessages(other.ID, 3)
	child := w.addFork(c, 2)
	w.appendMessages(child.ID, 1)
	for name, edit := range map[string]func(*driver.Rewind){
		"behind the end": func(r *driver.Rewind) { r.To.AtSeq = 4 },
		"no such branch": func(r *driver.Rewind) { r.To.Parent = "x" },
		"a stranger's":   func(r *driver.Rewind) { r.To.Parent = other.Branch },
		"a child's": func(r *driver.Rewind) {
			r.To.Parent = child.Branch
			r.To.AtSeq = 3
		},
		"not the branch's own": func(r *driver.Rewind) {
			r.Conversation = child.ID
			r.To.Parent = child.Branch
			r.To.AtSeq = 2
		},
		"an unknown conversation":  func(r *driver.Rewind) { r.Conversation = "x" },
		"a conversation in trash ": func(r *driver.Rewind) { w.moveToTrash(c.ID) },
	} {
		r := rewindTo(w, c.ID, c.Branch, 2)
		edit(&r)
		w.wantUnchanged(func() {
			_, err := w.Log.RewindHead(w.ctx, r)
			if scrollback.CodeOf(err) != scrollback.NotFound {
				w.t.Errorf("%s: %v", name, err)
			}
		})
		if w.readHead(c.ID).DeletedAt != 0 {
			_, err := w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(),
				func(c *scrollback.Conversation) error { c.DeletedAt = 0; return nil })
			w.wantOK(err)
		}
	}
	h, err := w.Log.RewindHead(w.ctx, rewindTo(w, child.ID, c.Branch, 1)) // into what it inherits
	w.wantOK(err)
	if h.Branch.Parent != c.Branch || h.Branch.Conversation != child.ID || h.Messages != 1 {
		w.t.Errorf("inside what is inherited the head is %+v", h)
	}
	h, err = w.Log.RewindHead(w.ctx, rewindTo(w, child.ID, c.Branch, 3)) // its end is not the child's to go on with
	w.wantOK(err)
	if h.Branch.ID == c.Branch {
		w.t.Error("a fork writes on its parent's branch")
	}
	turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	w.wantUnchanged(func() {
		_, err := w.Log.RewindHead(w.ctx, rewindTo(w, c.ID, c.Branch, 1))
		w.wantCode(err, scrollback.Conflict)
	})
	w.finishTurn(turn, scrollback.TurnComplete)
	rewindHead(w, c.ID, 1)
}

// testRewindTurns: the newest turn is the one that ended with the head.
func testRewindTurns(w *harness) {
	c := w.addConversation()
	said := func(e driver.Entry, turn scrollback.Turn) driver.Entry { e.TurnID = turn.ID; return e }
	turn := func(state scrollback.TurnState) scrollback.Turn {
		id := scrollback.TurnID("turn of " + w.newID("turn"))
		begun, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			b.Turn.ID = id
			for i := range b.Entries {
				b.Entries[i].TurnID = id
			}
		}, w.makeEntry(scrollback.RoleUser, ""))
		w.wantOK(err)
		w.finishTurn(begun.Turn, state, said(w.makeEntry(scrollback.RoleAssistant, ""), begun.Turn))
		return w.readTurn(id)
	}
	last := func(want scrollback.TurnID) {
		w.t.Helper()
		got, err := w.Turns.GetLast(w.ctx, c.ID)
		if want == "" {
			w.wantCode(err, scrollback.NotFound)
			return
		}
		w.wantOK(err)
		if got.ID != want {
			w.t.Errorf("the newest turn is %s, want %s", got.ID, want)
		}
	}
	first := turn(scrollback.TurnComplete)
	second := turn(scrollback.TurnWaiting)
	last(second.ID)
	rewindHead(w, c.ID, 2)
	last("") // its message is inside another branch: what follows is not an answer to it
	rewindHead(w, c.ID, 1)
	last("")
	third := turn(scrollback.TurnComplete)
	last(third.ID)
	h, err := w.Log.RewindHead(w.ctx, rewindTo(w, c.ID, c.Branch, 4))
	w.wantOK(err)
	if h.Branch.ID != c.Branch {
		w.t.Errorf("on branch %s", h.Branch.ID)
	}
	last(second.ID)
	var admitted *scrollback.Turn
	_, err = w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Admit = func(t *scrollback.Turn) error { admitted = t; return nil }
	})
	w.wantOK(err)
	if admitted == nil || admitted.ID != second.ID || admitted.State != scrollback.TurnWaiting {
		w.t.Errorf("judged by %+v", admitted)
	}
	_ = first
}

// testRewindTakesOver: a turn whose owner is gone is closed where it was, first.
func testRewindTakesOver(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 2)
	turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "")).Turn
	_, err := w.saveDraft(turn, textDraft("half"))
	w.wantOK(err)
	w.now = w.readTurn(turn.ID).LeaseUntil
	r := rewindTo(w, c.ID, c.Branch, 1)
	kept := w.makeEntry(scrollback.RoleAssistant, "half")
	r.Salvage = func(t scrollback.Turn) []driver.Entry {
		if t.ID != turn.ID || t.Draft.Content != "half" {
			w.t.Errorf("to be saved: %+v", t)
		}
		return []driver.Entry{kept}
	}
	h, err := w.Log.RewindHead(w.ctx, r)
	w.wantOK(err)
	if h.Messages != 1 {
		w.t.Errorf("the head is at %d", h.Messages)
	}
	ms := w.readMessages(c.Branch, 1, 99)
	if len(ms) != 4 || ms[3].ID != kept.ID || w.readTurn(turn.ID).State != scrollback.TurnInterrupted ||
		w.readTurn(turn.ID).Reply != kept.ID {
		w.t.Errorf("%d messages, the turn is %+v", len(ms), w.readTurn(turn.ID))
	}
	CheckInvariants(w.t, w.Driver)
}

// testForkRefused: what is not there, or in the trash, cannot be continued.
func testForkRefused(w *harness) {
	parent := w.addConversation()
	w.appendMessages(parent.ID, 3)
	try := func(name string, edit func(*scrollback.Branch)) {
		w.t.Helper()
		c, b := newConversation(w)
		b.Parent = parent.Branch
		b.AtSeq = 2
		b.HeadSeq = 2
		edit(&b)
		if _, _, err := w.Log.CreateConversation(w.ctx, c, b); scrollback.CodeOf(err) != scrollback.NotFound {
			w.t.Errorf("%s: %v", name, err)
		}
		_, err := w.Log.ReadHead(w.ctx, c.ID)
		w.wantCode(err, scrollback.NotFound)
	}
	try("no such branch", func(b *scrollback.Branch) { b.Parent = "x" })
	try("behind the end", func(b *scrollback.Branch) { b.AtSeq = 4 })
	try("before the first", func(b *scrollback.Branch) { b.AtSeq = 0 })
	w.moveToTrash(parent.ID)
	try("in the trash", func(*scrollback.Branch) {})
}

// testForkOfInherited: what a living conversation inherits can be forked, whatever
// became of the conversation that said it, and nothing else of that.
func testForkOfInherited(w *harness) {
	top := w.addConversation()
	said := w.appendMessages(top.ID, 3)
	mid := w.addFork(top, 2)
	w.appendMessages(mid.ID, 1)
	w.moveToTrash(top.ID)
	low := w.addFork(mid, 1)
	wantSame(w.t, "of one in the trash", said[:1], w.readMessages(low.Branch, 1, 9))
	purgeConversation(w, top.ID, 9)
	low = w.addFork(mid, 2)
	wantSame(w.t, "of one that was purged", said[:2], w.readMessages(low.Branch, 1, 9))
	other := w.addConversation()
	c, b := newConversation(w)
	c.Parent = &scrollback.ParentRef{ID: other.ID, Branch: other.Branch, Seq: 1}
	b.Parent = said[0].Branch
	b.AtSeq = 1
	_, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantCode(err, scrollback.NotFound)
	w.moveToTrash(mid.ID)
	c, b = newConversation(w)
	c.Parent = &scrollback.ParentRef{ID: mid.ID, Branch: mid.Branch, Seq: 1}
	b.Parent = said[0].Branch
	b.AtSeq = 1
	_, _, err = w.Log.CreateConversation(w.ctx, c, b)
	w.wantCode(err, scrollback.NotFound)
}

// testLinesInherited: of branches in the trash, the index sees what a live conversation
// inherits, with the heir that goes furthest.
func testLinesInherited(w *harness) {
	top := w.addConversation(func(c *scrollback.Conversation) { c.Project = "one" })
	first := w.appendMessages(top.ID, 5)[0]
	mid := w.addFork(top, 4)
	w.appendMessages(mid.ID, 2)
	low := w.addFork(mid, 6)
	beside := w.addFork(top, 2)
	places := map[scrollback.BranchID]int64{}
	lines, err := w.Index.ListBranchesOf(w.ctx, []scrollback.ConversationID{top.ID, mid.ID})
	w.wantOK(err)
	for _, l := range lines {
		places[l.Branch] = l.Number
	}
	see := func(what string, of scrollback.BranchID, in driver.IndexedBranchQuery, want driver.IndexedBranch) {
		w.t.Helper()
		in.Numbers = []int64{places[of]}
		got, err := w.Index.FindBranches(w.ctx, in)
		w.wantOK(err)
		l := got[places[of]]
		l.Number = 0
		l.Parent = 0
		l.Branch = ""
		if wantSame(w.t, what, want, l); want.Conversation == "" && len(got) > 0 {
			w.t.Errorf("%s: %+v", what, got)
		}
	}
	all := driver.IndexedBranchQuery{}
	see("live", first.Branch, all, driver.IndexedBranch{Conversation: top.ID, First: 1, Head: 5})
	w.moveToTrash(top.ID)
	see("with two heirs", first.Branch, all,
		driver.IndexedBranch{Conversation: top.ID, First: 1, Head: 4, Heir: mid.ID, Through: mid.Branch})
	see("with all of the trash", first.Branch, driver.IndexedBranchQuery{Trash: true},
		driver.IndexedBranch{Conversation: top.ID, First: 1, Head: 5})
	see("of no project of an heir", first.Branch, driver.IndexedBranchQuery{Projects: []string{"none"}},
		driver.IndexedBranch{})
	w.moveToTrash(mid.ID)
	see("through another in the trash", first.Branch, all,
		driver.IndexedBranch{Conversation: top.ID, First: 1, Head: 4, Heir: low.ID, Through: low.Branch})
	see("of another in the trash", mid.Branch, all,
		driver.IndexedBranch{Conversation: mid.ID, First: 5, Head: 6, Heir: low.ID, Through: low.Branch})
	purgeConversation(w, top.ID, 9)
	see("of one that was purged", first.Branch, all,
		driver.IndexedBranch{Conversation: top.ID, First: 1, Head: 4, Heir: low.ID, Through: low.Branch})
	w.moveToTrash(low.ID)
	see("with the nearer heir", first.Branch, all,
		driver.IndexedBranch{Conversation: top.ID, First: 1, Head: 2, Heir: beside.ID, Through: beside.Branch})
	see("without an heir", mid.Branch, all, driver.IndexedBranch{})
	w.moveToTrash(beside.ID)
	see("of nobody", first.Branch, all, driver.IndexedBranch{})
}

// testBranches: a conversation's own, by id.
func testBranches(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 3)
	first := w.readHead(c.ID).Branch
	second := rewindHead(w, c.ID, 1).Branch
	w.addFork(c, 1)
	got, err := w.Log.ListBranches(w.ctx, c.ID)
	w.wantOK(err)
	want := []scrollback.Branch{first, second}
	if second.ID < first.ID {
		want = []scrollback.Branch{second, first}
	}
	wantSame(w.t, "branches", want, got)
	got, err = w.Log.ListBranches(w.ctx, "x")
	w.wantOK(err)
	wantSame(w.t, "of no conversation", []scrollback.Branch(nil), got)
	w.appendMessages(c.ID, 1)
	if b, err := w.Log.FindBranch(w.ctx, second.ID); err != nil || b.UpdatedAt <= second.UpdatedAt {
		w.t.Errorf("after a message: %+v, %v", b, err)
	}
}

// testUnfoldInherited: a branch without its own fold takes the view that it is
// given, if it is as the caller saw it.
func testUnfoldInherited(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 4)
	own := w.commitFold(c, 1, 2)
	view := &scrollback.View{RetryAt: 5}
	u := driver.FoldUndo{Branch: c.Branch, Now: w.advanceClock(), IfViewVersion: 99, View: view}
	got, err := w.Views.UndoFold(w.ctx, u) // a fold to undo comes first, whatever the version
	w.wantOK(err)
	wantSame(w.t, "receipt", own.Receipt, got)
	w.wantUnchanged(func() {
		_, err := w.Views.UndoFold(w.ctx, u)
		w.wantCode(err, scrollback.Conflict)
	})
	u.IfViewVersion = w.readHead(c.ID).Branch.ViewVersion
	got, err = w.Views.UndoFold(w.ctx, u)
	w.wantOK(err)
	wantSame(w.t, "no receipt", scrollback.Receipt{}, got)
	h := w.readHead(c.ID)
	wantSame(w.t, "view", *view, h.Branch.View)
	wantSame(w.t, "view version", u.IfViewVersion+1, h.Branch.ViewVersion)
}

// purgeConversation goes on to the end, in steps.
func purgeConversation(w *harness, id scrollback.ConversationID, limit int) (all driver.PurgeResult) {
	w.t.Helper()
	for i := 0; !all.Done; i++ {
		p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: id, Now: w.advanceClock(), Limit: limit})
		w.wantOK(err)
		if p.Removed > int64(limit) || i > 1000 {
			w.t.Fatalf("step %d removed %d, at most %d were asked", i, p.Removed, limit)
		}
		p.Removed += all.Removed
		all = p
	}
	return all
}

// wantGone checks that no method knows a conversation any more.
func wantGone(w *harness, c scrollback.Conversation) {
	w.t.Helper()
	for name, call := range map[string]func() error{
		"Head":     func() error { _, err := w.Log.ReadHead(w.ctx, c.ID); return err },
		"LastTurn": func() error { _, err := w.Turns.GetLast(w.ctx, c.ID); return err },
		"Patch": func() error {
			_, err := w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(), func(*scrollback.Conversation) error { return nil })
			return err
		},
		"Begin":  func() error { _, err := w.tryBegin(c.ID, nil); return err },
		"Append": func() error { _, err := w.tryAppend(c.ID, nil, w.makeEntry(scrollback.RoleUser, "")); return err },
	} {
		if err := call(); scrollback.CodeOf(err) != scrollback.NotFound {
			w.t.Errorf("%s of a purged conversation: %v", name, err)
		}
	}
	for _, q := range []driver.ListQuery{{Limit: 99}, {Limit: 99, Trash: true}, {Limit: 99, Prefix: string(c.ID)}} {
		for _, listed := range listAllPages(w, q) {
			if listed.ID == c.ID {
				w.t.Errorf("%+v lists a purged conversation", q)
			}
		}
	}
}

// testPurge: nothing is left of what nobody shares.
func testPurge(w *harness) {
	c := addOneOfEach(w)
	lone := w.addConversation()
	e := w.makeEntry(scrollback.RoleUser, "secret")
	alone := w.makeArtifact("mine alone", w.advanceClock())
	both := w.makeArtifact("log", w.advanceClock())
	e.Mentions = []scrollback.Artifact{alone, both}
	w.appendEntries(lone.ID, e)
	w.commitFold(lone, 1, 1)
	held := w.beginTurn(lone.ID).Turn
	w.wantUnchanged(func() {
		_, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: lone.ID, Now: w.advanceClock(), Limit: 9})
		w.wantCode(err, scrollback.Conflict)
	})
	w.finishTurn(held, scrollback.TurnComplete)
	before := readAll(w.t, w.Driver)
	p := purgeConversation(w, lone.ID, 9)
	wantSame(w.t, "purged", driver.PurgeResult{Done: true, Removed: 1, Loose: []scrollback.ArtifactID{alone.ID}}, p)
	wantGone(w, lone)
	w.wantFound([]string{"secret"})
	wantSame(w.t, "refs", 0, len(refsOf(w,
		driver.RefQuery{Conversations: []scrollback.ConversationID{lone.ID}, Limit: 9})))
	var rest []conversationState
	for _, th := range before.Threads {
		if th.Listed.ID != lone.ID {
			rest = append(rest, th)
		}
	}
	wantSame(w.t, "the others", rest, readAll(w.t, w.Driver).Threads)
	a := auditAll(w)
	if _, kept := a.artifacts[both.ID]; !kept || len(a.flaws) > 0 || a.total != int64(len(a.messages)) {
		w.t.Errorf("after it: flaws %v, %d of %d messages", a.flaws, len(a.messages), a.total)
	}
	wantSame(w.t, "again", driver.PurgeResult{Done: true}, purgeConversation(w, lone.ID, 9))
	_, _, err := w.Log.CreateConversation(w.ctx, lone, scrollback.Branch{ID: "b again", Conversation: lone.ID})
	w.wantCode(err, scrollback.Conflict) // its id is never free again
	_ = c
}

// testPurgeShared: what a fork inherits stays readable through it, and no more.
func testPurgeShared(w *harness) {
	parent := w.addConversation()
	shown := w.makeArtifact("shown", w.advanceClock())
	e := w.makeEntry(scrollback.RoleUser, "inherited")
	e.Parts = append(e.Parts, scrollback.File{Artifact: shown.ID, Name: "f"})
	e.Mentions = []scrollback.Artifact{shown}
	old := w.appendEntries(parent.ID, e)
	old = append(old, w.appendEntries(parent.ID, w.makeEntry(scrollback.RoleUser, "inherited too"),
		w.makeEntry(scrollback.RoleUser, "later"))...)
	folded := w.commitFold(parent, 1, 2)
	late := w.commitFold(parent, 3, 3)
	side := rewindHead(w, parent.ID, 2).Branch
	w.appendEntries(parent.ID, w.makeEntry(scrollback.RoleUser, "aside"))
	child := w.addFork(scrollback.Conversation{ID: parent.ID, Branch: parent.Branch}, 2)
	new1 := w.appendMessages(child.ID, 2)
	want := readAll(w.t, w.Driver)
	p := purgeConversation(w, parent.ID, 1)
	wantSame(w.t, "purged", driver.PurgeResult{Done: true, Removed: 2, Kept: 2}, p)
	wantGone(w, parent)
	wantSame(w.t, "the child's path", append(old[:2:2], new1...), w.readMessages(child.Branch, 1, 99))
	for _, th := range want.Threads {
		if th.Listed.ID == child.ID {
			wantSame(w.t, "the child", []conversationState{th}, readAll(w.t, w.Driver).Threads)
		}
	}
	in := []scrollback.ConversationID{child.ID, parent.ID}
	if got := w.searchTerms("inherited"); len(got) != 2 {
		w.t.Errorf("the child finds %d of what it inherits", len(got))
	}
	w.wantFound([]string{"later", "aside"})
	var refs []scrollback.Ref
	for _, e := range refsOf(w, driver.RefQuery{Conversations: in, Limit: 9}) {
		refs = append(refs, e.Ref)
	}
	if len(refs) != 2 || fmt.Sprint(refs) == "" {
		w.t.Errorf("refs %v", refs)
	}
	_, err := w.Views.ReadSegments(w.ctx, []scrollback.SegmentID{folded.Segments[0].ID})
	w.wantOK(err)
	_, err = w.Views.ReadSegments(w.ctx, []scrollback.SegmentID{late.Segments[0].ID})
	w.wantCode(err, scrollback.NotFound)
	_, err = w.Log.FindBranch(w.ctx, side.ID)
	w.wantCode(err, scrollback.NotFound)
	_, _, err = w.Log.CreateConversation(w.ctx, scrollback.Conversation{ID: parent.ID}, scrollback.Branch{ID: "b again"})
	w.wantCode(err, scrollback.Conflict)
	if a := auditAll(w); len(a.flaws) > 0 {
		w.t.Errorf("flaws %v", a.flaws)
	}
	again := w.addFork(child, 3) // of what is left, through the child
	purgeConversation(w, child.ID, 9)
	wantSame(w.t, "the grandchild's path", append(old[:2:2], new1[0]), w.readMessages(again.Branch, 1, 99))
}

// testPurgeSteps: between two steps the conversation is gone for everybody, and the
// next call goes on.
func testPurgeSteps(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 5)
	p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: c.ID, Now: w.advanceClock(), Limit: 3})
	w.wantOK(err)
	wantSame(w.t, "a step", driver.PurgeResult{Removed: 3}, p)
	wantGone(w, c)
	wantSame(w.t, "the rest", driver.PurgeResult{Done: true, Removed: 2}, purgeConversation(w, c.ID, 3))
	if a := auditAll(w); a.total != 0 || len(a.conversations) != 0 || len(a.branches) != 0 || len(a.segments) != 0 {
		w.t.Errorf("left: %+v", a)
	}
}

// testPurgeOfTrash: what was taken out of the trash, or put there again, since
// somebody looked is spared.
func testPurgeOfTrash(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 2)
	try := func(trashedBy int64, want scrollback.Code) {
		w.t.Helper()
		_, err := w.Log.PurgeConversation(w.ctx,
			driver.Purge{Conversation: c.ID, Now: w.advanceClock(), TrashedBy: trashedBy, Limit: 9})
		if scrollback.CodeOf(err) != want {
			w.t.Errorf("%v, want %q", err, want)
		}
	}
	w.wantUnchanged(func() { try(w.advanceClock(), scrollback.Conflict) })
	w.moveToTrash(c.ID)
	at := w.readHead(c.ID).DeletedAt
	w.wantUnchanged(func() { try(at-1, scrollback.Conflict) })
	try(at, "")
	wantGone(w, c)
}

// testPurgeChain: with its last heir gone, a purged ancestor gives up the rest.
func testPurgeChain(w *harness) {
	top := w.addConversation()
	w.appendMessages(top.ID, 3)
	mid := w.addFork(top, 2)
	w.appendMessages(mid.ID, 2)
	low := w.addFork(mid, 3)
	w.appendMessages(low.ID, 1)
	wantSame(w.t, "top", driver.PurgeResult{Done: true, Removed: 1, Kept: 2}, purgeConversation(w, top.ID, 9))
	wantSame(w.t, "mid", driver.PurgeResult{Done: true, Removed: 1, Kept: 1, Next: top.ID},
		purgeConversation(w, mid.ID, 9))
	CheckInvariants(w.t, w.Driver)
	wantSame(w.t, "low", driver.PurgeResult{Done: true, Removed: 1, Next: mid.ID}, purgeConversation(w, low.ID, 9))
	wantSame(w.t, "mid again", driver.PurgeResult{Done: true, Removed: 1, Next: top.ID}, purgeConversation(w, mid.ID, 9))
	wantSame(w.t, "top again", driver.PurgeResult{Done: true, Removed: 2}, purgeConversation(w, top.ID, 9))
	if a := auditAll(w); a.total != 0 || len(a.conversations) != 0 {
		w.t.Errorf("left: %d messages, %v", a.total, a.conversations)
	}
}
