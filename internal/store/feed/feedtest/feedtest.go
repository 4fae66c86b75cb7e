// Package feedtest is what every [driver.Feed] has to pass: each sentence of the contract
// as a test, on drivers that write and read changes together.
package feedtest

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Run runs the suite. Each call of open returns an empty driver.
func Run(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*rig){
		"Everything": everything, "TakenOver": takenOver, "Nothing": nothing, "Moved": moved, "Pages": pages,
		"Entitled": entitled,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}()
			test(&rig{Driver: d, t: t, now: 1_700_000_000_000})
		})
	}
}

// rig is a driver with a clock and a source of ids.
type rig struct {
	*driver.Driver
	t   *testing.T
	now int64
	ids int
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) id() string {
	r.ids++
	return fmt.Sprintf("%08d-0000-7000-8000-000000000000", r.ids)
}

func (r *rig) entry() driver.Entry {
	return driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(r.id()), Role: scrollback.RoleUser,
		Parts: scrollback.Parts{scrollback.Text{Text: "said"}}, Status: scrollback.StatusComplete, CreatedAt: r.now}}
}

func (r *rig) create(project string) scrollback.Conversation {
	r.t.Helper()
	b := scrollback.Branch{ID: scrollback.BranchID(r.id())}
	c := scrollback.Conversation{ID: scrollback.ConversationID(r.id()), Project: project, Branch: b.ID, Version: 1,
		CreatedAt: r.now, UpdatedAt: r.now}
	b.Conversation = c.ID
	c, _, err := r.Log.CreateConversation(r.t.Context(), c, b)
	r.ok(err)
	return c
}

func (r *rig) patch(id scrollback.ConversationID, edit func(*scrollback.Conversation)) {
	r.t.Helper()
	_, err := r.Log.PatchConversation(r.t.Context(), id, r.now,
		func(c *scrollback.Conversation) error { edit(c); return nil })
	r.ok(err)
}

func (r *rig) begin(id scrollback.ConversationID, edit func(*scrollback.Conversation)) scrollback.Turn {
	r.t.Helper()
	t := scrollback.Turn{ID: scrollback.TurnID(r.id()), Conversation: id, State: scrollback.TurnOpen, Owner: "o",
		LeaseUntil: r.now + 1000, StartedAt: r.now}
	got, err := r.Turns.Begin(r.t.Context(),
		driver.BeginRequest{Turn: t, Now: r.now, Entries: []driver.Entry{r.entry()}, Edit: edit,
			Salvage: func(scrollback.Turn) []driver.Entry { return []driver.Entry{r.entry(), r.entry()} }})
	r.ok(err)
	return got.Turn
}

func (r *rig) finish(t scrollback.Turn, state scrollback.TurnState, entries ...driver.Entry) {
	r.t.Helper()
	_, err := r.Turns.FinishStep(r.t.Context(),
		driver.FinishedStep{Turn: t.ID, Owner: t.Owner, Now: r.now, LeaseUntil: r.now + 1000, State: state, Entries: entries})
	r.ok(err)
}

// told wants these changes after number after, each without what has become of its
// conversation, and numbered without a gap. Between them may be those that nobody is told of.
func (r *rig) told(after int64, want ...driver.Change) {
	r.t.Helper()
	all, err := r.Log.ListChanges(r.t.Context(), after, 1000)
	r.ok(err)
	var got []driver.Change
	for i, c := range all {
		if c.N != after+int64(i)+1 {
			r.t.Errorf("change %d behind %d has number %d", i, after, c.N)
		}
		if c.Kinds != driver.KindSilent {
			got = append(got, c)
		}
	}
	for i := range max(len(got), len(want)) {
		var g, w driver.Change
		if i < len(got) {
			g = got[i]
			g.Now = nil
			g.N = 0
		}
		if i < len(want) {
			w = want[i]
			w.Project = cmp.Or(w.Project, "a")
		}
		if g != w {
			r.t.Errorf("change %d is %+v, want %+v", i, g, w)
		}
	}
}

// everything: each kind of write is told with what it did.
func everything(r *rig) {
	ctx := r.t.Context()
	c := r.create("a")
	other := r.create("a")
	id := c.ID
	titled := r.begin(id, func(c *scrollback.Conversation) { c.Title = "t" })
	r.finish(titled, scrollback.TurnOpen, r.entry(), r.entry())
	_, err := r.Turns.SaveDraft(ctx, driver.SavedDraft{Turn: titled.ID, Owner: "o", LeaseUntil: r.now + 1000})
	r.ok(err)
	r.ok(r.Turns.Stop(ctx, titled.ID))
	r.finish(titled, scrollback.TurnComplete, r.entry())
	failed := r.begin(id, nil)
	r.finish(failed, scrollback.TurnFailed)
	_, err = r.Log.AppendEntries(ctx, driver.Append{Conversation: id, Now: r.now, IfHead: -1,
		Entries: []driver.Entry{r.entry(), r.entry()}})
	r.ok(err)
	refs := []scrollback.Ref{"history:x", "history:y"}
	segment := scrollback.Segment{ID: scrollback.SegmentID(r.id()), Conversation: id, Branch: c.Branch, FirstSeq: 1,
		LastSeq: 3}
	r.ok(r.Views.CommitFold(ctx,
		driver.FoldCommit{Conversation: id, Branch: c.Branch, Segments: []scrollback.Segment{segment},
			Now:     r.now,
			Receipt: scrollback.Receipt{FirstSeq: 1, LastSeq: 3, Refs: refs}}))
	_, err = r.Views.UndoFold(ctx, driver.FoldUndo{Branch: c.Branch, Now: r.now})
	r.ok(err)
	to := scrollback.Branch{ID: scrollback.BranchID(r.id()), Conversation: id, Parent: c.Branch, AtSeq: 1}
	_, err = r.Log.RewindHead(ctx, driver.Rewind{Conversation: id, Now: r.now, To: to})
	r.ok(err)
	r.patch(id, func(c *scrollback.Conversation) { c.Title = "again" })
	r.patch(id, func(c *scrollback.Conversation) { c.DeletedAt = r.now })
	r.patch(id, func(c *scrollback.Conversation) { c.DeletedAt = 0 })
	for range 2 { // the second finds nothing
		_, err = r.Log.PurgeConversation(ctx, driver.Purge{Conversation: id, Now: r.now, Limit: 1})
		r.ok(err)
	}
	r.told(0,
		driver.Change{Conversation: id, Kinds: driver.KindEdited},
		driver.Change{Conversation: other.ID, Kinds: driver.KindEdited},
		driver.Change{Conversation: id, Kinds: driver.KindEdited | driver.KindGrown | driver.KindTurned, Turn: titled.ID,
			State: scrollback.TurnOpen, FirstSeq: 1, LastSeq: 1},
		driver.Change{Conversation: id, Kinds: driver.KindGrown, Turn: titled.ID, FirstSeq: 2, LastSeq: 3},
		driver.Change{Conversation: id, Kinds: driver.KindGrown | driver.KindTurned, Turn: titled.ID,
			State: scrollback.TurnComplete, FirstSeq: 4, LastSeq: 4},
		driver.Change{Conversation: id, Kinds: driver.KindGrown | driver.KindTurned, Turn: failed.ID,
			State:    scrollback.TurnOpen,
			FirstSeq: 5, LastSeq: 5},
		driver.Change{Conversation: id, Kinds: driver.KindTurned, Turn: failed.ID, State: scrollback.TurnFailed},
		driver.Change{Conversation: id, Kinds: driver.KindGrown, FirstSeq: 6, LastSeq: 7},
		driver.Change{Conversation: id, Kinds: driver.KindFolded, FirstSeq: 1, LastSeq: 3, Ref: "history:y"},
		driver.Change{Conversation: id, Kinds: driver.KindFolded | driver.KindUndone, FirstSeq: 1, LastSeq: 3,
			Ref: "history:y"},
		driver.Change{Conversation: id, Kinds: driver.KindEdited},
		driver.Change{Conversation: id, Kinds: driver.KindEdited},
		driver.Change{Conversation: id, Kinds: driver.KindEdited | driver.KindTrashed},
		driver.Change{Conversation: id, Kinds: driver.KindEdited | driver.KindTrashed},
		driver.Change{Conversation: id, Kinds: driver.KindTrashed | driver.KindPurged})
	got, err := r.Log.ListChanges(ctx, 0, 2)
	r.ok(err)
	if got[0].Now != nil || got[1].Now == nil || got[1].Now.In != "a" || got[1].Now.Version != 1 ||
		got[1].Now.Branch != other.Branch {
		r.t.Errorf("of a purged one and another: %+v, %+v", got[0].Now, got[1].Now)
	}
}

// takenOver: a turn that is closed for its owner is told by itself, before what follows.
func takenOver(r *rig) {
	c := r.create("a")
	first := r.begin(c.ID, nil)
	r.now += 2000
	second := r.begin(c.ID, nil)
	r.told(2,
		driver.Change{Conversation: c.ID, Kinds: driver.KindGrown | driver.KindTurned, Turn: first.ID,
			State: scrollback.TurnInterrupted, FirstSeq: 2, LastSeq: 3},
		driver.Change{Conversation: c.ID, Kinds: driver.KindGrown | driver.KindTurned, Turn: second.ID,
			State: scrollback.TurnOpen, FirstSeq: 4, LastSeq: 4})
}

// entitled: that a title is being asked for is not told, and the title is.
func entitled(r *rig) {
	c := r.create("a")
	entitle := func(e driver.TitleChange) {
		r.t.Helper()
		e.Conversation = c.ID
		e.Now = r.now
		moved, err := r.Log.ChangeTitle(r.t.Context(), e)
		if r.ok(err); !moved {
			r.t.Fatalf("%+v moved nothing", e)
		}
	}
	entitle(driver.TitleChange{To: scrollback.TitleAsked})
	r.told(1)
	entitle(driver.TitleChange{From: scrollback.TitleAsked, To: scrollback.TitleModel, Title: "Given"})
	r.told(1, driver.Change{Conversation: c.ID, Kinds: driver.KindEdited})
}

// nothing: what was not written is not told.
func nothing(r *rig) {
	ctx := r.t.Context()
	c := r.create("a")
	_, err := r.Log.PatchConversation(ctx, c.ID, r.now, func(*scrollback.Conversation) error {
		return scrollback.Errorf(scrollback.Invalid, "test", "no")
	})
	if scrollback.CodeOf(err) != scrollback.Invalid {
		r.t.Fatal(err)
	}
	_, err = r.Turns.Begin(ctx, driver.BeginRequest{Turn: scrollback.Turn{ID: "t", Conversation: c.ID}, Now: r.now,
		Entries: []driver.Entry{r.entry()},
		Admit:   func(*scrollback.Turn) error { return scrollback.Errorf(scrollback.Invalid, "test", "no") }})
	if scrollback.CodeOf(err) != scrollback.Invalid {
		r.t.Fatal(err)
	}
	_, _, err = r.Log.CreateConversation(ctx, c, scrollback.Branch{}) // it is there
	r.ok(err)
	r.told(1)
}

// moved: a change of the project names both.
func moved(r *rig) {
	c := r.create("a")
	r.patch(c.ID, func(c *scrollback.Conversation) { c.Project = "b" })
	r.patch(c.ID, func(c *scrollback.Conversation) { c.Title = "t" })
	r.told(1, driver.Change{Conversation: c.ID, Project: "b", From: "a", Kinds: driver.KindEdited},
		driver.Change{Conversation: c.ID, Project: "b", Kinds: driver.KindEdited})
	got, err := r.Log.ListChanges(r.t.Context(), 0, 1)
	r.ok(err)
	if got[0].Project != "a" || got[0].Now.In != "b" || got[0].Now.Title != "t" {
		r.t.Errorf("before it moved: %+v %+v", got[0], got[0].Now)
	}
}

// pages: changes are read from any number on, and a waiting reader is woken.
func pages(r *rig) {
	if o, n, err := r.Log.ReadChangeSpan(r.t.Context()); o != 0 || n != 0 || err != nil {
		r.t.Errorf("of nothing: %d to %d, %v", o, n, err)
	}
	for range 5 {
		r.create("a")
	}
	if o, n, err := r.Log.ReadChangeSpan(r.t.Context()); o != 1 || n != 5 || err != nil {
		r.t.Errorf("%d to %d, %v", o, n, err)
	}
	got, err := r.Log.ListChanges(r.t.Context(), 2, 2)
	if err != nil || len(got) != 2 || got[0].N != 3 || got[1].N != 4 {
		r.t.Errorf("two after the second: %+v, %v", got, err)
	}
	select {
	case <-r.Log.Committed():
	default:
		r.t.Error("nobody would be woken")
	}
}
