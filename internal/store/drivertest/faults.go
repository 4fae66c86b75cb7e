package drivertest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Faulty makes calls of drivers fail: of those that it wraps, call number At, counted
// from 0, fails with an unavailable error; a negative At fails none. Normally the
// call does nothing. With Lost it does its work and only the answer is lost, as when
// a connection breaks after a commit. Audits, what the feed says of commits, and Close are
// neither counted nor failed. What keeps an index up to date is called at any time: it is
// counted and failed, with its State, only with Index.
type Faulty struct {
	At    int64
	Lost  bool
	Index bool
	Down  atomic.Bool         // all calls fail, and are not counted
	after func(method string) // called behind each call that was made; nil for nothing
	calls atomic.Int64
	names sync.Map // of the methods that were called
}

// Wrap returns d with its faults.
func (f *Faulty) Wrap(d *driver.Driver) *driver.Driver {
	return &driver.Driver{Log: faultyLog{d.Log, f}, Turns: faultyTurns{d.Turns, f}, Views: faultyViews{d.Views, f},
		Index: faultyIndex{d.Index, f}, Access: faultyAccess{d.Access, f}, Admin: faultyAdmin{d.Admin, f},
		Threads: faultyThreads{d.Threads, f},
		Ready: func(ctx context.Context) error {
			return callFaultyError(f, "Ready", func() error { return d.Ready(ctx) })
		},
		Clock: d.Clock, Close: d.Close}
}

// The parts of a driver, each with the same faults. None is embedded: a method that is added to the
// contract and has no fault here does not compile.
type (
	faultyLog struct {
		d  driver.Log
		of *Faulty
	}
	faultyTurns struct {
		d  driver.Turns
		of *Faulty
	}
	faultyViews struct {
		d  driver.Views
		of *Faulty
	}
	faultyIndex struct {
		d  driver.Index
		of *Faulty
	}
	faultyAccess struct {
		d  driver.Access
		of *Faulty
	}
	faultyAdmin struct {
		d  driver.Admin
		of *Faulty
	}
	faultyThreads struct {
		d  driver.Threads
		of *Faulty
	}
	faultyThreadIndex struct {
		d  threading.Index
		of *Faulty
	}
)

// Called reports whether a method of the driver was called.
func (f *Faulty) Called(method string) bool {
	_, called := f.names.Load(method)
	return called
}

func (f *Faulty) noteCall(method string) { f.names.Store(method, true) }

func (f *Faulty) noteEnd(method string) {
	if f.after != nil {
		f.after(method)
	}
}

// Calls says how many calls there were, the failed one included.
func (f *Faulty) Calls() int64 { return f.calls.Load() }

// callFaulty counts a call and makes it, or fails it.
func callFaulty[T any](f *Faulty, op string, call func() (T, error)) (T, error) {
	f.noteCall(op)
	if f.Down.Load() {
		var none T
		return none, scrollback.Errorf(scrollback.Unavailable, op, "the database is gone, on purpose")
	}
	if f.calls.Add(1)-1 != f.At {
		got, err := call()
		f.noteEnd(op)
		return got, err
	}
	if f.Lost {
		if _, err := call(); err != nil {
			var none T
			return none, err
		}
	}
	var none T
	return none, scrollback.Errorf(scrollback.Unavailable, op, "a fault on purpose")
}

// callFaultyError is callFaulty for a call that returns nothing but an error.
func callFaultyError(f *Faulty, op string, call func() error) error {
	_, err := callFaulty(f, op, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// CreateConversation implements [driver.Log].
func (f faultyLog) CreateConversation(ctx context.Context, c scrollback.Conversation,
	b scrollback.Branch) (scrollback.Conversation, bool, error) {
	var created bool
	got, err := callFaulty(f.of, "CreateConversation", func() (got scrollback.Conversation, err error) {
		got, created, err = f.d.CreateConversation(ctx, c, b)
		return got, err
	})
	return got, created && err == nil, err
}

// PatchConversation implements [driver.Log].
func (f faultyLog) PatchConversation(ctx context.Context, id scrollback.ConversationID, now int64,
	edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	return callFaulty(f.of, "PatchConversation",
		func() (scrollback.Conversation, error) { return f.d.PatchConversation(ctx, id, now, edit) })
}

// ChangeTitle implements [driver.Log].
func (f faultyLog) ChangeTitle(ctx context.Context, e driver.TitleChange) (bool, error) {
	return callFaulty(f.of, "ChangeTitle", func() (bool, error) { return f.d.ChangeTitle(ctx, e) })
}

// AppendEntries implements [driver.Log].
func (f faultyLog) AppendEntries(ctx context.Context, a driver.Append) (driver.AppendResult, error) {
	return callFaulty(f.of, "AppendEntries", func() (driver.AppendResult, error) { return f.d.AppendEntries(ctx, a) })
}

// RewindHead implements [driver.Log].
func (f faultyLog) RewindHead(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	return callFaulty(f.of, "RewindHead", func() (driver.Head, error) { return f.d.RewindHead(ctx, r) })
}

// PurgeConversation implements [driver.Log].
func (f faultyLog) PurgeConversation(ctx context.Context, p driver.Purge) (driver.PurgeResult, error) {
	return callFaulty(f.of, "PurgeConversation",
		func() (driver.PurgeResult, error) { return f.d.PurgeConversation(ctx, p) })
}

// ReadHead implements [driver.Log].
func (f faultyLog) ReadHead(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	return callFaulty(f.of, "ReadHead", func() (driver.Head, error) { return f.d.ReadHead(ctx, id) })
}

// FindBranch implements [driver.Log].
func (f faultyLog) FindBranch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	return callFaulty(f.of, "FindBranch", func() (scrollback.Branch, error) { return f.d.FindBranch(ctx, id) })
}

// ListBranches implements [driver.Log].
func (f faultyLog) ListBranches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	return callFaulty(f.of, "ListBranches", func() ([]scrollback.Branch, error) { return f.d.ListBranches(ctx, id) })
}

// ListConversations implements [driver.Log].
func (f faultyLog) ListConversations(ctx context.Context, q driver.ListQuery) ([]scrollback.Conversation, error) {
	return callFaulty(f.of, "ListConversations", func() ([]scrollback.Conversation, error) {
		return f.d.ListConversations(ctx, q)
	})
}

// ListProjects implements [driver.Access].
func (f faultyAccess) ListProjects(ctx context.Context) ([]scrollback.Project, error) {
	return callFaulty(f.of, "ListProjects", func() ([]scrollback.Project, error) { return f.d.ListProjects(ctx) })
}

// VerifyHashes implements [driver.Admin].
func (f faultyAdmin) VerifyHashes(ctx context.Context, q driver.MessageQuery) (driver.HashComparison, error) {
	return callFaulty(f.of, "VerifyHashes", func() (driver.HashComparison, error) { return f.d.VerifyHashes(ctx, q) })
}

// FillHashes implements [driver.Admin].
func (f faultyAdmin) FillHashes(ctx context.Context, limit int) (driver.FillResult, error) {
	return callFaulty(f.of, "FillHashes", func() (driver.FillResult, error) { return f.d.FillHashes(ctx, limit) })
}

// FillKept implements [driver.Admin].
func (f faultyAdmin) FillKept(ctx context.Context, limit int, find driver.KeptFinder) (driver.FillResult, error) {
	return callFaulty(f.of, "FillKept", func() (driver.FillResult, error) { return f.d.FillKept(ctx, limit, find) })
}

// RefillHashes implements [driver.Admin].
func (f faultyAdmin) RefillHashes(ctx context.Context) error {
	return callFaultyError(f.of, "RefillHashes", func() error { return f.d.RefillHashes(ctx) })
}

// ReadMessages implements [driver.Log].
func (f faultyLog) ReadMessages(ctx context.Context, q driver.MessageQuery) ([]scrollback.Message, error) {
	return callFaulty(f.of, "ReadMessages", func() ([]scrollback.Message, error) { return f.d.ReadMessages(ctx, q) })
}

// Begin implements [driver.Turns].
func (f faultyTurns) Begin(ctx context.Context, b driver.BeginRequest) (driver.BeginResult, error) {
	return callFaulty(f.of, "Begin", func() (driver.BeginResult, error) { return f.d.Begin(ctx, b) })
}

// SaveDraft implements [driver.Turns].
func (f faultyTurns) SaveDraft(ctx context.Context, s driver.SavedDraft) (bool, error) {
	return callFaulty(f.of, "SaveDraft", func() (bool, error) { return f.d.SaveDraft(ctx, s) })
}

// FinishStep implements [driver.Turns].
func (f faultyTurns) FinishStep(ctx context.Context, fin driver.FinishedStep) (driver.AppendResult, error) {
	return callFaulty(f.of, "FinishStep", func() (driver.AppendResult, error) { return f.d.FinishStep(ctx, fin) })
}

// Stop implements [driver.Turns].
func (f faultyTurns) Stop(ctx context.Context, id scrollback.TurnID) error {
	return callFaultyError(f.of, "Stop", func() error { return f.d.Stop(ctx, id) })
}

// Get implements [driver.Turns].
func (f faultyTurns) Get(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	return callFaulty(f.of, "Get", func() (scrollback.Turn, error) { return f.d.Get(ctx, id) })
}

// GetLast implements [driver.Turns].
func (f faultyTurns) GetLast(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	return callFaulty(f.of, "GetLast", func() (scrollback.Turn, error) { return f.d.GetLast(ctx, id) })
}

// ReadMeta implements [driver.Turns].
func (f faultyTurns) ReadMeta(ctx context.Context,
	ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	return callFaulty(f.of, "ReadMeta", func() (map[scrollback.TurnID]scrollback.TurnMeta, error) {
		return f.d.ReadMeta(ctx, ids)
	})
}

// ReadSteps implements [driver.Turns].
func (f faultyTurns) ReadSteps(ctx context.Context, id scrollback.TurnID) ([]scrollback.SentRequest, error) {
	return callFaulty(f.of, "ReadSteps", func() ([]scrollback.SentRequest, error) { return f.d.ReadSteps(ctx, id) })
}

// ReadTexts implements [driver.Turns].
func (f faultyTurns) ReadTexts(ctx context.Context, of scrollback.ConversationID,
	hashes []string) (map[string]string, error) {
	return callFaulty(f.of, "ReadTexts", func() (map[string]string, error) { return f.d.ReadTexts(ctx, of, hashes) })
}

// ListUnsuccessful implements [driver.Turns].
func (f faultyTurns) ListUnsuccessful(ctx context.Context, q driver.TurnQuery) ([]scrollback.Turn, error) {
	return callFaulty(f.of, "ListUnsuccessful",
		func() ([]scrollback.Turn, error) { return f.d.ListUnsuccessful(ctx, q) })
}

// CommitFold implements [driver.Views].
func (f faultyViews) CommitFold(ctx context.Context, c driver.FoldCommit) error {
	return callFaultyError(f.of, "CommitFold", func() error { return f.d.CommitFold(ctx, c) })
}

// UndoFold implements [driver.Views].
func (f faultyViews) UndoFold(ctx context.Context, u driver.FoldUndo) (scrollback.Receipt, error) {
	return callFaulty(f.of, "UndoFold", func() (scrollback.Receipt, error) { return f.d.UndoFold(ctx, u) })
}

// RedoFold implements [driver.Views].
func (f faultyViews) RedoFold(ctx context.Context, r driver.FoldRedo) (scrollback.Receipt, error) {
	return callFaulty(f.of, "RedoFold", func() (scrollback.Receipt, error) { return f.d.RedoFold(ctx, r) })
}

// ListFolds implements [driver.Views].
func (f faultyViews) ListFolds(ctx context.Context, q driver.FoldQuery) ([]driver.Fold, error) {
	return callFaulty(f.of, "ListFolds", func() ([]driver.Fold, error) { return f.d.ListFolds(ctx, q) })
}

// ReadSegments implements [driver.Views].
func (f faultyViews) ReadSegments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	return callFaulty(f.of, "ReadSegments", func() ([]scrollback.Segment, error) { return f.d.ReadSegments(ctx, ids) })
}

// ListReceipts implements [driver.Views].
func (f faultyViews) ListReceipts(ctx context.Context, id scrollback.ConversationID,
	limit int) ([]scrollback.Receipt, error) {
	return callFaulty(f.of, "ListReceipts",
		func() ([]scrollback.Receipt, error) { return f.d.ListReceipts(ctx, id, limit) })
}

// PutArtifact implements [driver.Log].
func (f faultyLog) PutArtifact(ctx context.Context, a scrollback.Artifact,
	mentionedBy scrollback.ConversationID) error {
	return callFaultyError(f.of, "PutArtifact", func() error { return f.d.PutArtifact(ctx, a, mentionedBy) })
}

// ReadKept implements [driver.Log].
func (f faultyLog) ReadKept(ctx context.Context, q driver.KeptQuery) ([]scrollback.Kept, error) {
	return callFaulty(f.of, "ReadKept", func() ([]scrollback.Kept, error) { return f.d.ReadKept(ctx, q) })
}

// ChangeKept implements [driver.Log].
func (f faultyLog) ChangeKept(ctx context.Context, c driver.KeptChange) error {
	return callFaultyError(f.of, "ChangeKept", func() error { return f.d.ChangeKept(ctx, c) })
}

// FindSources implements [driver.Log].
func (f faultyLog) FindSources(ctx context.Context, in []scrollback.ConversationID,
	names []string) ([]driver.SourceVersion, error) {
	return callFaulty(f.of, "FindSources",
		func() ([]driver.SourceVersion, error) { return f.d.FindSources(ctx, in, names) })
}

// ListRefs implements [driver.Log].
func (f faultyLog) ListRefs(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	return callFaulty(f.of, "ListRefs", func() ([]scrollback.RefEntry, error) { return f.d.ListRefs(ctx, q) })
}

// faultsKept is callFaulty for what keeps an index up to date.
func faultsKept[T any](f *Faulty, op string, call func() (T, error)) (T, error) {
	f.noteCall(op)
	if !f.Index {
		return call()
	}
	return callFaulty(f, op, call)
}

// ReadState implements [driver.Index].
func (f faultyIndex) ReadState(ctx context.Context) (driver.IndexState, error) {
	return faultsKept(f.of, "ReadState", func() (driver.IndexState, error) { return f.d.ReadState(ctx) })
}

// ReadUnindexed implements [driver.Index].
func (f faultyIndex) ReadUnindexed(ctx context.Context, q driver.UnindexedQuery) ([]driver.NumberedMessage, error) {
	return faultsKept(f.of, "ReadUnindexed", func() ([]driver.NumberedMessage, error) { return f.d.ReadUnindexed(ctx, q) })
}

// PutDocuments implements [driver.Index].
func (f faultyIndex) PutDocuments(ctx context.Context, d driver.DocumentBatch) (bool, error) {
	return faultsKept(f.of, "PutDocuments", func() (bool, error) { return f.d.PutDocuments(ctx, d) })
}

// Reset implements [driver.Index].
func (f faultyIndex) Reset(ctx context.Context, cut int) error {
	_, err := faultsKept(f.of, "Reset", func() (struct{}, error) { return struct{}{}, f.d.Reset(ctx, cut) })
	return err
}

// Maintain implements [driver.Index].
func (f faultyIndex) Maintain(ctx context.Context) (bool, error) {
	return faultsKept(f.of, "Maintain", func() (bool, error) { return f.d.Maintain(ctx) })
}

// FindPostings implements [driver.Index].
func (f faultyIndex) FindPostings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	return callFaulty(f.of, "FindPostings", func() ([]driver.Postings, error) { return f.d.FindPostings(ctx, q) })
}

// FindBranches implements [driver.Index].
func (f faultyIndex) FindBranches(ctx context.Context,
	q driver.IndexedBranchQuery) (map[int64]driver.IndexedBranch, error) {
	return callFaulty(f.of, "FindBranches",
		func() (map[int64]driver.IndexedBranch, error) { return f.d.FindBranches(ctx, q) })
}

// ListBranchesOf implements [driver.Index].
func (f faultyIndex) ListBranchesOf(ctx context.Context,
	ids []scrollback.ConversationID) ([]driver.IndexedBranch, error) {
	return callFaulty(f.of, "ListBranchesOf",
		func() ([]driver.IndexedBranch, error) { return f.d.ListBranchesOf(ctx, ids) })
}

// FindWorkedBranches implements [driver.Index].
func (f faultyIndex) FindWorkedBranches(ctx context.Context, q driver.FolderQuery) ([]driver.WorkedBranch, error) {
	return callFaulty(f.of, "FindWorkedBranches",
		func() ([]driver.WorkedBranch, error) { return f.d.FindWorkedBranches(ctx, q) })
}

// ListWorkedNumbers implements [driver.Index].
func (f faultyIndex) ListWorkedNumbers(ctx context.Context, q driver.FolderQuery) ([]int64, error) {
	return callFaulty(f.of, "ListWorkedNumbers", func() ([]int64, error) { return f.d.ListWorkedNumbers(ctx, q) })
}

// ReadMarks implements [driver.Index].
func (f faultyIndex) ReadMarks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	return callFaulty(f.of, "ReadMarks", func() ([]driver.Mark, error) { return f.d.ReadMarks(ctx, places) })
}

// ReadMessagesAt implements [driver.Index].
func (f faultyIndex) ReadMessagesAt(ctx context.Context, places []driver.Place) ([]scrollback.Message, error) {
	return callFaulty(f.of, "ReadMessagesAt",
		func() ([]scrollback.Message, error) { return f.d.ReadMessagesAt(ctx, places) })
}

// ReadVectorState implements [driver.Index].
func (f faultyIndex) ReadVectorState(ctx context.Context) (driver.VectorState, error) {
	return faultsKept(f.of, "ReadVectorState", func() (driver.VectorState, error) { return f.d.ReadVectorState(ctx) })
}

// PutVectors implements [driver.Index].
func (f faultyIndex) PutVectors(ctx context.Context, b driver.VectorBatch) (bool, error) {
	return faultsKept(f.of, "PutVectors", func() (bool, error) { return f.d.PutVectors(ctx, b) })
}

// ResetVectors implements [driver.Index].
func (f faultyIndex) ResetVectors(ctx context.Context, model string) error {
	_, err := faultsKept(f.of, "ResetVectors",
		func() (struct{}, error) { return struct{}{}, f.d.ResetVectors(ctx, model) })
	return err
}

// ReadSketches implements [driver.Index].
func (f faultyIndex) ReadSketches(ctx context.Context, q driver.SketchQuery) ([]driver.Sketch, error) {
	return callFaulty(f.of, "ReadSketches", func() ([]driver.Sketch, error) { return f.d.ReadSketches(ctx, q) })
}

// ReadVectors implements [driver.Index].
func (f faultyIndex) ReadVectors(ctx context.Context, places []driver.Place) ([]driver.MessageVector, error) {
	return callFaulty(f.of, "ReadVectors",
		func() ([]driver.MessageVector, error) { return f.d.ReadVectors(ctx, places) })
}

// ListUsageDays implements [driver.Access].
func (f faultyAccess) ListUsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	return callFaulty(f.of, "ListUsageDays",
		func() ([]scrollback.UsageDay, error) { return f.d.ListUsageDays(ctx, first, last) })
}

// DivideUsage implements [driver.Access].
func (f faultyAccess) DivideUsage(ctx context.Context, q driver.UsagePartsQuery) ([]scrollback.UsageDay, error) {
	return callFaulty(f.of, "DivideUsage", func() ([]scrollback.UsageDay, error) { return f.d.DivideUsage(ctx, q) })
}

// EnterUsage implements [driver.Access].
func (f faultyAccess) EnterUsage(ctx context.Context, project string, all []scrollback.UsageRecord) error {
	return callFaultyError(f.of, "EnterUsage", func() error { return f.d.EnterUsage(ctx, project, all) })
}

// EnterImported implements [driver.Access].
func (f faultyAccess) EnterImported(ctx context.Context, all []driver.ImportedCall) error {
	return callFaultyError(f.of, "EnterImported", func() error { return f.d.EnterImported(ctx, all) })
}

// DivideImported implements [driver.Access].
func (f faultyAccess) DivideImported(ctx context.Context, q driver.UsagePartsQuery) ([]scrollback.UsageDay, error) {
	return callFaulty(f.of, "DivideImported",
		func() ([]scrollback.UsageDay, error) { return f.d.DivideImported(ctx, q) })
}

// SumSpending implements [driver.Access].
func (f faultyAccess) SumSpending(ctx context.Context, q driver.SpendingQuery) (scrollback.Usage, error) {
	return callFaulty(f.of, "SumSpending", func() (scrollback.Usage, error) { return f.d.SumSpending(ctx, q) })
}

// CountTally implements [driver.Access].
func (f faultyAccess) CountTally(ctx context.Context, t driver.Tally) (int64, error) {
	return callFaulty(f.of, "CountTally", func() (int64, error) { return f.d.CountTally(ctx, t) })
}

// ReadTally implements [driver.Access].
func (f faultyAccess) ReadTally(ctx context.Context, t driver.Tally) (int64, error) {
	return callFaulty(f.of, "ReadTally", func() (int64, error) { return f.d.ReadTally(ctx, t) })
}

// ReadKeyLimits implements [driver.Access].
func (f faultyAccess) ReadKeyLimits(ctx context.Context, id scrollback.KeyID) (scrollback.KeyLimits, error) {
	return callFaulty(f.of, "ReadKeyLimits", func() (scrollback.KeyLimits, error) { return f.d.ReadKeyLimits(ctx, id) })
}

// ListKeysMadeBy implements [driver.Access].
func (f faultyAccess) ListKeysMadeBy(ctx context.Context, id scrollback.KeyID) ([]scrollback.KeyID, error) {
	return callFaulty(f.of, "ListKeysMadeBy", func() ([]scrollback.KeyID, error) { return f.d.ListKeysMadeBy(ctx, id) })
}

// SetKeyLimits implements [driver.Access].
func (f faultyAccess) SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.KeyLimits) error {
	return callFaultyError(f.of, "SetKeyLimits", func() error { return f.d.SetKeyLimits(ctx, id, l) })
}

// ReadLearned implements [driver.Turns].
func (f faultyTurns) ReadLearned(ctx context.Context, model string) (scrollback.Learned, error) {
	return callFaulty(f.of, "ReadLearned", func() (scrollback.Learned, error) { return f.d.ReadLearned(ctx, model) })
}

// UpdateLearned implements [driver.Turns].
func (f faultyTurns) UpdateLearned(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	return callFaultyError(f.of, "UpdateLearned", func() error { return f.d.UpdateLearned(ctx, model, edit) })
}

// AdoptHistory implements [driver.Log].
func (f faultyLog) AdoptHistory(ctx context.Context, a driver.Adoption) error {
	return callFaultyError(f.of, "AdoptHistory", func() error { return f.d.AdoptHistory(ctx, a) })
}

// ListStoredReceipts implements [driver.Views].
func (f faultyViews) ListStoredReceipts(ctx context.Context, id scrollback.ConversationID,
	skip, limit int) ([]scrollback.StoredReceipt, error) {
	return callFaulty(f.of, "ListStoredReceipts", func() ([]scrollback.StoredReceipt, error) {
		return f.d.ListStoredReceipts(ctx, id, skip, limit)
	})
}

// FindOwners implements [driver.Log].
func (f faultyLog) FindOwners(ctx context.Context, ids []scrollback.MessageID) (
	map[scrollback.MessageID]scrollback.ConversationID, error) {
	return callFaulty(f.of, "FindOwners", func() (map[scrollback.MessageID]scrollback.ConversationID, error) {
		return f.d.FindOwners(ctx, ids)
	})
}

// AddKey implements [driver.Access].
func (f faultyAccess) AddKey(ctx context.Context, k driver.NewKey) error {
	return callFaultyError(f.of, "AddKey", func() error { return f.d.AddKey(ctx, k) })
}

// ListKeys implements [driver.Access].
func (f faultyAccess) ListKeys(ctx context.Context) ([]scrollback.Key, error) {
	return callFaulty(f.of, "ListKeys", func() ([]scrollback.Key, error) { return f.d.ListKeys(ctx) })
}

// RevokeKey implements [driver.Access].
func (f faultyAccess) RevokeKey(ctx context.Context, id scrollback.KeyID, now int64) (scrollback.Key, error) {
	return callFaulty(f.of, "RevokeKey", func() (scrollback.Key, error) { return f.d.RevokeKey(ctx, id, now) })
}

// FindKey implements [driver.Access].
func (f faultyAccess) FindKey(ctx context.Context, hash driver.SecretHash) (scrollback.Key, error) {
	return callFaulty(f.of, "FindKey", func() (scrollback.Key, error) { return f.d.FindKey(ctx, hash) })
}

// UseKey implements [driver.Access].
func (f faultyAccess) UseKey(ctx context.Context, id scrollback.KeyID, now, every int64) error {
	return callFaultyError(f.of, "UseKey", func() error { return f.d.UseKey(ctx, id, now, every) })
}

// SignIn implements [driver.Access].
func (f faultyAccess) SignIn(ctx context.Context, s driver.NewSignIn) error {
	return callFaultyError(f.of, "SignIn", func() error { return f.d.SignIn(ctx, s) })
}

// FindSignIn implements [driver.Access].
func (f faultyAccess) FindSignIn(ctx context.Context, hash driver.SecretHash,
	now int64) (k scrollback.Key, ends int64, err error) {
	k, err = callFaulty(f.of, "FindSignIn", func() (scrollback.Key, error) {
		k, ends, err = f.d.FindSignIn(ctx, hash, now)
		return k, err
	})
	return k, ends, err
}

// SignOut implements [driver.Access].
func (f faultyAccess) SignOut(ctx context.Context, hash driver.SecretHash) error {
	return callFaultyError(f.of, "SignOut", func() error { return f.d.SignOut(ctx, hash) })
}

// ReadProject implements [driver.Access].
func (f faultyAccess) ReadProject(ctx context.Context, name string) (scrollback.Project, error) {
	return callFaulty(f.of, "ReadProject", func() (scrollback.Project, error) { return f.d.ReadProject(ctx, name) })
}

// PutProject implements [driver.Access].
func (f faultyAccess) PutProject(ctx context.Context, name string, now int64,
	edit func(*scrollback.Project) error) (scrollback.Project, error) {
	return callFaulty(f.of, "PutProject",
		func() (scrollback.Project, error) { return f.d.PutProject(ctx, name, now, edit) })
}

// DeleteProject implements [driver.Access].
func (f faultyAccess) DeleteProject(ctx context.Context, name string, now int64,
	judge func(scrollback.Project) error) error {
	return callFaultyError(f.of, "DeleteProject", func() error { return f.d.DeleteProject(ctx, name, now, judge) })
}

// PutOrigin implements [driver.Log].
func (f faultyLog) PutOrigin(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error {
	return callFaultyError(f.of, "PutOrigin", func() error { return f.d.PutOrigin(ctx, o, instead) })
}

// ListOrigins implements [driver.Log].
func (f faultyLog) ListOrigins(ctx context.Context, q driver.OriginQuery) ([]scrollback.Origin, error) {
	return callFaulty(f.of, "ListOrigins", func() ([]scrollback.Origin, error) { return f.d.ListOrigins(ctx, q) })
}

// WasOriginPurged implements [driver.Log].
func (f faultyLog) WasOriginPurged(ctx context.Context, tool, id string, projects []string) (bool, error) {
	return callFaulty(f.of, "WasOriginPurged",
		func() (bool, error) { return f.d.WasOriginPurged(ctx, tool, id, projects) })
}

// ReadClocks implements [driver.Log].
func (f faultyLog) ReadClocks(ctx context.Context, owner string) ([]stamp.Clock, error) {
	return callFaulty(f.of, "ReadClocks", func() ([]stamp.Clock, error) { return f.d.ReadClocks(ctx, owner) })
}

// PutClocks implements [driver.Log].
func (f faultyLog) PutClocks(ctx context.Context, all []stamp.Clock) error {
	return callFaultyError(f.of, "PutClocks", func() error { return f.d.PutClocks(ctx, all) })
}

// ReadReadings implements [driver.Log].
func (f faultyLog) ReadReadings(ctx context.Context, id scrollback.ConversationID) ([]driver.Reading, error) {
	return callFaulty(f.of, "ReadReadings", func() ([]driver.Reading, error) { return f.d.ReadReadings(ctx, id) })
}

// ReadStone implements [driver.Log].
func (f faultyLog) ReadStone(ctx context.Context, id scrollback.ConversationID) (stamp.Stone, error) {
	return callFaulty(f.of, "ReadStone", func() (stamp.Stone, error) { return f.d.ReadStone(ctx, id) })
}

// ListStones implements [driver.Log].
func (f faultyLog) ListStones(ctx context.Context, after scrollback.ConversationID, limit int) ([]stamp.Stone, error) {
	return callFaulty(f.of, "ListStones", func() ([]stamp.Stone, error) { return f.d.ListStones(ctx, after, limit) })
}

// PutStone implements [driver.Log].
func (f faultyLog) PutStone(ctx context.Context, s stamp.Stone) error {
	return callFaultyError(f.of, "PutStone", func() error { return f.d.PutStone(ctx, s) })
}

// Node implements [driver.Log].
func (f faultyLog) Node(ctx context.Context) (string, error) {
	return callFaulty(f.of, "Node", func() (string, error) { return f.d.Node(ctx) })
}

// PutAliases implements [driver.Log].
func (f faultyLog) PutAliases(ctx context.Context, all []driver.Alias) error {
	return callFaultyError(f.of, "PutAliases", func() error { return f.d.PutAliases(ctx, all) })
}

// FindAliases implements [driver.Log].
func (f faultyLog) FindAliases(ctx context.Context, kind driver.AliasKind, prefix string,
	limit int) ([]driver.Alias, error) {
	return callFaulty(f.of, "FindAliases",
		func() ([]driver.Alias, error) { return f.d.FindAliases(ctx, kind, prefix, limit) })
}

// ListChanges implements [driver.Log].
func (f faultyLog) ListChanges(ctx context.Context, after int64, limit int) ([]driver.Change, error) {
	return callFaulty(f.of, "ListChanges",
		func() ([]driver.Change, error) { return f.d.ListChanges(ctx, after, limit) })
}

// ListMet implements [driver.Log].
func (f faultyLog) ListMet(ctx context.Context) ([]string, error) {
	return callFaulty(f.of, "ListMet", func() ([]string, error) { return f.d.ListMet(ctx) })
}

// PutMet implements [driver.Log].
func (f faultyLog) PutMet(ctx context.Context, mark, instead string, now int64) error {
	return callFaultyError(f.of, "PutMet", func() error { return f.d.PutMet(ctx, mark, instead, now) })
}

// ReadMark implements [driver.Log].
func (f faultyLog) ReadMark(ctx context.Context) (string, error) {
	return callFaulty(f.of, "ReadMark", func() (string, error) { return f.d.ReadMark(ctx) })
}

// ReadChanged implements [driver.Log].
func (f faultyLog) ReadChanged(ctx context.Context, mark string) (driver.Changed, error) {
	return callFaulty(f.of, "ReadChanged", func() (driver.Changed, error) { return f.d.ReadChanged(ctx, mark) })
}

// ReadDigests implements [driver.Log].
func (f faultyLog) ReadDigests(ctx context.Context) (driver.Digests, error) {
	return callFaulty(f.of, "ReadDigests", func() (driver.Digests, error) { return f.d.ReadDigests(ctx) })
}

// StoreDigests implements [driver.Log].
func (f faultyLog) StoreDigests(ctx context.Context, d driver.Digests, all bool) error {
	return callFaultyError(f.of, "StoreDigests", func() error { return f.d.StoreDigests(ctx, d, all) })
}

// ReadChangeSpan implements [driver.Log].
func (f faultyLog) ReadChangeSpan(ctx context.Context) (oldest, newest int64, err error) {
	oldest, err = callFaulty(f.of, "ReadChangeSpan", func() (int64, error) {
		oldest, newest, err = f.d.ReadChangeSpan(ctx)
		return oldest, err
	})
	if err != nil {
		newest = 0
	}
	return oldest, newest, err
}

// ClaimWork implements [driver.Turns].
func (f faultyTurns) ClaimWork(ctx context.Context, c driver.Claim) (bool, error) {
	return callFaulty(f.of, "ClaimWork", func() (bool, error) { return f.d.ClaimWork(ctx, c) })
}

// ReleaseWork implements [driver.Turns].
func (f faultyTurns) ReleaseWork(ctx context.Context, c driver.Claim) error {
	return callFaultyError(f.of, "ReleaseWork", func() error { return f.d.ReleaseWork(ctx, c) })
}

// TakeOver implements [driver.Turns].
func (f faultyTurns) TakeOver(ctx context.Context, t driver.Takeover) (scrollback.Turn, error) {
	return callFaulty(f.of, "TakeOver", func() (scrollback.Turn, error) { return f.d.TakeOver(ctx, t) })
}

// ReadShape implements [driver.Log].
func (f faultyLog) ReadShape(ctx context.Context, q driver.ShapeQuery) ([]scrollback.ShapeBin, error) {
	return callFaulty(f.of, "ReadShape", func() ([]scrollback.ShapeBin, error) { return f.d.ReadShape(ctx, q) })
}

// Committed implements [driver.Log].
func (f faultyLog) Committed() <-chan struct{} {
	f.of.noteCall("Committed")
	return f.d.Committed()
}

// WalkRows implements [driver.Admin].
func (f faultyAdmin) WalkRows(ctx context.Context, w driver.AuditWalk) error {
	f.of.noteCall("WalkRows")
	return f.d.WalkRows(ctx, w)
}

// CopyDatabase implements [driver.Admin].
func (f faultyAdmin) CopyDatabase(ctx context.Context, path string) error {
	f.of.noteCall("CopyDatabase")
	return f.d.CopyDatabase(ctx, path)
}

// Repair implements [driver.Admin].
func (f faultyAdmin) Repair(ctx context.Context, m driver.Repair) error {
	f.of.noteCall("Repair")
	err := f.d.Repair(ctx, m)
	f.of.noteEnd("Repair")
	return err
}

// IndexAt implements [driver.Threads]. It asks nothing by itself.
func (f faultyThreads) IndexAt(now int64) threading.Index {
	f.of.noteCall("IndexAt")
	return faultyThreadIndex{f.d.IndexAt(now), f.of}
}

// WriteThread implements [driver.Threads].
func (f faultyThreads) WriteThread(ctx context.Context, rows threading.Rows) error {
	return callFaultyError(f.of, "WriteThread", func() error { return f.d.WriteThread(ctx, rows) })
}

// FindSpan implements [driver.Threads].
func (f faultyThreads) FindSpan(ctx context.Context, name string) (first, last int64, err error) {
	span, err := callFaulty(f.of, "FindSpan", func() ([2]int64, error) {
		first, last, err := f.d.FindSpan(ctx, name)
		return [2]int64{first, last}, err
	})
	return span[0], span[1], err
}

// ListLeaves implements [driver.Threads].
func (f faultyThreads) ListLeaves(ctx context.Context, id scrollback.ConversationID) ([]scrollback.TurnID, error) {
	return callFaulty(f.of, "ListLeaves", func() ([]scrollback.TurnID, error) { return f.d.ListLeaves(ctx, id) })
}

// CountAsked implements [driver.Threads].
func (f faultyThreads) CountAsked(ctx context.Context, scope threading.Scope, body threading.Hash, now int64) error {
	return callFaultyError(f.of, "CountAsked", func() error { return f.d.CountAsked(ctx, scope, body, now) })
}

// Thread implements [threading.Index].
func (f faultyThreadIndex) Thread(ctx context.Context, id threading.ThreadID) (*threading.ThreadRow, error) {
	return callFaulty(f.of, "Thread", func() (*threading.ThreadRow, error) { return f.d.Thread(ctx, id) })
}

// Named implements [threading.Index].
func (f faultyThreadIndex) Named(ctx context.Context, scope threading.Scope, name string,
	limit int) ([]threading.ThreadRow, error) {
	return callFaulty(f.of, "Named",
		func() ([]threading.ThreadRow, error) { return f.d.Named(ctx, scope, name, limit) })
}

// Request implements [threading.Index].
func (f faultyThreadIndex) Request(ctx context.Context, id threading.RequestID) (*threading.RequestRow, error) {
	return callFaulty(f.of, "Request", func() (*threading.RequestRow, error) { return f.d.Request(ctx, id) })
}

// Rolled implements [threading.Index].
func (f faultyThreadIndex) Rolled(ctx context.Context, scope threading.Scope, hashes []threading.Hash,
	limit int) ([]threading.RequestRow, error) {
	return callFaulty(f.of, "Rolled",
		func() ([]threading.RequestRow, error) { return f.d.Rolled(ctx, scope, hashes, limit) })
}

// Beside implements [threading.Index].
func (f faultyThreadIndex) Beside(ctx context.Context, thread threading.ThreadID, base threading.Place,
	limit int) ([]threading.RequestRow, error) {
	return callFaulty(f.of, "Beside",
		func() ([]threading.RequestRow, error) { return f.d.Beside(ctx, thread, base, limit) })
}

// Anchored implements [threading.Index].
func (f faultyThreadIndex) Anchored(ctx context.Context, q threading.AnchorQuery) ([]threading.AtomRow, error) {
	return callFaulty(f.of, "Anchored", func() ([]threading.AtomRow, error) { return f.d.Anchored(ctx, q) })
}

// At implements [threading.Index].
func (f faultyThreadIndex) At(ctx context.Context, place threading.Place) (*threading.AtomRow, error) {
	return callFaulty(f.of, "At", func() (*threading.AtomRow, error) { return f.d.At(ctx, place) })
}

// Lineage implements [threading.Index].
func (f faultyThreadIndex) Lineage(ctx context.Context, branch threading.BranchID) ([]threading.Reach, error) {
	return callFaulty(f.of, "Lineage", func() ([]threading.Reach, error) { return f.d.Lineage(ctx, branch) })
}

// Following implements [threading.Index].
func (f faultyThreadIndex) Following(ctx context.Context, place threading.Place,
	limit int) ([]threading.AtomRow, error) {
	return callFaulty(f.of, "Following",
		func() ([]threading.AtomRow, error) { return f.d.Following(ctx, place, limit) })
}

// Partials implements [threading.Index].
func (f faultyThreadIndex) Partials(ctx context.Context, threads []threading.ThreadID,
	limit int) ([]threading.AtomRow, error) {
	return callFaulty(f.of, "Partials",
		func() ([]threading.AtomRow, error) { return f.d.Partials(ctx, threads, limit) })
}

// Summaries implements [threading.Index].
func (f faultyThreadIndex) Summaries(ctx context.Context, scope threading.Scope, name string,
	limit int) ([]threading.SummaryRow, error) {
	return callFaulty(f.of, "Summaries",
		func() ([]threading.SummaryRow, error) { return f.d.Summaries(ctx, scope, name, limit) })
}

// Answer implements [threading.Index].
func (f faultyThreadIndex) Answer(ctx context.Context, scope threading.Scope, id string) (*threading.AnswerRow, error) {
	return callFaulty(f.of, "Answer", func() (*threading.AnswerRow, error) { return f.d.Answer(ctx, scope, id) })
}

// Same implements [threading.Index].
func (f faultyThreadIndex) Same(ctx context.Context, scope threading.Scope, body threading.Hash, since time.Time,
	limit int) ([]threading.RequestRow, int, error) {
	asked := 0
	rows, err := callFaulty(f.of, "Same", func() (rows []threading.RequestRow, err error) {
		rows, asked, err = f.d.Same(ctx, scope, body, since, limit)
		return rows, err
	})
	if err != nil {
		return nil, 0, err
	}
	return rows, asked, nil
}
