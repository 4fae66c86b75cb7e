package drivertest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunSources runs the suite. Each call of open returns an empty driver.
func RunSources(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*sourcesBench){"SourcesWritten": testWritten, "SourcesConflict": testConflict,
		"SourcesForked": testForked, "SourcesAdopted": testAdopted, "SourcesPurged": testSourcesPurged} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&sourcesBench{Driver: d, t: t, ctx: t.Context(), now: 1_000_000})
		})
	}
}

// The sources in these tests.
const (
	fileA = "notes/a.md"
	fileB = "计划.md"
)

// sourcesBench is a driver under test with a clock and a source of ids.
type sourcesBench struct {
	*driver.Driver
	t   *testing.T
	ctx context.Context
	now int64
	n   int
}

func (w *sourcesBench) tick() int64 {
	w.now += 10
	return w.now
}

func (w *sourcesBench) id() string {
	w.n++
	return fmt.Sprintf("%08x-0000-7000-8000-000000000000", w.n)
}

func (w *sourcesBench) ok(err error) {
	if err != nil {
		w.t.Helper()
		w.t.Fatal(err)
	}
}

func (w *sourcesBench) code(err error, want scrollback.Code) {
	if scrollback.CodeOf(err) != want {
		w.t.Helper()
		w.t.Fatalf("error %v, want %s", err, want)
	}
}

// plan is a conversation that is not there yet, with its first branch.
func (w *sourcesBench) plan() (scrollback.Conversation, scrollback.Branch) {
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.id()), Project: "p", Version: 1, CreatedAt: w.tick(),
		UpdatedAt: w.now}
	b := scrollback.Branch{ID: scrollback.BranchID(w.id()), Conversation: c.ID, UpdatedAt: w.now}
	c.Branch = b.ID
	return c, b
}

func (w *sourcesBench) conversation() scrollback.Conversation {
	w.t.Helper()
	c, b := w.plan()
	c, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.ok(err)
	return c
}

// fork is a conversation that continues another behind one of its own messages.
func (w *sourcesBench) fork(of scrollback.Conversation, seq int64) scrollback.Conversation {
	w.t.Helper()
	c, b := w.plan()
	c.Parent = &scrollback.ParentRef{ID: of.ID, Branch: of.Branch, Seq: seq}
	c.Messages = seq
	c.Ancestors = append([]scrollback.ConversationID{of.ID}, of.Ancestors...)
	b.Parent = of.Branch
	b.AtSeq = seq
	b.HeadSeq = seq
	c, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.ok(err)
	return c
}

// has is a message with a version of a source.
func (w *sourcesBench) has(name string, version int) driver.Entry {
	return driver.Entry{Sources: []driver.SourceVersion{{Name: name, Version: version,
		SHA256: fmt.Sprint("sha ", version)}},
		Message: scrollback.Message{ID: scrollback.MessageID(w.id()), Role: scrollback.RoleUser, Parts: scrollback.Say(name),
			Status: scrollback.StatusComplete, CreatedAt: w.tick()}}
}

func (w *sourcesBench) append(id scrollback.ConversationID, entries ...driver.Entry) {
	w.t.Helper()
	_, err := w.Log.AppendEntries(w.ctx, driver.Append{Conversation: id, Now: w.tick(), IfHead: -1, Entries: entries})
	w.ok(err)
}

// begin opens a turn that ends at once.
func (w *sourcesBench) begin(id scrollback.ConversationID, edit func(*driver.BeginRequest),
	entries ...driver.Entry) error {
	b := driver.BeginRequest{Now: w.tick(), Entries: entries,
		Turn: scrollback.Turn{ID: scrollback.TurnID(w.id()), Conversation: id,
			State: scrollback.TurnOpen, Owner: "owner", LeaseUntil: w.now + 1000, StartedAt: w.now}}
	edit(&b)
	begun, err := w.Turns.Begin(w.ctx, b)
	if err == nil {
		_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: begun.Turn.ID, Owner: "owner", Now: w.tick(),
			State: scrollback.TurnComplete})
	}
	return err
}

// known wants these to be the sources that conversations know, the nearest first.
func (w *sourcesBench) known(in []scrollback.ConversationID, want ...driver.SourceVersion) {
	w.t.Helper()
	got, err := w.Log.FindSources(w.ctx, in, []string{fileA, fileB, "unknown"})
	w.ok(err)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		w.t.Fatalf("sources (-want +got):\n%s", d)
	}
}

// kept is a source as it is kept.
func kept(name string, version int, b scrollback.BranchID, seq int64) driver.SourceVersion {
	return driver.SourceVersion{Name: name, Version: version, SHA256: fmt.Sprint("sha ", version), Branch: b, Seq: seq}
}

// testWritten: the newest version is kept with its message, on every way in; one that is
// not older takes its place.
func testWritten(w *sourcesBench) {
	c := w.conversation()
	own := []scrollback.ConversationID{c.ID}
	w.known(own)
	w.append(c.ID, w.has(fileA, 1), w.has(fileB, 1))
	w.known(own, kept(fileA, 1, c.Branch, 1), kept(fileB, 1, c.Branch, 2))
	w.ok(w.begin(c.ID, func(*driver.BeginRequest) {}, w.has(fileA, 2)))
	w.append(c.ID, w.has(fileB, 1), w.has(fileA, 1))
	w.known(own, kept(fileA, 2, c.Branch, 3), kept(fileB, 1, c.Branch, 4))
	w.known(nil)
}

// testConflict: what is not written leaves no source, and a turn that was made for another
// head is not begun.
func testConflict(w *sourcesBench) {
	c := w.conversation()
	first := w.has(fileA, 1)
	w.append(c.ID, first)
	first.Sources[0].Version = 7
	_, err := w.Log.AppendEntries(w.ctx, driver.Append{Conversation: c.ID, Now: w.tick(), IfHead: -1,
		Entries: []driver.Entry{w.has(fileB, 1), first}})
	w.code(err, scrollback.Conflict)
	for _, at := range []driver.BeginRequest{{IfBranch: c.Branch, IfHead: 0}, {IfBranch: c.Branch, IfHead: 2},
		{IfBranch: "another", IfHead: 1}} {
		w.code(w.begin(c.ID, func(b *driver.BeginRequest) {
			b.IfBranch = at.IfBranch
			b.IfHead = at.IfHead
		}, w.has(fileB, 1)), scrollback.Conflict)
	}
	w.known([]scrollback.ConversationID{c.ID}, kept(fileA, 1, c.Branch, 1))
	w.ok(w.begin(c.ID, func(b *driver.BeginRequest) {
		b.IfBranch = c.Branch
		b.IfHead = 1
	}, w.has(fileB, 1)))
	w.known([]scrollback.ConversationID{c.ID}, kept(fileA, 1, c.Branch, 1), kept(fileB, 1, c.Branch, 2))
}

// testForked: a fork finds what its parent has until it has one of its own.
func testForked(w *sourcesBench) {
	c := w.conversation()
	w.append(c.ID, w.has(fileA, 1), w.has(fileB, 1))
	f := w.fork(c, 1)
	line := []scrollback.ConversationID{f.ID, c.ID}
	w.append(c.ID, w.has(fileA, 2))
	w.known(line, kept(fileA, 2, c.Branch, 3), kept(fileB, 1, c.Branch, 2))
	w.append(f.ID, w.has(fileA, 1))
	w.known(line, kept(fileA, 1, f.Branch, 2), kept(fileB, 1, c.Branch, 2))
	w.known(line[1:], kept(fileA, 2, c.Branch, 3), kept(fileB, 1, c.Branch, 2))
}

// testAdopted: what comes from elsewhere has its sources, of each the newest, and a batch
// that is refused leaves none.
func testAdopted(w *sourcesBench) {
	c, b := w.plan()
	own := []scrollback.ConversationID{c.ID}
	adopt := func(at int64, current scrollback.BranchID, entries ...driver.Entry) error {
		return w.Log.AdoptHistory(w.ctx, driver.Adoption{Conversation: c, Now: w.tick(), Current: current,
			Branches: []driver.AdoptedBranch{{Branch: b, IfHead: at, Entries: entries}}})
	}
	w.ok(adopt(0, "", w.has(fileA, 4), w.has(fileA, 5)))
	w.ok(adopt(2, b.ID, w.has(fileA, 3), w.has(fileB, 1)))
	w.known(own, kept(fileA, 5, b.ID, 2), kept(fileB, 1, b.ID, 4))
	w.code(adopt(4, "unknown", w.has(fileB, 2)), scrollback.NotFound)
	w.known(own, kept(fileA, 5, b.ID, 2), kept(fileB, 1, b.ID, 4))
}

// testPurged: a purge removes the sources of the messages that it removes, and a fork keeps
// those that it inherits.
func testSourcesPurged(w *sourcesBench) {
	c := w.conversation()
	w.append(c.ID, w.has(fileA, 1), w.has(fileB, 1))
	f := w.fork(c, 1)
	own := []scrollback.ConversationID{c.ID}
	purge := func(id scrollback.ConversationID) {
		_, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: id, Now: w.tick(), Limit: 9})
		w.ok(err)
	}
	purge(c.ID)
	w.known(own, kept(fileA, 1, c.Branch, 1))
	purge(f.ID)
	purge(c.ID)
	w.known(own)
}
