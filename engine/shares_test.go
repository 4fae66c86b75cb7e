package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// words make texts of a language; none of them is an instruction.
var words = map[string][]string{
	"en": strings.Fields("the harbour crane lifted seven crates before noon and harbour staff counted them twice while rain fell on quay " +
		"number nine so that loading went on after dark with lamps along every rail until morning came over water"),
	"zh": strings.Fields("港口 的 起重机 在 中午 之前 吊 起 了 七个 箱子 ， 工人 把 它们 数 了 两遍 ， 雨 落 在 九号 码头 ， 装货 到 天黑 以后 才 结束 。"),
}

// prose returns a text of a number of tokens, unlike any other.
func prose(rng *rand.Rand, language string, n int, tokens int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] ", n)
	between := map[string]string{"en": " "}[language]
	for said := int64(4); said < tokens; {
		from := b.Len()
		for range 12 {
			b.WriteString(words[language][rng.IntN(len(words[language]))] + between)
		}
		said += int64(token.Count(b.String()[from:]))
	}
	return b.String()
}

// shape is what a turn of a talk looks like, in tokens.
type shape struct {
	ask, answer  int64
	calls, gives int64 // of a tool of the client's, and what each returns
}

// shapeOf returns a shape by its name, for a budget: in bigger windows everything is longer,
// so that it takes a bounded number of turns to fill one.
func shapeOf(name string, budget int64) shape {
	switch name {
	case "chat":
		return shape{ask: max(20, budget/600), answer: max(50, budget/250)}
	case "long":
		return shape{ask: max(20, budget/600), answer: max(80, budget/10)}
	}
	return shape{ask: max(20, budget/600), answer: max(50, budget/100), calls: 3, gives: max(50, budget/40)}
}

// teller is a model that talks in a shape and writes summaries as long as it may.
type teller struct {
	*rand.Rand
	language string
	shape
	n     int
	chats []model.Request
}

func (k *teller) step() modeltest.Step {
	return modeltest.Step{Reply: func(q model.Request) []model.Delta {
		k.n++
		if len(q.Tools) == 0 {
			most := int64(0)
			last := q.Items[len(q.Items)-1].Parts.Text()
			unit := ""
			_, _ = fmt.Sscanf(last[strings.Index(last, "at most"):], "at most %d %s", &most, &unit)
			if unit == "words." {
				most = most * 5 / 3
			}
			sections := int64(strings.Count(q.Items[0].Parts.Text(), "\n## "))
			return []model.Delta{{Text: asked(q, prose(k.Rand, k.language, k.n, most*8/10/sections-12))}}
		}
		k.chats = append(k.chats, q)
		done := int64(0)
		for _, it := range slices.Backward(q.Items) {
			if it.Role == scrollback.RoleUser {
				break
			}
			done += int64(len(it.Parts.Results()))
		}
		if done < k.calls {
			c := enginetest.Call(fmt.Sprint("c", k.n), "lookup", fmt.Sprintf(`{"of":"crate %d"}`, k.n))
			return []model.Delta{{Call: &c}}
		}
		return []model.Delta{{Text: prose(k.Rand, k.language, k.n, k.answer)}}
	}}
}

// sight is what one request shows, or what the next one would.
type sight struct {
	live, total int64
}

// sharesCase is a row of the table.
type sharesCase struct {
	limit                   int64
	policy, language, shape string
	writes, ahead           bool // a model writes summaries; it is compacted after turns, not before requests
	numbers                 map[string]float64
}

func (c sharesCase) String() string {
	return fmt.Sprintf("%d %s %s %s writes=%v ahead=%v", c.limit, c.policy, c.language, c.shape, c.writes, c.ahead)
}

// sharesRow is what came of it.
type sharesRow struct {
	sharesCase
	budget       int64
	seen         []sight // after each compaction
	turns, folds int     // turns after the first compaction, and compactions among them
	kept, asked  int     // how often the last exchange was there, of the requests behind a compaction
}

// In windows of every size and under every policy, a compaction leaves the conversation
// in sight: a quarter of the budget from a limit of 8,000 on, the last exchange word for
// word where it fits, nothing twice; and the next compaction is some turns away.
func TestSharesKept(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	limits := testlength.Choose([]int64{2000, 8000}, []int64{2000, 4000, 8000, 16_000},
		[]int64{2000, 3000, 4000, 6000, 8000, 12_000, 16_000, 32_000, 64_000, 200_000, 1_000_000})
	var cases []sharesCase
	for i, c := range sharesCases(limits) {
		// Half of them, in each language, before requests and after turns; of the biggest
		// windows those that fill soonest.
		half := i%2 == i/12%2
		if c.limit > 32_000 && (!half || c.shape != "long") {
			continue
		}
		if half || testlength.Choose(false, false, true) {
			cases = append(cases, c)
		}
	}
	rows := make([]sharesRow, len(cases))
	t.Run("talks", func(t *testing.T) { // ends when all of them have
		for i, c := range cases {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				rows[i] = shares(t, c)
				rows[i].judge(t)
			})
		}
	})
	if t.Failed() { // a row that is not whole has no figures
		return
	}
	tableOf(t, limits, rows)
}

// Where tools and instructions take a third of a small window, the next compaction is not due at once
// after one: what a step receives from its tools is still there in the next.
func TestSharesBesideHeavyTools(t *testing.T) {
	for _, writes := range []bool{true, false} {
		for _, language := range []string{"en", "zh"} {
			row := shares(t, sharesCase{limit: 2000, policy: compact.Snapshot, language: language, shape: "tools",
				writes: writes, numbers: map[string]float64{"trigger_share": 0.6, "summary_tokens": 500}})
			if 2*row.turns < row.folds {
				t.Errorf("%v: %d compactions in %d turns", row.sharesCase, row.folds, row.turns)
			}
		}
	}
}

// sharesCases returns all rows of the table.
func sharesCases(limits []int64) (out []sharesCase) {
	for _, limit := range limits {
		for _, policy := range compact.Names()[1:] {
			for i, shape := range []string{"chat", "long", "tools"} {
				for _, writes := range []bool{true, false} {
					for k, language := range []string{"en", "zh"} {
						if writes && policy == compact.Segments {
							continue
						}
						out = append(out, sharesCase{limit, policy, language, shape, writes, (i+k+len(out)/2)%2 == 0, nil})
					}
				}
			}
		}
	}
	return out
}

// shares runs a talk through some compactions.
func shares(t *testing.T, c sharesCase) sharesRow {
	t.Helper()
	ctx := context.Background()
	row := sharesRow{sharesCase: c, budget: window.NewBudget(c.limit, 2000).Tokens}
	k := &teller{Rand: rand.New(rand.NewPCG(uint64(c.limit), 7)), language: c.language,
		shape: shapeOf(c.shape, row.budget)}
	ids := rand.New(rand.NewPCG(uint64(c.limit), 8)) // placeholders name segments: the same ones each time weigh the same
	r := enginetest.New(t, enginetest.Options{Limit: c.limit, NoFolds: true, Summaries: c.writes, Policy: c.policy,
		Folding: c.numbers,
		NewID: func() string {
			return fmt.Sprintf("%08x-%04x-7%03x-8%03x-%012x", ids.Uint32(), ids.IntN(1<<16), ids.IntN(1<<12), ids.IntN(1<<12),
				ids.Int64N(1<<48))
		}}, k.step())
	id := r.NewConversation()
	compactions := 3
	if c.limit > 32_000 {
		compactions = 2
	}
	for n := 0; row.folds < compactions; n++ {
		if n > 1500 {
			t.Fatalf("%v: %d compactions in %d turns", c, row.folds, n)
		}
		if row.folds > 0 || len(row.seen) > 0 {
			row.turns++
		}
		seen := len(row.seen)
		e := r.Run(engine.TurnRequest{Conversation: id, Tools: lookup,
			Message: enginetest.Say(prose(k.Rand, c.language, -n, k.ask))})
		for calls := 0; ; calls++ {
			if calls > 10*int(k.calls) {
				t.Fatalf("%v: turn %d called %d times and never saw %d results", c, n, calls, k.calls)
			}
			row.look(t, k, e, func() []scrollback.Message { return r.Log(id) })
			call, ok := enginetest.Last[scrollback.ToolCallEvent](e)
			if d, _ := enginetest.Last[scrollback.DoneEvent](e); !ok || d.Status != scrollback.TurnWaiting {
				break
			}
			e = r.Run(engine.TurnRequest{Conversation: id, ToolResults: []engine.ToolResult{{CallID: call.ID,
				Text: prose(k.Rand, c.language, k.n, k.gives)}}})
		}
		e.WantDone(t, scrollback.TurnComplete, "stop")
		if c.ahead {
			receipt, err := r.Compact(ctx, id, engine.CompactRequest{})
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			if receipt.Result == scrollback.ResultCompacted {
				head, err := r.Store.ReadHead(ctx, id)
				m, err2 := r.Context(ctx, id)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				row.seen = append(row.seen, sight{head.Branch.LiveWeight().Tokens, m.Tokens})
			}
		}
		if seen > 0 {
			row.folds += len(row.seen) - seen
		} else if len(row.seen) > 0 {
			row.folds += len(row.seen) - 1
		}
		if len(row.seen) > seen {
			enginetest.CheckViews(t, r, id)
		}
	}
	return row
}

// look examines the last request: what it shows if it is the first after a compaction.
func (row *sharesRow) look(t *testing.T, k *teller, e enginetest.Outcome, log func() []scrollback.Message) {
	t.Helper()
	if e.Err != nil || len(k.chats) == 0 {
		t.Fatalf("%v: %v", row.sharesCase, e.Err)
	}
	last := k.chats[len(k.chats)-1]
	var was string
	if len(k.chats) > 1 {
		was = folded(k.chats[len(k.chats)-2])
	}
	text := folded(last)
	if text == "" || text == was {
		return
	}
	boundary := int64(0)
	at := sight{}
	shown := map[int64]bool{}
	newest := int64(0)
	for _, it := range last.Items {
		at.total += it.Weight.Tokens
		for _, h := range it.Holds {
			boundary = max(boundary, h.LastSeq)
		}
		if it.Kind != scrollback.KindMessage {
			continue
		}
		if it.Role == scrollback.RoleUser {
			newest = max(newest, it.Seq)
		}
		shown[it.Seq] = true
		if it.Seq > boundary {
			at.live += it.Weight.Tokens
		}
		if said := it.Parts.Text(); len(said) > 40 && strings.Contains(text, said) {
			t.Errorf("%v: #%d stands in the window and in what is folded", row.sharesCase, it.Seq)
		}
	}
	if _, before := enginetest.Last[scrollback.CompactionEvent](e); before {
		row.seen = append(row.seen, at)
	}
	missing := int64(0)
	asks := 0
	for _, m := range slices.Backward(log()) {
		if m.Seq > newest {
			continue
		}
		if m.Role == scrollback.RoleUser {
			asks++
		}
		if !shown[m.Seq] {
			missing += m.Weight.Tokens
		}
		if asks == 2 {
			break
		}
	}
	if asks < 2 {
		return
	}
	row.asked++
	if missing == 0 {
		row.kept++
	} else if float64(at.total+missing) <= 0.7*float64(row.budget) && row.limit >= 4000 {
		t.Errorf("%v: the last exchange is not whole, and would fit: %d tokens with %d more, of %d", row.sharesCase, at.total,
			missing,
			row.budget)
	}
}

// early reports whether the policy compacts while less than a quarter of the budget is live.
func (row *sharesRow) early() bool { return row.policy == compact.Rolling && row.budget/4 > 3500 }

// judge holds a row against what is promised.
func (row *sharesRow) judge(t *testing.T) {
	t.Helper()
	for _, s := range row.seen {
		if float64(s.total) > 0.7*float64(row.budget) && row.limit >= 4000 {
			t.Errorf("%v: after a compaction the window has %d tokens of %d", row.sharesCase, s.total, row.budget)
		}
		if row.limit >= 8000 && s.live*4 < row.budget && !row.early() {
			t.Errorf("%v: %d tokens are live after a compaction, of %d", row.sharesCase, s.live, row.budget)
		}
	}
	if row.limit >= 4000 && 2*row.turns < 3*row.folds && !row.early() {
		t.Errorf("%v: %d compactions in %d turns", row.sharesCase, row.folds, row.turns)
	}
}

// tableOf prints, by limit and policy, the tokens that are live after a compaction, the
// least and the middle one, the turns between two, and how often the last exchange stayed.
func tableOf(t *testing.T, limits []int64, rows []sharesRow) {
	t.Helper()
	for _, shape := range []string{"chat", "long", "tools"} {
		for _, limit := range limits {
			line := fmt.Sprintf("%-5s %9d", shape, limit)
			for _, policy := range compact.Names()[1:] {
				var live, total []float64
				turns := 0
				folds := 0
				kept := 0
				asked := 0
				for _, row := range rows {
					if row.limit != limit || row.policy != policy || row.shape != shape {
						continue
					}
					for _, s := range row.seen {
						live = append(live, float64(s.live)/float64(row.budget))
						total = append(total, float64(s.total)/float64(row.budget))
					}
					turns += row.turns
					folds += row.folds
					kept += row.kept
					asked += row.asked
				}
				if len(live) == 0 { // not among the shapes for this limit
					continue
				}
				slices.Sort(live)
				slices.Sort(total)
				line += fmt.Sprintf(" | %-8s live %2.0f–%2.0f%% window ≤%3.0f%% %4.1f turns, exchange %d/%d", policy, 100*live[0],
					100*live[len(live)/2], 100*total[len(total)-1], float64(turns)/float64(max(folds, 1)), kept, asked)
			}
			t.Log(line)
		}
	}
	for _, limit := range limits { // as in the guide
		line := fmt.Sprintf("| %d |", limit)
		for _, policy := range compact.Names()[1:] {
			var live []int64
			kept := 0
			asked := 0
			for _, row := range rows {
				if row.limit == limit && row.policy == policy {
					kept += row.kept
					asked += row.asked
					for _, s := range row.seen {
						live = append(live, s.live)
					}
				}
			}
			slices.Sort(live)
			line += fmt.Sprintf(" %d–%d, %d of %d |", live[0], live[len(live)/2], kept, asked)
		}
		t.Log(line)
	}
}
