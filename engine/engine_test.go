package engine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/recall"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/memdriver"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
	"github.com/scrollback-ai/scrollback/transfer"
	"github.com/scrollback-ai/scrollback/workspace"
)

// rig is an engine over a driver, with a model and a clock of the test's.
type rig struct {
	*engine.View // the operator's
	*recall.Reader
	engine   *engine.Engine
	transfer *transfer.Transfer
	t        *testing.T
	store    *store.Store
	archive  *archive.Archive
	driver   *driver.Driver
	clock    *atomic.Int64 // Unix ms
	script   *modeltest.Script
}

type rigOptions struct {
	driver    *driver.Driver // nil: in memory
	limit     int64
	clock     *atomic.Int64
	saveEvery time.Duration
	noFolds   bool
	wrap      func(model.Model) model.Model
	summaries bool // the scripted model is asked for summaries too
	importers []transcript.Importer
	policy    string
	folding   map[string]float64
	projects  map[string]engine.PolicySettings
	newID     func() string    // nil: random
	archive   *archive.Archive // nil: of its own
	place     *workspace.Place
	models    func(name string) (model.Model, error) // nil: the scripted one
	bounds    model.Bounds                           // of an answer
}

func newRig(t *testing.T, o rigOptions, steps ...modeltest.Step) *rig {
	t.Helper()
	r := &rig{t: t, driver: o.driver, clock: o.clock}
	if r.driver == nil {
		r.driver = memdriver.New()
	}
	if r.clock == nil {
		r.clock = &atomic.Int64{}
		r.clock.Store(1_767_600_000_000)
	}
	if o.limit == 0 {
		o.limit = 8000
	}
	r.script = modeltest.NewScript(model.Facts{Name: "script", Limit: o.limit, MaxOutput: 2000, NoSummaries: !o.summaries}, steps...)
	var err error
	r.store, err = store.New(r.driver, token.Count, &store.Options{Image: token.Image, Learn: token.Learn, NewID: o.newID,
		Now: func() time.Time { return time.UnixMilli(r.clock.Load()) }})
	if err != nil {
		t.Fatal(err)
	}
	bucket := memblob.OpenBucket(nil)
	if r.archive = o.archive; r.archive == nil {
		r.archive = archive.New(r.store, bucket, nil)
	}
	r.engine = engine.New(r.store, r.archive, engine.Options{
		Models: func(name string) (model.Model, error) {
			if o.models != nil {
				return o.models(name)
			}
			if name != "script" {
				return nil, scrollback.ParamErrorf("test", "model", "unknown model %q", name)
			}
			if o.wrap != nil {
				return o.wrap(r.script), nil
			}
			return r.script, nil
		},
		Model: "script", Place: o.place, SaveEvery: o.saveEvery, NoBackgroundFolds: o.noFolds,
		Compaction: engine.PolicySettings{Policy: o.policy, Numbers: o.folding}, Projects: o.projects, ReplyBounds: o.bounds,
	})
	r.View = r.engine.As(scrollback.Operator())
	r.Reader = r.View.Recall()
	r.transfer = transfer.New(r.store, r.archive, transfer.Options{Importers: append(o.importers, all.Importers()...),
		Exporters: all.Exporters()})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		bucket.Close()
	})
	return r
}

// Close ends the engine.
func (r *rig) Close(ctx context.Context) error { return r.engine.Close(ctx) }

// admin is what only the operator may do.
func (r *rig) admin() *engine.Admin {
	r.t.Helper()
	a, err := r.Admin()
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

// Import imports a file for the operator.
func (r *rig) Import(ctx context.Context, f io.ReadSeeker, q transfer.ImportRequest) (transfer.ImportResult, error) {
	return r.transfer.Import(ctx, r.View, f, q)
}

// Export exports a conversation for the operator.
func (r *rig) Export(ctx context.Context, id scrollback.ConversationID, q transfer.ExportRequest, w io.Writer) error {
	return r.transfer.Export(ctx, r.View, id, q, w)
}

func (r *rig) conversation() scrollback.ConversationID {
	r.t.Helper()
	c, _, err := r.Create(context.Background(), scrollback.Conversation{})
	if err != nil {
		r.t.Fatal(err)
	}
	return c.ID
}

func say(text string) scrollback.Parts { return scrollback.Parts{scrollback.Text{Text: text}} }

// told is the events of a turn that ran to its end.
type told struct {
	events []scrollback.Event
	err    error
}

func (r *rig) turn(req engine.TurnRequest) told {
	r.t.Helper()
	var out told
	for ev, err := range r.Turn(context.Background(), req) {
		if err != nil {
			out.err = err
			break
		}
		out.events = append(out.events, ev)
	}
	return out
}

func (r *rig) ask(id scrollback.ConversationID, text string) told {
	r.t.Helper()
	return r.turn(engine.TurnRequest{Conversation: id, Message: say(text)})
}

func last[T scrollback.Event](e told) (found T, ok bool) {
	for _, ev := range e.events {
		if v, is := ev.(T); is {
			found, ok = v, true
		}
	}
	return found, ok
}

func (e told) done(t *testing.T, want scrollback.TurnState, reason string) {
	t.Helper()
	d, ok := last[scrollback.DoneEvent](e)
	if e.err != nil || !ok || d.Status != want || d.FinishReason != reason {
		t.Fatalf("the turn ended %+v (%v), want %s %q; events %+v", d, e.err, want, reason, e.events)
	}
}

func (r *rig) log(id scrollback.ConversationID) []scrollback.Message {
	r.t.Helper()
	var out []scrollback.Message
	for m, err := range r.All(context.Background(), id) {
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// shape is the log in short: role, status if not complete, text.
func (r *rig) shape(id scrollback.ConversationID) string {
	r.t.Helper()
	var b strings.Builder
	for _, m := range r.log(id) {
		b.WriteString(string(m.Role[0]))
		if m.Status != scrollback.StatusComplete {
			b.WriteString("(" + string(m.Status) + ")")
		}
		b.WriteString(":" + m.Parts.Text())
		for _, c := range m.Parts.Calls() {
			b.WriteString("→" + c.ID)
		}
		for _, c := range m.Parts.Results() {
			b.WriteString("←" + c.CallID)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (r *rig) wantShape(id scrollback.ConversationID, want ...string) {
	r.t.Helper()
	if got := r.shape(id); got != strings.Join(want, "\n")+"\n" {
		r.t.Fatalf("the log is\n%swant\n%s", got, strings.Join(want, "\n"))
	}
}

func wantCode(t *testing.T, err error, want scrollback.Code, text string) {
	t.Helper()
	if scrollback.CodeOf(err) != want || err != nil && !strings.Contains(err.Error(), text) {
		t.Fatalf("error %v (%s), want %s about %q", err, scrollback.CodeOf(err), want, text)
	}
}

var errUpstream = &scrollback.Error{Code: scrollback.Unavailable, Op: "test", Err: errors.New("it could not answer"), Detail: "boom",
	Reason: scrollback.ErrUpstream}

func TestModelFailsBeforeAndMid(t *testing.T) {
	mid := modeltest.Say("half an ", "answer")
	mid.Err = errUpstream
	r := newRig(t, rigOptions{}, modeltest.Step{Err: errUpstream}, mid, modeltest.Say("whole"))
	id := r.conversation()

	e := r.ask(id, "q")
	e.done(t, scrollback.TurnFailed, "")
	if f, _ := last[scrollback.ErrorEvent](e); f.Code != scrollback.Unavailable || f.Message != "it could not answer" {
		t.Fatalf("told %+v: the code, and nothing of the provider's text", f)
	}
	r.wantShape(id, "u:q")

	r.turn(engine.TurnRequest{Conversation: id}).done(t, scrollback.TurnFailed, "")
	r.wantShape(id, "u:q", "a(failed):half an answer")

	r.turn(engine.TurnRequest{Conversation: id}).done(t, scrollback.TurnComplete, "stop")
	r.wantShape(id, "u:q", "a(failed):half an answer", "a:whole")
	for _, it := range r.script.Requests()[2].Items {
		if strings.Contains(it.Parts.Text(), "half") {
			t.Error("a failed answer was sent to the model")
		}
	}
	wantCode(t, r.turn(engine.TurnRequest{Conversation: id}).err, scrollback.Invalid, "answered already")
}

func TestStreamThatJustStops(t *testing.T) {
	cut := modeltest.Say("so fa")
	cut.NoFinish = true
	r := newRig(t, rigOptions{}, cut)
	id := r.conversation()
	r.ask(id, "q").done(t, scrollback.TurnInterrupted, scrollback.FinishTruncated)
	r.wantShape(id, "u:q", "a(interrupted):so fa")
}

func TestModelThatSaysNothing(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Step{}, modeltest.Step{Deltas: []model.Delta{{Reasoning: "hm"}}})
	id := r.conversation()
	r.ask(id, "q").done(t, scrollback.TurnFailed, "")
	r.ask(id, "q2").done(t, scrollback.TurnFailed, "")
	r.wantShape(id, "u:q", "u:q2", "a(failed):")
}

// gated is a step whose deltas pass one by one.
func gated(pieces ...string) (modeltest.Step, chan struct{}) {
	gate := make(chan struct{})
	s := modeltest.Say(pieces...)
	s.Gate = gate
	return s, gate
}

// started runs a turn until its first delta, then leaves it alone.
func (r *rig) started(id scrollback.ConversationID, gate chan struct{}) scrollback.TurnID {
	r.t.Helper()
	turn, events, err := r.Begin(context.Background(), engine.TurnRequest{Conversation: id, Message: say("q")})
	if err != nil {
		r.t.Fatal(err)
	}
	gate <- struct{}{}
	for n, err := range events {
		if err != nil {
			r.t.Fatal(err)
		}
		if _, ok := n.Event.(scrollback.DeltaEvent); ok {
			break
		}
	}
	return turn
}

// attach reads a turn to its end.
func (r *rig) attach(id scrollback.ConversationID, turn scrollback.TurnID, after int) told {
	var out told
	for n, err := range r.Turns().Attach(context.Background(), id, turn, after) {
		if err != nil {
			out.err = err
			break
		}
		out.events = append(out.events, n.Event)
	}
	return out
}

func TestClientGoesAway(t *testing.T) {
	step, gate := gated("one ", "two")
	r := newRig(t, rigOptions{}, step)
	id := r.conversation()
	turn := r.started(id, gate)
	if running, err := r.Turns().Running(context.Background(), id); err != nil || running == nil || running.ID != turn {
		t.Fatalf("running: %+v %v", running, err)
	}
	close(gate)
	e := r.attach(id, turn, 0)
	e.done(t, scrollback.TurnComplete, "stop")
	r.wantShape(id, "u:q", "a:one two")
	var text string
	for _, ev := range e.events {
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
	if rest := r.attach(id, turn, len(e.events)-1); len(rest.events) != 1 {
		t.Errorf("after all but one event there are %d", len(rest.events))
	}
}

func TestSecondTurnAtOnce(t *testing.T) {
	step, gate := gated("one")
	r := newRig(t, rigOptions{}, step)
	id, other := r.conversation(), r.conversation()
	turn := r.started(id, gate)
	wantCode(t, r.ask(id, "again").err, scrollback.Conflict, "")
	_, err := r.Import(context.Background(), strings.NewReader(`{"role":"user","content":"x"}`), transfer.ImportRequest{Into: id})
	wantCode(t, err, scrollback.Conflict, "")
	_, _, err = r.Begin(context.Background(), engine.TurnRequest{Conversation: other, Message: say("q")})
	if err != nil {
		t.Fatalf("another conversation had to wait: %v", err)
	}
	close(gate)
	r.attach(id, turn, 0).done(t, scrollback.TurnComplete, "stop")
	r.wantShape(id, "u:q", "a:one")
}

func TestCancelKeepsWhatWasWritten(t *testing.T) {
	step, gate := gated("one ", "two")
	r := newRig(t, rigOptions{}, step)
	id := r.conversation()
	turn := r.started(id, gate)
	if err := r.Turns().Cancel(context.Background(), id, turn); err != nil {
		t.Fatal(err)
	}
	r.attach(id, turn, 0).done(t, scrollback.TurnInterrupted, "")
	r.wantShape(id, "u:q", "a(interrupted):one ")
	wantCode(t, r.Turns().Cancel(context.Background(), r.conversation(), turn), scrollback.NotFound, "no turn")
}

// Another process asks for the turn to stop: its owner sees it when it saves.
func TestCancelFromAfar(t *testing.T) {
	step, gate := gated("one ", "two")
	d := memdriver.New()
	a := newRig(t, rigOptions{driver: d, saveEvery: time.Millisecond}, step)
	b := newRig(t, rigOptions{driver: d, clock: a.clock})
	id := a.conversation()
	turn := a.started(id, gate)
	if err := b.Turns().Cancel(context.Background(), id, turn); err != nil {
		t.Fatal(err)
	}
	// b follows what a's process stores until the end.
	b.attach(id, turn, 0).done(t, scrollback.TurnInterrupted, "")
	a.wantShape(id, "u:q", "a(interrupted):one ")
}

func TestShutdownSavesTheReply(t *testing.T) {
	step, gate := gated("one ", "two")
	r := newRig(t, rigOptions{}, step)
	id := r.conversation()
	r.started(id, gate)
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.wantShape(id, "u:q", "a(interrupted):one ")
	wantCode(t, r.ask(id, "late").err, scrollback.Unavailable, "closed")
}

// A server dies in the middle of a turn: until its lease ends the conversation is
// held, then the next turn saves the draft and goes on. What the dead one would
// still write is refused.
func TestLeaseEnds(t *testing.T) {
	step, gate := gated("lost ", "and found")
	d := memdriver.New()
	dead := newRig(t, rigOptions{driver: d, saveEvery: time.Millisecond}, step)
	next := newRig(t, rigOptions{driver: d, clock: dead.clock}, modeltest.Say("fresh"))
	id := dead.conversation()
	turn := dead.started(id, gate)
	waitFor(t, func() bool {
		stored, err := next.Turns().Get(context.Background(), id, turn)
		return err == nil && stored.Draft.Content == "lost "
	})
	wantCode(t, next.ask(id, "me").err, scrollback.Conflict, "")
	// The clock leaps: the dead one's next save would renew the lease, so the
	// owner is changed under it in the same moment, by the next turn.
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for range 1000 {
			dead.clock.Add(store.Lease.Milliseconds() + 1)
			if e := next.ask(id, "me"); e.err == nil {
				return
			}
		}
	}()
	<-stop
	next.wantShape(id, "u:q", "a(interrupted):lost ", "u:me", "a:fresh")
	close(gate)
	dead.attach(id, turn, 0).done(t, scrollback.TurnInterrupted, "")
	next.wantShape(id, "u:q", "a(interrupted):lost ", "u:me", "a:fresh")
	if f, ok := last[scrollback.ErrorEvent](dead.attach(id, turn, 0)); !ok || f.Code != scrollback.Conflict {
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

func TestIdempotency(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("one"), modeltest.Say("two"))
	id := r.conversation()
	req := engine.TurnRequest{Conversation: id, Message: say("q"), Key: "k1"}
	first := r.turn(req)
	first.done(t, scrollback.TurnComplete, "stop")
	again := r.turn(req)
	again.done(t, scrollback.TurnComplete, "stop")
	a, _ := last[scrollback.DoneEvent](first)
	b, _ := last[scrollback.DoneEvent](again)
	if a.TurnID != b.TurnID || len(r.script.Requests()) != 1 {
		t.Errorf("the same request ran twice: %s, %s", a.TurnID, b.TurnID)
	}
	req.Message = say("another")
	wantCode(t, r.turn(req).err, scrollback.Conflict, "another request")
	byID := engine.TurnRequest{Conversation: id, Message: say("q2"), MessageID: "m-1"}
	r.turn(byID).done(t, scrollback.TurnComplete, "stop")
	r.turn(byID).done(t, scrollback.TurnComplete, "stop")
	r.clock.Add(store.IdempotencyAge.Milliseconds() + 1)
	// The key is forgotten by now; the id of a message is its own for ever.
	wantCode(t, r.turn(byID).err, scrollback.Conflict, "m-1")
	req.Message = say("q")
	r.turn(req).done(t, scrollback.TurnComplete, "stop")
	r.wantShape(id, "u:q", "a:one", "u:q2", "a:two", "u:q", "a:two")
}

func TestNothingToAnswer(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	id := r.conversation()
	wantCode(t, r.turn(engine.TurnRequest{Conversation: id}).err, scrollback.Invalid, "nothing to answer")
	wantCode(t, r.ask(id, "  \n").err, scrollback.Invalid, "empty")
	wantCode(t, r.ask("01a1fb8d-0000-7000-8000-000000000000", "q").err, scrollback.NotFound, "no conversation")
	wantCode(t, r.ask(id, strings.Repeat("字", 200_001)).err, scrollback.Invalid, "200001 characters")
	wantCode(t, r.turn(engine.TurnRequest{Conversation: id, Message: say("q"), Overrides: engine.Overrides{Model: "gone"}}).err,
		scrollback.Invalid, "unknown model")
	if _, err := r.Trash(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.ask(id, "q").err, scrollback.NotFound, "trash")
	if errors.Is(r.ask(id, strings.Repeat("字", 200_001)).err, scrollback.ErrTooLarge) == false {
		t.Error("too long a message is not too large")
	}
}
