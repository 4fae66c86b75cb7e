package exported

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Linked is a node of a tree whose nodes name their children too, which gives their order.
type Linked struct {
	tree.Node
	Children []string
	At       int64 // Unix ms, or 0
}

// OrderNodes puts nodes in the order of their children, and gives those a parent that only
// their parent knows. The order of nodes does not matter.
func OrderNodes(nodes []Linked) []tree.Node {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b Linked) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
	at := make(map[string]int, len(nodes))
	for i, n := range nodes {
		at[n.ID] = i
	}
	for _, n := range nodes {
		for _, child := range n.Children {
			i, known := at[child]
			if !known {
				continue
			}
			if _, has := at[nodes[i].Parent]; !has || nodes[i].Parent == "" {
				nodes[i].Parent = n.ID
			}
		}
	}
	below := make([][]int, len(nodes))
	listed := make([]bool, len(nodes))
	for up, n := range nodes {
		for _, child := range n.Children {
			if i, known := at[child]; known && nodes[i].Parent == n.ID && !listed[i] {
				below[up] = append(below[up], i)
				listed[i] = true
			}
		}
	}
	for i, n := range nodes {
		if up, known := at[n.Parent]; known && n.Parent != "" && !listed[i] {
			below[up] = append(below[up], i)
			listed[i] = true
		}
	}
	out := make([]tree.Node, 0, len(nodes))
	seen := make([]bool, len(nodes))
	visit := func(first int) {
		for stack := []int{first}; len(stack) > 0; {
			i := stack[len(stack)-1]
			if stack = stack[:len(stack)-1]; seen[i] {
				continue
			}
			seen[i] = true
			out = append(out, nodes[i].Node)
			for _, child := range slices.Backward(below[i]) {
				stack = append(stack, child)
			}
		}
	}
	for i := range nodes {
		if !listed[i] {
			visit(i)
		}
	}
	for i := range nodes { // circles
		visit(i)
	}
	return out
}

// NewestLeaf returns the id of the node below the newest message that none follows; of several with
// one time the last. Empty if there is none.
func NewestLeaf(nodes []tree.Node) (id string) {
	at := make(map[string]int, len(nodes))
	parents := make(map[string]bool, len(nodes))
	for i, n := range nodes {
		at[n.ID] = i
		parents[n.Parent] = true
	}
	asked := make([]bool, len(nodes)) // by a leaf before: it has told the same
	var newest int64 = -1
	for _, n := range nodes {
		if parents[n.ID] {
			continue
		}
		i, known := at[n.ID]
		for known && len(nodes[i].Entries) == 0 && !asked[i] {
			asked[i] = true
			i, known = at[nodes[i].Parent]
		}
		var when int64
		if known {
			for _, e := range nodes[i].Entries {
				when = max(when, e.Message.CreatedAt)
			}
		}
		if when >= newest {
			id = n.ID
			newest = when
		}
	}
	return id
}
