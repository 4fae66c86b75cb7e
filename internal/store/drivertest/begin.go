package drivertest

import (
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// moveToTrash puts a conversation into the trash.
func (w *harness) moveToTrash(id scrollback.ConversationID) {
	w.t.Helper()
	_, err := w.Log.PatchConversation(w.ctx, id, w.advanceClock(), func(c *scrollback.Conversation) error {
		c.DeletedAt = w.now
		return nil
	})
	w.wantOK(err)
}

// testBegin: one call appends, opens the turn and returns all that the window needs.
func testBegin(w *harness) {
	c := w.addConversation()
	before := w.readHead(c.ID)
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
	}, w.makeEntry(scrollback.RoleUser, "one"), w.makeEntry(scrollback.RoleUser, "two"))
	w.wantOK(err)
	turn.State = scrollback.TurnOpen
	turn.Seq = 2
	turn.LastSeq = 2
	turn.Branch = c.Branch
	wantSame(w.t, "turn", turn, got.Turn)
	wantSame(w.t, "stored turn", turn, w.readTurn(turn.ID))
	last, err := w.Turns.GetLast(w.ctx, c.ID)
	w.wantOK(err)
	wantSame(w.t, "last turn", turn, last)
	wantSame(w.t, "head", w.wantOneWrite(before), got.Head)
	wantSame(w.t, "messages", w.readMessages(c.Branch, 1, 9), got.Messages)
	if len(got.Messages) != 2 || got.Previous != nil || got.Replayed {
		w.t.Fatalf("%d messages, previous %v, replayed %v", len(got.Messages), got.Previous, got.Replayed)
	}
	w.finishTurn(got.Turn, scrollback.TurnWaiting, w.makeEntry(scrollback.RoleAssistant, ""))

	before = w.readHead(c.ID)
	first := w.readTurn(turn.ID)
	next := w.beginTurn(c.ID) // as a retry does: no message
	w.wantOneWrite(before)
	if len(next.Messages) != 0 || next.Turn.Seq != 3 {
		w.t.Fatalf("a turn without entries: %d messages, seq %d", len(next.Messages), next.Turn.Seq)
	}
	wantSame(w.t, "previous", first, withoutLease(*next.Previous))
	wantSame(w.t, "the older turn", first, w.readTurn(first.ID))
}

// testBeginRefused: a trashed conversation is not there, until it is restored.
func testBeginRefused(w *harness) {
	c := w.addConversation()
	w.moveToTrash(c.ID)
	w.wantUnchanged(func() {
		_, err := w.tryBegin(c.ID, nil, w.makeEntry(scrollback.RoleUser, "lost"))
		w.wantCode(err, scrollback.NotFound)
	})
	_, err := w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(), func(c *scrollback.Conversation) error {
		c.DeletedAt = 0
		return nil
	})
	w.wantOK(err)
	w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, ""))
}

// testBeginOneOpenTurn: an open turn keeps others out, any other state does not.
func testBeginOneOpenTurn(w *harness) {
	c := w.addConversation()
	other := w.addConversation()
	for _, state := range []scrollback.TurnState{scrollback.TurnWaiting, scrollback.TurnComplete,
		scrollback.TurnInterrupted, scrollback.TurnFailed, scrollback.TurnOverBudget} {
		begun := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, ""))
		for range 2 { // the second time after a step
			w.wantUnchanged(func() {
				admitted := false
				_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
					b.Admit = func(*scrollback.Turn) error { admitted = true; return nil }
					b.Salvage = func(scrollback.Turn) []driver.Entry { admitted = true; return nil }
				}, w.makeEntry(scrollback.RoleUser, ""))
				w.wantCode(err, scrollback.Conflict)
				if admitted {
					w.t.Error("Admit or Salvage was asked about a held conversation")
				}
			})
			w.finishTurn(begun.Turn, scrollback.TurnOpen)
		}
		free := w.beginTurn(other.ID)
		w.finishTurn(free.Turn, scrollback.TurnComplete)
		w.finishTurn(begun.Turn, state)
	}
	w.beginTurn(c.ID)
}

// testBeginAdmit: the newest turn is judged, and a no leaves nothing behind.
func testBeginAdmit(w *harness) {
	c := w.addConversation()
	w.finishTurn(w.beginTurn(c.ID).Turn, scrollback.TurnFailed)
	w.finishTurn(w.beginTurn(c.ID).Turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, ""))
	last, err := w.Turns.GetLast(w.ctx, c.ID)
	w.wantOK(err)
	no := errors.New("no")
	w.wantUnchanged(func() {
		_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
			b.Turn.Idempotency = scrollback.Idempotency{Key: "k", Hash: "h"}
			b.Admit = func(t *scrollback.Turn) error {
				wantSame(w.t, "judged", withoutLease(last), withoutLease(*t))
				t.Reply = "changed"
				t.FinishReason = "changed"
				return no
			}
		}, w.makeEntry(scrollback.RoleUser, "unwritten"))
		if !errors.Is(err, no) {
			w.t.Fatalf("error %v, want Admit's own", err)
		}
	})
	w.wantFound([]string{"unwritten"})
	got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) { // the key was not used up
		b.Turn.Idempotency = scrollback.Idempotency{Key: "k", Hash: "another"}
		b.Admit = func(t *scrollback.Turn) error {
			t.Reply = "changed"
			t.State = "changed"
			return nil
		}
	})
	w.wantOK(err)
	if got.Previous.ID != last.ID {
		w.t.Fatalf("previous turn %s, want %s", got.Previous.ID, last.ID)
	}
	wantSame(w.t, "stored", withoutLease(last), w.readTurn(last.ID))
}

// testBeginEdit: own fields change with the turn; what the log decides does not.
func testBeginEdit(w *harness) {
	parent := w.addConversation()
	w.appendMessages(parent.ID, 1)
	c := w.addFork(parent, 1)
	before := w.readHead(c.ID)
	admitted := false
	got, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Admit = func(*scrollback.Turn) error { admitted = true; return nil }
		b.Edit = func(c *scrollback.Conversation) {
			if !admitted {
				w.t.Error("edited before it was admitted")
			}
			wantSame(w.t, "edited", before.Conversation, *c)
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
	}, w.makeEntry(scrollback.RoleUser, ""))
	w.wantOK(err)
	want := before.Conversation
	want.Title = "new"
	want.Model = "other"
	want.Project = "p"
	want.Roots = []string{"/r"}
	want.Settings.Pinned = true
	want.Messages = 2
	want.Version = before.Version + 1
	want.UpdatedAt = w.now
	wantSame(w.t, "answered", want, got.Head.Conversation)
	wantSame(w.t, "stored", got.Head, w.wantOneWrite(before))
	wantSame(w.t, "previous", (*scrollback.Turn)(nil), got.Previous)
	w.finishTurn(got.Turn, scrollback.TurnComplete)
	w.beginTurn(c.ID)
	wantSame(w.t, "later", "new", w.readHead(c.ID).Title)
	CheckInvariants(w.t, w.Driver)
}

// testBeginEditUncalled: a replay, a conflict and a refusal edit nothing.
func testBeginEditUncalled(w *harness) {
	c := w.addConversation()
	edit := func(c *scrollback.Conversation) { w.t.Error("edited"); c.Title = "edited" }
	k := scrollback.Idempotency{Key: "k", Hash: "h"}
	first, err := beginKeyed(w, c.ID, k, nil)
	w.wantOK(err)
	no := errors.New("no")
	try := func(want scrollback.Code, more func(*driver.BeginRequest)) {
		w.t.Helper()
		w.wantUnchanged(func() {
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
	w.finishTurn(first.Turn, scrollback.TurnComplete)
	try(scrollback.Internal, func(b *driver.BeginRequest) { b.Admit = func(*scrollback.Turn) error { return no } })
	w.moveToTrash(c.ID)
	try(scrollback.NotFound, func(*driver.BeginRequest) {})
}

// beginKeyed opens a turn under an idempotency key.
func beginKeyed(w *harness, id scrollback.ConversationID, k scrollback.Idempotency,
	edit func(*driver.BeginRequest)) (driver.BeginResult, error) {
	return w.tryBegin(id, func(b *driver.BeginRequest) {
		b.Turn.Idempotency = k
		b.KeysSince = w.now - 1000
		if edit != nil {
			edit(b)
		}
	}, w.makeEntry(scrollback.RoleUser, "keyed"))
}

// wantReplay sends a request again and wants the turn as it is now, and no write.
func wantReplay(w *harness, id scrollback.ConversationID, k scrollback.Idempotency, turn scrollback.TurnID) {
	w.t.Helper()
	w.wantUnchanged(func() {
		got, err := beginKeyed(w, id, k, func(b *driver.BeginRequest) {
			b.Admit = func(*scrollback.Turn) error { w.t.Error("Admit was asked about a replay"); return nil }
			b.Salvage = func(scrollback.Turn) []driver.Entry { w.t.Error("a replay salvages"); return nil }
		})
		w.wantOK(err)
		if !got.Replayed || len(got.Messages) != 0 {
			w.t.Fatalf("replayed %v with %d messages", got.Replayed, len(got.Messages))
		}
		wantSame(w.t, "turn", w.readTurn(turn), withoutLease(got.Turn))
		wantSame(w.t, "head", w.readHead(id), got.Head)
	})
}

// testIdempotency: the same request returns its turn, whatever became of it.
func testIdempotency(w *harness) {
	c := w.addConversation()
	k := scrollback.Idempotency{Key: "k", Hash: "h"}
	first, err := beginKeyed(w, c.ID, k, nil)
	w.wantOK(err)
	if first.Replayed {
		w.t.Fatal("the first request was taken for a replay")
	}
	wantReplay(w, c.ID, k, first.Turn.ID) // while it is open
	w.finishTurn(first.Turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, ""))
	wantReplay(w, c.ID, k, first.Turn.ID)
	second := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, ""))
	wantReplay(w, c.ID, k, first.Turn.ID) // while another turn is open
	w.finishTurn(second.Turn, scrollback.TurnComplete)
	wantReplay(w, c.ID, k, first.Turn.ID)
	w.moveToTrash(c.ID)
	wantReplay(w, c.ID, k, first.Turn.ID) // the key is looked at first
}

// testIdempotencyConflict: the same key with another request.
func testIdempotencyConflict(w *harness) {
	c := w.addConversation()
	first, err := beginKeyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"}, nil)
	w.wantOK(err)
	again := func() {
		w.wantUnchanged(func() {
			_, err := beginKeyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "other"}, nil)
			w.wantCode(err, scrollback.Conflict)
		})
	}
	again()
	w.finishTurn(first.Turn, scrollback.TurnComplete)
	again()
}

// testIdempotencyExpires: a key from before KeysSince is free again, and the
// newest turn under it counts.
func testIdempotencyExpires(w *harness) {
	c := w.addConversation()
	first, err := beginKeyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"}, nil)
	w.wantOK(err)
	w.finishTurn(first.Turn, scrollback.TurnComplete)
	since := func(at int64) func(*driver.BeginRequest) {
		return func(b *driver.BeginRequest) { b.KeysSince = at }
	}
	got, err := beginKeyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"}, since(first.Turn.StartedAt))
	w.wantOK(err)
	if !got.Replayed {
		w.t.Fatal("a key seen at KeysSince was not known")
	}
	second, err := beginKeyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "new"}, since(first.Turn.StartedAt+1))
	w.wantOK(err)
	if second.Replayed || second.Turn.ID == first.Turn.ID {
		w.t.Fatal("an old key was replayed")
	}
	wantReplay(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "new"}, second.Turn.ID)
	_, err = beginKeyed(w, c.ID, scrollback.Idempotency{Key: "k", Hash: "h"}, nil)
	w.wantCode(err, scrollback.Conflict)
}

// testIdempotencyScope: keys belong to a conversation; an empty key is none.
func testIdempotencyScope(w *harness) {
	a := w.addConversation()
	b := w.addConversation()
	k := scrollback.Idempotency{Key: "k", Hash: "h"}
	first, err := beginKeyed(w, a.ID, k, nil)
	w.wantOK(err)
	got, err := beginKeyed(w, b.ID, k, nil)
	w.wantOK(err)
	if got.Replayed {
		w.t.Fatal("another conversation's key was replayed")
	}
	w.finishTurn(first.Turn, scrollback.TurnComplete)
	for range 2 {
		got, err := beginKeyed(w, a.ID, scrollback.Idempotency{Hash: "h"}, nil)
		w.wantOK(err)
		if got.Replayed {
			w.t.Fatal("replayed without a key")
		}
		w.finishTurn(got.Turn, scrollback.TurnComplete)
	}
}
