package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// admin returns what only the operator may do.
func admin(r *enginetest.Rig) *engine.Admin {
	r.T.Helper()
	a, err := r.Admin()
	if err != nil {
		r.T.Fatal(err)
	}
	return a
}

var errUpstream = &scrollback.Error{Code: scrollback.Unavailable, Op: "test", Err: errors.New("it could not answer"),
	Detail: "boom",
	Reason: scrollback.ErrUpstream}

func TestModelFailsBeforeAndMid(t *testing.T) {
	mid := modeltest.Say("half an ", "answer")
	mid.Err = errUpstream
	r := enginetest.New(t, enginetest.Options{}, modeltest.Step{Err: errUpstream}, mid, modeltest.Say("whole"))
	id := r.NewConversation()

	e := r.Ask(id, "q")
	e.WantDone(t, scrollback.TurnFailed, "")
	if f, _ := enginetest.Last[scrollback.ErrorEvent](e); f.Code != scrollback.Unavailable ||
		f.Message != "it could not answer" {
		t.Fatalf("told %+v: the code, and nothing of the provider's text", f)
	}
	r.WantOutline(id, "u:q")

	r.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnFailed, "")
	r.WantOutline(id, "u:q", "a(failed):half an answer")

	r.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnComplete, "stop")
	r.WantOutline(id, "u:q", "a(failed):half an answer", "a:whole")
	for _, it := range r.Script.Requests()[2].Items {
		if strings.Contains(it.Parts.Text(), "half") {
			t.Error("a failed answer was sent to the model")
		}
	}
	enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: id}).Err, scrollback.Invalid, "answered already")
}

func TestStreamThatJustStops(t *testing.T) {
	cut := modeltest.Say("so fa")
	cut.NoFinish = true
	r := enginetest.New(t, enginetest.Options{}, cut)
	id := r.NewConversation()
	r.Ask(id, "q").WantDone(t, scrollback.TurnInterrupted, scrollback.FinishTruncated)
	r.WantOutline(id, "u:q", "a(interrupted):so fa")
}

func TestModelThatSaysNothing(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Step{},
		modeltest.Step{Deltas: []model.Delta{{Reasoning: "hm"}}})
	id := r.NewConversation()
	r.Ask(id, "q").WantDone(t, scrollback.TurnFailed, "")
	r.Ask(id, "q2").WantDone(t, scrollback.TurnComplete, "stop") // its reasoning is what it said
	r.WantOutline(id, "u:q", "u:q2", "a:")
}

// gated returns a step whose deltas pass one by one.
func gated(pieces ...string) (modeltest.Step, chan struct{}) {
	gate := make(chan struct{})
	s := modeltest.Say(pieces...)
	s.Gate = gate
	return s, gate
}

// started runs a turn until its first delta, then leaves it alone.
func started(r *enginetest.Rig, id scrollback.ConversationID, gate chan struct{}) scrollback.TurnID {
	r.T.Helper()
	turn, events, err := r.Begin(context.Background(), engine.TurnRequest{Conversation: id, Message: enginetest.Say("q")})
	if err != nil {
		r.T.Fatal(err)
	}
	gate <- struct{}{}
	for n, err := range events {
		if err != nil {
			r.T.Fatal(err)
		}
		if _, ok := n.Event.(scrollback.DeltaEvent); ok {
			break
		}
	}
	return turn
}

// attach reads a turn to its end.
func attach(r *enginetest.Rig, id scrollback.ConversationID, turn scrollback.TurnID, after int) enginetest.Outcome {
	var out enginetest.Outcome
	for n, err := range r.Turns().Attach(context.Background(), id, turn, after) {
		if err != nil {
			out.Err = err
			break
		}
		out.Events = append(out.Events, n.Event)
	}
	return out
}

func TestClientGoesAway(t *testing.T) {
	step, gate := gated("one ", "two")
	r := enginetest.New(t, enginetest.Options{}, step)
	id := r.NewConversation()
	turn := started(r, id, gate)
	if running, err := r.Turns().Running(context.Background(), id); err != nil || running == nil || running.ID != turn {
		t.Fatalf("running: %+v %v", running, err)
	}
	close(gate)
	e := attach(r, id, turn, 0)
	e.WantDone(t, scrollback.TurnComplete, "stop")
	r.WantOutline(id, "u:q", "a:one two")
	var text string
	for _, ev := range e.Events {
		if d, ok := ev.(scrollback.DeltaEvent); ok {
			if d.At != len(text) {
				t.Errorf("a delta at %d, want %d", d.At, len(text))
			}
			text += d.Content
		}
	}
	if text != "one two" {
		t.Errorf("re-attached to %q", text)
	}
	if rest := attach(r, id, turn, len(e.Events)-1); len(rest.Events) != 1 {
		t.Errorf("after all but one event there are %d", len(rest.Events))
	}
}

func TestSecondTurnAtOnce(t *testing.T) {
	step, gate := gated("one")
	r := enginetest.New(t, enginetest.Options{}, step)
	id := r.NewConversation()
	other := r.NewConversation()
	turn := started(r, id, gate)
	enginetest.WantCode(t, r.Ask(id, "again").Err, scrollback.Conflict, "")
	_, err := r.Import(context.Background(), strings.NewReader(`{"role":"user","content":"x"}`),
		transfer.ImportRequest{Into: id})
	enginetest.WantCode(t, err, scrollback.Conflict, "")
	_, _, err = r.Begin(context.Background(), engine.TurnRequest{Conversation: other, Message: enginetest.Say("q")})
	if err != nil {
		t.Fatalf("another conversation had to wait: %v", err)
	}
	close(gate)
	attach(r, id, turn, 0).WantDone(t, scrollback.TurnComplete, "stop")
	r.WantOutline(id, "u:q", "a:one")
}

func TestCancelKeepsWhatWasWritten(t *testing.T) {
	step, gate := gated("one ", "two")
	r := enginetest.New(t, enginetest.Options{}, step)
	id := r.NewConversation()
	turn := started(r, id, gate)
	if err := r.Turns().Cancel(context.Background(), id, turn); err != nil {
		t.Fatal(err)
	}
	attach(r, id, turn, 0).WantDone(t, scrollback.TurnInterrupted, "")
	r.WantOutline(id, "u:q", "a(interrupted):one ")
	enginetest.WantCode(t, r.Turns().Cancel(context.Background(), r.NewConversation(), turn), scrollback.NotFound,
		"no turn")
}

// Another process asks for the turn to stop: its owner sees it when it saves.
func TestCancelFromAfar(t *testing.T) {
	step, gate := gated("one ", "two")
	d := oracle.New()
	a := enginetest.New(t, enginetest.Options{Driver: d, SaveEvery: time.Millisecond}, step)
	b := enginetest.New(t, enginetest.Options{Driver: d, Clock: a.Clock})
	id := a.NewConversation()
	turn := started(a, id, gate)
	if err := b.Turns().Cancel(context.Background(), id, turn); err != nil {
		t.Fatal(err)
	}
	// b follows what a's process stores until the end.
	attach(b, id, turn, 0).WantDone(t, scrollback.TurnInterrupted, "")
	a.WantOutline(id, "u:q", "a(interrupted):one ")
}

func TestShutdownSavesTheReply(t *testing.T) {
	step, gate := gated("one ", "two")
	r := enginetest.New(t, enginetest.Options{}, step)
	id := r.NewConversation()
	started(r, id, gate)
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.WantOutline(id, "u:q", "a(interrupted):one ")
	enginetest.WantCode(t, r.Ask(id, "late").Err, scrollback.Unavailable, "closed")
}

// A server dies in the middle of a turn: until its lease ends the conversation is
// held, then the next turn saves the draft and goes on. What the dead one would
// still write is refused.
func TestLeaseEnds(t *testing.T) {
	step, gate := gated("lost ", "and found")
	d := oracle.New()
	dead := enginetest.New(t, enginetest.Options{Driver: d, SaveEvery: time.Millisecond}, step)
	next := enginetest.New(t, enginetest.Options{Driver: d, Clock: dead.Clock}, modeltest.Say("fresh"))
	id := dead.NewConversation()
	turn := started(dead, id, gate)
	waitFor(t, func() bool {
		stored, err := next.Turns().Get(context.Background(), id, turn)
		return err == nil && stored.Draft.Content == "lost "
	})
	enginetest.WantCode(t, next.Ask(id, "me").Err, scrollback.Conflict, "")
	// The clock leaps: the dead one's next save would renew the lease, so the
	// owner is changed under it in the same moment, by the next turn.
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for range 1000 {
			dead.Clock.Add(store.Lease.Milliseconds() + 1)
			if e := next.Ask(id, "me"); e.Err == nil {
				return
			}
		}
	}()
	<-stop
	next.WantOutline(id, "u:q", "a(interrupted):lost ", "u:me", "a:fresh")
	close(gate)
	attach(dead, id, turn, 0).WantDone(t, scrollback.TurnInterrupted, "")
	next.WantOutline(id, "u:q", "a(interrupted):lost ", "u:me", "a:fresh")
	if f, ok := enginetest.Last[scrollback.ErrorEvent](attach(dead, id, turn, 0)); !ok || f.Code != scrollback.Conflict {
		t.Errorf("the one that lost its lease says %+v", f)
	}
}

// waitFor polls until ok, for at most ten seconds.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("waited ten seconds in vain")
		}
	}
}

// A key's hash is made from the JSON of its request: a version that changed the names
// would take a request that is sent again after an update for another one.
func TestRequestsKeepTheirJSON(t *testing.T) {
	on := true
	got, err := json.Marshal(engine.TurnRequest{Conversation: "c", Message: enginetest.Say("q"), MessageID: "m", Key: "k",
		Tools: []scrollback.Tool{{Name: "clock"}}, ToolResults: []engine.ToolResult{{CallID: "1", Text: "t"}},
		Overrides: engine.Overrides{Model: "m", Limit: 9, Policy: "rolling",
			Compaction: map[string]float64{"keep_share": 0.5},
			Thinking:   scrollback.Thinking{Effort: "low", On: &on, Budget: 3}}})
	const want = `{"message":[{"type":"text","text":"q"}],"message_id":"m","tools":[{"name":"clock","description":"","parameters":null}],` +
		`"tool_results":[{"call_id":"1","text":"t"}],"shape":{"Model":"m","Limit":9,"Policy":"rolling",` +
		`"Folding":{"keep_share":0.5},"Thinking":{"Effort":"low","On":true,"Budget":3}}}`
	if err != nil || string(got) != want {
		t.Errorf("%s (%v)\nwant %s", got, err, want)
	}
}

func TestIdempotency(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("one"), modeltest.Say("two"))
	id := r.NewConversation()
	req := engine.TurnRequest{Conversation: id, Message: enginetest.Say("q"), Key: "k1"}
	first := r.Run(req)
	first.WantDone(t, scrollback.TurnComplete, "stop")
	again := r.Run(req)
	again.WantDone(t, scrollback.TurnComplete, "stop")
	a, _ := enginetest.Last[scrollback.DoneEvent](first)
	b, _ := enginetest.Last[scrollback.DoneEvent](again)
	if a.TurnID != b.TurnID || len(r.Script.Requests()) != 1 {
		t.Errorf("the same request ran twice: %s, %s", a.TurnID, b.TurnID)
	}
	req.Message = enginetest.Say("another")
	enginetest.WantCode(t, r.Run(req).Err, scrollback.Conflict, "another request")
	byID := engine.TurnRequest{Conversation: id, Message: enginetest.Say("q2"), MessageID: "m-1"}
	r.Run(byID).WantDone(t, scrollback.TurnComplete, "stop")
	r.Run(byID).WantDone(t, scrollback.TurnComplete, "stop")
	r.Clock.Add(store.IdempotencyAge.Milliseconds() + 1)
	// The key is forgotten by now; the id of a message is its own for ever.
	enginetest.WantCode(t, r.Run(byID).Err, scrollback.Conflict, "m-1")
	req.Message = enginetest.Say("q")
	r.Run(req).WantDone(t, scrollback.TurnComplete, "stop")
	r.WantOutline(id, "u:q", "a:one", "u:q2", "a:two", "u:q", "a:two")
}

func TestNothingToAnswer(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	id := r.NewConversation()
	enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: id}).Err, scrollback.Invalid, "nothing to answer")
	enginetest.WantCode(t, r.Ask(id, "  \n").Err, scrollback.Invalid, "empty")
	enginetest.WantCode(t, r.Ask("01a1fb8d-0000-7000-8000-000000000000", "q").Err, scrollback.NotFound, "no conversation")
	enginetest.WantCode(t, r.Ask(id, strings.Repeat("字", 200_001)).Err, scrollback.Invalid, "200001 characters")
	enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("q"),
		Overrides: engine.Overrides{Model: "gone"}}).Err,
		scrollback.Invalid, "unknown model")
	if _, err := r.Trash(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	enginetest.WantCode(t, r.Ask(id, "q").Err, scrollback.NotFound, "trash")
	if errors.Is(r.Ask(id, strings.Repeat("字", 200_001)).Err, scrollback.ErrTooLarge) == false {
		t.Error("too long a message is not too large")
	}
}
