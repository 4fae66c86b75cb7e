package store_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
)

func text(role scrollback.Role, s string) store.IncomingMessage {
	return store.IncomingMessage{Message: scrollback.Message{Role: role,
		Parts: scrollback.Parts{scrollback.Text{Text: s}}}}
}

// Begin edits the conversation with the turn it opens, and a replay does not.
func TestBeginEdits(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		r := store.BeginRequest{Conversation: c.ID, Owner: "o", Idempotency: scrollback.Idempotency{Key: "k", Hash: "h"},
			Messages: []store.IncomingMessage{text(scrollback.RoleUser, "hello")},
			Edit:     func(c *scrollback.Conversation) { c.Title += "x"; c.Messages = 7 }}
		for replayed := range 2 {
			got, err := b.Turns.Begin(t.Context(), r)
			if err != nil || got.Replayed != (replayed == 1) || got.Head.Title != "x" || got.Head.Messages != 1 {
				t.Fatalf("title %q, %d messages, replayed %v, %v", got.Head.Title, got.Head.Messages, got.Replayed, err)
			}
		}
		if h := b.head(c.ID); h.Title != "x" || h.Version != c.Version+1 {
			t.Errorf("stored %+v", h.Conversation)
		}
	})
}

// Append goes onto the head that was seen, after the draft of a turn that was
// left open; such a turn replies with that draft.
func TestAppendTakesOver(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		begun := must2(b.Turns.Begin(t.Context(), store.BeginRequest{Conversation: c.ID, Owner: "o",
			Messages: []store.IncomingMessage{text(scrollback.RoleUser, "ask")}}))(t)
		if _, err := b.Turns.SaveDraft(t.Context(), begun.Turn, scrollback.Draft{Content: "half"}); err != nil {
			t.Fatal(err)
		}
		in := []store.IncomingMessage{text(scrollback.RoleUser, "imported")}
		seen := b.head(c.ID)
		_, err := b.AppendMessages(t.Context(), seen, in)
		wantCode(t, err, scrollback.Conflict, "")
		b.now += 2 * store.Lease.Milliseconds()
		older := seen
		older.Branch.HeadSeq = 0
		_, err = b.AppendMessages(t.Context(), older, in)
		wantCode(t, err, scrollback.Conflict, "the head is 1")
		got := must2(b.AppendMessages(t.Context(), seen, in))(t)
		if len(got.Messages) != 1 || got.Head.Messages != 3 {
			t.Fatalf("%v, head %d", texts(got.Messages), got.Head.Messages)
		}
		m := must2(b.ReadMessageAt(t.Context(), got.Head.Branch, 2))(t)
		if m.Parts.Text() != "half" || m.Status != scrollback.StatusInterrupted || m.TurnID != begun.Turn.ID {
			t.Errorf("salvaged %+v", m)
		}
		turn := must2(b.Turns.Get(t.Context(), begun.Turn.ID))(t)
		if turn.State != scrollback.TurnInterrupted || turn.Reply != m.ID {
			t.Errorf("turn %+v", turn)
		}
	})
}

// Whatever a part is, what goes back to the provider with it weighs.
func TestWeighOpaque(t *testing.T) {
	s := newBench(t, oracle.New())
	opaque := scrollback.Opaque(`"` + strings.Repeat("s", 100) + `"`)
	parts := scrollback.Parts{scrollback.Text{}, scrollback.Image{}, scrollback.File{}, scrollback.ToolCall{},
		scrollback.ToolResult{},
		scrollback.Reasoning{}}
	if len(parts) != len(scrollback.PartTypes()) {
		t.Fatal("a kind of part is missing here")
	}
	for _, p := range parts {
		light := s.WeighParts(scrollback.Parts{p}, nil)
		heavy := reflect.New(reflect.TypeOf(p)).Elem()
		heavy.FieldByName("Opaque").Set(reflect.ValueOf(opaque))
		got := s.WeighParts(scrollback.Parts{heavy.Interface().(scrollback.Part)}, nil)
		if want := light.Add(scrollback.Weight{Tokens: 34, Bytes: 102}); got != want {
			t.Errorf("%T weighs %+v, want %+v", p, got, want)
		}
	}
}

// Ready is nil while the database answers, and says why when it does not.
func TestReady(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.create()
		if err := b.CheckReady(t.Context()); err != nil {
			t.Error(err)
		}
		ended, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancel()
		wantCode(t, b.CheckReady(ended), scrollback.Unavailable, "")
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		wantCode(t, b.CheckReady(t.Context()), scrollback.Unavailable, "")
	})
}

// Only a branch that is not there is not found: a fault is a fault.
func TestPageFault(t *testing.T) {
	f := &drivertest.Faulty{At: -1}
	b := newBench(t, f.Wrap(oracle.New()))
	_, child, _, _ := family(b)
	parent := b.head(child.ID).Branch.Parent
	_, _, err := b.ReadPage(t.Context(), child.ID, scrollback.PageQuery{Branch: "unknown"})
	wantCode(t, err, scrollback.NotFound, "no branch")
	f.At = f.Calls() + 1 // after the head
	_, _, err = b.ReadPage(t.Context(), child.ID, scrollback.PageQuery{Branch: parent})
	wantCode(t, err, scrollback.Unavailable, "on purpose")
}

// The neighbours of a hit are cut to the length of its content, and only there.
func TestSearchClipsNeighbours(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		long := strings.Repeat("长", scrollback.HitContentMax-10)
		parts := scrollback.Parts{scrollback.Text{Text: long, Opaque: []byte(`1`)},
			scrollback.ToolCall{ID: "1", Name: "t", Arguments: []byte(`{}`)},
			scrollback.ToolResult{CallID: "1", Text: long}, scrollback.Reasoning{Text: long}, scrollback.Text{}}
		in := []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleAssistant, Parts: parts}},
			text(scrollback.RoleUser, "the needle"), {Message: scrollback.Message{Role: scrollback.RoleAssistant, Parts: parts}}}
		must2(b.AppendMessages(t.Context(), b.head(c.ID), in))(t)
		r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: "needle", Around: 1}))(t)
		if len(r.Hits) != 1 || len(r.Hits[0].Before) != 1 || len(r.Hits[0].After) != 1 {
			t.Fatalf("%d hits", len(r.Hits))
		}
		want := scrollback.Parts{parts[0], parts[1], scrollback.ToolResult{CallID: "1", Text: strings.Repeat("长", 10) + "…"},
			scrollback.Reasoning{Text: "…"}, parts[4]}
		for _, m := range []scrollback.Message{r.Hits[0].Before[0], r.Hits[0].After[0]} {
			if !reflect.DeepEqual(m.Parts, want) {
				t.Errorf("#%d has %d characters", m.Seq, utf8.RuneCountInString(m.Parts.Text()))
			}
			stored := must2(b.ReadMessageAt(t.Context(), b.head(c.ID).Branch, m.Seq))(t)
			if !reflect.DeepEqual(stored.Parts, parts) {
				t.Errorf("#%d is stored as %d characters", m.Seq, utf8.RuneCountInString(stored.Parts.Text()))
			}
		}
	})
}

// What is weighed and answered at once is what is read later, also where a payload
// comes with space between its tokens, or not at all.
func TestAppendCompacts(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		raw := json.RawMessage("{ \"a\": [1.50,\n 2], \"z\": \"a  <b>\" }")
		call := func(arguments json.RawMessage) store.IncomingMessage {
			return store.IncomingMessage{Message: scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Parts{
				scrollback.Text{Text: "x", Opaque: raw}, scrollback.Reasoning{Text: "x", Opaque: raw},
				scrollback.Image{Opaque: raw},
				scrollback.File{Opaque: raw},
				scrollback.ToolCall{ID: "c", Name: "t", Arguments: arguments, Opaque: raw},
				scrollback.ToolResult{CallID: "c", Opaque: raw}}}}
		}
		out := must2(b.AppendMessages(t.Context(), b.head(c.ID), []store.IncomingMessage{call(raw), call(nil)}))(t)
		read := must2(b.ReadMessages(t.Context(), c.Branch, 1, 2))(t)
		for i, m := range read {
			if !reflect.DeepEqual(m.Parts, out.Messages[i].Parts) {
				t.Errorf("answered %+v, read %+v", out.Messages[i].Parts, m.Parts)
			}
			if want := b.WeighParts(m.Parts, nil); m.Weight != want {
				t.Errorf("weighs %+v, what is read weighs %+v", m.Weight, want)
			}
		}
	})
}

// A turn and a piece of background work are held for as long as the options say, a minute at
// the most.
func TestLease(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{0: store.Lease, 2 * time.Second: 2 * time.Second,
		time.Hour: time.Minute} {
		var now atomic.Int64
		now.Store(1_700_000_000_000)
		s, err := store.New(oracle.New(), runes, &store.Options{Lease: lease, ReadOnly: true,
			Now: func() time.Time { return time.UnixMilli(now.Load()) }})
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := s.CreateConversation(t.Context(), scrollback.Conversation{})
		if err != nil {
			t.Fatal(err)
		}
		begun := must2(s.Turns.Begin(t.Context(), store.BeginRequest{Conversation: c.ID, Owner: "o",
			Messages: []store.IncomingMessage{text(scrollback.RoleUser, "ask")}}))(t)
		if got := begun.Turn.LeaseUntil - now.Load(); got != want.Milliseconds() {
			t.Errorf("with %v a turn is held for %d ms", lease, got)
		}
		mine := must2(s.Claims.ClaimWork(t.Context(), c.ID, "work"))(t)
		now.Add(want.Milliseconds() - 1)
		if other := must2(s.Claims.ClaimWork(t.Context(), c.ID, "work"))(t); other != nil {
			t.Errorf("with %v work is not held for %v", lease, want)
			other.Release()
		}
		now.Add(1)
		other := must2(s.Claims.ClaimWork(t.Context(), c.ID, "work"))(t)
		if other == nil {
			t.Errorf("with %v work is held for more than %v", lease, want)
		}
		other.Release()
		mine.Release()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A turn beside others begins behind the place that is named, with the ids that it was given, and what is pinned
// behind it does not stay so.
func TestBeginBeside(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		h := must2(b.AppendMessages(t.Context(), b.head(c.ID), []store.IncomingMessage{text(scrollback.RoleUser, "one"),
			text(scrollback.RoleAssistant, "two"), text(scrollback.RoleUser, "three")}))(t).Head
		held := must2(b.Turns.Begin(t.Context(), store.BeginRequest{Conversation: c.ID, Owner: "o",
			Messages: []store.IncomingMessage{text(scrollback.RoleUser, "four")},
			Edit:     func(c *scrollback.Conversation) { c.PinnedSeqs = []int64{1, 3} }}))(t)
		said := text(scrollback.RoleUser, "instead")
		said.ID = "01890000-0000-7000-8000-000000000001"
		got := must2(b.Turns.Begin(t.Context(), store.BeginRequest{Conversation: c.ID, Owner: "p",
			Turn: "01890000-0000-7000-8000-000000000002", At: &store.Place{Branch: h.Branch.ID, Seq: 2},
			IfHead: &scrollback.Branch{ID: "another"}, Messages: []store.IncomingMessage{said},
			Edit: func(c *scrollback.Conversation) { c.Title = "beside" }}))(t)
		if got.Turn.ID != "01890000-0000-7000-8000-000000000002" || got.Messages[0].ID != said.ID || got.Turn.Seq != 3 ||
			got.Head.Branch.Parent != h.Branch.ID || got.Turn.UserMessage != said.ID {
			t.Errorf("it began as %+v", got)
		}
		if pins := got.Head.PinnedSeqs; len(pins) != 1 || pins[0] != 1 || got.Head.Title != "beside" {
			t.Errorf("pinned is %v in %q", pins, got.Head.Title)
		}
		done := must2(b.Turns.FinishStep(t.Context(), store.FinishRequest{Turn: held.Turn, State: scrollback.TurnComplete,
			Messages: []store.IncomingMessage{text(scrollback.RoleAssistant, "five")}}))(t)
		if done.Head.Branch.ID != h.Branch.ID || done.Messages[0].Seq != 5 || b.head(c.ID).Branch.ID != got.Turn.Branch {
			t.Errorf("the turn that held it ended on %+v", done.Head.Branch)
		}
		_, err := b.Turns.Begin(t.Context(), store.BeginRequest{Conversation: c.ID, Owner: "p",
			At: &store.Place{Branch: h.Branch.ID, Seq: 9}})
		wantCode(t, err, scrollback.Invalid, "9")
	})
}
