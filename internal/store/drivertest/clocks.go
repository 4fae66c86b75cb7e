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
		"StonesPut": testStonesPut} {
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
