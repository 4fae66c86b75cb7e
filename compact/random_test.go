package compact

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// anyLog draws turns as providers make them, on one or more branches, some of them cut
// off, with an occasional result or role out of place.
func anyLog(t *rapid.T, first int64) []scrollback.Message {
	var out []scrollback.Message
	branch := 0
	add := func(role scrollback.Role, parts ...scrollback.Part) {
		seq := first + int64(len(out))
		if rapid.IntRange(0, 9).Draw(t, "branch point") == 0 {
			branch++
		}
		out = append(out, scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(seq)), ConversationID: "c",
			Branch: scrollback.BranchID(fmt.Sprint("b", branch)),
			Seq:    seq, Role: role, Parts: parts, Status: scrollback.StatusComplete, CreatedAt: 1_700_000_000_000 + seq,
			Weight: scrollback.Weight{Tokens: int64(rapid.IntRange(1, 300).Draw(t, "tokens")),
				Bytes:  int64(rapid.IntRange(1, 900).Draw(t, "bytes")),
				Images: seq % 7 / 6}})
	}
	text := func() scrollback.Part {
		return scrollback.Text{Text: rapid.SampledFrom([]string{"It is number 4711, they say.", "Always answer in French.",
			"记住我的名字是小明。",
			"fine"}).Draw(t, "text")}
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
			add(rapid.SampledFrom([]scrollback.Role{scrollback.RoleSystem, scrollback.RoleTool,
				scrollback.RoleAssistant}).Draw(t, "role"), text())
		}
	}
	return out
}

func anySituation(t *rapid.T) situation {
	var carried []scrollback.Message
	if rapid.Bool().Draw(t, "carried before") {
		carried = []scrollback.Message{{Seq: 3, Role: scrollback.RoleUser,
			Weight: scrollback.Weight{Tokens: 70, Bytes: 7, Images: 1}}}
	}
	var s situation
	s.Window.Live = anyLog(t, 5)
	s.Window.Carried = carried
	s.Policy = segments
	s.fixed.Tokens = int64(rapid.IntRange(0, 500).Draw(t, "fixed"))
	s.Window.Budget.Weight = scrollback.Weight{Tokens: int64(rapid.IntRange(500, 4000).Draw(t, "budget")), Bytes: 1 << 20,
		Images: 20}
	s.More = rapid.Bool().Draw(t, "more")
	switch rapid.IntRange(0, 5).Draw(t, "all") {
	case 0:
		s.Reason = Everything
	case 1:
		s.Reason = Replaced
		s.Given.Through = int64(rapid.IntRange(4, 6+len(s.Window.Live)).Draw(t, "through"))
	}
	return s
}

// partedCall returns a call whose result stands on the other side of the cut, or "".
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

// answered reports whether the last calls of a log all have their results.
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

// A cut never separates a call from its result, and the newest user message stays live
// or is carried.
func TestAnyCutIsLegal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySituation(t)
		cut, ok := planCut(&s.Input, s.fixed)
		if !ok {
			if s.Reason == Everything && len(s.Window.Live) > 0 {
				t.Fatal("nothing to start afresh from")
			}
			return
		}
		all := cut.messages == len(s.Window.Live)
		if cut.messages < 1 || cut.messages > len(s.Window.Live) || s.Reason == Everything && !all ||
			all && s.Reason != Everything && s.Reason != Replaced {
			t.Fatalf("%+v of %d messages", cut, len(s.Window.Live))
		}
		if s.Reason == Replaced && s.Window.Live[cut.messages-1].Seq > s.Given.Through {
			t.Fatalf("%+v folds more than the summary stands for, up to #%d", cut, s.Given.Through)
		}
		if s.Reason == Everything {
			return
		}
		if id := partedCall(s.Window.Live, cut.messages); id != "" {
			t.Fatalf("%+v parts %s from its result", cut, id)
		}
		newest := newestUser(s.Window.Live)
		switch {
		case newest < 0 && len(s.Window.Carried) == 0 && cut.carry == 0, newest >= cut.messages && cut.carry == 0:
		case newest < 0 && len(s.Window.Carried) > 0 && cut.carry == 3: // it stays carried
		case newest >= 0 && newest < cut.messages && cut.carry == s.Window.Live[newest].Seq:
			if newest+1 >= cut.messages {
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
	fit := 0
	within := 0
	judge := func(t *rapid.T) {
		s := anySituation(t)
		s.More = false
		s.Reason = WhenDue
		cut, ok := planCut(&s.Input, s.fixed)
		if !ok {
			return
		}
		weigh := func(n int, carry int64) (w scrollback.Weight) {
			w = s.fixed
			for i, m := range append(s.Window.Live[:len(s.Window.Live):len(s.Window.Live)], s.Window.Carried...) {
				if i >= n && i < len(s.Window.Live) || m.Seq == carry {
					w = w.Add(m.Weight)
				}
			}
			w.Tokens += min(400, s.Window.Budget.Tokens/20)
			if n > 0 {
				w.Tokens += window.FoldTokens
			}
			return w
		}
		fits := func(w scrollback.Weight) bool {
			return 2*w.Tokens <= s.Window.Budget.Tokens && 2*w.Bytes <= s.Window.Budget.Bytes &&
				2*w.Images <= s.Window.Budget.Images
		}
		var first int
		for i := len(s.Window.Live) - 1; i > 0; i-- {
			if s.Window.Live[i].Role == scrollback.RoleUser && fits(weigh(i, 0)) {
				first = i
			}
		}
		switch {
		case first > 0:
			fit++
			if cut.messages != first || cut.carry != 0 {
				t.Fatalf("%+v, and at %d it fits", cut, first)
			}
		case fits(weigh(cut.messages, cut.carry)) && cut.messages <= newestUser(s.Window.Live):
			t.Fatalf("%+v fits, which no user boundary should", cut)
		case cut.carry != 0 && fits(weigh(cut.messages, cut.carry)):
			within++
			for i := newestUser(s.Window.Live) + 2; i < cut.messages; i++ {
				if s.Window.Live[i].Role == scrollback.RoleAssistant && partedCall(s.Window.Live, i) == "" &&
					s.Window.Live[i-1].Role == scrollback.RoleTool &&
					fits(weigh(i, cut.carry)) && len(s.Window.Live[i-1].Parts.Results()) > 0 && answered(s.Window.Live[:i]) {
					t.Fatalf("%+v, and at %d it fits", cut, i)
				}
			}
		case cut.carry != 0:
			piece := s.Input
			piece.More = true
			piece.Policy.LeastShare = 0
			if later, ok := planCut(&piece, scrollback.Weight{}); !ok || later != cut {
				t.Fatalf("nothing fits, and %+v is not the cut that frees most, %+v", cut, later)
			}
		}
	}
	// How many of a hundred cuts are worth judging varies: go on until there are enough.
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
		cut, ok := planCut(&s.Input, s.fixed)
		if !ok {
			return
		}
		shelf := newShelf()
		j := shelf.job(s.Window.Live, cut, s.Window.Budget.Tokens)
		j.Branch.View = scrollback.View{Boundary: 4, Sum: scrollback.Weight{Tokens: 1000, Bytes: 2000, Images: 3}, RetryAt: 5}
		j.Window.Carried = s.Window.Carried
		f, err := j.buildFold()
		if err != nil {
			t.Fatal(err)
		}
		checkLeaves(t, s.Window.Live[:cut.messages], f.leaves)
		hidden := j.Branch.View.Sum
		carried := []int64{}
		stays := newestUser(s.Window.Live) < 0 && s.Reason != Everything
		for _, m := range j.Window.Carried {
			if stays {
				carried = append(carried, m.Seq)
			} else {
				hidden = hidden.Add(m.Weight)
			}
		}
		for _, m := range s.Window.Live[:cut.messages] {
			if m.Seq == cut.carry {
				carried = append(carried, m.Seq)
			} else {
				hidden = hidden.Add(m.Weight)
			}
		}
		if f.view.Sum != hidden || !slices.Equal(f.view.Carried, carried) ||
			f.view.Boundary != s.Window.Live[cut.messages-1].Seq ||
			f.view.RetryAt != 0 {
			t.Fatalf("view %+v; hidden %+v, carried %v", f.view, hidden, carried)
		}
		checkShown(t, f, s.Window.Budget.Tokens)
	})
}

// checkLeaves judges the leaves of a fold of run.
func checkLeaves(t interface {
	Helper()
	Fatalf(string, ...any)
}, run []scrollback.Message, leaves []scrollback.Segment) {
	t.Helper()
	for _, l := range leaves {
		if l.Messages < 1 || l.Messages > scrollback.MaxSegmentMessages || l.Messages > len(run) || l.Level != 0 ||
			len(l.Children) != 0 {
			t.Fatalf("leaf %+v", l)
		}
		mine := run[:l.Messages]
		run = run[l.Messages:]
		var weight, bytes int64
		for _, m := range mine {
			if m.Branch != l.Branch {
				t.Fatalf("leaf %s reaches from %s to %s", l.ID, l.Branch, m.Branch)
			}
			weight += m.Weight.Tokens
			bytes += m.Weight.Bytes
		}
		hash, err := scrollback.HashMessages(mine)
		if err != nil || l.Hash != hash || l.FirstSeq != mine[0].Seq || l.LastSeq != mine[len(mine)-1].Seq ||
			l.TokensBefore != weight ||
			l.From != mine[0].CreatedAt || l.To != mine[len(mine)-1].CreatedAt || l.SummaryOf != l.FirstSeq ||
			bytes > scrollback.MaxSegmentBytes && len(mine) > 1 {
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
}, f builtFold, budget int64) {
	t.Helper()
	var tokens int64
	bound := min(400, budget/20)
	for i, s := range f.shown {
		tokens += s.TokensAfter
		if v := f.view.Segments[i]; v != (scrollback.ViewItem{ID: s.ID, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq,
			Level: s.Level}) {
			t.Fatalf("the view has %+v for %+v", v, s)
		}
		if s.TokensAfter > bound && s.Summary != "" {
			t.Fatalf("placeholder of %d tokens, over %d, and not the least there can be:\n%s", s.TokensAfter, bound,
				s.Placeholder)
		}
		if i > 0 && f.shown[i-1].LastSeq+1 != s.FirstSeq {
			t.Fatalf("a gap before %+v", s)
		}
	}
	if len(f.shown) != len(f.view.Segments) || len(f.shown) > 8 ||
		len(f.shown) > 2 && float64(tokens) > 0.1*float64(budget) {
		t.Fatalf("%d segments of %d tokens are shown, the budget is %d", len(f.shown), tokens, budget)
	}
}
