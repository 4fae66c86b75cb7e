// Package mergetest is a model of stores that meet: several in memory, with virtual time, random changes, partitions
// and accidents; and what must hold of them all the same.
//
// Words it adds: Memory (a store of records in memory), World (the stores of one run, and what is known of what they
// were told), Rules (what is tested; wrong ones show that the model finds them).
//
// It may not know a database: a store behind it is whatever implements [merge.Held] and [merge.Side].
package mergetest

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Memory is a store of records in memory. It implements [merge.Held] and [merge.Side].
type Memory struct {
	conversations map[scrollback.ConversationID]*conversation
	messages      map[scrollback.MessageID]*message // by each of their ids
	sources       map[source]*message
	stones        map[scrollback.ConversationID]merge.Stone
	projects      map[string]*merge.Project
	unknown       map[string]json.RawMessage
	head          merge.Head
	tree          *merge.Tree // of the head that treeOf is; nil: to be made
	treeOf        merge.Head
}

// source is the key of a message in its conversation.
type source struct {
	of  scrollback.ConversationID
	key scrollback.MessageID
}

// message is a message that is held. It never changes, and stores share it.
type message struct {
	merge.Message
	of      scrollback.ConversationID
	element merge.Hash
}

// conversation is what is held of a conversation.
type conversation struct {
	rest     merge.Conversation // without messages and aliases
	messages []*message         // each behind the one before it
	aliases  []merge.Alias
	lines    map[scrollback.BranchID][]*message // by the branch they were written to, by seq
	sums     map[scrollback.BranchID]merge.Sum  // of those
	cached   []restElement                      // of everything but messages; nil: to be made anew
	links    []scrollback.MessageID             // messages of others that its own go on from
	tally    merge.Tally
	counted  merge.Hash // what the head counts of it
}

// restElement is the element of a record that is no message, and what puts that into a conversation.
type restElement struct {
	hash  merge.Hash
	pick  func(into *merge.Conversation)
	stone bool
}

func newConversation(id scrollback.ConversationID) *conversation {
	return &conversation{rest: merge.Conversation{ID: id}, lines: map[scrollback.BranchID][]*message{},
		sums: map[scrollback.BranchID]merge.Sum{}}
}

// NewMemory returns a store that holds nothing.
func NewMemory() *Memory {
	return &Memory{
		conversations: map[scrollback.ConversationID]*conversation{},
		messages:      map[scrollback.MessageID]*message{},
		sources:       map[source]*message{},
		stones:        map[scrollback.ConversationID]merge.Stone{},
		projects:      map[string]*merge.Project{},
	}
}

// Clone returns a copy of a store.
func (s *Memory) Clone() *Memory {
	out := &Memory{
		conversations: make(map[scrollback.ConversationID]*conversation, len(s.conversations)),
		messages:      maps.Clone(s.messages),
		sources:       maps.Clone(s.sources),
		stones:        maps.Clone(s.stones),
		projects:      make(map[string]*merge.Project, len(s.projects)),
		unknown:       maps.Clone(s.unknown),
		head:          s.head,
	}
	for id, c := range s.conversations {
		out.conversations[id] = c.clone()
	}
	for name, p := range s.projects {
		out.projects[name] = &merge.Project{Name: name, Fields: maps.Clone(p.Fields), Unknown: maps.Clone(p.Unknown)}
	}
	return out
}

func (c *conversation) clone() *conversation {
	out := *c
	out.rest.Fields = maps.Clone(c.rest.Fields)
	out.rest.Unknown = maps.Clone(c.rest.Unknown)
	out.rest.Branches = slices.Clone(c.rest.Branches)
	out.rest.Segments = slices.Clip(c.rest.Segments)
	out.rest.Receipts = slices.Clip(c.rest.Receipts)
	out.rest.Kept = slices.Clone(c.rest.Kept)
	out.rest.Mentions = slices.Clip(c.rest.Mentions)
	out.rest.Origins = slices.Clip(c.rest.Origins)
	out.messages = slices.Clip(c.messages)
	out.aliases = slices.Clip(c.aliases)
	out.links = slices.Clip(c.links)
	out.sums = maps.Clone(c.sums)
	out.cached = nil
	out.lines = make(map[scrollback.BranchID][]*message, len(c.lines))
	for id, line := range c.lines {
		out.lines[id] = slices.Clip(line)
	}
	return &out
}

// Conversation implements [merge.Held].
func (s *Memory) Conversation(id scrollback.ConversationID) *merge.Conversation {
	if c := s.conversations[id]; c != nil {
		return &c.rest
	}
	return nil
}

// Message implements [merge.Held].
func (s *Memory) Message(id scrollback.MessageID) (merge.Message, scrollback.ConversationID, bool) {
	if m := s.messages[id]; m != nil {
		return m.Message, m.of, true
	}
	return merge.Message{}, "", false
}

// Source implements [merge.Held].
func (s *Memory) Source(of scrollback.ConversationID, key scrollback.MessageID) (merge.Message, bool) {
	if m := s.sources[source{of, key}]; m != nil {
		return m.Message, true
	}
	return merge.Message{}, false
}

// Stone implements [merge.Held].
func (s *Memory) Stone(id scrollback.ConversationID) (merge.Stone, bool) {
	stone, ok := s.stones[id]
	return stone, ok
}

// Project implements [merge.Held].
func (s *Memory) Project(name string) *merge.Project { return s.projects[name] }

// Unknown implements [merge.Held].
func (s *Memory) Unknown(name string) json.RawMessage { return s.unknown[name] }

// key is the key of a message by any of its ids.
func (s *Memory) key(id scrollback.MessageID) scrollback.MessageID {
	if id == "" {
		return ""
	}
	if m := s.messages[id]; m != nil {
		return m.Key()
	}
	return id
}

// Apply writes what a merge, or somebody here, has changed.
func (s *Memory) Apply(change merge.Set, spared SparedRule) {
	for i := range change.Conversations { // what is said of messages names them by their keys
		s.applyMessages(&change.Conversations[i])
	}
	for i := range change.Conversations {
		s.applyRest(&change.Conversations[i])
	}
	for _, stone := range change.Stones {
		s.applyStone(stone)
	}
	if len(change.Stones) > 0 {
		s.prune(spared)
	}
	for i := range change.Projects {
		s.applyProject(&change.Projects[i])
	}
	for name, value := range change.Unknown {
		if before, ok := s.unknown[name]; ok {
			s.head.Rest = s.head.Rest.Remove(merge.UnknownElement(name, before))
		}
		s.head.Rest = s.head.Rest.Add(merge.UnknownElement(name, value))
		put(&s.unknown, name, value)
	}
}

func put[V any](m *map[string]V, name string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = value
}

// of returns a conversation that is held, or that is from now on.
func (s *Memory) of(id scrollback.ConversationID) *conversation {
	c := s.conversations[id]
	if c == nil {
		c = newConversation(id)
		s.conversations[id] = c
	}
	return c
}

// count brings the head up to date with a conversation that has changed, or is gone.
func (s *Memory) count(id scrollback.ConversationID, c *conversation) {
	if c.counted != (merge.Hash{}) {
		s.head.Conversations = s.head.Conversations.Remove(c.counted)
		s.head.Count--
		c.counted = merge.Hash{}
	}
	if stone, gone := s.stones[id]; gone {
		c.tally.Rest = merge.Sum{}.Add(stone.Element()) // of what remains only messages count
	}
	if !c.tally.IsEmpty() {
		c.counted = merge.Summary{ID: id, Digest: c.tally.Digest(id)}.Element()
		s.head.Conversations = s.head.Conversations.Add(c.counted)
		s.head.Count++
	}
}

// applyMessages writes messages and their other ids.
func (s *Memory) applyMessages(change *merge.Conversation) {
	c := s.of(change.ID)
	for _, m := range change.Messages {
		m.Content = nil
		s.addMessage(c, &message{Message: m, of: change.ID, element: m.Element()})
	}
	for _, a := range change.Aliases {
		if m := s.sources[source{change.ID, a.Of}]; m != nil && s.messages[a.ID] == nil {
			s.messages[a.ID] = m
			c.aliases = append(c.aliases, a)
			c.cached = nil
			c.tally = c.tally.AddAlias(a)
		}
	}
}

// applyRest writes everything else of a conversation, and counts it.
func (s *Memory) applyRest(change *merge.Conversation) {
	c := s.of(change.ID)
	if hasRest(change) {
		c.cached = nil
		s.applyOther(c, change)
	}
	s.count(change.ID, c)
}

// hasRest reports whether a change is of more than messages.
func hasRest(c *merge.Conversation) bool {
	return c.CreatedAt != 0 || len(c.Environment) > 0 || len(c.AgentOf) > 0 || c.Parent != nil || len(c.Fields) > 0 ||
		len(c.Branches) > 0 || len(c.Segments) > 0 || len(c.Receipts) > 0 || len(c.Kept) > 0 || len(c.Mentions) > 0 ||
		len(c.Origins) > 0 || len(c.Unknown) > 0
}

func (s *Memory) applyOther(c *conversation, change *merge.Conversation) {
	s.applyOnce(c, change)
	for name, field := range change.Fields {
		if before, ok := c.rest.Fields[name]; ok {
			c.tally.Rest = c.tally.Rest.Remove(before.Element(name, s.key))
		}
		c.tally.Rest = c.tally.Rest.Add(field.Element(name, s.key))
		put(&c.rest.Fields, name, field)
	}
	for name, value := range change.Unknown {
		if before, ok := c.rest.Unknown[name]; ok {
			c.tally.Rest = c.tally.Rest.Remove(merge.UnknownElement(name, before))
		}
		c.tally.Rest = c.tally.Rest.Add(merge.UnknownElement(name, value))
		put(&c.rest.Unknown, name, value)
	}
	s.applyLists(c, change)
}

// addMessage adds a message to the lists of its conversation.
func (s *Memory) addMessage(c *conversation, m *message) {
	s.messages[m.ID] = m
	s.messages[m.Key()] = m
	s.sources[source{m.of, m.Key()}] = m
	c.messages = append(c.messages, m)
	line := c.lines[m.Born]
	at := len(line)
	for at > 0 && line[at-1].Seq > m.Seq {
		at--
	}
	if at == len(line) {
		c.lines[m.Born] = append(line, m)
	} else {
		c.lines[m.Born] = slices.Insert(slices.Clone(line), at, m) // a copy of the store has the old list
	}
	if m.Prev != "" {
		if prev := s.messages[m.Prev]; prev == nil || prev.of != m.of {
			c.links = append(c.links, m.Prev)
		}
	}
	c.sums[m.Born] = c.sums[m.Born].Add(m.element)
	c.tally.Messages = c.tally.Messages.Add(m.element)
	c.tally.Count++
	if m.Source != "" && m.Source != m.ID {
		c.cached = nil
		c.tally = c.tally.AddAlias(merge.Alias{ID: m.ID, Of: m.Source})
	}
}

// applyOnce writes what a conversation has one of.
func (s *Memory) applyOnce(c *conversation, change *merge.Conversation) {
	before := merge.Conversation{}
	after := merge.Conversation{}
	if change.CreatedAt != 0 {
		before.CreatedAt = c.rest.CreatedAt
		after.CreatedAt = change.CreatedAt
		c.rest.CreatedAt = change.CreatedAt
	}
	if len(change.Environment) > 0 {
		before.Environment = c.rest.Environment
		after.Environment = change.Environment
		c.rest.Environment = change.Environment
	}
	if len(change.AgentOf) > 0 {
		before.AgentOf = c.rest.AgentOf
		after.AgentOf = change.AgentOf
		c.rest.AgentOf = change.AgentOf
	}
	if change.Parent != nil {
		before.Parent = c.rest.Parent
		after.Parent = change.Parent
		c.rest.Parent = change.Parent
	}
	before.RestElements(s.key, func(h merge.Hash, _ func(*merge.Conversation)) { c.tally.Rest = c.tally.Rest.Remove(h) })
	after.RestElements(s.key, func(h merge.Hash, _ func(*merge.Conversation)) { c.tally.Rest = c.tally.Rest.Add(h) })
}

// applyLists writes what a conversation has several of.
func (s *Memory) applyLists(c *conversation, change *merge.Conversation) {
	add := func(h merge.Hash) { c.tally.Rest = c.tally.Rest.Add(h) }
	remove := func(h merge.Hash) { c.tally.Rest = c.tally.Rest.Remove(h) }
	for _, b := range change.Branches {
		i := slices.IndexFunc(c.rest.Branches, func(o merge.Branch) bool { return o.ID == b.ID })
		if i >= 0 {
			remove(c.rest.Branches[i].Element(s.key))
			c.rest.Branches[i] = b
		} else {
			c.rest.Branches = append(c.rest.Branches, b)
		}
		add(b.Element(s.key))
	}
	for _, k := range change.Kept {
		i := slices.IndexFunc(c.rest.Kept, func(o merge.Kept) bool { return o.ID == k.ID })
		if i >= 0 {
			remove(c.rest.Kept[i].Element(s.key))
			c.rest.Kept[i] = k
		} else {
			c.rest.Kept = append(c.rest.Kept, k)
		}
		add(k.Element(s.key))
	}
	for _, segment := range change.Segments {
		c.rest.Segments = append(c.rest.Segments, segment)
		add(segment.Element(s.key))
	}
	for _, r := range change.Receipts {
		c.rest.Receipts = append(c.rest.Receipts, r)
		add(r.Element(s.key))
	}
	for _, m := range change.Mentions {
		c.rest.Mentions = append(c.rest.Mentions, m)
		add(m.Element())
	}
	c.rest.Origins = append(c.rest.Origins, change.Origins...)
}

func (s *Memory) applyStone(stone merge.Stone) {
	c := s.of(stone.ID)
	c.cached = nil
	s.stones[stone.ID] = stone
	s.count(stone.ID, c)
}

func (s *Memory) applyProject(change *merge.Project) {
	p := s.projects[change.Name]
	if p == nil {
		p = &merge.Project{Name: change.Name}
		s.projects[change.Name] = p
	}
	for _, h := range p.Elements() {
		s.head.Rest = s.head.Rest.Remove(h)
	}
	for name, field := range change.Fields {
		put(&p.Fields, name, field)
	}
	for name, value := range change.Unknown {
		put(&p.Unknown, name, value)
	}
	for _, h := range p.Elements() {
		s.head.Rest = s.head.Rest.Add(h)
	}
}

// prune leaves of purged conversations what the paths of living forks use.
func (s *Memory) prune(rule SparedRule) {
	spared := rule(s.links, s.isGone, s.Message)
	for id := range s.stones {
		if c := s.conversations[id]; c != nil {
			s.trim(id, c, spared)
		}
	}
}

// isGone reports whether a conversation was purged.
func (s *Memory) isGone(id scrollback.ConversationID) bool {
	_, gone := s.stones[id]
	return gone
}

// links lists the messages that living conversations go on from.
func (s *Memory) links(yield func(scrollback.MessageID) bool) {
	for id, c := range s.conversations {
		if s.isGone(id) {
			continue
		}
		if c.rest.Parent != nil && !yield(c.rest.Parent.Message) {
			return
		}
		for _, link := range c.links {
			if !yield(link) {
				return
			}
		}
	}
}

// trim makes what remains of a purged conversation.
func (s *Memory) trim(id scrollback.ConversationID, old *conversation, spared map[scrollback.MessageID]bool) {
	if len(old.messages) == 0 && old.rest.CreatedAt == 0 && len(old.rest.Fields) == 0 {
		return
	}
	c := newConversation(id)
	c.counted = old.counted
	s.conversations[id] = c
	for _, m := range old.messages {
		delete(s.messages, m.ID)
		delete(s.messages, m.Key())
		delete(s.sources, source{id, m.Key()})
	}
	for _, a := range old.aliases {
		delete(s.messages, a.ID)
	}
	artifacts := map[scrollback.ArtifactID]bool{}
	for _, m := range old.messages {
		if spared[m.ID] {
			s.addMessage(c, m)
			for _, id := range m.Artifacts {
				artifacts[id] = true
			}
		}
	}
	left := merge.Conversation{ID: id, Aliases: old.aliases}
	for _, segment := range old.rest.Segments {
		if m := s.messages[segment.Last]; m != nil && m.of == id || s.namesAlias(old.aliases, segment.Last, id) {
			left.Segments = append(left.Segments, segment)
		}
	}
	for _, k := range old.rest.Kept {
		if m := s.messages[k.Message]; m != nil && m.of == id || s.namesAlias(old.aliases, k.Message, id) {
			left.Kept = append(left.Kept, k)
		}
	}
	for _, mention := range old.rest.Mentions {
		if artifacts[mention.Artifact] {
			left.Mentions = append(left.Mentions, mention)
		}
	}
	s.applyMessages(&left)
	s.applyRest(&left)
}

// namesAlias reports whether an id is another one of a message that remains.
func (s *Memory) namesAlias(aliases []merge.Alias, id scrollback.MessageID, of scrollback.ConversationID) bool {
	return slices.ContainsFunc(aliases, func(a merge.Alias) bool {
		return a.ID == id && s.sources[source{of, a.Of}] != nil
	})
}

// Head implements [merge.Side].
func (s *Memory) Head(context.Context) (merge.Head, error) { return s.head, nil }

// Summaries lists the digests of all conversations and stones, by id.
func (s *Memory) Summaries() []merge.Summary {
	out := make([]merge.Summary, 0, len(s.conversations))
	for id, c := range s.conversations {
		if !c.tally.IsEmpty() {
			out = append(out, merge.Summary{ID: id, Digest: c.tally.Digest(id)})
		}
	}
	slices.SortFunc(out, func(a, b merge.Summary) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Level implements [merge.Side].
func (s *Memory) Level(_ context.Context, below merge.Prefix) (merge.Level, error) {
	if below == "" && s.head.Count <= merge.LeafSize {
		return merge.Level{Conversations: s.Summaries()}, nil
	}
	if s.tree == nil || s.treeOf != s.head {
		s.tree = merge.NewTree(s.Summaries())
		s.treeOf = s.head
	}
	return s.tree.Level(below), nil
}

// Inventory implements [merge.Side].
func (s *Memory) Inventory(_ context.Context, id scrollback.ConversationID) (merge.Inventory, error) {
	out := merge.Inventory{ID: id}
	c := s.conversations[id]
	if c == nil {
		return out, nil
	}
	out.Tally = c.tally
	if stone, gone := s.stones[id]; gone {
		out.Project = stone.Project
		out.Gone = true
	} else if f, ok := c.rest.Fields[stamp.FieldProject]; ok {
		_ = json.Unmarshal(f.Value, &out.Project)
	}
	if c.rest.Parent != nil {
		out.Parent = c.rest.Parent.Conversation
	}
	for branch, line := range c.lines {
		out.Ranges = append(out.Ranges,
			merge.Range{Branch: branch, From: 1, To: merge.MaxSeq, Count: int64(len(line)), Sum: c.sums[branch]})
	}
	out.Rest = map[uint8]merge.Sum{}
	for _, e := range s.elements(c) {
		out.Rest[e.hash[0]] = out.Rest[e.hash[0]].Add(e.hash)
	}
	return out, nil
}

// elements lists the elements of everything but messages.
func (s *Memory) elements(c *conversation) []restElement {
	if c.cached != nil {
		return c.cached
	}
	add := func(h merge.Hash, pick func(*merge.Conversation)) {
		c.cached = append(c.cached, restElement{hash: h, pick: pick})
	}
	c.rest.RestElements(s.key, add)
	var ids merge.Conversation
	for _, m := range c.messages {
		if m.Source != "" && m.Source != m.ID {
			ids.Messages = append(ids.Messages, m.Message)
		}
	}
	ids.Aliases = c.aliases
	ids.RestElements(s.key, add)
	if stone, ok := s.stones[c.rest.ID]; ok {
		c.cached = append(c.cached, restElement{hash: stone.Element(), stone: true})
	}
	return c.cached
}

// Ranges implements [merge.Side].
func (s *Memory) Ranges(_ context.Context, id scrollback.ConversationID, of []merge.Range) ([]merge.Range, error) {
	c := s.conversations[id]
	var out []merge.Range
	for _, r := range of {
		if c == nil {
			break
		}
		for _, m := range c.lines[r.Branch] {
			if m.Seq >= r.From && m.Seq <= r.To {
				r.Sum = r.Sum.Add(m.element)
				r.Count++
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// Messages implements [merge.Side].
func (s *Memory) Messages(_ context.Context, id scrollback.ConversationID,
	of []merge.Range) (out []scrollback.MessageID, err error) {
	c := s.conversations[id]
	if c == nil {
		return nil, nil
	}
	var found []*message
	for _, r := range of {
		for _, m := range c.lines[r.Branch] {
			if m.Seq >= r.From && m.Seq <= r.To {
				found = append(found, m)
			}
		}
	}
	for _, m := range s.inOrder(c, found) {
		out = append(out, m.Key())
	}
	return out, nil
}

// inOrder sorts messages of a conversation: those on the path of its newest one come first, and each comes behind the
// one before it.
func (s *Memory) inOrder(c *conversation, list []*message) []*message {
	var newest *message
	for _, m := range c.messages {
		if newest == nil || m.CreatedAt > newest.CreatedAt || m.CreatedAt == newest.CreatedAt && m.Seq > newest.Seq {
			newest = m
		}
	}
	path := map[*message]bool{}
	for m := newest; m != nil && m.of == newest.of; m = s.messages[m.Prev] {
		path[m] = true
	}
	slices.SortStableFunc(list, func(a, b *message) int {
		if path[a] != path[b] {
			if path[a] {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Seq, b.Seq)
	})
	return list
}

// Lacks implements [merge.Side].
func (s *Memory) Lacks(_ context.Context, id scrollback.ConversationID,
	keys []scrollback.MessageID) (out []scrollback.MessageID, err error) {
	for _, key := range keys {
		if s.sources[source{id, key}] == nil {
			out = append(out, key)
		}
	}
	return out, nil
}

// Rest implements [merge.Side].
func (s *Memory) Rest(_ context.Context, id scrollback.ConversationID, buckets []uint8) (out []merge.Hash, err error) {
	if c := s.conversations[id]; c != nil {
		for _, e := range s.elements(c) {
			if slices.Contains(buckets, e.hash[0]) {
				out = append(out, e.hash)
			}
		}
	}
	return out, nil
}

// Records implements [merge.Side].
func (s *Memory) Records(_ context.Context, wanted []merge.Wanted) (out merge.Set, err error) {
	for _, w := range wanted {
		c := s.conversations[w.ID]
		if c == nil {
			continue
		}
		into := merge.Conversation{ID: w.ID, Origins: c.rest.Origins}
		if w.All {
			for _, m := range s.inOrder(c, slices.Clone(c.messages)) {
				w.Messages = append(w.Messages, m.Key())
			}
			for _, e := range s.elements(c) {
				w.Rest = append(w.Rest, e.hash)
			}
		}
		for _, key := range w.Messages {
			if m := s.sources[source{w.ID, key}]; m != nil {
				into.Messages = append(into.Messages, m.Message)
			}
		}
		if len(w.Rest) > 0 {
			rest := make(map[merge.Hash]bool, len(w.Rest))
			for _, h := range w.Rest {
				rest[h] = true
			}
			for _, e := range s.elements(c) {
				switch {
				case !rest[e.hash]:
				case e.stone:
					out.Stones = append(out.Stones, s.stones[w.ID])
				default:
					e.pick(&into)
				}
			}
		}
		into.NameByKeys(s.key)
		out.Conversations = append(out.Conversations, into)
	}
	return out, nil
}

// Projects implements [merge.Side].
func (s *Memory) Projects(context.Context) (merge.Set, error) {
	out := merge.Set{Unknown: s.unknown}
	for _, name := range slices.Sorted(maps.Keys(s.projects)) {
		out.Projects = append(out.Projects, *s.projects[name])
	}
	return out, nil
}

// All returns everything that is held.
func (s *Memory) All() merge.Set {
	out, _ := s.Projects(context.Background())
	for _, id := range slices.Sorted(maps.Keys(s.conversations)) {
		if stone, ok := s.stones[id]; ok {
			out.Stones = append(out.Stones, stone)
		}
		out.Conversations = append(out.Conversations, s.Export(id))
	}
	return out
}

// Export returns all that is held of a conversation.
func (s *Memory) Export(id scrollback.ConversationID) merge.Conversation {
	c := s.conversations[id].clone()
	out := c.rest
	out.Aliases = c.aliases
	for _, m := range c.messages {
		out.Messages = append(out.Messages, m.Message)
	}
	out.NameByKeys(s.key)
	return out
}

// Mentions reports whether a conversation mentions an artifact.
func (s *Memory) Mentions(artifact scrollback.ArtifactID) bool {
	for _, c := range s.conversations {
		if slices.ContainsFunc(c.rest.Mentions, func(m merge.Mention) bool { return m.Artifact == artifact }) {
			return true
		}
	}
	return false
}
