package compact

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// input returns a branch of n live messages of 100 tokens each, asked for by turns. Receipts
// count two of the model's tokens for each o200k token, and a call costs 0.5.
func input(t *testing.T, policy string, n int, ws ...Summarizer) Input {
	t.Helper()
	in := *newShelf().job(nil, foldCut{}, 4000).Input
	in.Policy = named(t, policy)
	in.Conversation = "c"
	in.Window.Budget = scrollback.Budget{Limit: 5000, Weight: scrollback.Weight{Tokens: 4000, Bytes: 1 << 20, Images: 20}}
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprint("Message of round ", i, " about pots and pans."))
	}
	in.Window.Live = talk(texts...)
	in.Branch = scrollback.Branch{ID: "b", HeadSeq: int64(n), Sum: sumWeights(in.Window.Live)}
	in.ModelTokens = func(tokens int64) int64 { return 2 * tokens }
	in.Price = func(_ string, u scrollback.Usage) scrollback.Usage { u.Cost = 0.5; return u }
	in.Writers = func() []Summarizer {
		if ws == nil {
			t.Error("models are asked for")
		}
		return ws
	}
	return in
}

func run(t *testing.T, in Input) Compaction {
	t.Helper()
	c, err := Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Until the policy asks for it nothing is done, and nobody is asked.
func TestRunWaits(t *testing.T) {
	in := input(t, Snapshot, 20) // of 2,000 tokens; it folds at 3,500
	c := run(t, in)
	if r := c.Receipt; r.Result != scrollback.ResultNoop || r.TokensBefore != 4000 || r.TokensAfter != 4000 ||
		r.CreatedAt != 9 ||
		len(c.Segments)+len(c.Usage) != 0 {
		t.Errorf("%+v", c)
	}
	in = input(t, Segments, 35) // of 3,500 tokens
	if c := run(t, in); c.Receipt.Result != scrollback.ResultNoop {
		t.Errorf("under the trigger: %+v", c.Receipt)
	}
	in = input(t, Segments, 36)
	if c := run(t, in); c.Receipt.Result != scrollback.ResultCompacted {
		t.Errorf("at the trigger: %+v", c.Receipt)
	}
}

// The receipt and the view say what is shown from then on, under the summary of a model
// or without one; the calls are priced.
func TestRunFolds(t *testing.T) {
	for name, c := range map[string]struct {
		steps         []modeltest.Step
		by            string
		calls         int
		summaryResult scrollback.CompactionResult
	}{
		"summary": {[]modeltest.Step{modeltest.Say(minutesOf("ship"))}, "a", 1, ""},
		"failure": {[]modeltest.Step{modeltest.Say("Sure!")}, scrollback.SummaryExtractive, 2, scrollback.ResultEmptySummary},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := writer("a", c.steps...)
			in := input(t, Snapshot, 38, w)
			got := run(t, in)
			r := got.Receipt
			v := got.View
			if r.Result != scrollback.ResultCompacted || r.SummaryBy != c.by || r.SummaryResult != c.summaryResult ||
				(got.Why == "") != (c.summaryResult == "") {
				t.Errorf("%+v, %q", r, got.Why)
			}
			if len(got.Usage) != c.calls || r.Cost != 0.5*float64(c.calls) {
				t.Errorf("%d calls cost %v", len(got.Usage), r.Cost)
			}
			for _, u := range got.Usage {
				if u.Cost != 0.5 || u.Conversation != "c" || u.Model != "a" || u.Purpose != "summary" || u.At != 9 {
					t.Errorf("%+v", u)
				}
			}
			if failed := c.summaryResult != ""; (v.Failures == c.calls) != failed || (v.AskAt == 3800+800) != failed {
				t.Errorf("%d failures, asked again at %d", v.Failures, v.AskAt)
			}
			if r.FirstSeq != 1 || r.LastSeq != v.Boundary || len(r.Segments) != 1 ||
				r.Refs[0] != scrollback.HistoryRef(got.Segments[0].ID) {
				t.Fatalf("%+v of %+v", r, v)
			}
			leaf := got.Segments[0]
			if v.Summary == nil || v.Summary.Segment != leaf.ID || v.Summary.Tokens != int64(in.Count(leaf.Summary)) ||
				strings.Contains(leaf.Summary, "ship") != (c.by == "a") {
				t.Errorf("the summary of %+v is %q", v.Summary, leaf.Summary)
			}
			after := window.FoldTokens + v.Summary.Tokens + leaf.TokensAfter + 100*(38-v.Boundary)
			if r.TokensBefore != 2*3800 || r.TokensAfter != 2*after || after > 1600 {
				t.Errorf("%d tokens became %d, not %d", r.TokensBefore, r.TokensAfter, 2*after)
			}
		})
	}
}

// A fold that does not shrink the window changes nothing but when it is tried again;
// by hand it may be tried at once.
func TestRunInflates(t *testing.T) {
	for reason, want := range map[Reason]struct {
		result  scrollback.CompactionResult
		retryAt int64
	}{WhenDue: {scrollback.ResultInflated, 72}, Forced: {scrollback.ResultInflated, 0},
		MustFit: {scrollback.ResultInflated, 72}} {
		in := input(t, Segments, 6)
		in.Reason = reason
		in.Policy.TriggerMessages = 1
		in.Policy.KeepMessages = 2
		for i := range in.Window.Live {
			in.Window.Live[i].Weight.Tokens = 10
		}
		in.Branch.Sum = sumWeights(in.Window.Live)
		in.Policy.AfterShare = 0.01
		c := run(t, in)
		if c.Receipt.Result != want.result || c.View.RetryAt != want.retryAt ||
			(len(c.Segments) == 0) != (want.result == scrollback.ResultInflated) {
			t.Errorf("reason %d: %+v, %+v", reason, c.Receipt, c.View)
		}
		if want.result == scrollback.ResultInflated &&
			(c.Receipt.TokensAfter != c.Receipt.TokensBefore || c.View.Boundary != 0) {
			t.Errorf("reason %d: %+v, %+v", reason, c.Receipt, c.View)
		}
	}
}

// A piece of a backlog is worth folding by what it frees itself, however much is still to
// come; a piece that frees nothing is not.
func TestRunJudgesAPieceByItself(t *testing.T) {
	for _, reason := range []Reason{WhenDue, Forced, MustFit, Everything} {
		for _, policy := range Names()[1:] {
			in := input(t, policy, 40)
			in.Reason = reason
			in.More = true
			in.Branch.HeadSeq = 50_000
			in.Branch.Sum.Tokens = 5_000_000
			c := run(t, in)
			if c.Receipt.Result != scrollback.ResultCompacted || c.View.Boundary < 20 || c.View.RetryAt != 0 ||
				c.Receipt.TokensBefore != 10_000_000 || c.Receipt.TokensAfter >= c.Receipt.TokensBefore {
				t.Errorf("reason %d, %s: %+v, %+v", reason, policy, c.Receipt, c.View)
			}
		}
	}
	in := input(t, Segments, 6)
	in.Reason = Forced
	in.More = true
	in.Branch.HeadSeq = 50_000
	in.Branch.Sum.Tokens = 5_000_000
	for i := range in.Window.Live {
		in.Window.Live[i].Weight.Tokens = 10
	}
	if c := run(t, in); c.Receipt.Result != scrollback.ResultInflated || c.View.Boundary != 0 {
		t.Errorf("%+v, %+v", c.Receipt, c.View)
	}
}

// Starting afresh folds everything and asks nobody; so does a piece of a backlog, which
// counts what it has not read.
func TestRunAsksNobody(t *testing.T) {
	in := input(t, Snapshot, 6)
	in.Reason = Everything
	c := run(t, in)
	if !c.Receipt.Cleared || c.Receipt.Result != scrollback.ResultCompacted || c.View.Boundary != 6 ||
		c.View.Summary != nil {
		t.Errorf("%+v, %+v", c.Receipt, c.View)
	}
	in = input(t, Snapshot, 6)
	in.Reason = Replaced
	in.Given = GivenSummary{Through: 4, Text: "What the client says of it."}
	c = run(t, in)
	last := c.Segments[len(c.Segments)-1]
	if c.Receipt.Cleared || c.Receipt.Result != scrollback.ResultCompacted || c.View.Boundary != 4 ||
		c.Receipt.SummaryBy != scrollback.SummaryClient || c.Receipt.Reason != scrollback.ReasonClient ||
		last.SummaryBy != scrollback.SummaryClient || last.Summary != "What the client says of it." {
		t.Errorf("%+v, %+v, %+v", c.Receipt, c.View, last)
	}
	in = input(t, Snapshot, 40)
	in.Reason = MustFit
	in.More = true
	in.Branch.HeadSeq = 1000
	in.Branch.Sum.Tokens = 100_000
	c = run(t, in)
	// A quarter of the budget stays, should there be nothing behind the piece.
	if c.Receipt.TokensBefore != 200_000 || c.View.Boundary != 30 || c.Receipt.TokensAfter > 195_000 ||
		c.Receipt.TokensAfter < 194_000 {
		t.Errorf("%+v, %+v", c.Receipt, c.View)
	}
}

// A summary that was written for a bigger window goes where a request would not fit
// beside it, even when there is nothing to fold.
func TestRunDropsOutgrownSummary(t *testing.T) {
	s := newShelf()
	j := s.job(talk("one", "two", "three"), foldCut{messages: 3}, 100_000)
	j.summary = &askOutcome{text: strings.Repeat("words of a summary ", 200), by: "a"}
	b, err := j.buildFold()
	if err != nil {
		t.Fatal(err)
	}
	s.put(b.segments)
	in := input(t, Snapshot, 1)
	in.NewID = j.NewID
	in.Load = j.Load
	in.Reason = MustFit
	in.Branch.View = b.view
	in.Window.Segments = b.shown
	in.Window.Summary = &window.Summary{ViewSummary: *b.view.Summary, Text: b.leaves[0].Summary}
	in.Window.Live[0].Seq = 4
	in.Branch.HeadSeq = 4
	in.Branch.Sum = in.Branch.Sum.Add(b.view.Sum)
	c := run(t, in)
	if c.Receipt.Result != scrollback.ResultCompacted || c.View.Summary != nil || c.View.Boundary != 3 ||
		len(c.View.Segments) != 1 ||
		c.View.Segments[0].Level != 1 {
		t.Errorf("%+v, %+v", c.Receipt, c.View)
	}
	if c.Receipt.FirstSeq != 1 || c.Receipt.LastSeq != 3 ||
		c.Receipt.TokensAfter >= c.Receipt.TokensBefore-2*b.view.Summary.Tokens+200 {
		t.Errorf("%+v", c.Receipt)
	}
	in.Reason = Forced
	if c := run(t, in); c.Receipt.Result != scrollback.ResultNoop {
		t.Errorf("by hand: %+v", c.Receipt)
	}
}

// What cannot be measured is an error, and so is a caller who has gone.
func TestRunFails(t *testing.T) {
	w, _ := writer("a", modeltest.Say(minutesOf("ship")))
	in := input(t, Snapshot, 38, w)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, in); scrollback.CodeOf(err) != scrollback.Canceled {
		t.Errorf("%v", err)
	}
	in.Measure = func(scrollback.Segment, []scrollback.Message) (int64, string, error) {
		return 0, "", fmt.Errorf("no measure")
	}
	if _, err := Run(context.Background(), in); err == nil || !strings.Contains(err.Error(), "no measure") {
		t.Errorf("%v", err)
	}
}
