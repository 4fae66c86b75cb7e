package merge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

const (
	rangeParts = 16  // into which a range of messages is cut that differs
	rangeSmall = 64  // messages of a range that are listed by their keys
	mostNodes  = 256 // of a level
)

// Missing lists what a store lacks of what another one holds, or holds otherwise. It asks for sums, from the top
// down, and lists single records only where they differ: two stores that hold the same are compared by one answer
// of each. What only our side has is not listed; it is what the other side lacks.
func Missing(ctx context.Context, ours, theirs Side) ([]Wanted, error) {
	here, err := ours.Head(ctx)
	if err != nil {
		return nil, err
	}
	there, err := theirs.Head(ctx)
	if err != nil || here.Conversations == there.Conversations && here.Count == there.Count {
		return nil, err
	}
	c := comparison{ctx: ctx, ours: ours, theirs: theirs}
	if err := c.compareLevel(""); err != nil {
		return nil, err
	}
	slices.Sort(c.differ)
	for _, id := range c.differ {
		if err := c.compareConversation(id); err != nil {
			return nil, err
		}
	}
	return c.wanted, nil
}

// comparison is two stores that are being compared.
type comparison struct {
	ctx          context.Context
	ours, theirs Side
	differ       []scrollback.ConversationID
	wanted       []Wanted
}

// compareLevel finds the conversations below a prefix that differ, or that only they have.
func (c *comparison) compareLevel(below Prefix) error {
	here, err := c.ours.Level(c.ctx, below)
	if err != nil {
		return err
	}
	there, err := c.theirs.Level(c.ctx, below)
	if err != nil {
		return err
	}
	if len(there.Nodes) > mostNodes {
		return fmt.Errorf("merge: a level of %d nodes", len(there.Nodes))
	}
	nodes := map[Prefix]Node{}
	for _, n := range here.Nodes {
		nodes[n.Prefix] = n
	}
	for _, n := range there.Nodes {
		if len(n.Prefix) != len(below)+2 || n.Prefix[:len(below)] != below {
			return fmt.Errorf("merge: a node %q below %q", n.Prefix, below)
		}
		if len(n.Prefix) > 2*sha256.Size {
			return fmt.Errorf("merge: a node %q is deeper than the tree", n.Prefix)
		}
		// A level that is listed here has no sums to compare with.
		if own, ok := nodes[n.Prefix]; ok && own == n {
			continue
		}
		if err := c.compareLevel(n.Prefix); err != nil {
			return err
		}
	}
	if len(there.Conversations) == 0 {
		return nil
	}
	return c.compareListed(below, here, there.Conversations)
}

// compareListed compares conversations that they list with ours of the same prefix, which may be nodes.
func (c *comparison) compareListed(below Prefix, here Level, there []Summary) error {
	own := map[scrollback.ConversationID]Hash{}
	for _, s := range here.Conversations {
		own[s.ID] = s.Digest
	}
	for _, n := range here.Nodes {
		level, err := c.ours.Level(c.ctx, n.Prefix)
		if err != nil {
			return err
		}
		if len(level.Nodes) > 0 {
			return c.compareEach(there)
		}
		for _, s := range level.Conversations {
			own[s.ID] = s.Digest
		}
	}
	for _, s := range there {
		if digest, ok := own[s.ID]; !ok || digest != s.Digest {
			c.differ = append(c.differ, s.ID)
		}
	}
	return nil
}

// compareEach compares conversations that they list one by one: ours are too many to be listed.
func (c *comparison) compareEach(there []Summary) error {
	for _, s := range there {
		own, err := c.ours.Inventory(c.ctx, s.ID)
		if err != nil {
			return err
		}
		if own.Tally.IsEmpty() || own.Tally.Digest(s.ID) != s.Digest {
			c.differ = append(c.differ, s.ID)
		}
	}
	return nil
}

// compareConversation lists what is missing of a conversation.
func (c *comparison) compareConversation(id scrollback.ConversationID) error {
	here, err := c.ours.Inventory(c.ctx, id)
	if err != nil {
		return err
	}
	there, err := c.theirs.Inventory(c.ctx, id)
	if err != nil {
		return err
	}
	wanted := Wanted{ID: id}
	if here.Tally.Messages != there.Tally.Messages {
		if err := c.compareMessages(&wanted, here.Ranges, there.Ranges); err != nil {
			return err
		}
	}
	// What goes with the messages that remain of a purged conversation is in the buckets, and not in the tally.
	if err := c.compareRest(&wanted, here.Rest, there.Rest); err != nil {
		return err
	}
	if len(wanted.Messages) > 0 || len(wanted.Rest) > 0 {
		c.wanted = append(c.wanted, wanted)
	}
	return nil
}

// place says which messages a range is about.
type place struct {
	branch   scrollback.BranchID
	from, to int64
}

func (r Range) place() place { return place{r.Branch, r.From, r.To} }

// compareMessages cuts ranges that differ until their messages are few enough to be listed.
func (c *comparison) compareMessages(wanted *Wanted, here, there []Range) error {
	var small []Range
	asked := map[place]bool{}
	for _, r := range there {
		asked[r.place()] = r.isSound()
	}
	for len(there) > 0 {
		own := map[place]Range{}
		for _, r := range here {
			own[r.place()] = r
		}
		var ask []Range
		for _, r := range there {
			if !asked[r.place()] {
				return fmt.Errorf("merge: messages %d to %d of a branch are no answer", r.From, r.To)
			}
			mine, ok := own[r.place()]
			switch {
			case r.Count == 0 || ok && mine.Sum == r.Sum && mine.Count == r.Count:
			case r.Count <= rangeSmall || r.To-r.From < rangeSmall:
				small = append(small, r)
			default:
				ask = append(ask, r.split()...)
			}
		}
		if len(ask) == 0 {
			break
		}
		var err error
		if here, err = c.ours.Ranges(c.ctx, wanted.ID, ask); err != nil {
			return err
		}
		if there, err = c.theirs.Ranges(c.ctx, wanted.ID, ask); err != nil {
			return err
		}
		clear(asked)
		for _, r := range ask {
			asked[r.place()] = true
		}
	}
	if len(small) == 0 {
		return nil
	}
	listed, err := c.theirs.Messages(c.ctx, wanted.ID, small)
	if err != nil {
		return err
	}
	wanted.Messages, err = c.ours.Lacks(c.ctx, wanted.ID, listed)
	return err
}

// isSound reports whether a range can be one.
func (r Range) isSound() bool { return r.From >= 1 && r.To >= r.From && r.To <= MaxSeq }

// MaxSeq bounds the seqs of messages: the ranges of an [Inventory] go from 1 to it.
const MaxSeq = 1 << 28

// split cuts a range into parts; the last may be shorter.
func (r Range) split() []Range {
	size := (r.To-r.From)/rangeParts + 1
	var out []Range
	for from := r.From; from <= r.To; from += size {
		out = append(out, Range{Branch: r.Branch, From: from, To: min(r.To, from+size-1)})
	}
	return out
}

// compareRest lists the elements of everything but messages that we do not have.
func (c *comparison) compareRest(wanted *Wanted, here, there map[uint8]Sum) error {
	var buckets []uint8
	for _, bucket := range slices.Sorted(maps.Keys(there)) {
		if here[bucket] != there[bucket] {
			buckets = append(buckets, bucket)
		}
	}
	if len(buckets) == 0 {
		return nil
	}
	own, err := c.ours.Rest(c.ctx, wanted.ID, buckets)
	if err != nil {
		return err
	}
	listed, err := c.theirs.Rest(c.ctx, wanted.ID, buckets)
	if err != nil {
		return err
	}
	known := make(map[Hash]bool, len(own))
	for _, h := range own {
		known[h] = true
	}
	for _, h := range listed {
		if !known[h] {
			wanted.Rest = append(wanted.Rest, h)
		}
	}
	return nil
}
