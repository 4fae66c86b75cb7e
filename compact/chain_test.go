package compact

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
)

// chain folds again and again, as the engine does over a long life.
type chain struct {
	shelf  *shelf
	budget int64
	view   scrollback.View
	shown  []scrollback.Segment
	next   int64 // seq
	leaves []scrollback.SegmentID
}

func (c *chain) messages(n int, say string) []scrollback.Message {
	out := make([]scrollback.Message, n)
	for i := range out {
		c.next++
		out[i] = scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(c.next)), ConversationID: "c", Branch: "b",
			Seq:    c.next,
			Role:   scrollback.RoleUser,
			Status: scrollback.StatusComplete, CreatedAt: 1_700_000_000_000 + c.next,
			Weight: scrollback.Weight{Tokens: 100, Bytes: 100},
			Parts:  scrollback.Parts{scrollback.Text{Text: fmt.Sprintf(say, c.next)}}}
	}
	return out
}

func (c *chain) fold(t *testing.T, n int, say string) {
	t.Helper()
	c.foldRun(t, c.messages(n, say))
}

func (c *chain) foldRun(t *testing.T, run []scrollback.Message) {
	t.Helper()
	j := c.shelf.job(run, foldCut{messages: len(run)}, c.budget)
	j.Branch.View = c.view
	j.Window.Segments = slices.Clone(c.shown)
	f, err := j.buildFold()
	if err != nil {
		t.Fatal(err)
	}
	checkShown(t, f, c.budget)
	checkLeaves(t, run, f.leaves)
	known := map[scrollback.SegmentID]bool{}
	for _, s := range f.segments { // children come before those that name them
		for _, id := range s.Children {
			if _, stored := c.shelf.known[id]; !stored && !known[id] {
				t.Fatalf("%s names %s, which is not there yet", s.ID, id)
			}
		}
		if known[s.ID] {
			t.Fatalf("%s is made twice", s.ID)
		}
		known[s.ID] = true
	}
	named := map[scrollback.SegmentID]bool{}
	for _, s := range append(slices.Clone(f.shown), f.segments...) {
		for _, id := range s.Children {
			named[id] = true
		}
	}
	for _, s := range f.segments {
		if !named[s.ID] && !slices.ContainsFunc(f.shown, func(o scrollback.Segment) bool { return o.ID == s.ID }) {
			t.Fatalf("%s is made and nobody names it", s.ID)
		}
	}
	c.shelf.put(f.segments)
	for _, l := range f.leaves {
		c.leaves = append(c.leaves, l.ID)
	}
	c.view = f.view
	c.shown = f.shown
}

// reach lists the leaves behind the segments in order, and the depth of the tree.
func (c *chain) reach(t *testing.T, segs []scrollback.Segment) (leaves []scrollback.SegmentID, depth int) {
	t.Helper()
	for _, s := range segs {
		if len(s.Children) == 0 {
			leaves = append(leaves, s.ID)
			depth = max(depth, 1)
			continue
		}
		children := make([]scrollback.Segment, len(s.Children))
		hashes := make([]string, len(s.Children))
		var messages int
		var before int64
		for i, id := range s.Children {
			child, ok := c.shelf.known[id]
			if !ok {
				t.Fatalf("no segment %s", id)
			}
			children[i] = child
			hashes[i] = child.Hash
			messages += child.Messages
			before += child.TokensBefore
			if child.Level >= s.Level {
				t.Fatalf("%s of level %d is a child of level %d", id, child.Level, s.Level)
			}
		}
		first := children[0]
		last := children[len(children)-1]
		if s.FirstSeq != first.FirstSeq || s.LastSeq != last.LastSeq || s.Messages != messages || s.TokensBefore != before ||
			s.From != first.From || s.To != last.To || s.Hash != scrollback.HashChildren(hashes) {
			t.Fatalf("%+v does not say what its children do", s)
		}
		below, d := c.reach(t, children)
		leaves = append(leaves, below...)
		depth = max(depth, d+1)
	}
	return leaves, depth
}

// Chains survive: after hundreds of folds what is shown is bounded, and every leaf
// is reached from it exactly once, within a few steps.
func TestManyFolds(t *testing.T) {
	for _, budget := range []int64{1500, 24_000} {
		c := &chain{shelf: newShelf(), budget: budget}
		for i := range 500 {
			c.fold(t, 1+i%4, "Message number %d is about pots, pans and 記憶.")
			if i%50 != 49 {
				continue
			}
			leaves, depth := c.reach(t, c.shown)
			if !slices.Equal(leaves, c.leaves) {
				t.Fatalf("budget %d, %d folds: %d leaves are reached of %d", budget, i+1, len(leaves), len(c.leaves))
			}
			if depth > 4 {
				t.Errorf("budget %d, %d folds: %d steps down", budget, i+1, depth)
			}
			for _, s := range c.shelf.known {
				if len(s.Children) > 64 {
					t.Fatalf("%s has %d children", s.ID, len(s.Children))
				}
			}
		}
		if c.view.Sum.Tokens != 100*c.next || c.view.Boundary != c.next {
			t.Errorf("the view hides %+v of %d messages", c.view, c.next)
		}
		// Roll-ups are cheap: what they add does not grow with what they stand for.
		if made := len(c.shelf.order); made > 3*len(c.leaves) {
			t.Errorf("budget %d: %d segments for %d leaves", budget, made, len(c.leaves))
		}
	}
}

// Folds of any size, some of many leaves at once, keep the tree whole.
func TestAnyChain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := &chain{shelf: newShelf(), budget: rapid.Int64Range(1000, 50_000).Draw(rt, "budget")}
		for range rapid.IntRange(1, 20).Draw(rt, "folds") {
			run := c.messages(rapid.IntRange(1, 15).Draw(rt, "messages"), "Message number %d about pots and pans.")
			if rapid.IntRange(0, 3).Draw(rt, "branches") == 0 { // each a leaf of its own
				for i := range run {
					run[i].Branch = scrollback.BranchID(fmt.Sprint("b", i/rapid.IntRange(1, 3).Draw(rt, "each")))
				}
			}
			c.foldRun(t, run)
		}
		if leaves, _ := c.reach(t, c.shown); !slices.Equal(leaves, c.leaves) {
			rt.Fatalf("%d leaves are reached of %d", len(leaves), len(c.leaves))
		}
	})
}

// Leaves end at 512 messages and at 1 MiB, whichever comes first.
func TestLeafBounds(t *testing.T) {
	c := &chain{shelf: newShelf(), budget: 24_000}
	c.fold(t, 2*scrollback.MaxSegmentMessages+1, "message %d")
	sizes := []int{}
	for _, id := range c.leaves {
		sizes = append(sizes, c.shelf.known[id].Messages)
	}
	if !slices.Equal(sizes, []int{512, 512, 1}) {
		t.Errorf("leaves of %v messages", sizes)
	}
	run := c.messages(5, "message %d")
	for i, bytes := range []int64{600_000, 600_000, 10, 2 << 20, 10} {
		run[i].Weight.Bytes = bytes
	}
	f, err := c.shelf.job(run, foldCut{messages: 5}, c.budget).buildFold()
	if err != nil {
		t.Fatal(err)
	}
	sizes = nil
	for _, l := range f.leaves {
		sizes = append(sizes, l.Messages)
	}
	if !slices.Equal(sizes, []int{1, 2, 1, 1}) {
		t.Errorf("leaves of %v messages", sizes)
	}
}

// A fold that cannot be made is an error, and leaves nothing half done.
func TestBuildFails(t *testing.T) {
	c := &chain{shelf: newShelf(), budget: 500}
	run := c.messages(3, "message %d")
	j := c.shelf.job(run, foldCut{messages: 3}, c.budget)
	j.Measure = func(scrollback.Segment, []scrollback.Message) (int64, string, error) {
		return 0, "", fmt.Errorf("no measure")
	}
	if _, err := j.buildFold(); err == nil || !strings.Contains(err.Error(), "no measure") {
		t.Errorf("error %v", err)
	}
	run[1].Meta = []byte(`{`)
	if _, err := c.shelf.job(run, foldCut{messages: 3},
		c.budget).buildFold(); scrollback.CodeOf(err) != scrollback.Internal {
		t.Errorf("error %v", err)
	}
	for range 20 {
		c.fold(t, 1, "message %d")
	}
	j = c.shelf.job(c.messages(1, "message %d"), foldCut{messages: 1}, c.budget)
	j.Window.Segments = c.shown
	j.Load = func([]scrollback.SegmentID) ([]scrollback.Segment, error) { return nil, fmt.Errorf("no load") }
	if _, err := j.buildFold(); err == nil || !strings.Contains(err.Error(), "no load") {
		t.Errorf("error %v", err)
	}
}
