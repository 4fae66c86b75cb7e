package ids_test

import (
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/ids"
)

// What the ids of this version are: they are stored, and never change.
func TestIDsStay(t *testing.T) {
	c := ids.Conversation("claude-code", "s1")
	m := ids.Message(c, "", "u1", ids.Said{Hash: sha256.Sum256([]byte("hello")), At: 1_700_000_000_000})
	for name, c := range map[string]struct{ got, want string }{
		"conversation":    {string(c), "d7cceaad-0704-8ee2-b195-6da1951a9dc9"},
		"in a project":    {string(ids.ConversationIn("claude-code", "s1", "p")), "9943e119-79a1-866f-860c-790731680bd6"},
		"of before":       {string(ids.ConversationBefore("claude-code", "s1", "p")), "8a5a2e9d-208f-5748-8fdc-35a4067549d1"},
		"its root branch": {string(ids.RootBranch(c)), "00000000-0000-7717-a3fd-edcddaaba7e6"},
		"message":         {string(m), "018bcfe5-6800-8e4f-8b06-fd18f36a88d9"},
		"branch":          {string(ids.Branch(m)), "018bcfe5-6800-81f9-8675-c54a54573266"},
		"segment": {string(ids.Segment(scrollback.Segment{Conversation: c, Branch: ids.RootBranch(c), FirstSeq: 1, LastSeq: 2,
			Hash: "h", Renderer: 2, Summary: "s", Placeholder: "p", CreatedAt: 1_700_000_000_000})), "018bcfe5-6800-8a11-8cbc-27ba453255ee"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
		if _, err := uuid.Parse(c.got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An id depends on each thing that it follows from, and on where one of them ends and the next begins.
func TestIDsDiffer(t *testing.T) {
	said := func(text string, at int64) ids.Said { return ids.Said{Hash: sha256.Sum256([]byte(text)), At: at} }
	other := said("a", 1)
	other.Status = scrollback.StatusInterrupted
	segment := scrollback.Segment{Conversation: "c", Branch: "b", FirstSeq: 1, LastSeq: 2, Hash: "h", Renderer: 1,
		Summary: "s", Placeholder: "p", SummaryOf: 1}
	all := []string{
		string(ids.Conversation("a", "bc")), string(ids.Conversation("ab", "c")), string(ids.ConversationIn("a", "b", "c")),
		string(ids.ConversationIn("a", "bc", "")),
		string(ids.Message("c", "", "", said("a", 1))), string(ids.Message("d", "", "", said("a", 1))),
		string(ids.Message("c", "x", "", said("a", 1))), string(ids.Message("c", "", "x", said("a", 1))),
		string(ids.Message("c", "", "", said("b", 1))), string(ids.Message("c", "", "", said("a", 2))),
		string(ids.Message("c", "", "", other)), string(ids.Branch("a")), string(ids.Branch("b")),
		string(ids.Segment(segment)),
	}
	for _, edit := range []func(*scrollback.Segment){
		func(s *scrollback.Segment) { s.Conversation = "d" }, func(s *scrollback.Segment) { s.Branch = "d" },
		func(s *scrollback.Segment) { s.FirstSeq++ }, func(s *scrollback.Segment) { s.LastSeq++ },
		func(s *scrollback.Segment) { s.Hash = "d" }, func(s *scrollback.Segment) { s.Renderer++ },
		func(s *scrollback.Segment) { s.Summary = "d" }, func(s *scrollback.Segment) { s.Placeholder = "d" },
		func(s *scrollback.Segment) { s.SummaryOf++ },
	} {
		s := segment
		edit(&s)
		all = append(all, string(ids.Segment(s)))
	}
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) {
		t.Errorf("%d of %d differ: %q", n, len(all), all)
	}
	whole := said("a", 1)
	whole.Status = scrollback.StatusComplete
	if ids.Message("c", "", "", whole) != ids.Message("c", "", "", said("a", 1)) {
		t.Error("a message without a status is complete")
	}
	for id, want := range map[string]bool{all[0]: true, uuid.Must(uuid.NewV7()).String(): false, "": false, "8": false,
		string(ids.ConversationBefore("a", "b", "c")): false, string(ids.RootBranch("c")): false} {
		if ids.IsDerived(id) != want {
			t.Errorf("%q is derived: %v", id, !want)
		}
	}
}

// Later messages have later ids, branches come in the order of their first messages, and the root branch before all.
func TestIDsInOrder(t *testing.T) {
	last := string(ids.RootBranch("c"))
	before := scrollback.MessageID("")
	for _, at := range []int64{1, 255, 256, 1_700_000_000_000, 1_700_000_000_001, 1 << 47} {
		m := ids.Message("c", before, "", ids.Said{At: at})
		b := string(ids.Branch(m))
		if b[:13] != string(m[:13]) || b <= last {
			t.Errorf("at %d: message %s, branch %s after %s", at, m, b, last)
		}
		last = b
		before = m
	}
	if m := ids.Message("c", "", "", ids.Said{At: -1}); m[:13] != "00000000-0000" {
		t.Errorf("of no time: %s", m)
	}
}
