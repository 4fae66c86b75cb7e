package transfer_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// using returns a talk whose messages used tokens; 0 is one that a person said.
func using(id string, used ...int64) talk {
	texts := make([]string, len(used))
	for i := range used {
		texts[i] = id + string(rune('a'+i))
	}
	t := line(id, texts...)
	for i, n := range used {
		t.Nodes[i].Used = n
	}
	return t
}

// counts compares how many imported calls there are, and what went into them, with what is wanted.
func (h *home) counts(calls, in int64) {
	h.T.Helper()
	sums, err := h.View.Usage(context.Background(), scrollback.UsageQuery{ByTool: true})
	if err != nil {
		h.T.Fatal(err)
	}
	want := []scrollback.UsageSum{}
	if calls > 0 {
		want = []scrollback.UsageSum{{Tool: "talks", Imported: true, Calls: calls, Usage: scrollback.Usage{InputTokens: in,
			OutputTokens: 10 * calls, TotalTokens: in + 10*calls, Currency: "USD"}}}
	}
	for i := range sums {
		if sums[i].Cost <= 0 {
			h.T.Error("the catalog did not price it")
		}
		sums[i].Cost = 0
	}
	if d := cmp.Diff(want, sums); d != "" {
		h.T.Errorf("usage (-want +got):\n%s", d)
	}
}

// What a tool's answers used is counted once: not by another import, not in a copy, and not when the conversation was
// purged and is brought again; what a session grows by is added. It is nobody's spending.
func TestImportedCallsAreCountedOnce(t *testing.T) {
	ctx := context.Background()
	h := newHome(t)
	a := using("a", 0, 100, 0, 200)
	f := files{"a": {a}}
	h.counts(0, 0)
	h.bring(f, "a")
	h.counts(2, 300)
	h.bring(f, "a")
	h.counts(2, 300)

	grown := using("a", 0, 100, 0, 200, 0, 400)
	f["a"] = []talk{grown}
	h.bring(f, "a")
	h.counts(3, 700)

	fork := grown // a copy of the session under another name, which went on by itself
	fork.ID = "b"
	fork.Nodes = append(append([]node{}, grown.Nodes...), node{ID: "own", Parent: grown.Leaf, Text: "own", Used: 800})
	fork.Leaf = "own"
	f["b"] = []talk{fork}
	h.bring(f, "b")
	h.counts(4, 1500)

	id := h.of("a").Conversation
	if _, err := h.Trash(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Purge(ctx, id); err != nil {
		t.Fatal(err)
	}
	h.counts(4, 1500)
	if _, err := h.try(f, "a", transfer.ImportRequest{Again: true}); err != nil {
		t.Fatal(err)
	}
	h.counts(4, 1500)

	spent, err := h.Store.Books.SumSpending(ctx, "", scrollback.DefaultProject, "USD")
	if err != nil || spent.TotalTokens != 0 || spent.Cost != 0 {
		t.Errorf("spending: %+v, %v", spent, err)
	}
}

// A model that a tool names without its provider costs what its maker takes; what a tool noted itself stays; a
// model that nobody knows has no price.
func TestPricesOfImportedCalls(t *testing.T) {
	h := newHome(t)
	price := func(model string, used scrollback.Usage) (float64, string) {
		u := h.View.Bulk().AddPrice(model, used)
		return u.Cost, u.Currency
	}
	used := scrollback.Usage{InputTokens: 1_000_000}
	for _, model := range []string{"claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"} {
		if cost, currency := price(model, used); cost != 3 || currency != "USD" {
			t.Errorf("%s: %v %s", model, cost, currency)
		}
	}
	own := scrollback.Usage{InputTokens: 9, Cost: 7, Currency: "EUR"}
	if cost, currency := price("claude-sonnet-4-5", own); cost != 7 || currency != "EUR" {
		t.Errorf("what was noted: %v %s", cost, currency)
	}
	for _, model := range []string{"", "nobody-knows", "elsewhere/claude-sonnet-4-5"} {
		if cost, currency := price(model, used); cost != 0 || currency != "" {
			t.Errorf("%q: %v %s", model, cost, currency)
		}
	}
}

// atOf returns when a node of a talk was said, in Unix ms.
func atOf(n node) int64 {
	sum := sha256.Sum256([]byte(n.ID))
	return 1_700_000_000_000 + int64(sum[0])*1000
}

// Of a session whose requests came to this program only those calls are counted that were made before and after.
func TestImportedCallsThatCameThroughHere(t *testing.T) {
	ctx := context.Background()
	h := newHome(t)
	a := using("s", 100, 200)
	write := func(name string, at int64) {
		t.Helper()
		scope := threading.Scope{Project: "another", Caller: "somebody"}
		id := threading.ThreadID(name)
		err := h.Store.Threads.Write(ctx, threading.Rows{Thread: &threading.ThreadRow{ID: id, Scope: scope},
			Name:    &threading.NameRow{Scope: scope, Name: name, Thread: id},
			Request: &threading.RequestRow{ID: threading.RequestID(name), Thread: id, Scope: scope, At: time.UnixMilli(at)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	write("session:other", atOf(a.Nodes[0]))
	write("session:late", atOf(a.Nodes[0])+2*store.CallWindow)
	write("session:s", atOf(a.Nodes[0]))
	h.bring(files{"s": {a}}, "s")
	h.counts(0, 0)
	late := using("late", 400)
	h.bring(files{"late": {late}}, "late")
	if d := atOf(late.Nodes[0]) - atOf(a.Nodes[0]); d > store.CallWindow {
		t.Fatal("the clock of the test is wrong")
	}
	h.counts(1, 400)

	own := scrollback.UsageRecord{Model: "openai/gpt-5", Purpose: "turn", At: atOf(using("n", 900).Nodes[0]) + 1000,
		Usage: scrollback.Usage{InputTokens: 900, OutputTokens: 10, TotalTokens: 910}}
	if err := h.Store.Books.EnterUsage(ctx, "p", []scrollback.UsageRecord{own}); err != nil {
		t.Fatal(err)
	}
	h.bring(files{"n": {using("n", 900, 901)}}, "n")
	sums, err := h.View.Usage(ctx, scrollback.UsageQuery{ByTool: true})
	if err != nil || len(sums) != 2 || sums[0].Imported == sums[1].Imported {
		t.Fatalf("%+v, %v", sums, err)
	}
	for _, s := range sums {
		if s.Imported && (s.Calls != 2 || s.InputTokens != 400+901) || !s.Imported && s.InputTokens != 900 {
			t.Errorf("%+v", s)
		}
	}
}
