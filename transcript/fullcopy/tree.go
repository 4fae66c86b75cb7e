package fullcopy

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Piece is a run of messages: those with From <= seq <= To on the path of Branch.
type Piece struct {
	Branch   scrollback.BranchID
	From, To int64
}

// Pieces puts the messages of a conversation's own branches, and of what they inherit, in
// the order of a file: each once, and the path of the current branch at the end.
func Pieces(branches []scrollback.Branch, current scrollback.BranchID) []Piece {
	t := tree{below: map[scrollback.BranchID][]scrollback.Branch{}, onPath: map[scrollback.BranchID]bool{}}
	own := map[scrollback.BranchID]scrollback.Branch{}
	for _, b := range branches {
		own[b.ID] = b
	}
	var root scrollback.Branch // what is inherited, as the branch that leaves it last sees it
	for _, b := range branches {
		parent := b.Parent
		if _, ok := own[parent]; !ok {
			parent = ""
			if b.AtSeq > root.HeadSeq {
				root.HeadSeq = b.AtSeq
				t.heir = b.ID
			}
		}
		t.below[parent] = append(t.below[parent], b)
	}
	for id := current; !t.onPath[id]; id = own[id].Parent {
		t.onPath[id] = true
	}
	t.walk(root)
	return t.out
}

// tree is a tree of branches being walked.
type tree struct {
	below  map[scrollback.BranchID][]scrollback.Branch
	onPath map[scrollback.BranchID]bool
	heir   scrollback.BranchID // through which what is inherited is read
	out    []Piece
}

func (t *tree) walk(b scrollback.Branch) {
	through := cmp.Or(b.ID, t.heir)
	at := b.AtSeq
	upTo := func(seq int64) {
		if seq > at {
			t.out = append(t.out, Piece{Branch: through, From: at + 1, To: seq})
			at = seq
		}
	}
	next := t.below[b.ID]
	slices.SortFunc(next, func(x, y scrollback.Branch) int {
		return cmp.Or(cmp.Compare(x.AtSeq, y.AtSeq), cmp.Compare(x.ID, y.ID))
	})
	var last *scrollback.Branch
	for i, c := range next {
		if t.onPath[c.ID] {
			last = &next[i]
			continue
		}
		upTo(c.AtSeq)
		t.walk(c)
	}
	upTo(b.HeadSeq)
	if last != nil {
		t.walk(*last)
	}
}
