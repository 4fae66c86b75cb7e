package compact

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// weightWalk is a conversation in memory that grows and is compacted.
type weightWalk struct {
	*rapid.T
	shown  Shown
	ids    int
	lines  int64 // of a model's summary
	bad    bool  // it writes none
	asked  int
	stands bool // the person has said what is to be kept to

	folds, paid, taken int
}

func countBytes(text string) int { return (len(text) + 3) / 4 }

// say appends a message.
func (w *weightWalk) say(role scrollback.Role, parts ...scrollback.Part) {
	m := scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(w.shown.Branch.HeadSeq + 1)), ConversationID: "c",
		Branch: "b", Role: role, Parts: parts,
		Status: scrollback.StatusComplete, CreatedAt: 1_700_000_000_000 + w.shown.Branch.HeadSeq}
	m.Weight = window.Weigh(m.Parts, countBytes, nil)
	w.shown.Append(m)
}

// talkOn appends a turn.
func (w *weightWalk) talkOn() {
	words := rapid.SampledFrom([]string{"The boat is red.", "Never delete the backups.", "记住钥匙是四七一一。", "todo: water the plants."})
	text := func(label string, most int) scrollback.Text {
		return scrollback.Text{Text: fmt.Sprintf("%s Number %d. %s", words.Draw(w.T, label), w.shown.Branch.HeadSeq,
			strings.Repeat("It goes on. ", rapid.IntRange(0, most).Draw(w.T, "length")))}
	}
	asks := text("ask", 40)
	w.stands = w.stands || strings.HasPrefix(asks.Text, "Never")
	w.say(scrollback.RoleUser, asks)
	for range rapid.IntRange(0, 3).Draw(w.T, "calls") {
		w.say(scrollback.RoleAssistant, scrollback.ToolCall{ID: "a", Name: "read", Arguments: []byte(`{"path":"a.go"}`)})
		w.say(scrollback.RoleTool, scrollback.ToolResult{CallID: "a", Name: "read", Text: text("result", 60).Text})
	}
	w.say(scrollback.RoleAssistant, text("answer", 60))
}

func (w *weightWalk) writer() Summarizer {
	step := modeltest.Step{Reply: func(q model.Request) []model.Delta {
		w.asked++
		if w.bad {
			return []model.Delta{{Text: "Sure!"}}
		}
		var b strings.Builder
		for line := range strings.SplitSeq(q.Items[0].Parts.Text(), "\n") {
			if strings.HasPrefix(line, "## ") {
				b.WriteString(line + "\n" + strings.Repeat("- it is so, and no other way\n", int(w.lines)))
			}
		}
		return []model.Delta{{Text: b.String()}}
	}}
	return Summarizer{Model: modeltest.NewScript(model.Facts{Name: "m"}, step), Budget: 8000, Reserve: 2000}
}

// compact makes a fold, if one is due, and judges it.
func (w *weightWalk) compact(reason Reason) {
	before := window.Assemble(w.shown.Window)
	if reason == WhenDue && !window.Fits(before.Weight, w.shown.Window.Budget) {
		reason = MustFit
	}
	w.asked = 0
	c, err := Run(context.Background(), Input{Shown: w.shown, Reason: reason, Conversation: "c", Count: countBytes,
		NewID:   func() string { w.ids++; return fmt.Sprintf("%036x", w.ids) },
		Writers: func() []Summarizer { return []Summarizer{w.writer()} }})
	if err != nil {
		w.Fatal(err)
	}
	r := c.Receipt
	next := ShownAfter(&w.shown, &c)
	after := window.Assemble(next.Window)
	if r.Result != scrollback.ResultCompacted {
		if after.Weight != before.Weight || w.asked > 0 && !w.bad {
			w.Fatalf("%+v: the window has %d tokens, and had %d", r, after.Weight.Tokens, before.Weight.Tokens)
		}
	} else {
		w.folds++
		if after.Weight.Tokens >= before.Weight.Tokens || reason != MustFit &&
			float64(after.Weight.Tokens) > w.shown.Policy.ShrinkShare*float64(before.Weight.Tokens) ||
			r.TokensAfter != after.Weight.Tokens {
			w.Fatalf("%+v: the window has %d tokens, and had %d", r, after.Weight.Tokens, before.Weight.Tokens)
		}
		if w.stands && reason != MustFit && !strings.Contains(textOf(after), "Never delete the backups.") {
			w.Fatalf("%+v: what the person wants kept is not in\n%s", r, textOf(after))
		}
		if w.asked > 0 && !w.bad {
			w.paid++
			if r.SummaryBy == "m" {
				w.taken++
			}
		}
		if r.SummaryBy == scrollback.SummaryExtractive && w.shown.Policy.Summarizes && r.SummaryWhy == "" {
			w.Fatalf("%+v does not say why there is no summary", r)
		}
	}
	w.shown = next
}

func textOf(w scrollback.Window) string {
	var b strings.Builder
	for _, it := range w.Items {
		b.WriteString(it.Parts.Text() + "\n")
	}
	return b.String()
}

// Whatever is said, under whatever policy, in a window of whatever size and beside whatever layers, a
// compaction makes the window smaller without dropping what the person wants kept, a summary that is paid for is
// taken, and where there is none the receipt says why.
func TestFoldsNeverAddWeight(t *testing.T) {
	var folds, paid, taken int
	rapid.Check(t, func(t *rapid.T) {
		w := &weightWalk{T: t}
		limit := int64(rapid.SampledFrom([]int{2000, 3000, 8000, 16_000}).Draw(t, "limit"))
		w.shown.Window.Budget = window.NewBudget(limit, 2000)
		budget := w.shown.Window.Budget.Tokens
		w.shown.Branch = scrollback.Branch{ID: "b"}
		var err error
		if w.shown.Policy, err = FindPolicy(rapid.SampledFrom(Names()[1:]).Draw(t, "policy"), true); err != nil {
			t.Fatal(err)
		}
		w.shown.Window.PinnedTokens = w.shown.Policy.MaxPinned(budget)
		w.shown.Window.Tools = []scrollback.Tool{{Name: "read"}}
		for range rapid.IntRange(3, 18).Draw(t, "turns") {
			share := rapid.SampledFrom([]float64{0.05, 0.2, 0.4, 0.8, 0.95, 1.1}).Draw(t, "fixed")
			w.shown.Window.ToolsWeight.Tokens = int64(share * float64(budget))
			w.lines = int64(rapid.SampledFrom([]int{1, 4, 30}).Draw(t, "lines"))
			w.bad = rapid.IntRange(0, 3).Draw(t, "bad") == 0
			w.talkOn()
			w.compact(rapid.SampledFrom([]Reason{WhenDue, WhenDue, WhenDue, Forced}).Draw(t, "reason"))
			if limit < 8000 || share > 0.4 {
				continue
			}
			if w.compact(WhenDue); !window.Fits(window.Assemble(w.shown.Window).Weight, w.shown.Window.Budget) {
				t.Fatalf("beside layers of %d tokens the request does not fit", w.shown.Window.ToolsWeight.Tokens)
			}
		}
		folds += w.folds
		paid += w.paid
		taken += w.taken
	})
	t.Logf("%d compactions, %d with a summary, %d of them taken", folds, paid, taken)
	if folds < 30 || paid < 10 || taken < paid {
		t.Errorf("%d compactions, %d with a summary that was paid for, %d taken", folds, paid, taken)
	}
}
