package meet

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

var firstSeed = flag.Int("seed", 1, "the first run of the walk")

// walk lets the stores of a world meet over a network.
type walk struct {
	t       *testing.T
	rng     *rand.Rand
	arrived map[*mergetest.Memory]map[scrollback.ArtifactID]bool
	met     struct{ whole, cut, failed int }
}

func (w *walk) storeOf(p mergetest.Party) *store {
	s := newStore()
	s.mem = p.Memory
	s.merge = p.Put
	s.most = 1 + w.rng.IntN(60)
	if w.arrived[p.Memory] == nil {
		w.arrived[p.Memory] = map[scrollback.ArtifactID]bool{}
	}
	s.arrived = w.arrived[p.Memory]
	return s
}

// meet lets two stores meet, and perhaps cuts them off.
func (w *walk) meet(a, b mergetest.Party, rough bool) error {
	n := &network{}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	isRough := rough && w.rng.IntN(2) == 0
	if isRough {
		switch w.rng.IntN(4) {
		case 0:
			n.cutAt = 1 + w.rng.Int64N(60_000)
		case 1:
			at := 1 + w.rng.IntN(25)
			n.before = func(i int) {
				if i >= at {
					cancel()
				}
			}
		case 2:
			n.tooLarge = 300 + w.rng.IntN(4000)
		default:
			n.poison = fmt.Sprintf("%02x", w.rng.IntN(256)) + fmt.Sprintf("%02x", w.rng.IntN(256))
			n.status = []int{408, 413, 502, 504}[w.rng.IntN(4)]
		}
	}
	ours := w.storeOf(a)
	theirs := w.storeOf(b)
	dial := n.overHTTP
	if w.rng.IntN(2) == 0 {
		dial = n.overPipes
	}
	p, closed := dial(w.t, theirs)
	o := Options{Terms: merge.Terms{Purges: true}}
	result, err := Meet(ctx, ours, p, o)
	closed()
	if ours.fault != nil || theirs.fault != nil {
		return fmt.Errorf("%v, %v", ours.fault, theirs.fault)
	}
	for _, s := range []*store{ours, theirs} {
		if err := s.mem.Check(); err != nil {
			return fmt.Errorf("after a meeting: %w", err)
		}
	}
	if err != nil {
		if !isRough {
			return fmt.Errorf("a meeting fails: %w", err)
		}
		w.met.failed++
		return nil
	}
	if isRough {
		w.met.cut++
	}
	if len(result.Pulled.Refused)+len(result.Pushed.Refused)+len(result.Uncarried) > 0 {
		return nil
	}
	if !isRough && len(result.Pulled.Waiting)+len(result.Pushed.Waiting) > 0 {
		return fmt.Errorf("waiting after a meeting: %+v", result)
	}
	if isRough {
		return nil
	}
	w.met.whole++
	return w.meetAgain(a, b)
}

// meetAgain checks that stores which have met are equal, and that another meeting says so in one request.
func (w *walk) meetAgain(a, b mergetest.Party) error {
	ours := w.storeOf(a)
	theirs := w.storeOf(b)
	here, _ := a.Head(context.Background())
	there, _ := b.Head(context.Background())
	if here != there {
		return fmt.Errorf("two stores have met and differ:\n%s", difference(a.Memory, b.Memory))
	}
	n := &network{}
	p, closed := n.overHTTP(w.t, theirs)
	defer closed()
	result, err := Meet(context.Background(), ours, p, Options{})
	if err != nil || n.requests != 1 || ours.puts+theirs.puts > 0 {
		return fmt.Errorf("meeting again took %d requests: %+v, %v", n.requests, result, err)
	}
	return nil
}

// difference lists records that only one of two stores has.
func difference(a, b *mergetest.Memory) string {
	count := map[string]int{}
	for line := range strings.SplitSeq(a.Describe(), "\n") {
		count[line]++
	}
	for line := range strings.SplitSeq(b.Describe(), "\n") {
		count[line]--
	}
	var out []string
	for _, line := range sortedKeys(count) {
		if n := count[line]; n != 0 && len(out) < 12 {
			out = append(out, fmt.Sprint(n, " ", line))
		}
	}
	return strings.Join(out, "\n")
}

// Stores that live, meet over networks of any kind and are cut off anywhere end alike, and have lost nothing.
func TestWalk(t *testing.T) {
	t.Parallel()
	for seed := range testlength.Choose(4, 12, 100) {
		seed += *firstSeed
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			world := mergetest.NewWorld(uint64(seed), mergetest.TrueRules())
			w := &walk{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 7)),
				arrived: map[*mergetest.Memory]map[scrollback.ArtifactID]bool{}}
			world.MeetBy = func(a, b mergetest.Party) error { return w.meet(a, b, true) }
			for i := range testlength.Choose(1200, 4000, 8000) {
				if err := world.Step(); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
			if err := world.MendClocks(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				all := world.Parties()
				for _, other := range all[1:] {
					if err := w.meet(all[0], other, false); err != nil {
						t.Fatal(err)
					}
				}
			}
			all := world.Parties()
			want := all[0].Describe()
			for _, other := range all[1:] {
				if other.Describe() != want {
					t.Fatal("everybody has met, and stores differ")
				}
			}
			if err := world.Finish(); err != nil {
				t.Fatal(err)
			}
			if w.met.whole == 0 || w.met.failed == 0 || w.met.cut == 0 {
				t.Errorf("the walk met nothing: %+v", w.met)
			}
			t.Logf("%+v %+v", w.met, world.Figures)
		})
	}
}
