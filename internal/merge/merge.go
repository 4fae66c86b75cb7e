package merge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Merge decides what of the records that arrived a store writes to what it holds, at a time in Unix ms by its own
// clock. Nothing is changed that is held; a record that does not fit, whatever bytes it was made of, is left out and
// named.
func Merge(held Held, arrived Set, now int64) Result {
	m := &merger{
		held:    held,
		now:     now,
		stones:  map[scrollback.ConversationID]bool{},
		coming:  map[scrollback.MessageID]comingMessage{},
		names:   map[scrollback.MessageID]scrollback.MessageID{},
		sources: map[scrollback.MessageID]scrollback.MessageID{},
		taken:   map[scrollback.MessageID]takenMessage{},
		byKey:   map[conversationKey]scrollback.MessageID{},
		changes: map[scrollback.ConversationID]*Conversation{},
	}
	m.mergeStones(arrived.Stones)
	m.mergeMessages(arrived.Conversations)
	for i := range arrived.Conversations {
		m.mergeConversation(&arrived.Conversations[i])
	}
	for i := range arrived.Projects {
		m.mergeProject(&arrived.Projects[i])
	}
	for _, name := range slices.Sorted(maps.Keys(arrived.Unknown)) {
		if value := newerValue(held.Unknown(name), arrived.Unknown[name]); value != nil {
			set(&m.out.Change.Unknown, name, value)
		}
	}
	m.dropUnused()
	for _, id := range m.order {
		if c := m.changes[id]; !c.IsEmpty() {
			m.out.Change.Conversations = append(m.out.Change.Conversations, *c)
		}
	}
	return m.out
}

// merger is a merge under way.
type merger struct {
	held    Held
	now     int64
	stones  map[scrollback.ConversationID]bool // that were looked for: held or arrived
	coming  map[scrollback.MessageID]comingMessage
	names   map[scrollback.MessageID]scrollback.MessageID // keys of messages by other ids, as what arrived says
	sources map[scrollback.MessageID]scrollback.MessageID // ids of messages that arrived, by their keys
	taken   map[scrollback.MessageID]takenMessage         // by their ids, and by others of theirs
	byKey   map[conversationKey]scrollback.MessageID
	changes map[scrollback.ConversationID]*Conversation
	order   []scrollback.ConversationID // of changes: a conversation behind those it continues
	out     Result
}

// comingMessage is a message that arrived and was not judged yet, or was.
type comingMessage struct {
	of     scrollback.ConversationID
	m      *Message
	judged bool
}

// takenMessage is a message that is to be written, or one that is held and that arrived under another id.
type takenMessage struct {
	of   scrollback.ConversationID
	m    Message
	held bool
}

// conversationKey is the key of a message in its conversation.
type conversationKey struct {
	of  scrollback.ConversationID
	key scrollback.MessageID
}

func (m *merger) refuse(r Refused) { m.out.Refused = append(m.out.Refused, r) }

func (m *merger) refuseRecord(id scrollback.ConversationID, record string) {
	m.refuse(Refused{Conversation: id, Record: record})
}

func (m *merger) wait(id scrollback.ConversationID, record string, on scrollback.MessageID) {
	m.out.Waiting = append(m.out.Waiting, Waiting{id, record, on})
}

// isGone reports whether there is a stone of a conversation, here or among what arrived.
func (m *merger) isGone(id scrollback.ConversationID) bool {
	gone, known := m.stones[id]
	if !known {
		_, gone = m.held.Stone(id)
		m.stones[id] = gone
	}
	return gone
}

// changeOf returns what is to be written of a conversation.
func (m *merger) changeOf(id scrollback.ConversationID) *Conversation {
	c := m.changes[id]
	if c == nil {
		c = &Conversation{ID: id}
		m.changes[id] = c
		m.order = append(m.order, id)
	}
	return c
}

// IsEmpty reports whether there is no record of the conversation.
func (c *Conversation) IsEmpty() bool {
	return c.CreatedAt == 0 && len(c.Environment) == 0 && len(c.AgentOf) == 0 && c.Parent == nil && len(c.Fields) == 0 &&
		len(c.Branches) == 0 && len(c.Messages) == 0 && len(c.Aliases) == 0 && len(c.Segments) == 0 &&
		len(c.Receipts) == 0 && len(c.Kept) == 0 && len(c.Mentions) == 0 && len(c.Origins) == 0 && len(c.Unknown) == 0
}

// mergeStones takes the stones, and notes which conversations they end.
func (m *merger) mergeStones(stones []Stone) {
	best := map[scrollback.ConversationID]Stone{}
	before := map[scrollback.ConversationID]*Stone{}
	for _, s := range stones {
		if s.ID == "" || len(s.ID) > maxID {
			m.refuseRecord(s.ID, "stone")
			continue
		}
		if isAhead(s.Stamp, m.now) {
			m.refuse(Refused{Conversation: s.ID, Record: "stone", Stamp: s.Stamp, Now: m.now})
			continue
		}
		s = s.normal()
		if _, seen := before[s.ID]; !seen {
			before[s.ID] = nil
			if here, ok := m.held.Stone(s.ID); ok {
				here = here.normal()
				before[s.ID] = &here
				if !isAhead(here.Stamp, m.now) { // or it is from when the clock here was wrong too
					best[s.ID] = here
				}
			}
		}
		if other, ok := best[s.ID]; ok {
			s = joinStones(s, other)
		}
		best[s.ID] = s
	}
	for _, id := range slices.Sorted(maps.Keys(best)) {
		m.stones[id] = true
		if here := before[id]; here != nil && here.Element() == best[id].Element() {
			continue
		}
		m.out.Change.Stones = append(m.out.Change.Stones, best[id])
		if before[id] == nil && m.held.Conversation(id) != nil {
			m.out.Ended = append(m.out.Ended, id)
		}
	}
}

// maxID bounds the ids that are taken, in bytes.
const maxID = 128

// normal is a stone as it is kept: its lists sorted, without doubles, and its JSON compact.
func (s Stone) normal() Stone {
	s.Origins = slices.Compact(slices.Sorted(slices.Values(s.Origins)))
	s.Unknown = joinUnknown(nil, s.Unknown)
	return s
}

// joinStones makes one of two stones of a conversation.
func joinStones(a, b Stone) Stone {
	out := a
	if b.compare(a) > 0 {
		out = b
	}
	out.Origins = slices.Concat(a.Origins, b.Origins)
	out.Unknown = joinUnknown(a.Unknown, b.Unknown)
	return out.normal()
}

// joinUnknown returns all of both; of what both have, the greater.
func joinUnknown(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for _, from := range []map[string]json.RawMessage{a, b} {
		for name, value := range from {
			if value := newerValue(out[name], value); value != nil {
				set(&out, name, value)
			}
		}
	}
	return out
}

// newerValue returns what arrived, compact, if it is greater than what is held.
func newerValue(held, arrived json.RawMessage) json.RawMessage {
	value := Compact(arrived)
	if value == nil || held != nil && bytes.Compare(value, held) <= 0 {
		return nil
	}
	return value
}

// mergeMessages takes the messages whose paths are whole: those of living conversations and, of purged ones, what is on
// their paths.
func (m *merger) mergeMessages(conversations []Conversation) {
	for i := range conversations {
		c := &conversations[i]
		for k := range c.Messages {
			message := &c.Messages[k]
			if !message.isSound() || len(c.ID) > maxID || c.ID == "" {
				m.refuseRecord(c.ID, "message "+string(message.ID))
				continue
			}
			other, doubled := m.coming[message.ID]
			if doubled && (other.of != c.ID || !other.m.equal(message)) {
				m.refuseRecord(c.ID, "message "+string(message.ID))
				continue
			}
			m.coming[message.ID] = comingMessage{of: c.ID, m: message}
			if message.Source != "" {
				m.names[message.ID] = message.Source
				m.sources[message.Source] = message.ID
			}
		}
		for _, a := range c.Aliases {
			m.names[a.ID] = a.Of
		}
	}
	for i := range conversations {
		c := &conversations[i]
		if m.isGone(c.ID) {
			continue
		}
		if c.Parent != nil {
			m.takePath(c.Parent.Message)
		}
		for k := range c.Messages {
			if at := &c.Messages[k]; m.coming[at.ID].m == at {
				m.takePath(at.ID)
			}
		}
	}
}

// dropUnused leaves of purged conversations out what was taken for the path of a message that did not fit after all.
func (m *merger) dropUnused() {
	used := map[scrollback.MessageID]bool{}
	mark := func(id scrollback.MessageID) {
		for {
			t, ok := m.taken[id]
			if !ok || t.held || used[t.m.ID] || !m.isGone(t.of) {
				return
			}
			used[t.m.ID] = true
			id = t.m.Prev
		}
	}
	for _, id := range m.order {
		c := m.changes[id]
		if m.isGone(id) {
			continue
		}
		for _, message := range c.Messages {
			mark(message.Prev)
		}
		if c.Parent != nil {
			mark(m.keyOrID(c.Parent.Message))
		}
	}
	isUnused := func(id scrollback.MessageID) bool {
		t, ok := m.taken[m.keyOrID(id)]
		return ok && !t.held && m.isGone(t.of) && !used[t.m.ID]
	}
	for _, c := range m.changes {
		c.Messages = slices.DeleteFunc(c.Messages, func(o Message) bool { return isUnused(o.ID) })
		c.Aliases = slices.DeleteFunc(c.Aliases, func(o Alias) bool { return isUnused(o.Of) })
		c.Segments = slices.DeleteFunc(c.Segments, func(o Segment) bool {
			return isUnused(o.First) || isUnused(o.Last) || isUnused(o.SummaryOf)
		})
		c.Receipts = slices.DeleteFunc(c.Receipts, func(o Receipt) bool { return isUnused(o.First) || isUnused(o.Last) })
		c.Kept = slices.DeleteFunc(c.Kept, func(o Kept) bool { return isUnused(o.Message) })
		c.Branches = slices.DeleteFunc(c.Branches, func(o Branch) bool { return isUnused(o.Leaves) })
	}
}

// keyOrID is an id by which a message that is to be written is known, for any id of it.
func (m *merger) keyOrID(id scrollback.MessageID) scrollback.MessageID {
	if _, ok := m.taken[id]; ok {
		return id
	}
	return cmp.Or(m.names[id], id)
}

// isSound reports whether a message can be one, by itself.
func (m *Message) isSound() bool {
	return m.ID != "" && len(m.ID) <= maxID && len(m.Source) <= maxID && m.Born != "" && len(m.Born) <= maxID &&
		m.Seq >= 1 && m.Seq <= MaxSeq && (m.Prev == "") == (m.Seq == 1) && m.Prev != m.ID
}

// equal reports whether two records are of the same message.
func (m *Message) equal(o *Message) bool {
	return m.ID == o.ID && m.Hash == o.Hash && m.Seq == o.Seq && m.Source == o.Source
}

// takePath takes a message that arrived with what is before it, as far as that arrived too: the oldest first.
func (m *merger) takePath(id scrollback.MessageID) {
	var path []scrollback.MessageID
	for {
		coming, ok := m.coming[id]
		if !ok {
			id = m.sources[cmp.Or(m.names[id], id)]
			coming, ok = m.coming[id]
		}
		if !ok || coming.judged {
			break
		}
		coming.judged = true
		m.coming[id] = coming
		path = append(path, id)
		id = coming.m.Prev
	}
	for _, id := range slices.Backward(path) {
		m.takeMessage(m.coming[id])
	}
}

// find returns a message that is held or is to be written, by any of its ids: also by one that only what arrived says.
func (m *merger) find(id scrollback.MessageID) (Message, scrollback.ConversationID, bool) {
	found, of, ok := m.known(id)
	if key, named := m.names[id]; !ok && named {
		return m.known(key)
	}
	return found, of, ok
}

// known returns a message that is held or is to be written, by an id that is known here.
func (m *merger) known(id scrollback.MessageID) (Message, scrollback.ConversationID, bool) {
	if id == "" {
		return Message{}, "", false
	}
	if t, ok := m.taken[id]; ok {
		return t.m, t.of, true
	}
	return m.held.Message(id)
}

// missing returns the first of some ids that names a message which is neither held nor to be written.
func (m *merger) missing(ids ...scrollback.MessageID) scrollback.MessageID {
	for _, id := range ids {
		if _, _, ok := m.find(id); !ok && id != "" {
			return id
		}
	}
	return ""
}

// key is the key of a message by any of its ids.
func (m *merger) key(id scrollback.MessageID) scrollback.MessageID {
	if found, _, ok := m.find(id); ok {
		return found.Key()
	}
	return id
}

// takeMessage takes a message whose predecessor was judged before.
func (m *merger) takeMessage(coming comingMessage) {
	at := coming.m
	record := "message " + string(at.ID)
	var prev Message
	if at.Prev != "" {
		found, _, ok := m.find(at.Prev)
		if !ok {
			m.wait(coming.of, record, at.Prev)
			return
		}
		if found.Seq != at.Seq-1 {
			m.refuseRecord(coming.of, record)
			return
		}
		prev = found
	}
	if here, of, ok := m.known(at.ID); ok {
		if of != coming.of || here.Key() != at.Key() || here.Hash != at.Hash || here.Seq != at.Seq {
			m.refuseRecord(coming.of, record)
		}
		return
	}
	if here, ok := m.findKey(coming.of, at.Key()); ok {
		if here.Hash != at.Hash || here.Seq != at.Seq || m.key(here.Prev) != prev.Key() {
			m.refuseRecord(coming.of, record)
			return
		}
		m.addAlias(coming.of, here, at.alias())
		return
	}
	if _, _, ok := m.known(at.Source); ok { // of another conversation
		m.refuseRecord(coming.of, record)
		return
	}
	taken := *at
	if at.Prev != "" {
		taken.Prev = prev.ID // as it is held here
	}
	m.taken[taken.ID] = takenMessage{of: coming.of, m: taken}
	m.taken[taken.Key()] = m.taken[taken.ID]
	m.byKey[conversationKey{coming.of, taken.Key()}] = taken.ID
	c := m.changeOf(coming.of)
	c.Messages = append(c.Messages, taken)
}

// findKey finds the message of a conversation that has a key.
func (m *merger) findKey(of scrollback.ConversationID, key scrollback.MessageID) (Message, bool) {
	if id, ok := m.byKey[conversationKey{of, key}]; ok {
		return m.taken[id].m, true
	}
	return m.held.Source(of, key)
}

// addAlias notes another id of a message.
func (m *merger) addAlias(of scrollback.ConversationID, here Message, a Alias) {
	m.taken[a.ID] = takenMessage{of: of, m: here, held: true}
	c := m.changeOf(of)
	c.Aliases = append(c.Aliases, a)
}

// remains reports whether a message is one of a conversation's own that is held or taken.
func (m *merger) remains(of scrollback.ConversationID, id scrollback.MessageID) bool {
	_, in, ok := m.find(id)
	return ok && in == of
}

// mergeConversation takes everything of a conversation but its messages.
func (m *merger) mergeConversation(c *Conversation) {
	if c.ID == "" || len(c.ID) > maxID {
		m.refuseRecord(c.ID, "conversation")
		return
	}
	here := m.held.Conversation(c.ID)
	if here == nil {
		here = &Conversation{ID: c.ID}
	}
	gone := m.isGone(c.ID)
	into := m.changeOf(c.ID)
	for _, a := range c.Aliases {
		m.mergeAlias(c.ID, a)
	}
	m.mergeSegments(here, c, into, gone)
	m.mergeKept(here, c, into, gone)
	m.mergeMentions(here, c, into, gone)
	if gone {
		return
	}
	if c.CreatedAt != 0 && (here.CreatedAt == 0 || c.CreatedAt < here.CreatedAt) {
		into.CreatedAt = earlier(into.CreatedAt, c.CreatedAt)
	}
	into.Environment = cmpValue(here.Environment, into.Environment, c.Environment)
	into.AgentOf = cmpValue(here.AgentOf, into.AgentOf, c.AgentOf)
	m.mergeParent(here, c, into)
	m.mergeBranches(here, c, into)
	m.mergeFields(here.Fields, c.Fields, &into.Fields, Refused{Conversation: c.ID})
	m.mergeReceipts(here, c, into)
	m.mergeOrigins(here, c, into)
	for _, name := range slices.Sorted(maps.Keys(c.Unknown)) {
		if value := newerValue(here.Unknown[name], c.Unknown[name]); value != nil {
			if value := newerValue(into.Unknown[name], value); value != nil {
				set(&into.Unknown, name, value)
			}
		}
	}
}

func earlier(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// cmpValue returns the smallest of values of which there should be one: what is to be written.
func cmpValue(held, taken, arrived json.RawMessage) json.RawMessage {
	value := Compact(arrived)
	if value == nil || string(value) == "null" {
		return taken
	}
	for _, other := range []json.RawMessage{held, taken} {
		if len(other) > 0 && bytes.Compare(other, value) <= 0 {
			return taken
		}
	}
	return value
}

// mergeAlias takes another id of a message.
func (m *merger) mergeAlias(of scrollback.ConversationID, a Alias) {
	record := "alias " + string(a.ID)
	if a.ID == "" || a.Of == "" || len(a.ID) > maxID || len(a.Of) > maxID {
		m.refuseRecord(of, record)
		return
	}
	here, ok := m.findKey(of, a.Of)
	if !ok {
		if !m.isGone(of) {
			m.wait(of, record, a.Of)
		}
		return
	}
	if other, in, ok := m.known(a.ID); ok {
		if in != of || other.ID != here.ID {
			m.refuseRecord(of, record)
		}
		return
	}
	m.addAlias(of, here, a)
}

func (m *merger) mergeParent(here, c, into *Conversation) {
	if c.Parent == nil {
		return
	}
	if _, _, ok := m.find(c.Parent.Message); !ok {
		m.wait(c.ID, "parent", c.Parent.Message)
		return
	}
	parent := *c.Parent
	for _, other := range []*Parent{here.Parent, into.Parent} {
		if other != nil && compareParents(*other, parent, m.key) <= 0 {
			return
		}
	}
	into.Parent = &parent
}

func compareParents(a, b Parent, keys Keys) int {
	return cmp.Or(cmp.Compare(a.Conversation, b.Conversation), cmp.Compare(keys(a.Message), keys(b.Message)))
}

func (m *merger) mergeBranches(here, c, into *Conversation) {
	for _, b := range c.Branches {
		if b.ID == "" || len(b.ID) > maxID {
			m.refuseRecord(c.ID, "branch "+string(b.ID))
			continue
		}
		if b.Leaves != "" {
			if _, _, ok := m.find(b.Leaves); !ok {
				m.wait(c.ID, "branch "+string(b.ID), b.Leaves)
				continue
			}
		}
		is := func(o Branch) bool { return o.ID == b.ID }
		if i := slices.IndexFunc(here.Branches, is); i >= 0 && m.key(here.Branches[i].Leaves) <= m.key(b.Leaves) {
			continue
		}
		if i := slices.IndexFunc(into.Branches, is); i >= 0 {
			if m.key(b.Leaves) < m.key(into.Branches[i].Leaves) {
				into.Branches[i] = b
			}
			continue
		}
		into.Branches = append(into.Branches, b)
	}
}

// mergeFields takes fields that are newer than those that are held. One that is held with a stamp that is too far
// ahead, from when the clock here was wrong too, gives way to any.
func (m *merger) mergeFields(here, arrived map[string]Field, into *map[string]Field, of Refused) {
	for _, name := range slices.Sorted(maps.Keys(arrived)) {
		f := arrived[name]
		f.Value = Compact(f.Value)
		of.Record = name
		if f.Value == nil || name == "" {
			m.refuse(of)
			continue
		}
		if f.IsUnset() {
			continue
		}
		as := name
		if pinned, ok := strings.CutPrefix(name, stamp.PinFields); ok && of.Project == "" {
			at, _, ok := m.find(scrollback.MessageID(pinned))
			if !ok {
				m.wait(of.Conversation, name, scrollback.MessageID(pinned))
				continue
			}
			as = stamp.PinField(at.ID) // under the id that it has here
		}
		if isAhead(f.Stamp, m.now) {
			late := of
			late.Stamp = f.Stamp
			late.Now = m.now
			m.refuse(late)
			continue
		}
		if other, ok := here[as]; ok && !isAhead(other.Stamp, m.now) && f.Compare(name, other) <= 0 {
			continue
		}
		if other, ok := (*into)[as]; ok && f.Compare(name, other) <= 0 {
			continue
		}
		set(into, as, f)
	}
}

func (m *merger) mergeSegments(here, c, into *Conversation, gone bool) {
	if len(c.Segments) == 0 {
		return
	}
	held := make(map[scrollback.SegmentID]Hash, len(here.Segments))
	for _, s := range here.Segments {
		held[s.Segment.ID] = s.Element(m.key)
	}
	for _, s := range c.Segments {
		record := "segment " + string(s.Segment.ID)
		if s.Segment.ID == "" || len(s.Segment.ID) > maxID || s.First == "" || s.Last == "" {
			m.refuseRecord(c.ID, record)
			continue
		}
		if gone && !m.remains(c.ID, s.Last) {
			continue
		}
		if other, ok := held[s.Segment.ID]; ok {
			if other != s.Element(m.key) {
				m.refuseRecord(c.ID, record)
			}
			continue
		}
		if missing := m.missing(s.First, s.Last, s.SummaryOf); missing != "" {
			m.wait(c.ID, record, missing)
			continue
		}
		first, _, _ := m.find(s.First)
		last, _, _ := m.find(s.Last)
		if first.Seq > last.Seq {
			m.refuseRecord(c.ID, record)
			continue
		}
		s.Segment.Conversation = ""
		s.Segment.Branch = ""
		s.Segment.FirstSeq = 0
		s.Segment.LastSeq = 0
		held[s.Segment.ID] = s.Element(m.key)
		into.Segments = append(into.Segments, s)
	}
}

func (m *merger) mergeReceipts(here, c, into *Conversation) {
	if len(c.Receipts) == 0 {
		return
	}
	held := make(map[Hash]bool, len(here.Receipts))
	for _, r := range here.Receipts {
		held[r.Element(m.key)] = true
	}
	for _, r := range c.Receipts {
		if missing := m.missing(r.First, r.Last); missing != "" {
			m.wait(c.ID, "receipt", missing)
			continue
		}
		if of := r.Element(m.key); !held[of] {
			held[of] = true
			into.Receipts = append(into.Receipts, r)
		}
	}
}

// mergeKept takes what people said about sentences, of each the newest.
func (m *merger) mergeKept(here, c, into *Conversation, gone bool) {
	for _, k := range c.Kept {
		record := "kept " + string(k.ID)
		if k.ID == "" || len(k.ID) > maxID {
			m.refuseRecord(c.ID, record)
			continue
		}
		if _, _, ok := m.find(k.Message); !ok || gone && !m.remains(c.ID, k.Message) {
			if !gone {
				m.wait(c.ID, record, k.Message)
			}
			continue
		}
		if isAhead(k.Stamp, m.now) {
			m.refuse(Refused{Conversation: c.ID, Record: record, Stamp: k.Stamp, Now: m.now})
			continue
		}
		is := func(o Kept) bool { return o.ID == k.ID }
		if i := slices.IndexFunc(here.Kept, is); i >= 0 && !isAhead(here.Kept[i].Stamp, m.now) &&
			k.compare(here.Kept[i]) <= 0 {
			continue
		}
		i := slices.IndexFunc(into.Kept, is)
		switch {
		case i < 0:
			into.Kept = append(into.Kept, k)
		case k.compare(into.Kept[i]) > 0:
			into.Kept[i] = k
		}
	}
}

func (m *merger) mergeMentions(here, c, into *Conversation, gone bool) {
	if len(c.Mentions) == 0 {
		return
	}
	held := map[scrollback.ArtifactID]bool{}
	for _, other := range here.Mentions {
		held[other.Artifact] = true
	}
	remaining := map[scrollback.ArtifactID]bool{}
	if gone {
		for _, message := range into.Messages {
			for _, id := range message.Artifacts {
				remaining[id] = true
			}
		}
	}
	for _, mention := range c.Mentions {
		if mention.Artifact == "" || len(mention.Artifact) > maxID {
			m.refuseRecord(c.ID, "artifact "+string(mention.Artifact))
			continue
		}
		if held[mention.Artifact] || gone && !remaining[mention.Artifact] {
			continue
		}
		held[mention.Artifact] = true
		into.Mentions = append(into.Mentions, mention)
	}
}

func (m *merger) mergeOrigins(here, c, into *Conversation) {
	for _, o := range c.Origins {
		is := func(other Origin) bool { return other.Tool == o.Tool && other.ID == o.ID }
		if !slices.ContainsFunc(here.Origins, is) && !slices.ContainsFunc(into.Origins, is) {
			into.Origins = append(into.Origins, o)
		}
	}
}

func (m *merger) mergeProject(p *Project) {
	if p.Name == "" {
		m.refuse(Refused{Record: "project"})
		return
	}
	here := m.held.Project(p.Name)
	if here == nil {
		here = &Project{}
	}
	i := slices.IndexFunc(m.out.Change.Projects, func(o Project) bool { return o.Name == p.Name })
	into := Project{Name: p.Name}
	if i >= 0 {
		into = m.out.Change.Projects[i]
	}
	m.mergeFields(here.Fields, p.Fields, &into.Fields, Refused{Project: p.Name})
	for _, name := range slices.Sorted(maps.Keys(p.Unknown)) {
		if value := newerValue(here.Unknown[name], p.Unknown[name]); value != nil {
			if value := newerValue(into.Unknown[name], value); value != nil {
				set(&into.Unknown, name, value)
			}
		}
	}
	switch {
	case i >= 0:
		m.out.Change.Projects[i] = into
	case len(into.Fields) > 0 || len(into.Unknown) > 0:
		m.out.Change.Projects = append(m.out.Change.Projects, into)
	}
}
