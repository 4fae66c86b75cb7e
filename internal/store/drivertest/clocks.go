package drivertest

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunClocks runs the suite. Each call of open returns an empty driver.
func RunClocks(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*clocksHarness){"Node": testNode, "Stones": testStones,
		"StonesPut": testStonesPut, "ClocksOfEdits": testClocksOfEdits, "ClocksOfTitles": testClocksOfTitles,
		"ClocksOfTurns": testClocksOfTurns, "ClocksOfProjects": testClocksOfProjects, "PinsOnPath": testPinsOnPath,
		"PinsShown": testPinsShown} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			w := &clocksHarness{harness: newHarness(t, d)}
			test(w)
		})
	}
}

// clocksHarness is a driver under test with a clock and a source of ids.
type clocksHarness struct{ *harness }

// readClocks returns the clocks of an owner, whose authors are all this store.
func (w *clocksHarness) readClocks(owner string) map[string]stamp.Clock {
	w.t.Helper()
	all, err := w.Log.ReadClocks(w.ctx, owner)
	w.wantOK(err)
	node, err := w.Log.Node(w.ctx)
	w.wantOK(err)
	out := map[string]stamp.Clock{}
	for _, c := range all {
		if c.Owner != owner || c.By != node && c.By != "" {
			w.t.Errorf("a clock of %s by %s: %+v", owner, node, c)
		}
		c.Owner = ""
		c.By = ""
		out[c.Field] = c
	}
	return out
}

func (w *clocksHarness) purge(p driver.Purge) {
	w.t.Helper()
	p.Limit = 100
	for {
		out, err := w.Log.PurgeConversation(w.ctx, p)
		w.wantOK(err)
		if out.Done {
			return
		}
	}
}

// testNode: the id of a store stays.
func testNode(w *clocksHarness) {
	id, err := w.Log.Node(w.ctx)
	w.wantOK(err)
	again, err := w.Log.Node(w.ctx)
	w.wantOK(err)
	if id == "" || id != again {
		w.t.Errorf("a store is called %q, then %q", id, again)
	}
}

// testStones: a purge leaves a stone and no clock, and nothing of that id is made again.
func testStones(w *clocksHarness) {
	c := w.addConversation(func(c *scrollback.Conversation) { c.Project = "p" })
	w.appendMessages(c.ID, 2)
	_, err := w.Log.ReadStone(w.ctx, c.ID)
	w.wantCode(err, scrollback.NotFound)
	node, err := w.Log.Node(w.ctx)
	w.wantOK(err)
	now := w.advanceClock()
	w.purge(driver.Purge{Conversation: c.ID, Now: now})
	want := stamp.Stone{ID: c.ID, Project: "p", Stamp: stamp.Stamp{At: now, By: node}}
	got, err := w.Log.ReadStone(w.ctx, c.ID)
	w.wantOK(err)
	w.wantSame("the stone", want, got)
	w.purge(driver.Purge{Conversation: c.ID, Now: w.advanceClock()})
	got, err = w.Log.ReadStone(w.ctx, c.ID)
	w.wantOK(err)
	w.wantSame("the stone after another purge", want, got)
	w.wantSame("clocks of what was purged", map[string]stamp.Clock{}, w.readClocks(string(c.ID)))
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), Conversation: c.ID}
	_, _, err = w.Log.CreateConversation(w.ctx, c, b)
	w.wantCode(err, scrollback.Conflict)
	err = w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: c, Now: w.now, Current: b.ID,
		Branches: []driver.AdoptedBranch{{Branch: b, Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "back")}}}})
	w.wantCode(err, scrollback.Conflict)
	_, err = w.Log.ReadHead(w.ctx, c.ID)
	w.wantCode(err, scrollback.NotFound)
	stones, err := w.Log.ListStones(w.ctx, "", 9)
	w.wantOK(err)
	w.wantSame("all stones", []stamp.Stone{want}, stones)
}

// testStonesPut: of two stones of one conversation the newer one counts; what people see gets one only with its purge.
func testStonesPut(w *clocksHarness) {
	put := func(id scrollback.ConversationID, project string, at int64) stamp.Stone {
		s := stamp.Stone{ID: id, Project: project, Stamp: stamp.Stamp{At: at, By: "elsewhere"}}
		w.wantOK(w.Log.PutStone(w.ctx, s))
		return s
	}
	put("b", "p", 5)
	b := put("b", "p", 7)
	put("b", "p", 6)
	put("b", "o", 7) // as old: the greater value counts
	a := put("a", "p", 1)
	c := put("c", "q", 1)
	list := func(after scrollback.ConversationID, limit int) []stamp.Stone {
		out, err := w.Log.ListStones(w.ctx, after, limit)
		w.wantOK(err)
		return out
	}
	w.wantSame("all", []stamp.Stone{a, b, c}, list("", 9))
	w.wantSame("a page", []stamp.Stone{b}, list("a", 1))
	w.wantSame("the end", []stamp.Stone(nil), list("c", 1))

	here := w.addConversation()
	s := stamp.Stone{ID: here.ID, Project: "far", Stamp: stamp.Stamp{At: 3, By: "elsewhere"}}
	w.wantCode(w.Log.PutStone(w.ctx, s), scrollback.Conflict)
	w.readHead(here.ID)
	w.purge(driver.Purge{Conversation: here.ID, Now: w.advanceClock(), Stone: &s})
	got, err := w.Log.ReadStone(w.ctx, here.ID)
	w.wantOK(err)
	w.wantSame("a stone that came", s, got)
}

// at is a clock of a field.
func at(field string, ms int64, value string) stamp.Clock {
	return stamp.Clock{Field: field, Stamp: stamp.Stamp{At: ms}, Value: value}
}

// wantClocks compares the clocks of an owner.
func (w *clocksHarness) wantClocks(what, owner string, want ...stamp.Clock) {
	w.t.Helper()
	all := map[string]stamp.Clock{}
	for _, c := range want {
		all[c.Field] = c
	}
	w.wantSame(what, all, w.readClocks(owner))
}

func (w *clocksHarness) patch(id scrollback.ConversationID, now int64, edit func(*scrollback.Conversation)) {
	w.t.Helper()
	_, err := w.Log.PatchConversation(w.ctx, id, now, func(c *scrollback.Conversation) error {
		edit(c)
		return nil
	})
	w.wantOK(err)
}

// testClocksOfEdits: an edit stamps what it really changes, each key by itself; time only goes on.
func testClocksOfEdits(w *clocksHarness) {
	c := w.addConversation(func(c *scrollback.Conversation) {
		c.Meta = []byte(`{"a": 1, "b": [2]}`)
		c.Settings.Keep = scrollback.ScopeProject
	})
	id := string(c.ID)
	w.wantClocks("of a new conversation", id)
	first := w.advanceClock()
	w.patch(c.ID, first, func(c *scrollback.Conversation) {
		c.Title = "given"
		c.Limit = 5
		c.Roots = []string{"/here"}
		c.Settings.RecallScope = scrollback.ScopeAll
	})
	w.wantClocks("after a title", id, at("title", first, ""))
	next := w.advanceClock()
	w.patch(c.ID, next, func(c *scrollback.Conversation) {
		c.Meta = []byte(`{"b":[2],"c":true}`)
		c.Settings.Keep = ""
		c.Settings.Pinned = true
	})
	w.wantClocks("after keys", id, at("title", first, ""), at("meta.a", next, ""), at("meta.c", next, ""),
		at("settings.keep", next, ""), at("settings.pinned", next, ""))
	w.patch(c.ID, next-5000, func(c *scrollback.Conversation) { // the clock of the machine was put back
		c.Project = "another"
		c.Instructions = "Be brief."
		c.DeletedAt = w.now
		c.Settings.Pinned = true
	})
	w.wantClocks("after a step back", id, at("title", first, ""), at("meta.a", next, ""), at("meta.c", next, ""),
		at("settings.keep", next, ""), at("settings.pinned", next, ""), at("project", next+1, ""),
		at("instructions", next+1, ""), at("trash", next+1, ""))
	w.patch(c.ID, next-5000, func(c *scrollback.Conversation) { c.DeletedAt = 0 })
	if got := w.readClocks(id)["trash"]; got.At != next+2 {
		w.t.Errorf("a restore is at %d, not behind %d", got.At, next+1)
	}
	young := w.addConversation(func(c *scrollback.Conversation) { c.CreatedAt = 1 << 50 })
	w.patch(young.ID, w.now, func(c *scrollback.Conversation) { c.Model = "maker/name" })
	w.wantClocks("of one that was begun by a wrong clock", string(young.ID), at("model", w.now, ""))
}

// testClocksOfTitles: what a prompt gives, and what a tool gives first, is as old as the conversation.
func testClocksOfTitles(w *clocksHarness) {
	c := w.addConversation()
	entitle := func(by scrollback.TitleState, title string) int64 {
		now := w.advanceClock()
		w.patch(c.ID, now, func(c *scrollback.Conversation) {
			c.Title = title
			c.TitleBy = by
		})
		return now
	}
	entitle(scrollback.TitleTool, "first")
	entitle(scrollback.TitlePrompt, "asked")
	w.wantClocks("of first titles", string(c.ID))
	later := entitle(scrollback.TitleTool, "another")
	w.wantClocks("of a tool's next", string(c.ID), at("title", later, ""))
	now := w.advanceClock()
	moved, err := w.Log.ChangeTitle(w.ctx, driver.TitleChange{Conversation: c.ID, Now: now, From: scrollback.TitleTool,
		To: scrollback.TitleModel, Title: "a model's"})
	w.wantOK(err)
	if !moved {
		w.t.Error("the title stays")
	}
	w.wantClocks("of a model's", string(c.ID), at("title", now, ""))
}

// testClocksOfTurns: turns write none, unless they change what travels of a conversation that has begun.
func testClocksOfTurns(w *clocksHarness) {
	c := w.addConversation()
	begin := func(edit func(*scrollback.Conversation)) int64 {
		now := w.advanceClock()
		begun, err := w.Turns.Begin(w.ctx, driver.BeginRequest{Now: now, Edit: edit, Turn: scrollback.Turn{
			ID: scrollback.TurnID(w.newID("turn")), Conversation: c.ID, Owner: "o", LeaseUntil: now + leaseTime},
			Entries: []driver.Entry{w.makeEntry(scrollback.RoleUser, "a question")}})
		w.wantOK(err)
		w.finishTurn(begun.Turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, "an answer"))
		return now
	}
	begin(func(c *scrollback.Conversation) { c.Instructions = "at first" })
	begin(func(c *scrollback.Conversation) { c.Environment = &scrollback.Environment{} })
	w.wantClocks("after turns", string(c.ID))
	now := begin(func(c *scrollback.Conversation) { c.Instructions = "later" })
	w.wantClocks("after a turn that changes something", string(c.ID), at("instructions", now, ""))
}

// testClocksOfProjects: what is stored of projects, and that it was removed.
func testClocksOfProjects(w *clocksHarness) {
	put := func(edit func(*scrollback.Project)) int64 {
		now := w.advanceClock()
		_, err := w.Access.PutProject(w.ctx, "p", now, func(p *scrollback.Project) error { edit(p); return nil })
		w.wantOK(err)
		return now
	}
	put(func(p *scrollback.Project) { p.Title = "one" })
	w.wantClocks("of a new project", "project:p")
	first := put(func(p *scrollback.Project) {
		p.Model = "maker/name"
		p.Limit = 7
		p.Budget = &scrollback.DailyBudget{TokensPerDay: 5}
		p.Settings.Door = "record"
	})
	w.wantClocks("of a change", "project:p", at("model", first, ""), at("settings.door", first, ""))
	gone := w.advanceClock()
	w.wantOK(w.Access.DeleteProject(w.ctx, "p", gone, func(scrollback.Project) error { return nil }))
	w.wantClocks("of a removal", "project:p", at("title", gone, ""), at("model", gone, ""),
		at("settings.door", gone, ""), at("deleted", gone, "true"))
	back := put(func(p *scrollback.Project) { p.Title = "again" })
	w.wantClocks("of one that is stored again", "project:p", at("title", back, ""), at("model", gone, ""),
		at("settings.door", gone, ""), at("deleted", back, "false"))
}

// rewind makes a message the newest, and returns the pins of the conversation.
func (w *clocksHarness) rewind(id scrollback.ConversationID, parent scrollback.BranchID, seq int64) []int64 {
	w.t.Helper()
	to := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), Conversation: id, Parent: parent, AtSeq: seq}
	h, err := w.Log.RewindHead(w.ctx, driver.Rewind{Conversation: id, Now: w.advanceClock(), To: to})
	w.wantOK(err)
	return h.PinnedSeqs
}

// testPinsOnPath: pins are of messages: those on the path are shown, and a rewind removes none.
func testPinsOnPath(w *clocksHarness) {
	c := w.addConversation(func(c *scrollback.Conversation) { c.PinnedSeqs = []int64{2} })
	ms := w.appendMessages(c.ID, 4)
	pinned := w.advanceClock()
	w.patch(c.ID, pinned, func(c *scrollback.Conversation) { c.PinnedSeqs = []int64{2, 3, 4} })
	three := at("pin."+string(ms[2].ID), pinned, "true")
	four := at("pin."+string(ms[3].ID), pinned, "true")
	w.wantClocks("of pins", string(c.ID), three, four)
	w.wantSame("behind the second", []int64{2}, w.rewind(c.ID, c.Branch, 2))
	two := at("pin."+string(ms[1].ID), c.CreatedAt, "true") // it is as old as the conversation
	w.wantClocks("after a rewind", string(c.ID), two, three, four)
	fresh := w.appendMessages(c.ID, 2)
	now := w.advanceClock()
	w.patch(c.ID, now, func(c *scrollback.Conversation) { c.PinnedSeqs = []int64{4} })
	w.wantClocks("on another branch", string(c.ID), at(two.Field, now, "false"), three, four,
		at("pin."+string(fresh[1].ID), now, "true"))
	w.wantSame("on the old branch", []int64{3, 4}, w.rewind(c.ID, c.Branch, 4))
	w.wantSame("and back", []int64{4}, w.rewind(c.ID, fresh[0].Branch, 4))
	w.wantSame("at the beginning", []int64{}, w.rewind(c.ID, "", 0))
}

// testPinsShown: of more pins than there may be, the newest are shown.
func testPinsShown(w *clocksHarness) {
	c := w.addConversation()
	const most = scrollback.PinsMax
	w.appendMessages(c.ID, most+3)
	pin := func(from, to int64) (seqs []int64) {
		for seq := from; seq <= to; seq++ {
			seqs = append(seqs, seq)
		}
		w.patch(c.ID, w.advanceClock(), func(c *scrollback.Conversation) { c.PinnedSeqs = seqs })
		return seqs
	}
	old := pin(4, most+3)
	w.wantSame("on the path before them", []int64{}, w.rewind(c.ID, c.Branch, 3))
	fresh := pin(1, 2)
	w.wantSame("back again", append(fresh, old[2:]...), w.rewind(c.ID, c.Branch, most+3))
}
