package engine_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// narrow is a model whose server takes limit tokens of its own, which are factor
// times those of o200k, answer included, and refuses more in the way it has.
type narrow struct {
	model.Model
	limit   int64
	factor  float64
	named   bool // it says how long its window is
	counts  bool // and how long the request was
	strict  scrollback.Strictness
	list    int64 // what its list says
	asked   *atomic.Int64
	refused *atomic.Int64
	listed  *atomic.Int64
}

func newNarrow(limit int64, factor float64) narrow {
	return narrow{limit: limit, factor: factor, asked: new(atomic.Int64), refused: new(atomic.Int64),
		listed: new(atomic.Int64)}
}

func (n narrow) Facts() model.Facts {
	f := n.Model.Facts()
	// nobody knows
	f.Limit = 0
	f.MaxOutput = 0
	return f
}

func (n narrow) List(context.Context) (int64, int64, error) {
	n.listed.Add(1)
	return n.list, 0, nil
}

func (n narrow) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	n.asked.Add(1)
	var sent int64
	for _, it := range r.Items {
		sent += it.Weight.Tokens
	}
	l := model.Lesson{}
	own := int64(n.factor * float64(sent))
	if own+r.MaxOutputTokens > n.limit {
		l.TooLong = true
		if n.named {
			l.Limit = n.limit
		}
		if n.counts {
			l.Requested = own
		}
	}
	for i, it := range r.Items {
		system := it.Role == scrollback.RoleSystem && it.Kind != scrollback.KindTools
		if n.strict == scrollback.StrictNoSystem && system ||
			n.strict == scrollback.StrictTurns && i > 0 && r.Items[i-1].Role == it.Role &&
				it.Role == scrollback.RoleUser {
			l.Strict = n.strict
		}
	}
	if l == (model.Lesson{}) {
		return n.Model.Stream(ctx, r)
	}
	n.refused.Add(1)
	return func(yield func(model.Delta, error) bool) {
		yield(model.Delta{}, scrollback.Errorf(scrollback.OverBudget, "test", "refused").WithReason(&l))
	}
}

// Whatever a server says of the window that nobody knew, fourteen rounds end well:
// the first that does not fit is folded and asked again, and what was learned
// spares the others the refusal.
func TestLimitIsLearned(t *testing.T) {
	for i, n := range []struct {
		name string
		narrow
	}{
		{"named and counted", narrow{named: true, counts: true, factor: 1.3}},
		{"named", narrow{named: true, factor: 1}},
		{"named, heavier", narrow{named: true, factor: 1.6}},
		{"counted", narrow{counts: true, factor: 1.3}},
		{"nothing said", narrow{factor: 1.2}},
	} {
		for k, policy := range compact.Names()[1:] {
			if i%3 != k && testlength.Choose(true, false, false) {
				continue // each server and each policy, but not all pairs
			}
			t.Run(n.name+"/"+policy, func(t *testing.T) {
				one := newNarrow(4096, n.factor)
				one.named = n.named
				one.counts = n.counts
				r := enginetest.New(t, enginetest.Options{Policy: policy, NoFolds: true,
					Wrap: func(m model.Model) model.Model { one.Model = m; return one }},
					modeltest.Step{Reply: func(model.Request) []model.Delta {
						return []model.Delta{{Text: strings.Repeat("so it is, 就是这样. ", 40)}}
					}})
				id := r.NewConversation()
				for i := range 14 {
					r.Ask(id, fmt.Sprintf("Round %d. ", i)+strings.Repeat("and more words of it ", 60)).WantDone(t,
						scrollback.TurnComplete, "stop")
				}
				if refused := one.refused.Load(); refused == 0 || refused > 4 {
					t.Errorf("%d of %d calls were refused", refused, one.asked.Load())
				}
				known, err := r.Store.Books.ReadLearned(context.Background(), "script")
				if err != nil || known.LimitFrom != scrollback.LimitRefusal || known.Limit > 32768 ||
					n.named && known.Limit != 4096 {
					t.Errorf("learned %+v, %v", known, err)
				}
				m, err := r.Context(context.Background(), id)
				if err != nil || m.LimitFrom != scrollback.LimitRefusal || m.Limit != known.Limit {
					t.Errorf("the window is %d from %s, %v", m.Limit, m.LimitFrom, err)
				}
			})
		}
	}
}

// A question that no window of the server holds is told so, and what can be done.
func TestNothingLeftToFold(t *testing.T) {
	one := newNarrow(2100, 2)
	one.named = true
	r := enginetest.New(t, enginetest.Options{Wrap: func(m model.Model) model.Model { one.Model = m; return one }},
		modeltest.Step{Reply: func(model.Request) []model.Delta { return []model.Delta{{Text: "so"}} }})
	id := r.NewConversation()
	e := r.Ask(id, strings.Repeat("words that cannot be folded ", 120))
	e.WantDone(t, scrollback.TurnOverBudget, "")
	if f, _ := enginetest.Last[scrollback.ErrorEvent](e); f.Code != scrollback.OverBudget ||
		!strings.Contains(f.Message, "--limit") {
		t.Errorf("told %+v", f)
	}
	if n := one.asked.Load(); n > 5 {
		t.Errorf("asked %d times", n)
	}
}

// A window that a person named gives way for a while to one that the server names in
// refusing a request, and counts again later: the server may have been started again.
func TestLimitSetByHand(t *testing.T) {
	clock := &atomic.Int64{}
	clock.Store(1_767_600_000_000)
	one := newNarrow(4096, 1)
	one.named = true
	r := enginetest.New(t, enginetest.Options{Clock: clock, Wrap: func(m model.Model) model.Model {
		return narrow{Model: m, limit: one.limit, factor: 1, named: true, asked: one.asked, refused: one.refused,
			listed: one.listed}
	}},
		modeltest.Step{Reply: func(model.Request) []model.Delta { return []model.Delta{{Text: "so it is"}} }})
	id := r.NewConversation()
	turn := func(i int) enginetest.Outcome {
		return r.Run(engine.TurnRequest{Conversation: id,
			Message:   enginetest.Say(fmt.Sprint(i, strings.Repeat(" and on", 700))),
			Overrides: engine.Overrides{Limit: 16000}})
	}
	for i := range 12 {
		turn(i).WantDone(t, scrollback.TurnComplete, "stop")
	}
	if n := one.refused.Load(); n != 1 {
		t.Fatalf("%d calls were refused", n)
	}
	m, _ := enginetest.Last[scrollback.MetaEvent](turn(12))
	if m.Limit != 4096 || m.LimitFrom != scrollback.LimitRefusal {
		t.Errorf("a moment later the window is %d from %s", m.Limit, m.LimitFrom)
	}
	clock.Add(2 * time.Hour.Milliseconds())
	one.limit = 16000
	m, _ = enginetest.Last[scrollback.MetaEvent](turn(13))
	if m.Limit != 16000 || m.LimitFrom != scrollback.LimitRequest {
		t.Errorf("later it is %d from %s", m.Limit, m.LimitFrom)
	}
}

// A server that tells how long its windows are is asked once.
func TestListIsAskedOnce(t *testing.T) {
	one := newNarrow(9000, 1)
	one.list = 9000
	r := enginetest.New(t, enginetest.Options{Wrap: func(m model.Model) model.Model { one.Model = m; return one }},
		modeltest.Step{Reply: func(model.Request) []model.Delta { return []model.Delta{{Text: "so"}} }})
	for range 3 {
		e := r.Ask(r.NewConversation(), "Hello?")
		e.WantDone(t, scrollback.TurnComplete, "stop")
		if m, _ := enginetest.Last[scrollback.MetaEvent](e); m.Limit != 9000 || m.LimitFrom != scrollback.LimitList {
			t.Errorf("the window is %d from %s", m.Limit, m.LimitFrom)
		}
	}
	if n := one.listed.Load(); n != 1 {
		t.Errorf("asked for the list %d times", n)
	}
}

// A chat template that wants turns, or no system text, is learned from its refusal
// once, and kept.
func TestStrictTemplateIsLearned(t *testing.T) {
	for _, strict := range []scrollback.Strictness{scrollback.StrictTurns, scrollback.StrictNoSystem} {
		t.Run(string(strict), func(t *testing.T) {
			one := newNarrow(1<<40, 1)
			one.strict = strict
			r := enginetest.New(t, enginetest.Options{Wrap: func(m model.Model) model.Model { one.Model = m; return one }},
				modeltest.Step{Reply: func(model.Request) []model.Delta { return []model.Delta{{Text: "so"}} }})
			history := []scrollback.Message{{Role: scrollback.RoleUser, Parts: enginetest.Say("one")},
				{Role: scrollback.RoleUser,
					Parts: enginetest.Say("two")}}
			c, _, err := r.Create(context.Background(), scrollback.Conversation{Instructions: "Be brief."}, history...)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				r.Ask(c.ID, "three").WantDone(t, scrollback.TurnComplete, "stop")
			}
			if n := one.refused.Load(); n != 1 {
				t.Errorf("%d of %d calls were refused", n, one.asked.Load())
			}
		})
	}
}

// What was taught is shown, and can be forgotten; what is known of tokens stays.
func TestForgetModel(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("so"))
	if err := r.Store.Books.UpdateLearned(ctx, "script", func(k *scrollback.Learned) {
		k.Factor = 1.5
		k.Limit = 4096
		k.Dropped = []string{"tool_choice"}
	}); err != nil {
		t.Fatal(err)
	}
	ms, err := r.Models(ctx)
	if err != nil || ms[0].Taught == nil || ms[0].Taught.Limit != 4096 || len(ms[0].Taught.Dropped) != 1 ||
		ms[0].Factor != 1.5 {
		t.Fatalf("shown is %+v, %v", ms, err)
	}
	if err := admin(r).ForgetModel(ctx, "script"); err != nil {
		t.Fatal(err)
	}
	if ms, err = r.Models(ctx); err != nil || ms[0].Taught != nil || ms[0].Factor != 1.5 {
		t.Errorf("then %+v, %v", ms, err)
	}
	if err := admin(r).ForgetModel(ctx, "nobody"); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("an unknown model: %v", err)
	}
}

// An answer that breaks off was paid for: the books hold an estimate of it.
func TestBrokenAnswersAreBooked(t *testing.T) {
	mid := modeltest.Say("half an ", "answer")
	mid.Err = errUpstream
	r := enginetest.New(t, enginetest.Options{}, mid)
	e := r.Ask(r.NewConversation(), "What is it?")
	e.WantDone(t, scrollback.TurnFailed, "")
	u, ok := enginetest.Last[scrollback.UsageEvent](e)
	sums, err := r.Usage(context.Background(), scrollback.UsageQuery{})
	if !ok || !u.Estimated || u.OutputTokens == 0 || u.InputTokens < 100 || err != nil || len(sums) != 1 ||
		sums[0].Calls != 1 ||
		sums[0].OutputTokens != u.OutputTokens {
		t.Errorf("told %+v, booked %+v, %v", u, sums, err)
	}
}
