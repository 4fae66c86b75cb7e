// Package drivertest is what every [driver.Driver] has to pass: each sentence of
// the contract as a test, whatever the database.
//
//   - [Run]: the suite, each test on its own driver
//   - [RunMarks]: the suite, with the marks of what is stored looked at behind each call
//   - [RunReopen]: what a database on disk still knows after it was closed
//   - [RunWalk]: one random list of operations on two drivers, compared throughout
//   - [WantEqual]: whether two drivers hold the same
//   - [CheckInvariants]: the invariants of the log, for tests that break things on purpose
//
// Words it adds: harness (a driver under test with a clock and a source of ids).
//
// Where the contract leaves a choice the suite leaves it too: rows are compared
// with nil and empty lists alike, a closed turn without its owner and lease, and
// no lease ends at the very millisecond somebody looks.
//
// It knows the contract and the root, and no driver.
package drivertest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// suiteTest is a test by name; it gets an empty driver.
type suiteTest struct {
	name string
	test func(*harness)
}

var suiteTests = []suiteTest{
	{"Create", testCreate},
	{"CreateKnown", testCreateKnown},
	{"Patch", testPatch},
	{"PatchError", testPatchError},
	{"PatchKeepsTheLog", testPatchKeepsTheLog},
	{"NotFound", testNotFound},
	{"List", testList},
	{"ListFilters", testListFilters},
	{"Projects", testProjects},
	{"Prefix", testPrefix},
	{"MessageRoundTrip", testMessageRoundTrip},
	{"MessageIDs", testMessageIDs},
	{"Seqs", testSeqs},
	{"ForkSeqs", testForkSeqs},
	{"MessageRuns", testMessageRuns},
	{"Begin", testBegin},
	{"BeginRefused", testBeginRefused},
	{"BeginOneOpenTurn", testBeginOneOpenTurn},
	{"BeginAdmit", testBeginAdmit},
	{"BeginEdit", testBeginEdit},
	{"BeginEditUncalled", testBeginEditUncalled},
	{"LeaseTakenOver", testLeaseTakenOver},
	{"TakeOver", testTakeOver},
	{"LeaseTakenOverUnsalvaged", testLeaseTakenOverUnsalvaged},
	{"LeaseAdmitRefuses", testLeaseAdmitRefuses},
	{"LeaseLost", testLeaseLost},
	{"LeaseLapsed", testLeaseLapsed},
	{"Idempotency", testIdempotency},
	{"IdempotencyConflict", testIdempotencyConflict},
	{"IdempotencyExpires", testIdempotencyExpires},
	{"IdempotencyScope", testIdempotencyScope},
	{"Save", testSave},
	{"SaveConflict", testSaveConflict},
	{"Stop", testStop},
	{"FinishStep", testFinishStep},
	{"FinishReply", testFinishReply},
	{"FinishEnds", testFinishEnds},
	{"FinishConflict", testFinishConflict},
	{"Meta", testMeta},
	{"Troubled", testTroubled},
	{"Append", testAppend},
	{"AppendHeld", testAppendHeld},
	{"AppendIfHead", testAppendIfHead},
	{"AppendTakesOver", testAppendTakesOver},
	{"Commit", testCommit},
	{"CommitConflict", testCommitConflict},
	{"CommitNothing", testCommitNothing},
	{"CommitMeanwhile", testCommitMeanwhile},
	{"Unfold", testUnfold},
	{"UnfoldOfAFork", testUnfoldOfAFork},
	{"Without", testWithout},
	{"WithoutRewound", testWithoutRewound},
	{"Receipts", testReceipts},
	{"Segments", testSegments},
	{"RefEntries", testRefEntries},
	{"RefPages", testRefPages},
	{"RefScope", testRefScope},
	{"Artifacts", testArtifacts},
	{"Mentions", testMentions},
	{"Copies", testCopies},
	{"ConcurrentConversations", testConcurrentConversations},
	{"ConcurrentBegin", testConcurrentBegin},
	{"ConcurrentKey", testConcurrentKey},
	{"ConcurrentAppend", testConcurrentAppend},
	{"ConcurrentIfHead", testConcurrentIfHead},
	{"ConcurrentCommit", testConcurrentCommit},
	{"Books", testBooks},
	{"BooksInBounds", testBooksInBounds},
	{"Factor", testFactor},
	{"Teach", testTeach},
	{"TeachAndFactor", testTeachAndFactor},
	{"ConcurrentTeach", testConcurrentTeach},
	{"Audit", testAudit},
	{"AuditMeanwhile", testAuditMeanwhile},
	{"AuditStops", testAuditStops},
	{"MendSound", testMendSound},
	{"MendView", testMendView},
	{"MendLease", testMendLease},
	{"Copy", testCopy},
	{"Rewind", testRewind},
	{"RewindRefused", testRewindRefused},
	{"RewindTurns", testRewindTurns},
	{"RewindTakesOver", testRewindTakesOver},
	{"ForkRefused", testForkRefused},
	{"ForkOfInherited", testForkOfInherited},
	{"LinesInherited", testLinesInherited},
	{"Branches", testBranches},
	{"UnfoldInherited", testUnfoldInherited},
	{"Purge", testPurge},
	{"PurgeShared", testPurgeShared},
	{"PurgeSteps", testPurgeSteps},
	{"PurgeOfTrash", testPurgeOfTrash},
	{"PurgeChain", testPurgeChain},
	{"Adopt", testAdopt},
	{"AdoptAgain", testAdoptAgain},
	{"AdoptLeft", testAdoptLeft},
	{"AdoptRefused", testAdoptRefused},
	{"AdoptShared", testAdoptShared},
	{"AdoptInheritsMore", testAdoptInheritsMore},
	{"HashesMade", testHashesMade},
	{"FieldsOfConversations", testFieldsOfConversations},
	{"FieldsOfMessages", testFieldsOfMessages},
	{"FieldsOfTurns", testFieldsOfTurns},
	{"FieldsOfViews", testFieldsOfViews},
	{"FieldsOfAccess", testFieldsOfAccess},
	{"Ready", testReady},
	{"Close", testClose},
}

// Run runs the suite. Each call of open returns an empty driver.
func Run(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for _, s := range slices.Concat(suiteTests, besideTests, writerTests, mergingTests) {
		t.Run(s.name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			s.test(newHarness(t, d))
		})
	}
	RunKeys(t, open)
	RunLimits(t, open)
	RunClaims(t, open)
	RunIndex(t, open)
	RunVectors(t, open)
	RunOrigins(t, open)
	RunAliases(t, open)
	RunProjects(t, open)
	RunShape(t, open)
	RunSources(t, open)
	RunKept(t, open)
	RunClocks(t, open)
	RunViews(t, open)
	RunThreads(t, open)
	RunDigests(t, open)
}

// ListMethods returns the methods of the interfaces of a driver.
func ListMethods() (out []string) {
	of := reflect.TypeFor[driver.Driver]()
	for i := range of.NumField() {
		part := of.Field(i).Type
		if part.Kind() != reflect.Interface {
			continue
		}
		for n := range part.NumMethod() {
			out = append(out, part.Method(n).Name)
		}
	}
	return out
}

// RunReopen runs what only a persistent driver can pass. open opens the database
// in dir, which is empty at first.
func RunReopen(t *testing.T, open func(t *testing.T, dir string) *driver.Driver) {
	t.Run("Reopen", func(t *testing.T) {
		dir := t.TempDir()
		w := newHarness(t, open(t, dir))
		th := addOneOfEach(w)
		asked := w.beginTurn(th.ID, w.makeEntry(scrollback.RoleUser, "last words"))
		before := readAll(t, w.Driver)
		w.wantOK(w.Close())

		w.Driver = open(t, dir)
		defer w.Close()
		wantSame(t, "after opening again", before, readAll(t, w.Driver))
		CheckInvariants(t, w.Driver)
		_, err := w.tryBegin(th.ID, nil)
		w.wantCode(err, scrollback.Conflict)
		w.finishTurn(asked.Turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, "an answer"))
		w.wantFound([]string{"last"}, asked.Messages...)
		w.appendEntries(th.ID, w.makeEntry(scrollback.RoleUser, "and on"))
		_, err = w.undoFold(th.Branch)
		w.wantOK(err)
		CheckInvariants(t, w.Driver)
	})
}

// addOneOfEach writes something of everything and returns a conversation with a fold
// to undo and no open turn.
func addOneOfEach(w *harness) scrollback.Conversation {
	w.t.Helper()
	c := w.addConversation()
	w.appendEntries(c.ID, fullEntry(w), w.makeEntry(scrollback.RoleUser, "some 数据 据库 库 words"))
	turn := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, "a question")).Turn
	_, err := w.saveDraft(turn, textDraft("writing"))
	w.wantOK(err)
	e := w.makeEntry(scrollback.RoleTool, "a result")
	e.Mentions = []scrollback.Artifact{w.makeArtifact("log", w.advanceClock())}
	w.finishTurn(turn, scrollback.TurnOpen, e)
	_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
		State: scrollback.TurnFailed,
		Failure: &scrollback.Failure{Code: scrollback.Unavailable,
			Message: "gone"}, Window: newWindowMark("w"), Learn: learnLast,
		Usage: []scrollback.UsageRecord{{Conversation: c.ID, Model: "a/x", At: w.now, WindowTokens: 2,
			Usage: scrollback.Usage{InputTokens: 3, Cost: 0.1, Currency: "USD"}}}})
	w.wantOK(err)
	w.wantOK(w.Turns.UpdateLearned(w.ctx, "a/x", func(l *scrollback.Learned) {
		l.Limit = 7
		l.Dropped = []string{"seed"}
	}))
	w.commitFold(c, 1, 1)
	retryAt(w, c, 7)
	w.commitFold(c, 2, 3)
	_, err = w.undoFold(c.Branch)
	w.wantOK(err)
	child := w.addFork(c, 3)
	w.appendMessages(child.ID, 2)
	w.wantOK(w.Log.PutArtifact(w.ctx, w.makeArtifact("upload", w.advanceClock()), child.ID))
	lapsed := w.beginTurn(child.ID).Turn
	_, err = w.saveDraft(lapsed, textDraft("half"))
	w.wantOK(err)
	w.wantOK(w.Turns.Stop(w.ctx, lapsed.ID))
	w.moveToTrash(w.addConversation(func(c *scrollback.Conversation) { c.Project = "another" }).ID)
	w.wantOK(w.Log.PutOrigin(w.ctx, scrollback.Origin{Tool: "a-tool", ID: "its", Conversation: c.ID,
		Folder: "/here", Stamp: "1",
		ImportedAt: w.advanceClock()}, ""))
	_, err = w.Access.PutProject(w.ctx, "another", w.advanceClock(),
		func(p *scrollback.Project) error { p.Title = "Another"; return nil })
	w.wantOK(err)
	return c
}

// testReady: it can be called without end, changes nothing that anybody sees, and fails
// when there is no database any more.
func testReady(w *harness) {
	addOneOfEach(w)
	before := readAll(w.t, w.Driver)
	for range 20 {
		w.wantOK(w.Ready(w.ctx))
	}
	wantSame(w.t, "after Ready", before, readAll(w.t, w.Driver))
	ended, cancel := context.WithCancel(w.ctx)
	cancel()
	if err := w.Ready(ended); err == nil {
		w.t.Error("ready for a caller who has gone")
	}
	w.wantOK(w.Close())
	w.wantCode(w.Ready(w.ctx), scrollback.Unavailable)
}

// testClose: a closed driver reports that it is gone.
func testClose(w *harness) {
	c := w.addConversation()
	w.wantOK(w.Close())
	_, err := w.Log.ReadHead(w.ctx, c.ID)
	w.wantCode(err, scrollback.Unavailable)
	_, err = w.tryAppend(c.ID, nil)
	w.wantCode(err, scrollback.Unavailable)
}
