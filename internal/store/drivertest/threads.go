package drivertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/filltest"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// RunThreads runs the suite. Each call of open returns an empty driver.
func RunThreads(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*threadsHarness){"Threads": testThreads,
		"ThreadsFields": testThreadsFields, "ThreadsPlaceTaken": testThreadsPlaceTaken, "ThreadsScopes": testThreadsScopes,
		"ThreadsLapsed": testThreadsLapsed, "ThreadsNamed": testThreadsNamed, "ThreadsAsked": testThreadsAsked, "ThreadsSpan": testThreadsSpan,
		"ThreadsPurged": testThreadsPurged} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&threadsHarness{harness: harness{driverHarness: newDriverHarness(t, d, 1_700_000_000_000)}})
		})
	}
}

// threadsHarness is a driver under test, and the matcher over its index.
type threadsHarness struct{ harness }

// index returns the index as it is now.
func (w *threadsHarness) index() threading.Index { return w.Driver.Threads.IndexAt(w.now) }

// newMatcher returns a matcher over an index.
func newMatcher(index threading.Index) *threading.Matcher {
	return &threading.Matcher{Index: index, Table: threading.BuiltInTable()}
}

// threadIDs returns the ids of new rows of a conversation, whose thread they are of.
func (w *threadsHarness) threadIDs(thread, request string) threading.IDs {
	return threading.IDs{Thread: threading.ThreadID(thread), Request: threading.RequestID(request),
		Branch: func() threading.BranchID { return threading.BranchID(w.newID("thread branch")) }}
}

// textItems are what user and assistant say in turn, the user first.
func textItems(said ...string) []threading.Item {
	items := make([]threading.Item, len(said))
	for i, s := range said {
		items[i] = threading.Item{Role: threading.User, Kind: threading.Text, Text: s, Message: i}
		if i%2 == 1 {
			items[i].Role = threading.Assistant
		}
	}
	return items
}

// newRequest returns a request with a history.
func newRequest(name string, items []threading.Item) *threading.Request {
	return &threading.Request{Dialect: threading.Chat, Model: "m", Name: name, Items: items, Tools: []string{"read"},
		Body: threading.HashOf("body", name, fmt.Sprint(items))}
}

var scopeOne = threading.Scope{Project: "one", Caller: "somebody"}

// found is what a look-up found.
type found[T any] struct {
	v   T
	err error
}

// look keeps what a look-up found until it is known that it did not fail.
func look[T any](v T, err error) found[T] { return found[T]{v, err} }

// must returns what a look-up found that did not fail.
func must[T any](w *threadsHarness, f found[T]) T {
	w.t.Helper()
	w.wantOK(f.err)
	return f.v
}

// matchOf matches a request by the driver's index.
func (w *threadsHarness) matchOf(scope threading.Scope, r *threading.Request) *threading.Match {
	w.t.Helper()
	m, err := newMatcher(w.index()).Match(w.ctx, scope, r, time.UnixMilli(w.now))
	w.wantOK(err)
	return m
}

// say has a request answered, without a turn of it, and returns the thread.
func (w *threadsHarness) say(scope threading.Scope, r *threading.Request, answer string) threading.ThreadID {
	w.t.Helper()
	w.advanceClock()
	m := w.matchOf(scope, r)
	w.wantOK(w.Driver.Threads.WriteThread(w.ctx, m.Begin(w.threadIDs(w.newID("conversation"), w.newID("turn")))))
	w.finish(m, threading.Answer{State: threading.Finished, Delivered: true,
		Items: []threading.Item{{Role: threading.Assistant, Kind: threading.Text, Text: answer}}})
	return m.Thread
}

// finish writes what an answer to a match is.
func (w *threadsHarness) finish(m *threading.Match, a threading.Answer) {
	w.t.Helper()
	rows, err := newMatcher(w.index()).Finish(w.ctx, m, a, time.UnixMilli(w.advanceClock()),
		w.threadIDs("", "").Branch)
	w.wantOK(err)
	w.wantOK(w.Driver.Threads.WriteThread(w.ctx, rows))
}

// testThreads: a history that comes again goes on, an edited past leaves it, and a turn carries its rows: they are
// there with the turn, or neither is.
func testThreads(w *threadsHarness) {
	c := w.addConversation()
	r := newRequest("", textItems("What stands in the hall of the old mill?"))
	m := w.matchOf(scopeOne, r)
	begin := func(rows threading.Rows) (driver.BeginResult, error) {
		to := w.newBranchAt("", 0)
		return w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			b.Turn.ID = scrollback.TurnID(rows.Request.ID)
			b.At = &to
			b.Thread = &rows
		}, w.makeEntry(scrollback.RoleUser, "question"))
	}
	rows := m.Begin(w.threadIDs(string(c.ID), w.newID("turn")))
	turn := must(w, look(begin(rows))).Turn
	got := must(w, look(w.index().Request(w.ctx, rows.Request.ID)))
	if got == nil || got.State != threading.Running || got.Thread != threading.ThreadID(c.ID) {
		w.t.Fatalf("the request is %+v", got)
	}
	if open := must(w, look(w.index().Thread(w.ctx, got.Thread))).Open; open != 1 {
		w.t.Errorf("%d requests run", open)
	}
	taken := rows
	again := *rows.Request
	again.ID = threading.RequestID(w.newID("turn"))
	taken.Request = &again
	w.wantUnchanged(func() {
		_, err := begin(taken)
		w.wantCode(err, scrollback.Conflict)
	})
	if lost := must(w, look(w.index().Request(w.ctx, again.ID))); lost != nil {
		w.t.Errorf("a turn was refused, and its request is %+v", lost)
	}

	answer := threading.Answer{State: threading.Finished, Delivered: true, Items: []threading.Item{
		{Role: threading.Assistant, Kind: threading.Text, Text: "Nothing but a clock."}}}
	ended, err := newMatcher(w.index()).Finish(w.ctx, m, answer, time.UnixMilli(w.now), w.threadIDs("", "").Branch)
	w.wantOK(err)
	_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
		State: scrollback.TurnComplete, Thread: &ended})
	w.wantOK(err)
	next := textItems("What stands in the hall of the old mill?", "Nothing but a clock.", "Does it go?")
	if m = w.matchOf(scopeOne, newRequest("", next)); m.Thread != got.Thread || m.Base.Seq != 2 || len(m.New) != 1 {
		w.t.Errorf("it goes on as %+v", m)
	}
	if w.say(scopeOne, newRequest("", next), "It does not.") != got.Thread {
		w.t.Error("it went on in another thread")
	}
	edited := textItems("What stands in the hall of the old mill?", "Nothing but a clock.", "Who built it?")
	if m = w.matchOf(scopeOne, newRequest("", edited)); m.Thread != got.Thread || m.Course != threading.Branches {
		w.t.Errorf("an edited past is %+v", m)
	}
}

// testThreadsFields: every field of every row comes back as it was written, and as it was written again.
func testThreadsFields(w *threadsHarness) {
	f := &filltest.Filler{}
	rows := filltest.Filled[threading.Rows](f)
	rows.Atoms = rows.Atoms[:1]
	rows.Leaves = nil
	rows.Thread.Open = 0
	rows.Request.Side = ""
	rows.Request.Leaf = false
	rows.Request.Thread = rows.Thread.ID
	rows.Summary.Thread = rows.Thread.ID
	rows.Answer.Thread = rows.Thread.ID
	rows.Name.Thread = rows.Thread.ID
	rows.Name.Scope = rows.Thread.Scope
	a := &rows.Atoms[0]
	a.Thread = rows.Thread.ID
	a.Parent.Seq = a.Place.Seq - 1
	a.Quote.Runes = 7
	for _, id := range []string{"0192f7a0-0000-7000-8000-00000000abcd", "0192F7A0-0000-7000-8000-00000000ABCD",
		"sixteen letters.", ""} {
		a.Message = id
		a.Place.Branch = threading.BranchID("branch " + id)
		w.wantOK(w.Driver.Threads.WriteThread(w.ctx, threading.Rows{Thread: rows.Thread, Atoms: rows.Atoms}))
		got := must(w, look(w.index().At(w.ctx, a.Place)))
		w.wantRow("an atom", a, got)
	}
	a.Thread = "another thread"
	a.Place.Branch = "0192f7a0-0000-7000-8000-00000000abce"
	a.Parent.Branch = a.Place.Branch
	a.Quote = threading.Quote{}
	a.Role = "another role"
	a.Partial = false
	a.Text = ""
	another := *rows.Thread
	another.ID = a.Thread
	w.wantOK(w.Driver.Threads.WriteThread(w.ctx, threading.Rows{Thread: &another, Atoms: rows.Atoms}))
	w.wantRow("another atom", a, must(w, look(w.index().At(w.ctx, a.Place))))

	rows.Atoms = nil
	for range 2 {
		w.wantOK(w.Driver.Threads.WriteThread(w.ctx, rows))
		x := w.index()
		w.wantRow("a thread", rows.Thread, must(w, look(x.Thread(w.ctx, rows.Thread.ID))))
		w.wantRow("a request", rows.Request, must(w, look(x.Request(w.ctx, rows.Request.ID))))
		named := must(w, look(x.Named(w.ctx, rows.Name.Scope, rows.Name.Name, 3)))
		w.wantRow("a thread by its name", []threading.ThreadRow{*rows.Thread}, named)
		summaries := must(w, look(x.Summaries(w.ctx, rows.Summary.Scope, rows.Summary.Name, 3)))
		w.wantRow("a summary", []threading.SummaryRow{*rows.Summary}, summaries)
		w.wantRow("an answer", rows.Answer, must(w, look(x.Answer(w.ctx, rows.Answer.Scope, rows.Answer.ID))))
		t := *filltest.Filled[threading.Rows](f).Thread
		t.ID = rows.Thread.ID
		t.Open = 0
		rows.Thread = &t
		rows.Request.Tip.Seq++
		rows.Request.Delivered = false
		rows.Summary.Text = "another"
		rows.Answer.Place.Seq++
	}
}

// wantRow compares rows, but for the numbers that a database gives.
func (w *threadsHarness) wantRow(what string, want, got any) {
	w.t.Helper()
	given := cmpopts.IgnoreFields
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), given(threading.AtomRow{}, "Order"),
		given(threading.SummaryRow{}, "Order")); d != "" {
		w.t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// testThreadsPlaceTaken: of two atoms for one place the second is conflict, also of another thread, and nothing of its
// rows is written.
func testThreadsPlaceTaken(w *threadsHarness) {
	place := threading.Place{Branch: "b", Seq: 1}
	write := func(thread threading.ThreadID, places ...threading.Place) error {
		rows := threading.Rows{Thread: &threading.ThreadRow{ID: thread, Scope: scopeOne},
			Name: &threading.NameRow{Scope: scopeOne, Name: string(thread), Thread: thread}}
		for _, p := range places {
			rows.Atoms = append(rows.Atoms, threading.AtomRow{Place: p, Thread: thread,
				Parent: threading.Place{Branch: p.Branch, Seq: p.Seq - 1}, Key: threading.HashOf(string(thread))})
		}
		return w.Driver.Threads.WriteThread(w.ctx, rows)
	}
	w.wantOK(write("first", place))
	for _, id := range []threading.ThreadID{"first", "second"} {
		w.wantCode(write(id, threading.Place{Branch: "b", Seq: 2}, place), scrollback.Conflict)
	}
	twice := threading.Place{Branch: "b", Seq: 3}
	w.wantCode(write("second", twice, twice), scrollback.Conflict)
	x := w.index()
	if t := must(w, look(x.Thread(w.ctx, "second"))); t != nil {
		w.t.Errorf("a thread was refused, and is %+v", t)
	}
	if named := must(w, look(x.Named(w.ctx, scopeOne, "second", 1))); len(named) > 0 {
		w.t.Errorf("it is named: %+v", named)
	}
	if a := must(w, look(x.At(w.ctx, threading.Place{Branch: "b", Seq: 2}))); a != nil {
		w.t.Errorf("an atom beside one that was refused is %+v", a)
	}
	if a := must(w, look(x.At(w.ctx, place))); a == nil || a.Thread != "first" {
		w.t.Errorf("at the place is %+v", a)
	}
}

// testThreadsScopes: the same history and the same name in two scopes are two threads that never meet; scopes are not
// told apart by how their names join.
func testThreadsScopes(w *threadsHarness) {
	scopes := []threading.Scope{{Project: "a", Caller: "bc"}, {Project: "ab", Caller: "c"}, {Project: "a"}, {Caller: "a"}}
	said := []string{"Where does the river go that passes the mill?", "To the sea, like all of them."}
	ids := map[threading.ThreadID]bool{}
	for _, scope := range scopes {
		ids[w.say(scope, newRequest("session", textItems(said[0])), said[1])] = true
	}
	if len(ids) != len(scopes) {
		w.t.Fatalf("%d scopes have the threads %v", len(scopes), ids)
	}
	for _, scope := range scopes {
		m := w.matchOf(scope, newRequest("session", textItems(said[0], said[1], "Which sea?")))
		if !ids[m.Thread] {
			w.t.Errorf("in %v it is %+v", scope, m)
		}
		delete(ids, m.Thread)
	}
	if len(ids) > 0 {
		w.t.Errorf("nobody goes on with %v", ids)
	}
}

// testThreadsLapsed: what is stored as running runs while its turn does. One whose owner is gone was interrupted if it
// left anything, and a side call is gone after some minutes.
func testThreadsLapsed(w *threadsHarness) {
	c := w.addConversation()
	w.now += 2 // no lease ends just when somebody looks
	thread := &threading.ThreadRow{ID: threading.ThreadID(c.ID), Scope: scopeOne}
	open := func(n int, draft scrollback.Draft) scrollback.TurnID {
		id := scrollback.TurnID(w.newID("turn"))
		row := threading.RequestRow{ID: threading.RequestID(id), Scope: scopeOne, Thread: thread.ID,
			State: threading.Running, At: time.UnixMilli(w.now), Body: threading.HashOf("same")}
		to := w.newBranchAt("", 0)
		begun, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			b.Turn.ID = id
			b.At = &to
			b.Thread = &threading.Rows{Thread: thread, Request: &row}
		}, w.makeEntry(scrollback.RoleUser, fmt.Sprint(n)))
		w.wantOK(err)
		_, err = w.saveDraft(begun.Turn, draft)
		w.wantOK(err)
		return id
	}
	empty := open(1, scrollback.Draft{})
	half := open(2, textDraft("half"))
	salvaged := open(3, textDraft("half"))
	failed := open(4, scrollback.Draft{})
	side := threading.RequestRow{ID: "side", Scope: scopeOne, Side: "title", State: threading.Running,
		At: time.UnixMilli(w.now)}
	w.wantOK(w.Driver.Threads.WriteThread(w.ctx, threading.Rows{Request: &side}))
	want := func(id scrollback.TurnID, state threading.State) {
		w.t.Helper()
		row := must(w, look(w.index().Request(w.ctx, threading.RequestID(id))))
		if row == nil || row.State != state {
			w.t.Errorf("request %s is %+v, want %s", id, row, state)
		}
	}
	for _, id := range []scrollback.TurnID{empty, half, salvaged, failed, "side"} {
		want(id, threading.Running)
	}
	if t := must(w, look(w.index().Thread(w.ctx, thread.ID))); t.Open != 4 {
		w.t.Errorf("%d requests run, want 4", t.Open)
	}
	turn := w.readTurn(failed)
	w.finishTurn(turn, scrollback.TurnFailed)
	want(failed, threading.Failed)
	w.now += 2 * leaseTime
	w.now -= w.now % 10
	want(empty, threading.Failed)
	want(half, threading.Interrupted)
	want("side", threading.Running)
	left := w.makeEntry(scrollback.RoleAssistant, "half")
	_, err := w.Turns.TakeOver(w.ctx, driver.Takeover{Turn: salvaged, Now: w.advanceClock(),
		Salvage: func(scrollback.Turn) []driver.Entry { return []driver.Entry{left} }})
	w.wantOK(err)
	want(salvaged, threading.Interrupted)
	if t := must(w, look(w.index().Thread(w.ctx, thread.ID))); t.Open != 0 {
		w.t.Errorf("%d requests run, want none", t.Open)
	}
	rows, _, err := w.index().Same(w.ctx, scopeOne, threading.HashOf("same"), time.UnixMilli(0), 9)
	w.wantOK(err)
	for _, row := range rows {
		if row.State == threading.Running {
			w.t.Errorf("%+v runs", row)
		}
	}
	w.now += driver.SideCallMax
	want("side", threading.Failed)
}

// testThreadsNamed: of the threads that a name has named there are the first one and the newest, in their order; what
// names a thread again changes nothing.
func testThreadsNamed(w *threadsHarness) {
	var ids []threading.ThreadID
	for _, at := range []int{1, 2, 3, 2, 4, 1} {
		id := threading.ThreadID(fmt.Sprint("thread ", at))
		if at > len(ids) {
			ids = append(ids, id)
		}
		w.wantOK(w.Driver.Threads.WriteThread(w.ctx, threading.Rows{Thread: &threading.ThreadRow{ID: id, Scope: scopeOne},
			Name: &threading.NameRow{Scope: scopeOne, Name: "name", Thread: id}}))
	}
	for limit, want := range map[int][]threading.ThreadID{9: ids, 4: ids, 3: {ids[0], ids[2], ids[3]}, 2: {ids[0], ids[3]},
		1: {ids[0]}} {
		var got []threading.ThreadID
		for _, row := range must(w, look(w.index().Named(w.ctx, scopeOne, "name", limit))) {
			got = append(got, row.ID)
		}
		w.wantSame(fmt.Sprint("at most ", limit), want, got)
	}
}

// testThreadsAsked: every time that a body was asked counts for as long as somebody looks back.
func testThreadsAsked(w *threadsHarness) {
	body := threading.HashOf("body")
	asked := func(scope threading.Scope, since int64) int {
		w.t.Helper()
		_, n, err := w.index().Same(w.ctx, scope, body, time.UnixMilli(since), 30)
		w.wantOK(err)
		return n
	}
	begun := w.now
	for range 40 {
		w.wantOK(w.Driver.Threads.CountAsked(w.ctx, scopeOne, body, w.advanceClock()))
	}
	w.wantOK(w.Driver.Threads.CountAsked(w.ctx, scopeOne, threading.HashOf("another"), w.now))
	w.wantOK(w.Driver.Threads.CountAsked(w.ctx, threading.Scope{Project: "two"}, body, w.now))
	for _, want := range []struct {
		since int64
		n     int
	}{{begun, 30}, {w.now - 50, 6}, {w.now, 1}, {w.now + 1, 0}} {
		if n := asked(scopeOne, want.since); n != want.n {
			w.t.Errorf("asked %d times since %d, want %d", n, want.since-begun, want.n)
		}
	}
	w.now += 2 * driver.AskedKept
	for range 10 {
		w.wantOK(w.Driver.Threads.CountAsked(w.ctx, scopeOne, body, w.advanceClock()))
	}
	if n := asked(scopeOne, w.now-driver.AskedKept); n != 10 {
		w.t.Errorf("asked %d times of late, want 10", n)
	}
	if n := asked(threading.Scope{Project: "two"}, w.now-100); n != 0 {
		w.t.Errorf("asked %d times in another scope, want 0", n)
	}
}

// testThreadsPurged: a purge takes the rows of the thread, a bounded step at a time, and nothing of others.
func testThreadsPurged(w *threadsHarness) {
	var all []threading.Rows
	for range 2 {
		c := w.addConversation()
		w.appendMessages(c.ID, 3)
		id := threading.ThreadID(c.ID)
		branch := threading.BranchID(w.newID("thread branch"))
		rows := threading.Rows{Thread: &threading.ThreadRow{ID: id, Scope: scopeOne, Root: threading.Place{Branch: branch}},
			Name: &threading.NameRow{Scope: scopeOne, Name: "name", Thread: id},
			Request: &threading.RequestRow{ID: threading.RequestID(w.newID("turn")), Scope: scopeOne, Thread: id,
				State: threading.Finished},
			Summary: &threading.SummaryRow{Scope: scopeOne, Request: threading.RequestID(w.newID("turn")), Thread: id,
				Text: "all"},
			Answer: &threading.AnswerRow{Scope: scopeOne, ID: w.newID("answer"), Thread: id}}
		for seq := range 25 {
			rows.Atoms = append(rows.Atoms, threading.AtomRow{Place: threading.Place{Branch: branch, Seq: seq + 1},
				Parent: threading.Place{Branch: branch, Seq: seq}, Thread: id, Key: threading.HashOf("said"), Partial: seq == 3})
		}
		w.wantOK(w.Driver.Threads.WriteThread(w.ctx, rows))
		all = append(all, rows)
	}
	left := func(rows threading.Rows) []bool {
		w.t.Helper()
		x := w.index()
		q := threading.AnchorQuery{Scope: scopeOne, Threads: []threading.ThreadID{rows.Thread.ID},
			Anchors: []threading.Hash{threading.HashOf("said")}, Limit: 99}
		named := false
		for _, row := range must(w, look(x.Named(w.ctx, scopeOne, "name", 9))) {
			named = named || row.ID == rows.Thread.ID
		}
		summed := false
		for _, row := range must(w, look(x.Summaries(w.ctx, scopeOne, "", 9))) {
			summed = summed || row.Thread == rows.Thread.ID
		}
		return []bool{must(w, look(x.Thread(w.ctx, rows.Thread.ID))) != nil, named, summed,
			must(w, look(x.Request(w.ctx, rows.Request.ID))) != nil, len(must(w, look(x.Anchored(w.ctx, q)))) > 0,
			must(w, look(x.At(w.ctx, rows.Atoms[24].Place))) != nil,
			must(w, look(x.Answer(w.ctx, scopeOne, rows.Answer.ID))) != nil,
			len(must(w, look(x.Partials(w.ctx, q.Threads, 9)))) > 0}
	}
	purge := driver.Purge{Conversation: scrollback.ConversationID(all[0].Thread.ID), Now: w.advanceClock(), Limit: 5}
	for steps := 0; ; steps++ {
		got, err := w.Log.PurgeConversation(w.ctx, purge)
		w.wantOK(err)
		if got.Done {
			break
		}
		if steps > 20 {
			w.t.Fatal("the purge does not end")
		}
	}
	w.wantSame("of the one that was purged", make([]bool, 8), left(all[0]))
	w.wantSame("of the other", slices.Repeat([]bool{true}, 8), left(all[1]))
	late := threading.Rows{Request: &threading.RequestRow{ID: "late", Scope: scopeOne, Side: "title",
		Thread: all[0].Thread.ID}}
	w.wantCode(w.Driver.Threads.WriteThread(w.ctx, late), scrollback.NotFound)
	if row := must(w, look(w.index().Request(w.ctx, "late"))); row != nil {
		w.t.Errorf("of a thread that is gone there is %+v", row)
	}
	checkSound(w.t, w.Driver)
}

// RunStrayThreads runs what a database can pass whose audit finds strays: rows of a thread without a conversation are
// flaws, and their repair removes them and nothing else.
func RunStrayThreads(t *testing.T, d *driver.Driver) {
	w := &threadsHarness{harness: harness{driverHarness: newDriverHarness(t, d, 1_700_000_000_000)}}
	c := w.addConversation()
	write := func(id threading.ThreadID) {
		request := threading.RequestID("request of " + id)
		branch := threading.BranchID("branch of " + id)
		w.wantOK(d.Threads.WriteThread(w.ctx, threading.Rows{Thread: &threading.ThreadRow{ID: id, Scope: scopeOne},
			Name:    &threading.NameRow{Scope: scopeOne, Name: string(id), Thread: id},
			Request: &threading.RequestRow{ID: request, Scope: scopeOne, Thread: id},
			Summary: &threading.SummaryRow{Scope: scopeOne, Request: request, Thread: id},
			Answer:  &threading.AnswerRow{Scope: scopeOne, ID: string(id), Thread: id},
			Atoms:   []threading.AtomRow{{Place: threading.Place{Branch: branch, Seq: 1}, Thread: id}}}))
	}
	write(threading.ThreadID(c.ID))
	write("stray")
	side := threading.RequestRow{ID: "of no conversation", Scope: scopeOne, Side: "title"}
	w.wantOK(d.Threads.WriteThread(w.ctx, threading.Rows{Request: &side}))
	flaws := auditAll(&w.harness).flaws
	if len(flaws) != 6 {
		t.Errorf("the flaws are %+v", flaws)
	}
	for _, f := range flaws {
		if f.Kind != driver.FlawOrphan || f.Repair == nil {
			t.Fatalf("a flaw is %+v", f)
		}
		w.wantOK(d.Admin.Repair(w.ctx, *f.Repair))
	}
	checkSound(t, d)
	x := w.index()
	for id, want := range map[threading.ThreadID]bool{threading.ThreadID(c.ID): true, "stray": false} {
		thread := must(w, look(x.Thread(w.ctx, id)))
		request := must(w, look(x.Request(w.ctx, "request of "+threading.RequestID(id))))
		answer := must(w, look(x.Answer(w.ctx, scopeOne, string(id))))
		atom := must(w, look(x.At(w.ctx, threading.Place{Branch: "branch of " + threading.BranchID(id), Seq: 1})))
		w.wantSame(fmt.Sprint("of ", id), []bool{want, want, want, want},
			[]bool{thread != nil, request != nil, answer != nil, atom != nil})
	}
	if row := must(w, look(x.Request(w.ctx, side.ID))); row == nil {
		t.Error("a side call of no conversation was removed")
	}
}
