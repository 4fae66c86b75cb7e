package bundle

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// person returns the id of the nth conversation of a line, the oldest first.
func person(n int) scrollback.ConversationID {
	return scrollback.ConversationID(fmt.Sprintf("01a1fd70-0000-7000-8000-1%011d", n))
}

// line returns a bundle of n conversations, each of which inherits from all before it, with
// the branches that are listed: "of id parent at head". Messages are made for them; a
// parent of - is none.
func line(t testing.TB, n int, branches ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, person(n-1), Limits{})
	ok := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	ok(err)
	all := make([][]Branch, n)
	for _, text := range branches {
		var of int
		var b Branch
		if _, err := fmt.Sscan(text, &of, &b.ID, &b.Parent, &b.AtSeq, &b.HeadSeq); err != nil {
			t.Fatal(text, err)
		}
		if b.Conversation = person(of); b.Parent == "-" {
			b.Parent = ""
		}
		all[of] = append(all[of], b)
	}
	var above []scrollback.ConversationID
	for i, own := range all {
		c := Conversation{Inherited: i < n-1, Ancestors: above}
		c.ID = person(i)
		above = append([]scrollback.ConversationID{c.ID}, above...)
		if !c.Inherited {
			c.Branch = own[0].ID
		}
		ok(w.BeginConversation(c))
		for _, b := range own {
			ok(w.AddBranch(b))
		}
		for _, b := range own {
			for seq := b.AtSeq + 1; seq <= b.HeadSeq; seq++ {
				ok(w.AddMessage(scrollback.Message{ID: scrollback.MessageID(fmt.Sprintf("m-%s-%d", b.ID, seq)),
					ConversationID: c.ID,
					Branch:         b.ID,
					Seq:            seq,
					Role:           scrollback.RoleUser, Status: scrollback.StatusComplete, CreatedAt: 1,
					Parts: scrollback.Parts{scrollback.Text{Text: "x"}}}))
			}
		}
	}
	ok(w.Close())
	return out.Bytes()
}

// An ancestor is named only by what comes from it: its name opens what it holds.
func TestAncestorsAreOnThePath(t *testing.T) {
	for name, branches := range map[string][]string{
		"no message of the fork's own": {"0 a - 0 3", "1 b a 3 3"},
		"fork of a fork":               {"0 a - 0 3", "1 b a 3 5", "2 c b 5 6"},
		"rewound into an ancestor":     {"0 a - 0 3", "1 b a 3 5", "2 c b 5 6", "2 d a 2 4", "2 e b 4 4"},
		"and to the beginning":         {"0 a - 0 3", "1 b a 3 5", "2 c b 5 6", "2 d - 0 2"},
		"branches of an ancestor":      {"0 a - 0 3", "0 b a 2 4", "1 c b 4 5", "1 d a 3 5"},
	} {
		t.Run(name, func(t *testing.T) {
			n := int(branches[len(branches)-1][0]-'0') + 1
			if err := check(line(t, n, branches...), Limits{}); err != nil {
				t.Error(err)
			}
		})
	}
	for name, c := range map[string]struct {
		says     string
		branches []string
	}{
		"empty":                  {"no branch of it comes from", []string{"0 a - 0 0", "1 b - 0 2"}},
		"beside the path":        {"no branch of it comes from", []string{"0 a - 0 3", "1 b - 0 2"}},
		"by a branch of its own": {"no branch of it comes from", []string{"0 a - 0 3", "1 b - 0 2", "1 c b 1 2"}},
		"empty, above another":   {"no branch of it comes from", []string{"0 a - 0 0", "1 b - 0 2", "2 c b 2 3"}},
		"not of its heir": {"no branch of it comes from",
			[]string{"0 a - 0 3", "1 b - 0 2", "2 c b 2 3", "2 d a 3 4"}},
		"not of the last": {"no branch of it comes from", []string{"0 a - 0 3", "1 b a 3 4", "2 c a 3 4"}},
		"by another branch of it": {"no branch of it comes from",
			[]string{"0 a - 0 3", "1 b a 3 4", "1 c - 0 2", "2 d c 2 4"}},
		"more than the path":   {"the path leaves it at #2", []string{"0 a - 0 3", "1 b a 2 4"}},
		"a branch more":        {"the path leaves it at #0", []string{"0 a - 0 3", "0 x - 0 3", "1 b a 3 4"}},
		"an empty branch more": {"the path leaves it at #0", []string{"0 a - 0 3", "0 x a 3 3", "1 b a 3 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := int(c.branches[len(c.branches)-1][0]-'0') + 1
			refuses(t, check(line(t, n, c.branches...), Limits{}), c.says)
		})
	}
}

// The way up a path is short, however long the path, and leads where a climb does.
func TestOwner(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	p := &conversationPart{}
	all := []*branchState{p.addBranch(scrollback.Branch{ID: "0", HeadSeq: 3}, nil)}
	const n = 20_000
	for i := 1; i < n; i++ {
		parent := all[max(0, i-1-random.IntN(3))]
		at := parent.AtSeq + 1 + random.Int64N(parent.HeadSeq-parent.AtSeq)
		all = append(all, p.addBranch(scrollback.Branch{ID: scrollback.BranchID(fmt.Sprint(i)), AtSeq: at,
			HeadSeq: at + 1 + random.Int64N(3)},
			parent))
	}
	if all[n-1].depth < n/10 {
		t.Fatalf("the longest path has only %d branches", all[n-1].depth)
	}
	for range 500 {
		b := all[n-1-random.IntN(n/2)]
		seq := 1 + random.Int64N(b.HeadSeq)
		want := b
		for want.AtSeq >= seq {
			want = want.up
		}
		if got := b.ownerOf(seq); got != want {
			t.Fatalf("#%d of the path of %s is of %s, want %s", seq, b.ID, got.ID, want.ID)
		}
		steps := 0
		for at := b; at != want; steps++ {
			if at.jump.AtSeq >= seq {
				at = at.jump
			} else {
				at = at.up
			}
		}
		if most := 4 * bits.Len(uint(b.depth)); steps > most {
			t.Fatalf("%d steps for a path of %d branches, want at most %d", steps, b.depth, most)
		}
	}
}

// What a conversation says of itself is kept, so it is bounded, and one that is only
// inherited from says nothing.
func TestConversationIsBounded(t *testing.T) {
	for name, set := range map[string]func(*Conversation){
		"title":        func(c *Conversation) { c.Title = "x" },
		"instructions": func(c *Conversation) { c.Instructions = strings.Repeat("x", 1<<20) },
		"environment":  func(c *Conversation) { c.Environment = &scrollback.Environment{} },
		"branch":       func(c *Conversation) { c.Branch = "b1" },
		"meta":         func(c *Conversation) { c.Meta = json.RawMessage(`{}`) },
		"pins":         func(c *Conversation) { c.PinnedSeqs = []int64{1} },
		"parent":       func(c *Conversation) { c.Parent = &scrollback.ParentRef{} },
		"tools":        func(c *Conversation) { c.Settings.Tools = []scrollback.Tool{{Name: "f"}} },
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			set(&s.conversations[0])
			refuses(t, check(s.bundle(t, Limits{}), Limits{}), "more about itself than its id")
		})
	}
	entry := conversationPath + string(main) + "/conversation.json"
	long := func(n int) []byte {
		return replace(t, entry, func(s string) string { return s + strings.Repeat(" ", n-len(s)) })
	}
	if err := check(long(maxConversation), Limits{}); err != nil {
		t.Errorf("as long as may be: %v", err)
	}
	refuses(t, check(long(maxConversation+1), Limits{}), "too large")

	s := tell(t)
	s.conversations[1].Environment = &scrollback.Environment{Text: strings.Repeat("x", maxConversation)}
	w, err := NewWriter(&bytes.Buffer{}, main, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, w.BeginConversation(s.conversations[1]), "too large")
}

// The number of ancestors has a bound, and those that are named are those that came.
func TestAncestorsAreBounded(t *testing.T) {
	deep := func(n int) (out []string) {
		out = []string{"0 b0 - 0 1"}
		for i := 1; i < n; i++ {
			out = append(out, fmt.Sprintf("%d b%d b%d %d %d", i, i, i-1, i, i+1))
		}
		return out
	}
	if err := check(line(t, maxAncestors+1, deep(maxAncestors+1)...), Limits{}); err != nil {
		t.Errorf("%d ancestors: %v", maxAncestors, err)
	}
	var items []item
	for i := range maxAncestors + 2 {
		text := `{"id":"` + string(person(i)) + `"}`
		items = append(items, item{conversationPath + string(person(i)) + "/conversation.json", []byte(text), tar.TypeReg})
	}
	header := item{headerName, []byte(`{"format":"` + Format + `","version":1}`), tar.TypeReg}
	_, err := Walk(bytes.NewReader(forge(t, append([]item{header}, items...))), Limits{}, Visit{})
	refuses(t, err, "inherits from more than")
	w, err := NewWriter(&bytes.Buffer{}, main, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, w.BeginConversation(Conversation{Ancestors: make([]scrollback.ConversationID, maxAncestors+1)}),
		"too large")
	for name, forge := range map[string]func([]scrollback.ConversationID) []scrollback.ConversationID{
		"twice": func(a []scrollback.ConversationID) []scrollback.ConversationID { return append(a, a[0]) },
		"itself": func([]scrollback.ConversationID) []scrollback.ConversationID {
			return []scrollback.ConversationID{main}
		},
		"nothing": func([]scrollback.ConversationID) []scrollback.ConversationID { return nil },
	} {
		s := tell(t)
		s.conversations[1].Ancestors = forge(s.conversations[1].Ancestors)
		if err := check(s.bundle(t, Limits{}), Limits{}); err == nil {
			t.Errorf("%s: it is taken", name)
		} else {
			refuses(t, err, "inherits from others")
		}
	}
}

// Whatever an import remembers counts: receipts too, and what roll-ups hold.
func TestRecordsCount(t *testing.T) {
	s := tell(t)
	records := len(s.artifacts) + len(s.folds)
	for i := range s.conversations {
		records += len(s.segments[i]) + len(s.branches[i]) + len(s.mentions[i])
	}
	if err := check(s.bundle(t, Limits{}), Limits{Records: records}); err != nil {
		t.Fatal(err)
	}
	refuses(t, check(s.bundle(t, Limits{}), Limits{Records: records - 1}), "too large")
	roll := &s.segments[1][0]
	roll.Children = slices.Repeat(roll.Children, records)
	refuses(t, check(s.bundle(t, Limits{}), Limits{Records: records}), "segments hold more than")
}
