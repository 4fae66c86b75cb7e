package meet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
)

// store is a store in memory as a peer: its messages say something that follows from their hashes, its artifacts have
// bytes that follow from their ids, and its answers hold few records.
type store struct {
	mu        sync.Mutex
	mem       *mergetest.Memory
	merge     func(merge.Set) merge.Result
	most      int // records of an answer
	long      int // bytes that a message says, at least
	arrived   map[scrollback.ArtifactID]bool
	trash     map[scrollback.ConversationID]bool
	may       merge.Access
	fault     error
	asked     []string
	puts      int
	artifacts int // that were taken
}

func newStore() *store {
	s := &store{mem: mergetest.NewMemory(), most: 40, arrived: map[scrollback.ArtifactID]bool{}}
	s.merge = func(set merge.Set) merge.Result {
		r := merge.Merge(s.mem, set, 2_000_000_000_000)
		s.mem.Apply(r.Change, merge.Spared)
		return r
	}
	return s
}

// says is what a message says.
func (s *store) says(m merge.Message) json.RawMessage {
	text := strings.Repeat(m.Hash.String(), 1+int(m.Hash[0])%4+s.long/64)
	return json.RawMessage(`"` + text + `"`)
}

func (s *store) lock(question string) func() {
	s.mu.Lock()
	s.asked = append(s.asked, question)
	return s.mu.Unlock
}

func (s *store) fail(err error) error {
	if s.fault == nil {
		s.fault = err
	}
	return err
}

func (s *store) Head(ctx context.Context) (merge.Head, error) {
	defer s.lock("head")()
	return s.mem.Head(ctx)
}

func (s *store) Access(context.Context) (merge.Access, error) { return s.may, nil }

func (s *store) Level(ctx context.Context, below merge.Prefix) (merge.Level, error) {
	defer s.lock("level")()
	return s.mem.Level(ctx, below)
}

func (s *store) Inventory(ctx context.Context, id scrollback.ConversationID) (merge.Inventory, error) {
	defer s.lock("inventory")()
	return s.mem.Inventory(ctx, id)
}

func (s *store) Ranges(ctx context.Context, id scrollback.ConversationID, of []merge.Range) ([]merge.Range, error) {
	defer s.lock("ranges")()
	return s.mem.Ranges(ctx, id, of)
}

func (s *store) Messages(ctx context.Context, id scrollback.ConversationID,
	of []merge.Range) ([]scrollback.MessageID, error) {
	defer s.lock("messages")()
	return s.mem.Messages(ctx, id, of)
}

func (s *store) Lacks(ctx context.Context, id scrollback.ConversationID,
	keys []scrollback.MessageID) ([]scrollback.MessageID, error) {
	defer s.lock("lacks")()
	return s.mem.Lacks(ctx, id, keys)
}

func (s *store) Rest(ctx context.Context, id scrollback.ConversationID, buckets []uint8) ([]merge.Hash, error) {
	defer s.lock("rest")()
	return s.mem.Rest(ctx, id, buckets)
}

func (s *store) Records(ctx context.Context, wanted []merge.Wanted) (merge.Set, error) {
	defer s.lock("records")()
	set, err := s.mem.Records(ctx, wanted)
	for i := range set.Conversations {
		messages := set.Conversations[i].Messages
		for k := range messages {
			messages[k].Content = s.says(messages[k])
		}
	}
	for weigh(set) > s.most {
		set, _, _ = split(set)
	}
	return set, err
}

func (s *store) Projects(ctx context.Context) (merge.Set, error) {
	defer s.lock("projects")()
	return s.mem.Projects(ctx)
}

func (s *store) has(id scrollback.ArtifactID) bool { return s.arrived[id] || s.mem.Mentions(id) }

func (s *store) Put(_ context.Context, set merge.Set, on merge.Terms) (out merge.Outcome, err error) {
	defer s.lock("put")()
	s.puts++
	if s.may.ReadOnly {
		return out, scrollback.Errorf(scrollback.Refused, "test", "read only")
	}
	var take merge.Set
	for _, c := range set.Conversations {
		here := true
		for _, m := range c.Mentions {
			here = here && (on.Look || s.has(m.Artifact))
		}
		if !here {
			out.Waiting = append(out.Waiting, c.ID)
			continue
		}
		for _, m := range c.Messages {
			if string(m.Content) != string(s.says(m)) {
				return out, s.fail(fmt.Errorf("message %s came without what it says", m.ID))
			}
		}
		take.Conversations = append(take.Conversations, c)
	}
	take.Stones = set.Stones
	take.Projects = set.Projects
	take.Unknown = set.Unknown
	if !on.Purges {
		out.Held = merge.HoldPurges(s.mem, &take, func(id scrollback.ConversationID) bool { return s.trash[id] })
	}
	var r merge.Result
	known := map[scrollback.ConversationID]bool{}
	for _, c := range take.Conversations {
		known[c.ID] = s.mem.Conversation(c.ID) != nil
	}
	if on.Look {
		r = merge.Merge(s.mem, take, 2_000_000_000_000)
	} else {
		r = s.merge(take)
	}
	for _, c := range r.Change.Conversations {
		out.Conversations++
		out.Changed = append(out.Changed, c.ID)
		out.Messages += int64(len(c.Messages))
		if !known[c.ID] {
			out.New++
		}
	}
	out.Purged = len(r.Ended)
	out.Refused = r.Refused
	for _, w := range r.Waiting {
		out.Waiting = append(out.Waiting, w.Conversation)
	}
	return out, nil
}

func (s *store) LacksArtifacts(_ context.Context, ids []scrollback.ArtifactID) ([]scrollback.ArtifactID, error) {
	defer s.lock("lacks-artifacts")()
	var out []scrollback.ArtifactID
	for _, id := range ids {
		if !s.has(id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// bytesOf are those of an artifact.
func bytesOf(id scrollback.ArtifactID) []byte {
	return bytes.Repeat([]byte("bytes of "+id+" \x00"), 50)
}

func (s *store) OpenArtifact(_ context.Context, id scrollback.ArtifactID) (io.ReadCloser, int64, error) {
	defer s.lock("artifact")()
	if !s.has(id) {
		return nil, 0, scrollback.Errorf(scrollback.NotFound, "test", "no such artifact")
	}
	b := bytesOf(id)
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

func (s *store) PutArtifact(_ context.Context, id scrollback.ArtifactID, r io.Reader, size int64) error {
	b, err := io.ReadAll(r)
	defer s.lock("put-artifact")()
	if err != nil {
		return scrollback.Wrap(scrollback.Unavailable, "test", err)
	}
	if int64(len(b)) != size || !bytes.Equal(b, bytesOf(id)) {
		return s.fail(errors.New("an artifact has other bytes"))
	}
	s.arrived[id] = true
	s.artifacts++
	return nil
}

// talk adds a conversation of some messages, or goes on with it, and returns the newest message.
func (s *store) talk(id scrollback.ConversationID, from, to int) {
	c := merge.Conversation{ID: id}
	if from == 1 {
		c.CreatedAt = 1
		c.Branches = []merge.Branch{{ID: scrollback.BranchID("b" + id)}}
		c.Fields = map[string]merge.Field{"project": {Value: []byte(`"p0"`)}}
	}
	for i := from; i <= to; i++ {
		m := merge.Message{ID: messageID(id, i), Born: scrollback.BranchID("b" + id), Seq: int64(i), CreatedAt: int64(i)}
		copy(m.Hash[:], fmt.Sprintf("%s %09d says something", id, i))
		if i > 1 {
			m.Prev = messageID(id, i-1)
		}
		if i%7 == 0 {
			m.Artifacts = []scrollback.ArtifactID{scrollback.ArtifactID(fmt.Sprintf("art%s%d", id, i))}
			c.Mentions = append(c.Mentions, merge.Mention{Artifact: m.Artifacts[0]})
		}
		c.Messages = append(c.Messages, m)
	}
	s.mem.Apply(merge.Set{Conversations: []merge.Conversation{c}}, merge.Spared)
}

func messageID(id scrollback.ConversationID, i int) scrollback.MessageID {
	return scrollback.MessageID(fmt.Sprintf("m%s%06d", id, i))
}
