// Package tree puts the messages of a tree in the order of a file: each once, abandoned
// branches first and the current path last, as tools keep them that edit and retry in place.
//
// Words it adds: node (an element of a tool's tree, which may be no message, one or several).
//
// Invariants: every entry comes out once, after those above it; a parent that is not there
// makes a root; a circle is broken at its first node; the time is linear.
//
// It may not know any tool.
package tree

import (
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Node is an element of a tree.
type Node struct {
	ID, Parent string
	Entries    []transcript.Entry // its messages; none for what is not talk
}

// WalkEntries yields the entries of a tree whose current path ends with leaf, with rewinds
// between its branches. Children come in the order of nodes; of nodes with one id the last
// counts, in the place of the first. A leaf that is not there is the last node.
func WalkEntries(source string, nodes []Node, leaf string) iter.Seq[transcript.Entry] {
	return func(yield func(transcript.Entry) bool) {
		if len(nodes) == 0 {
			return
		}
		w := newWalker(nodes)
		end, known := w.at[leaf]
		if !known {
			end = w.at[nodes[len(nodes)-1].ID]
		}
		w.source = source
		w.yield = yield
		w.walkTo(end)
	}
}

// BrokenNodes returns the nodes, by id, whose parents were not found or lead in a circle: they are
// taken as roots.
func BrokenNodes(nodes []Node) []string {
	w := newWalker(nodes)
	var out []string
	for i, n := range w.nodes {
		if n.Parent != "" && w.above[i] < 0 {
			out = append(out, n.ID)
		}
	}
	return out
}

// treeWalker is a tree being walked.
type treeWalker struct {
	nodes []Node
	at    map[string]int
	above []int   // of each node its parent, or -1
	below [][]int // of each node its children
	roots []int

	source string
	yield  func(transcript.Entry) bool
	depth  []int // of each node, the messages up to and with it
	told   int   // how many messages of the path have been yielded last
}

func newWalker(all []Node) *treeWalker {
	w := &treeWalker{at: map[string]int{}}
	for _, n := range all {
		if i, known := w.at[n.ID]; known {
			w.nodes[i] = n
			continue
		}
		w.at[n.ID] = len(w.nodes)
		w.nodes = append(w.nodes, n)
	}
	w.above = make([]int, len(w.nodes))
	for i, n := range w.nodes {
		w.above[i] = -1
		if up, known := w.at[n.Parent]; known && n.Parent != "" {
			w.above[i] = up
		}
	}
	w.breakCircles()
	w.below = make([][]int, len(w.nodes))
	for i, up := range w.above {
		if up < 0 {
			w.roots = append(w.roots, i)
		} else {
			w.below[up] = append(w.below[up], i)
		}
	}
	return w
}

// breakCircles makes the first node of each circle a root.
func (w *treeWalker) breakCircles() {
	seen := make([]int, len(w.nodes)) // by which walk
	for i := range w.nodes {
		at := i
		for at >= 0 && seen[at] == 0 {
			seen[at] = i + 1
			at = w.above[at]
		}
		if at < 0 || seen[at] != i+1 {
			continue
		}
		first := at
		for on := w.above[at]; on != at; on = w.above[on] {
			first = min(first, on)
		}
		w.above[first] = -1
	}
}

// walkTo yields everything, and leaves the path at end.
func (w *treeWalker) walkTo(end int) {
	onPath := make([]bool, len(w.nodes))
	for i := end; i >= 0; i = w.above[i] {
		onPath[i] = true
	}
	last := func(list []int) []int { // what is to be visited, the next one at the end
		out := slices.Clone(list)
		slices.SortStableFunc(out, func(a, b int) int {
			switch {
			case onPath[a] == onPath[b]:
				return b - a
			case onPath[a]:
				return -1
			}
			return 1
		})
		return out
	}
	w.depth = make([]int, len(w.nodes))
	for stack := last(w.roots); len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !w.emitNode(i) {
			return
		}
		stack = append(stack, last(w.below[i])...)
	}
	if w.told != w.depth[end] {
		w.rewindTo(w.depth[end])
	}
}

// emitNode yields the entries of a node, after a rewind if others came between it and what is
// above it.
func (w *treeWalker) emitNode(i int) bool {
	from := 0
	if up := w.above[i]; up >= 0 {
		from = w.depth[up]
	}
	w.depth[i] = from
	for _, e := range w.nodes[i].Entries {
		if w.told != w.depth[i] && !w.rewindTo(w.depth[i]) {
			return false
		}
		e.Source = w.source
		if !w.yield(e) {
			return false
		}
		w.depth[i]++
		w.told = w.depth[i]
	}
	return true
}

func (w *treeWalker) rewindTo(n int) bool {
	w.told = n
	return w.yield(transcript.Entry{Source: w.source, Rewind: &n})
}
