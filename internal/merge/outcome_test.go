package merge_test

import (
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// A conversation that comes in several batches is one, and what is refused or held twice is named once.
func TestOutcomeAdd(t *testing.T) {
	var sum merge.Outcome
	counted := map[scrollback.ConversationID]bool{}
	one := merge.Outcome{Conversations: 2, New: 1, Messages: 5, Changed: []scrollback.ConversationID{"a", "b"},
		Refused: []merge.Refused{{Conversation: "a", Record: "title", Now: 3}}, Held: []scrollback.ConversationID{"x"},
		Waiting: []scrollback.ConversationID{"w"}, Denied: merge.Denied{Purges: 1}}
	sum.Add(one, counted)
	one.Changed = []scrollback.ConversationID{"b", "c"}
	one.New = 0
	sum.Add(one, counted)
	if sum.Conversations != 3 || sum.New != 1 || sum.Messages != 10 || len(sum.Refused) != 1 || sum.Denied.Total() != 2 ||
		!slices.Equal(sum.Held, []scrollback.ConversationID{"x"}) || len(sum.Waiting)+len(sum.Changed) > 0 {
		t.Errorf("%+v", sum)
	}
}
