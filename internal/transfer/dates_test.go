package transfer_test

import (
	"context"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// What is brought stands in lists at the time of its newest message, until somebody goes on
// here.
func TestBringDates(t *testing.T) {
	ctx := context.Background()
	h := newHome(t)
	f := files{"a": {line("a", "one", "two")}, "b": {line("b", "three", "four", "five")}}
	var ids []scrollback.ConversationID
	for name := range f {
		ids = append(ids, h.bring(f, name).Conversations[0].ID)
	}
	for _, id := range ids {
		c, err := h.Get(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		newest := int64(0)
		for _, m := range h.Log(id) {
			newest = max(newest, m.CreatedAt)
		}
		if newest == 0 || c.UpdatedAt != newest {
			t.Errorf("a conversation of %d, whose newest message is of %d", c.UpdatedAt, newest)
		}
	}
	h.Ask(ids[0], "go on").WantDone(t, scrollback.TurnComplete, "stop")
	list, _, err := h.List(ctx, scrollback.ListQuery{})
	if err != nil || len(list) != 2 || list[0].ID != ids[0] || list[0].UpdatedAt != h.Clock.Load() {
		t.Errorf("the list is %+v, %v", list, err)
	}
}
