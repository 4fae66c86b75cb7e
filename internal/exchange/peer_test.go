package exchange_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/local"
)

// overWire is what records are after they went as JSON.
func overWire(t *testing.T, set merge.Set) (out merge.Set) {
	t.Helper()
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// pull brings into one peer what another has, part by part.
func pull(t *testing.T, from, into *exchange.Peer) (sum merge.Outcome) {
	t.Helper()
	ctx := context.Background()
	var stones []merge.Stone
	for range 50 {
		wanted, err := merge.Missing(ctx, into, from)
		if err != nil {
			t.Fatal(err)
		}
		set, err := from.Records(ctx, wanted)
		stones = append(stones, set.Stones...)
		set.Stones = nil
		if err != nil {
			t.Fatal(err)
		}
		rest, err := from.Projects(ctx)
		if err != nil {
			t.Fatal(err)
		}
		set.Projects = rest.Projects
		for _, c := range set.Conversations {
			for _, m := range c.Mentions {
				bring(t, from, into, m.Artifact)
			}
		}
		got, err := into.Put(ctx, overWire(t, set), merge.Terms{Purges: true})
		if err != nil {
			t.Fatal(err)
		}
		sum.Messages += got.Messages
		sum.Conversations += got.Conversations
		sum.Purged += got.Purged
		sum.Denied.Conversations += got.Denied.Conversations
		sum.Refused = append(sum.Refused, got.Refused...)
		if got.Conversations == 0 {
			last, err := into.Put(ctx, merge.Set{Stones: stones}, merge.Terms{Purges: true})
			if err != nil {
				t.Fatal(err)
			}
			sum.Purged += last.Purged
			return sum
		}
	}
	t.Error("a meeting that does not end")
	return sum
}

func bring(t *testing.T, from, into *exchange.Peer, id scrollback.ArtifactID) {
	t.Helper()
	ctx := context.Background()
	lacks, err := into.LacksArtifacts(ctx, []scrollback.ArtifactID{id})
	if err != nil || len(lacks) == 0 {
		return
	}
	r, size, err := from.OpenArtifact(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := into.PutArtifact(ctx, id, r, size); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) peer() *exchange.Peer { return m.side().Peer(merge.Access{}) }

// TestPeersHandOver: what goes as records is the same as what is read from a store, with bytes, folds and views.
func TestPeersHandOver(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := openMachine(t, "a", t.TempDir())
	b := openMachine(t, "b", t.TempDir())
	id := a.create()
	for range 8 {
		a.say(id, "one "+string(bytes.Repeat([]byte("word "), 200)))
	}
	art, err := a.Upload(ctx, id, bytes.NewReader([]byte("\x00\x01 bytes")), "n.bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range a.Turn(ctx, engine.TurnRequest{Conversation: id,
		Message: scrollback.Parts{scrollback.Text{Text: "see"}, scrollback.File{Artifact: art.ID}}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Compact(ctx, id, engine.CompactRequest{}); err != nil {
		t.Fatal(err)
	}
	pull(t, a.peer(), b.peer())
	wantEqual(t, a, b)
	if x, y := a.said(id), b.said(id); x != y {
		t.Errorf("a says %q, b %q", x, y)
	}
	one, err := a.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if one.Title != other.Title || one.Messages != other.Messages || one.Project != other.Project ||
		one.CreatedAt != other.CreatedAt {
		t.Errorf("%+v\n%+v", one, other)
	}
	for _, m := range []*machine{a, b} {
		if found, err := doctor.Check(ctx, m.Store, m.Archive, nil); err != nil || !found.OK {
			t.Errorf("%s: %+v, %v", m.name, found, err)
		}
	}
	if got := pull(t, a.peer(), b.peer()); got.Conversations > 0 {
		t.Errorf("again: %+v", got)
	}
}

// TestPeersInParts: what does not fit one answer comes in several, and whoever never had it stands at its newest end,
// whichever branch that is on.
func TestPeersInParts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := openMachine(t, "a", t.TempDir())
	b := openMachine(t, "b", t.TempDir())
	id := a.create()
	long := strings.Repeat("what is long ", 3000)
	for i := range 30 {
		if i == 20 { // of two branches the second is the newer one
			seq := int64(10)
			if _, err := a.Branches().Rewind(ctx, id, engine.Point{Seq: &seq}); err != nil {
				t.Fatal(err)
			}
		}
		a.say(id, fmt.Sprint(i, " ", long))
	}
	from := a.peer()
	wanted, err := merge.Missing(ctx, b.peer(), from)
	if err != nil {
		t.Fatal(err)
	}
	first, err := from.Records(ctx, wanted)
	if err != nil || len(first.Conversations) != 1 || len(first.Conversations[0].Messages) >= 60 {
		t.Fatalf("one answer has all, %v", err)
	}
	pull(t, from, b.peer())
	wantEqual(t, a, b)
	if x, y := a.said(id), b.said(id); x != y {
		t.Errorf("a stands at %.40q, b at %.40q", x, y)
	}
}

// TestEnvironmentArrives: what a model was told of its place first is the same everywhere, also where the conversation
// was there before anything was told; what each machine tells when its day changes stays its own.
func TestEnvironmentArrives(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	open := func(name, dir string, day int) *machine {
		sb, err := local.Open(t.Context(), dir, &local.Options{Model: "offline", Env: func(string) string { return "" },
			Engine: engine.Options{Place: &workspace.Place{OS: "linux", Now: noon.AddDate(0, 0, day)}}})
		if err != nil {
			t.Fatal(err)
		}
		return &machine{t, name, sb}
	}
	atA := t.TempDir()
	atB := t.TempDir()
	var id scrollback.ConversationID
	for day := range 3 {
		a := open("a", atA, day)
		b := open("b", atB, day)
		if day == 0 {
			id = a.create()
			pull(t, a.peer(), b.peer())
		}
		a.say(id, "first")
		pull(t, a.peer(), b.peer())
		wantEqual(t, a, b)
		b.say(id, "second")
		b.takeFrom(a)
		a.takeFrom(b)
		wantEqual(t, a, b)
		for _, m := range []*machine{a, b} {
			c, err := m.Get(t.Context(), id)
			if err != nil || c.Environment == nil || c.Environment.First.Date != "2026-12-01" {
				t.Errorf("%s has %+v, %v", m.name, c.Environment, err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPeersOfKeys: a key pulls and pushes what it sees, learns nothing of the rest, and changes nothing of it.
func TestPeersOfKeys(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := openMachine(t, "server", t.TempDir())
	laptop := openMachine(t, "laptop", t.TempDir())
	mine := server.create()
	secret := server.create()
	for id, project := range map[scrollback.ConversationID]string{mine: "mine", secret: "secret"} {
		if _, err := server.Patch(ctx, id, 0, func(c *scrollback.Conversation) error {
			c.Project = project
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		server.say(id, "about "+project)
	}
	may := merge.Access{Projects: []string{"mine", "new"}, NoPurges: true}
	pull(t, server.side().Peer(may), laptop.peer())
	all, err := laptop.Store.Move.ListAll(ctx)
	if err != nil || len(all) != 1 || all[0].ID != mine {
		t.Fatalf("%+v, %v", all, err)
	}
	laptop.say(mine, "more")
	fresh := laptop.create()
	hidden := laptop.create()
	for id, project := range map[scrollback.ConversationID]string{fresh: "new", hidden: "secret"} {
		if _, err := laptop.Patch(ctx, id, 0, func(c *scrollback.Conversation) error {
			c.Project = project
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		laptop.say(id, "for "+project)
	}
	got := pull(t, laptop.peer(), server.side().Peer(may))
	if got.Messages != 4 || got.Denied.Total() == 0 {
		t.Errorf("%+v", got)
	}
	all, err = server.Store.Move.ListAll(ctx)
	isHidden := func(c scrollback.Conversation) bool { return c.ID == hidden }
	if err != nil || len(all) != 3 || slices.ContainsFunc(all, isHidden) {
		t.Errorf("%+v, %v", all, err)
	}
	// Who knows the id of a message that the key does not see gets no further by it: not by a fork that goes on from it.
	var behind scrollback.Message
	for m, err := range server.Store.WalkConversation(ctx, secret) {
		if err != nil {
			t.Fatal(err)
		}
		behind = m
	}
	thief := scrollback.ConversationID("01a22f00-0000-7000-8000-00000000f00d")
	set := merge.Set{Conversations: []merge.Conversation{{ID: thief, CreatedAt: 1,
		Parent:   &merge.Parent{Conversation: secret, Message: behind.ID},
		Fields:   map[string]merge.Field{"project": {Value: json.RawMessage(`"mine"`)}},
		Branches: []merge.Branch{{ID: "01a22f00-0000-7000-8000-00000000beef", Leaves: behind.ID}}}}}
	if _, err := server.side().Peer(may).Put(ctx, set, merge.Terms{}); err != nil {
		t.Fatal(err)
	}
	if c, err := server.Get(ctx, thief); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("a fork of what the key does not see: %+v, %v", c, err)
	}
	if got, err := server.side().Peer(merge.Access{}).Put(ctx, set, merge.Terms{}); err != nil || got.New != 1 {
		t.Errorf("and by one that sees it: %+v, %v", got, err)
	}
	// Nor by the hash of bytes that others have: they have to be brought.
	art, err := server.Upload(ctx, secret, strings.NewReader("\x00\x01 hidden bytes"), "n.bin")
	if err != nil {
		t.Fatal(err)
	}
	mention := merge.Set{Conversations: []merge.Conversation{{ID: mine, CreatedAt: 1,
		Fields:   map[string]merge.Field{"project": {Value: json.RawMessage(`"mine"`)}},
		Mentions: []merge.Mention{{Artifact: art.ID, Name: "n.bin", Size: 16, CreatedAt: 1}}}}}
	knows := server.side().Peer(may)
	if got, err := knows.Put(ctx, mention, merge.Terms{}); err != nil || len(got.Waiting) != 1 {
		t.Errorf("a mention without bytes: %+v, %v", got, err)
	}
	if err := knows.PutArtifact(ctx, art.ID, strings.NewReader("\x00\x01 hidden bytes"), 15); err != nil {
		t.Fatal(err)
	}
	if got, err := knows.Put(ctx, mention, merge.Terms{}); err != nil || len(got.Waiting) != 0 {
		t.Errorf("with them: %+v, %v", got, err)
	}
	reads := may
	reads.ReadOnly = true
	if _, err := server.side().Peer(reads).Put(ctx, merge.Set{}, merge.Terms{}); scrollback.CodeOf(err) !=
		scrollback.Refused {
		t.Error(err)
	}
}
