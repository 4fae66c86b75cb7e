package merge_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
)

func summaries(n int) []merge.Summary {
	var out []merge.Summary
	for i := range n {
		id := fmt.Sprintf("c%06d", i)
		out = append(out, merge.Summary{ID: scrollback.ConversationID(id), Digest: sha256.Sum256([]byte(id))})
	}
	return out
}

// Every conversation is below exactly one node of each level, and the sums of the nodes are those of what is below.
func TestTree(t *testing.T) {
	for _, n := range []int{0, 1, merge.LeafSize, merge.LeafSize + 1, 70_000} {
		tree := merge.NewTree(summaries(n))
		var listed []scrollback.ConversationID
		var walk func(below merge.Prefix) (merge.Sum, int)
		walk = func(below merge.Prefix) (sum merge.Sum, count int) {
			level := tree.Level(below)
			if len(level.Nodes) > 256 || len(level.Conversations) > merge.LeafSize {
				t.Fatalf("below %q are %d nodes and %d conversations", below, len(level.Nodes), len(level.Conversations))
			}
			for _, s := range level.Conversations {
				sum = sum.Add(s.Element())
				listed = append(listed, s.ID)
			}
			for _, node := range level.Nodes {
				below, n := walk(node.Prefix)
				if below != node.Sum || n != node.Count {
					t.Fatalf("node %q has the sum of others", node.Prefix)
				}
				sum = sum.Join(below)
				count += n
			}
			return sum, count + len(level.Conversations)
		}
		sum, count := walk("")
		if head := tree.Head(); sum != head.Conversations || count != head.Count || count != n {
			t.Errorf("%d conversations are %d below the root", n, count)
		}
		slices.Sort(listed)
		if len(slices.Compact(listed)) != n {
			t.Errorf("of %d conversations %d are listed", n, len(listed))
		}
	}
}

// One conversation that differs of 70,000 changes the sum of one node of each level.
func TestTreeFindsWhatDiffers(t *testing.T) {
	all := summaries(70_000)
	a := merge.NewTree(all)
	all[12_345].Digest[0]++
	b := merge.NewTree(all)
	below := merge.Prefix("")
	for steps := 0; ; steps++ {
		x := a.Level(below)
		y := b.Level(below)
		if len(x.Conversations) > 0 {
			n := 0
			for i, s := range x.Conversations {
				if s != y.Conversations[i] {
					n++
				}
			}
			if n != 1 || steps > 2 {
				t.Errorf("%d conversations differ after %d levels", n, steps)
			}
			return
		}
		var differ []merge.Prefix
		for i, node := range x.Nodes {
			if node != y.Nodes[i] {
				differ = append(differ, node.Prefix)
			}
		}
		if len(differ) != 1 {
			t.Fatalf("%d nodes differ below %q", len(differ), below)
		}
		below = differ[0]
	}
}

// Two stores find what one lacks, also where one lists conversations and the other has nodes in their place.
func TestMissingThroughTree(t *testing.T) {
	for _, n := range []int{3, 300, 2000} {
		here := mergetest.NewMemory()
		there := mergetest.NewMemory()
		var lacking []scrollback.ConversationID
		for i := range n {
			c := merge.Conversation{ID: scrollback.ConversationID(fmt.Sprintf("c%d", i)), CreatedAt: int64(i + 1)}
			set := merge.Set{Conversations: []merge.Conversation{c}}
			there.Apply(set, merge.Spared)
			if i%7 == 1 || n == 300 && i > 20 {
				lacking = append(lacking, c.ID)
				continue
			}
			here.Apply(set, merge.Spared)
		}
		for _, pair := range [][2]*mergetest.Memory{{here, there}, {there, here}} {
			wanted, err := merge.Missing(t.Context(), pair[0], pair[1])
			if err != nil {
				t.Fatal(err)
			}
			var got []scrollback.ConversationID
			for _, w := range wanted {
				got = append(got, w.ID)
			}
			want := slices.Sorted(slices.Values(lacking))
			if pair[0] == there {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d conversations: %d are missing, not %d", n, len(got), len(want))
			}
		}
	}
}

// Of a long conversation only what is missing is listed.
func TestMissingOfLongConversation(t *testing.T) {
	here := mergetest.NewMemory()
	const n = 50_000
	c := chain(n)
	all := merge.Set{Conversations: []merge.Conversation{c}}
	there := mergetest.NewMemory()
	there.Apply(all, merge.Spared)
	c.Messages = c.Messages[:n-3]
	here.Apply(merge.Set{Conversations: []merge.Conversation{c}}, merge.Spared)
	asked := &counted{Memory: there}
	wanted, err := merge.Missing(t.Context(), here, asked)
	if err != nil || len(wanted) != 1 || len(wanted[0].Messages) != 3 {
		t.Fatalf("%v: %+v", err, wanted)
	}
	if asked.ranges > 100 || asked.listed > 300 {
		t.Errorf("%d ranges were asked for, and %d messages listed", asked.ranges, asked.listed)
	}
	set, err := there.Records(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	here.Apply(merge.Merge(here, set, 1).Change, merge.Spared)
	if again, err := merge.Missing(t.Context(), here, there); err != nil || len(again) > 0 {
		t.Errorf("still missing: %v %+v", err, again)
	}
}
