package drivertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// walk does the same things to two drivers.
type walk struct {
	t             testing.TB
	ctx           context.Context
	rng           *rand.Rand
	seed          uint64
	a, b          driver.Driver
	now           int64
	n             int
	conversations []scrollback.Conversation // as planned, for id and branch
	turns         []scrollback.Turn         // as planned, for id and owner
	trail         []string                  // the calls made so far
}

// moves lists what a walk does and how often, of their sum.
var moves = []struct {
	often int
	move  func(*walk)
}{
	{6, (*walk).create}, {5, (*walk).patch}, {22, (*walk).begin}, {10, (*walk).save}, {20, (*walk).finish},
	{10, (*walk).append}, {10, (*walk).commit}, {5, (*walk).unfold}, {3, (*walk).stop}, {4, (*walk).artifact},
	{5, (*walk).search}, {4, (*walk).list},
}

// Walk does n things, chosen by seed, to two empty drivers and compares every
// answer, then all that can be read of them.
func Walk(t testing.TB, seed uint64, n int, a, b driver.Driver) {
	t.Helper()
	w := &walk{t: t, ctx: t.Context(), rng: rand.New(rand.NewPCG(seed, 1)), seed: seed, a: a, b: b, now: 1_000_000}
	sum := 0
	for _, m := range moves {
		sum += m.often
	}
	w.create()
	for range n {
		w.tick()
		at := w.rng.IntN(sum)
		for _, m := range moves {
			if at -= m.often; at < 0 {
				m.move(w)
				break
			}
		}
	}
	for _, turn := range w.turns {
		w.readTurn(turn.ID)
	}
	same(t, fmt.Sprintf("seed %d: all that can be read", seed), readAll(t, a), readAll(t, b))
	Check(t, a)
	Check(t, b)
}

// both makes a call on both drivers, compares what they answer, and hands it on.
func both[T any](w *walk, op string, call func(driver.Driver) (T, error)) (T, bool) {
	w.t.Helper()
	w.trail = append(w.trail, op)
	va, ea := call(w.a)
	vb, eb := call(w.b)
	type outcome struct {
		Code  scrollback.Code
		Lost  bool
		Value T
	}
	oa := outcome{scrollback.CodeOf(ea), errors.Is(ea, scrollback.ErrLostLease), va}
	ob := outcome{scrollback.CodeOf(eb), errors.Is(eb, scrollback.ErrLostLease), vb}
	if ea != nil && eb != nil { // what comes with an error means nothing
		oa.Value, ob.Value = *new(T), *new(T)
	}
	if d := diff(oa, ob); d != "" {
		from := max(0, len(w.trail)-20)
		w.t.Fatalf("seed %d, after %d calls, ending in\n  %s\nanswers differ (-a +b), errors %v and %v:\n%s",
			w.seed, len(w.trail), strings.Join(w.trail[from:], "\n  "), ea, eb, d)
	}
	return va, ea == nil
}

// errand is both for a call with nothing but an error to answer.
func errand(w *walk, op string, call func(driver.Driver) error) bool {
	w.t.Helper()
	_, ok := both(w, op, func(d driver.Driver) (struct{}, error) { return struct{}{}, call(d) })
	return ok
}

// tick moves the clock on. It stays even, and leases end on odd times.
func (w *walk) tick() int64 {
	w.now += 2 * int64(1+w.rng.IntN(20))
	return w.now
}

func (w *walk) id(kind string) string {
	w.n++
	return uuid(w.n, kind)
}

// often is true in so many of a hundred cases.
func (w *walk) often(percent int) bool { return w.rng.IntN(100) < percent }

// some picks one of vs.
func some[T any](w *walk, vs ...T) T { return vs[w.rng.IntN(len(vs))] }

// conversation picks one, a recent one more often.
func (w *walk) conversation() scrollback.Conversation {
	if w.often(70) {
		return some(w, w.conversations[max(0, len(w.conversations)-3):]...)
	}
	return some(w, w.conversations...)
}

// turn picks one, a recent one more often.
func (w *walk) turn() (scrollback.Turn, bool) {
	if len(w.turns) == 0 {
		return scrollback.Turn{}, false
	}
	t := some(w, w.turns...)
	if w.often(85) {
		t = some(w, w.turns[max(0, len(w.turns)-3):]...)
	}
	if w.often(8) {
		t.Owner = "thief"
	}
	return t, true
}

// words are what the walk's messages are found by.
var words = []string{"red", "redder", "blue", "green", "7077", "port", "数据", "据库", "库", "库房", "端口", "口"}

func (w *walk) terms(n int) []string {
	out := make([]string, w.rng.IntN(n+1))
	for i := range out {
		out[i] = some(w, words...)
	}
	return out
}

// entries makes up to n messages.
func (w *walk) entries(n int) []driver.Entry {
	var out []driver.Entry
	for range w.rng.IntN(n + 1) {
		w.now += 2
		e := driver.Entry{Terms: strings.Join(w.terms(5), " "), Message: scrollback.Message{
			ID: scrollback.MessageID(w.id("message")), Status: scrollback.StatusComplete, CreatedAt: w.now,
			Role:   some(w, scrollback.RoleUser, scrollback.RoleAssistant, scrollback.RoleTool, scrollback.RoleSystem),
			Weight: scrollback.Weight{Tokens: w.rng.Int64N(1000), Bytes: w.rng.Int64N(9000), Images: w.rng.Int64N(2)},
		}}
		e.Parts = some(w, nil, scrollback.Parts{scrollback.Text{Text: "<" + e.Terms + ">"}},
			scrollback.Parts{scrollback.ToolResult{CallID: "c", Name: "t", Text: e.Terms}})
		if w.often(15) {
			e.Usage, e.TurnID, e.Name = &scrollback.Usage{InputTokens: w.rng.Int64N(99), Cost: 0.125}, "t", "n"
		}
		for range w.rng.IntN(6) / 4 {
			e.Mentions = append(e.Mentions, w.newArtifact())
		}
		out = append(out, e)
	}
	return out
}

func (w *walk) newArtifact() scrollback.Artifact {
	return scrollback.Artifact{ID: artifactID(some(w, "a", "b", "c", "d", "e")), MediaType: some(w, "text/plain", "image/png"),
		Name: some(w, "", "one", "two"), Size: w.rng.Int64N(1 << 20), CreatedAt: w.now}
}
