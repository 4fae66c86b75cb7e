package drivertest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunDigests runs the suite. Each call of open returns an empty driver.
func RunDigests(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*harness){
		"Marks": testMarkMoves, "MarksUnknown": testMarkUnknown, "MarkOfAdopted": testMarkOfAdopted,
		"TurnsSilent": testTurnsSilent, "Met": testMet, "DigestsStored": testDigestsStored,
		"DigestsInPart": testDigestsInPart, "DigestsOutdated": testDigestsOutdated, "DigestsOfStones": testDigestsOfStones,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(newHarness(t, d))
		})
	}
}

func (w *harness) readMark() string {
	w.t.Helper()
	mark, err := w.Log.ReadMark(w.ctx)
	w.wantOK(err)
	return mark
}

// readDigests returns what is known, by the ids.
func (w *harness) readDigests() (at int64, known map[scrollback.ConversationID]string) {
	w.t.Helper()
	got, err := w.Log.ReadDigests(w.ctx)
	w.wantOK(err)
	known = map[scrollback.ConversationID]string{}
	for _, d := range got.All {
		if _, twice := known[d.ID]; twice {
			w.t.Errorf("%s is there twice", d.ID)
		}
		known[d.ID] = d.Digest
	}
	if !slices.IsSortedFunc(got.All, func(a, b driver.StoredDigest) int {
		return strings.Compare(string(a.ID), string(b.ID))
	}) {
		w.t.Errorf("not by id: %v", got.All)
	}
	return got.At, known
}

// testMarkMoves: a mark stays until something is written that stores exchange, and then says of what.
func testMarkMoves(w *harness) {
	a := w.addConversation()
	b := w.addConversation()
	mark := w.readMark()
	if again := w.readMark(); again != mark {
		w.t.Errorf("nothing was written between %q and %q", mark, again)
	}
	changed, err := w.Log.ReadChanged(w.ctx, mark)
	w.wantOK(err)
	w.wantSame("nothing has changed", driver.Changed{}, changed)

	project := func() {
		_, err := w.Access.PutProject(w.ctx, "p", w.advanceClock(), func(*scrollback.Project) error { return nil })
		w.wantOK(err)
	}
	of := func(ids ...scrollback.ConversationID) driver.Changed { return driver.Changed{Conversations: ids} }
	for _, c := range []struct {
		name  string
		write func()
		want  driver.Changed
	}{
		{"messages", func() { w.appendMessages(b.ID, 1); w.appendMessages(a.ID, 2) }, of(a.ID, b.ID)},
		{"a turn", func() { w.finishTurn(w.beginTurn(a.ID).Turn, scrollback.TurnComplete) }, of(a.ID)},
		{"a clock", func() {
			w.wantOK(w.Log.PutClocks(w.ctx, []stamp.Clock{{Owner: string(b.ID), Field: "f", Stamp: stamp.Stamp{At: 1}}}))
		}, of(b.ID)},
		{"an artifact", func() { w.wantOK(w.Log.PutArtifact(w.ctx, w.makeArtifact("u", w.advanceClock()), b.ID)) }, of(b.ID)},
		{"the state of a title", func() {
			_, err := w.Log.ChangeTitle(w.ctx, driver.TitleChange{Conversation: a.ID, Now: w.advanceClock(),
				To: scrollback.TitleAsked})
			w.wantOK(err)
		}, of(a.ID)},
		{"a project", project, driver.Changed{Projects: true}},
		{"the clock of a project", func() {
			w.wantOK(w.Log.PutClocks(w.ctx, []stamp.Clock{{Owner: stamp.OfProject("p"), Field: "f", Stamp: stamp.Stamp{At: 1}}}))
		}, driver.Changed{Projects: true}},
		{"no project", func() {
			w.wantOK(w.Access.DeleteProject(w.ctx, "p", w.advanceClock(), func(scrollback.Project) error { return nil }))
		}, driver.Changed{Projects: true}},
		{"an alias", func() {
			w.wantOK(w.Log.PutAliases(w.ctx, []driver.Alias{{Kind: aliasKinds[0], ID: "x", Now: "y"}}))
		}, driver.Changed{}},
		{"a stone from elsewhere", func() {
			w.wantOK(w.Log.PutStone(w.ctx, stamp.Stone{ID: "0", Stamp: stamp.Stamp{At: 1, By: "x"}}))
		}, driver.Changed{Conversations: []scrollback.ConversationID{"0"}, Stones: true}},
		{"a purge", func() {
			_, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: b.ID, Now: w.advanceClock(), Limit: 1000})
			w.wantOK(err)
		}, driver.Changed{Conversations: []scrollback.ConversationID{b.ID}, Stones: true}},
	} {
		before := w.readMark()
		c.write()
		if after := w.readMark(); after == before {
			w.t.Errorf("%s: the mark stays %q", c.name, after)
		}
		got, err := w.Log.ReadChanged(w.ctx, before)
		w.wantOK(err)
		w.wantSame(c.name, c.want, got)
	}
	got, err := w.Log.ReadChanged(w.ctx, mark)
	w.wantOK(err)
	w.wantSame("all of it", driver.Changed{Conversations: []scrollback.ConversationID{"0", a.ID, b.ID}, Stones: true,
		Projects: true}, got)
}

// testMarkOfAdopted: each part of a history that is brought moves the mark by itself, also of what nobody sees.
func testMarkOfAdopted(w *harness) {
	seen := w.addConversation()
	w.appendMessages(seen.ID, 3)
	hidden, b := newConversation(w)
	adopt := func(of scrollback.Conversation, a driver.Adoption) {
		w.t.Helper()
		a.Conversation = of
		a.Now = w.advanceClock()
		w.wantOK(w.Log.AdoptHistory(w.ctx, a))
	}
	adopt(hidden, driver.Adoption{Branches: []driver.AdoptedBranch{{Branch: b,
		Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "a"), w.makeEntry(scrollback.RoleUser, "b")}}}})
	hidden.Branch = b.ID
	for _, c := range []scrollback.Conversation{seen, hidden} {
		first := w.readMessages(c.Branch, 1, 1)[0]
		for name, part := range map[string]driver.Adoption{
			"a branch": {Branches: []driver.AdoptedBranch{{Branch: scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")),
				Parent: c.Branch, AtSeq: 1}, IfHead: 1}}},
			"a segment": {Segments: []scrollback.Segment{makeSegment(w, c, 1, 2)}},
			"a receipt": {Folds: []scrollback.StoredReceipt{{Branch: c.Branch, Folded: true,
				Receipt: scrollback.Receipt{FirstSeq: 1, LastSeq: 2, CreatedAt: w.now}}}},
			"a mention": {Mentions: []scrollback.Artifact{w.makeArtifact("m", w.now)}},
			"a reading": {Readings: []driver.Reading{{Conversation: c.ID, Branch: c.Branch, From: 1, Born: "born"}}},
			"what is kept": {Kept: []scrollback.Kept{{ID: scrollback.KeptID(w.newID("kept")), Change: "said", Conversation: c.ID,
				Branch: c.Branch, Seq: 1, Message: first.ID, Kind: scrollback.KeptTrait, Text: "t", CreatedAt: w.now}}},
		} {
			before := w.readMark()
			adopt(c, part)
			got, err := w.Log.ReadChanged(w.ctx, before)
			w.wantOK(err)
			w.wantSame(name, driver.Changed{Conversations: []scrollback.ConversationID{c.ID}}, got)
		}
	}
}

// testTurnsSilent: what a turn writes is told, and so needs no change of its own.
func testTurnsSilent(w *harness) {
	c := w.addConversation()
	_, from, err := w.Log.ReadChangeSpan(w.ctx)
	w.wantOK(err)
	turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "a question")).Turn
	e := w.makeEntry(scrollback.RoleTool, "a result")
	e.Mentions = []scrollback.Artifact{w.makeArtifact("log", w.advanceClock())}
	w.finishTurn(turn, scrollback.TurnOpen, e)
	w.finishTurn(turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, "an answer"))
	w.commitFold(c, 1, 2)
	all, err := w.Log.ListChanges(w.ctx, from, maxPages)
	w.wantOK(err)
	if len(all) != 4 || len(told(all)) != 4 {
		w.t.Errorf("a turn of three steps and a fold made %d changes, of which %d are told", len(all), len(told(all)))
	}
}

// testMarkUnknown: of a mark that is none of this store's, anything may have changed since.
func testMarkUnknown(w *harness) {
	w.addConversation()
	for _, mark := range []string{"", "x", "999999", "-1"} {
		got, err := w.Log.ReadChanged(w.ctx, mark)
		w.wantOK(err)
		w.wantSame("since "+mark, driver.Changed{Everything: true}, got)
	}
}

// testMet: marks of other stores are known until there are too many, or something was repaired.
func testMet(w *harness) {
	want := func(marks ...string) {
		w.t.Helper()
		got, err := w.Log.ListMet(w.ctx)
		w.wantOK(err)
		w.wantSame("marks of other stores", marks, got)
	}
	put := func(mark, instead string) {
		w.t.Helper()
		w.wantOK(w.Log.PutMet(w.ctx, mark, instead, w.advanceClock()))
	}
	want()
	put("b1", "")
	put("a1", "")
	put("b2", "b1")
	put("b2", "")
	want("a1", "b2")
	for i := range 63 {
		put(fmt.Sprintf("c%02d", i), "")
	}
	got, err := w.Log.ListMet(w.ctx)
	w.wantOK(err)
	if len(got) != 64 || got[0] != "b2" {
		w.t.Errorf("%d marks from %s on", len(got), got[0])
	}
	c := w.addConversation()
	w.wantOK(w.Admin.Repair(w.ctx, driver.Repair{Heads: c.ID, Now: w.advanceClock()}))
	want()
}

// testDigestsStored: what was stored is known until something of that conversation is written.
func testDigestsStored(w *harness) { checkDigests(w, true) }

// testDigestsInPart: so it is if not all were ever stored.
func testDigestsInPart(w *harness) { checkDigests(w, false) }

func checkDigests(w *harness, all bool) {
	a := w.addConversation()
	b := w.addConversation()
	at, known := w.readDigests()
	want := func(what string, digests map[scrollback.ConversationID]string) {
		w.t.Helper()
		at, known = w.readDigests()
		w.wantSame(what, digests, known)
	}
	put := func(id scrollback.ConversationID, digest string) {
		w.t.Helper()
		d := driver.Digests{At: at, All: []driver.StoredDigest{{ID: id, Digest: digest}}}
		w.wantOK(w.Log.StoreDigests(w.ctx, d, all && !slices.Contains(others(known, id), "")))
		known[id] = digest
	}
	w.wantSame("nothing is known", map[scrollback.ConversationID]string{a.ID: "", b.ID: ""}, known)
	put(a.ID, "A")
	put(b.ID, "B")
	want("both are known", map[scrollback.ConversationID]string{a.ID: "A", b.ID: "B"})
	w.appendMessages(a.ID, 1)
	c := w.addConversation()
	want("one has changed, one is new", map[scrollback.ConversationID]string{a.ID: "", b.ID: "B", c.ID: ""})
	put(a.ID, "A2")
	put(c.ID, "C")
	want("they are known again", map[scrollback.ConversationID]string{a.ID: "A2", b.ID: "B", c.ID: "C"})
	_, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: c.ID, Now: w.advanceClock(), Limit: 1000})
	w.wantOK(err)
	want("one was purged", map[scrollback.ConversationID]string{a.ID: "A2", b.ID: "B", c.ID: ""})
	put(c.ID, "stone")
	want("its stone is known", map[scrollback.ConversationID]string{a.ID: "A2", b.ID: "B", c.ID: "stone"})
	late := w.addFork(a, 1)
	want("a fork is new", map[scrollback.ConversationID]string{a.ID: "A2", b.ID: "B", c.ID: "stone", late.ID: ""})
}

// others returns the digests of all but one conversation.
func others(known map[scrollback.ConversationID]string, id scrollback.ConversationID) (out []string) {
	for of, digest := range known {
		if of != id {
			out = append(out, digest)
		}
	}
	return out
}

// testDigestsOutdated: a digest that was worked out before something was written is none, and takes nothing from one
// that was worked out later.
func testDigestsOutdated(w *harness) {
	a := w.addConversation()
	early, _ := w.readDigests()
	w.appendMessages(a.ID, 1)
	put := func(at int64, digest string, all bool) {
		w.t.Helper()
		one := []driver.StoredDigest{{ID: a.ID, Digest: digest}}
		w.wantOK(w.Log.StoreDigests(w.ctx, driver.Digests{At: at, All: one}, all))
	}
	for _, all := range []bool{false, true} {
		put(early, "early", all)
		if _, known := w.readDigests(); known[a.ID] != "" {
			w.t.Errorf("%q was worked out before the message", known[a.ID])
		}
	}
	late, _ := w.readDigests()
	for _, all := range []bool{false, true} {
		put(late, "late", all)
		put(early, "early", all)
		put(early, "", all)
		if _, known := w.readDigests(); known[a.ID] != "late" {
			w.t.Errorf("%q instead of the later one", known[a.ID])
		}
	}
}

// testDigestsOfStones: stones of what was never here have digests too, and what is only here for its heirs has none.
func testDigestsOfStones(w *harness) {
	at, _ := w.readDigests()
	w.wantOK(w.Log.StoreDigests(w.ctx, driver.Digests{At: at}, true))
	w.wantOK(w.Log.PutStone(w.ctx, stamp.Stone{ID: "0", Stamp: stamp.Stamp{At: 1, By: "x"}}))
	c, b := newConversation(w)
	w.wantOK(w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: c, Now: w.now,
		Branches: []driver.AdoptedBranch{{Branch: b, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "hidden")}}}}))
	at, known := w.readDigests()
	delete(known, c.ID) // a driver may ask for it
	w.wantSame("a stone", map[scrollback.ConversationID]string{"0": ""}, known)
	w.wantOK(w.Log.StoreDigests(w.ctx, driver.Digests{At: at,
		All: []driver.StoredDigest{{ID: "0", Digest: "stone"}, {ID: c.ID}}}, true))
	_, known = w.readDigests()
	w.wantSame("the stone", map[scrollback.ConversationID]string{"0": "stone"}, known)
}

// RunMarks runs the suites, and wants each call that changes what stores exchange to move the marks of what it has
// changed. So nothing that writes can forget it.
func RunMarks(t *testing.T, open func(t *testing.T) *driver.Driver) {
	Run(t, func(t *testing.T) *driver.Driver {
		d := open(t)
		m := &markWatch{t: t, d: d}
		m.check("open")
		f := &Faulty{At: -1, after: m.check}
		return f.Wrap(d)
	})
}

// exchanged is what stores exchange of a conversation, as far as a driver can be asked for it.
type exchanged struct {
	Conversation scrollback.Conversation
	Branches     []scrollback.Branch
	Readings     []driver.Reading
	Refs         []scrollback.RefEntry
	Receipts     []scrollback.StoredReceipt
	Kept         []scrollback.Kept
	Clocks       []stamp.Clock
	Stone        stamp.Stone
}

// markWatch compares what stores exchange with the marks, after each call.
type markWatch struct {
	t        *testing.T
	d        *driver.Driver
	mu       sync.Mutex
	messages int64 // the number up to which they were looked at
	markedState
}

// markedState is what stores exchange, and a mark that is no newer.
type markedState struct {
	mark     string
	all      map[scrollback.ConversationID]exchanged
	projects []scrollback.Project
	clocks   map[string][]stamp.Clock
	aliases  []driver.Alias
}

// check compares with what was there after the last call. What was written meanwhile by another may be among it.
func (m *markWatch) check(op string) {
	for _, read := range []string{"Read", "List", "Find", "Get", "Walk", "Index", "Sum", "Divide", "Verify"} {
		if strings.HasPrefix(op, read) {
			return
		}
	}
	ctx := context.WithoutCancel(m.t.Context())
	m.mu.Lock()
	defer m.mu.Unlock()
	mark, err := m.d.Log.ReadMark(ctx)
	if err != nil {
		return // it is closed
	}
	was := m.markedState
	m.all = map[scrollback.ConversationID]exchanged{}
	for id := range was.all {
		m.all[id] = exchanged{}
	}
	m.mark = mark
	if err := m.read(ctx); err != nil {
		m.t.Errorf("behind %s: %v", op, err)
		return
	}
	if was.mark == "" {
		return
	}
	changed, err := m.d.Log.ReadChanged(ctx, was.mark)
	if err != nil || changed.Everything && !strings.HasPrefix(was.mark, "0-") { // of an empty one nothing is known
		m.t.Errorf("behind %s: %+v, %v", op, changed, err)
		return
	}
	moved := false
	for id, now := range m.all {
		if reflect.DeepEqual(now, was.all[id]) {
			continue
		}
		moved = true
		told := changed.Everything || slices.Contains(changed.Conversations, id)
		if d := describeDifference(was.all[id], now); d != "" && !told {
			m.t.Errorf("%s has changed %s, and left no mark:\n%s", op, id, d)
		}
	}
	if describeDifference(was.projects, m.projects) != "" || describeDifference(was.clocks, m.clocks) != "" {
		moved = true
		if !changed.Projects && !changed.Everything {
			m.t.Errorf("%s has changed a project, and left no mark", op)
		}
	}
	moved = moved || !slices.Equal(was.aliases, m.aliases)
	if moved {
		if now, err := m.d.Log.ReadMark(ctx); err == nil && now == was.mark {
			m.t.Errorf("%s has changed something, and the mark stays %s", op, now)
		}
	}
}

// read reads all that is exchanged.
func (m *markWatch) read(ctx context.Context) error {
	if err := m.findConversations(ctx); err != nil {
		return err
	}
	for id := range m.all {
		now, err := m.readConversation(ctx, id)
		if err != nil {
			return err
		}
		m.all[id] = now
	}
	m.aliases = nil
	for _, kind := range aliasKinds {
		some, err := m.d.Log.FindAliases(ctx, kind, "", maxPages)
		if err != nil {
			return err
		}
		m.aliases = append(m.aliases, some...)
	}
	listed, err := m.d.Access.ListProjects(ctx)
	if err != nil {
		return err
	}
	m.projects = nil
	m.clocks = map[string][]stamp.Clock{}
	for _, p := range listed {
		if p, err = m.d.Access.ReadProject(ctx, p.Name); err != nil {
			return err
		}
		if p.Version > 0 {
			p.Version = 0
			p.UpdatedAt = 0
			m.projects = append(m.projects, p)
			if m.clocks[p.Name], err = m.d.Log.ReadClocks(ctx, stamp.OfProject(p.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// findConversations adds those that came since, also such that nobody sees.
func (m *markWatch) findConversations(ctx context.Context) error {
	for _, first := range "0123456789abcdef" {
		page, err := m.d.Log.ListConversations(ctx, driver.ListQuery{Prefix: string(first), Limit: maxPages})
		if err != nil {
			return err
		}
		for _, c := range page {
			m.all[c.ID] = exchanged{}
		}
	}
	stones, err := m.d.Log.ListStones(ctx, "", maxPages)
	if err != nil {
		return err
	}
	for _, s := range stones {
		m.all[s.ID] = exchanged{}
	}
	some, err := m.d.Index.ReadUnindexed(ctx, driver.UnindexedQuery{After: m.messages, Limit: maxPages})
	for _, one := range some {
		m.all[one.ConversationID] = exchanged{}
		m.messages = one.Number
	}
	return err
}

func (m *markWatch) readConversation(ctx context.Context, id scrollback.ConversationID) (out exchanged, err error) {
	h, err := m.d.Log.ReadHead(ctx, id)
	if err == nil {
		out.Conversation = h.Conversation
		out.Conversation.Version = 0
		out.Conversation.UpdatedAt = 0
		out.Conversation.Messages = 0
	} else if scrollback.CodeOf(err) != scrollback.NotFound {
		return out, err
	}
	branches, err := m.d.Log.ListBranches(ctx, id)
	for _, b := range branches {
		out.Branches = append(out.Branches, scrollback.Branch{ID: b.ID, Parent: b.Parent, AtSeq: b.AtSeq, HeadSeq: b.HeadSeq})
		if err == nil {
			var rows []scrollback.Kept
			rows, err = m.d.Log.ReadKept(ctx, driver.KeptQuery{Branch: b.ID, To: b.HeadSeq, Changes: true, Limit: maxPages,
				Conversations: []scrollback.ConversationID{id}})
			out.Kept = append(out.Kept, rows...)
		}
	}
	if err == nil {
		out.Readings, err = m.d.Log.ReadReadings(ctx, id)
	}
	if err == nil {
		of := driver.RefQuery{Conversations: []scrollback.ConversationID{id}, Limit: maxPages}
		out.Refs, err = m.d.Log.ListRefs(ctx, of)
	}
	if err == nil {
		out.Receipts, err = m.d.Views.ListStoredReceipts(ctx, id, 0, maxPages)
	}
	for i := range out.Receipts {
		out.Receipts[i].Undone = false
	}
	if err == nil {
		out.Clocks, err = m.d.Log.ReadClocks(ctx, string(id))
	}
	if err == nil {
		out.Stone, err = m.d.Log.ReadStone(ctx, id)
	}
	if scrollback.CodeOf(err) == scrollback.NotFound {
		err = nil
	}
	return out, err
}
