package mergetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

func readTitle(f merge.Field) (t merge.Title) {
	_ = json.Unmarshal(f.Value, &t)
	return t
}

// standsBefore notes where a store stands that somebody went back in, or that has what others have not.
func (w *World) standsBefore(n *node) map[scrollback.ConversationID]stand {
	out := make(map[scrollback.ConversationID]stand, len(n.stands))
	for id, at := range n.stands {
		out[id] = *at
	}
	return out
}

// checkStands checks that a meeting has moved a store along its own path, and nowhere after a rewind.
func (w *World) checkStands(n *node, was map[scrollback.ConversationID]stand) error {
	for id, before := range was {
		at := n.stands[id].at
		if at == before.at || n.isGone(id) {
			continue
		}
		if before.rewound {
			return fmt.Errorf("%s: somebody went back to %s, and a meeting moved to %s", id, before.at, at)
		}
		if !n.follows(at, before.at) {
			return fmt.Errorf("%s: a meeting left the path of %s for %s", id, before.at, at)
		}
	}
	return nil
}

// checkClocks checks that nothing is taken whose stamp is too far ahead.
func (w *World) checkClocks(n *node, change merge.Set) {
	check := func(what string, at stamp.Stamp) {
		if at.By != "" && at.IsAhead(w.now(n)) && w.fault == nil {
			w.fault = fmt.Errorf("%s was taken, with the clock of %s at %d, at %d", what, at.By, at.At, w.now(n))
		}
	}
	for _, c := range change.Conversations {
		for name, f := range c.Fields {
			check(name, f.Stamp)
		}
		for _, k := range c.Kept {
			check(string(k.ID), k.Stamp)
		}
	}
	for _, stone := range change.Stones {
		check(string(stone.ID), stone.Stamp)
	}
}

// Finish mends all clocks, lets everybody meet and checks what must hold.
func (w *World) Finish() error {
	if err := w.MendClocks(); err != nil {
		return err
	}
	copies := make([]*node, len(w.nodes))
	for i, n := range w.nodes {
		copies[i] = n.clone()
	}
	if err := w.gather(w.nodes); err != nil {
		return err
	}
	if err := w.gather(copies); err != nil {
		return err
	}
	first := w.nodes[0]
	text := first.describe(w.rules)
	for i, n := range slices.Concat(w.nodes, copies) {
		if n.head.Digest() != first.head.Digest() {
			return fmt.Errorf("store %d has another digest than the first one:\n%s", i, difference(first.Memory, n.Memory))
		}
		if other := n.describe(w.rules); other != text {
			return fmt.Errorf("store %d has the digest of the first one, and other records:\n%s", i, firstLine(text, other))
		}
	}
	for i, n := range w.nodes {
		if err := w.checkStore(n); err != nil {
			return fmt.Errorf("store %d: %w", i, err)
		}
	}
	return w.checkTold(first)
}

// MendClocks sets all clocks right.
func (w *World) MendClocks() error {
	w.clock += 2 * hour
	for _, n := range w.nodes {
		if err := w.mendClock(n); err != nil {
			return err
		}
	}
	return nil
}

// gather lets every store meet one of them, in any order, and then again. The second time changes nothing.
func (w *World) gather(nodes []*node) error {
	hub := w.random.IntN(len(nodes))
	order := w.random.Perm(len(nodes))
	for round := range 3 {
		for _, i := range order {
			if i == hub {
				continue
			}
			for _, pair := range [][2]*node{{nodes[hub], nodes[i]}, {nodes[i], nodes[hub]}} {
				set, err := arrival(pair[0].Memory, pair[1].Memory)
				if err != nil {
					return err
				}
				result := w.take(pair[0], set)
				if len(result.Refused) > 0 {
					return fmt.Errorf("refused at the end: %+v", result.Refused[0])
				}
				if len(result.Waiting) > 0 {
					return fmt.Errorf("still waiting: %+v", result.Waiting)
				}
				change := result.Change
				if round == 2 && len(change.Conversations)+len(change.Stones)+len(change.Projects)+len(change.Unknown) > 0 {
					return fmt.Errorf("everybody has met, and another meeting changes %+v", change)
				}
				if round == 2 && len(set.Conversations)+len(set.Stones) > 0 {
					return fmt.Errorf("everybody has met, and something is handed over: %+v", set)
				}
			}
		}
	}
	return nil
}

// checkStore checks a store by itself.
func (w *World) checkStore(n *node) error {
	if err := n.checkTallies(); err != nil {
		return err
	}
	for id, c := range n.conversations {
		if err := n.checkPaths(c); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if err := w.checkLabels(n, c); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		for _, s := range c.rest.Segments {
			hash, ok := n.pathHash(s.Last, s.First)
			if !ok || hash.String() != s.Segment.Hash {
				return fmt.Errorf("%s: segment %s is not the messages from %s to %s", id, s.Segment.ID, s.First, s.Last)
			}
		}
		if n.isGone(id) {
			w.Figures.Remains += len(c.messages)
		}
	}
	return nil
}

// Check checks what must hold of a store by itself: its sums, and that the path of each message is whole.
func (s *Memory) Check() error {
	for id, c := range s.conversations {
		if err := s.checkPaths(c); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	return s.checkTallies()
}

// Holds checks that a store has every message and field of another one, the fields with no older stamps. What a stone
// ends is not looked for, nor are fields whose stamps are too far ahead at a time: they give way.
func (s *Memory) Holds(o *Memory, now int64) error {
	for id, m := range o.messages {
		if s.isGone(m.of) {
			continue
		}
		here := s.messages[id]
		if here == nil || here.Hash != m.Hash || here.Seq != m.Seq || here.of != m.of || here.Key() != m.Key() ||
			s.key(here.Prev) != o.key(m.Prev) {
			return fmt.Errorf("message %s is another one now", id)
		}
	}
	for id, c := range o.conversations {
		if s.isGone(id) {
			continue
		}
		for name, f := range c.rest.Fields {
			if !f.IsAhead(now) && s.conversations[id].rest.Fields[name].Compare(name, f) < 0 {
				return fmt.Errorf("%s: field %s is older than it was", id, name)
			}
		}
		if len(s.conversations[id].rest.Segments) < len(c.rest.Segments) {
			return fmt.Errorf("%s: segments are missing", id)
		}
	}
	return nil
}

// Describe writes down all records of a store.
func (s *Memory) Describe() string { return s.describe(TrueRules()) }

// checkTallies compares the sums that were kept with those that are made of everything.
func (s *Memory) checkTallies() error {
	fresh := NewMemory()
	fresh.Apply(s.All(), merge.Spared)
	if fresh.head != s.head {
		return errors.New("the digest that was kept is not that of what is held:\n" + difference(fresh, s))
	}
	tree := merge.NewTree(s.Summaries()).Head()
	if tree.Conversations != s.head.Conversations || tree.Count != s.head.Count {
		return errors.New("the tree has another sum than the head")
	}
	return nil
}

// checkPaths checks that each message goes on from one that is here, with the next number, and that none is twice on a
// path.
func (s *Memory) checkPaths(c *conversation) error {
	keys := make(map[scrollback.MessageID]*message, len(c.messages))
	passed := make(map[scrollback.MessageID]bool, len(c.messages))
	for _, m := range c.messages {
		passed[m.Prev] = true
		prev := s.messages[m.Prev]
		if m.Prev != "" && prev == nil || m.Prev == "" && m.Seq != 1 || prev != nil && prev.Seq != m.Seq-1 {
			return fmt.Errorf("%s has number %d behind %q", m.ID, m.Seq, m.Prev)
		}
		if other := keys[m.Key()]; other != nil {
			return fmt.Errorf("%s and %s are the same message", m.ID, other.ID)
		}
		keys[m.Key()] = m
	}
	checked := 0
	for _, m := range c.messages {
		if passed[m.ID] || checked > 8 {
			continue
		}
		checked++
		said := map[merge.Hash]bool{}
		for at := m; at != nil; at = s.messages[at.Prev] {
			if said[at.Hash] {
				return fmt.Errorf("what %s says is twice on the path of %s", at.ID, m.ID)
			}
			said[at.Hash] = true
		}
	}
	return nil
}

// checkLabels checks that every message is shown on one branch, and at its number.
func (w *World) checkLabels(n *node, c *conversation) error {
	all := n.Export(c.rest.ID)
	messages := all.Messages
	runs := w.rules.Labels(&all)
	count := 0
	labels := map[scrollback.BranchID]bool{}
	for _, r := range runs {
		if labels[r.Label] {
			return fmt.Errorf("two runs are shown on branch %s", r.Label)
		}
		labels[r.Label] = true
		count += int(r.LastSeq - r.FirstSeq + 1)
		at := n.messages[r.Last]
		for at.ID != r.First {
			at = n.messages[at.Prev]
			if at == nil {
				return fmt.Errorf("%s and %s are no run", r.First, r.Last)
			}
		}
	}
	if count != len(messages) {
		return fmt.Errorf("%d messages are shown, not %d", count, len(messages))
	}
	for branch, line := range c.lines {
		for i, m := range line {
			if i > 0 && m.Seq == line[i-1].Seq {
				w.Figures.Collisions++
				if !labels[branch] && m.Source == "" {
					return fmt.Errorf("nothing is shown on branch %s, which two stores wrote to", branch)
				}
			}
		}
	}
	w.Figures.Doubles += len(c.aliases)
	return nil
}

// checkTold checks that what somebody was told holds: of messages, paths and refs.
func (w *World) checkTold(n *node) error {
	spared := merge.Spared(n.links, n.isGone, n.Message)
	for id, told := range w.told {
		m := n.messages[id]
		if m == nil && n.isGone(told.of) {
			continue
		}
		if m == nil {
			return fmt.Errorf("message %s of %s is lost", id, told.of)
		}
		if m.of != told.of || m.Key() != told.key || m.Hash != told.hash || m.Seq != told.seq {
			return fmt.Errorf("message %s of %s is another one: %+v", id, told.of, m.Message)
		}
		if n.isGone(m.of) && !spared[m.ID] {
			return fmt.Errorf("message %s was purged and is there", id)
		}
	}
	for _, shown := range w.shown {
		if hash, ok := n.pathHash(shown.tip, ""); ok && hash != shown.hash {
			return fmt.Errorf("the path of %s is another one than was shown", shown.tip)
		}
	}
	return nil
}

// describe writes down all records in a form that does not depend on the order in which they came, or on the ids that
// messages have here.
func (s *Memory) describe(rules Rules) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for id, c := range s.conversations {
		r := &c.rest
		if c.tally.IsEmpty() {
			continue
		}
		add("%s %d %s %s %v", id, r.CreatedAt, r.Environment, r.AgentOf, s.stones[id])
		if s.isGone(id) {
			for _, m := range c.messages {
				add("%s remains %s %x %d %s", id, m.Key(), m.Hash[:4], m.Seq, s.key(m.Prev))
			}
			continue
		}
		if r.Parent != nil {
			add("%s parent %s %s", id, r.Parent.Conversation, s.key(r.Parent.Message))
		}
		for _, m := range c.messages {
			add("%s message %s %x %d %s", id, m.Key(), m.Hash[:4], m.Seq, s.key(m.Prev))
		}
		all := s.Export(id)
		for _, run := range rules.Labels(&all) {
			add("%s run %s %s %s %s", id, run.Label, s.key(run.Leaves), s.key(run.First), s.key(run.Last))
		}
		for name, f := range r.Fields {
			if pinned, ok := strings.CutPrefix(name, stamp.PinFields); ok {
				name = stamp.PinFields + string(s.key(scrollback.MessageID(pinned)))
			}
			if f.By == "" {
				f.At = 0
			}
			add("%s field %s %s %v", id, name, f.Value, f.Stamp)
		}
		for _, b := range r.Branches {
			add("%s branch %s %s", id, b.ID, s.key(b.Leaves))
		}
		for _, o := range r.Segments {
			add("%s segment %s %s %s %s", id, o.Segment.ID, o.Segment.Hash, s.key(o.First), s.key(o.Last))
		}
		for _, o := range r.Receipts {
			add("%s receipt %s %s %v %d", id, s.key(o.First), s.key(o.Last), o.Receipt.Segments, o.Receipt.CreatedAt)
		}
		for _, o := range r.Kept {
			add("%s kept %s %s %s %s %v", id, o.ID, o.Change, o.State, s.key(o.Message), o.Stamp)
		}
		for _, o := range r.Mentions {
			add("%s mention %s", id, o.Artifact)
		}
		for name, value := range r.Unknown {
			add("%s unknown %s %s", id, name, value)
		}
	}
	s.describeOthers(add)
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// difference says what two stores hold that the other does not.
func difference(a, b *Memory) string {
	return firstLine(a.describe(TrueRules()), b.describe(TrueRules()))
}

// firstLine returns lines that only one of two texts has.
func firstLine(a, b string) string {
	var out []string
	for i, pair := range [][2]string{{a, b}, {b, a}} {
		known := map[string]bool{}
		for line := range strings.SplitSeq(pair[1], "\n") {
			known[line] = true
		}
		n := 0
		for line := range strings.SplitSeq(pair[0], "\n") {
			if !known[line] && n < 6 {
				n++
				out = append(out, fmt.Sprintf("only %d: %s", i+1, line))
			}
		}
	}
	return strings.Join(out, "\n")
}

// describeOthers writes down other ids of messages, projects and what is of newer versions.
func (s *Memory) describeOthers(add func(format string, args ...any)) {
	for id, m := range s.messages {
		if id != m.Key() && !s.isGone(m.of) {
			add("alias %s %s", id, m.Key())
		}
	}
	for name, p := range s.projects {
		for field, f := range p.Fields {
			add("project %s %s %s %v", name, field, f.Value, f.Stamp)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.unknown)) {
		add("unknown %s %s", name, s.unknown[name])
	}
}
