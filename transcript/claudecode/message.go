package claudecode

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// messageMaker makes messages of a thread.
type messageMaker struct {
	of    *conversationReading
	th    *nodeThread
	lines []*line
	kept  []bool // what is held back, with what stands behind it
	ends  bool   // the answers of this file say why they ended

	counted map[modelCall]bool // calls whose usage an answer has
}

// modelCall tells a call of a model from others: relays give all of them one id. Lines of one stand apart
// where a person went back in between.
type modelCall struct {
	id, request string
	used        usage
}

// messageRemark is what is kept of a message beside what is modelled.
type messageRemark struct {
	Compaction bool   `json:"compaction,omitempty"` // the message is the summary of one
	Trigger    string `json:"trigger,omitempty"`    // who wanted it
	Event      string `json:"event,omitempty"`
	Queued     bool   `json:"queued,omitempty"`
	Lost       bool   `json:"parent_missing,omitempty"` // it stands behind what was before it in the file
	Stop       string `json:"stop_reason,omitempty"`    // of an answer that ended in an unusual way
	CWD        string `json:"cwd,omitempty"`            // where it is another than before
	GitBranch  string `json:"git_branch,omitempty"`
}

// makeNodes returns the messages of the thread as a tree.
func (d *messageMaker) makeNodes() []tree.Node {
	d.ends = slices.ContainsFunc(d.th.answers, func(r *modelReply) bool { return r.closed && r.endReason(d.lines) != "" })
	var out []tree.Node
	for i, l := range d.lines {
		if !l.isTalk() || l.kind == answer && d.th.answers[d.th.of[i]].headLine() != i {
			continue
		}
		n := tree.Node{ID: l.UUID}
		if d.th.hang[i] >= 0 {
			n.Parent = d.lines[d.th.hang[i]].UUID
		}
		if d.isHeld(i) {
			d.kept[i] = true
			d.of.held = true
		} else if l.kind == answer {
			n.Entries = d.makeAnswer(d.th.answers[d.th.of[i]])
		} else {
			n.Entries = d.makeMessage(i)
		}
		out = append(out, n)
	}
	return d.dropHeld(out)
}

// isHeld reports whether a node may still become something else: an answer of which more
// may come, or a node whose parent may still come.
func (d *messageMaker) isHeld(i int) bool {
	if !d.of.live {
		return false
	}
	l := d.lines[i]
	if d.of.moving && i >= len(d.lines)-strays && d.isStray(i) {
		return true
	}
	if l.kind != answer {
		return false
	}
	r := d.th.answers[d.th.of[i]]
	return !r.closed && (d.of.moving || r.endReason(d.lines) == "")
}

// isStray reports whether a node, or what stands between it and the talk above it, hangs on
// something that is not there.
func (d *messageMaker) isStray(i int) bool {
	for at, n := i, 0; at >= 0 && n < strays; at, n = d.th.parent[at], n+1 {
		if d.th.lost[at] {
			return true
		}
		if at != i && d.lines[at].isTalk() {
			break
		}
	}
	return false
}

// dropHeld leaves out what stands behind what is held back.
func (d *messageMaker) dropHeld(list []tree.Node) []tree.Node {
	if !slices.Contains(d.kept, true) {
		return list
	}
	below := make([][]int, len(d.lines))
	var todo []int
	for i, at := range d.th.hang {
		if at >= 0 {
			below[at] = append(below[at], i)
		}
		if d.kept[i] {
			todo = append(todo, i)
		}
	}
	gone := map[string]bool{}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id := d.lines[i].UUID; !gone[id] {
			gone[id] = true
			d.kept[i] = true
			todo = append(todo, below[i]...)
		}
	}
	return slices.DeleteFunc(list, func(n tree.Node) bool { return gone[n.ID] })
}

// findLeaf returns where the current path ends, before what is held back.
func (d *messageMaker) findLeaf() int {
	at := d.th.findLeaf()
	for range d.kept {
		if at < 0 || !d.kept[at] {
			return at
		}
		at = d.th.hang[at]
	}
	return -1
}

// newEntry returns a message at a line; a second one of the same line has an id that says so.
func (d *messageMaker) newEntry(i, n int, role scrollback.Role, pieces []messagePiece) transcript.Entry {
	l := d.lines[i]
	e := transcript.Entry{Line: l.n, Message: scrollback.Message{ID: scrollback.MessageID(l.UUID), Role: role,
		CreatedAt: l.at}}
	if n > 0 {
		e.Message.ID = scrollback.MessageID(fmt.Sprintf("%s/%d", l.UUID, n))
	}
	for _, p := range pieces {
		if got, ok := p.part.(scrollback.ToolResult); ok {
			got.Name = cmp.Or(d.callName(i, got.CallID), got.Name)
			p.part = got
		}
		if p.data != nil {
			if e.Bytes == nil {
				e.Bytes = map[int][]byte{}
			}
			e.Bytes[len(e.Message.Parts)] = p.data
		}
		e.Clipped = e.Clipped || p.clipped
		e.Message.Parts = append(e.Message.Parts, p.part)
	}
	return e
}

// callName returns the name of the tool that a result at a node is of: of the nearest call
// before it with that id.
func (d *messageMaker) callName(i int, id string) string {
	if d.of.calls[id] == "" {
		return ""
	}
	for at, n := i, 0; at >= 0 && n <= len(d.th.hang); at, n = d.th.hang[at], n+1 {
		if a := d.th.of[at]; a >= 0 {
			if name := d.th.answers[a].calls[id]; name != "" {
				return name
			}
		}
	}
	return ""
}

// addRemark puts what is kept beside a message in its meta.
func (d *messageMaker) addRemark(e *transcript.Entry, i int, r messageRemark) {
	l := d.lines[i]
	if up := d.th.hang[i]; up >= 0 {
		before := d.lines[up]
		if l.CWD != before.CWD {
			r.CWD = l.CWD
		}
		if l.GitBranch != before.GitBranch {
			r.GitBranch = l.GitBranch
		}
	}
	r.Lost = d.isStray(i)
	if r != (messageRemark{}) {
		e.Message.Meta = encodePlain(map[string]messageRemark{metaKey: r})
	}
}

// makeMessage returns what a user, or a tool, said at a line. What a user said beside results is
// a message of its own.
func (d *messageMaker) makeMessage(i int) []transcript.Entry {
	l := d.lines[i]
	var own, given []messagePiece
	if l.kind != result {
		own = l.pieces
	} else {
		given, own = splitPieces(l.pieces)
	}
	var out []transcript.Entry
	if l.Scrollback != nil {
		e := d.newEntry(i, 0, l.Scrollback.Role, l.pieces)
		e.Message.Name = l.Scrollback.Name
		e.Message.Model = l.Scrollback.Model
		e.Message.Status = l.Scrollback.Status
		out = append(out, e)
		given = nil
		own = nil
	}
	if len(given) > 0 {
		out = append(out, d.newEntry(i, 0, scrollback.RoleTool, given))
	}
	if len(own) > 0 {
		out = append(out, d.newEntry(i, len(out), scrollback.RoleUser, own))
	}
	r := messageRemark{Event: l.event, Queued: l.queued}
	if l.kind == summary {
		r.Compaction = true
		if p := d.th.parent[i]; p >= 0 && d.lines[p].kind == limit && len(d.lines[p].CompactMetadata.Trigger) < 40 {
			r.Trigger = d.lines[p].CompactMetadata.Trigger
		}
	}
	if len(out) > 0 {
		d.addRemark(&out[0], i, r)
	}
	return out
}

// splitPieces returns results with what came with them, and texts beside them.
func splitPieces(pieces []messagePiece) (given, own []messagePiece) {
	for _, p := range pieces {
		switch p.part.(type) {
		case scrollback.Text:
			own = append(own, p)
		default:
			given = append(given, p)
		}
	}
	return given, own
}

// makeAnswer returns an answer as one message. Results that the model's own server gave are a
// message behind it.
func (d *messageMaker) makeAnswer(r *modelReply) []transcript.Entry {
	lines := d.lines
	var said, given []messagePiece
	var spent *usage
	model := ""
	for _, i := range r.lines {
		for _, p := range lines[i].pieces {
			if _, ok := p.part.(scrollback.ToolResult); ok && lines[i].Scrollback == nil {
				given = append(given, p)
			} else {
				said = append(said, p)
			}
		}
		if u := &lines[i].Message.Usage; u.totalTokens() > 0 && (spent == nil || u.totalTokens() >= spent.totalTokens()) {
			spent = u
		}
		if model == "" {
			model = lines[i].Message.Model
		}
	}
	if len(said) == 0 {
		return nil
	}
	e := d.newEntry(r.headLine(), 0, scrollback.RoleAssistant, said)
	e.Message.Model = model
	if own := lines[r.headLine()].Scrollback; own != nil {
		e.Message.Model = own.Model
		e.Message.Status = own.Status
		e.Message.Name = own.Name
	}
	head := lines[r.headLine()]
	call := modelCall{id: head.Message.ID, request: head.RequestID}
	if spent != nil {
		call.used = *spent
	}
	if spent != nil && !d.counted[call] {
		if d.counted == nil {
			d.counted = map[modelCall]bool{}
		}
		d.counted[call] = call.id != ""
		u, _ := scrollback.Usage{InputTokens: int64(spent.Input + spent.Read + spent.Write), CachedTokens: int64(spent.Read),
			CacheWriteTokens: int64(spent.Write), OutputTokens: int64(spent.Output)}.Checked()
		e.Message.Usage = &u
	}
	why := r.endReason(lines)
	note := messageRemark{}
	switch why {
	case "", "end_turn", "tool_use", "stop_sequence":
	default:
		if len(why) < 40 {
			note.Stop = why
		}
	}
	if e.Message.Status == "" && (r.stopped || !r.closed && why == "" && d.ends) {
		e.Message.Status = scrollback.StatusInterrupted
	}
	d.addRemark(&e, r.headLine(), note)
	out := []transcript.Entry{e}
	if len(given) > 0 {
		out = append(out, d.newEntry(r.headLine(), 1, scrollback.RoleTool, given))
	}
	return out
}
