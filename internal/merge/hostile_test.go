package merge_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// lived returns stores that have lived for some steps, and the time there.
func lived(t testing.TB, seed uint64, steps int) (stores []*mergetest.Memory, now int64) {
	t.Helper()
	w := mergetest.NewWorld(seed, mergetest.TrueRules())
	for range steps {
		if err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return w.Stores(), w.Now()
}

// checkHostile merges records of whatever origin into a store, and checks that this changes nothing that is held, adds
// nothing that does not fit, and comes to an end when it is done again: what contradicts itself may need several times.
func checkHostile(t testing.TB, store *mergetest.Memory, arrived merge.Set, now int64) {
	t.Helper()
	was := store.Describe()
	after := store.Clone()
	for range 50 {
		result := merge.Merge(after, arrived, now)
		if store.Describe() != was {
			t.Fatal("a merge has changed what is held")
		}
		after.Apply(result.Change, merge.Spared)
		if err := after.Check(); err != nil {
			t.Fatal(err)
		}
		if err := after.Holds(store, now); err != nil {
			t.Fatal(err)
		}
		c := result.Change
		if len(c.Conversations)+len(c.Stones)+len(c.Projects)+len(c.Unknown) == 0 {
			for _, c := range arrived.Conversations {
				merge.Labels(&c)
			}
			return
		}
	}
	t.Fatalf("the same records change something each time: %+v", merge.Merge(after, arrived, now).Change)
}

// Records of hostile bytes never panic, and never change what is held. Good records are edited in one place, by numbers
// and at most sixteen bytes: the fuzzer would take whole texts apart byte by byte.
func FuzzMerge(f *testing.F) {
	stores, now := lived(f, 7, 100)
	var good [][]byte
	for _, store := range stores {
		all := store.All()
		for _, c := range all.Conversations {
			text, err := json.Marshal(merge.Set{Conversations: []merge.Conversation{c}, Stones: all.Stones})
			if err != nil {
				f.Fatal(err)
			}
			good = append(good, text)
		}
	}
	for i := range good {
		f.Add(uint8(i), uint16(i*31), uint8(i), []byte(`"x"`))
	}
	f.Add(uint8(0), uint16(0), uint8(255), []byte("{}"))
	f.Fuzz(func(t *testing.T, which uint8, at uint16, cut uint8, edit []byte) {
		text := good[int(which)%len(good)]
		from := int(at) % len(text)
		to := min(len(text), from+int(cut))
		edited := slices.Concat(text[:from], edit[:min(len(edit), 16)], text[to:])
		var arrived merge.Set
		if json.Unmarshal(edited, &arrived) == nil {
			checkHostile(t, stores[0], arrived, now)
		}
	})
}

// forger spoils records.
type forger struct{ *rand.Rand }

func (r forger) id(ids []scrollback.MessageID) scrollback.MessageID {
	switch r.IntN(12) {
	case 0:
		return ""
	case 1:
		return "nobody"
	}
	return ids[r.IntN(len(ids))]
}

// spoil changes some of the records of a set.
func (r forger) spoil(set *merge.Set, ids []scrollback.MessageID) {
	for i := range set.Conversations {
		c := &set.Conversations[i]
		for k := range c.Messages {
			if r.IntN(12) == 0 {
				r.spoilMessage(&c.Messages[k], ids)
			}
		}
		for k := range c.Segments {
			if r.IntN(4) == 0 {
				c.Segments[k].First = r.id(ids)
				c.Segments[k].Segment.Hash = "other"
			}
		}
		if r.IntN(3) == 0 {
			c.Aliases = append(c.Aliases, merge.Alias{ID: r.id(ids), Of: r.id(ids)}, merge.Alias{ID: "new", Of: r.id(ids)})
		}
		if r.IntN(3) == 0 {
			c.Parent = &merge.Parent{Conversation: c.ID, Message: r.id(ids)}
			c.Branches = append(c.Branches, merge.Branch{ID: "b", Leaves: r.id(ids)}, merge.Branch{})
		}
		for name, f := range c.Fields {
			if r.IntN(5) == 0 {
				f.At = []int64{math.MaxInt64, math.MinInt64, 0, f.At + 1}[r.IntN(4)]
				f.Value = json.RawMessage([]string{"", "{", `"x"`, "[1, 2]", "null"}[r.IntN(5)])
				c.Fields[name] = f
			}
		}
		if r.IntN(8) == 0 {
			c.ID = set.Conversations[r.IntN(len(set.Conversations))].ID
		}
	}
	for i := range set.Stones {
		set.Stones[i].At += int64(r.IntN(3))
	}
}

func (r forger) spoilMessage(m *merge.Message, ids []scrollback.MessageID) {
	switch r.IntN(7) {
	case 0:
		m.ID = r.id(ids)
	case 1:
		m.Prev = r.id(ids)
	case 2:
		m.Seq = []int64{0, -1, 1, m.Seq + 1, math.MaxInt64, math.MinInt64}[r.IntN(6)]
	case 3:
		m.Hash[0]++
	case 4:
		m.Source = r.id(ids)
	case 5:
		m.Born = ""
	case 6:
		m.CreatedAt = math.MinInt64
	}
}

// Whoever spoils the records of a store changes nothing of what another one holds.
func TestForgedRecords(t *testing.T) {
	for seed := range uint64(testlength.Choose(150, 1500, 15_000)) {
		stores, now := lived(t, seed%20+1, 120+int(seed%7)*10)
		r := forger{rand.New(rand.NewPCG(seed, 1))}
		arrived := stores[1].All()
		var ids []scrollback.MessageID
		for _, store := range stores {
			for _, c := range store.All().Conversations {
				for _, m := range c.Messages {
					ids = append(ids, m.ID)
				}
			}
		}
		if len(ids) == 0 {
			continue
		}
		r.spoil(&arrived, ids)
		checkHostile(t, stores[0], arrived, now)
	}
}
