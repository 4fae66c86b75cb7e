package compact

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// The last exchange begins with the newest question that was answered.
func TestExchange(t *testing.T) {
	for roles, want := range map[string]int{
		"": 0, "u": 0, "uaua": 2, "uauau": 2, "uauauu": 2, "uauatu": 2, "uaus": 0, "uauas": 2, "uau+t": 0, "uau+ta": 2,
		"au": 1, "auau": 1, "ta": 0, "u+t+t": 0,
	} {
		var live []scrollback.Message
		for i, c := range roles {
			m := scrollback.Message{Seq: int64(i + 1),
				Role: map[rune]scrollback.Role{'u': scrollback.RoleUser, 'a': scrollback.RoleAssistant,
					'+': scrollback.RoleAssistant, 't': scrollback.RoleTool, 's': scrollback.RoleSystem}[c]}
			if c == '+' {
				m.Parts = scrollback.Parts{scrollback.ToolCall{ID: "c", Name: "f"}}
			}
			live = append(live, m)
		}
		if got := lastExchange(live); got != want {
			t.Errorf("%s: %d, not %d", roles, got, want)
		}
	}
}

// What a cut is moved back to is legal too: it keeps more, and neither a call without its
// result nor an answer without its question.
func TestAnyWantedCutIsLegal(t *testing.T) {
	moved := 0
	within := 0
	judge := func(t *rapid.T) {
		s := anySituation(t)
		s.More = false
		s.Reason = rapid.SampledFrom([]Reason{WhenDue, MustFit, Forced}).Draw(t, "reason")
		s.Window.Budget.Tokens = max(s.Window.Budget.Tokens, 1500) // in less, no placeholder is within its bound
		s.Policy.LeastShare = rapid.Float64Range(0, 0.6).Draw(t, "least")
		own, ok := planCut(&s.Input, s.fixed)
		if !ok {
			return
		}
		j := newShelf().job(s.Window.Live, own, s.Window.Budget.Tokens)
		j.Window = s.Window
		j.Policy = s.Policy
		j.Reason = s.Reason
		j.Window.Budget.Limit = j.Window.Budget.Tokens * 4 / 3
		j.Window.Tools = []scrollback.Tool{{Name: "f"}}
		j.Window.ToolsWeight = s.fixed
		if _, err := j.settleCut(&windowWeights{window: window.Assemble(j.Window), fixed: s.fixed}); err != nil {
			t.Fatal(err)
		}
		if j.cut == own {
			return
		}
		moved++
		if j.cut.messages >= own.messages || j.cut.messages < 1 {
			t.Fatalf("%+v instead of %+v", j.cut, own)
		}
		if id := partedCall(s.Window.Live, j.cut.messages); id != "" {
			t.Fatalf("%+v parts %s from its result", j.cut, id)
		}
		question := newestUser(s.Window.Live[:j.cut.messages])
		switch at := s.Window.Live[j.cut.messages].Role; {
		case at == scrollback.RoleUser && j.cut.carry == 0:
		case question >= 0 && j.cut.carry == s.Window.Live[question].Seq,
			question < 0 && len(s.Window.Carried) > 0 && j.cut.carry == 3,
			question < 0 && len(s.Window.Carried) == 0 && j.cut.carry == 0:
			within++
		default:
			t.Fatalf("%+v begins with a message of %s, whose question is at %d", j.cut, at, question)
		}
		made, err := j.buildFold()
		if err != nil {
			t.Fatal(err)
		}
		most := j.Policy.mostAfter(j.Window.Budget, fixedTokens(window.Assemble(j.Window)))
		const unplanned = 60 // placeholders that cannot be shorter
		after := window.Assemble(j.inputAfter(&made))
		tokens := after.Weight.Tokens
		for _, it := range after.Items {
			if it.Kind == scrollback.KindRepair { // a result that the log lacks is in no plan
				tokens -= it.Weight.Tokens
			}
		}
		if tokens > most+unplanned {
			t.Fatalf("%+v leaves a window of %d, and %d are allowed", j.cut, tokens, most)
		}
	}
	for range 50 { // how many cuts move in a hundred varies
		if rapid.Check(t, judge); moved >= 20 && within >= 5 {
			return
		}
	}
	t.Errorf("too few cuts were moved: %d, %d of them into a turn", moved, within)
}

// A model's summary gets the room that the last exchange leaves, and no more.
func TestRunGivesTheSummaryWhatIsLeft(t *testing.T) {
	w, asked := writer("a", modeltest.Say(minutesOf("ship")))
	in := input(t, Snapshot, 7, w)
	for i, tokens := range []int64{330, 300, 300, 300, 100, 600, 400} {
		in.Window.Live[i].Weight.Tokens = tokens
	}
	in.Branch.Sum = sumWeights(in.Window.Live)
	in.Window.Tools = []scrollback.Tool{{Name: "f"}}
	in.Window.ToolsWeight = scrollback.Weight{Tokens: 1250}
	c := run(t, in)
	if c.View.Boundary != 4 || c.Receipt.SummaryBy != "a" || c.Receipt.TokensAfter > 2*2800 {
		t.Errorf("%+v, %+v", c.Receipt, c.View)
	}
	task := asked.Requests()[0].Items
	var most int64
	text := task[len(task)-1].Parts.Text()
	if _, err := fmt.Sscanf(text[strings.Index(text, "at most"):], "at most %d words", &most); err != nil || most < 90 ||
		most > 180 {
		t.Errorf("%d words are asked for (%v); three quarters of what 2,800 leave are about 250 tokens", most, err)
	}
}

// What only counts call for is not done if it would take the last exchange apart.
func TestCountsLeaveTheLastExchange(t *testing.T) {
	in := input(t, Rolling, 3)
	in.Window.Live[1].Parts = scrollback.Parts{scrollback.ToolCall{ID: "a", Name: "f"}}
	in.Window.Live = slices.Insert(in.Window.Live, 2, scrollback.Message{Seq: 3, Role: scrollback.RoleTool, Branch: "b0",
		Parts:  scrollback.Parts{scrollback.ToolResult{CallID: "a", Name: "f", Text: "ok"}},
		Weight: scrollback.Weight{Tokens: 100}})
	in.Window.Live[3].Seq = 4
	in.Window.Live[3].Role = scrollback.RoleAssistant
	in.Branch.HeadSeq = 4
	in.Branch.Sum = sumWeights(in.Window.Live)
	in.Policy.TriggerMessages = 4
	in.Policy.NewMessages = 0
	in.Policy.KeepMessages = 0
	in.Policy.AfterShare = 0.05
	if c := run(t, in); c.Receipt.Result != scrollback.ResultNoop {
		t.Errorf("%+v", c.Receipt)
	}
	w, _ := writer("a", modeltest.Say("nothing"))
	in.Reason = MustFit
	in.Window.Live[2].Weight.Tokens = 4000
	in.Branch.Sum = sumWeights(in.Window.Live)
	in.Writers = func() []Summarizer { return []Summarizer{w} }
	if c := run(t, in); c.Receipt.Result != scrollback.ResultCompacted || c.View.Boundary != 3 {
		t.Errorf("where it must be done: %+v", c.Receipt)
	}
}
