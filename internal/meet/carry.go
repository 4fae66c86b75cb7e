package meet

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// Bounds of what is asked for and handed over at once. An answer holds some 768 KiB of records, by [merge.Side].
const (
	askRecords  = 2048
	batchBytes  = 900 << 10
	leastBytes  = 4 << 10
	familyBytes = 16 << 20 // of a conversation that waits, with what it goes on from
	mostPasses  = 64       // over what waits
)

// carrying is one direction of a meeting.
type carrying struct {
	ctx        context.Context
	o          Options
	result     *Result
	out        *merge.Outcome
	from, into begun
	pushing    bool
	may        merge.Access // of what is carried
	counted    map[scrollback.ConversationID]bool
	done       int
	total      int
	steps      int64     // anything that was written
	wholes     shrinking // conversations that are asked for
	asks       shrinking // records that are
	batches    shrinking
	stones     map[scrollback.ConversationID]merge.Stone
	waiting    map[scrollback.ConversationID]bool
	lost       map[scrollback.MessageID]bool      // messages that do not arrive, by their keys and ids
	behind     map[scrollback.ConversationID]bool // that have lost messages, which nothing brings in this meeting
	stuck      map[record]bool                    // other records that do not
	named      map[Uncarried]bool                 // without their errors
	sent       map[scrollback.ArtifactID]bool
	traits     map[scrollback.ConversationID]traits // of conversations that differ, where they were needed
}

// traits are what is asked of a conversation besides what is missing of it.
type traits struct {
	project  string
	parent   scrollback.ConversationID
	gone     bool
	messages int64
}

func newCarrying(ctx context.Context, o Options, result *Result, from, into begun) *carrying {
	return &carrying{ctx: ctx, o: o, result: result, out: &result.Pulled, from: from, into: into,
		counted: map[scrollback.ConversationID]bool{},
		wholes:  shrinking{most: merge.ManyConversations, least: 1},
		asks:    shrinking{most: askRecords, least: 1},
		batches: shrinking{most: batchBytes, least: leastBytes},
		stones:  map[scrollback.ConversationID]merge.Stone{},
		waiting: map[scrollback.ConversationID]bool{},
		lost:    map[scrollback.MessageID]bool{},
		behind:  map[scrollback.ConversationID]bool{},
		stuck:   map[record]bool{},
		named:   map[Uncarried]bool{},
		sent:    map[scrollback.ArtifactID]bool{}}
}

// run carries all that one side holds and the other lacks.
func (c *carrying) run() error {
	differ, err := merge.Differing(c.ctx, c.into, c.from)
	if err != nil {
		return err
	}
	all := differ
	if differ, err = c.choose(differ); err != nil {
		return err
	}
	c.total = len(differ)
	for part := range slices.Chunk(differ, merge.ManyConversations) {
		if err := c.bring(part); err != nil {
			return err
		}
	}
	if err := c.bringWaiting(all); err != nil {
		return err
	}
	maps.Copy(c.waiting, c.behind)
	c.out.Waiting = sortedKeys(c.waiting)
	if err := c.putStones(); err != nil {
		return err
	}
	if c.from.head.Rest == c.into.head.Rest {
		return nil
	}
	return c.bringProjects()
}

// choose leaves out conversations by their projects.
func (c *carrying) choose(differ []merge.Difference) ([]merge.Difference, error) {
	if c.o.Projects == nil && len(c.may.Projects) == 0 {
		return differ, nil
	}
	if err := c.readTraits(differ); err != nil {
		return nil, err
	}
	chosen := map[scrollback.ConversationID]bool{}
	for _, d := range differ {
		t := c.traits[d.ID]
		switch {
		case !c.may.Sees(t.project):
			c.out.Denied.Conversations++
		case c.o.Projects == nil || c.o.Projects(t.project):
			for _, id := range c.family(d.ID) {
				chosen[id] = c.may.Sees(c.traits[id].project)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(differ), func(d merge.Difference) bool { return !chosen[d.ID] }), nil
}

// readTraits asks for the traits of conversations that differ.
func (c *carrying) readTraits(differ []merge.Difference) error {
	if c.traits != nil {
		return nil
	}
	c.traits = map[scrollback.ConversationID]traits{}
	for part := range slices.Chunk(differ, merge.ManyConversations) {
		ids := idsOf(part)
		there, err := merge.Inventories(c.ctx, c.from, ids)
		if err != nil {
			return err
		}
		for _, v := range there {
			c.traits[v.ID] = traits{project: v.Project, parent: v.Parent, gone: v.Gone, messages: v.Tally.Count}
		}
		if c.pushing || c.o.Projects == nil {
			continue
		}
		here, err := merge.Inventories(c.ctx, c.into, ids)
		if err != nil {
			return err
		}
		for i, v := range here {
			if t := c.traits[v.ID]; part[i].Here {
				t.project = v.Project
				c.traits[v.ID] = t
			}
		}
	}
	return nil
}

func idsOf(part []merge.Difference) []scrollback.ConversationID {
	ids := make([]scrollback.ConversationID, 0, len(part))
	for _, d := range part {
		ids = append(ids, d.ID)
	}
	return ids
}

// family returns a conversation that differs with those others that it goes on from, which come first. What a purged
// one went on from nobody knows: all that remains of others then counts as such.
func (c *carrying) family(id scrollback.ConversationID) []scrollback.ConversationID {
	out := []scrollback.ConversationID{id}
	remains := false
	for at := c.traits[id]; at.parent != "" && !slices.Contains(out, at.parent); {
		above, differs := c.traits[at.parent]
		if !differs { // it has no message that is missing, but what it went on from may
			remains = true
			break
		}
		out = append(out, at.parent)
		at = above
		remains = remains || at.gone
	}
	if remains {
		for other, t := range c.traits {
			if t.gone && t.messages > 0 && !slices.Contains(out, other) {
				out = append(out, other)
			}
		}
	}
	slices.Reverse(out)
	return out
}

// bring carries what is missing of some conversations. Those that are not there at all need not be compared: all of
// them is asked for, and their digests say whether that has come.
func (c *carrying) bring(part []merge.Difference) error {
	var whole []merge.Difference
	var ids []scrollback.ConversationID
	for _, d := range part {
		if d.Here {
			ids = append(ids, d.ID)
		} else {
			whole = append(whole, d)
		}
	}
	for len(whole) > 0 {
		n := min(len(whole), c.wholes.limit())
		ask := make([]merge.Wanted, 0, n)
		for _, d := range whole[:n] {
			ask = append(ask, merge.Wanted{ID: d.ID, All: true})
		}
		set, err := c.from.Records(c.ctx, ask)
		if err != nil {
			if err := c.judge(c.from, err); err != nil {
				return err
			}
			if c.wholes.fail(n); n == 1 {
				c.wholes.trying = 0
				ids = append(ids, whole[0].ID)
				whole = whole[1:]
			}
			continue
		}
		c.wholes.pass(n)
		came := completed(set, whole[:n])
		some := slices.Contains(came, true)
		var rest []merge.Difference
		for i, d := range whole[:n] {
			switch {
			case came[i]:
			case isIn(set, d.ID) || !some: // more than an answer holds, or less than there was
				ids = append(ids, d.ID)
				if c.o.Terms.Look { // it would be counted twice
					is := func(o merge.Conversation) bool { return o.ID == d.ID }
					set.Conversations = slices.DeleteFunc(set.Conversations, is)
				}
			default:
				rest = append(rest, d)
			}
		}
		if err := c.put(set); err != nil {
			return err
		}
		whole = append(rest, whole[n:]...)
	}
	if len(ids) > 0 {
		if err := c.bringMissing(ids); err != nil {
			return err
		}
	}
	c.done += len(part)
	c.report()
	return nil
}

// completed reports which conversations came whole.
func completed(set merge.Set, of []merge.Difference) []bool {
	stones := map[scrollback.ConversationID]*merge.Stone{}
	for i := range set.Stones {
		stones[set.Stones[i].ID] = &set.Stones[i]
	}
	digests := map[scrollback.ConversationID]merge.Hash{}
	for i := range set.Conversations {
		one := &set.Conversations[i]
		digests[one.ID] = digestOf(one, stones[one.ID])
		delete(stones, one.ID)
	}
	for id, s := range stones {
		digests[id] = digestOf(&merge.Conversation{ID: id}, s)
	}
	out := make([]bool, len(of))
	for i, d := range of {
		out[i] = digests[d.ID] == d.Digest
	}
	return out
}

// digestOf returns what the records of a conversation come to.
func digestOf(c *merge.Conversation, stone *merge.Stone) merge.Hash {
	var t merge.Tally
	for _, m := range c.Messages {
		t.Messages = t.Messages.Add(m.Element())
		t.Count++
	}
	if stone != nil {
		h := stone.Element()
		return t.Replace(nil, &h).Digest(c.ID)
	}
	seen := map[merge.Hash]bool{} // another id of a message is also in the message
	c.RestElements(sameID, func(h merge.Hash, _ func(*merge.Conversation)) {
		if !seen[h] {
			seen[h] = true
			t = t.Replace(nil, &h)
		}
	})
	return t.Digest(c.ID)
}

// sameID is the [merge.Keys] of records that travel: they name messages by their keys.
func sameID(id scrollback.MessageID) scrollback.MessageID { return id }

func isIn(set merge.Set, id scrollback.ConversationID) bool {
	return slices.ContainsFunc(set.Conversations, func(c merge.Conversation) bool { return c.ID == id }) ||
		slices.ContainsFunc(set.Stones, func(s merge.Stone) bool { return s.ID == id })
}

// bringMissing carries what is missing of some conversations, record by record.
func (c *carrying) bringMissing(ids []scrollback.ConversationID) error {
	wanted, err := merge.MissingOf(c.ctx, c.into, c.from, ids)
	if err != nil {
		return err
	}
	return c.fetch(wanted, c.put)
}

// fetch asks for records until all have come that are there, and hands them on.
func (c *carrying) fetch(wanted []merge.Wanted, put func(merge.Set) error) error {
	wanted = leaveOut(wanted, c.lost, c.stuck)
	for len(wanted) > 0 {
		ask, rest := firstOf(wanted, c.asks.limit())
		n := countWanted(ask)
		set, err := c.from.Records(c.ctx, ask)
		if err != nil {
			if err := c.judge(c.from, err); err != nil {
				return err
			}
			if c.asks.fail(n); n == 1 {
				c.asks.trying = 0
				c.nameWanted(ask[0], err)
				wanted = leaveOut(rest, c.lost, c.stuck)
			}
			continue
		}
		c.asks.pass(n)
		left := leftOf(ask, set)
		if countWanted(left) == n {
			left = nil // it was there when they were compared
		}
		if err := put(set); err != nil {
			return err
		}
		wanted = leaveOut(slices.Concat(left, rest), c.lost, c.stuck)
	}
	return nil
}

// nameWanted names a record that did not come by itself either.
func (c *carrying) nameWanted(w merge.Wanted, err error) {
	if len(w.Messages) > 0 {
		c.lost[w.Messages[0]] = true
		c.name(w.ID, "message "+string(w.Messages[0]), err)
		return
	}
	c.stuck[record{w.ID, w.Rest[0]}] = true
	c.name(w.ID, "record "+w.Rest[0].String(), err)
}

// name notes a record that is not carried, once.
func (c *carrying) name(id scrollback.ConversationID, what string, err error) {
	u := Uncarried{Conversation: id, Record: what, Pushing: c.pushing}
	if c.named[u] {
		return
	}
	c.named[u] = true
	u.Err = err
	c.result.Uncarried = append(c.result.Uncarried, u)
}

// put hands a batch over: first the bytes that it mentions, then its records. Stones are kept for the end: what has
// arrived by then keeps what it needs of what goes.
func (c *carrying) put(set merge.Set) error {
	for _, s := range set.Stones {
		c.stones[s.ID] = s
	}
	set.Stones = nil
	todo := []merge.Set{set}
	for len(todo) > 0 {
		one := c.dropLost(todo[0])
		todo = todo[1:]
		if weigh(one) == 0 {
			continue
		}
		size := 0
		if c.batches.failed > 0 {
			size = sizeOf(one)
			if a, b, ok := split(one); ok && size > c.batches.limit() {
				todo = append([]merge.Set{a, b}, todo...)
				continue
			}
		}
		if err := c.putArtifacts(one); err != nil {
			return err
		}
		got, err := c.into.Put(c.ctx, one, c.o.Terms)
		if err == nil {
			c.batches.pass(size)
			c.take(got)
			continue
		}
		if err := c.judge(c.into, err); err != nil {
			return err
		}
		c.batches.fail(sizeOf(one))
		if a, b, ok := split(one); ok {
			todo = append([]merge.Set{a, b}, todo...)
			continue
		}
		c.batches.trying = 0
		c.nameSet(one, err)
	}
	return nil
}

// take adds what came of a batch.
func (c *carrying) take(got merge.Outcome) {
	for _, id := range got.Waiting {
		c.waiting[id] = true
	}
	c.steps += int64(got.Conversations) + got.Messages
	c.out.Add(got, c.counted)
	c.report()
}

func (c *carrying) report() {
	if c.o.Progress != nil {
		c.o.Progress(Progress{Pushing: c.pushing, Done: c.done, Total: c.total, Outcome: *c.out})
	}
}

// dropLost takes messages out that go on from one that does not arrive: they could not be written.
func (c *carrying) dropLost(set merge.Set) merge.Set {
	if len(c.lost) == 0 {
		return set
	}
	set.Conversations = slices.Clone(set.Conversations)
	for i := range set.Conversations {
		one := &set.Conversations[i]
		kept := make([]merge.Message, 0, len(one.Messages))
		for _, m := range one.Messages {
			if c.lost[m.Key()] || m.Prev != "" && c.lost[m.Prev] {
				c.lost[m.ID] = true
				c.lost[m.Key()] = true
				c.behind[one.ID] = true
				continue
			}
			kept = append(kept, m)
		}
		one.Messages = kept
	}
	return set
}

// nameSet names the only record of a batch.
func (c *carrying) nameSet(set merge.Set, err error) {
	switch {
	case len(set.Conversations) > 0:
		one := &set.Conversations[0]
		if len(one.Messages) > 0 {
			m := one.Messages[0]
			c.lost[m.ID] = true
			c.lost[m.Key()] = true
		}
		one.RestElements(sameID, func(h merge.Hash, _ func(*merge.Conversation)) { c.stuck[record{one.ID, h}] = true })
		c.name(one.ID, nameOf(one), err)
	case len(set.Projects) > 0:
		c.name("", "project "+set.Projects[0].Name, err)
	default:
		c.name("", "record", err)
	}
}

// putArtifacts carries the bytes that a batch mentions.
func (c *carrying) putArtifacts(set merge.Set) error {
	if c.o.Terms.Look {
		return nil
	}
	owner := map[scrollback.ArtifactID]scrollback.ConversationID{}
	var ids []scrollback.ArtifactID
	add := func(of scrollback.ConversationID, id scrollback.ArtifactID) {
		if _, known := owner[id]; !known && !c.sent[id] {
			owner[id] = of
			ids = append(ids, id)
		}
	}
	for _, one := range set.Conversations {
		for _, m := range one.Messages {
			for _, id := range m.Artifacts {
				add(one.ID, id)
			}
		}
		for _, m := range one.Mentions {
			add(one.ID, m.Artifact)
		}
	}
	for part := range slices.Chunk(ids, askRecords) {
		lacks, err := c.into.LacksArtifacts(c.ctx, part)
		if err != nil {
			return err
		}
		for _, id := range part {
			c.sent[id] = true
		}
		for _, id := range lacks {
			if err := c.putArtifact(owner[id], id); err != nil {
				return err
			}
		}
	}
	return nil
}

// putArtifact carries the bytes of an artifact. They may be gone, or not get through: it is named then.
func (c *carrying) putArtifact(of scrollback.ConversationID, id scrollback.ArtifactID) error {
	const tries = 2
	for try := 1; ; try++ {
		err := c.copyArtifact(id)
		if err == nil {
			return nil
		}
		if scrollback.CodeOf(err) != scrollback.NotFound {
			if err := cmp.Or(c.judge(c.from, err), c.judge(c.into, err)); err != nil {
				return err
			}
			if try < tries && !errors.Is(err, scrollback.ErrTooLarge) {
				continue
			}
		}
		c.name(of, "artifact "+string(id), err)
		return nil
	}
}

func (c *carrying) copyArtifact(id scrollback.ArtifactID) error {
	r, size, err := c.from.OpenArtifact(c.ctx, id)
	if err != nil {
		return err
	}
	err = c.into.PutArtifact(c.ctx, id, r, size)
	return cmp.Or(err, r.Close())
}

// bringWaiting carries again what waited for something else, in one batch with that: what remains of a purged
// conversation is only taken with the fork that needs it.
func (c *carrying) bringWaiting(differ []merge.Difference) error {
	for range mostPasses {
		if len(c.waiting) == 0 || c.o.Terms.Look {
			return nil
		}
		if err := c.readTraits(differ); err != nil {
			return err
		}
		ids := sortedKeys(c.waiting)
		clear(c.waiting)
		before := c.steps
		for _, id := range ids {
			if err := c.bringFamily(id); err != nil {
				return err
			}
		}
		if c.steps == before {
			return nil
		}
	}
	return nil
}

func (c *carrying) bringFamily(id scrollback.ConversationID) error {
	var all merge.Set
	size := 0
	for part := range slices.Chunk(c.family(id), merge.ManyConversations) {
		wanted, err := merge.MissingOf(c.ctx, c.into, c.from, part)
		if err != nil {
			return err
		}
		err = c.fetch(wanted, func(set merge.Set) error {
			size += sizeOf(set)
			all.Conversations = append(all.Conversations, set.Conversations...)
			all.Stones = append(all.Stones, set.Stones...)
			if size < familyBytes {
				return nil
			}
			err := c.put(all)
			all = merge.Set{}
			size = 0
			return err
		})
		if err != nil {
			return err
		}
	}
	return c.put(joined(all))
}

// putStones hands over what was purged. All of it goes at once, so that the other side sees how much it is; where that
// is too much for one batch, it is looked at first.
func (c *carrying) putStones() error {
	if len(c.stones) == 0 {
		return nil
	}
	if c.may.NoPurges {
		c.out.Denied.Purges += len(c.stones)
		return nil
	}
	var all []merge.Stone
	for _, id := range sortedKeys(c.stones) {
		all = append(all, c.stones[id])
	}
	got, err := c.into.Put(c.ctx, merge.Set{Stones: all}, c.o.Terms)
	if err == nil {
		c.take(got)
		return nil
	}
	if err := c.judge(c.into, err); err != nil {
		return err
	}
	parts, err := c.lookAtStones(all)
	if err != nil {
		return err
	}
	purges := 0
	for _, p := range parts {
		purges += p.purges
	}
	for _, p := range parts {
		if purges > merge.MostPurges && p.purges > 0 && !c.o.Terms.Purges {
			for _, s := range p.stones {
				c.out.Held = append(c.out.Held, s.ID)
			}
			continue
		}
		got, err := c.into.Put(c.ctx, merge.Set{Stones: p.stones}, c.o.Terms)
		if err != nil {
			return err
		}
		c.take(got)
	}
	return nil
}

// stonePart is stones that go at once, and how many conversations they would purge.
type stonePart struct {
	stones []merge.Stone
	purges int
}

// lookAtStones divides stones until they get through.
func (c *carrying) lookAtStones(all []merge.Stone) ([]stonePart, error) {
	on := c.o.Terms
	on.Look = true
	got, err := c.into.Put(c.ctx, merge.Set{Stones: all}, on)
	if err == nil {
		return []stonePart{{all, got.Purged + len(got.Held)}}, nil
	}
	if err := c.judge(c.into, err); err != nil {
		return nil, err
	}
	if len(all) == 1 {
		c.name(all[0].ID, "stone", err)
		return nil, nil
	}
	a, err := c.lookAtStones(all[:len(all)/2])
	if err != nil {
		return nil, err
	}
	b, err := c.lookAtStones(all[len(all)/2:])
	return append(a, b...), err
}

// bringProjects carries what is stored of projects, and what is of a newer version.
func (c *carrying) bringProjects() error {
	set, err := c.from.Projects(c.ctx)
	if err != nil {
		return err
	}
	if c.o.Projects != nil {
		isOther := func(p merge.Project) bool { return !c.o.Projects(p.Name) }
		set.Projects = slices.DeleteFunc(slices.Clone(set.Projects), isOther)
	}
	if c.may.NoPurges {
		c.out.Denied.Projects += len(set.Projects)
		set.Projects = nil
	}
	return c.put(set)
}

// judge returns an error that ends a meeting, or nothing where less may get through: the other side, if it is
// elsewhere, is still there.
func (c *carrying) judge(p begun, err error) error {
	if c.ctx.Err() != nil || !canShrink(err) {
		return err
	}
	if far, ok := p.Peer.(interface{ Ping(context.Context) error }); ok && !errors.Is(err, scrollback.ErrTooLarge) {
		return far.Ping(c.ctx)
	}
	return nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
