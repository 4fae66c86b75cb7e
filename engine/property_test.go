package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// life is one random conversation and its forks: turns with look-ups, client's tools,
// images and long texts, folds, rewinds, switches of branch.
type life struct {
	t     *testing.T
	rng   *rand.Rand
	r     *enginetest.Rig
	j     *enginetest.Judge
	ids   []scrollback.ConversationID
	trail []string
	calls int
	did   map[string]int
}

func newLife(t *testing.T, seed uint64, d *driver.Driver) *life {
	l := &life{t: t, rng: rand.New(rand.NewPCG(seed, 9)), did: map[string]int{}}
	l.j = &enginetest.Judge{T: t, Say: l.answer}
	policy := []string{compact.Segments, compact.Snapshot}[seed%2]
	limit := 4000 + l.rng.Int64N(9000)
	l.r = enginetest.New(t, enginetest.Options{Driver: d, Limit: limit, NoFolds: seed%3 == 0,
		Summaries: policy == compact.Snapshot},
		l.j.Step())
	l.j.Budget = window.NewBudget(limit, 2000)
	c, _, err := l.r.Create(context.Background(),
		scrollback.Conversation{Policy: policy, Instructions: []string{"", "Be brief."}[seed%2]})
	if err != nil {
		t.Fatal(err)
	}
	l.ids = []scrollback.ConversationID{c.ID}
	return l
}

// answer returns what the model says: text, look-ups, calls of the client's tool, or
// nothing at all.
func (l *life) answer(n int, r model.Request) []model.Delta {
	if len(r.Tools) == 0 { // a summary
		return []model.Delta{{Text: minutes(fmt.Sprint("goal ", n))}}
	}
	l.calls++
	recall := func(name, args string) []model.Delta {
		return []model.Delta{{Call: &scrollback.ToolCall{ID: fmt.Sprint("r", l.calls), Name: name,
			Arguments: json.RawMessage(args)}}}
	}
	last := r.Items[len(r.Items)-1]
	switch at := l.rng.IntN(12); {
	case r.AnswerOnly || last.Role == scrollback.RoleTool && at > 3:
	case at == 0:
		return recall("context_search", `{"query":"tide red","limit":3}`)
	case at == 1:
		return recall("context_grep", `{"pattern":"port|钥匙","context_lines":1}`)
	case at == 2:
		return recall("context_list", `{}`)
	case at <= 4:
		var out []model.Delta
		for k := range 1 + l.rng.IntN(3) {
			out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprintf("c%d-%d", l.calls, k), Name: "clock",
				Arguments: json.RawMessage(`{"zone":"UTC"}`)}})
		}
		return out
	case at == 5:
		return nil
	}
	return []model.Delta{{Text: l.words(80)}}
}

func (l *life) words(n int) string {
	var b strings.Builder
	for range 1 + l.rng.IntN(n) {
		b.WriteString([]string{"red ", "port ", "7077 ", "数据库 ", "Always remember this. ", "why? ", "tide ",
			"钥匙 "}[l.rng.IntN(8)])
	}
	return b.String()
}

// step does one thing by chance to one of the conversations, and answers which.
func (l *life) step() scrollback.ConversationID {
	l.t.Helper()
	ctx := context.Background()
	id := l.ids[l.rng.IntN(len(l.ids))]
	c, err := l.r.Get(ctx, id)
	if err != nil {
		l.t.Fatal(err)
	}
	seq := l.rng.Int64N(c.Messages + 1)
	did := func(what string, err error) {
		l.trail = append(l.trail, fmt.Sprintf("%s %s at %d of %d: %v", what, id[len(id)-4:], seq, c.Messages, err))
		code := scrollback.CodeOf(err)
		if code == scrollback.Internal || code == scrollback.Unavailable {
			l.t.Fatalf("%s\n%s", err, strings.Join(l.trail[max(0, len(l.trail)-20):], "\n"))
		}
		if err == nil {
			l.did[what]++
		}
	}
	switch at := l.rng.IntN(100); {
	case at < 60:
		did("turn", l.turn(id, c.Messages+1))
	case at < 70:
		_, err := l.r.Branches().Rewind(ctx, id, engine.Point{Seq: &seq})
		did("rewind", err)
	case at < 76:
		bs, err := l.r.Branches().List(ctx, id)
		if err == nil && len(bs) > 0 {
			_, err = l.r.Branches().Rewind(ctx, id, engine.Point{Branch: bs[l.rng.IntN(len(bs))].ID})
		}
		did("switch", err)
	case at < 80 && len(l.ids) < 4:
		f, err := l.r.Branches().Fork(ctx, id, engine.Point{Seq: &seq}, "")
		if did("fork", err); err == nil {
			l.ids = append(l.ids, f.ID)
			return f.ID
		}
	case at < 90:
		_, err := l.r.Compact(ctx, id, engine.CompactRequest{Force: true})
		did("fold", err)
	case at < 93:
		_, err := l.r.Compact(ctx, id, engine.CompactRequest{Clear: true})
		did("clear", err)
	default:
		_, err := l.r.Uncompact(ctx, id, "")
		did("unfold", err)
	}
	return id
}

// turn says something, and answers the client's calls, or leaves them.
func (l *life) turn(id scrollback.ConversationID, seq int64) error {
	parts := enginetest.Say(l.words(120))
	switch l.rng.IntN(8) {
	case 0:
		parts = enginetest.Say(strings.Repeat(l.words(60), 1+l.rng.IntN(80)))
	case 1:
		for n := range 1 + l.rng.IntN(4) {
			parts = append(parts, l.r.UploadImage(id, 100*len(l.trail)+n))
		}
	}
	l.j.Newest = seq
	e := l.r.Run(engine.TurnRequest{Conversation: id, Message: parts, Tools: enginetest.ClockTool})
	for range 4 {
		d, ok := enginetest.Last[scrollback.DoneEvent](e)
		if e.Err != nil || !ok {
			return e.Err
		}
		if d.Status == scrollback.TurnOverBudget || d.Status == scrollback.TurnFailed {
			f, _ := enginetest.Last[scrollback.ErrorEvent](e)
			if d.Status == scrollback.TurnFailed && strings.Contains(f.Message, "model") { // it said nothing
				return nil
			}
			return scrollback.Errorf(scrollback.Internal, "turn", "%s: %s", d.Status, f.Message)
		}
		if d.Status != scrollback.TurnWaiting || l.rng.IntN(5) == 0 {
			return nil
		}
		var results []engine.ToolResult
		for _, ev := range e.Events {
			if c, is := ev.(scrollback.ToolCallEvent); is && c.Name == "clock" {
				results = append(results, engine.ToolResult{CallID: c.ID, Text: l.words(400)})
			}
		}
		l.did["result"]++
		e = l.r.Run(engine.TurnRequest{Conversation: id, ToolResults: results})
	}
	return e.Err
}

// exactly holds what is live and what the refs lead to against the path: each message
// once, texts and outputs verbatim, a look-up's answer by its one line.
func (l *life) exactly(id scrollback.ConversationID) {
	l.t.Helper()
	fail := func(format string, args ...any) {
		l.t.Helper()
		l.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(l.trail[max(0, len(l.trail)-20):], "\n"))
	}
	head, m, err := l.shown(id)
	if err != nil {
		fail("%v", err)
	}
	log := l.r.Log(id)
	shown := map[int64]bool{}
	for _, layer := range m.Layers {
		for _, it := range layer.Items {
			shown[it.Seq] = shown[it.Seq] || it.Kind == scrollback.KindMessage || it.Kind == scrollback.KindRepair
		}
	}
	next := int64(1)
	for _, x := range m.Excluded {
		if x.Ref == nil {
			shown[x.FirstSeq] = true // left out, and the manifest says why
			continue
		}
		if x.FirstSeq != next {
			fail("the folded runs jump from #%d to #%d", next-1, x.FirstSeq)
		}
		next = x.LastSeq + 1
		l.behind(*x.Ref, id, log, fail)
	}
	if next != head.Branch.View.Boundary+1 {
		fail("the refs end at #%d, the fold at #%d", next-1, head.Branch.View.Boundary)
	}
	for seq := next; seq <= int64(len(log)); seq++ {
		if !shown[seq] {
			fail("#%d of %d is neither live nor folded: %+v", seq, len(log), log[seq-1].Parts)
		}
	}
}

// shown returns the head of a conversation and the window that it shows. A fold behind a turn
// may commit between the two, so they are read again until both are of one view.
func (l *life) shown(id scrollback.ConversationID) (head store.Head, m scrollback.Manifest, err error) {
	ctx := context.Background()
	if head, err = l.r.Store.ReadHead(ctx, id); err != nil {
		return head, m, err
	}
	for {
		if m, err = l.r.Context(ctx, id); err != nil {
			return head, m, err
		}
		was := head.Branch
		if head, err = l.r.Store.ReadHead(ctx, id); err != nil ||
			head.Branch.ID == was.ID && head.Branch.ViewVersion == was.ViewVersion {
			return head, m, err
		}
	}
}

// behind checks the originals behind a ref, of leaves and of roll-ups.
func (l *life) behind(ref scrollback.Ref, id scrollback.ConversationID, log []scrollback.Message,
	fail func(string, ...any)) {
	l.t.Helper()
	_, seg, _ := ref.Split()
	segs, err := l.r.Store.ReadSegments(context.Background(), []scrollback.SegmentID{scrollback.SegmentID(seg)})
	if err != nil {
		fail("%v", err)
	}
	if len(segs[0].Children) > 0 {
		for _, child := range segs[0].Children {
			l.behind(scrollback.HistoryRef(child), id, log, fail)
		}
		return
	}
	file := l.r.ReadBigPages(id, ref)
	for _, m := range log[segs[0].FirstSeq-1 : segs[0].LastSeq] {
		for _, p := range m.Parts {
			want := ""
			switch p := p.(type) {
			case scrollback.Text:
				want = p.Text
			case scrollback.Image:
				want = string(scrollback.ArtifactRef(p.Artifact))
			case scrollback.File:
				want = string(scrollback.ArtifactRef(p.Artifact))
			case scrollback.ToolCall:
				want = string(p.Arguments)
			case scrollback.ToolResult:
				switch want = p.Text; {
				case p.Artifact != "":
					want = string(scrollback.ArtifactRef(p.Artifact))
				case p.Recall:
					want = fmt.Sprintf("recall result of %s, %d bytes", p.Name, len(p.Text))
				}
			}
			if !strings.Contains(file, want) {
				fail("#%d has %q, which is not behind %s", m.Seq, want, ref)
			}
			if r, ok := p.(scrollback.ToolResult); ok && r.Recall && len(r.Text) > 200 && strings.Contains(file, r.Text) {
				fail("#%d: the answer of a look-up is repeated behind %s", m.Seq, ref)
			}
		}
	}
}

// Random conversations, branches, policies and budgets: every request passes the lint,
// fits, and has the newest user message; after every step what is live and what the
// refs lead to are exactly the path.
func TestAnyConversation(t *testing.T) {
	t.Parallel()
	seeds := testlength.Choose(3, 5, 16)
	steps := 60
	did := map[string]int{}
	requests := 0
	for seed := range seeds {
		l := newLife(t, uint64(seed), oracle.New())
		for range steps {
			l.exactly(l.step())
			if t.Failed() {
				t.Fatalf("seed %d\n%s", seed, strings.Join(l.trail[max(0, len(l.trail)-20):], "\n"))
			}
		}
		for what, n := range l.did {
			did[what] += n
		}
		requests += l.j.Requests
	}
	t.Logf("%d requests; %v", requests, did)
	for _, what := range []string{"turn", "result", "rewind", "switch", "fork", "fold", "clear", "unfold"} {
		if did[what] < seeds {
			t.Errorf("only %d times: %s", did[what], what)
		}
	}
}
