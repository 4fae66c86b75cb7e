package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// briefly answers in a sentence, and requests for a summary as they ask.
func briefly(goal func(n int) string) *writer {
	return &writer{sum: func(n int, q model.Request) []model.Delta { return []model.Delta{{Text: asked(q, goal(n))}} }}
}

// The rolling policy folds long before the window is full, a few messages at a time,
// off the path; each summary takes the last one in, and the newest messages stay.
func TestRolling(t *testing.T) {
	ctx := context.Background()
	w := briefly(func(n int) string { return fmt.Sprintf("第 %d 轮", n) })
	step := modeltest.Step{Reply: func(q model.Request) []model.Delta {
		if len(q.Tools) == 0 {
			return w.step().Reply(q)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.chat = append(w.chat, q)
		return []model.Delta{{Text: strings.Repeat("好的，我记下了，稍后再说。", 8)}}
	}}
	r := enginetest.New(t, enginetest.Options{Summaries: true, NoFolds: true, Limit: 64_000, Policy: compact.Rolling},
		step)
	id := r.NewConversation()
	for i := range 30 {
		r.Ask(id, fmt.Sprintf("第 %d 个问题：%s", i, strings.Repeat("请说说这件事情的来龙去脉。", 8))).WantDone(t, scrollback.TurnComplete,
			"stop")
		if _, err := r.Compact(ctx, id, engine.CompactRequest{}); err != nil { // as in the background
			t.Fatal(err)
		}
		live := view(r, id)
		if c, _ := r.Get(ctx, id); c.Messages-live.Boundary > 12 || c.Messages-live.Boundary < min(c.Messages, 4) {
			t.Fatalf("after turn %d, %d of %d messages are live", i, c.Messages-live.Boundary, c.Messages)
		}
	}
	receipts, err := r.Receipts(ctx, id, 100)
	if err != nil || len(receipts) < 6 {
		t.Fatalf("%d folds, %v", len(receipts), err)
	}
	for _, rc := range receipts {
		if rc.Result != scrollback.ResultCompacted || rc.SummaryBy != "script" || rc.TokensAfter >= rc.TokensBefore {
			t.Errorf("%+v", rc)
		}
	}
	chat, sums := w.requests()
	for i, s := range sums[1:] {
		if text := s.Items[1].Parts.Text(); !strings.Contains(text, fmt.Sprintf("第 %d 轮", i+1)) {
			t.Fatalf("summary %d is asked for without the one before:\n%.300s", i+2, text)
		}
	}
	if text := folded(chat[len(chat)-1]); !strings.Contains(text, "## 未完成事项") || strings.Count(text, "## 事实") != 1 ||
		!strings.Contains(text, "## 原话") {
		t.Errorf("the last request shows\n%s", text)
	}
	enginetest.CheckViews(t, r, id)
}

// The fold runs when the turn is over: neither that turn nor the next one waits for
// its summary, and the one after it begins with the fold.
func TestFoldsBehindTheTurn(t *testing.T) {
	ctx := context.Background()
	began := make(chan struct{}, 9)
	gate := make(chan struct{})
	r := enginetest.New(t, enginetest.Options{Summaries: true, Limit: 64_000, Policy: compact.Rolling},
		modeltest.Step{Reply: func(q model.Request) []model.Delta {
			if len(q.Tools) > 0 {
				return []model.Delta{{Text: strings.Repeat("It was noted at some length. ", 20)}}
			}
			began <- struct{}{}
			<-gate
			return []model.Delta{{Text: asked(q, "noted")}}
		}})
	id := r.NewConversation()
	ask := func() enginetest.Outcome {
		e := r.Ask(id, strings.Repeat("Please note this at length. ", 20))
		e.WantDone(t, scrollback.TurnComplete, "stop")
		return e
	}
	for range 6 { // twelve messages
		ask()
	}
	<-began
	if e := ask(); e.Err != nil { // while the summary is being written
		t.Fatal(e.Err)
	}
	if v := view(r, id); v.Boundary != 0 {
		t.Fatal("it folded without its summary")
	}
	close(gate)
	if _, err := r.Compact(ctx, id, engine.CompactRequest{}); err != nil { // waits for the fold under way
		t.Fatal(err)
	}
	if v := view(r, id); v.Boundary == 0 || v.Summary == nil {
		t.Errorf("the view is %+v", v)
	}
	if e := ask(); slices.ContainsFunc(e.Events,
		func(ev scrollback.Event) bool { _, fold := ev.(scrollback.CompactionEvent); return fold }) {
		t.Error("the next turn folded itself")
	}
}

// Request over conversation over project over configuration over preset.
func TestWhoseNumbersCount(t *testing.T) {
	ctx := context.Background()
	set := func(v float64) map[string]float64 {
		return map[string]float64{"trigger_messages": v, "trigger_tokens": 0, "new_messages": 0, "keep_messages": 0}
	}
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 64_000, Folding: set(30),
		Projects: map[string]engine.PolicySettings{"short": {Policy: compact.Rolling, Numbers: set(20)}}},
		enginetest.ChattyStep())
	folds := func(c scrollback.Conversation, over engine.Overrides, messages int) bool {
		t.Helper()
		made, _, err := r.Create(ctx, c, history(messages)...)
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := r.Compact(ctx, made.ID, engine.CompactRequest{Overrides: over})
		if err != nil {
			t.Fatal(err)
		}
		return receipt.Result == scrollback.ResultCompacted
	}
	own := scrollback.Conversation{Project: "short", Settings: scrollback.Settings{Compaction: set(10)}}
	for _, c := range []struct {
		of   scrollback.Conversation
		over engine.Overrides
		at   int
	}{
		{scrollback.Conversation{}, engine.Overrides{}, 30},
		{scrollback.Conversation{Project: "short"}, engine.Overrides{}, 20},
		{own, engine.Overrides{}, 10},
		{own, engine.Overrides{Compaction: set(6)}, 6},
		{own, engine.Overrides{Compaction: map[string]float64{"keep_share": 0.2}}, 10},
	} {
		c.over.Compaction = withShare(c.over.Compaction)
		if folds(c.of, c.over, c.at-1) || !folds(c.of, c.over, c.at) {
			t.Errorf("%+v %+v does not fold at %d messages", c.of.Settings, c.over, c.at)
		}
	}
	for _, c := range []struct{ project, own, want string }{{"short", "", compact.Rolling},
		{"short", compact.Segments, compact.Segments}} {
		made, _, err := r.Create(ctx, scrollback.Conversation{Project: c.project, Policy: c.own})
		if err != nil || made.Policy != c.own {
			t.Errorf("a conversation of the project has policy %q of its own, %v", made.Policy, err)
		}
		if m, err := r.Context(ctx, made.ID); err != nil || m.Policy != c.want {
			t.Errorf("a conversation of the project uses policy %q, %v; want %q", m.Policy, err, c.want)
		}
	}
	for _, bad := range []map[string]float64{{"after_shore": 0.5}, {"after_share": 2}} {
		_, _, err := r.Create(ctx, scrollback.Conversation{Settings: scrollback.Settings{Compaction: bad}})
		enginetest.WantCode(t, err, scrollback.Invalid, "after_sh")
		id := r.NewConversation()
		_, err = r.Patch(ctx, id, 0, func(c *scrollback.Conversation) error { c.Settings.Compaction = bad; return nil })
		enginetest.WantCode(t, err, scrollback.Invalid, "after_sh")
		enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("hello"),
			Overrides: engine.Overrides{Compaction: bad}}).Err,
			scrollback.Invalid, "after_sh")
	}
}

// withShare makes half of what is live go, whatever the policy.
func withShare(set map[string]float64) map[string]float64 {
	out := map[string]float64{"keep_share": 0.5}
	for name, v := range set {
		out[name] = v
	}
	return out
}

// history returns a conversation of n messages that are worth folding.
func history(n int) []scrollback.Message {
	out := make([]scrollback.Message, n)
	for i := range out {
		out[i] = scrollback.Message{Role: scrollback.RoleUser,
			Parts: enginetest.Say(fmt.Sprintf("Remember that number %d is %d. ", i, i*111) +
				strings.Repeat("It was said at length. ", 60))}
		if i%2 == 1 {
			out[i].Role = scrollback.RoleAssistant
		}
	}
	return out
}

// What is pinned is shown word for word, before and after it is folded, until it is
// taken out; every window keeps its order and its budget.
func TestPins(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	id := r.NewConversation()
	r.Ask(id, "The vault is behind the third shelf.").WantDone(t, scrollback.TurnComplete, "stop")
	pin := func(seqs ...int64) error {
		_, err := r.Patch(ctx, id, 0, func(c *scrollback.Conversation) error { c.PinnedSeqs = seqs; return nil })
		return err
	}
	if err := pin(1, 1); err != nil {
		t.Fatal(err)
	}
	shown := func() (text string) {
		r.Ask(id, "short").WantDone(t, scrollback.TurnComplete, "stop")
		reqs := r.Script.Requests()
		last := int64(0)
		for _, it := range reqs[len(reqs)-1].Items {
			if it.Seq > 0 {
				if it.Seq < last {
					t.Errorf("#%d stands behind #%d", it.Seq, last)
				}
				last = it.Seq
				text += it.Parts.Text() + "\n"
			}
		}
		return text
	}
	const vault = "behind the third shelf"
	for i := 0; view(r, id).Boundary < 20; i++ {
		r.Ask(id, wordy(i)).WantDone(t, scrollback.TurnComplete, "stop")
		if i > 100 {
			t.Fatal("nothing folds")
		}
	}
	if text := shown(); strings.Count(text, vault) != 1 {
		t.Errorf("pinned before it was folded, the window shows\n%s", text)
	}
	if err := pin(); err != nil {
		t.Fatal(err)
	}
	if text := shown(); strings.Contains(text, vault) {
		t.Error("taken out, it is still shown")
	}
	if err := pin(9, 1); err != nil {
		t.Fatal(err)
	}
	if text := shown(); strings.Count(text, vault) != 1 {
		t.Errorf("pinned when it was folded, the window shows\n%s", text)
	}
	enginetest.CheckViews(t, r, id)
	// Where they have no room, the manifest tells which are out of sight.
	unseen := func(share float64) (unseen []int64) {
		t.Helper()
		if _, err := r.Patch(ctx, id, 0, func(c *scrollback.Conversation) error {
			c.Settings.Compaction = map[string]float64{"pinned_share": share}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		m, err := r.Context(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range m.Excluded {
			if x.Reason == "pinned, and no room" {
				unseen = append(unseen, x.FirstSeq)
			}
		}
		return unseen
	}
	if got := unseen(0); !slices.Equal(got, []int64{1, 9}) {
		t.Errorf("without any room %v are said to be out of sight", got)
	}
	if got := unseen(0.1); got != nil {
		t.Errorf("%v are said to be out of sight, and there is room", got)
	}
	if c, _ := r.Get(ctx, id); !slices.Equal(c.PinnedSeqs, []int64{1, 9}) {
		t.Errorf("the pins are %v", c.PinnedSeqs)
	}
	// Undone folds show it once.
	if _, err := r.Uncompact(ctx, id, ""); err != nil {
		t.Fatal(err)
	}
	if text := shown(); strings.Count(text, vault) != 1 {
		t.Errorf("with a fold undone, the window shows\n%s", text)
	}
	// A path keeps the pins whose messages are on it.
	fork, err := r.Branches().Fork(ctx, id, engine.Point{Seq: at(5)}, "")
	if err != nil || !slices.Equal(fork.PinnedSeqs, []int64{1}) {
		t.Errorf("the fork has pins %v, %v", fork.PinnedSeqs, err)
	}
	c, err := r.Branches().Rewind(ctx, id, engine.Point{Seq: at(5)})
	if err != nil || !slices.Equal(c.PinnedSeqs, []int64{1}) {
		t.Errorf("rewound it has pins %v, %v", c.PinnedSeqs, err)
	}
}

func at(seq int64) *int64 { return &seq }

// Pins that cannot be had are refused, by what is wrong with them.
func TestPinsRefused(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	var ms []scrollback.Message
	for range 30 {
		ms = append(ms, scrollback.Message{Role: scrollback.RoleUser, Parts: enginetest.Say("a word")})
	}
	ms = append(ms, scrollback.Message{Role: scrollback.RoleUser,
		Parts: enginetest.Say(strings.Repeat("many words ", 400))},
		scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Parts{enginetest.Call("a", "ls", `{}`)}},
		scrollback.Message{Role: scrollback.RoleTool,
			Parts: scrollback.Parts{scrollback.ToolResult{CallID: "a", Name: "ls", Text: "x"}}})
	c, _, err := r.Create(ctx, scrollback.Conversation{}, ms...)
	if err != nil {
		t.Fatal(err)
	}
	many := make([]int64, 21)
	for i := range many {
		many[i] = int64(i + 1)
	}
	for want, seqs := range map[string][]int64{
		"no message 0":                {0},
		"no message 34 on this path":  {34},
		"at most 20 messages":         many,
		"the pinned messages weigh 8": {31},
		"message 32 is a call":        {32},
		"message 33 is a call":        {33},
	} {
		_, err := r.Patch(ctx, c.ID, 0, func(c *scrollback.Conversation) error { c.PinnedSeqs = seqs; return nil })
		enginetest.WantCode(t, err, scrollback.Invalid, want)
	}
	_, _, err = r.Create(ctx, scrollback.Conversation{PinnedSeqs: []int64{1}})
	enginetest.WantCode(t, err, scrollback.Invalid, "no message to pin")
}

// An import of a long talk asks no model and compacts nothing, whatever the policy. The first turn compacts it and
// waits for no model: the extract stands until a later turn folds.
func TestImportAsksNoModel(t *testing.T) {
	w := briefly(func(n int) string { return fmt.Sprint("round ", n) })
	r := enginetest.New(t, enginetest.Options{Summaries: true}, w.step())
	var file strings.Builder
	for _, m := range history(300) {
		fmt.Fprintf(&file, "{\"role\":%q,\"content\":%q}\n", m.Role, m.Parts.Text())
	}
	out, err := r.ImportText(file.String())
	if err != nil {
		t.Fatal(err)
	}
	id := out.Conversations[0].ID
	if _, sums := w.requests(); len(sums) != 0 || view(r, id).Boundary != 0 {
		t.Fatalf("%d summaries were asked for, and all up to #%d is folded", len(sums), view(r, id).Boundary)
	}
	talk(r, id, 1, wordy)
	if view(r, id).Boundary < 250 {
		t.Fatalf("after a turn all up to #%d is folded", view(r, id).Boundary)
	}
	talk(r, id, 24, wordy)
	if _, sums := w.requests(); len(sums) == 0 ||
		!strings.Contains(sums[0].Items[1].Parts.Text(), "Remember that number") {
		t.Errorf("of the import the %d summaries of later turns know nothing", len(sums))
	}
}
