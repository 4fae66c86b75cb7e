package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Peer is a side as another store that meets it asks it. It answers one question at a time.
type Peer struct {
	Side
	may  merge.Access
	tree *merge.Tree
	last *heldConversation                      // that was asked about last
	put  *heldConversation                      // that was written to last
	gone map[scrollback.ConversationID]*arrival // see taking.spare
	told map[scrollback.ArtifactID]bool         // that what was handed over mentions
	came map[scrollback.ArtifactID]bool         // whose bytes it brought
}

// Peer makes a side ready for a meeting.
func (s Side) Peer(may merge.Access) *Peer {
	return &Peer{Side: s, may: may, told: map[scrollback.ArtifactID]bool{},
		came: map[scrollback.ArtifactID]bool{}}
}

var _ merge.Side = (*Peer)(nil)

// errContent is that of a message that says something else than its record.
var errContent = errors.New("exchange: a message that says something else than its record")

// Head implements [merge.Side]. With it a meeting begins: what was found out before is forgotten.
func (p *Peer) Head(ctx context.Context) (merge.Head, error) {
	p.last = nil
	p.put = nil
	p.gone = nil
	d, err := p.Digest(ctx)
	if err != nil {
		return merge.Head{}, err
	}
	all := make([]merge.Summary, 0, len(d.Conversations))
	for _, c := range d.Conversations {
		all = append(all, merge.Summary(c))
	}
	if len(p.may.Projects) > 0 {
		if all, err = p.keepSeen(ctx, all); err != nil {
			return merge.Head{}, err
		}
	}
	p.tree = merge.NewTree(all)
	h := p.tree.Head()
	projects, err := p.projects(ctx)
	for i := range projects {
		for _, e := range projects[i].Elements() {
			h.Rest = h.Rest.Add(e)
		}
	}
	return h, err
}

// keepSeen leaves out what the other may not know of.
func (p *Peer) keepSeen(ctx context.Context, all []merge.Summary) ([]merge.Summary, error) {
	visible := map[scrollback.ConversationID]bool{}
	list, err := p.Store.Move.ListAll(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if p.may.Sees(c.Project) {
			visible[c.ID] = true
		}
	}
	stones, err := p.Store.Move.ListStones(ctx)
	for _, s := range stones {
		if p.may.Sees(s.Project) {
			visible[s.ID] = true
		}
	}
	return slices.DeleteFunc(all, func(s merge.Summary) bool { return !visible[s.ID] }), err
}

// isSeen reports whether one that may so much may know of a conversation; of one that is not here it may.
func (s Side) isSeen(ctx context.Context, may merge.Access, id scrollback.ConversationID) (bool, error) {
	if len(may.Projects) == 0 {
		return true, nil
	}
	h, err := s.Store.ReadHead(ctx, id)
	if err == nil && h.ID == id {
		return may.Sees(h.Project), nil
	}
	if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
		return false, err
	}
	stone, err := s.Store.ReadStone(ctx, id)
	if err == nil {
		return may.Sees(stone.Project), nil
	}
	if scrollback.CodeOf(err) != scrollback.NotFound {
		return false, err
	}
	left, err := s.Store.Move.ListBranches(ctx, id) // of one that was purged before purges left stones
	return len(left) == 0, err
}

// Level implements [merge.Side].
func (p *Peer) Level(ctx context.Context, below merge.Prefix) (merge.Level, error) {
	if p.tree == nil {
		if _, err := p.Head(ctx); err != nil {
			return merge.Level{}, err
		}
	}
	return p.tree.Level(below), nil
}

// find reads a conversation as the other may know it; nil if it is not there.
func (p *Peer) find(ctx context.Context, id scrollback.ConversationID) (*heldConversation, error) {
	if p.last != nil && p.last.head.ID == id {
		return p.last, nil
	}
	seen, err := p.isSeen(ctx, p.may, id)
	if err != nil || !seen {
		return nil, err
	}
	p.last, err = p.readConversation(ctx, id)
	return p.last, err
}

// Inventory implements [merge.Side].
func (p *Peer) Inventory(ctx context.Context, id scrollback.ConversationID) (merge.Inventory, error) {
	out := merge.Inventory{ID: id, Rest: map[uint8]merge.Sum{}}
	c, err := p.find(ctx, id)
	if err != nil {
		return out, err
	}
	if c != nil {
		out.Project = ProjectOf(&c.record)
		if c.record.Parent != nil {
			out.Parent = c.record.Parent.Conversation
		}
		out.Tally = c.tally()
		sums := map[scrollback.BranchID]*merge.Range{}
		for _, m := range c.record.Messages {
			r := sums[m.Born]
			if r == nil {
				r = &merge.Range{Branch: m.Born, From: 1, To: merge.MaxSeq}
				sums[m.Born] = r
			}
			r.Count++
			r.Sum = r.Sum.Add(m.Element())
		}
		for _, r := range sums {
			out.Ranges = append(out.Ranges, *r)
		}
	}
	elements, err := p.elements(ctx, id, c)
	for _, e := range elements {
		out.Rest[e.hash[0]] = out.Rest[e.hash[0]].Add(e.hash)
		if e.stone != nil {
			out.Tally = out.Tally.Replace(nil, &e.hash)
			out.Gone = true
			out.Project = e.stone.Project
		}
	}
	return out, err
}

// element is a record other than a message.
type element struct {
	hash  merge.Hash
	pick  func(into *merge.Conversation)
	stone *merge.Stone
}

// elements lists the elements of everything in a conversation but its messages.
func (p *Peer) elements(ctx context.Context, id scrollback.ConversationID, c *heldConversation) ([]element, error) {
	var out []element
	if c != nil {
		rest := c.record
		rest.Messages = nil
		rest.RestElements(sameID, func(h merge.Hash, pick func(*merge.Conversation)) {
			out = append(out, element{hash: h, pick: pick})
		})
	}
	s, err := p.Store.ReadStone(ctx, id)
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		return out, nil
	case err != nil:
		return nil, err
	case s.ID == id && p.may.Sees(s.Project):
		stone := newStone(s)
		out = append(out, element{hash: stone.Element(), stone: &stone})
	}
	return out, nil
}

// Ranges implements [merge.Side].
func (p *Peer) Ranges(ctx context.Context, id scrollback.ConversationID, of []merge.Range) ([]merge.Range, error) {
	c, err := p.find(ctx, id)
	if err != nil || c == nil {
		return nil, err
	}
	out := make([]merge.Range, 0, len(of))
	for _, r := range of {
		r.Count = 0
		r.Sum = merge.Sum{}
		for _, m := range c.record.Messages {
			if m.Born == r.Branch && m.Seq >= r.From && m.Seq <= r.To {
				r.Count++
				r.Sum = r.Sum.Add(m.Element())
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// Messages implements [merge.Side].
func (p *Peer) Messages(ctx context.Context, id scrollback.ConversationID, of []merge.Range) ([]scrollback.MessageID,
	error) {
	c, err := p.find(ctx, id)
	if err != nil || c == nil {
		return nil, err
	}
	var out []scrollback.MessageID
	for _, m := range c.inOrder() {
		within := func(r merge.Range) bool { return m.Born == r.Branch && m.Seq >= r.From && m.Seq <= r.To }
		if slices.ContainsFunc(of, within) {
			out = append(out, m.Key())
		}
	}
	return out, nil
}

// inOrder lists the messages: each behind the one before it, and those on the path of the newest one first, so that a
// store which gets them in parts stands at that.
func (c *heldConversation) inOrder() []merge.Message {
	var newest merge.Message
	for _, m := range c.record.Messages {
		if m.CreatedAt > newest.CreatedAt || m.CreatedAt == newest.CreatedAt && m.Seq > newest.Seq {
			newest = m
		}
	}
	path := map[scrollback.MessageID]bool{}
	for id := newest.ID; id != ""; id = c.messages[id].Prev {
		path[id] = true
	}
	out := make([]merge.Message, 0, len(c.record.Messages))
	for _, onPath := range []bool{true, false} {
		for _, m := range c.record.Messages {
			if path[m.ID] == onPath {
				out = append(out, m)
			}
		}
	}
	return out
}

// Lacks implements [merge.Side].
func (p *Peer) Lacks(ctx context.Context, id scrollback.ConversationID, keys []scrollback.MessageID) (
	[]scrollback.MessageID, error) {
	c, err := p.find(ctx, id)
	if err != nil || c == nil {
		return keys, err
	}
	return slices.DeleteFunc(slices.Clone(keys), func(id scrollback.MessageID) bool {
		_, here := c.messages[id]
		return here
	}), nil
}

// Rest implements [merge.Side].
func (p *Peer) Rest(ctx context.Context, id scrollback.ConversationID, buckets []uint8) ([]merge.Hash, error) {
	c, err := p.find(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := p.elements(ctx, id, c)
	var out []merge.Hash
	for _, e := range all {
		if slices.Contains(buckets, e.hash[0]) {
			out = append(out, e.hash)
		}
	}
	return out, err
}

// answerBytes is how much one answer holds at most, in bytes of messages and of other records, unless a single one has
// more.
const answerBytes = 768 << 10

// Records implements [merge.Side]: at least one record, and as many as an answer holds; what is left is asked for
// again. What a conversation is (its time, project, parent and first branch) comes with each part of it.
func (p *Peer) Records(ctx context.Context, wanted []merge.Wanted) (merge.Set, error) {
	var out merge.Set
	left := answerBytes
	for _, w := range wanted {
		if left <= 0 {
			break
		}
		c, err := p.find(ctx, w.ID)
		if err != nil {
			return out, err
		}
		elements, err := p.elements(ctx, w.ID, c)
		if err != nil {
			return out, err
		}
		if w.All {
			w.Messages = nil
			w.Rest = nil
			if c != nil {
				for _, m := range c.inOrder() {
					w.Messages = append(w.Messages, m.Key())
				}
			}
			for _, e := range elements {
				w.Rest = append(w.Rest, e.hash)
			}
		}
		for _, e := range elements {
			if e.stone != nil && slices.Contains(w.Rest, e.hash) {
				out.Stones = append(out.Stones, *e.stone)
				left -= stoneBytes
			}
		}
		if c == nil {
			continue
		}
		part, size, err := p.pack(ctx, c, w, elements, left)
		if err != nil {
			return out, err
		}
		left -= size
		out.Conversations = append(out.Conversations, part)
	}
	return out, nil
}

// Sizes of records that have no text to speak of, in bytes.
const (
	stoneBytes   = 256
	recordBytes  = 256
	messageBytes = 512 // of a message, beside its content
)

// pack makes a part of a conversation of what is wanted of it, up to a size; at least one record.
func (p *Peer) pack(ctx context.Context, c *heldConversation, w merge.Wanted, elements []element, most int) (
	merge.Conversation, int, error) {
	out := merge.Conversation{ID: c.head.ID, CreatedAt: c.record.CreatedAt, Parent: c.record.Parent,
		Branches: c.record.Branches, Origins: c.record.Origins, Fields: map[string]merge.Field{}}
	if c.seen {
		if f, ok := c.record.Fields[stamp.FieldProject]; ok {
			out.Fields[stamp.FieldProject] = f
		}
	}
	size := recordBytes
	for _, id := range w.Messages {
		m, here := c.messages[id]
		if !here {
			continue
		}
		if size >= most {
			return out, size, nil
		}
		at := c.places[m.ID]
		full, err := p.Store.ReadMessages(ctx, at.branch, at.seq, at.seq)
		if err != nil {
			return out, size, err
		}
		if err := packContent(&m, full[0]); err != nil {
			return out, size, err
		}
		size += len(m.Content) + messageBytes
		out.Messages = append(out.Messages, m)
		for _, id := range m.Artifacts {
			p.told[id] = true
			is := func(m merge.Mention) bool { return m.Artifact == id }
			if i := slices.IndexFunc(c.record.Mentions, is); i >= 0 && !slices.ContainsFunc(out.Mentions, is) {
				out.Mentions = append(out.Mentions, c.record.Mentions[i])
			}
		}
	}
	rest := make(map[merge.Hash]bool, len(w.Rest))
	for _, h := range w.Rest {
		rest[h] = true
	}
	for _, e := range elements {
		if !rest[e.hash] || e.stone != nil {
			continue
		}
		if size >= most {
			return out, size, nil
		}
		var one merge.Conversation
		e.pick(&one)
		n, err := sizeOf(one)
		if err != nil {
			return out, size, err
		}
		size += n
		e.pick(&out)
		for _, m := range one.Mentions {
			p.told[m.Artifact] = true
		}
	}
	out.Views = c.record.Views
	out.Branches = c.record.Branches // which is there once, wanted or not
	return out, size, nil
}

// sizeOf returns how long a record is, in bytes of JSON.
func sizeOf(c merge.Conversation) (int, error) {
	text, err := json.Marshal(c)
	return len(text), err
}

// Projects implements [merge.Side].
func (p *Peer) Projects(ctx context.Context) (merge.Set, error) {
	all, err := p.projects(ctx)
	return merge.Set{Projects: all}, err
}

// projects reads what is stored of the projects that the other may know of.
func (p *Peer) projects(ctx context.Context) ([]merge.Project, error) {
	if p.may.NoPurges {
		return nil, nil
	}
	all, err := p.readProjects(ctx)
	return slices.DeleteFunc(all, func(one merge.Project) bool { return !p.may.Sees(one.Name) }), err
}

// Put takes records that arrived. What the other may not is counted, and the rest goes on.
func (p *Peer) Put(ctx context.Context, set merge.Set, on merge.Terms) (merge.Outcome, error) {
	if p.may.ReadOnly {
		return merge.Outcome{}, scrollback.Errorf(scrollback.Refused, "exchange.Put", i18n.SyncOnlyReads)
	}
	t := p.newTaking(Request{Terms: on}, p.may)
	t.last = p.put
	if p.gone != nil {
		t.spare = p.gone
	}
	p.gone = t.spare
	p.last = nil
	for _, c := range set.Conversations {
		seen, err := p.isSeen(ctx, p.may, c.ID)
		if err != nil {
			return t.out, err
		}
		if !seen || c.CreatedAt != 0 && !p.may.Sees(ProjectOf(&c)) {
			t.out.Denied.Conversations++
			continue
		}
		a, refused := openArrival(c)
		t.out.Refused = append(t.out.Refused, refused...)
		here, err := p.hasBytes(ctx, &a.record)
		if err != nil {
			return t.out, err
		}
		if !here {
			t.out.Waiting = append(t.out.Waiting, c.ID)
			continue
		}
		if err := t.takeArrival(ctx, a); err != nil {
			return t.out, err
		}
	}
	p.put = t.last
	stones, err := p.allowStones(ctx, t, set.Stones)
	if err != nil {
		return t.out, err
	}
	if len(stones) > 0 { // after everything else: a fork that has arrived keeps what it needs of what goes
		p.put = nil
		if err := t.takeStones(ctx, merge.Set{Stones: stones}); err != nil {
			return t.out, err
		}
	}
	if p.may.NoPurges {
		t.out.Denied.Projects += len(set.Projects)
		return t.out, nil
	}
	return t.out, t.takeProjects(ctx, set.Projects)
}

// allowStones returns those stones that the other may bring.
func (p *Peer) allowStones(ctx context.Context, t *taking, all []merge.Stone) ([]merge.Stone, error) {
	var out []merge.Stone
	for _, s := range all {
		seen, err := p.isSeen(ctx, p.may, s.ID)
		if err != nil {
			return nil, err
		}
		if p.may.NoPurges || !seen || !p.may.Sees(s.Project) {
			t.out.Denied.Purges++
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// hasBytes reports whether the bytes of all artifacts are here that an arrival mentions. From one that does not see
// everything they have to have come in this meeting, unless its conversation mentions them already: knowing the hash of
// what others have opens nothing.
func (p *Peer) hasBytes(ctx context.Context, c *merge.Conversation) (bool, error) {
	known := map[scrollback.ArtifactID]bool{}
	if len(p.may.Projects) > 0 {
		held, err := p.find(ctx, c.ID)
		if err != nil {
			return false, err
		}
		if held != nil {
			for _, m := range held.record.Mentions {
				known[m.Artifact] = true
			}
		}
	}
	opens := func(id scrollback.ArtifactID) bool { return len(p.may.Projects) == 0 || p.came[id] || known[id] }
	for _, m := range c.Messages {
		for _, id := range m.Artifacts {
			if !opens(id) {
				return false, nil
			}
		}
	}
	for _, m := range c.Mentions {
		if !opens(m.Artifact) {
			return false, nil
		}
		if has, err := p.Archive.HasArtifact(ctx, m.Artifact); err != nil || !has {
			return false, err
		}
	}
	return true, nil
}

// LacksArtifacts returns those of some artifacts whose bytes are not here. One who does not see everything learns
// nothing by it.
func (p *Peer) LacksArtifacts(ctx context.Context, ids []scrollback.ArtifactID) ([]scrollback.ArtifactID, error) {
	if len(p.may.Projects) > 0 {
		return ids, nil
	}
	var out []scrollback.ArtifactID
	for _, id := range ids {
		has, err := p.Archive.HasArtifact(ctx, id)
		if err != nil {
			return nil, err
		}
		if !has {
			out = append(out, id)
		}
	}
	return out, nil
}

// OpenArtifact opens the bytes of an artifact that was handed over, and returns how many they are.
func (p *Peer) OpenArtifact(ctx context.Context, id scrollback.ArtifactID) (io.ReadCloser, int64, error) {
	if len(p.may.Projects) > 0 && !p.told[id] {
		return nil, 0, scrollback.Errorf(scrollback.NotFound, "exchange.OpenArtifact", i18n.NoSuchArtifact)
	}
	return p.Archive.OpenArtifact(ctx, id)
}

// PutArtifact stores the bytes of an artifact, which have to be those of its id.
func (p *Peer) PutArtifact(ctx context.Context, id scrollback.ArtifactID, r io.Reader, size int64) error {
	if p.may.ReadOnly {
		return scrollback.Errorf(scrollback.Refused, "exchange.PutArtifact", i18n.SyncOnlyReads)
	}
	err := p.putArtifact(ctx, id, r, size)
	if err == nil {
		p.came[id] = true
	}
	return err
}

// Access returns what the other store may here.
func (p *Peer) Access(context.Context) (merge.Access, error) { return p.may, nil }
