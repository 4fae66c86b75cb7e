package terminal

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Reasoning is shown where it is all there is of an answer, and nowhere else.
func TestOnlyThoughtIsShown(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true},
		modeltest.Step{Deltas: []model.Delta{{Reasoning: "I ponder"}}},
		modeltest.Step{Deltas: []model.Delta{{Reasoning: "I ponder"}, {Text: "four"}}})
	id := r.NewConversation()
	for _, want := range []string{"I ponder\n", "four\n"} {
		var answer, notes strings.Builder
		p := &Printer{Answer: &answer, Notes: &notes, Texts: words.English}
		err := p.RunTurn(t.Context(), r.View, engine.TurnRequest{Conversation: id, Message: scrollback.Say("q")})
		if said := strings.Contains(notes.String(), "only thought"); err != nil || answer.String() != want ||
			said != (want[0] == 'I') {
			t.Errorf("answer %q, notes %q, %v", answer.String(), notes.String(), err)
		}
	}
}
