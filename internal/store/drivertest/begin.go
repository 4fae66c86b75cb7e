package drivertest

import (
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// trash puts a conversation into the trash.
func (w *bench) trash(id scrollback.ConversationID) {
	w.t.Helper()
	_, err := w.Log.PatchConversation(w.ctx, id, w.tick(), func(c *scrollback.Conversation) error {
		c.DeletedAt = w.now
		return nil
	})
	w.ok(err)
}

// testBegin: one call appends, opens the turn and returns all that the window needs.
func testBegin(w *bench) {
	c := w.conversation()
	before := w.head(c.ID)
	var turn scrollback.Turn
	got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Turn.State = ""
		b.Turn.Seq = 99
		b.Turn.Branch = "not the caller's"
		b.Turn.Idempotency = scrollback.Idempotency{Key: "k", Hash: "h"}
		b.Turn.Window = &scrollback.WindowMark{Items: 1, Tokens: 2, Hash: "w",
			Layers: []scrollback.LayerMark{{Items: 1, Tokens: 2, Hash: "l"}}}
		b.Admit = func(last *scrollback.Turn) error {
			if last != nil {
				w.t.Errorf("the first turn met %+v", last)
			}
			return nil
		}
		turn = b.Turn
	}, w.entry(scrollback.RoleUser, "one"), w.entry(scrollback.RoleUser, "two"))
	w.ok(err)
	turn.State = scrollback.TurnOpen
	turn.Seq = 2
	turn.LastSeq = 2
	turn.Branch = c.Branch
	same(w.t, "turn", turn, got.Turn)
	same(w.t, "stored turn", turn, w.turn(turn.ID))
	last, err := w.Turns.GetLast(w.ctx, c.ID)
	w.ok(err)
	same(w.t, "last turn", turn, last)
	same(w.t, "head", w.wrote(before), got.Head)
	same(w.t, "messages", w.messages(c.Branch, 1, 9), got.Messages)
	if len(got.Messages) != 2 || got.Previous != nil || got.Replayed {
		w.t.Fatalf("%d messages, previous %v, replayed %v", len(got.Messages), got.Previous, got.Replayed)
	}
	w.finish(got.Turn, scrollback.TurnWaiting, w.entry(scrollback.RoleAssistant, ""))

	before = w.head(c.ID)
	first := w.turn(turn.ID)
	next := w.begin(c.ID) // as a retry does: no message
	w.wrote(before)
	if len(next.Messages) != 0 || next.Turn.Seq != 3 {
		w.t.Fatalf("a turn without entries: %d messages, seq %d", len(next.Messages), next.Turn.Seq)
	}
	same(w.t, "previous", first, settled(*next.Previous))
	same(w.t, "the older turn", first, w.turn(first.ID))
}

// testBeginRefused: a trashed conversation is not there, until it is restored.
func testBeginRefused(w *bench) {
	c := w.conversation()
	w.trash(c.ID)
	w.unchanged(func() {
		_, err := w.tryBegin(c.ID, nil, w.entry(scrollback.RoleUser, "lost"))
		w.code(err, scrollback.NotFound)
	})
	_, err := w.Log.PatchConversation(w.ctx, c.ID, w.tick(), func(c *scrollback.Conversation) error {
		c.DeletedAt = 0
		return nil
	})
	w.ok(err)
	w.begin(c.ID, w.entry(scrollback.RoleUser, ""))
}

// testBeginOneOpenTurn: an open turn keeps others out, any other state does not.
func testBeginOneOpenTurn(w *bench) {
	c := w.conversation()
	other := w.conversation()
	for _, state := range []scrollback.TurnState{scrollback.TurnWaiting, scrollback.TurnComplete,
		scrollback.TurnInterrupted, scrollback.TurnFailed, scrollback.TurnOverBudget} {
		begun := w.begin(c.ID, w.entry(scrollback.RoleUser, ""))
		for range 2 { // the second time after a step
			w.unchanged(func() {
				admitted := false
				_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
					b.Admit = func(*scrollback.Turn) error { admitted = true; return nil }
					b.Salvage = func(scrollback.Turn) []driver.Entry { admitted = true; return nil }
				}, w.entry(scrollback.RoleUser, ""))
				w.code(err, scrollback.Conflict)
				if admitted {
					w.t.Error("Admit or Salvage was asked about a held conversation")
				}
			})
			w.finish(begun.Turn, scrollback.TurnOpen)
		}
		free := w.begin(other.ID)
		w.finish(free.Turn, scrollback.TurnComplete)
		w.finish(begun.Turn, state)
	}
	w.begin(c.ID)
}

// testBeginAdmit: the newest turn is judged, and a no leaves nothing behind.
func testBeginAdmit(w *bench) {
	c := w.conversation()
	w.finish(w.begin(c.ID).Turn, scrollback.TurnFailed)
	w.finish(w.begin(c.ID).Turn, scrollback.TurnComplete, w.entry(scrollback.RoleAssistant, ""))
	last, err := w.Turns.GetLast(w.ctx, c.ID)
	w.ok(err)
	no := errors.New("no")
	w.unchanged(func() {
		_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			b.Turn.Idempotency = scrollback.Idempotency{Key: "k", Hash: "h"}
			b.Admit = func(t *scrollback.Turn) error {
				same(w.t, "judged", settled(last), settled(*t))
				t.Reply = "changed"
				t.FinishReason = "changed"
				return no
			}
		}, w.entry(scrollback.RoleUser, "unwritten"))
		if !errors.Is(err, no) {
			w.t.Fatalf("error %v, want Admit's own", err)
		}
	})
	w.finds([]string{"unwritten"})
	got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) { // the key was not used up
		b.Turn.Idempotency = scrollback.Idempotency{Key: "k", Hash: "another"}
		b.Admit = func(t *scrollback.Turn) error {
			t.Reply = "changed"
			t.State = "changed"
			return nil
		}
	})
	w.ok(err)
	if got.Previous.ID != last.ID {
		w.t.Fatalf("previous turn %s, want %s", got.Previous.ID, last.ID)
	}
	same(w.t, "stored", settled(last), w.turn(last.ID))
}

// testBeginEdit: own fields change with the turn; what the log decides does not.
func testBeginEdit(w *bench) {
	parent := w.conversation()
	w.say(parent.ID, 1)
	c := w.fork(parent, 1)
	before := w.head(c.ID)
	admitted := false
	got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Admit = func(*scrollback.Turn) error { admitted = true; return nil }
		b.Edit = func(c *scrollback.Conversation) {
			if !admitted {
				w.t.Error("edited before it was admitted")
			}
			same(w.t, "edited", before.Conversation, *c)
			c.Title = "new"
			c.Model = "other"
			c.Project = "p"
			c.Roots = []string{"/r"}
			c.Settings.Pinned = true
			c.Parent.Seq = 99
			c.ID = "x"
			c.Branch = "y"
			c.Messages = 99
			c.Version = 99
			c.Parent = &scrollback.ParentRef{ID: "z"}
			c.CreatedAt = 1
			c.UpdatedAt = 1
			c.DeletedAt = 1
		}
	}, w.entry(scrollback.RoleUser, ""))
	w.ok(err)
	want := before.Conversation
	want.Title = "new"
	want.Model = "other"
	want.Project = "p"
	want.Roots = []string{"/r"}
	want.Settings.Pinned = true
	want.Messages = 2
	want.Version = before.Version + 1
	want.UpdatedAt = w.now
	same(w.t, "answered", want, got.Head.Conversation)
	same(w.t, "stored", got.Head, w.wrote(before))
	same(w.t, "previous", (*scrollback.Turn)(nil), got.Previous)
	w.finish(got.Turn, scrollback.TurnComplete)
	w.begin(c.ID)
	same(w.t, "later", "new", w.head(c.ID).Title)
	Check(w.t, w.Driver)
}

// testBeginEditUncalled: a replay, a conflict and a refusal edit nothing.
func testBeginEditUncalled(w *bench) {
	c := w.conversation()
	edit := func(c *scrollback.Conversation) { w.t.Error("edited"); c.Title = "edited" }
	k := scrollback.Idempotency{Key: "k", Hash: "h"}
	first, err := keyed(w, c.ID, k, nil)
	w.ok(err)
	no := errors.New("no")
	try := func(want scrollback.Code, more func(*driver.BeginRequest)) {
		w.t.Helper()
		w.unchanged(func() {
			_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
				b.Edit = edit
				more(b)
			})
			if scrollback.CodeOf(err) != want && !errors.Is(err, no) {
				w.t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	try("", func(b *driver.BeginRequest) { b.Turn.Idempotency = k })
	try(scrollback.Conflict, func(b *driver.BeginRequest) {
		b.Turn.Idempotency = scrollback.Idempotency{Key: "k", Hash: "other"}
	})
	try(scrollback.Conflict, func(*driver.BeginRequest) {})
	w.finish(first.Turn, scrollback.TurnComplete)
	try(scrollback.Internal, func(b *driver.BeginRequest) { b.Admit = func(*scrollback.Turn) error { return no } })
	w.trash(c.ID)
	try(scrollback.NotFound, func(*driver.BeginRequest) {})
}

// keyed opens a turn under an idempotency key.
func keyed(w *bench, id scrollback.ConversationID, k scrollback.Idempotency,
	edit func(*driver.BeginRequest)) (driver.BeginResult, error) {
	return w.tryBegin(id, func(b *driver.BeginRequest) {
		b.Turn.Idempotency = k
		b.KeysSince = w.now - 1000
		if edit != nil {
			edit(b)
		}
	}, w.entry(scrollback.RoleUser, "keyed"))
}

// replays sends a request again and wants the turn as it is now, and no write.
func replays(w *bench, id scrollback.ConversationID, k scrollback.Idempotency, turn scrollback.TurnID) {
	w.t.Helper()
	w.unchanged(func() {
		got, err := keyed(w, id, k, func(b *driver.BeginRequest) {
			b.Admit = func(*scrollback.Turn) error { w.t.Error("Admit was asked about a replay"); return nil }
			b.Salvage = func(scrollback.Turn) []driver.Entry { w.t.Error("a replay salvages"); return nil }
		})
		w.ok(err)
		if !got.Replayed || len(got.Messages) != 0 {
			w.t.Fatalf("replayed %v with %d messages", got.Replayed, len(got.Messages))
		}
		same(w.t, "turn", w.turn(turn), settled(got.Turn))
		same(w.t, "head", w.head(id), got.Head)
	})
}

// testIdempotency: the same request returns its turn, whatever became of it.
func testIdempotency(w *bench) {
	c := w.conversation()
	k := scrollback.Idempotency{Key: "k", Hash: "h"}
	first, err := keyed(w, c.ID, k, nil)
	w.ok(err)
	if first.Replayed {
		w.t.Fatal("the first request was taken for a replay")
	}
	replays(w, c.ID, k, first.Turn.ID) // while it is open
	w.finish(first.Turn, scrollback.TurnComplete, w.entry(scrollback.RoleAssistant, ""))
	replays(w, c.ID, k, first.Turn.ID)
	second := w.begin(c.ID, w.entry(scrollback.RoleUser, ""))
	replays(w, c.ID, k, first.Turn.ID) // while another turn is open
	w.finish(second.Turn, scrollback.TurnComplete)
	replays(w, c.ID, k, first.Turn.ID)
	w.trash(c.ID)
	replays(w, c.ID, k, first.Turn.ID) // the key is looked at first
}

// testIdempotencyConflict: the same key with another request.
func testIdempotencyConflict(w *bench) {
	c := w.conversation()
	first, err := keyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"}, nil)
	w.ok(err)
	again := func() {
		w.unchanged(func() {
			_, err := keyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "other"}, nil)
			w.code(err, scrollback.Conflict)
		})
	}
	again()
	w.finish(first.Turn, scrollback.TurnComplete)
	again()
}

// testIdempotencyExpires: a key from before KeysSince is free again, and the
// newest turn under it counts.
func testIdempotencyExpires(w *bench) {
	c := w.conversation()
	first, err := keyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"}, nil)
	w.ok(err)
	w.finish(first.Turn, scrollback.TurnComplete)
	since := func(at int64) func(*driver.BeginRequest) {
		return func(b *driver.BeginRequest) { b.KeysSince = at }
	}
	got, err := keyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"}, since(first.Turn.StartedAt))
	w.ok(err)
	if !got.Replayed {
		w.t.Fatal("a key seen at KeysSince was not known")
	}
	second, err := keyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "new"}, since(first.Turn.StartedAt+1))
	w.ok(err)
	if second.Replayed || second.Turn.ID == first.Turn.ID {
		w.t.Fatal("an old key was replayed")
	}
	replays(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "new"}, second.Turn.ID)
	_, err = keyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"}, nil)
	w.code(err, scrollback.Conflict)
}

// testIdempotencyScope: keys belong to a conversation; an empty key is none.
func testIdempotencyScope(w *bench) {
	a := w.conversation()
	b := w.conversation()
	k := scrollback.Idempotency{Key: "k", Hash: "h"}
	first, err := keyed(w, a.ID, k, nil)
	w.ok(err)
	got, err := keyed(w, b.ID, k, nil)
	w.ok(err)
	if got.Replayed {
		w.t.Fatal("another conversation's key was replayed")
	}
	w.finish(first.Turn, scrollback.TurnComplete)
	for range 2 {
		got, err := keyed(w, a.ID, scrollback.Idempotency{Hash: "h"}, nil)
		w.ok(err)
		if got.Replayed {
			w.t.Fatal("replayed without a key")
		}
		w.finish(got.Turn, scrollback.TurnComplete)
	}
}
