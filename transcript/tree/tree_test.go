package tree_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// say returns a node with these messages.
func say(id, parent string, texts ...string) tree.Node {
	n := tree.Node{ID: id, Parent: parent}
	for _, text := range texts {
		n.Entries = append(n.Entries, transcript.Entry{Message: scrollback.Message{Parts: scrollback.Say(text)}})
	}
	return n
}

// written returns what comes out: a branch after each rewind, and the last path.
func written(nodes []tree.Node, leaf string) (steps string, path []string) {
	var b strings.Builder
	for e := range tree.WalkEntries("s", nodes, leaf) {
		if e.Source != "s" {
			return "an entry without its source", nil
		}
		if e.Rewind != nil {
			fmt.Fprintf(&b, "<%d ", *e.Rewind)
			path = slices.Clone(path[:*e.Rewind])
			continue
		}
		b.WriteString(e.Message.Parts.Text() + " ")
		path = append(path, e.Message.Parts.Text())
	}
	return strings.TrimSpace(b.String()), path
}

func TestEntries(t *testing.T) {
	for name, c := range map[string]struct {
		nodes []tree.Node
		leaf  string
		want  string
	}{
		"nothing":                 {nil, "", ""},
		"a line":                  {[]tree.Node{say("1", "", "a"), say("2", "1", "b"), say("3", "2", "c")}, "3", "a b c"},
		"children before parents": {[]tree.Node{say("3", "2", "c"), say("2", "1", "b"), say("1", "", "a")}, "3", "a b c"},
		"the current path last":   {[]tree.Node{say("1", "", "a"), say("2", "1", "b"), say("3", "1", "c")}, "2", "a c <1 b"},
		"an unknown leaf":         {[]tree.Node{say("1", "", "a"), say("2", "1", "b"), say("3", "1", "c")}, "9", "a b <1 c"},
		"the path ends above":     {[]tree.Node{say("1", "", "a"), say("2", "1", "b"), say("3", "2", "c")}, "1", "a b c <1"},
		"empty nodes are passed": {[]tree.Node{say("0", ""), say("1", "0", "a"), say("x", "1"), say("2", "x", "b"),
			say("y", "1")}, "2", "a b"},
		"two roots": {[]tree.Node{say("1", "", "a"), say("2", "1", "b"), say("3", "", "c")}, "3",
			"a b <0 c"},
		"a parent that is missing": {[]tree.Node{say("1", "", "a"), say("3", "2", "c")}, "3", "a <0 c"},
		"a circle":                 {[]tree.Node{say("1", "3", "a"), say("2", "1", "b"), say("3", "2", "c")}, "3", "a b c"},
		"its own parent":           {[]tree.Node{say("1", "1", "a"), say("2", "1", "b")}, "2", "a b"},
		"two messages, and a branch": {[]tree.Node{say("1", "", "a", "b"), say("2", "1", "c"), say("3", "1", "d")}, "3",
			"a b c <2 d"},
		"an id that comes again": {[]tree.Node{say("1", "", "a"), say("2", "1", "old"), say("2", "1", "new")}, "2", "a new"},
		"three branches, one of two": {[]tree.Node{say("1", "", "a"), say("2", "1", "b"), say("3", "2", "c"),
			say("4", "2", "d"), say("5", "1", "e")}, "3", "a e <1 b d <2 c"},
		"a branch of nothing is passed": {[]tree.Node{say("1", "", "a"), say("2", "1"), say("3", "2"), say("4", "1", "b")},
			"4", "a b"},
	} {
		if got, _ := written(c.nodes, c.leaf); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := tree.BrokenNodes([]tree.Node{say("1", ""), say("2", "9"), say("3", "4"), say("4", "3")}); !slices.Equal(got,
		[]string{"2", "3"}) {
		t.Errorf("broken are %v", got)
	}
}

// Whatever a tree looks like, each message comes once, and the last path is the leaf's.
func TestEveryMessageOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "nodes")
		var nodes []tree.Node
		for i := range n {
			node := say(fmt.Sprint(i), fmt.Sprint(rapid.IntRange(-1, n).Draw(t, "parent")))
			for j := range rapid.IntRange(0, 2).Draw(t, "messages") {
				node.Entries = append(node.Entries, say("", "", fmt.Sprintf("%d.%d", i, j)).Entries...)
			}
			nodes = append(nodes, node)
		}
		leaf := rapid.IntRange(0, n-1).Draw(t, "leaf")
		steps, path := written(nodes, fmt.Sprint(leaf))
		var all, want []string
		for _, s := range strings.Fields(steps) {
			if !strings.HasPrefix(s, "<") {
				all = append(all, s)
			}
		}
		broken := map[string]bool{}
		for _, id := range tree.BrokenNodes(nodes) {
			broken[id] = true
		}
		for i := leaf; ; {
			var own []string
			for _, e := range nodes[i].Entries {
				own = append(own, e.Message.Parts.Text())
			}
			want = append(own, want...)
			if broken[nodes[i].ID] {
				break
			}
			if _, err := fmt.Sscan(nodes[i].Parent, &i); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(all)
		var every []string
		for _, node := range nodes {
			for _, e := range node.Entries {
				every = append(every, e.Message.Parts.Text())
			}
		}
		slices.Sort(every)
		if !slices.Equal(all, every) {
			t.Fatalf("%s has not each of %v once", steps, every)
		}
		if !slices.Equal(path, want) {
			t.Fatalf("%s ends with %v, want %v", steps, path, want)
		}
	})
}
