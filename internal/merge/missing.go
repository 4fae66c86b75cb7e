package merge

import (
	"cmp"
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
	differ, err := Differing(ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	var out []Wanted
	for part := range slices.Chunk(differ, ManyConversations) {
		var ids []scrollback.ConversationID
		for _, d := range part {
			ids = append(ids, d.ID)
		}
		wanted, err := MissingOf(ctx, ours, theirs, ids)
		if err != nil {
			return nil, err
		}
		out = append(out, wanted...)
	}
	return out, nil
}

// ManyConversations is how many are compared at once, or asked for.
const ManyConversations = 64

// Difference is a conversation that one store lacks, or has less of or otherwise than another: with the digest it has
// there, and whether anything of it is here.
type Difference struct {
	Summary
	Here bool
}

// Differing lists the conversations of which a store may lack something that another one holds, by id.
func Differing(ctx context.Context, ours, theirs Side) ([]Difference, error) {
	here, err := ours.Head(ctx)
	if err != nil {
		return nil, err
	}
	there, err := theirs.Head(ctx)
	if err != nil || here.Conversations == there.Conversations && here.Count == there.Count {
		return nil, err
	}
	c := comparison{ctx: ctx, ours: ours, theirs: theirs}
	err = c.compareLevel("")
	slices.SortFunc(c.differ, func(a, b Difference) int { return cmp.Compare(a.ID, b.ID) })
	return c.differ, err
}

// MissingOf lists what a store lacks of some conversations, at most [ManyConversations], that another one holds.
func MissingOf(ctx context.Context, ours, theirs Side, ids []scrollback.ConversationID) ([]Wanted, error) {
	here, err := Inventories(ctx, ours, ids)
	if err != nil {
		return nil, err
	}
	there, err := Inventories(ctx, theirs, ids)
	if err != nil {
		return nil, err
	}
	c := comparison{ctx: ctx, ours: ours, theirs: theirs}
	var list []Listing // of theirs
	held := map[scrollback.ConversationID]Inventory{}
	for i, id := range ids {
		l := Listing{ID: id}
		if here[i].Tally.Messages != there[i].Tally.Messages {
			if l.Ranges, err = c.compareMessages(id, here[i].Ranges, there[i].Ranges); err != nil {
				return nil, err
			}
		}
		// What goes with the messages that remain of a purged conversation is in the buckets, and not in the tally.
		for _, bucket := range slices.Sorted(maps.Keys(there[i].Rest)) {
			if here[i].Rest[bucket] != there[i].Rest[bucket] {
				l.Buckets = append(l.Buckets, bucket)
			}
		}
		if len(l.Ranges)+len(l.Buckets) > 0 {
			list = append(list, l)
			held[id] = here[i]
		}
	}
	var out []Wanted
	for _, part := range inParts(list) {
		wanted, err := c.listMissing(part, held)
		if err != nil {
			return nil, err
		}
		out = append(out, wanted...)
	}
	return joinWanted(out), nil
}

// listMost is how many messages one answer lists.
const listMost = 8192

// inParts divides what is to be listed by how much that is.
func inParts(list []Listing) [][]Listing {
	var out [][]Listing
	left := int64(0)
	for _, l := range list {
		ranges := l.Ranges
		l.Ranges = nil
		for {
			if left <= 0 {
				out = append(out, nil)
				left = listMost
			}
			for len(ranges) > 0 && left > 0 {
				l.Ranges = append(l.Ranges, ranges[0])
				left -= ranges[0].Count
				ranges = ranges[1:]
			}
			left--
			last := len(out) - 1
			out[last] = append(out[last], l)
			if len(ranges) == 0 {
				break
			}
			l = Listing{ID: l.ID}
		}
	}
	return out
}

// joinWanted makes one of what is wanted of a conversation in parts that follow each other.
func joinWanted(list []Wanted) []Wanted {
	var out []Wanted
	for _, w := range list {
		if n := len(out); n > 0 && out[n-1].ID == w.ID {
			out[n-1].Messages = append(out[n-1].Messages, w.Messages...)
			out[n-1].Rest = append(out[n-1].Rest, w.Rest...)
			continue
		}
		out = append(out, w)
	}
	return out
}

// listMissing lists records of theirs, and keeps those that ours lacks.
func (c *comparison) listMissing(list []Listing, held map[scrollback.ConversationID]Inventory) ([]Wanted, error) {
	listed, err := Lists(c.ctx, c.theirs, list)
	if err != nil {
		return nil, err
	}
	var ask []Listing
	for i, l := range list {
		own := Listing{ID: l.ID}
		if len(held[l.ID].Ranges) > 0 {
			own.Keys = listed[i].Messages
		}
		for _, bucket := range l.Buckets {
			if _, ok := held[l.ID].Rest[bucket]; ok {
				own.Buckets = append(own.Buckets, bucket)
			}
		}
		if len(own.Keys)+len(own.Buckets) > 0 {
			ask = append(ask, own)
		}
	}
	var answers []Listed
	if len(ask) > 0 {
		if answers, err = Lists(c.ctx, c.ours, ask); err != nil {
			return nil, err
		}
	}
	var out []Wanted
	for i, l := range list {
		wanted := Wanted{ID: l.ID, Messages: listed[i].Messages, Rest: listed[i].Rest}
		if len(ask) > 0 && ask[0].ID == l.ID {
			if len(ask[0].Keys) > 0 {
				wanted.Messages = answers[0].Lacks
			}
			known := make(map[Hash]bool, len(answers[0].Rest))
			for _, h := range answers[0].Rest {
				known[h] = true
			}
			wanted.Rest = slices.DeleteFunc(wanted.Rest, func(h Hash) bool { return known[h] })
			ask = ask[1:]
			answers = answers[1:]
		}
		if len(wanted.Messages)+len(wanted.Rest) > 0 {
			out = append(out, wanted)
		}
	}
	return out, nil
}

// comparison is two stores that are being compared.
type comparison struct {
	ctx          context.Context
	ours, theirs Side
	differ       []Difference
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
			c.differ = append(c.differ, Difference{s, ok})
		}
	}
	return nil
}

// compareEach compares conversations that they list one by one: ours are too many to be listed.
func (c *comparison) compareEach(there []Summary) error {
	for part := range slices.Chunk(there, ManyConversations) {
		var ids []scrollback.ConversationID
		for _, s := range part {
			ids = append(ids, s.ID)
		}
		own, err := Inventories(c.ctx, c.ours, ids)
		if err != nil {
			return err
		}
		for i, s := range part {
			ok := !own[i].Tally.IsEmpty()
			if !ok || own[i].Tally.Digest(s.ID) != s.Digest {
				c.differ = append(c.differ, Difference{s, ok})
			}
		}
	}
	return nil
}

// place says which messages a range is about.
type place struct {
	branch   scrollback.BranchID
	from, to int64
}

func (r Range) place() place { return place{r.Branch, r.From, r.To} }

// compareMessages cuts ranges that differ until their messages are few enough to be listed, and returns those.
func (c *comparison) compareMessages(id scrollback.ConversationID, here, there []Range) ([]Range, error) {
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
				return nil, fmt.Errorf("merge: messages %d to %d of a branch are no answer", r.From, r.To)
			}
			mine, ok := own[r.place()]
			switch {
			case r.Count == 0 || ok && mine.Sum == r.Sum && mine.Count == r.Count:
			case r.Count <= rangeSmall || r.To-r.From < rangeSmall || mine.Count == 0 && r.Count <= listMost:
				small = append(small, r)
			default:
				ask = append(ask, r.split()...)
			}
		}
		if len(ask) == 0 {
			break
		}
		var err error
		if here, err = c.ours.Ranges(c.ctx, id, ask); err != nil {
			return nil, err
		}
		if there, err = c.theirs.Ranges(c.ctx, id, ask); err != nil {
			return nil, err
		}
		clear(asked)
		for _, r := range ask {
			asked[r.place()] = true
		}
	}
	// What fits one answer is in the order of the other side; where it does not, early messages come first.
	slices.SortStableFunc(small, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	return small, nil
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
