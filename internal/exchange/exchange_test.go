package exchange_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local"
)

// machine is a store of a person.
type machine struct {
	t    *testing.T
	name string
	*local.Scrollback
}

func openMachine(t *testing.T, name, dir string) *machine {
	t.Helper()
	sb, err := local.Open(t.Context(), dir, &local.Options{Model: "offline", Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sb.Close() })
	return &machine{t, name, sb}
}

func (m *machine) side() exchange.Side { return exchange.Side{Store: m.Store, Archive: m.Archive} }

func (m *machine) digest() exchange.Digest {
	m.t.Helper()
	d, err := m.side().Digest(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return d
}

// takeFrom brings what another has.
func (m *machine) takeFrom(o *machine) merge.Outcome {
	m.t.Helper()
	got, err := exchange.Take(m.t.Context(), o.side(), m.side(), exchange.Request{Terms: merge.Terms{Purges: true}})
	if err != nil {
		m.t.Fatalf("%s takes from %s: %v", m.name, o.name, err)
	}
	return got
}

// say takes a turn.
func (m *machine) say(id scrollback.ConversationID, text string) {
	m.t.Helper()
	for _, err := range m.Turn(m.t.Context(), engine.TurnRequest{Conversation: id, Message: scrollback.Say(text)}) {
		if err != nil {
			m.t.Fatalf("%s: %v", m.name, err)
		}
	}
}

func (m *machine) create() scrollback.ConversationID {
	m.t.Helper()
	c, _, err := m.Create(m.t.Context(), scrollback.Conversation{})
	if err != nil {
		m.t.Fatal(err)
	}
	return c.ID
}

// said returns what the current path of a conversation says.
func (m *machine) said(id scrollback.ConversationID) string {
	m.t.Helper()
	var out []string
	for msg, err := range m.Store.WalkConversation(m.t.Context(), id) {
		if err != nil {
			m.t.Fatal(err)
		}
		if msg.Role == scrollback.RoleUser {
			out = append(out, msg.Parts.Text())
		}
	}
	return strings.Join(out, " ")
}

func wantEqual(t *testing.T, machines ...*machine) {
	t.Helper()
	want := machines[0].digest()
	for _, m := range machines[1:] {
		got := m.digest()
		if got.Digest == want.Digest {
			continue
		}
		t.Errorf("%s and %s differ: %d and %d conversations", machines[0].name, m.name, len(want.Conversations),
			len(got.Conversations))
		for i := range min(len(want.Conversations), len(got.Conversations)) {
			if got.Conversations[i] != want.Conversations[i] {
				t.Errorf("at %v and %v", want.Conversations[i], got.Conversations[i])
				break
			}
		}
		for _, pair := range [][2]*machine{{machines[0], m}, {m, machines[0]}} {
			to := pair[0].peer()
			from := pair[1].peer()
			wanted, err := merge.Missing(t.Context(), to, from)
			if err != nil {
				t.Fatal(err)
			}
			set, err := from.Records(t.Context(), wanted)
			text, _ := json.MarshalIndent(set, "", " ")
			t.Errorf("%s lacks %+v of %s: %s, %v", pair[0].name, wanted, pair[1].name, text, err)
		}
		t.FailNow()
	}
}

// TestHandOver: two machines used in turn have one line of talk, whoever goes on, and what both said is a choice.
func TestHandOver(t *testing.T) {
	t.Parallel()
	a := openMachine(t, "a", t.TempDir())
	b := openMachine(t, "b", t.TempDir())
	id := a.create()
	a.say(id, "one")
	if got := b.takeFrom(a); got.New != 1 || got.Messages != 2 {
		t.Errorf("%+v", got)
	}
	wantEqual(t, a, b)
	b.say(id, "two")
	a.takeFrom(b)
	wantEqual(t, a, b)
	if got := a.said(id); got != "one two" {
		t.Errorf("a stands at %q", got)
	}
	branches, err := a.Branches().List(t.Context(), id)
	if err != nil || len(branches) != 1 {
		t.Errorf("%+v, %v", branches, err)
	}
	a.say(id, "three of a")
	b.say(id, "three of b")
	a.takeFrom(b)
	b.takeFrom(a)
	wantEqual(t, a, b)
	if x, y := a.said(id), b.said(id); x != "one two three of a" || y != "one two three of b" {
		t.Errorf("a stands at %q, b at %q", x, y)
	}
	if branches, err = b.Branches().List(t.Context(), id); err != nil || len(branches) < 2 {
		t.Errorf("%+v, %v", branches, err)
	}
	if got := a.takeFrom(b); got.Conversations != 0 {
		t.Errorf("a second meeting brought %+v", got)
	}
}

// TestMachines: whatever people do on several machines, and however these meet, all end with the same.
func TestMachines(t *testing.T) {
	t.Parallel()
	for seed := range testlength.Choose(2, 6, 50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 35))
			var all []*machine
			for _, name := range []string{"a", "b", "c"} {
				all = append(all, openMachine(t, name, t.TempDir()))
			}
			meet := func(m, o *machine) merge.Outcome { return m.takeFrom(o) }
			if seed%2 == 1 { // as records, as they go over a wire
				meet = func(m, o *machine) merge.Outcome { return pull(t, o.peer(), m.peer()) }
			}
			w := &walk{t: t, rng: rng, all: all, meet: meet, known: map[*machine]knownOf{}}
			for range testlength.Choose(40, 120, 300) {
				w.step()
				w.wantSummaries()
			}
			for range all { // whoever carries what is left
				for _, m := range all {
					for _, o := range all {
						if m != o {
							meet(m, o)
						}
					}
				}
			}
			wantEqual(t, all...)
			for _, m := range all {
				for _, o := range all {
					if m == o {
						continue
					}
					if got := meet(m, o); got.Conversations > 0 || got.Purged > 0 || len(got.Refused) > 0 {
						t.Errorf("meeting again brought %+v", got)
					}
				}
			}
		})
	}
}

// wantSummaries wants what each machine knows of its conversations to be what they come to, and a mark that moved if
// that has changed.
func (w *walk) wantSummaries() {
	w.t.Helper()
	ctx := w.t.Context()
	for _, m := range w.all {
		before := w.known[m]
		mark, err := m.side().Mark(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		changed, err := m.side().Changed(ctx, before.mark)
		if err != nil || before.all != nil && changed.Everything {
			w.t.Fatalf("%s: %+v, %v", m.name, changed, err)
		}
		want, err := m.side().WorkOutSummaries(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		if !slices.Equal(want, before.all) && mark == before.mark {
			w.t.Fatalf("%s has changed, and its mark has not", m.name)
		}
		for _, s := range want {
			if before.all != nil && !slices.Contains(before.all, s) && !slices.Contains(changed.Conversations, s.ID) {
				w.t.Fatalf("%s: %s has changed, and is not among %v", m.name, s.ID, changed.Conversations)
			}
		}
		// Some digests wait for the next time, over more than one step.
		if w.rng.IntN(3) > 0 {
			m.wantSummaries()
			if again, err := m.side().Mark(ctx); err != nil || again != mark {
				w.t.Fatalf("%s: asking for digests moved the mark: %q, %q, %v", m.name, mark, again, err)
			}
		}
		w.known[m] = knownOf{mark, want}
	}
}

// knownOf is what was known of a machine.
type knownOf struct {
	mark string
	all  []merge.Summary
}

// walk is what people do.
type walk struct {
	t     *testing.T
	rng   *rand.Rand
	all   []*machine
	meet  func(m, o *machine) merge.Outcome
	talks []scrollback.ConversationID
	known map[*machine]knownOf
	n     int
}

func (w *walk) step() {
	w.t.Helper()
	ctx := context.Background()
	m := w.all[w.rng.IntN(len(w.all))]
	if len(w.talks) == 0 || w.rng.IntN(12) == 0 {
		w.talks = append(w.talks, m.create())
		return
	}
	id := w.talks[w.rng.IntN(len(w.talks))]
	c, err := m.Get(ctx, id)
	if scrollback.CodeOf(err) == scrollback.NotFound || w.rng.IntN(4) == 0 {
		if o := w.all[w.rng.IntN(len(w.all))]; o != m {
			w.meet(m, o)
		}
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.n++
	text := fmt.Sprintf("word%d of %s", w.n, m.name)
	switch k := w.rng.IntN(12); {
	case c.DeletedAt != 0:
		_, err = m.Restore(ctx, id)
	case k < 5:
		m.say(id, text)
	case k == 5 && c.Messages > 0:
		seq := w.rng.Int64N(c.Messages + 1)
		_, err = m.Branches().Rewind(ctx, id, engine.Point{Seq: &seq})
	case k == 6 && c.Messages > 0:
		seq := 1 + w.rng.Int64N(c.Messages)
		var f scrollback.Conversation
		f, err = m.Branches().Fork(ctx, id, engine.Point{Seq: &seq}, "")
		w.talks = append(w.talks, f.ID)
	case k == 7:
		_, err = m.Patch(ctx, id, 0, func(c *scrollback.Conversation) error { c.Title = text; return nil })
	case k == 8 && c.Messages > 0:
		pins := []int64{1 + w.rng.Int64N(c.Messages)}
		_, err = m.Patch(ctx, id, 0, func(c *scrollback.Conversation) error {
			c.PinnedSeqs = pins
			return nil
		})
	case k == 9:
		project := fmt.Sprint("p", w.n%3)
		_, err = m.Patch(ctx, id, 0, func(c *scrollback.Conversation) error { c.Project = project; return nil })
	case k == 10 && w.rng.IntN(2) == 0:
		_, err = m.Trash(ctx, id)
	case k == 11 && w.rng.IntN(4) == 0:
		_, err = m.Purge(ctx, id)
	}
	if err != nil {
		w.t.Fatalf("%s: %v", m.name, err)
	}
}
