package drivertest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunKept runs the suite. Each call of open returns an empty driver.
func RunKept(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*keptHarness){"KeptOnPath": testKeptOnPath, "KeptChanged": testKeptChanged,
		"KeptAdopted": testKeptAdopted, "KeptPurged": testKeptPurged, "KeptFilled": testKeptFilled} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&keptHarness{sourcesHarness{driverHarness: newDriverHarness(t, d, 1_000_000)}})
		})
	}
}

// keptHarness is a driver under test with a clock and a source of ids.
type keptHarness struct {
	sourcesHarness
}

// entryWithKept is a message with a sentence that is kept of it.
func (w *keptHarness) entryWithKept(text string) driver.Entry {
	e := driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(w.newID("message")),
		Role: scrollback.RoleUser, Status: scrollback.StatusComplete, CreatedAt: w.now}}
	e.Kept = []scrollback.Kept{{ID: scrollback.KeptID(w.newID("kept")), Kind: scrollback.KeptTrait, Text: text,
		By: scrollback.KeptByRule, State: scrollback.KeptOpen, CreatedAt: w.now, SaidBy: "key"}}
	return e
}

// readKept reads what is kept on a branch, with what people of some conversations say about it.
func (w *keptHarness) readKept(b scrollback.BranchID, to int64, limit int,
	of ...scrollback.ConversationID) []scrollback.Kept {
	w.t.Helper()
	got, err := w.Log.ReadKept(w.ctx, driver.KeptQuery{Branch: b, To: to, Limit: limit, Conversations: of})
	w.wantOK(err)
	return got
}

// wantKept compares the texts and states of rows.
func (w *keptHarness) wantKept(got []scrollback.Kept, want ...string) {
	w.t.Helper()
	var texts []string
	for _, k := range got {
		texts = append(texts, k.Text+" "+string(k.State))
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		w.t.Fatalf("kept differs (-want +got):\n%s", diff)
	}
}

// change says something about a row in a conversation.
func (w *keptHarness) change(in scrollback.ConversationID, k scrollback.Kept, state scrollback.KeptState) error {
	k.Conversation = in
	k.By = scrollback.KeptByPerson
	k.State = state
	k.Change = w.newID("change")
	k.CreatedAt = w.advanceClock()
	return w.Log.ChangeKept(w.ctx, driver.KeptChange{Row: k, Now: w.now})
}

// testKeptOnPath: a path has what is kept of its own messages, up to a seq, the newest of them where
// there are too many; a fork has what it inherits, and not what came after.
func testKeptOnPath(w *keptHarness) {
	c := w.addConversation()
	w.appendEntries(c.ID, w.entryWithKept("one"), w.entryWithSource(fileA, 1), w.entryWithKept("three"),
		w.entryWithKept("four"))
	w.wantKept(w.readKept(c.Branch, 9, 9), "one open", "three open", "four open")
	w.wantKept(w.readKept(c.Branch, 3, 9), "one open", "three open")
	w.wantKept(w.readKept(c.Branch, 9, 2), "three open", "four open")
	w.checkKnown(c.Branch, 4)
	f := w.addFork(c, 3)
	w.appendEntries(f.ID, w.entryWithKept("other four"))
	got := w.readKept(f.Branch, 9, 9)
	w.wantKept(got, "one open", "three open", "other four open")
	if got[1].Seq != 3 || got[1].Branch != c.Branch || got[1].Conversation != c.ID || got[2].Conversation != f.ID {
		w.t.Errorf("rows are placed at %+v", got)
	}
	w.checkKnown(f.Branch, 9)
	foreign := got[1] // known elsewhere, under the same id
	foreign.Branch = "another"
	foreign.Text = "something else"
	same, err := w.Log.ReadKept(w.ctx, driver.KeptQuery{Branch: f.Branch, To: 9, Limit: 9,
		Known: []scrollback.Kept{foreign}})
	w.wantOK(err)
	w.wantKept(same, "one open", "three open", "other four open")
}

// checkKnown wants the same rows of a path up to a seq whichever of them are known, and whatever else is.
func (w *keptHarness) checkKnown(b scrollback.BranchID, to int64) {
	w.t.Helper()
	all := w.readKept(b, to, 9)
	for some := range 1 << len(all) {
		var known []scrollback.Kept
		for i, k := range all {
			if some>>i&1 != 0 {
				known = append(known, k)
			}
		}
		for end := int64(0); end <= to; end++ {
			for _, limit := range []int{1, 2, 9} {
				got, err := w.Log.ReadKept(w.ctx, driver.KeptQuery{Branch: b, To: end, Limit: limit, Known: known})
				w.wantOK(err)
				want := w.readKept(b, end, limit)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					w.t.Fatalf("up to %d, at most %d, with %d rows known (-want +got):\n%s", end, limit, len(known), diff)
				}
			}
		}
	}
}

// testKeptChanged: what people say follows the rules' rows, only that of the conversations asked for, and makes
// their versions grow. It is about messages on the path, and of no trashed conversation.
func testKeptChanged(w *keptHarness) {
	c := w.addConversation()
	w.appendEntries(c.ID, w.entryWithKept("one"), w.entryWithKept("two"))
	f := w.addFork(c, 1)
	rows := w.readKept(c.Branch, 9, 9)
	was := w.readHead(c.ID).Version
	w.wantOK(w.change(c.ID, rows[0], scrollback.KeptDropped))
	if now := w.readHead(c.ID).Version; now <= was {
		w.t.Errorf("the version was %d and is %d", was, now)
	}
	w.wantOK(w.change(f.ID, rows[0], scrollback.KeptDone))
	w.wantOK(w.change(c.ID, rows[0], scrollback.KeptOpen))
	w.wantKept(w.readKept(c.Branch, 9, 9, c.ID), "one open", "two open", "one dropped", "one open")
	w.wantKept(w.readKept(c.Branch, 9, 9), "one open", "two open")
	w.wantKept(w.readKept(f.Branch, 9, 9, f.ID), "one open", "one done")
	only, err := w.Log.ReadKept(w.ctx, driver.KeptQuery{Branch: c.Branch, To: 9, Limit: 1, Changes: true,
		Conversations: []scrollback.ConversationID{c.ID}})
	w.wantOK(err)
	w.wantKept(only, "one open")
	w.wantKept(w.readKept(f.Branch, 9, 9, f.ID, c.ID), "one open", "one dropped", "one done", "one open")

	away := rows[0]
	away.Seq = 7
	w.wantCode(w.change(c.ID, away, scrollback.KeptDone), scrollback.NotFound)
	away = rows[0]
	away.Message = "another"
	w.wantCode(w.change(c.ID, away, scrollback.KeptDone), scrollback.NotFound)
	stranger := w.addConversation()
	w.wantCode(w.change(stranger.ID, rows[0], scrollback.KeptDone), scrollback.NotFound)
	_, err = w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(), func(c *scrollback.Conversation) error {
		c.DeletedAt = w.now
		return nil
	})
	w.wantOK(err)
	w.wantCode(w.change(c.ID, rows[0], scrollback.KeptDone), scrollback.NotFound)
}

// testKeptAdopted: a history that is brought has what is kept of its messages, and the rows of people once.
func testKeptAdopted(w *keptHarness) {
	c, b := w.newConversation()
	e := w.entryWithKept("one")
	said := e.Kept[0]
	said.Message = e.ID
	said.Conversation = c.ID
	said.Branch = b.ID
	said.Seq = 1
	said.Change = w.newID("change")
	said.State = scrollback.KeptDone
	w.wantOK(w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: c, Now: w.advanceClock(), Current: b.ID,
		Branches: []driver.AdoptedBranch{{Branch: b, Entries: []driver.Entry{e}}}, Kept: []scrollback.Kept{said}}))
	w.wantOK(w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: c, Now: w.advanceClock(),
		Kept: []scrollback.Kept{said}}))
	w.wantKept(w.readKept(b.ID, 9, 9, c.ID), "one open", "one done")
}

// testKeptPurged: rows go with their messages, and those of messages that a fork inherits stay.
func testKeptPurged(w *keptHarness) {
	c := w.addConversation()
	w.appendEntries(c.ID, w.entryWithKept("one"), w.entryWithKept("two"))
	f := w.addFork(c, 1)
	for _, k := range w.readKept(c.Branch, 9, 9) {
		w.wantOK(w.change(c.ID, k, scrollback.KeptDone))
	}
	purge := func(id scrollback.ConversationID) {
		_, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: id, Now: w.advanceClock(), Limit: 9})
		w.wantOK(err)
	}
	purge(c.ID)
	w.wantKept(w.readKept(f.Branch, 9, 9, f.ID, c.ID), "one open", "one done")
	w.wantKept(w.readKept(c.Branch, 9, 9, c.ID), "one open", "one done")
	purge(f.ID)
	purge(c.ID)
	w.wantKept(w.readKept(c.Branch, 9, 9, c.ID))
}

// testKeptFilled: what is found in messages that are there is stored once, in steps, with the message before
// each at hand, and the end is told. A database that looks for nothing older is done at once.
func testKeptFilled(w *keptHarness) {
	c := w.addConversation()
	entries := []driver.Entry{w.entryWithKept("zero")}
	for range 9 {
		entries = append(entries, w.entryWithSource(fileA, 1))
	}
	w.appendEntries(c.ID, entries...)
	find := func(m, before *scrollback.Message) []scrollback.Kept {
		switch {
		case m.Seq%4 != 0:
			return nil
		case before == nil || before.Seq != m.Seq-1:
			w.t.Errorf("#%d comes with %v before it", m.Seq, before)
		}
		return []scrollback.Kept{{ID: scrollback.NewKeptID(m.ID, scrollback.KeptTrait, "found"), Kind: scrollback.KeptTrait,
			Text: "found", By: scrollback.KeptByRule, State: scrollback.KeptOpen}}
	}
	step, err := w.Admin.FillKept(w.ctx, 0, nil)
	w.wantOK(err)
	if step.Done {
		return
	}
	steps := 0
	for ; !step.Done && steps < 20; steps++ {
		step, err = w.Admin.FillKept(w.ctx, 3, find)
		w.wantOK(err)
	}
	if step, err = w.Admin.FillKept(w.ctx, 0, nil); err != nil || !step.Done || steps < 4 {
		w.t.Fatalf("after %d steps: %+v, %v", steps, step, err)
	}
	got := w.readKept(c.Branch, 99, 9)
	w.wantKept(got, "zero open", "found open", "found open")
	if got[1].Seq != 4 || got[2].Seq != 8 || got[1].Conversation != c.ID {
		w.t.Errorf("what was found is at %+v", got)
	}
}

// randomKept makes what is kept of a message, now and then.
func (w *randomWalk) randomKept(of scrollback.MessageID) (out []scrollback.Kept) {
	for range w.rng.IntN(5) / 3 {
		text := pickOne(w, "never on Fridays", "TODO: water", "过敏")
		kind := pickOne(w, scrollback.KeptTodo, scrollback.KeptTrait, "end")
		out = append(out, scrollback.Kept{ID: scrollback.NewKeptID(of, kind, text), Kind: kind, Text: text,
			By: scrollback.KeptByRule, State: scrollback.KeptOpen, SaidBy: pickOne[scrollback.KeyID](w, "", "k"),
			CreatedAt: w.now})
	}
	return out
}

// changeKept says something about a sentence on the current path of a conversation, or of another.
func (w *randomWalk) changeKept() {
	c := w.pickConversation()
	h, err := w.a.Log.ReadHead(w.ctx, c.ID)
	if err != nil {
		return
	}
	rows, err := w.a.Log.ReadKept(w.ctx, driver.KeptQuery{Branch: h.Branch.ID, To: h.Branch.HeadSeq, Limit: 9})
	if err != nil || len(rows) == 0 {
		return
	}
	k := rows[w.rng.IntN(len(rows))]
	k.Conversation = w.pickConversation().ID
	k.By = scrollback.KeptByPerson
	k.State = pickOne(w, scrollback.KeptDone, scrollback.KeptDropped, scrollback.KeptOpen)
	k.Change = w.newID("change")
	k.CreatedAt = w.now
	callBothError(w, fmt.Sprint("change kept ", k), func(d *driver.Driver) error {
		return d.Log.ChangeKept(w.ctx, driver.KeptChange{Row: k, Now: w.now})
	})
}
