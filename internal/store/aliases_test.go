package store_test

import (
	"context"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
)

// Whoever has an id that was given up finds what it names; where ids are found, no alias is looked at.
func TestAliases(t *testing.T) {
	ctx := context.Background()
	faulty := &drivertest.Faulty{At: 1 << 40}
	b := newBench(t, faulty.Wrap(oracle.New()))
	create := func(id, project string) scrollback.Conversation {
		t.Helper()
		c, _, err := b.CreateConversation(ctx, scrollback.Conversation{ID: scrollback.ConversationID(id), Project: project})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := create("0a000000-0000-4000-8000-000000000001", "p")
	create("0b000000-0000-4000-8000-000000000002", "q")
	h, err := b.ReadHead(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) store.IncomingMessage {
		return store.IncomingMessage{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say(text)}}
	}
	begun, err := b.Turns.Begin(ctx, store.BeginRequest{Conversation: c.ID, Owner: "o",
		Messages: []store.IncomingMessage{say("one")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Turns.FinishStep(ctx,
		store.FinishRequest{Turn: begun.Turn, State: scrollback.TurnComplete}); err != nil {
		t.Fatal(err)
	}
	segment := scrollback.Segment{ID: "0c000000-0000-4000-8000-000000000003", Conversation: c.ID, Branch: h.Branch.ID,
		FirstSeq: 1, LastSeq: 1, Messages: 1, Hash: "h"}
	if h, err = b.ReadHead(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Views.CommitFold(ctx, store.FoldCommit{Conversation: c.ID, Branch: h.Branch.ID,
		IfViewVersion: h.Branch.ViewVersion, Segments: []scrollback.Segment{segment}}); err != nil {
		t.Fatal(err)
	}
	ref := scrollback.HistoryRef(segment.ID)
	if _, err := b.ResolveName(ctx, string(c.ID), nil); err != nil {
		t.Fatal(err)
	}
	if e, err := b.Refs.Get(ctx, c.ID, ref); err != nil || e.Ref != ref {
		t.Fatalf("%+v, %v", e, err)
	}
	if faulty.Called("FindAliases") {
		t.Error("aliases were looked at for ids that are there")
	}

	const old = "ff000000-0000-7000-8000-00000000000"
	if err := b.Aliases.Put(ctx, []store.Alias{{Kind: store.AliasConversation, ID: old + "1", Now: string(c.ID)},
		{Kind: store.AliasBranch, ID: old + "2", Now: string(h.Branch.ID)},
		{Kind: store.AliasTurn, ID: old + "3", Now: string(begun.Turn.ID)},
		{Kind: store.AliasSegment, ID: old + "4", Now: string(segment.ID)},
		{Kind: store.AliasConversation, ID: old + "5", Now: "nobody"}}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.ReadHead(ctx, old+"1"); err != nil || got.ID != c.ID {
		t.Errorf("%+v, %v", got, err)
	}
	for _, id := range []scrollback.ConversationID{old + "5", old + "6"} {
		if _, err := b.ReadHead(ctx, id); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, name := range []string{old + "1", "ff000000", "FF000000-0000"} {
		if id, err := b.ResolveName(ctx, name, nil); err != nil || id != c.ID {
			t.Errorf("%s is %s, %v", name, id, err)
		}
		if id, err := b.ResolveName(ctx, name, []string{"p"}); err != nil || id != c.ID {
			t.Errorf("%s is %s, %v", name, id, err)
		}
		if _, err := b.ResolveName(ctx, name, []string{"q"}); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%s for others: %v", name, err)
		}
	}
	if got, err := b.Branches.Find(ctx, h, old+"2"); err != nil || got.ID != h.Branch.ID {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := b.Turns.Get(ctx, old+"3"); err != nil || got.ID != begun.Turn.ID {
		t.Errorf("%+v, %v", got, err)
	}
	for _, of := range []scrollback.ConversationID{c.ID, old + "1"} {
		if e, err := b.Refs.Get(ctx, of, scrollback.HistoryRef(old+"4")); err != nil || e.Ref != ref {
			t.Errorf("%+v, %v", e, err)
		}
		if page, _, err := b.ReadPage(ctx, of, scrollback.PageQuery{}); err != nil || len(page) != 1 {
			t.Errorf("%+v, %v", page, err)
		}
		if all, err := b.Branches.List(ctx, of); err != nil || len(all) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
	}
	if of, err := b.Refs.FindOwner(ctx, scrollback.HistoryRef(old+"4")); err != nil || of != c.ID {
		t.Errorf("%s, %v", of, err)
	}
	if in, err := b.Refs.ListMentions(ctx, scrollback.HistoryRef(old+"4"), nil); err != nil || len(in) != 1 {
		t.Errorf("%v, %v", in, err)
	}
	if _, err := b.Refs.Get(ctx, c.ID, scrollback.HistoryRef(old+"9")); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("%v", err)
	}
}
