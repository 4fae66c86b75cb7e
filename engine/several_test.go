package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// servers returns engines over one database, with one clock.
func servers(t *testing.T, n int, o enginetest.Options, steps ...modeltest.Step) []*enginetest.Rig {
	if o.Driver == nil {
		o.Driver = oracle.New()
	}
	if o.SaveEvery == 0 {
		o.SaveEvery = time.Millisecond
	}
	var out []*enginetest.Rig
	for range n {
		out = append(out, enginetest.New(t, o, steps...))
		o.Clock = out[0].Clock
	}
	return out
}

// client takes events as they come, as simply as a client can: a snapshot
// replaces the text of the step, and a piece is added to it.
type client struct {
	t    *testing.T
	n    int
	text string
	done *scrollback.DoneEvent
}

// on continues reading at a server, at most n events.
func (c *client) on(r *enginetest.Rig, id scrollback.ConversationID, turn scrollback.TurnID, most int) {
	c.t.Helper()
	for ev, err := range r.Turns().Attach(context.Background(), id, turn, c.n) {
		if err != nil {
			c.t.Fatal(err)
		}
		if c.take(ev); c.done != nil {
			return
		}
		if most--; most == 0 {
			return
		}
	}
}

func (c *client) take(ev engine.SequencedEvent) {
	c.n = ev.N
	switch ev := ev.Event.(type) {
	case scrollback.SnapshotEvent:
		c.text = ev.Content
	case scrollback.DeltaEvent:
		if ev.At != len([]rune(c.text)) {
			c.t.Errorf("a piece for %d comes at %d, after %q", ev.At, len([]rune(c.text)), c.text)
		}
		c.text += ev.Content
	case scrollback.DoneEvent:
		c.done = &ev
	}
}

// A client that reads on at another server, and goes from one to the next and back, has the
// whole answer in the end and nothing twice, wherever the turn runs.
func TestReadingOnElsewhere(t *testing.T) {
	var pieces []string
	for i := range 60 {
		pieces = append(pieces, fmt.Sprintf("第%d piece, ", i))
	}
	for seed := range uint64(3) {
		say := modeltest.Say(pieces...)
		gate := make(chan struct{})
		say.Gate = gate
		rs := servers(t, 3, enginetest.Options{NoFolds: true}, say)
		id := rs[0].NewConversation()
		turn, _, err := rs[0].Begin(context.Background(), engine.TurnRequest{Conversation: id, Message: enginetest.Say("q")})
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(seed, 1))
		c := &client{t: t}
		for i := range 60 {
			gate <- struct{}{}
			if i%9 == int(seed) {
				c.on(rs[random.IntN(3)], id, turn, 2+random.IntN(2))
			}
		}
		close(gate)
		c.on(rs[random.IntN(3)], id, turn, 0)
		if want := strings.Join(pieces, ""); c.text != want || c.done.Status != scrollback.TurnComplete {
			t.Errorf("seed %d: the client has %q, %+v", seed, c.text, c.done)
		}
		for _, r := range rs { // a reader that has all of it comes again
			if seen, err := r.Turns().IsLastEvent(context.Background(), id, turn, c.n); err != nil ||
				!seen && c.n > engine.Stored {
				t.Errorf("seed %d: %d is not the end, %v", seed, c.n, err)
			}
		}
	}
}

// A turn whose server died is closed for its next reader once its lease has ended: what was
// said is kept once, and the server that wakes up after that writes nothing any more.
func TestTakenOverForAReader(t *testing.T) {
	ctx := context.Background()
	rs := servers(t, 2, enginetest.Options{NoFolds: true}, modeltest.Say("and on"))
	dead := rs[0]
	alive := rs[1]
	id := dead.NewConversation()
	begun, err := dead.Store.Turns.Begin(ctx, store.BeginRequest{Conversation: id, Owner: "dead",
		Messages: []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleUser,
			Parts: enginetest.Say("q")}}}})
	if err != nil {
		t.Fatal(err)
	}
	draft := scrollback.Draft{Content: "half of an ans", Model: "script"}
	if _, err := dead.Store.Turns.SaveDraft(ctx, begun.Turn, draft); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	c.on(alive, id, begun.Turn.ID, 2)
	if c.text != draft.Content || c.done != nil {
		t.Fatalf("the client has %q, %+v", c.text, c.done)
	}
	if open, err := alive.Store.Turns.TakeOver(ctx, begun.Turn.ID); err != nil || open.State != scrollback.TurnOpen {
		t.Fatalf("a turn that is held: %+v, %v", open, err)
	}
	dead.Clock.Add(store.Lease.Milliseconds() + 1)
	for range 2 {
		c.on(alive, id, begun.Turn.ID, 0)
		if c.text != draft.Content || c.done == nil || c.done.Status != scrollback.TurnInterrupted {
			t.Fatalf("the client has %q, %+v", c.text, c.done)
		}
		c.done = nil
	}
	stored, err := alive.Store.Turns.Get(ctx, begun.Turn.ID)
	if err != nil || stored.State != scrollback.TurnInterrupted || stored.EndedAt == 0 {
		t.Errorf("the turn is stored as %+v, %v", stored, err)
	}
	_, err = dead.Store.Turns.SaveDraft(ctx, begun.Turn, scrollback.Draft{Content: "half of an answer"})
	if !errors.Is(err, scrollback.ErrLostLease) {
		t.Errorf("its old server may save: %v", err)
	}
	_, err = dead.Store.Turns.FinishStep(ctx, store.FinishRequest{Turn: begun.Turn, State: scrollback.TurnComplete,
		Messages: []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleAssistant,
			Parts: enginetest.Say("half of an answer")}}}})
	if !errors.Is(err, scrollback.ErrLostLease) {
		t.Errorf("its old server may finish: %v", err)
	}
	alive.WantOutline(id, "u:q", "a(interrupted):half of an ans")
	alive.Ask(id, "go on").WantDone(t, scrollback.TurnComplete, "stop")
	alive.WantOutline(id, "u:q", "a(interrupted):half of an ans", "u:go on", "a:and on")
}

// What another server is asked to do to a conversation whose turn runs here happens, or is
// refused, as if it were asked here.
func TestAskedElsewhere(t *testing.T) {
	ctx := context.Background()
	say, gate := gated("one ", "two ", "three")
	rs := servers(t, 2, enginetest.Options{NoFolds: true}, say)
	here := rs[0]
	there := rs[1]
	id := here.NewConversation()
	turn := started(here, id, gate)
	first := int64(0)
	_, err := there.Branches().Rewind(ctx, id, engine.Point{Seq: &first})
	enginetest.WantCode(t, err, scrollback.Conflict, "")
	_, err = there.Purge(ctx, id)
	enginetest.WantCode(t, err, scrollback.Conflict, "")
	for _, err := range there.Turn(ctx, engine.TurnRequest{Conversation: id, Message: enginetest.Say("me too")}) {
		enginetest.WantCode(t, err, scrollback.Conflict, "")
	}
	if err := there.Turns().Cancel(ctx, id, turn); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t}
	c.on(here, id, turn, 0)
	if c.done.Status != scrollback.TurnInterrupted || c.text != "one " {
		t.Errorf("the turn ended %+v with %q", c.done, c.text)
	}
	there.WantOutline(id, "u:q", "a(interrupted):one ")
	if _, err := there.Trash(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Get(ctx, id); err != nil {
		t.Error(err)
	}
	for _, err := range here.Turn(ctx, engine.TurnRequest{Conversation: id, Message: enginetest.Say("still there?")}) {
		enginetest.WantCode(t, err, scrollback.NotFound, "")
	}
}

// refusals tells of claims that were not got, by their owners.
type refusals struct {
	driver.Turns
	told chan string
}

// ClaimWork implements [driver.Claims].
func (r refusals) ClaimWork(ctx context.Context, c driver.Claim) (bool, error) {
	got, err := r.Turns.ClaimWork(ctx, c)
	if err == nil && !got {
		r.told <- c.Owner
	}
	return got, err
}

// While one server asks a model for a summary, no other does; who needs the conversation
// compacted waits, and goes on when the one that asked has died.
func TestOneServerFolds(t *testing.T) {
	ctx := context.Background()
	s := newSlow()
	d := oracle.New()
	refused := make(chan string, 1000)
	d.Turns = refusals{d.Turns, refused}
	rs := servers(t, 3, enginetest.Options{Driver: d, Summaries: true, Limit: 64_000, Policy: compact.Rolling,
		NoFolds: true}, s.step())
	id := talked(rs[0], 20)
	made := make(chan scrollback.Receipt, len(rs))
	for _, r := range rs {
		go func() {
			receipt, err := r.Compact(ctx, id, engine.CompactRequest{Force: true})
			if err != nil {
				t.Error(err)
			}
			made <- receipt
		}()
		if r == rs[0] {
			<-s.asked
		}
	}
	for owners := map[string]bool{}; len(owners) < 4; { // each comes twice, and is another doer then
		owners[<-refused] = true
	}
	if len(s.asked) != 0 {
		t.Errorf("%d more were asked for a summary", len(s.asked))
	}
	close(s.let)
	for range rs {
		<-made
	}
	enginetest.CheckViews(t, rs[1], id)

	other := talked(rs[0], 20)
	dead := driver.Claim{Conversation: other, Work: "fold", Owner: "dead", Now: rs[0].Clock.Load(),
		Until: rs[0].Clock.Load() + 15_000}
	if got, err := rs[0].Driver.Turns.ClaimWork(ctx, dead); err != nil || !got {
		t.Fatal(got, err)
	}
	go func() {
		r, err := rs[1].Compact(ctx, other, engine.CompactRequest{Force: true})
		if err != nil {
			t.Error(err)
		}
		made <- r
	}()
	for len(refused) > 0 {
		<-refused
	}
	<-refused
	<-refused
	if len(made) > 0 {
		t.Errorf("the work of another was done: %+v", <-made)
	}
	rs[0].Clock.Add(15_001)
	if r := <-made; r.Result != scrollback.ResultCompacted || r.Calls == 0 {
		t.Errorf("after the lease: %+v", r)
	}
}
