package codex

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// threadBuilder makes messages of the lines of a thread: a tree, because rewinds and reverts leave
// branches.
type threadBuilder struct {
	thread string
	talk   branchTree
	tools  threadCalls

	first   threadHead // of the file that was begun first
	head    threadHead // of the newest file
	folder  string
	title   string
	model   string
	updated int64
	left    map[string]int
	copied  *copiedThread // of which session of another tool the thread was made, if of one
	missing string        // a thread that it goes on from and that is not there
	held    bool
	again   bool // what is told is the beginning of another rollout

	*pathState
}

// pathState is what is known while a path is told.
type pathState struct {
	answer  *openAnswer // in the making
	doubt   *node       // said by a person, or put in by the harness: the next line says
	turn    string
	marked  bool // turns have ids
	open    bool // the turn has not ended
	asked   bool // something was said in this turn
	last    int  // the newest answer of the turn, or -1
	events  bool // what a person said is repeated by an event
	cwd     string
	changed string   // the folder, since the last message
	aloud   []string // reasoning of which there is only the event; see [threadBuilder.takeEvent]
	gap     bool     // what was said last is no longer in the file

	rewritten int // messages of a path of which a compaction has all there is
	usageMeter
}

func newThreadBuilder(thread string) *threadBuilder {
	return &threadBuilder{thread: thread, talk: branchTree{at: map[treePlace]int{}}, left: map[string]int{},
		tools: threadCalls{started: map[string]string{}}}
}

// countLeft counts what is not talk, where its own rollout is told.
func (t *threadBuilder) countLeft(kind string) {
	if !t.again {
		t.left[kind]++
	}
}

// beginPath starts a path.
func (t *threadBuilder) beginPath() {
	t.talk.cur = -1
	t.pathState = &pathState{last: -1}
	t.tools = threadCalls{started: t.tools.started, names: map[string]string{}, runs: map[string]commandRun{},
		results: map[string]bool{}}
}

// finishPath ends a path. An answer that may still grow is held back; in a turn that nobody goes
// on with, it was interrupted.
func (t *threadBuilder) finishPath(current, live bool) {
	if t.doubt != nil {
		t.countLeft("reminder")
		t.doubt = nil
	}
	switch {
	case t.answer == nil:
	case current && live:
		t.answer = nil
		t.held = true
	default:
		if t.marked && t.open {
			t.answer.status = scrollback.StatusInterrupted
		}
		t.closeAnswer()
	}
	t.talk.ends = append(t.talk.ends, t.talk.cur)
}

// addNode puts a message at the end of the path, unless it says nothing.
func (t *threadBuilder) addNode(n node) {
	if len(n.entry.Message.Parts) == 0 {
		return
	}
	if t.changed != "" {
		n.setMeta("cwd", t.changed)
		t.changed = ""
	}
	if t.gap {
		n.entry.Gap = true
		t.gap = false
	}
	n.turn = t.turn
	t.asked = true
	t.talk.addNode(n)
	t.updated = max(t.updated, n.entry.Message.CreatedAt)
	if n.entry.Message.Role == scrollback.RoleAssistant {
		t.last = t.talk.cur
	}
}

// takeLine takes a line. Its error says why it is bad.
func (t *threadBuilder) takeLine(l *line) error {
	switch l.kind {
	case "session_meta":
		t.takeMeta(l)
	case "response_item":
		return t.takeItem(l)
	case "event_msg":
		return t.takeEvent(l)
	case "turn_context":
		return t.takeContext(l)
	case "token_usage_record":
		return t.takeRecord(l)
	case "compacted":
		return t.takeSummary(l)
	case "world_state", "state":
		t.countLeft("state")
	case "":
		return errNoType
	default:
		t.countLeft("unknown")
	}
	return nil
}

var errNoType = errors.New("the line has no type")

// takeMeta takes what the file says about its thread: the first line counts, and only its own.
func (t *threadBuilder) takeMeta(l *line) {
	if l.n != 1 || l.thread != t.thread && l.thread != "" {
		return
	}
	h := parseHead(l.payload)
	if t.first.ID == "" {
		t.first = h
	}
	t.head = h
	if h.Cwd != "" {
		t.folder = h.Cwd
		t.cwd = h.Cwd
	}
}

func (t *threadBuilder) takeContext(l *line) error {
	var c struct {
		Turn  string `json:"turn_id"`
		Cwd   string `json:"cwd"`
		Model string `json:"model"`
	}
	if err := json.Unmarshal(l.payload, &c); err != nil {
		return err
	}
	if c.Model != "" {
		t.model = c.Model
	}
	if c.Cwd == "" {
		return nil
	}
	if t.cwd != "" && t.cwd != c.Cwd {
		t.changed = c.Cwd
	}
	t.cwd = c.Cwd
	if t.folder == "" {
		t.folder = c.Cwd
	}
	return nil
}

// takeSummary takes a compaction: its summary is a message. What the model said to make it is
// no answer, and what the window was made of has been said before.
func (t *threadBuilder) takeSummary(l *line) error {
	var c compaction
	if err := json.Unmarshal(l.payload, &c); err != nil {
		return err
	}
	t.closeAnswer()
	if lost := t.takeCompaction(l, c); lost != nil {
		t.countLeft("compaction")
		return lost
	}
	if strings.TrimSpace(c.Message) == "" {
		t.countLeft("compaction")
		return nil
	}
	if t.talk.cur >= 0 {
		n := &t.talk.nodes[t.talk.cur]
		text := n.entry.Message.Parts.Text()
		if n.entry.Message.Role == scrollback.RoleAssistant && n.turn == t.turn && len(n.entry.Message.Parts.Calls()) == 0 &&
			text != "" && strings.HasSuffix(c.Message, text) {
			n.dropped = true
			t.talk.cur = n.parent
			t.last = -1
			t.countLeft("compaction")
			t.spare = n.entry.Message.Usage
		}
	}
	n := l.newMessage("", scrollback.RoleUser, scrollback.Say(c.Message))
	n.setMeta("compaction", true)
	if t.spare != nil {
		n.setMeta("usage", t.spare) // of the call that made it
	}
	t.spare = nil
	t.pending = nil
	t.addNode(n)
	return nil
}
