package store_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
)

// What was counted on a message's way in is not counted again when it is stored, and weighs
// the same.
func TestCountedOnce(t *testing.T) {
	counts := map[string]int{}
	s, err := store.New(oracle.New(), func(text string) int { counts[text]++; return len(text) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := s.CreateConversation(t.Context(), scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.ReadHead(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	parts := scrollback.Parts{scrollback.Text{Text: "a long answer"},
		scrollback.ToolCall{ID: "c1", Name: "look", Arguments: []byte(`{"at":1}`)}}
	in := store.IncomingMessage{Message: scrollback.Message{Role: scrollback.RoleAssistant, Parts: parts},
		Counted: store.TokenCounts{}}
	want := s.WeighParts(in.Parts, in.Counted)
	done, err := s.AppendMessages(t.Context(), head, []store.IncomingMessage{in})
	if err != nil {
		t.Fatal(err)
	}
	if got := done.Messages[0].Weight; got != want {
		t.Errorf("it weighs %+v, and %+v when it is stored", want, got)
	}
	for text, n := range counts {
		if n != 1 {
			t.Errorf("%q was counted %d times", text, n)
		}
	}
	if len(counts) != 4 {
		t.Errorf("%d texts were counted: %v", len(counts), counts)
	}
}
