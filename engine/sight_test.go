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
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// wire are the messages of a request as JSON, one a line.
func wire(role scrollback.Role, name string, ps scrollback.Parts, tools []scrollback.Tool) string {
	b, err := json.Marshal(map[string]any{"role": role, "name": name, "parts": ps, "tools": tools})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// requested is what a provider got.
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

// shownAs is what the items of a manifest say that it got: items that are joined with the
// next are one message, and the texts of the block of what was folded are one text.
func shownAs(items []scrollback.ContextItem) (out []string) {
	var parts scrollback.Parts
	folded := false
	for _, it := range items {
		inBlock := it.Kind == scrollback.KindFolded || it.Kind == scrollback.KindSummary || it.Kind == scrollback.KindPlaceholder
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
		parts, folded = nil, false
	}
	return out
}

func sameRequest(t *testing.T, what string, m scrollback.Manifest, r model.Request) {
	t.Helper()
	got, want := shownAs(m.Items), requested(r)
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
	did    map[string]int
}

func newSighted(t *testing.T, seed uint64, policy string, d scrollback.Dialect, o enginetest.Options) *sighted {
	s := &sighted{t: t, policy: policy, did: map[string]int{}, rng: rand.New(rand.NewPCG(seed, 16))}
	ids := 0
	// Ids of one length: a placeholder names its segment, and so weighs the same each time.
	o.NewID = func() string { ids++; return fmt.Sprintf("%08d-0000-7000-8000-000000000000", ids) }
	o.Policy = policy
	o.Wrap = func(m model.Model) model.Model { return spoken{m, d} }
	s.r = enginetest.New(t, o, modeltest.Step{Reply: s.answer})
	c, _, err := s.r.Create(context.Background(), scrollback.Conversation{Instructions: "Be brief."})
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
		b.WriteString([]string{"red ", "port ", "7077 ", "数据库 ", "Always remember this. ", "why? ", "tide ", "钥匙 "}[s.rng.IntN(8)])
	}
	return b.String()
}

// foreseen sends a draft that was looked at before, and wants what was foreseen.
func (s *sighted) foreseen(parts scrollback.Parts) {
	t, ctx := s.t, context.Background()
	t.Helper()
	m, err := s.r.Context(ctx, s.id, engine.ContextRequest{Message: parts, Content: true})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.r.Context(ctx, s.id, engine.ContextRequest{Message: parts, Content: true}); err != nil || !sameJSON(again, m) {
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
	case tokens != m.Compacts.TokensAfter && s.policy == compact.Segments:
		t.Fatalf("it weighs %d tokens after the compaction, and %d were foreseen", tokens, m.Compacts.TokensAfter)
	}
	for _, it := range m.Items {
		s.did[string(it.Kind)]++
		if it.Joined {
			s.did["joined"]++
		}
	}
	begun, _ := enginetest.Last[scrollback.TurnEvent](out)
	s.past(begun.TurnID, s.sent[before:])
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// past wants the steps of a turn to be what was sent.
func (s *sighted) past(turn scrollback.TurnID, sent []model.Request) {
	t := s.t
	t.Helper()
	all, err := s.r.Turns().Context(context.Background(), s.id, turn, engine.Past{})
	if err != nil || len(all.Steps) != len(sent) {
		t.Fatalf("%d steps are stored of %d requests: %v", len(all.Steps), len(sent), err)
	}
	for i, r := range sent {
		one, err := s.r.Turns().Context(context.Background(), s.id, turn, engine.Past{Step: i + 1, Content: true})
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
	dialects := []scrollback.Dialect{{}, window.Anthropic(), window.Gemini(), window.Strict(window.OpenAI(), scrollback.StrictNoSystem)}
	for seed := range testlength.Of(2, 8) {
		for _, policy := range []string{compact.Segments, compact.Snapshot, compact.Rolling} {
			for _, d := range dialects {
				t.Run(fmt.Sprintf("%s-%s-%d", policy, d.Name, seed), func(t *testing.T) {
					t.Parallel()
					s := newSighted(t, uint64(seed), policy, d, enginetest.Options{NoFolds: true, Limit: 6000, Summaries: policy != compact.Segments})
					for range 40 {
						parts := enginetest.Say(s.words(200))
						switch s.rng.IntN(9) {
						case 0:
							parts = enginetest.Say(strings.Repeat(s.words(80), 40))
						case 1:
							parts = append(parts, s.r.Picture(s.id, s.n))
						case 2:
							s.pin()
						}
						s.foreseen(parts)
					}
					t.Log(s.did)
				})
			}
		}
	}
}

// pin pins a message by chance.
func (s *sighted) pin() {
	_, _ = s.r.Patch(context.Background(), s.id, 0, func(c *scrollback.Conversation) error {
		if c.PinnedSeqs = nil; c.Messages > 0 {
			c.PinnedSeqs = []int64{1 + s.rng.Int64N(c.Messages)}
		}
		return nil
	})
}
