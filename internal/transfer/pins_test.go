package transfer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// setPins sets the pins of a conversation, as no face may.
func setPins(r *enginetest.Rig, id scrollback.ConversationID, seqs ...int64) {
	r.T.Helper()
	if _, err := r.Store.PatchConversation(context.Background(), id, 0,
		func(c *scrollback.Conversation) error { c.PinnedSeqs = seqs; return nil }); err != nil {
		r.T.Fatal(err)
	}
}

// An import that brings another path as the current one takes no pin to a message that
// nobody pinned.
func TestPinsWhenAnImportSwitchesThePath(t *testing.T) {
	ctx := context.Background()
	there := enginetest.New(t, enginetest.Options{}, enginetest.ChattyStep())
	here := enginetest.New(t, enginetest.Options{},
		enginetest.ChattyStep())
	id := there.NewConversation()
	for i := range 4 {
		there.Ask(id, fmt.Sprint("question ", i)).WantDone(t, scrollback.TurnComplete, "stop")
	}
	brings(here, there.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultCreated)
	setPins(here, id, 1, 5)
	at := int64(4)
	if _, err := there.Branches().Rewind(ctx, id, engine.Point{Seq: &at}); err != nil {
		t.Fatal(err)
	}
	there.Ask(id, "something else").WantDone(t, scrollback.TurnComplete, "stop")
	brings(here, there.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultExtended)
	pinned, err := here.PinnedMessages(ctx, id)
	if err != nil || len(pinned) != 1 || !strings.Contains(pinned[0].Parts.Text(), "question 0") {
		t.Errorf("pinned are %+v, %v", pinned, err)
	}
}

// Pins that a bundle brings to messages that are not there, or that are half of a call,
// neither break the conversation nor its requests.
func TestPinsOfAHostileBundle(t *testing.T) {
	ctx := context.Background()
	for _, pins := range [][]int64{{9999}, {6}, {7}, {6, 7}} {
		t.Run(fmt.Sprint(pins), func(t *testing.T) {
			there := enginetest.New(t, enginetest.Options{}, enginetest.ChattyStep())
			here := enginetest.New(t, enginetest.Options{},
				enginetest.ChattyStep())
			id := there.NewConversation()
			for i := range 12 {
				there.Ask(id, fmt.Sprint("question ", i)).WantDone(t, scrollback.TurnComplete, "stop")
			}
			if ms := there.Log(id); len(ms[5].Parts.Calls()) != 1 || len(ms[6].Parts.Results()) != 1 {
				t.Fatalf("#6 and #7 are %+v", ms[5:7])
			}
			setPins(there, id, pins...)
			brings(here, there.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultCreated)
			if _, err := here.Compact(ctx, id, engine.CompactRequest{Force: true}); err != nil {
				t.Fatal(err)
			}
			here.Ask(id, "go on").WantDone(t, scrollback.TurnComplete, "stop")
			if _, err := here.PinnedMessages(ctx, id); err != nil {
				t.Error(err)
			}
			if _, err := here.Branches().Fork(ctx, id, engine.Point{}, ""); err != nil {
				t.Error(err)
			}
			at := int64(4)
			if _, err := here.Branches().Rewind(ctx, id, engine.Point{Seq: &at}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A bundle and a fork leave out what the conversation does.
func TestBundleKeepsWhatIsLeftOut(t *testing.T) {
	ctx := context.Background()
	there := enginetest.New(t, enginetest.Options{}, enginetest.ChattyStep())
	here := enginetest.New(t, enginetest.Options{},
		enginetest.ChattyStep())
	id := there.NewConversation()
	there.Ask(id, "the herons nest here").WantDone(t, scrollback.TurnComplete, "stop")
	there.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("go on"), Without: &[]int64{1}}).WantDone(t,
		scrollback.TurnComplete, "stop")
	brings(here, there.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultCreated)
	fork, err := here.Branches().Fork(ctx, id, engine.Point{}, "fork")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []scrollback.ConversationID{id, fork.ID} {
		page, err := here.Turns().Page(ctx, at, scrollback.PageQuery{})
		if err != nil || len(page.Messages) == 0 || len(page.Without) != 1 || page.Without[0] != 1 {
			t.Errorf("%s leaves out %v, %v", at, page.Without, err)
		}
	}
}
