package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// TestJoinContinued: whatever the branches, each is shown once, by itself or as a part of the one that goes on from its
// end, and what is shown as one is a path that nobody could leave.
func TestJoinContinued(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 1))
	joined := 0
	for range 500 {
		all := growBranches(rng)
		shown := joinContinued(slices.Clone(all))
		find := func(id scrollback.BranchID) scrollback.BranchEntry {
			return all[slices.IndexFunc(all, func(b scrollback.BranchEntry) bool { return b.ID == id })]
		}
		seen := map[scrollback.BranchID]int{}
		for _, b := range shown {
			own := find(b.ID)
			seen[b.ID]++
			messages := own.Messages
			at := own
			for _, id := range b.Joined {
				seen[id]++
				p := find(id)
				if at.Parent != id || at.AtSeq != p.HeadSeq || p.Current || p.Messages == 0 {
					t.Fatalf("%+v is shown as one with %+v", at, p)
				}
				for _, o := range all {
					if o.Parent == id && o.AtSeq == p.HeadSeq && o.ID != at.ID {
						t.Fatalf("%s goes on from %s as well as %s", o.ID, id, at.ID)
					}
				}
				messages += p.Messages
				at = p
				joined++
			}
			if b.Messages != messages || b.AtSeq != at.AtSeq || b.HeadSeq != own.HeadSeq || b.Current != own.Current {
				t.Fatalf("%+v is shown as %+v", own, b)
			}
			if b.Parent != "" && !slices.ContainsFunc(shown, func(o scrollback.BranchEntry) bool { return o.ID == b.Parent }) {
				t.Fatalf("%s goes on from %s, which is not shown", b.ID, b.Parent)
			}
			if again := joinContinued(slices.Clone(shown)); len(again) != len(shown) {
				t.Fatalf("%d entries could be joined once more: %+v", len(shown), shown)
			}
		}
		for _, b := range all {
			if seen[b.ID] != 1 {
				t.Fatalf("%s is shown %d times: %+v of %+v", b.ID, seen[b.ID], shown, all)
			}
		}
	}
	if joined < 100 {
		t.Errorf("only %d were joined", joined)
	}
}

// growBranches makes some branches that leave each other, one of them the current one.
func growBranches(rng *rand.Rand) []scrollback.BranchEntry {
	all := []scrollback.BranchEntry{{ID: "b0", HeadSeq: 1 + rng.Int64N(4)}}
	all[0].Messages = all[0].HeadSeq
	for i := range rng.IntN(8) {
		from := all[rng.IntN(len(all))]
		at := from.HeadSeq
		if rng.IntN(3) == 0 {
			at -= rng.Int64N(from.Messages)
		}
		b := scrollback.BranchEntry{ID: scrollback.BranchID(fmt.Sprint("b", i+1)), Parent: from.ID, AtSeq: at,
			Messages: 1 + rng.Int64N(3)}
		b.HeadSeq = at + b.Messages
		all = append(all, b)
	}
	all[rng.IntN(len(all))].Current = true
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
