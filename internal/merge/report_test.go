package merge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

func TestReport(t *testing.T) {
	all := summaries(5)
	report := merge.NewReport(all, merge.Sum{})
	slices.Reverse(all)
	again, err := json.Marshal(merge.NewReport(all, merge.Sum{}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(report)
	if err != nil || string(text) != string(again) {
		t.Errorf("%s and %s (%v)", text, again, err)
	}
	want := `{"digest":"` + report.Digest.String() + `","conversations":[{"id":"c000000","digest":"` + all[4].Digest.String()
	if !strings.HasPrefix(string(text), want) {
		t.Errorf("%s does not begin with %s", text, want)
	}
	if other := merge.NewReport(all, merge.Sum{1}); other.Digest == report.Digest {
		t.Error("projects are not in the digest")
	}
	if text, err = json.Marshal(merge.NewReport(nil, merge.Sum{})); err != nil || !strings.Contains(string(text), "[]") {
		t.Errorf("an empty store is %s (%v)", text, err)
	}
}

func TestShownID(t *testing.T) {
	m := merge.Message{ID: "c", Source: "d"}
	aliases := []merge.Alias{{ID: "b", Of: "d"}, {ID: "a", Of: "other"}}
	if got := merge.ShownID(m, aliases); got != "b" {
		t.Errorf("%s is shown, not b", got)
	}
	if got := merge.ShownID(m, nil); got != "c" {
		t.Errorf("%s is shown, not c", got)
	}
}

// More purges than a person is likely to have meant are held back, and nothing else is.
func TestHoldPurges(t *testing.T) {
	for _, n := range []int{merge.MostPurges, merge.MostPurges + 1} {
		store := mergetest.NewMemory()
		var arrived merge.Set
		for i := range n + 3 { // three of them are in the trash here
			id := scrollback.ConversationID(fmt.Sprintf("c%02d", i))
			store.Apply(merge.Set{Conversations: []merge.Conversation{{ID: id, CreatedAt: 1}}}, merge.Spared)
			arrived.Stones = append(arrived.Stones, merge.Stone{ID: id, Stamp: stamp.Stamp{At: 2, By: "n"}})
		}
		arrived.Stones = append(arrived.Stones, merge.Stone{ID: "unknown here"})
		want := n
		if n <= merge.MostPurges {
			want = 0
		}
		held := merge.HoldPurges(store, &arrived, func(id scrollback.ConversationID) bool { return id < "c03" })
		if len(held) != want || len(arrived.Stones) != n+4-want {
			t.Errorf("of %d purges %d are held back, and %d stones left", n, len(held), len(arrived.Stones))
		}
	}
}

// chain is a conversation of one path.
func chain(n int) merge.Conversation {
	c := merge.Conversation{ID: "c", CreatedAt: 1}
	for i := range n {
		m := merge.Message{ID: scrollback.MessageID(fmt.Sprintf("m%07d", i)), Born: "b", Seq: int64(i + 1)}
		if i > 0 {
			m.Prev = c.Messages[i-1].ID
		}
		c.Messages = append(c.Messages, m)
	}
	return c
}

func BenchmarkMerge(b *testing.B) {
	all := merge.Set{Conversations: []merge.Conversation{chain(100_000)}}
	b.ReportAllocs()
	for b.Loop() {
		merge.Merge(mergetest.NewMemory(), all, 1)
	}
}

func BenchmarkLabels(b *testing.B) {
	c := chain(100_000)
	for b.Loop() {
		merge.Labels(&c)
	}
}

func BenchmarkTallyMessage(b *testing.B) {
	m := chain(2).Messages[1]
	tally := merge.Tally{}
	for b.Loop() {
		tally = tally.AddMessage(m)
		tally.Digest("c")
	}
}
