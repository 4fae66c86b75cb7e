package compact_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
)

// anyLog draws turns as providers make them, some of them cut off, and now and
// then a result or a role out of place, on one or more branches.
func anyLog(t *rapid.T, first int64) []scrollback.Message {
	var out []scrollback.Message
	branch := 0
	add := func(role scrollback.Role, parts ...scrollback.Part) {
		seq := first + int64(len(out))
		if rapid.IntRange(0, 9).Draw(t, "branch point") == 0 {
			branch++
		}
		out = append(out, scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(seq)), ConversationID: "c", Branch: scrollback.BranchID(fmt.Sprint("b", branch)),
			Seq: seq, Role: role, Parts: parts, Status: scrollback.StatusComplete, CreatedAt: 1_700_000_000_000 + seq,
			Weight: scrollback.Weight{Tokens: int64(rapid.IntRange(1, 300).Draw(t, "tokens")), Bytes: int64(rapid.IntRange(1, 900).Draw(t, "bytes")), Images: seq % 7 / 6}})
	}
	text := func() scrollback.Part {
		return scrollback.Text{Text: rapid.SampledFrom([]string{"It is number 4711, they say.", "Always answer in French.", "记住我的名字是小明。", "fine"}).Draw(t, "text")}
	}
	for range rapid.IntRange(0, 6).Draw(t, "turns") {
		if rapid.IntRange(0, 7).Draw(t, "asked") > 0 {
			add(scrollback.RoleUser, text())
		}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			n := rapid.IntRange(0, 3).Draw(t, "calls")
			parts := []scrollback.Part{text()}
			for i := range n {
				parts = append(parts, scrollback.ToolCall{ID: fmt.Sprint("c", i), Name: "f", Arguments: json.RawMessage(`{}`)})
			}
			add(scrollback.RoleAssistant, parts...)
			for i := range rapid.IntRange(0, n).Draw(t, "answered") {
				add(scrollback.RoleTool, scrollback.ToolResult{CallID: fmt.Sprint("c", i), Name: "f", Text: "ok"})
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
			add(rapid.SampledFrom([]scrollback.Role{scrollback.RoleSystem, scrollback.RoleTool, scrollback.RoleAssistant}).Draw(t, "role"), text())
		}
	}
	return out
}

func anySituation(t *rapid.T) compact.Situation {
	var carried []scrollback.Message
	if rapid.Bool().Draw(t, "carried before") {
		carried = []scrollback.Message{{Seq: 3, Role: scrollback.RoleUser, Weight: scrollback.Weight{Tokens: 70, Bytes: 7, Images: 1}}}
	}
	return compact.Situation{Live: anyLog(t, 5), Carried: carried, Fixed: scrollback.Weight{Tokens: int64(rapid.IntRange(0, 500).Draw(t, "fixed"))},
		Budget: scrollback.Budget{Weight: scrollback.Weight{Tokens: int64(rapid.IntRange(500, 4000).Draw(t, "budget")), Bytes: 1 << 20, Images: 20}},
		Policy: segments,
		More:   rapid.Bool().Draw(t, "more"), All: rapid.IntRange(0, 5).Draw(t, "all") == 0}
}

// partedCall is a call whose result stands on the other side of the cut, or "".
func partedCall(live []scrollback.Message, cut int) string {
	open := map[string]int{} // call → index of its message
	for i := range live {
		m := &live[i]
		if m.Role != scrollback.RoleTool {
			clear(open)
			for _, c := range m.Parts.Calls() {
				open[c.ID] = i
			}
			continue
		}
		for _, r := range m.Parts.Results() {
			if at, ok := open[r.CallID]; ok && at < cut && i >= cut {
				return r.CallID
			}
			delete(open, r.CallID)
		}
	}
	return ""
}

// answered says that the last calls of a log all have their results.
func answered(live []scrollback.Message) bool {
	for i := range slices.Backward(live) {
		if live[i].Role != scrollback.RoleTool {
			have := 0
			for _, m := range live[i+1:] {
				have += len(m.Parts.Results())
			}
			return len(live[i].Parts.Calls()) <= have
		}
	}
	return true
}

func newestUser(live []scrollback.Message) int {
	for i := range slices.Backward(live) {
		if live[i].Role == scrollback.RoleUser {
			return i
		}
	}
	return -1
}

// A cut parts no call from its result, and the newest user message stays live or
// is carried.
func TestAnyCutIsLegal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySituation(t)
		cut, ok := compact.Plan(s)
		if !ok {
			if s.All && len(s.Live) > 0 {
				t.Fatal("nothing to start afresh from")
			}
			return
		}
		if cut.Messages < 1 || cut.Messages > len(s.Live) || (cut.Messages == len(s.Live)) != s.All {
			t.Fatalf("%+v of %d messages", cut, len(s.Live))
		}
		if s.All {
			return
		}
		if id := partedCall(s.Live, cut.Messages); id != "" {
			t.Fatalf("%+v parts %s from its result", cut, id)
		}
		newest := newestUser(s.Live)
		switch {
		case newest < 0 && len(s.Carried) == 0 && cut.Carry == 0, newest >= cut.Messages && cut.Carry == 0:
		case newest < 0 && len(s.Carried) > 0 && cut.Carry == 3: // it stays carried
		case newest >= 0 && newest < cut.Messages && cut.Carry == s.Live[newest].Seq:
			if newest+1 >= cut.Messages {
				t.Fatalf("%+v folds no more than what it carries", cut)
			}
		default:
			t.Fatalf("%+v, and the newest user message is %d", cut, newest)
		}
	})
}

// Of the cuts at user messages the first that fits is taken, and a cut within the
// turn only when none of them does.
func TestCutKeepsMost(t *testing.T) {
	fit, within := 0, 0
	judge := func(t *rapid.T) {
		s := anySituation(t)
		s.More, s.All = false, false
		cut, ok := compact.Plan(s)
		if !ok {
			return
		}
		weigh := func(n int, carry int64) (w scrollback.Weight) {
			w = s.Fixed
			for i, m := range append(s.Live[:len(s.Live):len(s.Live)], s.Carried...) {
				if i >= n && i < len(s.Live) || m.Seq == carry {
					w = w.Add(m.Weight)
				}
			}
			w.Tokens += min(400, s.Budget.Tokens/20)
			return w
		}
		fits := func(w scrollback.Weight) bool {
			return 2*w.Tokens <= s.Budget.Tokens && 2*w.Bytes <= s.Budget.Bytes && 2*w.Images <= s.Budget.Images
		}
		var first int
		for i := len(s.Live) - 1; i > 0; i-- {
			if s.Live[i].Role == scrollback.RoleUser && fits(weigh(i, 0)) {
				first = i
			}
		}
		switch {
		case first > 0:
			fit++
			if cut.Messages != first || cut.Carry != 0 {
				t.Fatalf("%+v, and at %d it fits", cut, first)
			}
		case fits(weigh(cut.Messages, cut.Carry)) && cut.Messages <= newestUser(s.Live):
			t.Fatalf("%+v fits, which no user boundary should", cut)
		case cut.Carry != 0 && fits(weigh(cut.Messages, cut.Carry)):
			within++
			for i := newestUser(s.Live) + 2; i < cut.Messages; i++ {
				if s.Live[i].Role == scrollback.RoleAssistant && partedCall(s.Live, i) == "" && s.Live[i-1].Role == scrollback.RoleTool &&
					fits(weigh(i, cut.Carry)) && len(s.Live[i-1].Parts.Results()) > 0 && answered(s.Live[:i]) {
					t.Fatalf("%+v, and at %d it fits", cut, i)
				}
			}
		case cut.Carry != 0:
			if later, ok := compact.Plan(compact.Situation{Live: s.Live, Carried: s.Carried, More: true}); !ok || later != cut {
				t.Fatalf("nothing fits, and %+v is not the cut that frees most, %+v", cut, later)
			}
		}
	}
	// How many of a hundred cuts are worth judging is chance: go on until enough were.
	for range 50 {
		if rapid.Check(t, judge); fit >= 5 && within >= 5 {
			return
		}
	}
	t.Errorf("too few cuts were worth judging: %d, %d", fit, within)
}

// Leaves cover what is folded exactly once and in order, within their bounds, and
// the view counts what it hides.
func TestAnyFoldIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySituation(t)
		cut, ok := compact.Plan(s)
		if !ok {
			return
		}
		shelf := newShelf()
		j := shelf.job(s.Live, cut, s.Budget.Tokens)
		j.View = scrollback.View{Boundary: 4, Sum: scrollback.Weight{Tokens: 1000, Bytes: 2000, Images: 3}, RetryAt: 5}
		j.Carried = s.Carried
		f, err := compact.Build(j)
		if err != nil {
			t.Fatal(err)
		}
		checkLeaves(t, s.Live[:cut.Messages], f.Leaves)
		hidden, carried := j.View.Sum, []int64{}
		stays := newestUser(s.Live) < 0 && !s.All
		for _, m := range j.Carried {
			if stays {
				carried = append(carried, m.Seq)
			} else {
				hidden = hidden.Add(m.Weight)
			}
		}
		for _, m := range s.Live[:cut.Messages] {
			if m.Seq == cut.Carry {
				carried = append(carried, m.Seq)
			} else {
				hidden = hidden.Add(m.Weight)
			}
		}
		if f.View.Sum != hidden || !slices.Equal(f.View.Carried, carried) || f.View.Boundary != s.Live[cut.Messages-1].Seq || f.View.RetryAt != 0 {
			t.Fatalf("view %+v; hidden %+v, carried %v", f.View, hidden, carried)
		}
		checkShown(t, f, s.Budget.Tokens)
	})
}

// checkLeaves judges the leaves of a fold of run.
func checkLeaves(t interface {
	Helper()
	Fatalf(string, ...any)
}, run []scrollback.Message, leaves []scrollback.Segment) {
	t.Helper()
	for _, l := range leaves {
		if l.Messages < 1 || l.Messages > scrollback.MaxSegmentMessages || l.Messages > len(run) || l.Level != 0 || len(l.Children) != 0 {
			t.Fatalf("leaf %+v", l)
		}
		mine := run[:l.Messages]
		run = run[l.Messages:]
		var weight, bytes int64
		for _, m := range mine {
			if m.Branch != l.Branch {
				t.Fatalf("leaf %s reaches from %s to %s", l.ID, l.Branch, m.Branch)
			}
			weight, bytes = weight+m.Weight.Tokens, bytes+m.Weight.Bytes
		}
		hash, err := scrollback.HashMessages(mine)
		if err != nil || l.Hash != hash || l.FirstSeq != mine[0].Seq || l.LastSeq != mine[len(mine)-1].Seq || l.TokensBefore != weight ||
			l.From != mine[0].CreatedAt || l.To != mine[len(mine)-1].CreatedAt || l.SummaryOf != l.FirstSeq || bytes > scrollback.MaxSegmentBytes && len(mine) > 1 {
			t.Fatalf("leaf %+v of %d messages, %d bytes", l, len(mine), bytes)
		}
	}
	if len(run) != 0 {
		t.Fatalf("%d messages are in no leaf", len(run))
	}
}

// checkShown judges the segments that a fold leaves in sight.
func checkShown(t interface {
	Helper()
	Fatalf(string, ...any)
}, f compact.Fold, budget int64) {
	t.Helper()
	var tokens int64
	bound := min(400, budget/20)
	for i, s := range f.Shown {
		tokens += s.TokensAfter
		if v := f.View.Segments[i]; v != (scrollback.ViewItem{ID: s.ID, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, Level: s.Level}) {
			t.Fatalf("the view has %+v for %+v", v, s)
		}
		if s.TokensAfter > bound && s.Summary != "" {
			t.Fatalf("placeholder of %d tokens, over %d, and not the least there can be:\n%s", s.TokensAfter, bound, s.Placeholder)
		}
		if i > 0 && f.Shown[i-1].LastSeq+1 != s.FirstSeq {
			t.Fatalf("a gap before %+v", s)
		}
	}
	if len(f.Shown) != len(f.View.Segments) || len(f.Shown) > 8 || len(f.Shown) > 2 && float64(tokens) > 0.1*float64(budget) {
		t.Fatalf("%d segments of %d tokens are shown, the budget is %d", len(f.Shown), tokens, budget)
	}
}
