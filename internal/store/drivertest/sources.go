package drivertest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunSources runs the suite. Each call of open returns an empty driver.
func RunSources(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*sourcesHarness){"SourcesWritten": testWritten,
		"SourcesConflict": testConflict,
		"SourcesForked":   testForked, "SourcesAdopted": testAdopted, "SourcesPurged": testSourcesPurged} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&sourcesHarness{driverHarness: newDriverHarness(t, d, 1_000_000)})
		})
	}
}

// The sources in these tests.
const (
	fileA = "notes/a.md"
	fileB = "计划.md"
)

// sourcesHarness is a driver under test with a clock and a source of ids.
type sourcesHarness struct {
	driverHarness
}

// newConversation returns a conversation that is not there yet, with its first branch.
func (w *sourcesHarness) newConversation() (scrollback.Conversation, scrollback.Branch) {
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.newID("conversation")), Project: "p", Version: 1,
		CreatedAt: w.advanceClock(),
		UpdatedAt: w.now}
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), Conversation: c.ID, UpdatedAt: w.now}
	c.Branch = b.ID
	return c, b
}

func (w *sourcesHarness) addConversation() scrollback.Conversation {
	w.t.Helper()
	c, b := w.newConversation()
	c, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	return c
}

// addFork returns a conversation that continues another behind one of its own messages.
func (w *sourcesHarness) addFork(of scrollback.Conversation, seq int64) scrollback.Conversation {
	w.t.Helper()
	c, b := w.newConversation()
	c.Parent = &scrollback.ParentRef{ID: of.ID, Branch: of.Branch, Seq: seq}
	c.Messages = seq
	c.Ancestors = append([]scrollback.ConversationID{of.ID}, of.Ancestors...)
	b.Parent = of.Branch
	b.AtSeq = seq
	b.HeadSeq = seq
	c, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	return c
}

// entryWithSource returns a message with a version of a source.
func (w *sourcesHarness) entryWithSource(name string, version int) driver.Entry {
	return driver.Entry{Sources: []driver.SourceVersion{{Name: name, Version: version,
		SHA256: fmt.Sprint("sha ", version)}},
		Message: scrollback.Message{ID: scrollback.MessageID(w.newID("message")), Role: scrollback.RoleUser,
			Parts:  scrollback.Say(name),
			Status: scrollback.StatusComplete, CreatedAt: w.advanceClock()}}
}

func (w *sourcesHarness) appendEntries(id scrollback.ConversationID, entries ...driver.Entry) {
	w.t.Helper()
	_, err := w.Log.AppendEntries(w.ctx,
		driver.Append{Conversation: id, Now: w.advanceClock(), IfHead: -1, Entries: entries})
	w.wantOK(err)
}

// beginTurn opens a turn that ends at once.
func (w *sourcesHarness) beginTurn(id scrollback.ConversationID, edit func(*driver.BeginRequest),
	entries ...driver.Entry) error {
	b := driver.BeginRequest{Now: w.advanceClock(), Entries: entries,
		Turn: scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")), Conversation: id,
			State: scrollback.TurnOpen, Owner: "owner", LeaseUntil: w.now + 1000, StartedAt: w.now}}
	edit(&b)
	begun, err := w.Turns.Begin(w.ctx, b)
	if err == nil {
		_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: begun.Turn.ID, Owner: "owner", Now: w.advanceClock(),
			State: scrollback.TurnComplete})
	}
	return err
}

// wantSources wants these to be the sources that conversations know, the nearest first.
func (w *sourcesHarness) wantSources(in []scrollback.ConversationID, want ...driver.SourceVersion) {
	w.t.Helper()
	got, err := w.Log.FindSources(w.ctx, in, []string{fileA, fileB, "unknown"})
	w.wantOK(err)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		w.t.Fatalf("sources (-want +got):\n%s", d)
	}
}

// keptSource returns a source as it is kept.
func keptSource(name string, version int, b scrollback.BranchID, seq int64) driver.SourceVersion {
	return driver.SourceVersion{Name: name, Version: version, SHA256: fmt.Sprint("sha ", version), Branch: b, Seq: seq}
}

// testWritten: the newest version is kept with its message, on every way in; one that is
// not older takes its place.
func testWritten(w *sourcesHarness) {
	c := w.addConversation()
	own := []scrollback.ConversationID{c.ID}
	w.wantSources(own)
	w.appendEntries(c.ID, w.entryWithSource(fileA, 1), w.entryWithSource(fileB, 1))
	w.wantSources(own, keptSource(fileA, 1, c.Branch, 1), keptSource(fileB, 1, c.Branch, 2))
	w.wantOK(w.beginTurn(c.ID, func(*driver.BeginRequest) {}, w.entryWithSource(fileA, 2)))
	w.appendEntries(c.ID, w.entryWithSource(fileB, 1), w.entryWithSource(fileA, 1))
	w.wantSources(own, keptSource(fileA, 2, c.Branch, 3), keptSource(fileB, 1, c.Branch, 4))
	w.wantSources(nil)
}

// testConflict: what is not written leaves no source, and a turn that was made for another
// head is not begun.
func testConflict(w *sourcesHarness) {
	c := w.addConversation()
	first := w.entryWithSource(fileA, 1)
	w.appendEntries(c.ID, first)
	first.Sources[0].Version = 7
	_, err := w.Log.AppendEntries(w.ctx, driver.Append{Conversation: c.ID, Now: w.advanceClock(), IfHead: -1,
		Entries: []driver.Entry{w.entryWithSource(fileB, 1), first}})
	w.wantCode(err, scrollback.Conflict)
	for _, at := range []driver.BeginRequest{{IfBranch: c.Branch, IfHead: 0}, {IfBranch: c.Branch, IfHead: 2},
		{IfBranch: "another", IfHead: 1}} {
		w.wantCode(w.beginTurn(c.ID, func(b *driver.BeginRequest) {
			b.IfBranch = at.IfBranch
			b.IfHead = at.IfHead
		}, w.entryWithSource(fileB, 1)), scrollback.Conflict)
	}
	w.wantSources([]scrollback.ConversationID{c.ID}, keptSource(fileA, 1, c.Branch, 1))
	w.wantOK(w.beginTurn(c.ID, func(b *driver.BeginRequest) {
		b.IfBranch = c.Branch
		b.IfHead = 1
	}, w.entryWithSource(fileB, 1)))
	w.wantSources([]scrollback.ConversationID{c.ID}, keptSource(fileA, 1, c.Branch, 1), keptSource(fileB, 1, c.Branch, 2))
}

// testForked: a fork finds what its parent has until it has one of its own.
func testForked(w *sourcesHarness) {
	c := w.addConversation()
	w.appendEntries(c.ID, w.entryWithSource(fileA, 1), w.entryWithSource(fileB, 1))
	f := w.addFork(c, 1)
	line := []scrollback.ConversationID{f.ID, c.ID}
	w.appendEntries(c.ID, w.entryWithSource(fileA, 2))
	w.wantSources(line, keptSource(fileA, 2, c.Branch, 3), keptSource(fileB, 1, c.Branch, 2))
	w.appendEntries(f.ID, w.entryWithSource(fileA, 1))
	w.wantSources(line, keptSource(fileA, 1, f.Branch, 2), keptSource(fileB, 1, c.Branch, 2))
	w.wantSources(line[1:], keptSource(fileA, 2, c.Branch, 3), keptSource(fileB, 1, c.Branch, 2))
}

// testAdopted: what comes from elsewhere has its sources, of each the newest, and a batch
// that is refused leaves none.
func testAdopted(w *sourcesHarness) {
	c, b := w.newConversation()
	own := []scrollback.ConversationID{c.ID}
	adopt := func(at int64, current scrollback.BranchID, entries ...driver.Entry) error {
		return w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: c, Now: w.advanceClock(), Current: current,
			Branches: []driver.AdoptedBranch{{Branch: b, IfHead: at, Entries: entries}}})
	}
	w.wantOK(adopt(0, "", w.entryWithSource(fileA, 4), w.entryWithSource(fileA, 5)))
	w.wantOK(adopt(2, b.ID, w.entryWithSource(fileA, 3), w.entryWithSource(fileB, 1)))
	w.wantSources(own, keptSource(fileA, 5, b.ID, 2), keptSource(fileB, 1, b.ID, 4))
	w.wantCode(adopt(4, "unknown", w.entryWithSource(fileB, 2)), scrollback.NotFound)
	w.wantSources(own, keptSource(fileA, 5, b.ID, 2), keptSource(fileB, 1, b.ID, 4))
}

// testPurged: a purge removes the sources of the messages that it removes, and a fork keeps
// those that it inherits.
func testSourcesPurged(w *sourcesHarness) {
	c := w.addConversation()
	w.appendEntries(c.ID, w.entryWithSource(fileA, 1), w.entryWithSource(fileB, 1))
	f := w.addFork(c, 1)
	own := []scrollback.ConversationID{c.ID}
	purge := func(id scrollback.ConversationID) {
		_, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: id, Now: w.advanceClock(), Limit: 9})
		w.wantOK(err)
	}
	purge(c.ID)
	w.wantSources(own, keptSource(fileA, 1, c.Branch, 1))
	purge(f.ID)
	purge(c.ID)
	w.wantSources(own)
}
