package drivertest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// maxPages is how many pages of one list, and rows a page, a reader here goes to.
const maxPages = 10000

// storeState is all that can be read of a driver without knowing a turn's id.
type storeState struct {
	Projects []scrollback.Project
	Stored   []scrollback.Project // what is stored of each
	Prefixed []scrollback.Conversation
	Threads  []conversationState
	Days     []scrollback.UsageDay
	Imported []scrollback.UsageDay
	Learned  map[string]scrollback.Learned // of the models whose usage is known
	Changes  []driver.Change
	Origins  []scrollback.Origin
	Aliases  []driver.Alias
	Clocks   []stamp.Clock // of projects; by whom they are is each database's own
	Stones   []stamp.Stone
}

// conversationState is all that can be read of one conversation.
type conversationState struct {
	Listed   scrollback.Conversation
	Head     driver.Head
	Branch   scrollback.Branch
	Turn     *scrollback.Turn
	Troubled [][]scrollback.Turn // of each branch: all along its path, then a stretch
	Branches []scrollback.Branch
	Messages []scrollback.Message
	Verified []driver.HashComparison // of each branch, all along its path
	Segments []scrollback.Segment
	Refs     []scrollback.RefEntry
	Sources  []driver.SourceVersion
	Kept     []scrollback.Kept
	Clocks   []stamp.Clock
	Receipts []scrollback.Receipt
	Thread   *threading.ThreadRow
	Newest   *threading.RequestRow // of the thread
	Leaves   []scrollback.TurnID
	Atoms    []threading.AtomRow // on the path to its tip, from there on
}

// readAll reads a driver to the end.
func readAll(t testing.TB, d *driver.Driver) storeState {
	t.Helper()
	ctx := t.Context()
	fail := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	var s storeState
	var err error
	s.Projects, err = d.Access.ListProjects(ctx)
	fail(err)
	for _, p := range s.Projects {
		p, err = d.Access.ReadProject(ctx, p.Name)
		fail(err)
		s.Stored = append(s.Stored, p)
	}
	s.Prefixed, err = d.Log.ListConversations(ctx, driver.ListQuery{Prefix: "0", Limit: maxPages})
	fail(err)
	s.Days, err = d.Access.ListUsageDays(ctx, math.MinInt32, math.MaxInt32)
	fail(err)
	s.Imported, err = d.Access.DivideImported(ctx, driver.UsagePartsQuery{Last: math.MaxInt32, ByConversation: true})
	fail(err)
	s.Learned = map[string]scrollback.Learned{}
	for _, day := range s.Days {
		s.Learned[day.Model], err = d.Turns.ReadLearned(ctx, day.Model)
		fail(err)
	}
	s.Changes, err = d.Log.ListChanges(ctx, 0, maxPages)
	fail(err)
	s.Changes = told(s.Changes)
	s.Origins, err = d.Log.ListOrigins(ctx, driver.OriginQuery{Trash: true, Limit: maxPages})
	fail(err)
	for _, kind := range aliasKinds {
		some, err := d.Log.FindAliases(ctx, kind, "", maxPages)
		fail(err)
		s.Aliases = append(s.Aliases, some...)
	}
	for _, p := range s.Projects {
		clocks, err := readClocks(t, d, stamp.OfProject(p.Name))
		fail(err)
		s.Clocks = append(s.Clocks, clocks...)
	}
	s.Stones, err = d.Log.ListStones(ctx, "", maxPages)
	fail(err)
	for i := range s.Stones {
		s.Stones[i].By = ""
	}
	for _, trash := range []bool{false, true} {
		q := driver.ListQuery{Trash: trash, Limit: 5}
		for range maxPages {
			page, err := d.Log.ListConversations(ctx, q)
			fail(err)
			for _, c := range page {
				th, err := readThread(t, d, c)
				fail(err)
				s.Threads = append(s.Threads, th)
			}
			if len(page) < q.Limit {
				break
			}
			last := page[len(page)-1]
			q.Before = &driver.ListKey{At: last.UpdatedAt, ID: string(last.ID)}
		}
	}
	return s
}

// told returns the changes that somebody is told of, numbered without the others: how many of these there are is each
// database's own.
func told(all []driver.Change) (out []driver.Change) {
	for _, c := range all {
		if c.Kinds != driver.KindSilent {
			c.N = int64(len(out) + 1)
			out = append(out, c)
		}
	}
	return out
}

// WantEqual fails t where two drivers differ in what can be read of them. What numbers are given
// and which changes were told is each one's own.
func WantEqual(t testing.TB, want, got *driver.Driver) {
	t.Helper()
	a := readAll(t, want)
	b := readAll(t, got)
	a.Changes = nil
	b.Changes = nil
	wantSame(t, "all that can be read", a, b)
}

// readClocks returns the clocks of an owner, without their authors.
func readClocks(t testing.TB, d *driver.Driver, owner string) ([]stamp.Clock, error) {
	out, err := d.Log.ReadClocks(t.Context(), owner)
	for i := range out {
		out[i].By = ""
	}
	return out, err
}

func readThread(t testing.TB, d *driver.Driver, c scrollback.Conversation) (th conversationState, err error) {
	ctx := t.Context()
	th.Listed = c
	if th.Head, err = d.Log.ReadHead(ctx, c.ID); err != nil {
		return th, err
	}
	if th.Branch, err = d.Log.FindBranch(ctx, c.Branch); err != nil {
		return th, err
	}
	if th.Clocks, err = readClocks(t, d, stamp.OfConversation(c.ID)); err != nil {
		return th, err
	}
	turn, err := d.Turns.GetLast(ctx, c.ID)
	switch {
	case err == nil:
		turn = withoutLease(turn)
		th.Turn = &turn
	case scrollback.CodeOf(err) != scrollback.NotFound:
		return th, err
	}
	if th.Branches, err = d.Log.ListBranches(ctx, c.ID); err != nil {
		return th, err
	}
	for _, b := range th.Branches {
		for _, q := range []driver.TurnQuery{{Branch: b.ID, To: maxPages, Limit: maxPages},
			{Branch: b.ID, From: 2, To: 5, Limit: 2}} {
			turns, err := d.Turns.ListUnsuccessful(ctx, q)
			if err != nil {
				return th, err
			}
			for i := range turns {
				turns[i] = withoutLease(turns[i])
			}
			th.Troubled = append(th.Troubled, turns)
		}
		v, err := d.Admin.VerifyHashes(ctx, driver.MessageQuery{Branch: b.ID, From: 1, To: maxPages})
		if err != nil {
			return th, err
		}
		th.Verified = append(th.Verified, v)
	}
	if th.Messages, err = d.Log.ReadMessages(ctx,
		driver.MessageQuery{Branch: c.Branch, From: 1, To: maxPages}); err != nil {
		return th, err
	}
	if th.Refs, err = d.Log.ListRefs(ctx, driver.RefQuery{Conversations: []scrollback.ConversationID{c.ID},
		Limit: maxPages}); err != nil {
		return th, err
	}
	if th.Sources, err = d.Log.FindSources(ctx, append([]scrollback.ConversationID{c.ID}, c.Ancestors...),
		sourceNames); err != nil {
		return th, err
	}
	if th.Kept, err = d.Log.ReadKept(ctx, driver.KeptQuery{Branch: c.Branch, To: maxPages, Limit: maxPages,
		Conversations: append([]scrollback.ConversationID{c.ID}, c.Ancestors...)}); err != nil {
		return th, err
	}
	var ids []scrollback.SegmentID
	for _, e := range th.Refs {
		if kind, id, _ := e.Ref.Split(); kind == scrollback.RefHistory {
			ids = append(ids, scrollback.SegmentID(id))
		}
	}
	if th.Segments, err = d.Views.ReadSegments(ctx, ids); err != nil {
		return th, err
	}
	if th.Receipts, err = d.Views.ListReceipts(ctx, c.ID, maxPages); err != nil {
		return th, err
	}
	return th, th.readIndex(t, d)
}

// readIndex reads what is kept of the thread of a conversation. The numbers of atoms are each database's own.
func (th *conversationState) readIndex(t testing.TB, d *driver.Driver) (err error) {
	index := d.Threads.IndexAt(0)
	th.Thread, err = index.Thread(t.Context(), threading.ThreadID(th.Listed.ID))
	if err != nil || th.Thread == nil {
		return err
	}
	if th.Newest, err = index.Request(t.Context(), th.Thread.Newest); err != nil {
		return err
	}
	if th.Leaves, err = d.Threads.ListLeaves(t.Context(), th.Listed.ID); err != nil {
		return err
	}
	for place := th.Thread.Tip; len(th.Atoms) < maxPages; place = th.Atoms[len(th.Atoms)-1].Parent {
		a, err := index.At(t.Context(), place)
		if err != nil || a == nil {
			return err
		}
		a.Order = 0
		th.Atoms = append(th.Atoms, *a)
	}
	return nil
}

// CheckInvariants reads everything and fails t where the log's invariants do not hold:
// heads agree with each other and with the messages, seqs follow one another,
// sums add up from the parent's on, and what a view shows can be read.
func CheckInvariants(t testing.TB, d *driver.Driver) {
	t.Helper()
	for _, th := range readAll(t, d).Threads {
		if err := checkThread(t, d, th); err != nil {
			t.Errorf("conversation %s: %v", th.Listed.ID, err)
		}
	}
}

func checkThread(t testing.TB, d *driver.Driver, th conversationState) error {
	c := th.Listed
	b := th.Branch
	if b.ID != c.Branch || b.Conversation != c.ID || b.HeadSeq != c.Messages {
		return fmt.Errorf("head %d of %d messages, branch %s of %s", b.HeadSeq, c.Messages, b.ID, b.Conversation)
	}
	for _, b := range th.Branches {
		ms, err := d.Log.ReadMessages(t.Context(), driver.MessageQuery{Branch: b.ID, From: 1, To: maxPages})
		if err == nil {
			err = checkPath(b, ms)
		}
		if err != nil {
			return err
		}
	}
	for _, item := range b.View.Segments {
		if _, err := d.Views.ReadSegments(t.Context(), []scrollback.SegmentID{item.ID}); err != nil {
			return err
		}
	}
	if th.Turn != nil && (th.Turn.State == scrollback.TurnOpen) != (th.Turn.EndedAt == 0) {
		return fmt.Errorf("turn %s is %s and ended at %d", th.Turn.ID, th.Turn.State, th.Turn.EndedAt)
	}
	return nil
}

// checkPath returns an error unless messages are the whole path of a branch.
func checkPath(b scrollback.Branch, path []scrollback.Message) error {
	var seq int64
	var sum scrollback.Weight
	for _, m := range path {
		seq += 1
		sum = sum.Add(m.Weight)
		own := m.Branch == b.ID && m.ConversationID == b.Conversation
		if m.Seq != seq || m.Sum != sum || own != (seq > b.AtSeq) {
			return fmt.Errorf("message %s: seq %d sum %v of %s, want %d, %v on the path of %s", m.ID, m.Seq, m.Sum, m.Branch,
				seq, sum, b.ID)
		}
	}
	if b.HeadSeq != seq || b.Sum != sum {
		return fmt.Errorf("branch %s: head %d sum %v, but the messages end at %d with %v", b.ID, b.HeadSeq, b.Sum, seq, sum)
	}
	return nil
}

// checkSound fails t for each flaw that an audit finds.
func checkSound(t testing.TB, d *driver.Driver) {
	t.Helper()
	err := d.Admin.WalkRows(t.Context(), driver.AuditWalk{
		Total:        func(int64) error { return nil },
		Conversation: func(scrollback.Conversation) error { return nil },
		Branch:       func(scrollback.Branch) error { return nil },
		Message:      func(scrollback.Message) error { return nil },
		Segment:      func(scrollback.Segment) error { return nil },
		Artifact:     func(scrollback.Artifact, int64) error { return nil },
		Turn:         func(scrollback.Turn) error { return nil },
		Flaw:         func(f driver.Flaw) error { t.Errorf("a flaw: %+v", f); return nil }})
	if err != nil {
		t.Error(err)
	}
}

// auditResult is what an audit walked.
type auditResult struct {
	total         int64
	conversations []scrollback.Conversation
	branches      []scrollback.Branch
	messages      []scrollback.Message
	segments      []scrollback.Segment
	artifacts     map[scrollback.ArtifactID]int64
	turns         []scrollback.Turn
	flaws         []driver.Flaw
}

// auditAll walks everything; after each message it asks the driver something, which a
// walk may do.
func auditAll(w *harness) auditResult {
	w.t.Helper()
	a := auditResult{artifacts: map[scrollback.ArtifactID]int64{}}
	w.wantOK(w.Admin.WalkRows(w.ctx, driver.AuditWalk{
		Total: func(n int64) error { a.total = n; return nil },
		Conversation: func(c scrollback.Conversation) error {
			a.conversations = append(a.conversations, c)
			return nil
		},
		Branch: func(b scrollback.Branch) error {
			if c := a.conversations[len(a.conversations)-1]; b.Conversation != c.ID {
				w.t.Errorf("branch %s of %s came behind conversation %s", b.ID, b.Conversation, c.ID)
			}
			a.branches = append(a.branches, b)
			return nil
		},
		Message: func(m scrollback.Message) error {
			if b := a.branches[len(a.branches)-1]; m.Branch != b.ID {
				w.t.Errorf("message %s of %s came behind branch %s", m.ID, m.Branch, b.ID)
			}
			a.messages = append(a.messages, m)
			_, err := w.Log.FindBranch(w.ctx, m.Branch)
			return err
		},
		Segment:  func(s scrollback.Segment) error { a.segments = append(a.segments, s); return nil },
		Artifact: func(t scrollback.Artifact, mentions int64) error { a.artifacts[t.ID] = mentions; return nil },
		Turn:     func(t scrollback.Turn) error { a.turns = append(a.turns, t); return nil },
		Flaw:     func(f driver.Flaw) error { a.flaws = append(a.flaws, f); return nil },
	}))
	return a
}

// testAudit: everything comes, each thing once and in order, and nothing changes.
func testAudit(w *harness) {
	main := addOneOfEach(w)
	many := w.addConversation()
	said := w.appendMessages(many.ID, 600) // more than a page
	w.wantOK(w.Log.PutArtifact(w.ctx, w.makeArtifact("nobody's", w.advanceClock()), ""))
	before := readAll(w.t, w.Driver)
	a := auditAll(w)
	wantSame(w.t, "after the audit", before, readAll(w.t, w.Driver))
	if len(a.flaws) > 0 {
		w.t.Errorf("flaws of a sound database: %v", a.flaws)
	}
	if a.total != int64(len(a.messages)) {
		w.t.Errorf("%d messages of %d came", len(a.messages), a.total)
	}
	if !slices.IsSortedFunc(a.conversations, func(x, y scrollback.Conversation) int { return cmp.Compare(x.ID, y.ID) }) ||
		len(a.conversations) != 4 {
		w.t.Errorf("the conversations came as %v", a.conversations)
	}
	var own []scrollback.Message
	for _, m := range a.messages {
		if m.Branch == many.Branch {
			own = append(own, m)
		}
	}
	wantSame(w.t, "messages of a branch", said, own[:600])
	if len(a.segments) != 2 || a.segments[0].ID >= a.segments[1].ID {
		w.t.Errorf("the segments came as %v", a.segments)
	}
	for _, s := range a.segments {
		if s.Branch != main.Branch || s.Hash == "" {
			w.t.Errorf("a segment came as %+v", s)
		}
	}
	for name, mentions := range map[string]int64{"nobody's": 0, "upload": 1, "log": 1} {
		if got, known := a.artifacts[artifactID(name)]; !known || got != mentions {
			w.t.Errorf("artifact %s came with %d mentions (%v), want %d", name, got, known, mentions)
		}
	}
	if len(a.turns) != 1 || a.turns[0].State != scrollback.TurnOpen {
		w.t.Errorf("the open turns came as %v", a.turns)
	}
}

// testAuditMeanwhile: what was written since a connection last searched is not a flaw.
func testAuditMeanwhile(w *harness) {
	c := w.addConversation()
	for range 3 {
		w.searchTerms("words")
		for range 50 { // enough for an index to be merged between
			w.appendEntries(c.ID, w.makeEntry(scrollback.RoleUser, "words "+w.newID("term")[:8]))
		}
		if a := auditAll(w); len(a.flaws) > 0 {
			w.t.Fatalf("flaws of a sound database: %v", a.flaws)
		}
	}
}

// testAuditStops: an error of the walk ends it, and comes back as it is.
func testAuditStops(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 3)
	enough := errors.New("enough")
	seen := 0
	keep := func() error { return nil }
	err := w.Admin.WalkRows(w.ctx, driver.AuditWalk{
		Total:        func(int64) error { return keep() },
		Conversation: func(scrollback.Conversation) error { return keep() },
		Branch:       func(scrollback.Branch) error { return keep() },
		Message: func(scrollback.Message) error {
			if seen++; seen == 2 {
				return enough
			}
			return nil
		},
		Flaw: func(f driver.Flaw) error { w.t.Errorf("a flaw: %v", f); return nil },
	})
	if !errors.Is(err, enough) || seen != 2 {
		w.t.Errorf("after %d messages the walk ended with %v", seen, err)
	}
}

// testMendSound: what is sound stays as it is, whatever is to be mended, and what is
// not there is said to be so.
func testMendSound(w *harness) {
	c := addOneOfEach(w)
	h := w.readHead(c.ID)
	turn, err := w.Turns.GetLast(w.ctx, c.ID)
	w.wantOK(err)
	w.wantOK(w.Log.PutArtifact(w.ctx, w.makeArtifact("nobody's", w.advanceClock()), ""))
	found := w.appendEntries(c.ID, w.makeEntry(scrollback.RoleUser, "findable"))
	mend := func(m driver.Repair) error { m.Now = w.advanceClock(); return w.Admin.Repair(w.ctx, m) }
	w.wantUnchanged(func() {
		w.wantOK(mend(driver.Repair{Heads: c.ID}))
		w.wantOK(mend(driver.Repair{Recover: &driver.LostRow{Branch: c.Branch}}))
		w.wantOK(mend(driver.Repair{Recover: &driver.LostRow{Conversation: c.ID,
			As: scrollback.Conversation{Title: "Recovered"}}}))
		w.wantOK(mend(driver.Repair{Lease: turn.ID}))
		w.wantOK(mend(driver.Repair{Learned: "a/x"}))
		w.wantOK(mend(driver.Repair{Usage: &driver.UsageRepair{Day: scrollback.DayOf(w.now), Model: "a/x"}}))
		w.wantOK(mend(driver.Repair{Sweep: []driver.StrayRow{{Turn: turn.ID}, {Receipt: 1},
			{Conversation: c.ID, Artifact: artifactID("log")}, {Artifact: artifactID("log")}}}))
		w.wantCode(mend(driver.Repair{View: &driver.ViewRepair{Branch: c.Branch, IfViewVersion: h.Branch.ViewVersion + 1}}),
			scrollback.Conflict)
		w.wantCode(mend(driver.Repair{View: &driver.ViewRepair{Branch: "unknown"}}), scrollback.Conflict)
		w.wantCode(mend(driver.Repair{Heads: "unknown"}), scrollback.NotFound)
		w.wantCode(mend(driver.Repair{Recover: &driver.LostRow{Branch: "unknown"}}), scrollback.NotFound)
		w.wantCode(mend(driver.Repair{Recover: &driver.LostRow{Conversation: "unknown"}}), scrollback.NotFound)
		w.wantCode(mend(driver.Repair{Lease: "unknown"}), scrollback.NotFound)
		w.wantCode(mend(driver.Repair{Learned: "unknown"}), scrollback.NotFound)
		w.wantCode(mend(driver.Repair{Usage: &driver.UsageRepair{Day: scrollback.DayOf(w.now), Model: "unknown"}}),
			scrollback.NotFound)
	})
	w.wantFound([]string{"findable"}, found...)
	w.wantOK(mend(driver.Repair{Sweep: []driver.StrayRow{{Artifact: artifactID("nobody's")}}}))
	kept := auditAll(w).artifacts
	if _, known := kept[artifactID("nobody's")]; known || kept[artifactID("log")] != 1 {
		w.t.Errorf("swept down to %v", kept)
	}
}

// testMendView: a view is replaced if it is still the one that was seen.
func testMendView(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 4)
	w.commitFold(c, 1, 2)
	before := w.readHead(c.ID)
	if before.Branch.View.Boundary != 2 {
		w.t.Fatalf("folded to %+v", before.Branch.View)
	}
	m := driver.Repair{View: &driver.ViewRepair{Branch: c.Branch, IfViewVersion: before.Branch.ViewVersion,
		View: scrollback.View{RetryAt: 7}}, Now: w.advanceClock()}
	w.wantOK(w.Admin.Repair(w.ctx, m))
	after := w.wantOneWrite(before)
	wantSame(w.t, "view", m.View.View, after.Branch.View)
	if after.Branch.ViewVersion != before.Branch.ViewVersion+1 {
		w.t.Errorf("version %d of the view after %d", after.Branch.ViewVersion, before.Branch.ViewVersion)
	}
	w.wantUnchanged(func() { w.wantCode(w.Admin.Repair(w.ctx, m), scrollback.Conflict) })
	CheckInvariants(w.t, w.Driver)
}

// testMendLease: a turn whose owner is gone is closed with its draft saved; one that
// is held is left alone.
func testMendLease(w *harness) {
	held := w.beginTurn(w.addConversation().ID)
	w.wantUnchanged(func() {
		w.wantCode(w.Admin.Repair(w.ctx, driver.Repair{Lease: held.Turn.ID, Now: w.advanceClock()}), scrollback.Conflict)
	})
	c, old := addExpired(w)
	before := w.readHead(c.ID)
	m := driver.Repair{Lease: old.ID, Salvage: newSalvager(w, old.ID, 1)}
	m.Now = w.advanceClock()
	w.wantOK(w.Admin.Repair(w.ctx, m))
	w.wantOneWrite(before)
	all := w.readMessages(c.Branch, 1, 9)
	if len(all) != 2 || all[1].Role != scrollback.RoleAssistant {
		w.t.Fatalf("the log afterwards: %+v", all)
	}
	if got := w.readTurn(old.ID); got.State != scrollback.TurnInterrupted || got.Reply != all[1].ID ||
		got.EndedAt != m.Now {
		w.t.Errorf("the turn afterwards: %+v", got)
	}
	w.wantUnchanged(func() { w.wantOK(w.Admin.Repair(w.ctx, m)) })
	CheckInvariants(w.t, w.Driver)
}

// testCopy: a whole file, or none at all; what is kept stays as it is.
func testCopy(w *harness) {
	addOneOfEach(w)
	path := filepath.Join(w.t.TempDir(), "copy")
	want := []string{path}
	w.wantUnchanged(func() {
		if err := w.Admin.CopyDatabase(w.ctx, path); err != nil {
			w.wantCode(err, scrollback.Refused)
			want = nil
			return
		}
		w.wantCode(w.Admin.CopyDatabase(w.ctx, path), scrollback.Conflict)
	})
	got, err := filepath.Glob(path + "*")
	w.wantOK(err)
	wantSame(w.t, "files", want, got)
}
