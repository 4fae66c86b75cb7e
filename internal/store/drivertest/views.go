package drivertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunViews runs the suite. Each call of open returns an empty driver.
func RunViews(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*viewsBench){"Sent": testSent, "SentPurged": testSentPurged,
		"Refold": testRefold} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&viewsBench{Driver: d, t: t, ctx: t.Context(), now: 1_000_000})
		})
	}
}

// viewsBench is a driver under test with a clock and a source of ids.
type viewsBench struct {
	*driver.Driver
	t   *testing.T
	ctx context.Context
	now int64
	n   int
}

func (w *viewsBench) tick() int64 {
	w.now += 10
	return w.now
}

func (w *viewsBench) id() string {
	w.n++
	return fmt.Sprintf("%08x-0000-7000-8000-000000000000", w.n)
}

func (w *viewsBench) ok(err error) {
	if err != nil {
		w.t.Helper()
		w.t.Fatal(err)
	}
}

func (w *viewsBench) same(what string, want, got any) {
	w.t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		w.t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// refused wants an error of a code, and the head of a conversation as it was.
func (w *viewsBench) refused(c scrollback.Conversation, want scrollback.Code, do func() error) {
	w.t.Helper()
	before := w.head(c)
	if err := do(); scrollback.CodeOf(err) != want {
		w.t.Fatalf("error %v, want %s", err, want)
	}
	w.same("the head after it", before, w.head(c))
}

func (w *viewsBench) head(c scrollback.Conversation) driver.Head {
	w.t.Helper()
	h, err := w.Log.ReadHead(w.ctx, c.ID)
	w.ok(err)
	return h
}

func (w *viewsBench) conversation() scrollback.Conversation {
	w.t.Helper()
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.id()), Project: "p", Version: 1, CreatedAt: w.tick(),
		UpdatedAt: w.now}
	b := scrollback.Branch{ID: scrollback.BranchID(w.id()), Conversation: c.ID, UpdatedAt: w.now}
	c.Branch = b.ID
	c, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.ok(err)
	return c
}

// begin begins a turn with so many messages.
func (w *viewsBench) begin(c scrollback.Conversation, messages int) scrollback.Turn {
	w.t.Helper()
	var entries []driver.Entry
	for range messages {
		entries = append(entries, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(w.id()),
			Role:  scrollback.RoleUser,
			Parts: scrollback.Say("said"), Status: scrollback.StatusComplete, CreatedAt: w.tick(),
			Weight: scrollback.Weight{Tokens: 5, Bytes: 4}}})
	}
	b, err := w.Turns.Begin(w.ctx, driver.BeginRequest{Now: w.tick(), Entries: entries,
		Turn: scrollback.Turn{ID: scrollback.TurnID(w.id()),
			Conversation: c.ID, Owner: "o", LeaseUntil: w.now + viewsLease, StartedAt: w.now}})
	w.ok(err)
	return b.Turn
}

const viewsLease = 30_000

func (w *viewsBench) end(t scrollback.Turn) {
	w.t.Helper()
	_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: t.ID, Owner: t.Owner, Now: w.tick(),
		State: scrollback.TurnComplete})
	w.ok(err)
}

// fold folds the messages of the current branch from first to last.
func (w *viewsBench) fold(c scrollback.Conversation, first, last int64) driver.FoldCommit {
	w.t.Helper()
	b := w.head(c).Branch
	s := scrollback.Segment{ID: scrollback.SegmentID(w.id()), Conversation: c.ID, Branch: b.ID, FirstSeq: first,
		LastSeq:  last,
		Messages: int(last - first + 1), Placeholder: "folded", TokensBefore: 90, TokensAfter: 9, CreatedAt: w.tick()}
	cm := driver.FoldCommit{Conversation: c.ID, Branch: b.ID, IfViewVersion: b.ViewVersion,
		Segments: []scrollback.Segment{s},
		Now:      w.tick(),
		View: scrollback.View{Boundary: last, Sum: scrollback.Weight{Tokens: 5 * last, Bytes: 4 * last},
			Segments: append(append([]scrollback.ViewItem{}, b.View.Segments...),
				scrollback.ViewItem{ID: s.ID, FirstSeq: first, LastSeq: last})},
		Receipt: scrollback.Receipt{Result: scrollback.ResultCompacted, Segments: []scrollback.SegmentID{s.ID},
			Refs: []scrollback.Ref{scrollback.HistoryRef(s.ID)}, FirstSeq: first, LastSeq: last, Reason: scrollback.ReasonWindow,
			DurationMS: 7,
			Tries:      []scrollback.Try{{Model: "m", Result: scrollback.ResultEmptySummary, Why: "为空"}}, CreatedAt: w.now}}
	w.ok(w.Views.CommitFold(w.ctx, cm))
	return cm
}

func (w *viewsBench) unfold(c scrollback.Conversation) {
	w.t.Helper()
	_, err := w.Views.UndoFold(w.ctx, driver.FoldUndo{Branch: c.Branch, Now: w.tick()})
	w.ok(err)
}

func (w *viewsBench) purge(c scrollback.Conversation) {
	w.t.Helper()
	p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: c.ID, Now: w.tick(), Limit: 99})
	if w.ok(err); !p.Done {
		w.t.Fatal("the purge is not done")
	}
}

// account is what a step sent, with one of everything.
func account(step int) *scrollback.SentRequest {
	return &scrollback.SentRequest{Step: step, At: 12, Model: "maker/model", Policy: "segments", Limit: 9000,
		LimitFrom: scrollback.LimitRequest, Budget: 7000,
		CompactsAt: 6300, Tokens: 500, Bytes: 2000, Images: 1, Reused: 300, Dialect: "strict", ImageURLs: true, Factor: 1.25,
		Runs: []scrollback.SentRun{{Kind: scrollback.KindInstructions, Layer: scrollback.LayerInstructions, Tokens: 20},
			{Kind: scrollback.KindPlaceholder, Layer: scrollback.LayerPlaceholders, Seq: 1, LastSeq: 4, Tokens: 80},
			{Kind: scrollback.KindMessage, Layer: scrollback.LayerPrompt, Seq: 5, LastSeq: 9, Tokens: 400}},
		Instructions: "i", Tools: "t", Environment: "e", Segments: []scrollback.SegmentID{"s1", "s2"},
		Summary: &scrollback.ViewSummary{Segment: "s2", FirstSeq: 1, LastSeq: 4, Tokens: 30}, Carried: []int64{2},
		Pinned: []int64{1, 3}, PinnedTokens: 700,
		First: 5, Last: 9, Prompt: 9, Again: []int{0, 2},
		Web: &scrollback.SentSearch{Query: "海 tide", Results: 3, Chars: 150}, Hash: "h"}
}

// finishSent ends a step that sent something.
func (w *viewsBench) finishSent(turn scrollback.Turn, sent *scrollback.SentRequest, texts map[string]string) {
	w.t.Helper()
	_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.tick(),
		LeaseUntil: w.now + viewsLease,
		State:      scrollback.TurnOpen, Sent: sent, Texts: texts})
	w.ok(err)
}

func (w *viewsBench) steps(id scrollback.TurnID) []scrollback.SentRequest {
	w.t.Helper()
	got, err := w.Turns.ReadSteps(w.ctx, id)
	w.ok(err)
	return got
}

func (w *viewsBench) texts(of scrollback.ConversationID, hashes ...string) map[string]string {
	w.t.Helper()
	got, err := w.Turns.ReadTexts(w.ctx, of, hashes)
	w.ok(err)
	return got
}

// testSent: accounts come back as they went in, in the order of their steps, each in place
// of the one before; nothing is kept of a step that was refused.
func testSent(w *viewsBench) {
	c := w.conversation()
	turn := w.begin(c, 1)
	w.same("no steps", []scrollback.SentRequest(nil), w.steps(turn.ID))
	w.same("of an unknown turn", []scrollback.SentRequest(nil), w.steps("none"))
	w.finishSent(turn, account(2), nil)
	w.finishSent(turn, account(1), map[string]string{"i": "Be brief.", "t": "[]"})
	w.finishSent(turn, nil, nil)
	w.same("steps", []scrollback.SentRequest{*account(1), *account(2)}, w.steps(turn.ID))
	bare := &scrollback.SentRequest{Step: 2, Model: "m", Runs: []scrollback.SentRun{}}
	w.finishSent(turn, bare, map[string]string{"i": "another text of the same hash is not believed"})
	w.same("the newer account", []scrollback.SentRequest{*account(1), *bare}, w.steps(turn.ID))
	w.same("texts", map[string]string{"i": "Be brief.", "t": "[]"}, w.texts(c.ID, "t", "unknown", "i"))
	w.same("of another conversation", map[string]string{}, w.texts(w.conversation().ID, "i"))
	w.refused(c, scrollback.Conflict, func() error {
		_, err := w.Turns.FinishStep(w.ctx,
			driver.FinishedStep{Turn: turn.ID, Owner: "somebody", Sent: account(3), Now: w.now,
				State: scrollback.TurnOpen})
		return err
	})
	w.same("after a refusal", 2, len(w.steps(turn.ID)))
}

// testSentPurged: what a purged conversation sent is gone, and a text with the last
// conversation that names it.
func testSentPurged(w *viewsBench) {
	var cs []scrollback.Conversation
	var turns []scrollback.Turn
	for i := range 2 {
		c := w.conversation()
		turn := w.begin(c, 1)
		w.finishSent(turn, account(1), map[string]string{"both": "shared", fmt.Sprint("own", i): strings.Repeat("own ", i+1)})
		w.end(turn)
		cs = append(cs, c)
		turns = append(turns, turn)
	}
	w.purge(cs[0])
	w.same("steps", 0, len(w.steps(turns[0].ID)))
	w.same("texts", map[string]string{}, w.texts(cs[0].ID, "both", "own0"))
	w.same("the other's steps", 1, len(w.steps(turns[1].ID)))
	w.same("the other's texts", map[string]string{"both": "shared", "own1": "own own "},
		w.texts(cs[1].ID, "both", "own0", "own1"))
	w.purge(cs[1])
	w.same("texts of nobody", map[string]string{}, w.texts(cs[1].ID, "both", "own1"))
}

// testRefold: folds that were undone are done again, with the views that they left; others
// are refused, and write nothing.
func testRefold(w *viewsBench) {
	c := w.conversation()
	w.end(w.begin(c, 6))
	one := w.fold(c, 1, 2)
	two := w.fold(c, 3, 4)
	folds := func(undone bool, want ...driver.FoldCommit) []driver.Fold {
		w.t.Helper()
		got, err := w.Views.ListFolds(w.ctx, driver.FoldQuery{Branch: c.Branch, Undone: undone, Limit: 9})
		w.ok(err)
		if len(got) != len(want) {
			w.t.Fatalf("%d folds, want %d", len(got), len(want))
		}
		for i, cm := range want {
			w.same("receipt", cm.Receipt, got[i].Receipt)
			if undone {
				w.same("the view after it", cm.View, got[i].After)
			}
		}
		return got
	}
	folds(false, two, one)
	folds(true)
	for range 2 {
		w.unfold(c)
	}
	undone := folds(true, two, one)
	w.same("the view before the second", one.View, undone[0].Before)
	folds(false)
	refold := func(number, back int64) (scrollback.Receipt, error) {
		return w.Views.RedoFold(w.ctx, driver.FoldRedo{Branch: c.Branch, Number: number, Now: w.tick(),
			IfViewVersion: w.head(c).Branch.ViewVersion - back})
	}
	for _, bad := range [][2]int64{{undone[0].Number, 1}, {9999, 0}} {
		w.refused(c, scrollback.Conflict, func() error { _, err := refold(bad[0], bad[1]); return err })
	}
	slices.Reverse(undone)
	for i, cm := range []driver.FoldCommit{one, two} {
		before := w.head(c)
		got, err := refold(undone[i].Number, 0)
		w.ok(err)
		w.same("receipt", cm.Receipt, got)
		h := w.head(c)
		w.same("view", cm.View, h.Branch.View)
		w.same("view version", before.Branch.ViewVersion+1, h.Branch.ViewVersion)
	}
	w.refused(c, scrollback.Conflict, func() error { _, err := refold(undone[0].Number, 0); return err })
	folds(true)
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.ok(err)
	w.same("receipts", []scrollback.Receipt{two.Receipt, one.Receipt}, receipts)
	w.unfold(c)
	folds(true, two)
}
