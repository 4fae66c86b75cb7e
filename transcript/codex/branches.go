package codex

import (
	"iter"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// branchTree are the messages of a thread as a tree.
type branchTree struct {
	nodes []node
	at    map[treePlace]int
	cur   int   // the newest message on the path, or -1
	ends  []int // of the paths of its files
}

// node is a message in the tree.
type node struct {
	parent  int
	entry   transcript.Entry
	meta    map[string]any
	typed   bool // a person said it: a turn begins
	turn    string
	shared  bool // another thread's line
	dropped bool
}

// treePlace is where a message is in the tree.
type treePlace struct {
	parent int
	id     scrollback.MessageID
}

func (n *node) setMeta(key string, value any) {
	if n.meta == nil {
		n.meta = map[string]any{}
	}
	n.meta[key] = value
}

// addPiece appends a part with its bytes.
func (n *node) addPiece(p messagePiece) {
	if p.data != nil {
		if n.entry.Bytes == nil {
			n.entry.Bytes = map[int][]byte{}
		}
		n.entry.Bytes[len(n.entry.Message.Parts)] = p.data
	}
	n.entry.Message.Parts = append(n.entry.Message.Parts, p.Part)
}

// addNode puts a message after the newest one, if it is not there from an earlier path.
func (b *branchTree) addNode(n node) {
	n.parent = b.cur
	where := treePlace{n.parent, n.entry.Message.ID}
	i, known := b.at[where]
	if !known {
		i = len(b.nodes)
		b.at[where] = i
		b.nodes = append(b.nodes, n)
	}
	b.cur = i
}

// takeBack takes the last turns off the path.
func (b *branchTree) takeBack(turns int64) {
	for ; turns > 0 && b.cur >= 0; turns-- {
		for b.cur >= 0 && !b.nodes[b.cur].typed {
			b.cur = b.nodes[b.cur].parent
		}
		if b.cur >= 0 {
			b.cur = b.nodes[b.cur].parent
		}
	}
}

// isCopy reports whether all there is was said in another thread.
func (b *branchTree) isCopy() bool {
	for _, n := range b.nodes {
		if !n.shared {
			return false
		}
	}
	return len(b.nodes) > 0
}

// rootOf returns the first message on the first path.
func (b *branchTree) rootOf() string {
	for _, n := range b.nodes {
		if !n.dropped && n.parent < 0 {
			return string(n.entry.Message.ID)
		}
	}
	return ""
}

// listEntries returns the messages in the order of a file: what was taken back first, the current
// path last. Branches that only another thread has are told there.
func (b *branchTree) listEntries(source string) iter.Seq[transcript.Entry] {
	keep := make([]bool, len(b.nodes))
	mark := func(i int) {
		for ; i >= 0 && !keep[i]; i = b.nodes[i].parent {
			keep[i] = true
		}
	}
	for i, n := range b.nodes {
		if !n.shared {
			mark(i)
		}
	}
	for _, end := range b.ends {
		mark(end)
	}
	var nodes []tree.Node
	for i, n := range b.nodes {
		if !keep[i] || n.dropped {
			continue
		}
		e := n.entry
		if n.meta != nil {
			e.Message.Meta = transcript.MarshalObject(map[string]any{Name: n.meta})
		}
		out := tree.Node{ID: strconv.Itoa(i), Entries: []transcript.Entry{e}}
		if n.parent >= 0 {
			out.Parent = strconv.Itoa(n.parent)
		}
		nodes = append(nodes, out)
	}
	end := b.cur
	return func(yield func(transcript.Entry) bool) {
		for e := range tree.WalkEntries(source, nodes, strconv.Itoa(end)) {
			if !yield(e) {
				return
			}
		}
		if none := 0; end < 0 && len(nodes) > 0 { // all was taken back
			yield(transcript.Entry{Source: source, Rewind: &none})
		}
	}
}
