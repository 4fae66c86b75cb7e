package claudecode

import "github.com/scrollback-ai/scrollback"

// placeTalks finds what each talk comes after.
func (t *nodeThread) placeTalks() {
	for i, l := range t.lines {
		t.hang[i] = -1
		switch {
		case !l.isTalk() || l.kind == answer && t.answers[t.of[i]].headLine() != i:
			continue
		case t.link[i] >= 0 && t.isStrayResult(t.talkAbove(i)):
			t.hang[i] = t.talkAbove(i)
		case t.link[i] > 0:
			t.hang[i] = t.answers[t.in[i]].chain[t.link[i]-1]
		case t.link[i] == 0:
			t.hang[i] = t.answers[t.in[i]].headLine()
		default:
			if t.hang[i] = t.afterSibling(i); t.hang[i] < 0 {
				t.hang[i] = t.talkAfter(t.parent[i], i)
			}
		}
		if at := t.hang[i]; l.kind == summary && at >= 0 {
			if first, known := t.sums[at]; known {
				at = first
			}
			t.summed[at] = i
			t.sums[i] = at
		}
	}
}

// isStrayResult reports whether a talk is a result that is in no chain: its call is not there, or
// was answered before.
func (t *nodeThread) isStrayResult(i int) bool {
	return i >= 0 && t.lines[i].kind == result && t.link[i] < 0
}

// afterSibling returns what a result comes after that hangs on an answer beside the result of the same
// call: what that comes after. It is -1 for anything else.
func (t *nodeThread) afterSibling(i int) int {
	at := t.talkAbove(i)
	if t.lines[i].kind != result || at < 0 || t.of[at] < 0 {
		return -1
	}
	r := t.answers[t.of[at]]
	for _, p := range t.lines[i].pieces {
		if got, ok := p.part.(scrollback.ToolResult); ok {
			if k, given := r.given[got.CallID]; given && k > 0 {
				return r.chain[k-1]
			} else if given {
				return r.headLine()
			}
		}
	}
	return -1
}

// talkAfter returns the talk that something comes after which stands at i in the file and hangs on
// the node p: behind the results that were there, and behind what p was compacted to.
func (t *nodeThread) talkAfter(p, i int) int {
	if p < 0 {
		return -1
	}
	at := t.above[p]
	if at < 0 || at == i {
		return -1
	}
	if t.isStrayResult(at) {
		return at
	}
	if a := max(t.of[at], t.in[at]); a >= 0 {
		r := t.answers[a]
		k := t.link[at]
		for k+1 < len(r.chain) && r.chain[k+1] < i {
			k++
		}
		if at = r.headLine(); k >= 0 {
			at = r.chain[k]
		}
	}
	first, known := t.sums[at]
	if !known {
		first = at
	}
	if newest, known := t.summed[first]; known && newest > at && newest < i {
		return newest
	}
	return at
}

// markClosed finds the answers behind which something else stands, and those that were stopped.
func (t *nodeThread) markClosed() {
	for i, l := range t.lines {
		switch {
		case l.kind == stopped:
			if at := t.above[i]; at >= 0 && t.of[at] >= 0 {
				t.answers[t.of[at]].stopped = true
				t.answers[t.of[at]].closed = true
			} else if at >= 0 && t.in[at] >= 0 {
				t.answers[t.in[at]].closed = true
			}
		case l.kind == prompt || l.kind == summary || l.kind == answer && t.answers[t.of[i]].headLine() == i:
			if at := t.hang[i]; at >= 0 {
				if a := max(t.of[at], t.in[at]); a >= 0 {
					t.answers[a].closed = true
				}
			}
		case l.kind == limit || l.Type == "system" && l.Subtype == "turn_duration":
			if at := t.above[i]; at >= 0 && t.of[at] >= 0 {
				t.answers[t.of[at]].closed = true
			}
		}
	}
}

// findLeaf returns the talk that the current path ends with: what the file named last, unless
// there are nodes behind that.
func (t *nodeThread) findLeaf() int {
	if t.last >= 0 && t.lastAt == len(t.lines) {
		return t.talkAfter(t.last, t.lastAt)
	}
	if n := len(t.lines); n > 0 {
		return t.talkAfter(t.newestBelow(n-1), n)
	}
	return -1
}

// newestBelow returns the newest of what hangs on a node, or itself: lines that were written at the same
// moment may stand in another order than they came in.
func (t *nodeThread) newestBelow(i int) int {
	var newest map[int]int // child by parent
	for at := range t.lines {
		if t.parent[at] == i && at != i {
			newest = map[int]int{}
			break
		}
	}
	if newest == nil {
		return i
	}
	for at, p := range t.parent {
		newest[p] = at
	}
	for range t.lines { // no circle goes on for longer
		at, ok := newest[i]
		if !ok {
			break
		}
		i = at
	}
	return i
}
