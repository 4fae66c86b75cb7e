package drivertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunViews runs the suite. Each call of open returns an empty driver.
func RunViews(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*viewsHarness){"Sent": testSent, "SentPurged": testSentPurged,
		"Refold": testRefold} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&viewsHarness{driverHarness: newDriverHarness(t, d, 1_000_000)})
		})
	}
}

// viewsHarness is a driver under test with a clock and a source of ids.
type viewsHarness struct {
	driverHarness
}

// wantRefused wants an error of a code, and the head of a conversation as it was.
func (w *viewsHarness) wantRefused(c scrollback.Conversation, want scrollback.Code, do func() error) {
	w.t.Helper()
	before := w.readHead(c.ID)
	if err := do(); scrollback.CodeOf(err) != want {
		w.t.Fatalf("error %v, want %s", err, want)
	}
	w.wantSame("the head after it", before, w.readHead(c.ID))
}

func (w *viewsHarness) addConversation() scrollback.Conversation {
	w.t.Helper()
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.newID("conversation")), Project: "p", Version: 1,
		CreatedAt: w.advanceClock(),
		UpdatedAt: w.now}
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), Conversation: c.ID, UpdatedAt: w.now}
	c.Branch = b.ID
	c, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	return c
}

// beginTurn begins a turn with that number of messages.
func (w *viewsHarness) beginTurn(c scrollback.Conversation, messages int) scrollback.Turn {
	w.t.Helper()
	var entries []driver.Entry
	for range messages {
		entries = append(entries, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(w.newID("message")),
			Role:  scrollback.RoleUser,
			Parts: scrollback.Say("said"), Status: scrollback.StatusComplete, CreatedAt: w.advanceClock(),
			Weight: scrollback.Weight{Tokens: 5, Bytes: 4}}})
	}
	b, err := w.Turns.Begin(w.ctx, driver.BeginRequest{Now: w.advanceClock(), Entries: entries,
		Turn: scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")),
			Conversation: c.ID, Owner: "o", LeaseUntil: w.now + viewsLease, StartedAt: w.now}})
	w.wantOK(err)
	return b.Turn
}

const viewsLease = 30_000

func (w *viewsHarness) endTurn(t scrollback.Turn) {
	w.t.Helper()
	_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: t.ID, Owner: t.Owner, Now: w.advanceClock(),
		State: scrollback.TurnComplete})
	w.wantOK(err)
}

// commitFold folds the messages of the current branch from first to last.
func (w *viewsHarness) commitFold(c scrollback.Conversation, first, last int64) driver.FoldCommit {
	w.t.Helper()
	b := w.readHead(c.ID).Branch
	s := scrollback.Segment{ID: scrollback.SegmentID(w.newID("segment")), Conversation: c.ID, Branch: b.ID,
		FirstSeq: first, LastSeq: last,
		Messages: int(last - first + 1), Placeholder: "folded", TokensBefore: 90, TokensAfter: 9, CreatedAt: w.advanceClock()}
	cm := driver.FoldCommit{Conversation: c.ID, Branch: b.ID, IfViewVersion: b.ViewVersion,
		Segments: []scrollback.Segment{s},
		Now:      w.advanceClock(),
		View: scrollback.View{Boundary: last, Sum: scrollback.Weight{Tokens: 5 * last, Bytes: 4 * last},
			Segments: append(append([]scrollback.ViewItem{}, b.View.Segments...),
				scrollback.ViewItem{ID: s.ID, FirstSeq: first, LastSeq: last})},
		Receipt: scrollback.Receipt{Result: scrollback.ResultCompacted, Segments: []scrollback.SegmentID{s.ID},
			Refs: []scrollback.Ref{scrollback.HistoryRef(s.ID)}, FirstSeq: first, LastSeq: last, Reason: scrollback.ReasonWindow,
			DurationMS: 7,
			Tries:      []scrollback.Try{{Model: "m", Result: scrollback.ResultEmptySummary, Why: "为空"}}, CreatedAt: w.now}}
	w.wantOK(w.Views.CommitFold(w.ctx, cm))
	return cm
}

func (w *viewsHarness) undoFold(c scrollback.Conversation) {
	w.t.Helper()
	_, err := w.Views.UndoFold(w.ctx, driver.FoldUndo{Branch: c.Branch, Now: w.advanceClock()})
	w.wantOK(err)
}

func (w *viewsHarness) purgeConversation(c scrollback.Conversation) {
	w.t.Helper()
	p, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: c.ID, Now: w.advanceClock(), Limit: 99})
	if w.wantOK(err); !p.Done {
		w.t.Fatal("the purge is not done")
	}
}

// fullAccount returns what a step sent, with one of everything.
func fullAccount(step int) *scrollback.SentRequest {
	return &scrollback.SentRequest{Step: step, At: 12, Model: "maker/model", Policy: "segments", Limit: 9000,
		LimitFrom: scrollback.LimitRequest, Budget: 7000,
		CompactsAt: 6300, Tokens: 500, Bytes: 2000, Images: 1, Reused: 300, Dialect: "strict", ImageURLs: true, Factor: 1.25,
		Runs: []scrollback.SentRun{{Kind: scrollback.KindInstructions, Layer: scrollback.LayerInstructions, Tokens: 20},
			{Kind: scrollback.KindPlaceholder, Layer: scrollback.LayerPlaceholders, Seq: 1, LastSeq: 4, Tokens: 80},
			{Kind: scrollback.KindMessage, Layer: scrollback.LayerPrompt, Seq: 5, LastSeq: 9, Tokens: 400}},
		Instructions: "i", Tools: "t", Environment: "e", Segments: []scrollback.SegmentID{"s1", "s2"},
		Summary: &scrollback.ViewSummary{Segment: "s2", FirstSeq: 1, LastSeq: 4, Tokens: 30}, Carried: []int64{2},
		Pinned: []int64{1, 3}, PinnedTokens: 700,
		First: 5, Last: 9, Prompt: 9, FoldedAt: 6, Again: []int{0, 2},
		Web: &scrollback.SentSearch{Query: "海 tide", Results: 3, Chars: 150}, Hash: "h"}
}

// finishSent ends a step that sent something.
func (w *viewsHarness) finishSent(turn scrollback.Turn, sent *scrollback.SentRequest, texts map[string]string) {
	w.t.Helper()
	_, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
		LeaseUntil: w.now + viewsLease,
		State:      scrollback.TurnOpen, Sent: sent, Texts: texts})
	w.wantOK(err)
}

func (w *viewsHarness) readSteps(id scrollback.TurnID) []scrollback.SentRequest {
	w.t.Helper()
	got, err := w.Turns.ReadSteps(w.ctx, id)
	w.wantOK(err)
	return got
}

func (w *viewsHarness) readTexts(of scrollback.ConversationID, hashes ...string) map[string]string {
	w.t.Helper()
	got, err := w.Turns.ReadTexts(w.ctx, of, hashes)
	w.wantOK(err)
	return got
}

// testSent: accounts come back as they went in, in the order of their steps, each in place
// of the one before; nothing is kept of a step that was refused.
func testSent(w *viewsHarness) {
	c := w.addConversation()
	turn := w.beginTurn(c, 1)
	w.wantSame("no steps", []scrollback.SentRequest(nil), w.readSteps(turn.ID))
	w.wantSame("of an unknown turn", []scrollback.SentRequest(nil), w.readSteps("none"))
	w.finishSent(turn, fullAccount(2), nil)
	w.finishSent(turn, fullAccount(1), map[string]string{"i": "Be brief.", "t": "[]"})
	w.finishSent(turn, nil, nil)
	w.wantSame("steps", []scrollback.SentRequest{*fullAccount(1), *fullAccount(2)}, w.readSteps(turn.ID))
	bare := &scrollback.SentRequest{Step: 2, Model: "m", Runs: []scrollback.SentRun{}}
	w.finishSent(turn, bare, map[string]string{"i": "another text of the same hash is not believed"})
	w.wantSame("the newer account", []scrollback.SentRequest{*fullAccount(1), *bare}, w.readSteps(turn.ID))
	w.wantSame("texts", map[string]string{"i": "Be brief.", "t": "[]"}, w.readTexts(c.ID, "t", "unknown", "i"))
	w.wantSame("of another conversation", map[string]string{}, w.readTexts(w.addConversation().ID, "i"))
	w.wantRefused(c, scrollback.Conflict, func() error {
		_, err := w.Turns.FinishStep(w.ctx,
			driver.FinishedStep{Turn: turn.ID, Owner: "somebody", Sent: fullAccount(3), Now: w.now,
				State: scrollback.TurnOpen})
		return err
	})
	w.wantSame("after a refusal", 2, len(w.readSteps(turn.ID)))
}

// testSentPurged: what a purged conversation sent is gone, and a text with the last
// conversation that names it.
func testSentPurged(w *viewsHarness) {
	var cs []scrollback.Conversation
	var turns []scrollback.Turn
	for i := range 2 {
		c := w.addConversation()
		turn := w.beginTurn(c, 1)
		w.finishSent(turn, fullAccount(1),
			map[string]string{"both": "shared", fmt.Sprint("own", i): strings.Repeat("own ", i+1)})
		w.endTurn(turn)
		cs = append(cs, c)
		turns = append(turns, turn)
	}
	w.purgeConversation(cs[0])
	w.wantSame("steps", 0, len(w.readSteps(turns[0].ID)))
	w.wantSame("texts", map[string]string{}, w.readTexts(cs[0].ID, "both", "own0"))
	w.wantSame("the other's steps", 1, len(w.readSteps(turns[1].ID)))
	w.wantSame("the other's texts", map[string]string{"both": "shared", "own1": "own own "},
		w.readTexts(cs[1].ID, "both", "own0", "own1"))
	w.purgeConversation(cs[1])
	w.wantSame("texts of nobody", map[string]string{}, w.readTexts(cs[1].ID, "both", "own1"))
}

// testRefold: folds that were undone are done again, with the views that they left; others
// are refused, and write nothing.
func testRefold(w *viewsHarness) {
	c := w.addConversation()
	w.endTurn(w.beginTurn(c, 6))
	one := w.commitFold(c, 1, 2)
	two := w.commitFold(c, 3, 4)
	folds := func(undone bool, want ...driver.FoldCommit) []driver.Fold {
		w.t.Helper()
		got, err := w.Views.ListFolds(w.ctx, driver.FoldQuery{Branch: c.Branch, Undone: undone, Limit: 9})
		w.wantOK(err)
		if len(got) != len(want) {
			w.t.Fatalf("%d folds, want %d", len(got), len(want))
		}
		for i, cm := range want {
			w.wantSame("receipt", cm.Receipt, got[i].Receipt)
			if undone {
				w.wantSame("the view after it", cm.View, got[i].After)
			}
		}
		return got
	}
	folds(false, two, one)
	folds(true)
	for range 2 {
		w.undoFold(c)
	}
	undone := folds(true, two, one)
	w.wantSame("the view before the second", one.View, undone[0].Before)
	folds(false)
	refold := func(number, back int64) (scrollback.Receipt, error) {
		return w.Views.RedoFold(w.ctx, driver.FoldRedo{Branch: c.Branch, Number: number, Now: w.advanceClock(),
			IfViewVersion: w.readHead(c.ID).Branch.ViewVersion - back})
	}
	for _, bad := range [][2]int64{{undone[0].Number, 1}, {9999, 0}} {
		w.wantRefused(c, scrollback.Conflict, func() error { _, err := refold(bad[0], bad[1]); return err })
	}
	slices.Reverse(undone)
	for i, cm := range []driver.FoldCommit{one, two} {
		before := w.readHead(c.ID)
		got, err := refold(undone[i].Number, 0)
		w.wantOK(err)
		w.wantSame("receipt", cm.Receipt, got)
		h := w.readHead(c.ID)
		w.wantSame("view", cm.View, h.Branch.View)
		w.wantSame("view version", before.Branch.ViewVersion+1, h.Branch.ViewVersion)
	}
	w.wantRefused(c, scrollback.Conflict, func() error { _, err := refold(undone[0].Number, 0); return err })
	folds(true)
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.wantOK(err)
	w.wantSame("receipts", []scrollback.Receipt{two.Receipt, one.Receipt}, receipts)
	w.undoFold(c)
	folds(true, two)
}
