package mergetest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// SparedRule says what of purged conversations stays. See [merge.Spared].
type SparedRule func(links iter.Seq[scrollback.MessageID], gone func(scrollback.ConversationID) bool,
	message func(scrollback.MessageID) (merge.Message, scrollback.ConversationID, bool)) map[scrollback.MessageID]bool

// Rules are what is tested.
type Rules struct {
	Merge  func(held merge.Held, arrived merge.Set, now int64) merge.Result
	Labels func(c *merge.Conversation) []merge.Run
	Stand  func(here merge.Place, arrived []merge.End,
		follows func(end, of scrollback.MessageID) bool) scrollback.MessageID
	Mend   func(s stamp.Stamp, own func(node string) bool, newest, now int64) stamp.Stamp
	Spared SparedRule
}

// TrueRules are those of package merge.
func TrueRules() Rules {
	return Rules{Merge: merge.Merge, Labels: merge.Labels, Stand: merge.Stand, Mend: merge.Mend, Spared: merge.Spared}
}

// Figures count what a run came across: a run that met nothing proves nothing.
type Figures struct {
	Steps, Meetings, Cut, Messages, Refused, Waiting, Purges, Collisions, Doubles, Copies, Restores, Ahead, Moved, Stayed,
	Remains int
}

// Add adds the figures of another run.
func (f *Figures) Add(o Figures) {
	f.Steps += o.Steps
	f.Meetings += o.Meetings
	f.Cut += o.Cut
	f.Messages += o.Messages
	f.Refused += o.Refused
	f.Waiting += o.Waiting
	f.Purges += o.Purges
	f.Collisions += o.Collisions
	f.Doubles += o.Doubles
	f.Copies += o.Copies
	f.Restores += o.Restores
	f.Ahead += o.Ahead
	f.Moved += o.Moved
	f.Stayed += o.Stayed
	f.Remains += o.Remains
}

// World is the stores of one run.
type World struct {
	rules    Rules
	random   *rand.Rand
	clock    int64 // Unix ms, by the right clocks
	nodes    []*node
	parts    []int // which nodes reach each other, by the numbers of their parts
	named    int   // ids that were given
	sessions []*session
	bundles  []merge.Set
	told     map[scrollback.MessageID]acknowledged
	shown    []shownPath
	fault    error // that was found where none can be returned
	Figures  Figures

	// MeetBy, unless it is nil, lets two stores meet in another way than by handing over all records at once: it may
	// fail to, leave it half done or meet in one direction only.
	MeetBy func(a, b Party) error
}

// Party is one of two stores that meet.
type Party struct {
	*Memory
	world *World
	node  *node
}

// Put merges records that arrived.
func (p Party) Put(set merge.Set) merge.Result { return p.world.take(p.node, set) }

// Parties returns the stores of a run.
func (w *World) Parties() []Party {
	var out []Party
	for _, n := range w.nodes {
		out = append(out, Party{n.Memory, w, n})
	}
	return out
}

// acknowledged is what somebody was told of a message: that it is stored, and its number.
type acknowledged struct {
	of   scrollback.ConversationID
	key  scrollback.MessageID
	hash merge.Hash
	seq  int64
}

// shownPath is a path that somebody was shown.
type shownPath struct {
	tip  scrollback.MessageID
	hash merge.Hash
}

// node is a store, and what is its own and does not travel.
type node struct {
	*Memory
	names  []string // its ids; the last is that of new changes
	offset int64    // of its clock, in ms
	mine   map[scrollback.BranchID]bool
	stands map[scrollback.ConversationID]*stand
	live   []scrollback.ConversationID
	older  map[scrollback.ConversationID]bool // imports that were begun before ids followed from their sources
	backup *node
}

// stand is where a store is in a conversation.
type stand struct {
	at      scrollback.MessageID
	rewound bool
	undone  bool
}

const (
	hour = int64(3600_000)
	year = 365 * 24 * hour
)

// NewWorld returns the stores of a run, which hold nothing.
func NewWorld(seed uint64, rules Rules) *World {
	w := &World{
		rules:  rules,
		random: rand.New(rand.NewPCG(seed, 35)),
		clock:  1_800_000_000_000,
		told:   map[scrollback.MessageID]acknowledged{},
	}
	for range 3 + w.random.IntN(2) {
		w.nodes = append(w.nodes, w.newNode())
	}
	w.parts = make([]int, len(w.nodes), most)
	if w.chance(2) {
		w.nodes[w.random.IntN(len(w.nodes))].offset += year
		w.Figures.Ahead++
	}
	for range 4 {
		w.sessions = append(w.sessions, &session{number: len(w.sessions)})
	}
	return w
}

// most is how many stores there are at most.
const most = 5

func (w *World) newNode() *node {
	return &node{
		Memory: NewMemory(),
		names:  []string{w.name("node")},
		offset: int64(w.random.IntN(int(12*hour))) - 6*hour,
		mine:   map[scrollback.BranchID]bool{},
		stands: map[scrollback.ConversationID]*stand{},
		older:  map[scrollback.ConversationID]bool{},
	}
}

func (n *node) clone() *node {
	out := &node{Memory: n.Memory.Clone(), names: slices.Clone(n.names), offset: n.offset,
		mine: maps.Clone(n.mine), stands: map[scrollback.ConversationID]*stand{}, live: slices.Clone(n.live),
		older: maps.Clone(n.older)}
	for id, at := range n.stands {
		copied := *at
		out.stands[id] = &copied
	}
	return out
}

// isOwn reports whether a stamp was made here.
func (n *node) isOwn(name string) bool { return slices.Contains(n.names, name) }

func (n *node) name() string { return n.names[len(n.names)-1] }

// chance is true once in n times.
func (w *World) chance(n int) bool { return w.random.IntN(n) == 0 }

// name returns an id that nothing else has. Those that are made one after the other are in no order.
func (w *World) name(kind string) string {
	w.named++
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], w.random.Uint64())
	return kind + hex.EncodeToString(b[:])
}

// now is the time by the clock of a store.
func (w *World) now(n *node) int64 { return w.clock + n.offset }

// Step does something to one of the stores, or lets two of them meet.
func (w *World) Step() error {
	w.Figures.Steps++
	w.clock += int64(w.random.IntN(20_000))
	if w.chance(500) {
		w.clock += int64(w.random.IntN(int(12 * hour)))
	}
	if w.fault != nil {
		return w.fault
	}
	n := w.nodes[w.random.IntN(len(w.nodes))]
	at := w.random.IntN(odds)
	for _, op := range operations {
		if at < op.odds {
			return op.run(w, n)
		}
		at -= op.odds
	}
	return nil
}

// operation is something that happens to a store, so many times of [odds].
type operation struct {
	odds int
	run  func(w *World, n *node) error
}

// operations are what happens.
var operations = []operation{
	{30, (*World).begin},
	{380, (*World).turn},
	{60, (*World).rewind},
	{20, (*World).fork},
	{60, (*World).compact},
	{20, (*World).undo},
	{40, (*World).pin},
	{40, (*World).retitle},
	{50, (*World).edit},
	{20, (*World).move},
	{25, (*World).trash},
	{8, (*World).purge},
	{60, (*World).bringSession},
	{20, (*World).carryBundle},
	{30, (*World).keep},
	{10, (*World).editProject},
	{10, (*World).show},
	{10, (*World).partition},
	{2, (*World).copyFolder},
	{6, (*World).backUp},
	{3, (*World).restoreBackup},
	{3, (*World).mendClock},
	{93, (*World).meetAnother},
}

// odds is the sum of the odds of all operations.
const odds = 1000

// pick returns a living conversation of a store, or nothing.
func (w *World) pick(n *node) scrollback.ConversationID {
	for len(n.live) > 0 {
		i := w.random.IntN(len(n.live))
		id := n.live[i]
		if !n.isGone(id) {
			return id
		}
		last := len(n.live) - 1
		n.live[i] = n.live[last]
		n.live = n.live[:last]
	}
	return ""
}

// write stores what is changed here.
func (w *World) write(n *node, c merge.Conversation) {
	if n.conversations[c.ID] == nil {
		n.live = append(n.live, c.ID)
		n.stands[c.ID] = &stand{}
	}
	for _, m := range c.Messages {
		w.told[m.ID] = acknowledged{c.ID, m.Key(), m.Hash, m.Seq}
		w.Figures.Messages++
	}
	n.Apply(merge.Set{Conversations: []merge.Conversation{c}}, w.rules.Spared)
}

// newest is the clock that a change is made behind.
func (w *World) newest(n *node, fields map[string]merge.Field, kept []merge.Kept) int64 {
	return merge.Newest(func(yield func(stamp.Stamp) bool) {
		for _, f := range fields {
			if !yield(f.Stamp) {
				return
			}
		}
		for _, k := range kept {
			if !yield(k.Stamp) {
				return
			}
		}
	}, w.now(n))
}

// stamp is the clock of a change of a conversation that is made now.
func (w *World) stamp(n *node, fields map[string]merge.Field, kept []merge.Kept) stamp.Stamp {
	return stamp.Stamp{At: stamp.Next(w.now(n), w.newest(n, fields, kept)), By: n.name()}
}

// set changes a field of a conversation.
func (w *World) set(n *node, id scrollback.ConversationID, name, value string) {
	c := n.conversations[id]
	f := merge.Field{Value: []byte(value), Stamp: w.stamp(n, c.rest.Fields, c.rest.Kept)}
	w.write(n, merge.Conversation{ID: id, Fields: map[string]merge.Field{name: f}})
}

func (w *World) begin(n *node) error {
	if len(n.live) > 24 && !w.chance(8) {
		return w.turn(n)
	}
	id := scrollback.ConversationID(w.name("c"))
	root := scrollback.BranchID(w.name("b"))
	n.mine[root] = true
	w.write(n, merge.Conversation{ID: id, CreatedAt: w.now(n), Branches: []merge.Branch{{ID: root}},
		Fields: map[string]merge.Field{
			stamp.FieldProject: {Value: []byte(`"p0"`), Stamp: stamp.Stamp{At: w.now(n)}},
		}})
	n.stands[id] = &stand{}
	return nil
}

// says is the hash of something that is said only once.
func (w *World) says() merge.Hash {
	var b [8]byte
	w.named++
	binary.BigEndian.PutUint64(b[:], uint64(w.named))
	return sha256.Sum256(b[:])
}

// place returns the branch that a store writes to behind a message: that of the message, if the store writes it and
// the place is free, or a new one.
func (w *World) place(n *node, c *conversation, prev *message) scrollback.BranchID {
	if prev == nil {
		if len(c.rest.Branches) > 0 && n.mine[c.rest.Branches[0].ID] && len(c.lines[c.rest.Branches[0].ID]) == 0 {
			return c.rest.Branches[0].ID
		}
	} else if n.mine[prev.Born] && prev.of == c.rest.ID && isFree(c, prev.Born, prev.Seq+1) {
		return prev.Born
	}
	branch := scrollback.BranchID(w.name("b"))
	if prev != nil && prev.of != c.rest.ID && len(c.rest.Branches) > 0 && n.mine[c.rest.Branches[0].ID] &&
		c.rest.Parent != nil && n.key(c.rest.Branches[0].Leaves) == prev.Key() && len(c.lines[c.rest.Branches[0].ID]) == 0 {
		return c.rest.Branches[0].ID
	}
	n.mine[branch] = true
	return branch
}

func isFree(c *conversation, branch scrollback.BranchID, seq int64) bool {
	line := c.lines[branch]
	return len(line) == 0 || line[len(line)-1].Seq < seq ||
		!slices.ContainsFunc(line, func(m *message) bool { return m.Seq == seq })
}

// say appends a message behind another one.
func (w *World) say(n *node, id scrollback.ConversationID, prev *message) *message {
	c := n.conversations[id]
	m := merge.Message{ID: scrollback.MessageID(w.name("m")), Hash: w.says(), Born: w.place(n, c, prev), Seq: 1,
		CreatedAt: w.now(n)}
	if prev != nil {
		m.Seq = prev.Seq + 1
		m.Prev = prev.ID
	}
	change := merge.Conversation{ID: id}
	if w.chance(8) {
		artifact := scrollback.ArtifactID(fmt.Sprintf("a%d", w.random.IntN(50)))
		m.Artifacts = []scrollback.ArtifactID{artifact}
		if !slices.ContainsFunc(c.rest.Mentions, func(o merge.Mention) bool { return o.Artifact == artifact }) {
			change.Mentions = []merge.Mention{{Artifact: artifact}}
		}
	}
	change.Messages = []merge.Message{m}
	w.write(n, change)
	return n.messages[m.ID]
}

func (w *World) turn(n *node) error {
	id := w.pick(n)
	if id == "" {
		return w.begin(n)
	}
	at := n.stands[id]
	prev := n.messages[at.at]
	if prev == nil && n.conversations[id].rest.Parent != nil {
		prev = n.messages[n.conversations[id].rest.Parent.Message]
	}
	for range 1 + w.random.IntN(3) {
		prev = w.say(n, id, prev)
	}
	at.at = prev.ID
	at.rewound = false
	return nil
}

// back returns the message some steps before one.
func (w *World) back(n *node, from scrollback.MessageID, steps int) *message {
	m := n.messages[from]
	for ; m != nil && m.Prev != "" && steps > 0; steps-- {
		m = n.messages[m.Prev]
	}
	return m
}

func (w *World) rewind(n *node) error {
	id := w.pick(n)
	if id == "" {
		return nil
	}
	at := n.stands[id]
	c := n.conversations[id]
	to := w.back(n, at.at, 1+w.random.IntN(6))
	if w.chance(3) && len(c.messages) > 0 {
		to = c.messages[w.random.IntN(len(c.messages))]
	}
	if to == nil || to.ID == at.at {
		return nil
	}
	at.at = to.ID
	at.rewound = true
	return nil
}

func (w *World) fork(n *node) error {
	from := w.pick(n)
	if from == "" {
		return nil
	}
	to := w.back(n, n.stands[from].at, w.random.IntN(5))
	if to == nil {
		return nil
	}
	id := scrollback.ConversationID(w.name("c"))
	root := scrollback.BranchID(w.name("b"))
	n.mine[root] = true
	w.write(n, merge.Conversation{ID: id, CreatedAt: w.now(n), Branches: []merge.Branch{{ID: root, Leaves: to.ID}},
		Parent: &merge.Parent{Conversation: from, Message: to.ID}})
	n.stands[id] = &stand{at: to.ID}
	return nil
}

// pathHash hashes what is said from one message back to another one.
func (s *Memory) pathHash(last, first scrollback.MessageID) (merge.Hash, bool) {
	h := sha256.New()
	end := s.messages[first]
	for m := s.messages[last]; m != nil; m = s.messages[m.Prev] {
		h.Write(m.Hash[:])
		if m == end || m.Prev == "" && first == "" {
			return merge.Hash(h.Sum(nil)), true
		}
	}
	return merge.Hash{}, false
}

func (w *World) compact(n *node) error {
	id := w.pick(n)
	if id == "" {
		return nil
	}
	last := w.back(n, n.stands[id].at, 1)
	if last == nil {
		return nil
	}
	first := w.back(n, last.ID, 1+w.random.IntN(6))
	hash, _ := n.pathHash(last.ID, first.ID)
	segment := scrollback.SegmentID(w.name("s"))
	// A segment belongs to the conversation of its last message.
	change := merge.Conversation{ID: last.of, Segments: []merge.Segment{{First: first.ID, Last: last.ID,
		SummaryOf: first.ID, Segment: scrollback.Segment{ID: segment, Hash: hash.String(), CreatedAt: w.now(n)}}}}
	w.write(n, change)
	if !n.isGone(id) {
		receipt := merge.Receipt{First: first.ID, Last: last.ID}
		receipt.Receipt.CreatedAt = w.now(n)
		receipt.Receipt.Segments = []scrollback.SegmentID{segment}
		w.write(n, merge.Conversation{ID: id, Receipts: []merge.Receipt{receipt}})
	}
	return nil
}

// undo changes only what is shown here.
func (w *World) undo(n *node) error {
	if id := w.pick(n); id != "" {
		n.stands[id].undone = !n.stands[id].undone
	}
	return nil
}

func (w *World) pin(n *node) error {
	id := w.pick(n)
	if id == "" {
		return nil
	}
	if m := w.back(n, n.stands[id].at, w.random.IntN(6)); m != nil {
		w.set(n, id, stamp.PinFields+string(m.ID), fmt.Sprint(w.chance(2)))
	}
	return nil
}

func (w *World) retitle(n *node) error {
	id := w.pick(n)
	if id == "" {
		return nil
	}
	by := []string{"", "tool", "prompt", "model"}[w.random.IntN(4)]
	var was merge.Title
	f, ok := n.conversations[id].rest.Fields[stamp.FieldTitle]
	if ok {
		was = readTitle(f)
	}
	if ok && was.By == "" && by != "" {
		return nil // here, too, a person's title stays
	}
	value := fmt.Sprintf(`{"title":"t%d"}`, w.random.IntN(1000))
	if by != "" {
		value = fmt.Sprintf(`{"title":"t%d","by":"%s"}`, w.random.IntN(1000), by)
	}
	w.set(n, id, stamp.FieldTitle, value)
	return nil
}

func (w *World) edit(n *node) error {
	id := w.pick(n)
	if id == "" {
		return nil
	}
	name := []string{stamp.FieldModel, stamp.FieldPolicy, stamp.FieldInstructions, "settings.recall", "meta.a", "meta.b",
		"of.a.newer.version"}[w.random.IntN(7)]
	w.set(n, id, name, fmt.Sprintf(`"v%d"`, w.random.IntN(5)))
	switch w.random.IntN(8) {
	case 0:
		if len(n.conversations[id].rest.Environment) == 0 {
			w.write(n, merge.Conversation{ID: id, Environment: fmt.Appendf(nil, `"%d"`, w.random.IntN(9))})
		}
	case 1:
		// Records of newer versions only grow: a greater value counts.
		name := fmt.Sprintf("newer%d", w.random.IntN(3))
		if n.conversations[id].rest.Unknown[name] == nil {
			w.write(n, merge.Conversation{ID: id,
				Unknown: map[string]json.RawMessage{name: fmt.Appendf(nil, `"%d"`, w.random.IntN(9))}})
		}
	}
	return nil
}

func (w *World) move(n *node) error {
	if id := w.pick(n); id != "" {
		w.set(n, id, stamp.FieldProject, fmt.Sprintf(`"p%d"`, w.random.IntN(4)))
	}
	return nil
}

func (w *World) trash(n *node) error {
	if id := w.pick(n); id != "" {
		value := "0"
		if w.chance(2) {
			value = fmt.Sprint(w.now(n))
		}
		w.set(n, id, stamp.FieldTrash, value)
	}
	return nil
}

func (w *World) purge(n *node) error {
	id := w.pick(n)
	if id == "" || len(n.live) < 4 {
		return nil
	}
	c := n.conversations[id]
	w.Figures.Purges++
	n.Apply(merge.Set{Stones: []merge.Stone{{ID: id, Project: "p0", Stamp: w.stamp(n, c.rest.Fields, c.rest.Kept)}}},
		w.rules.Spared)
	return nil
}

func (w *World) keep(n *node) error {
	id := w.pick(n)
	if id == "" {
		return nil
	}
	m := w.back(n, n.stands[id].at, w.random.IntN(6))
	if m == nil {
		return nil
	}
	c := n.conversations[id]
	state := []scrollback.KeptState{scrollback.KeptOpen, scrollback.KeptDone, scrollback.KeptDropped}[w.random.IntN(3)]
	w.write(n, merge.Conversation{ID: id, Kept: []merge.Kept{{ID: scrollback.KeptID("k" + string(m.Key())),
		Change: w.name("x"), Message: m.ID, State: state, Stamp: w.stamp(n, c.rest.Fields, c.rest.Kept)}}})
	return nil
}

func (w *World) editProject(n *node) error {
	name := fmt.Sprintf("p%d", w.random.IntN(3))
	var fields map[string]merge.Field
	if p := n.projects[name]; p != nil {
		fields = p.Fields
	}
	f := merge.Field{Value: fmt.Appendf(nil, `"v%d"`, w.random.IntN(5)), Stamp: w.stamp(n, fields, nil)}
	n.Apply(merge.Set{Projects: []merge.Project{{Name: name, Fields: map[string]merge.Field{"title": f}}}}, w.rules.Spared)
	if w.chance(10) && n.unknown["table"] == nil {
		unknown := map[string]json.RawMessage{"table": fmt.Appendf(nil, `"%d"`, w.random.IntN(9))}
		n.Apply(merge.Set{Unknown: unknown}, w.rules.Spared)
	}
	return nil
}

// show remembers the path that somebody looks at.
func (w *World) show(n *node) error {
	id := w.pick(n)
	if id == "" || n.stands[id].at == "" {
		return nil
	}
	at := n.stands[id].at
	if hash, ok := n.pathHash(at, ""); ok {
		w.shown = append(w.shown, shownPath{at, hash})
	}
	return nil
}

func (w *World) partition(*node) error {
	for i := range w.parts {
		w.parts[i] = 0
		if w.chance(3) {
			w.parts[i] = 1
		}
	}
	return nil
}

// copyFolder copies a store to another machine, which does not notice at once that it has another's id and branches.
func (w *World) copyFolder(n *node) error {
	if len(w.nodes) == most {
		return nil
	}
	copied := n.clone()
	if copied.offset > year/2 || w.chance(2) {
		copied.offset = int64(w.random.IntN(int(12*hour))) - 6*hour
	}
	if w.chance(2) { // it notices
		copied.names = append(copied.names, w.name("node"))
		clear(copied.mine)
	}
	w.nodes = append(w.nodes, copied)
	w.parts = append(w.parts, 0)
	w.Figures.Copies++
	return nil
}

func (w *World) backUp(n *node) error {
	n.backup = n.clone()
	return nil
}

// restoreBackup puts a store back as it was. What no other store had got is lost with it, and expected no more.
func (w *World) restoreBackup(n *node) error {
	if n.backup == nil {
		return nil
	}
	old := n.backup.clone()
	old.names = slices.Clone(n.names)
	old.offset = n.offset
	if w.chance(2) {
		old.names = append(old.names, w.name("node"))
		clear(old.mine)
	}
	i := slices.Index(w.nodes, n)
	lost := n.Memory
	w.nodes[i] = old
	old.backup = n.backup
	held := func(id scrollback.MessageID) bool {
		return slices.ContainsFunc(w.nodes, func(o *node) bool { return o.messages[id] != nil })
	}
	for id, m := range w.told {
		if (lost.messages[id] != nil || w.stoneIsLost(lost, m.of)) && !held(id) {
			delete(w.told, id)
		}
	}
	w.Figures.Restores++
	return nil
}

// stoneIsLost reports whether a store had the only stone of a conversation.
func (w *World) stoneIsLost(lost *Memory, id scrollback.ConversationID) bool {
	return lost.isGone(id) && !slices.ContainsFunc(w.nodes, func(o *node) bool { return o.isGone(id) })
}

// mendClock sets a clock right that was a year ahead.
func (w *World) mendClock(n *node) error {
	if n.offset > year/2 {
		n.offset -= year
	}
	w.mend(n)
	return nil
}

// mend makes the changes anew that nobody takes.
func (w *World) mend(n *node) {
	now := w.now(n)
	for id, c := range n.conversations { // also what remains of purged ones
		newest := w.newest(n, c.rest.Fields, c.rest.Kept)
		change := merge.Conversation{ID: id}
		for name, f := range c.rest.Fields {
			if s := w.rules.Mend(f.Stamp, n.isOwn, newest, now); s != f.Stamp {
				put(&change.Fields, name, merge.Field{Value: f.Value, Stamp: s})
			}
		}
		for _, k := range c.rest.Kept {
			if s := w.rules.Mend(k.Stamp, n.isOwn, newest, now); s != k.Stamp {
				k.Stamp = s
				change.Kept = append(change.Kept, k)
			}
		}
		n.Apply(merge.Set{Conversations: []merge.Conversation{change}}, w.rules.Spared)
	}
	var set merge.Set
	for name, p := range n.projects {
		change := merge.Project{Name: name}
		newest := w.newest(n, p.Fields, nil)
		for field, f := range p.Fields {
			if s := w.rules.Mend(f.Stamp, n.isOwn, newest, now); s != f.Stamp {
				put(&change.Fields, field, merge.Field{Value: f.Value, Stamp: s})
			}
		}
		set.Projects = append(set.Projects, change)
	}
	for _, stone := range n.stones {
		if s := w.rules.Mend(stone.Stamp, n.isOwn, 0, now); s != stone.Stamp {
			stone.Stamp = s
			set.Stones = append(set.Stones, stone)
		}
	}
	n.Apply(set, w.rules.Spared)
}

// carryBundle writes a conversation to a file, or brings one that was written some time ago.
func (w *World) carryBundle(n *node) error {
	if len(w.bundles) > 0 && w.chance(2) {
		i := w.random.IntN(len(w.bundles))
		w.take(n, w.bundles[i])
		return nil
	}
	id := w.pick(n)
	if id == "" {
		return nil
	}
	set := merge.Set{Conversations: []merge.Conversation{n.Export(id)}}
	in := map[scrollback.ConversationID]bool{id: true}
	for k := 0; k < len(set.Conversations); k++ { // with those that it continues
		for _, link := range n.conversations[set.Conversations[k].ID].allLinks() {
			if m := n.messages[link]; m != nil && !in[m.of] {
				in[m.of] = true
				set.Conversations = append(set.Conversations, n.Export(m.of))
			}
		}
	}
	if len(w.bundles) < 8 {
		w.bundles = append(w.bundles, set)
	} else {
		w.bundles[w.random.IntN(len(w.bundles))] = set
	}
	return nil
}

func (c *conversation) allLinks() []scrollback.MessageID {
	if c.rest.Parent == nil {
		return c.links
	}
	return append(slices.Clone(c.links), c.rest.Parent.Message)
}

// take merges what arrived into a store, and moves where it stands.
func (w *World) take(n *node, set merge.Set) merge.Result {
	result := w.rules.Merge(n.Memory, set, w.now(n))
	known := map[scrollback.ConversationID]bool{}
	w.checkClocks(n, result.Change)
	for _, c := range result.Change.Conversations {
		known[c.ID] = n.conversations[c.ID] != nil && !n.isGone(c.ID)
	}
	n.Apply(result.Change, w.rules.Spared)
	for i := range result.Change.Conversations {
		c := &result.Change.Conversations[i]
		if n.isGone(c.ID) {
			continue
		}
		if !known[c.ID] {
			n.live = append(n.live, c.ID)
			n.stands[c.ID] = &stand{}
		}
		w.restand(n, c, known[c.ID])
	}
	w.Figures.Refused += len(result.Refused)
	w.Figures.Waiting += len(result.Waiting)
	return result
}

// restand moves the current branch of a conversation after messages have arrived.
func (w *World) restand(n *node, c *merge.Conversation, known bool) {
	at := n.stands[c.ID]
	if len(c.Messages) == 0 {
		if !known && c.Parent != nil {
			at.at = c.Parent.Message
		}
		return
	}
	passed := make(map[scrollback.MessageID]bool, len(c.Messages))
	for _, m := range c.Messages {
		passed[m.Prev] = true
	}
	var ends []merge.End
	for _, m := range c.Messages {
		if !passed[m.ID] {
			ends = append(ends, merge.End{ID: m.ID, CreatedAt: m.CreatedAt})
		}
	}
	to := w.rules.Stand(merge.Place{Known: known, At: at.at, Rewound: at.rewound}, ends, n.follows)
	if to == at.at {
		w.Figures.Stayed++
	} else {
		w.Figures.Moved++
	}
	at.at = to
}

// follows reports whether the path of a message leads over another one.
func (s *Memory) follows(end, of scrollback.MessageID) bool {
	if of == "" {
		return true
	}
	over := s.messages[of]
	if over == nil {
		return false
	}
	for m := s.messages[end]; m != nil && m.Seq >= over.Seq; m = s.messages[m.Prev] {
		if m == over {
			return true
		}
	}
	return false
}

// arrival returns what one store would hand to another.
func arrival(to, from *Memory) (merge.Set, error) {
	ctx := context.Background()
	wanted, err := merge.Missing(ctx, to, from)
	if err != nil {
		return merge.Set{}, err
	}
	set, err := from.Records(ctx, wanted)
	if err == nil && to.head.Rest != from.head.Rest {
		var projects merge.Set
		projects, err = from.Projects(ctx)
		set.Projects = projects.Projects
		set.Unknown = projects.Unknown
	}
	return set, err
}

func (w *World) meetAnother(n *node) error {
	i := slices.Index(w.nodes, n)
	k := w.random.IntN(len(w.nodes))
	if i == k || w.parts[i] != w.parts[k] {
		return nil
	}
	if w.MeetBy != nil {
		w.Figures.Meetings++
		all := w.Parties()
		return w.MeetBy(all[i], all[k])
	}
	return w.meet(w.nodes[i], w.nodes[k])
}

// meet lets two stores meet: one takes from the other, or both do.
func (w *World) meet(a, b *node) error {
	w.Figures.Meetings++
	set, err := arrival(a.Memory, b.Memory)
	if err != nil {
		return err
	}
	if w.chance(10) {
		w.Figures.Cut++
		w.take(a, w.cut(set))
		return nil
	}
	was := w.standsBefore(a)
	first := w.take(a, set)
	if err := w.checkStands(a, was); err != nil {
		return err
	}
	if w.chance(3) {
		return nil
	}
	if set, err = arrival(b.Memory, a.Memory); err != nil {
		return err
	}
	second := w.take(b, set)
	if len(first.Refused) > 0 || len(second.Refused) > 0 {
		return nil
	}
	if a.head != b.head {
		return fmt.Errorf("two stores have met and differ:\n%s", difference(a.Memory, b.Memory))
	}
	return nil
}

// cut is the part of some records that arrives: without any of them that may be missing.
func (w *World) cut(set merge.Set) merge.Set {
	var out merge.Set
	for _, c := range set.Conversations {
		if w.chance(4) {
			continue
		}
		messages := c.Messages
		c.Messages = nil
		for _, m := range messages {
			if !w.chance(5) {
				c.Messages = append(c.Messages, m)
			}
		}
		out.Conversations = append(out.Conversations, c)
	}
	if w.chance(2) {
		out.Stones = set.Stones
	}
	return out
}

// Run lets the stores of a seed live for some steps, and checks what must hold on the way and in the end.
func Run(seed uint64, steps int, rules Rules) (Figures, error) {
	w := NewWorld(seed, rules)
	for i := range steps {
		if err := w.Step(); err != nil {
			return w.Figures, fmt.Errorf("step %d: %w", i, err)
		}
	}
	err := cmp.Or(w.fault, w.Finish())
	return w.Figures, err
}

// Stores returns the stores of a run as they are.
func (w *World) Stores() []*Memory {
	var out []*Memory
	for _, n := range w.nodes {
		out = append(out, n.Memory)
	}
	return out
}

// Now is the time of a run by clocks that are right, in Unix ms.
func (w *World) Now() int64 { return w.clock }
