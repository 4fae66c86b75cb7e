package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// wire returns the messages of a request as JSON, one a line.
func wire(role scrollback.Role, name string, ps scrollback.Parts, tools []scrollback.Tool) string {
	b, err := json.Marshal(map[string]any{"role": role, "name": name, "parts": ps, "tools": tools})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// requested returns what a provider got.
func requested(r model.Request) (out []string) {
	for _, it := range r.Items {
		if it.Kind == scrollback.KindTools {
			out = append(out, wire(it.Role, it.Name, scrollback.Parts{}, r.Tools))
			continue
		}
		out = append(out, wire(it.Role, it.Name, it.Parts, nil))
	}
	return out
}

// shownAs returns what the items of a manifest say that it got: items that are joined with the
// next are one message, and the texts of the block of what was folded are one text.
func shownAs(items []scrollback.ContextItem) (out []string) {
	var parts scrollback.Parts
	folded := false
	for _, it := range items {
		inBlock := it.Kind == scrollback.KindFolded || it.Kind == scrollback.KindSummary ||
			it.Kind == scrollback.KindPlaceholder
		for _, p := range it.Parts {
			switch q := p.(type) {
			case scrollback.Text:
				q.Cut = nil
				if p = q; folded && inBlock {
					whole := parts[len(parts)-1].(scrollback.Text)
					whole.Text += q.Text
					parts[len(parts)-1] = whole
					continue
				}
			case scrollback.ToolResult:
				q.Cut = nil
				p = q
			}
			parts = append(parts, p)
		}
		if folded = inBlock; it.Joined {
			continue
		}
		if parts == nil {
			parts = scrollback.Parts{}
		}
		out = append(out, wire(it.Role, it.Name, parts, it.Tools))
		parts = nil
		folded = false
	}
	return out
}

func sameRequest(t *testing.T, what string, m scrollback.Manifest, r model.Request) {
	t.Helper()
	got := shownAs(m.Items)
	want := requested(r)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			at := func(of []string) string {
				if i < len(of) {
					return of[i]
				}
				return "nothing"
			}
			t.Fatalf("%s: message %d of %d is shown as\n%s\nand was sent as\n%s", what, i, len(want), at(got), at(want))
		}
	}
}

// sighted is a conversation whose requests are recorded.
type sighted struct {
	t    *testing.T
	r    *enginetest.Rig
	id   scrollback.ConversationID
	sent []model.Request
	rng  *rand.Rand
	n    int

	policy string
	root   string
	turns  map[scrollback.TurnID][]model.Request
	did    map[string]int
}

func newSighted(t *testing.T, seed uint64, policy string, d scrollback.Dialect, o enginetest.Options) *sighted {
	t.Helper()
	s := &sighted{t: t, policy: policy, did: map[string]int{}, turns: map[scrollback.TurnID][]model.Request{},
		rng: rand.New(rand.NewPCG(seed, 16))}
	ids := 0
	// Ids of one length: a placeholder names its segment, and so weighs the same each time.
	o.NewID = func() string { ids++; return fmt.Sprintf("%08d-0000-7000-8000-000000000000", ids) }
	o.Policy = policy
	o.Wrap = func(m model.Model) model.Model { return spoken{m, d} }
	s.r, s.root = inFolder(t, o, modeltest.Step{Reply: s.answer})
	c, _, err := s.r.Create(context.Background(),
		scrollback.Conversation{Instructions: "Be brief.", Roots: []string{s.root}})
	if err != nil {
		t.Fatal(err)
	}
	s.id = c.ID
	return s
}

// spoken is a model with another dialect.
type spoken struct {
	model.Model
	d scrollback.Dialect
}

func (s spoken) Facts() model.Facts {
	f := s.Model.Facts()
	f.Dialect = s.d
	return f
}

func (s *sighted) answer(r model.Request) []model.Delta {
	if len(r.Tools) == 0 {
		return []model.Delta{{Text: minutes(fmt.Sprint("goal ", s.n))}}
	}
	s.sent = append(s.sent, r)
	s.n++
	last := r.Items[len(r.Items)-1]
	if last.Role == scrollback.RoleUser && s.rng.IntN(4) == 0 {
		c := enginetest.Call(fmt.Sprint("r", s.n), "context_search", `{"query":"tide","limit":2}`)
		return []model.Delta{{Call: &c}}
	}
	if s.rng.IntN(12) == 0 {
		return nil // it fails
	}
	return []model.Delta{{Text: s.words(120)}}
}

func (s *sighted) words(n int) string {
	var b strings.Builder
	for range 1 + s.rng.IntN(n) {
		b.WriteString([]string{"red ", "port ", "7077 ", "数据库 ", "Always remember this. ", "why? ", "tide ",
			"钥匙 "}[s.rng.IntN(8)])
	}
	return b.String()
}

// foreseen sends a draft that was looked at before, and wants what was foreseen.
func (s *sighted) foreseen(parts scrollback.Parts) {
	t := s.t
	ctx := context.Background()
	t.Helper()
	m, err := s.r.Context(ctx, s.id, engine.ContextRequest{Message: parts, Content: true})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.r.Context(ctx, s.id, engine.ContextRequest{Message: parts, Content: true}); err != nil ||
		!sameJSON(again, m) {
		t.Fatalf("looked at twice, it is another: %v", err)
	}
	before := len(s.sent)
	out := s.r.Run(engine.TurnRequest{Conversation: s.id, Message: parts})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	var first, last, tokens int64
	for _, ev := range out.Events {
		switch ev := ev.(type) {
		case scrollback.CompactionEvent:
			if first == 0 {
				first = ev.Receipt.FirstSeq
			}
			last = ev.Receipt.LastSeq
			s.did["compacted"]++
		case scrollback.MetaEvent:
			if tokens = ev.Tokens; tokens > 0 {
				break
			}
			continue
		default:
			continue
		}
		if tokens > 0 { // the request is sent
			break
		}
	}
	switch {
	case m.Compacts == nil && first > 0:
		t.Fatalf("it compacted #%d–#%d, which was not foreseen", first, last)
	case m.Compacts != nil && (m.Compacts.FirstSeq != first || m.Compacts.LastSeq != last):
		t.Fatalf("it compacted #%d–#%d, and #%d–#%d were foreseen", first, last, m.Compacts.FirstSeq, m.Compacts.LastSeq)
	case before == len(s.sent): // over budget
		s.did["over budget"]++
		return
	case m.Compacts == nil && tokens != m.Tokens:
		t.Fatalf("it weighs %d tokens, and %d were foreseen", tokens, m.Tokens)
	case m.Compacts == nil:
		sameRequest(t, "the draft", m, s.sent[before])
	case tokens-repeated(s.sent[before]) != m.Compacts.TokensAfter && s.policy == compact.Segments:
		t.Fatalf("it weighs %d tokens after the compaction, and %d were foreseen", tokens, m.Compacts.TokensAfter)
	}
	for _, it := range m.Items {
		s.did[string(it.Kind)]++
		if len(it.Parts.References()) > 0 {
			s.did["reference"]++
		}
		if it.Joined {
			s.did["joined"]++
		}
	}
	begun, _ := enginetest.Last[scrollback.TurnEvent](out)
	s.turns[begun.TurnID] = s.sent[before:]
	for _, it := range s.sent[before].Items {
		if it.Kind == scrollback.KindRequestOnly {
			s.did["again"]++
		}
	}
	s.past(begun.TurnID)
}

// repeated returns the weight of what a request repeats because it was compacted a moment ago.
func repeated(r model.Request) (tokens int64) {
	for _, it := range r.Items {
		if it.Layer == scrollback.LayerRequestOnly {
			tokens += it.Weight.Tokens
		}
	}
	return tokens
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// past wants the steps of a turn to be what was sent.
func (s *sighted) past(turn scrollback.TurnID) {
	t := s.t
	sent := s.turns[turn]
	t.Helper()
	all, err := s.r.Turns().Context(context.Background(), s.id, turn, engine.PastRequest{})
	if err != nil || len(all.Steps) != len(sent) {
		t.Fatalf("%d steps are stored of %d requests: %v", len(all.Steps), len(sent), err)
	}
	for i, r := range sent {
		one, err := s.r.Turns().Context(context.Background(), s.id, turn, engine.PastRequest{Step: i + 1, Content: true})
		if err != nil || len(one.Steps) != 1 {
			t.Fatal(err)
		}
		m := one.Steps[0]
		if m.Partial || m.Step != i+1 || m.Tokens != all.Steps[i].Tokens {
			t.Fatalf("step %d is %+v", i+1, m)
		}
		var tokens int64
		for _, l := range m.Layers {
			tokens += l.Tokens
		}
		if tokens != m.Tokens {
			t.Fatalf("the layers of step %d weigh %d of %d", i+1, tokens, m.Tokens)
		}
		sameRequest(t, fmt.Sprint("step ", i+1), m, r)
	}
}

// What is shown of a request is what a provider got, byte by byte: of the next one, of a
// draft that is then sent, and of each step of each turn; and a draft that is said to
// compact some messages compacts these.
func TestSightIsWhatIsSent(t *testing.T) {
	t.Parallel()
	dialects := []scrollback.Dialect{{}, window.Anthropic(), window.Gemini(),
		window.WithStrictness(window.OpenAI(), scrollback.StrictNoSystem)}
	for seed := range testlength.Choose(1, 2, 8) {
		for i, policy := range compact.Names()[1:] {
			for k, d := range dialects {
				if k%3 != i && testlength.Choose(true, false, false) {
					continue // each policy and each dialect, but not all pairs
				}
				t.Run(fmt.Sprintf("%s-%s-%d", policy, d.Name, seed), func(t *testing.T) {
					t.Parallel()
					s := newSighted(t, uint64(seed), policy, d, enginetest.Options{NoFolds: true, Limit: 6000,
						Summaries: policy != compact.Segments, Folding: map[string]float64{"placeholders_max": 3}})
					for range 40 {
						parts := enginetest.Say(s.words(200))
						switch s.rng.IntN(9) {
						case 0:
							parts = enginetest.Say(strings.Repeat(s.words(80), 40))
						case 1:
							parts = append(parts, s.r.UploadImage(s.id, s.n))
						case 2:
							s.pin()
						case 3:
							s.write(t, "notes.txt")
						case 4, 5, 6:
							parts = enginetest.Say(s.words(30) + " see @[notes.txt]")
						}
						s.foreseen(parts)
					}
					for turn := range s.turns { // whatever came after it
						s.past(turn)
					}
					t.Log(s.did)
					for _, what := range []string{"compacted", "placeholder", "pin", "reference", "tools", "environment"} {
						if s.did[what] == 0 {
							t.Errorf("none: %s", what)
						}
					}
				})
			}
		}
	}
}

// pin pins the lightest messages of a person.
func (s *sighted) pin() {
	light := func(a, b scrollback.Message) int { return cmp.Compare(a.Weight.Tokens, b.Weight.Tokens) }
	ms := slices.SortedFunc(slices.Values(s.r.Log(s.id)), light)
	ms = slices.DeleteFunc(ms, func(m scrollback.Message) bool { return m.Role != scrollback.RoleUser })
	_, _ = s.r.Patch(context.Background(), s.id, 0, func(c *scrollback.Conversation) error {
		c.PinnedSeqs = nil
		for _, m := range ms[:min(2, len(ms))] {
			c.PinnedSeqs = append(c.PinnedSeqs, m.Seq)
		}
		c.Instructions = "Be brief. " + s.words(3)
		return nil
	})
}

func (s *sighted) write(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.root, name), []byte(s.words(60)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What a step sent is stored with it also when it fails or is stopped, and what a search
// found is quoted again; only totals are left of a turn that is older than the accounts,
// and nothing of one that asked nobody.
func TestSightOfOtherTurns(t *testing.T) {
	ctx := context.Background()
	_, searcher := searxng(t)
	refused := scrollback.Errorf(scrollback.Refused, "test", "no").WithReason(scrollback.ErrUpstream)
	r := enginetest.New(t, enginetest.Options{Searcher: searcher, NoFolds: true}, modeltest.Step{Err: refused},
		modeltest.Say("At nine [1]."))
	id := r.NewConversation()
	turns := map[string]scrollback.TurnID{}
	for _, name := range []string{"failed", "searched"} {
		out := r.Run(searching(id, "When is high water?"))
		begun, _ := enginetest.Last[scrollback.TurnEvent](out)
		turns[name] = begun.TurnID
	}
	for i, name := range []string{"failed", "searched"} {
		got, err := r.Turns().Context(ctx, id, turns[name], engine.PastRequest{Content: true})
		if err != nil || len(got.Steps) != 1 || got.Steps[0].Partial || got.Model != "script" {
			t.Fatalf("the turn that %s: %+v %v", name, got, err)
		}
		if sameRequest(t, name, got.Steps[0], r.Script.Requests()[i]); len(web(r.Script.Requests()[i])) != 1 {
			t.Errorf("the turn that %s quotes no search", name)
		}
	}
	_, err := r.Turns().Context(ctx, id, turns["failed"], engine.PastRequest{Step: 2})
	enginetest.WantCode(t, err, scrollback.NotFound, "step 2")

	c, err := r.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	asks := store.IncomingMessage{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: enginetest.Say("?")}}
	begun, err := r.Store.Turns.Begin(ctx, store.BeginRequest{Conversation: c.ID, Owner: "test",
		Messages: []store.IncomingMessage{asks}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Turns().Context(ctx, id, begun.Turn.ID, engine.PastRequest{})
	enginetest.WantCode(t, err, scrollback.NotFound, "was not stored")
	old := &scrollback.WindowMark{Hash: "h",
		Sent: &scrollback.Manifest{Model: "old", Tokens: 77, Layers: []scrollback.ManifestLayer{}}}
	if _, err := r.Store.Turns.FinishStep(ctx, store.FinishRequest{Turn: begun.Turn, State: scrollback.TurnComplete,
		Window: old}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Turns().Context(ctx, id, begun.Turn.ID, engine.PastRequest{Content: true})
	if err != nil || len(got.Steps) != 1 || !got.Steps[0].Partial || got.Steps[0].Tokens != 77 || got.Model != "old" {
		t.Errorf("of an older turn: %+v %v", got, err)
	}
}

// An undoing that is only looked at comes to what it comes to when it is done, and what was
// undone is done again: the same segments, and the window as it was.
func TestUndoAndRedo(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 9000},
		modeltest.Step{Reply: func(model.Request) []model.Delta {
			return []model.Delta{{Text: strings.Repeat("The tide turns at the port. ", 30)}}
		}})
	id := r.NewConversation()
	c := r.Compactions()
	_, err := c.Redo(ctx, id, engine.UndoRequest{})
	enginetest.WantCode(t, err, scrollback.NotFound, "do again")
	for i := range 3 {
		for range 4 {
			r.Ask(id, fmt.Sprint("question ", i, strings.Repeat(" about the port", 30)))
		}
		if got, err := r.Compact(ctx, id, engine.CompactRequest{Force: true}); err != nil ||
			got.Result != scrollback.ResultCompacted {
			t.Fatalf("%+v %v", got, err)
		}
	}
	window := func() string { return r.LogOutline(id) }
	rs, err := r.Receipts(ctx, id, 9)
	if err != nil || len(rs) < 3 || rs[0].Messages == 0 || rs[0].FoldedTokens <= rs[0].CardTokens ||
		len(rs[0].Lines) == 0 ||
		rs[0].Reason != scrollback.ReasonByHand {
		t.Fatalf("receipts %+v %v", rs, err)
	}
	type turn = func(context.Context, scrollback.ConversationID, engine.UndoRequest) (scrollback.Receipt, error)
	do := func(what string, run turn, q engine.UndoRequest) {
		t.Helper()
		before := window()
		q.DryRun = true
		seen, err := run(ctx, id, q)
		if err != nil || window() != before {
			t.Fatalf("%s, only looked at: %v", what, err)
		}
		q.DryRun = false
		done, err := run(ctx, id, q)
		if seen.CreatedAt, seen.DurationMS = done.CreatedAt, done.DurationMS; err != nil || !sameJSON(seen, done) {
			t.Fatalf("%s was to be\n%+v\nand was\n%+v %v", what, seen, done, err)
		}
		if done.Messages == 0 || done.TokensBefore == done.TokensAfter {
			t.Errorf("%s: %+v", what, done)
		}
	}
	for range 2 {
		do("undoing", c.Undo, engine.UndoRequest{})
	}
	if rs, err = r.Receipts(ctx, id, 9); err != nil || !rs[0].Redo || !rs[1].Redo || rs[2].Redo {
		t.Fatalf("what can be done again: %+v %v", rs, err)
	}
	r.Ask(id, "a message more")
	do("redoing", c.Redo, engine.UndoRequest{Segment: rs[0].Segments[0]})
	do("undoing both", c.Undo, engine.UndoRequest{Segment: rs[1].Segments[0]})
	do("redoing one", c.Redo, engine.UndoRequest{})
	do("redoing the other", c.Redo, engine.UndoRequest{})
	if rs, err = r.Receipts(ctx, id, 9); err != nil || rs[0].Undone || rs[1].Undone || rs[0].Redo {
		t.Fatalf("after all of it: %+v %v", rs, err)
	}
	if _, err := r.Uncompact(ctx, id, ""); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Compact(ctx, id, engine.CompactRequest{Clear: true}); err != nil ||
		got.Result != scrollback.ResultCompacted {
		t.Fatalf("%+v %v", got, err)
	}
	_, err = c.Redo(ctx, id, engine.UndoRequest{})
	enginetest.WantCode(t, err, scrollback.Conflict, "no longer fit")
	enginetest.CheckViews(t, r, id)
}

// A compaction that the request does not need is said to be made beside it; a draft that
// says nothing is none, and what is refused when it is sent is refused before.
func TestSightBesideAndBlank(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{Limit: 8000, Summaries: true}, modeltest.Say("Yes."))
	id := r.NewConversation()
	r.AppendTurns(id, 58, "the tide")
	m, err := r.Context(ctx, id, engine.ContextRequest{Message: enginetest.Say("And now?"),
		Overrides: engine.Overrides{Limit: 6000}})
	if err != nil || m.Over > 0 || m.Compacts == nil || !m.Compacts.Beside || m.Tokens < m.CompactsAt {
		t.Fatalf("%+v %+v %v", m, m.Compacts, err)
	}
	over, err := r.Context(ctx, id, engine.ContextRequest{Message: enginetest.Say(strings.Repeat("And now? ", 700)),
		Overrides: engine.Overrides{Limit: 6000}})
	if err != nil || over.Over != over.Tokens-over.Budget || over.Over <= 0 || over.Compacts == nil ||
		over.Compacts.Beside {
		t.Fatalf("%+v %+v %v", over, over.Compacts, err)
	}
	blank, err := r.Context(ctx, id, engine.ContextRequest{Message: enginetest.Say(" \n")})
	plain, err2 := r.Context(ctx, id)
	if err != nil || err2 != nil || !sameJSON(blank, plain) || blank.Draft != 0 {
		t.Errorf("a blank draft: %+v %v %v", blank, err, err2)
	}
	_, err = r.Context(ctx, id, engine.ContextRequest{Message: enginetest.Say(strings.Repeat("long ", 50_000))})
	enginetest.WantCode(t, err, scrollback.Invalid, "at most")
	if n := len(r.Script.Requests()); n > 0 {
		t.Errorf("%d requests were made", n)
	}
}
