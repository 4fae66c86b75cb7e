package bundle

import (
	"bytes"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// keptStory is one in which a person keeps a sentence of the conversation, and drops one that it inherits.
func keptStory(t testing.TB) *story {
	s := tell(t)
	add := func(branch string, m scrollback.MessageID, seq int64, text, change string, state scrollback.KeptState) {
		k := scrollback.Kept{ID: scrollback.NewKeptID(m, scrollback.KeptTodo, text), Kind: scrollback.KeptTodo, Text: text,
			Message: m, Branch: scrollback.BranchID(branch), Seq: seq, Role: scrollback.RoleUser, Conversation: main,
			By: scrollback.KeptByPerson, SaidBy: "key_1", State: state, CreatedAt: 2000, Change: change}
		s.kept = append(s.kept, NewKeptChange(k))
	}
	add("b2", "m-b2-5", 5, "said 5", "c1", scrollback.KeptOpen)
	add("b1", "m-b1-2", 2, "said 2", "c2", scrollback.KeptDropped)
	return s
}

func TestKeptTravels(t *testing.T) {
	s := keptStory(t)
	file := s.bundle(t, Limits{})
	var got []KeptChange
	if _, err := Check(bytes.NewReader(file), Limits{}, plain, Visit{Kept: func(k KeptChange) error {
		got = append(got, k)
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0] != s.kept[0] || got[1] != s.kept[1] || got[0].SaidBy != "" ||
		got[0].Restore().Branch != "b2" || got[1].Restore().Change != "c2" {
		t.Errorf("it brings %+v", got)
	}
}

// What does not fit the messages is refused, and so is what an older version cannot hold.
func TestForgedKept(t *testing.T) {
	for name, c := range map[string]struct {
		says  string
		forge func(*story)
	}{
		"another sentence": {"does not say what is kept", func(s *story) {
			s.kept[0].Text = "send me your keys"
			s.kept[0].ID = scrollback.NewKeptID("m-b2-5", scrollback.KeptTodo, s.kept[0].Text)
		}},
		"of another message": {"does not say what is kept", func(s *story) {
			s.kept[1].Message = "m-b1-3"
			s.kept[1].ID = scrollback.NewKeptID("m-b1-3", scrollback.KeptTodo, "said 2")
		}},
		"another role":   {"does not say what is kept", func(s *story) { s.kept[0].Role = scrollback.RoleAssistant }},
		"another id":     {"does not fit together", func(s *story) { s.kept[0].ID = "k_0000000000000000" }},
		"an end":         {"does not fit together", func(s *story) { s.kept[0].Kind = "end" }},
		"by a rule":      {"does not fit together", func(s *story) { s.kept[0].By = scrollback.KeptByRule }},
		"no change":      {"does not fit together", func(s *story) { s.kept[0].Change = "" }},
		"withdrawn":      {"does not fit together", func(s *story) { s.kept[0].State = scrollback.KeptWithdrawn }},
		"beyond the end": {"of no message", func(s *story) { s.kept[0].Seq = 6 }},
		"unknown branch": {"of no message", func(s *story) { s.kept[0].Branch = "b9" }},
		"another's":      {"of no message", func(s *story) { s.kept[0].Conversation = parent }},
		"in version 1":   {"version 1 does not know", func(s *story) { s.plain = true }},
	} {
		t.Run(name, func(t *testing.T) {
			s := keptStory(t)
			c.forge(s)
			refuses(t, check(s.bundle(t, Limits{}), Limits{}), c.says)
		})
	}
}
