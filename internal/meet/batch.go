package meet

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// shrinking is how much goes at once, by what got through and what did not. Nothing grows again in one meeting beyond
// what has got through: what stands in the way stays there.
type shrinking struct {
	most, least    int
	passed, failed int // the greatest that got through, and the smallest that did not; 0: none
	trying         int // after a failure, until something gets through; 0: as above
}

func (s *shrinking) limit() int {
	most := s.most
	if s.failed > 0 {
		most = max(s.least, s.passed, min(s.failed/2, s.most))
	}
	if s.trying > 0 {
		most = min(most, s.trying)
	}
	return most
}

func (s *shrinking) pass(n int) {
	s.passed = max(s.passed, n)
	s.trying = 0
}

// fail notes what did not get through: the half of it is tried next, also where more has got through before.
func (s *shrinking) fail(n int) {
	if s.failed == 0 || n < s.failed {
		s.failed = n
	}
	s.trying = max(n/2, 1)
}

// countWanted counts records; all of a conversation counts as one.
func countWanted(list []merge.Wanted) int {
	n := 0
	for _, w := range list {
		n += len(w.Messages) + len(w.Rest)
		if w.All {
			n++
		}
	}
	return n
}

// firstOf divides what is wanted: the first n records of it, and the rest.
func firstOf(list []merge.Wanted, n int) (first, rest []merge.Wanted) {
	for i, w := range list {
		m := min(n, len(w.Messages))
		r := min(n-m, len(w.Rest))
		if m+r > 0 {
			first = append(first, merge.Wanted{ID: w.ID, Messages: w.Messages[:m], Rest: w.Rest[:r]})
		}
		n -= m + r
		if m < len(w.Messages) || r < len(w.Rest) {
			rest = append(rest, merge.Wanted{ID: w.ID, Messages: w.Messages[m:], Rest: w.Rest[r:]})
			return first, append(rest, list[i+1:]...)
		}
	}
	return first, nil
}

// record is a record other than a message: conversations may have the same.
type record struct {
	of   scrollback.ConversationID
	hash merge.Hash
}

// leftOf returns what of some wanted records has not come.
func leftOf(wanted []merge.Wanted, set merge.Set) []merge.Wanted {
	messages := map[scrollback.MessageID]bool{}
	rest := map[record]bool{}
	for i := range set.Conversations {
		c := &set.Conversations[i]
		for _, m := range c.Messages {
			messages[m.Key()] = true
		}
		c.RestElements(sameID, func(h merge.Hash, _ func(*merge.Conversation)) { rest[record{c.ID, h}] = true })
	}
	for _, s := range set.Stones {
		rest[record{s.ID, s.Element()}] = true
	}
	return leaveOut(wanted, messages, rest)
}

// leaveOut takes messages, by their keys, and other records out of what is wanted.
func leaveOut(wanted []merge.Wanted, messages map[scrollback.MessageID]bool, rest map[record]bool) []merge.Wanted {
	if len(messages)+len(rest) == 0 {
		return wanted
	}
	var out []merge.Wanted
	for _, w := range wanted {
		w.Messages = slices.DeleteFunc(slices.Clone(w.Messages), func(id scrollback.MessageID) bool { return messages[id] })
		w.Rest = slices.DeleteFunc(slices.Clone(w.Rest), func(h merge.Hash) bool { return rest[record{w.ID, h}] })
		if len(w.Messages)+len(w.Rest) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// sizeOf returns how long records are, in bytes of JSON.
func sizeOf(set merge.Set) int {
	text, err := json.Marshal(set)
	if err != nil {
		return 0 // handing it over fails the same way, and says why
	}
	return len(text)
}

// weigh counts the records of a batch. What a conversation is (its head) counts only where nothing else is there.
func weigh(set merge.Set) int {
	n := len(set.Stones) + len(set.Projects) + len(set.Unknown)
	for i := range set.Conversations {
		n += max(1, weighOne(&set.Conversations[i]))
	}
	return n
}

func weighOne(c *merge.Conversation) int {
	_, loose := divideMentions(c)
	n := len(c.Messages) + len(c.Aliases) + len(c.Segments) + len(c.Receipts) + len(c.Kept) + len(loose)
	n += len(c.Unknown) + len(c.Fields)
	if _, ok := c.Fields[stamp.FieldProject]; ok {
		n--
	}
	return n
}

// divideMentions returns the mentions that go with the messages of a conversation, and the others.
func divideMentions(c *merge.Conversation) (own, loose []merge.Mention) {
	said := map[scrollback.ArtifactID]bool{}
	for _, m := range c.Messages {
		for _, id := range m.Artifacts {
			said[id] = true
		}
	}
	for _, m := range c.Mentions {
		if said[m.Artifact] {
			own = append(own, m)
		} else {
			loose = append(loose, m)
		}
	}
	return own, loose
}

// split divides a batch in two that follow each other. It fails where there is only one record.
func split(set merge.Set) (a, b merge.Set, ok bool) {
	n := weigh(set)
	if n < 2 {
		return a, b, false
	}
	n /= 2
	cutList(&a.Stones, &b.Stones, set.Stones, &n)
	for _, c := range set.Conversations {
		weight := max(1, weighOne(&c))
		switch {
		case n >= weight:
			a.Conversations = append(a.Conversations, c)
			n -= weight
		case n == 0:
			b.Conversations = append(b.Conversations, c)
		default:
			first, rest := cutConversation(c, n)
			a.Conversations = append(a.Conversations, first)
			b.Conversations = append(b.Conversations, rest)
			n = 0
		}
	}
	cutList(&a.Projects, &b.Projects, set.Projects, &n)
	cutMap(&a.Unknown, &b.Unknown, set.Unknown, &n)
	return a, b, true
}

// cutConversation divides the records of a conversation: n of them come first. What the conversation is comes with both
// parts, and what a message mentions with the message.
func cutConversation(c merge.Conversation, n int) (a, b merge.Conversation) {
	head := c
	head.Messages = nil
	head.Aliases = nil
	head.Segments = nil
	head.Receipts = nil
	head.Kept = nil
	head.Mentions = nil
	head.Unknown = nil
	head.Fields = nil
	fields := maps.Clone(c.Fields)
	if f, ok := fields[stamp.FieldProject]; ok {
		head.Fields = map[string]merge.Field{stamp.FieldProject: f}
		delete(fields, stamp.FieldProject)
	}
	a = head
	b = head
	a.Fields = maps.Clone(head.Fields)
	b.Fields = maps.Clone(head.Fields)
	cutList(&a.Messages, &b.Messages, c.Messages, &n)
	cutList(&a.Aliases, &b.Aliases, c.Aliases, &n)
	cutList(&a.Segments, &b.Segments, c.Segments, &n)
	cutList(&a.Receipts, &b.Receipts, c.Receipts, &n)
	cutList(&a.Kept, &b.Kept, c.Kept, &n)
	own, loose := divideMentions(&c)
	cutList(&a.Mentions, &b.Mentions, loose, &n)
	cutMap(&a.Fields, &b.Fields, fields, &n)
	cutMap(&a.Unknown, &b.Unknown, c.Unknown, &n)
	for _, part := range []*merge.Conversation{&a, &b} {
		of := *part
		of.Mentions = own
		said, _ := divideMentions(&of)
		part.Mentions = append(part.Mentions, said...)
	}
	return a, b
}

// cutList puts the first n of a list into one, the others into another, and counts n down.
func cutList[T any](a, b *[]T, list []T, n *int) {
	k := min(*n, len(list))
	*a = append(*a, list[:k]...)
	*b = append(*b, list[k:]...)
	*n -= k
}

func cutMap[V any](a, b *map[string]V, list map[string]V, n *int) {
	for _, name := range sortedKeys(list) {
		into := b
		if *n > 0 {
			into = a
			*n--
		}
		if *into == nil {
			*into = map[string]V{}
		}
		(*into)[name] = list[name]
	}
}

// joined makes one of the parts of each conversation, in the order in which they came.
func joined(set merge.Set) merge.Set {
	at := map[scrollback.ConversationID]int{}
	var out []merge.Conversation
	for _, c := range set.Conversations {
		i, known := at[c.ID]
		if !known {
			at[c.ID] = len(out)
			out = append(out, c)
			continue
		}
		into := &out[i]
		into.Messages = slices.Concat(into.Messages, c.Messages)
		c.Messages = nil
		held := map[merge.Hash]bool{}
		into.RestElements(sameID, func(h merge.Hash, _ func(*merge.Conversation)) { held[h] = true })
		c.RestElements(sameID, func(h merge.Hash, pick func(*merge.Conversation)) {
			if !held[h] {
				pick(into)
			}
		})
	}
	set.Conversations = out
	return set
}

// nameOf names the only record of a conversation.
func nameOf(c *merge.Conversation) string {
	switch {
	case len(c.Messages) > 0:
		return "message " + string(c.Messages[0].ID)
	case len(c.Aliases) > 0:
		return "alias " + string(c.Aliases[0].ID)
	case len(c.Segments) > 0:
		return "segment " + string(c.Segments[0].Segment.ID)
	case len(c.Receipts) > 0:
		return "receipt"
	case len(c.Kept) > 0:
		return "kept " + string(c.Kept[0].ID)
	case len(c.Mentions) > 0:
		return "artifact " + string(c.Mentions[0].Artifact)
	case len(c.Unknown) > 0:
		return sortedKeys(c.Unknown)[0]
	}
	for _, name := range sortedKeys(c.Fields) {
		if name != stamp.FieldProject {
			return name
		}
	}
	return "conversation"
}
