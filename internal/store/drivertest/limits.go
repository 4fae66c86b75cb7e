package drivertest

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunLimits runs the suite. Each call of open returns an empty driver.
func RunLimits(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*limitsHarness){
		"Tallies": testTallies, "TalliesWithin": testWithin, "MadeBy": testMadeBy, "ConcurrentTallies": testConcurrentTallies,
		"KeyLimits": testKeyLimits, "Spending": testSpending, "DaysOfZones": testDaysOfZones,
		"Imported": testImported,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&limitsHarness{driverHarness: newDriverHarness(t, d, 1_700_000_000_000)})
		})
	}
}

// limitsHarness is a driver under test, with a clock and a count of ids.
type limitsHarness struct {
	driverHarness
}

func (w *limitsHarness) advanceClock() int64 {
	w.now++
	return w.now
}

// addConversation creates one in a project.
func (w *limitsHarness) addConversation(project string) scrollback.Conversation {
	w.t.Helper()
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch"))}
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.newID("conversation")), Project: project,
		Model:   "offline",
		Policy:  "auto",
		Version: 1, Branch: b.ID, CreatedAt: w.advanceClock(), UpdatedAt: w.now, Meta: json.RawMessage(`{}`)}
	b.Conversation = c.ID
	c, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	return c
}

// tryBegin opens a turn without messages after edit had a look at the call.
func (w *limitsHarness) tryBegin(id scrollback.ConversationID,
	edit func(*driver.BeginRequest)) (driver.BeginResult, error) {
	now := w.advanceClock()
	b := driver.BeginRequest{Now: now, Turn: scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")), Conversation: id,
		State: scrollback.TurnOpen,
		Owner: w.newID("owner"), LeaseUntil: now + 30_000, StartedAt: now}}
	if edit != nil {
		edit(&b)
	}
	return w.Turns.Begin(w.ctx, b)
}

func (w *limitsHarness) beginTurn(id scrollback.ConversationID) scrollback.Turn {
	w.t.Helper()
	got, err := w.tryBegin(id, nil)
	w.wantOK(err)
	return got.Turn
}

// testTallies: what an actor begins is counted in its window up to what it may, by itself
// and with a turn; what is refused, replayed or fails counts nothing; windows that have
// ended go.
func testTallies(w *limitsHarness) {
	hour := driver.Tally{Actor: "a", Start: 3600, Until: 7200, Most: 2}
	holds := func(t driver.Tally, want int64) {
		w.t.Helper()
		if got, err := w.Access.ReadTally(w.ctx, t); err != nil || got != want {
			w.t.Errorf("%s has begun %d, want %d (%v)", t.Actor, got, want, err)
		}
	}
	holds(hour, 0)
	for want := range int64(2) {
		if got, err := w.Access.CountTally(w.ctx, hour); err != nil || got != want+1 {
			w.t.Errorf("count %d gives %d (%v)", want, got, err)
		}
	}
	_, err := w.Access.CountTally(w.ctx, hour)
	w.wantCode(err, scrollback.RateLimited)
	holds(hour, 2)
	other := hour
	next := hour
	other.Actor = "b"
	next.Start = 7200
	next.Until = 10800
	holds(other, 0)
	holds(next, 0)

	c := w.addConversation("house")
	counted := func(t *driver.Tally, key string) func(*driver.BeginRequest) {
		return func(b *driver.BeginRequest) {
			b.Tally = t
			b.Turn.Idempotency = scrollback.Idempotency{Key: key, Hash: "h"}
		}
	}
	_, err = w.tryBegin(c.ID, counted(&hour, ""))
	w.wantCode(err, scrollback.RateLimited)
	if _, err := w.Turns.GetLast(w.ctx, c.ID); scrollback.CodeOf(err) != scrollback.NotFound {
		w.t.Errorf("a refused turn left something: %v", err)
	}
	_, err = w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Tally = &other
		b.Admit = func(*scrollback.Turn) error { return scrollback.Errorf(scrollback.Invalid, "op", "no") }
	})
	w.wantCode(err, scrollback.Invalid)
	holds(other, 0)
	begun, err := w.tryBegin(c.ID, counted(&other, "k"))
	w.wantOK(err)
	if begun.Tallied != 1 {
		w.t.Errorf("a turn is counted as %d", begun.Tallied)
	}
	begun, err = w.tryBegin(c.ID, counted(&other, "k"))
	if w.wantOK(err); !begun.Replayed || begun.Tallied != 0 {
		w.t.Errorf("a replay is counted: %+v", begun)
	}
	_, err = w.tryBegin(c.ID, counted(&other, ""))
	w.wantCode(err, scrollback.Conflict)
	holds(other, 1)

	_, err = w.Access.CountTally(w.ctx, next)
	w.wantOK(err)
	holds(next, 1)
	holds(hour, 0)
	holds(other, 0) // its window ended when the next began
}

// testWithin: what counts in several tallies is counted in all of them or in none, by itself and with a
// turn, even if others count at the same time.
func testWithin(w *limitsHarness) {
	top := driver.Tally{Actor: "top", Until: 5000, Most: 5}
	of := func(actor string, most int64) driver.Tally {
		middle := driver.Tally{Actor: "middle", Until: 1000, Most: 9, Within: &top}
		return driver.Tally{Actor: actor, Until: 1000, Most: most, Within: &middle}
	}
	holds := func(a, b, middle, all int64) {
		w.t.Helper()
		for t, want := range map[driver.Tally]int64{{Actor: "a", Until: 1000}: a, {Actor: "b", Until: 1000}: b,
			{Actor: "middle", Until: 1000}: middle, {Actor: "top", Until: 5000}: all} {
			if got, err := w.Access.ReadTally(w.ctx, t); err != nil || got != want {
				w.t.Errorf("%s has begun %d, want %d (%v)", t.Actor, got, want, err)
			}
		}
	}
	got, err := w.Access.CountTally(w.ctx, of("a", 2))
	if w.wantOK(err); got != 1 {
		w.t.Errorf("it is counted as %d", got)
	}
	c := w.addConversation("house")
	b := of("b", 9)
	_, err = w.tryBegin(c.ID, func(n *driver.BeginRequest) { n.Tally = &b })
	w.wantOK(err)
	holds(1, 1, 2, 2)
	_, err = w.Access.CountTally(w.ctx, of("a", 1))
	w.wantCode(err, scrollback.RateLimited)
	holds(1, 1, 2, 2)
	var let atomic.Int64
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if _, err := w.Access.CountTally(w.ctx, of([]string{"a", "b"}[i%2], 99)); err == nil {
				let.Add(1)
			} else if scrollback.CodeOf(err) != scrollback.RateLimited {
				w.t.Error(err)
			}
		})
	}
	if all.Wait(); let.Load() != 3 {
		w.t.Errorf("%d were let in where there was room for 3", let.Load())
	}
	a, err := w.Access.ReadTally(w.ctx, driver.Tally{Actor: "a", Until: 1000})
	w.wantOK(err)
	holds(a, 5-a, 5, 5)
	_, err = w.tryBegin(w.addConversation("shed").ID, func(n *driver.BeginRequest) { n.Tally = &b })
	w.wantCode(err, scrollback.RateLimited)
	holds(a, 5-a, 5, 5)
}

// testMadeBy: which keys a key has made is found through all generations, whatever is stored.
func testMadeBy(w *limitsHarness) {
	for id, maker := range map[scrollback.KeyID]scrollback.KeyID{"child": "root", "other": "root", "grandchild": "child",
		"stranger": "elsewhere",
		"left":     "right", "right": "left"} {
		w.wantOK(w.Access.SetKeyLimits(w.ctx, id, scrollback.KeyLimits{Maker: maker}))
	}
	w.wantOK(w.Access.SetKeyLimits(w.ctx, "root", scrollback.KeyLimits{SpendLimit: scrollback.SpendLimit{Tokens: 7}}))
	for id, want := range map[scrollback.KeyID][]scrollback.KeyID{"root": {"child", "grandchild", "other"},
		"child":      {"grandchild"},
		"grandchild": nil, "left": {"right"}, "nobody": nil} {
		got, err := w.Access.ListKeysMadeBy(w.ctx, id)
		w.wantOK(err)
		w.wantSame(string(id)+" made", want, got)
	}
}

// testConcurrentTallies: when several count at the same time, no more begin than are allowed.
func testConcurrentTallies(w *limitsHarness) {
	const most = 5
	t := driver.Tally{Actor: "a", Until: 1000, Most: most}
	var let atomic.Int64
	var all sync.WaitGroup
	for range 3 * most {
		all.Go(func() {
			if _, err := w.Access.CountTally(w.ctx, t); err == nil {
				let.Add(1)
			} else if scrollback.CodeOf(err) != scrollback.RateLimited {
				w.t.Error(err)
			}
		})
	}
	if all.Wait(); let.Load() != most {
		w.t.Errorf("%d were let in, want %d", let.Load(), most)
	}
}

// testKeyLimits: what was set for a key is kept as it is, until it is nothing.
func testKeyLimits(w *limitsHarness) {
	holds := func(want scrollback.KeyLimits) {
		w.t.Helper()
		got, err := w.Access.ReadKeyLimits(w.ctx, "k")
		w.wantOK(err)
		w.wantSame("the limits of a key", want, got)
	}
	holds(scrollback.KeyLimits{})
	for _, l := range []scrollback.KeyLimits{{Rate: scrollback.Rate{Chats: 3, PerMS: 1000}},
		{SpendLimit: scrollback.SpendLimit{Tokens: 7, Money: 0.5, Currency: "EUR"}}, {}} {
		w.wantOK(w.Access.SetKeyLimits(w.ctx, "k", l))
		holds(l)
	}
	w.wantOK(w.Access.SetKeyLimits(w.ctx, "other",
		scrollback.KeyLimits{Rate: scrollback.Rate{Chats: scrollback.Unlimited}}))
	holds(scrollback.KeyLimits{})
}

// testSpending: usage is added up by key and conversation where that is asked for, and for
// one day of a key or a project.
func testSpending(w *limitsHarness) {
	c := w.addConversation("house")
	d := w.addConversation("shed")
	day := w.now / scrollback.DayMS
	spend := func(c scrollback.Conversation, key scrollback.KeyID, at, tokens int64, currency string) {
		turn := w.beginTurn(c.ID)
		_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
			State: scrollback.TurnComplete,
			Usage: []scrollback.UsageRecord{{Conversation: c.ID, Model: "a/x", Key: key, At: at,
				Purpose: map[bool]string{true: "turn", false: "summary"}[tokens < 8],
				Usage:   scrollback.Usage{InputTokens: tokens, TotalTokens: tokens, Cost: 0.5, Currency: currency}}}})
		w.wantOK(err)
	}
	spend(c, "", w.now, 1, "USD")
	spend(c, "k", w.now, 2, "USD")
	spend(c, "k", w.now, 4, "EUR")
	spend(d, "k", w.now, 8, "USD")
	spend(d, "l", w.now, 16, "USD")
	spend(d, "k", w.now+scrollback.DayMS, 32, "USD")
	sums := func(q driver.SpendingQuery, want scrollback.Usage) {
		w.t.Helper()
		q.Currency = want.Currency
		got, err := w.Access.SumSpending(w.ctx, q)
		w.wantOK(err)
		w.wantSame("what was spent", want, got)
	}
	sum := func(tokens int64, cost float64, currency string) scrollback.Usage {
		return scrollback.Usage{TotalTokens: tokens, Cost: cost, Currency: currency}
	}
	sums(driver.SpendingQuery{Day: day, Key: "k"}, sum(14, 0.5, "EUR"))
	sums(driver.SpendingQuery{Day: day, Key: "k"}, sum(14, 1, "USD"))
	sums(driver.SpendingQuery{Day: day, Project: "shed"}, sum(24, 1, "USD"))
	sums(driver.SpendingQuery{Day: day + 1, Key: "k"}, sum(32, 0.5, "USD"))
	sums(driver.SpendingQuery{Day: day + 1, Key: "l"}, sum(0, 0, "USD"))
	part := func(day int64, project, currency string, key scrollback.KeyID, id scrollback.ConversationID,
		calls, tokens int64) scrollback.UsageDay {
		return scrollback.UsageDay{Day: day, Model: "a/x", Project: project, Key: key, Conversation: id, Calls: calls,
			Usage: scrollback.Usage{InputTokens: tokens, TotalTokens: tokens, Cost: 0.5 * float64(calls), Currency: currency}}
	}
	got, err := w.Access.DivideUsage(w.ctx, driver.UsagePartsQuery{First: day, Last: day, ByKey: true})
	w.wantOK(err)
	w.wantSame("the day by key", []scrollback.UsageDay{part(day, c.Project, "EUR", "k", "", 1, 4),
		part(day, c.Project, "USD", "", "", 1, 1),
		part(day, c.Project, "USD", "k", "", 1, 2), part(day, "shed", "USD", "k", "", 1, 8),
		part(day, "shed", "USD", "l", "", 1, 16)}, got)
	got, err = w.Access.DivideUsage(w.ctx, driver.UsagePartsQuery{First: day + 1, Last: day + 9, ByConversation: true})
	w.wantOK(err)
	wantSame(
		w.t,
		"the next day by conversation",
		[]scrollback.UsageDay{part(day+1, "shed", "USD", "", d.ID, 1, 32)},
		got,
	)
	of := func(d scrollback.UsageDay, purpose string) scrollback.UsageDay {
		d.Purpose = purpose
		return d
	}
	got, err = w.Access.DivideUsage(w.ctx, driver.UsagePartsQuery{First: day, Last: day + 9, ByPurpose: true,
		Conversation: c.ID})
	w.wantOK(err)
	wantSame(
		w.t,
		"one conversation by purpose",
		[]scrollback.UsageDay{of(part(day, c.Project, "EUR", "", "", 1, 4), "turn"),
			of(part(day, c.Project, "USD", "", "", 2, 3), "turn")},
		got,
	)
	got, err = w.Access.DivideUsage(w.ctx,
		driver.UsagePartsQuery{First: day, Last: day, ByPurpose: true, Conversation: d.ID})
	w.wantOK(err)
	w.wantSame("the other", []scrollback.UsageDay{of(part(day, "shed", "USD", "", "", 2, 24), "summary")}, got)
}

// testDaysOfZones: days are those of the zone that is asked for, however far from UTC.
func testDaysOfZones(w *limitsHarness) {
	c := w.addConversation("house")
	day := w.now / scrollback.DayMS
	spend := func(at, tokens int64) {
		turn := w.beginTurn(c.ID)
		_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
			State: scrollback.TurnComplete,
			Usage: []scrollback.UsageRecord{{Conversation: c.ID, Model: "a/x", At: at, Purpose: "turn",
				Usage: scrollback.Usage{InputTokens: tokens, TotalTokens: tokens, Cost: 0.5, Currency: "USD"}}}})
		w.wantOK(err)
	}
	const hour = scrollback.DayMS / 24
	spend(day*scrollback.DayMS, 1)                    // midnight in UTC
	spend(day*scrollback.DayMS+10*hour-1, 2)          // the last ms of the day in UTC+14
	spend(day*scrollback.DayMS+10*hour, 4)            // the first of the next
	spend((day+1)*scrollback.DayMS+11*hour+hour/2, 8) // of the day in UTC-11, which began yesterday
	for _, c := range []struct {
		zone        *time.Location
		first, last int64
		want        map[int64]int64
	}{
		{nil, day, day + 1, map[int64]int64{day: 7, day + 1: 8}},
		{time.FixedZone("east", 14*3600), day - 1, day + 9, map[int64]int64{day: 3, day + 1: 4, day + 2: 8}},
		{time.FixedZone("east", 14*3600), day + 1, day + 1, map[int64]int64{day + 1: 4}},
		{time.FixedZone("west", -11*3600), day - 1, day + 9, map[int64]int64{day - 1: 7, day + 1: 8}},
		{time.FixedZone("west", -11*3600), day - 1, day - 1, map[int64]int64{day - 1: 7}},
	} {
		got, err := w.Access.DivideUsage(w.ctx, driver.UsagePartsQuery{First: c.first, Last: c.last, Zone: c.zone})
		w.wantOK(err)
		tokens := map[int64]int64{}
		for _, d := range got {
			tokens[d.Day] += d.InputTokens
		}
		w.wantSame(fmt.Sprintf("the days %d to %d in %v", c.first-day, c.last-day, c.zone), c.want, tokens)
	}
}
