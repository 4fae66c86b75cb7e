package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/transfer"
)

// pins sets the pins of a conversation, as no face may.
func (r *rig) pins(id scrollback.ConversationID, seqs ...int64) {
	r.t.Helper()
	if _, err := r.store.Patch(context.Background(), id, 0,
		func(c *scrollback.Conversation) error { c.PinnedSeqs = seqs; return nil }); err != nil {
		r.t.Fatal(err)
	}
}

// An import that brings another path as the current one takes no pin to a message that
// nobody pinned.
func TestPinsWhenAnImportSwitchesThePath(t *testing.T) {
	ctx := context.Background()
	there, here := newRig(t, rigOptions{}, chatter()), newRig(t, rigOptions{}, chatter())
	id := there.conversation()
	for i := range 4 {
		there.ask(id, fmt.Sprint("question ", i)).done(t, scrollback.TurnComplete, "stop")
	}
	here.brings(there.pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultCreated)
	here.pins(id, 1, 5)
	at := int64(4)
	if _, err := there.Rewind(ctx, id, engine.Point{Seq: &at}); err != nil {
		t.Fatal(err)
	}
	there.ask(id, "something else").done(t, scrollback.TurnComplete, "stop")
	here.brings(there.pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultExtended)
	pinned, err := here.Pinned(ctx, id)
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
			there, here := newRig(t, rigOptions{}, chatter()), newRig(t, rigOptions{}, chatter())
			id := there.conversation()
			for i := range 12 {
				there.ask(id, fmt.Sprint("question ", i)).done(t, scrollback.TurnComplete, "stop")
			}
			if ms := there.log(id); len(ms[5].Parts.Calls()) != 1 || len(ms[6].Parts.Results()) != 1 {
				t.Fatalf("#6 and #7 are %+v", ms[5:7])
			}
			there.pins(id, pins...)
			here.brings(there.pack(id, transfer.ExportRequest{}), transfer.ImportRequest{}, transfer.ResultCreated)
			if _, err := here.Compact(ctx, id, engine.CompactRequest{Force: true}); err != nil {
				t.Fatal(err)
			}
			here.ask(id, "go on").done(t, scrollback.TurnComplete, "stop")
			if _, err := here.Pinned(ctx, id); err != nil {
				t.Error(err)
			}
			if _, err := here.Fork(ctx, id, engine.Point{}, ""); err != nil {
				t.Error(err)
			}
			at := int64(4)
			if _, err := here.Rewind(ctx, id, engine.Point{Seq: &at}); err != nil {
				t.Error(err)
			}
		})
	}
}
