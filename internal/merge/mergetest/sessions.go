package mergetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// session is a conversation that another tool keeps and goes on with, and that several stores import: all of it, an
// older copy, or a copy that has only one of its paths. The items from shared on are its own; those before are the
// first ones of the session that it was copied from.
type session struct {
	number int
	items  []item
	from   *session
	shared int
}

// item is a message of a session. Its parent is another one by its place, or -1.
type item struct {
	parent int
	hash   merge.Hash
	at     int64
}

// grow lets the tool go on with a session, or go back in it.
func (w *World) grow(s *session) {
	if len(s.items) == 0 && s.number == 1 && len(w.sessions[0].items) > 4 {
		s.from = w.sessions[0]
		s.shared = 3
		for i := 0; i < s.shared; i++ {
			if s.from.items[i].parent != i-1 {
				s.shared = i
				break
			}
		}
		s.items = append(s.items, s.from.items[:s.shared]...)
	}
	for range 1 + w.random.IntN(5) {
		parent := len(s.items) - 1
		if parent > 0 && w.chance(6) {
			parent = w.random.IntN(len(s.items))
		}
		s.items = append(s.items, item{parent, w.says(), w.clock - int64(w.random.IntN(int(hour)))})
	}
}

// path lists the places of the items up to one.
func (s *session) path(last int) []int {
	var out []int
	for at := last; at >= 0; at = s.items[at].parent {
		out = append([]int{at}, out...)
	}
	return out
}

// copyOf lists the items that a copy of a session has, each behind its parent.
func (w *World) copyOf(s *session) []int {
	n := len(s.items)
	if w.chance(3) {
		return s.path(w.random.IntN(n))
	}
	if w.chance(3) {
		n = 1 + w.random.IntN(n)
	}
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func derive(kind string, of ...string) string {
	h := sha256.New()
	for _, s := range of {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	return kind + hex.EncodeToString(h.Sum(nil)[:8])
}

// again returns the id under which a purged conversation is imported once more.
func again(stone merge.Stone) scrollback.ConversationID {
	return scrollback.ConversationID(derive("again", string(stone.ID), fmt.Sprint(stone.At), stone.By))
}

// bringSession imports a session, or what is new of it.
func (w *World) bringSession(n *node) error {
	s := w.sessions[w.random.IntN(len(w.sessions))]
	if len(s.items) == 0 || w.chance(3) {
		w.grow(s)
	}
	id := scrollback.ConversationID(fmt.Sprintf("session%d", s.number))
	for n.isGone(id) {
		if !w.chance(3) {
			return nil // a stone stops an import
		}
		id = again(n.stones[id])
	}
	in := &sessionImport{World: w, node: n, session: s, id: id, found: map[int]*message{}}
	if n.conversations[id] == nil {
		in.begin()
	}
	in.findShared()
	var last *message
	for _, i := range w.copyOf(s) {
		last = in.bring(i)
	}
	at := n.stands[id]
	if last != nil && !at.rewound && n.follows(last.ID, at.at) {
		at.at = last.ID
	}
	return nil
}

// sessionImport is an import under way.
type sessionImport struct {
	*World
	*node
	session *session
	id      scrollback.ConversationID
	found   map[int]*message // by the places of their items
}

// begin stores the conversation of a session: as a fork, if what it was copied from is here.
func (in *sessionImport) begin() {
	root := scrollback.BranchID(derive("root", string(in.id)))
	if in.chance(3) {
		in.older[in.id] = true
		root = scrollback.BranchID(in.World.name("root"))
	}
	c := merge.Conversation{ID: in.id, CreatedAt: in.session.items[0].at, Branches: []merge.Branch{{ID: root}}}
	if parent := in.sharedMessage(in.session.shared - 1); parent != nil && in.chance(2) {
		c.Branches[0].Leaves = parent.ID
		c.Parent = &merge.Parent{Conversation: parent.of, Message: parent.ID}
	}
	in.write(in.node, c)
}

// sharedMessage finds a message of the session that this one was copied from.
func (in *sessionImport) sharedMessage(i int) *message {
	from := in.session.from
	if from == nil || i < 0 {
		return nil
	}
	id := scrollback.ConversationID(fmt.Sprintf("session%d", from.number))
	if in.isGone(id) {
		return nil
	}
	key := scrollback.MessageID("")
	for k := range i + 1 {
		key = sourceKey(id, key, from.items[k].hash)
	}
	return in.sources[source{id, key}]
}

// findShared finds what a fork has of the session that it was copied from, unless the conversation has all of its own.
func (in *sessionImport) findShared() {
	c := in.conversations[in.id]
	whole := sourceKey(in.id, "", in.session.items[0].hash)
	if c.rest.Parent == nil || in.sources[source{in.id, whole}] != nil {
		return
	}
	m := in.messages[c.rest.Parent.Message]
	for i := in.session.shared - 1; i >= 0 && m != nil; i-- {
		in.found[i] = m
		m = in.messages[m.Prev]
	}
}

// sourceKey is the id that follows from the source of a message.
func sourceKey(id scrollback.ConversationID, prev scrollback.MessageID, says merge.Hash) scrollback.MessageID {
	return scrollback.MessageID(derive("i", string(id), string(prev), string(says[:])))
}

// bring stores an item, if it is not here.
func (in *sessionImport) bring(i int) *message {
	if m := in.found[i]; m != nil {
		return m
	}
	it := in.session.items[i]
	prev := in.found[it.parent]
	m := merge.Message{Hash: it.hash, Seq: 1, CreatedAt: it.at}
	var before scrollback.MessageID
	if prev != nil {
		m.Seq = prev.Seq + 1
		m.Prev = prev.ID
		before = prev.Key()
	}
	key := sourceKey(in.id, before, it.hash)
	if here := in.sources[source{in.id, key}]; here != nil {
		in.found[i] = here
		return here
	}
	m.ID = key
	m.Source = key
	if in.older[in.id] {
		m.ID = scrollback.MessageID(in.World.name("o"))
	}
	m.Born = in.place(prev, key)
	in.write(in.node, merge.Conversation{ID: in.id, Messages: []merge.Message{m}})
	in.found[i] = in.messages[m.ID]
	return in.found[i]
}

// place returns the branch that an imported message is written to.
func (in *sessionImport) place(prev *message, key scrollback.MessageID) scrollback.BranchID {
	c := in.conversations[in.id]
	branch := ids.Branch(key)
	if len(c.rest.Branches) > 0 {
		branch = c.rest.Branches[0].ID
	}
	seq := int64(1)
	if prev != nil {
		seq = prev.Seq + 1
		if prev.of == in.id {
			branch = prev.Born
		}
	}
	if isFree(c, branch, seq) {
		return branch
	}
	return ids.Branch(key)
}
