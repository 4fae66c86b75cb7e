package claudecode

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// nodeThread is the nodes of one conversation, in the order of their file, and how they hang
// together. Nodes are named by their index; -1 is none.
type nodeThread struct {
	lines  []*line
	at     map[string]int // by id
	parent []int          // as the file says, as far as it is there
	above  []int          // of each node the nearest talk from itself upwards
	lost   []bool         // its parent is not there

	answers []*modelReply
	of      []int // of each line of an answer its index in answers, or -1
	link    []int // of each node in a chain its place there, or -1
	in      []int // of each node in a chain the answer
	hang    []int // of each talk what it comes after

	summed map[int]int // the newest summary behind a talk, by that
	sums   map[int]int // which talk a summary stands behind, maybe behind other summaries
	last   int         // the node that the file says is the last one
	lastAt int         // how many nodes stood before the file said so
}

// modelReply is an answer of a model: its lines and the results of its calls.
type modelReply struct {
	lines   []int
	calls   map[string]string // names by id
	given   map[string]int    // places in the chain by id
	chain   []int
	closed  bool // something else follows it
	stopped bool // a person interrupted it
}

// headLine returns the line that stands for an answer.
func (r *modelReply) headLine() int { return r.lines[0] }

// endReason returns why an answer ended, as far as that was written.
func (r *modelReply) endReason(lines []*line) string {
	for _, i := range slices.Backward(r.lines) {
		if why := lines[i].Message.StopReason; why != "" {
			return why
		}
	}
	return ""
}

// linkNodes puts the nodes of a thread in relation. Lines with an id that was there are left out before.
func linkNodes(lines []*line) *nodeThread {
	n := len(lines)
	t := &nodeThread{lines: lines, at: make(map[string]int, n), summed: map[int]int{}, sums: map[int]int{}, last: -1,
		parent: make([]int, n), above: make([]int, n), lost: make([]bool, n), of: make([]int, n), link: make([]int, n),
		in: make([]int, n), hang: make([]int, n)}
	for i, l := range lines {
		t.at[l.UUID] = i
		t.of[i] = -1
		t.link[i] = -1
		t.in[i] = -1
	}
	for i, l := range lines {
		t.parent[i] = t.parentOf(i, l)
	}
	t.findPartial()
	t.findAbove()
	t.groupReplies()
	t.gatherChains()
	t.placeTalks()
	t.markClosed()
	return t
}

// parentOf returns what a node hangs on. One whose parent is not there, or a summary without one,
// hangs on the node before it.
func (t *nodeThread) parentOf(i int, l *line) int {
	id := l.ParentUUID
	if l.kind == limit {
		id = l.boundaryTarget()
	}
	if p, known := t.at[id]; known && id != "" && p != i {
		return p
	}
	t.lost[i] = id != ""
	if t.lost[i] || l.kind == summary {
		return i - 1
	}
	return -1
}

// findPartial finds what was written of answers that a person interrupted: the tool keeps it
// as a notice of its own, with the mark behind it.
func (t *nodeThread) findPartial() {
	for i, l := range t.lines {
		if l.kind != stopped {
			continue
		}
		at := t.parent[i]
		for range 8 {
			if at < 0 || t.lines[at].kind != aside {
				break
			}
			at = t.parent[at]
		}
		if at >= 0 && t.lines[at].kind == notice && !t.lines[at].IsAPIErrorMessage && len(t.lines[at].pieces) > 0 {
			t.lines[at].kind = answer
			t.lines[at].Message.Model = ""
		}
	}
}

// findAbove finds the talk above each node.
func (t *nodeThread) findAbove() {
	const unknown, open = -2, -3
	for i := range t.above {
		t.above[i] = unknown
	}
	for i := range t.lines {
		var way []int
		at := i
		for at >= 0 && t.above[at] == unknown {
			if t.lines[at].isTalk() {
				t.above[at] = at
				break
			}
			t.above[at] = open
			way = append(way, at)
			at = t.parent[at]
		}
		found := -1
		if at >= 0 && t.above[at] != open { // else it is a circle without talk
			found = t.above[at]
		}
		for _, w := range way {
			t.above[w] = found
		}
	}
}

// talkAbove returns the talk above a node that is not itself.
func (t *nodeThread) talkAbove(i int) int {
	if p := t.parent[i]; p >= 0 && t.above[p] != i {
		return t.above[p]
	}
	return -1
}

// groupReplies makes answers of lines: those with one id that hang on each other. An id that
// comes again elsewhere is another answer, as some servers give the same one twice.
func (t *nodeThread) groupReplies() {
	before := make([]int, len(t.lines)) // of each line the line of its answer that it hangs on, or -1
	for i, l := range t.lines {
		before[i] = -1
		if l.kind != answer || l.Message.ID == "" {
			continue
		}
		if p := t.talkAbove(i); p >= 0 && t.lines[p].kind == answer && t.lines[p].Message.ID == l.Message.ID &&
			sameRequest(t.lines[p], l) {
			before[i] = p
		}
	}
	depth := make([]int, len(t.lines))
	seen := make([]int, len(t.lines))
	for i, l := range t.lines {
		if l.kind != answer {
			continue
		}
		first := i
		n := 0
		for before[first] >= 0 && t.of[first] < 0 && seen[first] != i+1 {
			seen[first] = i + 1
			first = before[first]
			n += 1
		}
		if seen[first] == i+1 { // a circle
			before[i] = -1
			first = i
			n = 0
		}
		if t.of[first] < 0 {
			t.of[first] = len(t.answers)
			t.answers = append(t.answers, &modelReply{lines: []int{first}, calls: map[string]string{}, given: map[string]int{}})
		}
		r := t.of[first]
		for at, d := i, depth[first]+n; at != first; at, d = before[at], d-1 {
			if t.of[at] < 0 {
				t.of[at] = r
				depth[at] = d
				t.answers[r].lines = append(t.answers[r].lines, at)
			}
		}
	}
	for _, r := range t.answers {
		slices.SortStableFunc(r.lines, func(a, b int) int {
			if depth[a] != depth[b] {
				return depth[a] - depth[b]
			}
			return a - b
		})
		t.tidyReply(r)
	}
}

// sameRequest reports whether two lines may be of one call of a model.
func sameRequest(a, b *line) bool {
	return a.RequestID == "" || b.RequestID == "" || a.RequestID == b.RequestID
}

// tidyReply notes the calls of an answer, and leaves out those that it says again.
func (t *nodeThread) tidyReply(r *modelReply) {
	for _, i := range r.lines {
		l := t.lines[i]
		l.pieces = slices.DeleteFunc(l.pieces, func(p messagePiece) bool {
			c, ok := p.part.(scrollback.ToolCall)
			if !ok {
				return false
			}
			_, again := r.calls[c.ID]
			if !again {
				r.calls[c.ID] = c.Name
			}
			return again && l.Scrollback == nil
		})
	}
}

// gatherChains finds the chain of each answer: the results of its calls, whichever line they
// hang on. A result of a call that has one already is another branch.
func (t *nodeThread) gatherChains() {
	called := map[string]int{} // the last answer with a call
	for a, r := range t.answers {
		for id := range r.calls {
			called[id] = a
		}
	}
	for i, l := range t.lines {
		if l.kind != result {
			continue
		}
		a := -1
		if at := t.answerAbove(i); at >= 0 {
			a = t.of[at]
		}
		for _, p := range l.pieces {
			got, ok := p.part.(scrollback.ToolResult)
			if !ok {
				continue
			}
			if other, known := called[got.CallID]; t.lost[i] && known {
				a = other
			}
			if a < 0 || t.answers[a].calls[got.CallID] == "" {
				continue
			}
			if _, given := t.answers[a].given[got.CallID]; given {
				continue
			}
			r := t.answers[a]
			if t.link[i] < 0 {
				t.link[i] = len(r.chain)
				t.in[i] = a
				r.chain = append(r.chain, i)
			}
			r.given[got.CallID] = t.link[i]
		}
	}
}

// answerAbove returns the line of an answer above a result, past other results; -1 if there is none.
func (t *nodeThread) answerAbove(i int) int {
	at := t.talkAbove(i)
	for range 1000 {
		if at < 0 || t.lines[at].kind != result {
			break
		}
		at = t.talkAbove(at)
	}
	if at >= 0 && t.lines[at].kind == answer {
		return at
	}
	return -1
}
