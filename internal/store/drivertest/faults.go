package drivertest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
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
	Down  atomic.Bool // all calls fail, and are not counted
	calls atomic.Int64
	names sync.Map // of the methods that were called
}

// Wrap is d with its faults.
func (f *Faulty) Wrap(d *driver.Driver) *driver.Driver {
	return &driver.Driver{Log: faultyLog{d.Log, f}, Turns: faultyTurns{d.Turns, f}, Views: faultyViews{d.Views, f},
		Index: faultyIndex{d.Index, f}, Access: faultyAccess{d.Access, f}, Admin: faultyAdmin{d.Admin, f},
		Ready: func(ctx context.Context) error { return alone(f, "Ready", func() error { return d.Ready(ctx) }) },
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
)

// Called reports whether a method of the driver was called.
func (f *Faulty) Called(method string) bool {
	_, called := f.names.Load(method)
	return called
}

func (f *Faulty) note(method string) { f.names.Store(method, true) }

// Calls says how many calls there were, the failed one included.
func (f *Faulty) Calls() int64 { return f.calls.Load() }

// faulty counts a call and makes it, or fails it.
func faulty[T any](f *Faulty, op string, call func() (T, error)) (T, error) {
	f.note(op)
	if f.Down.Load() {
		var none T
		return none, scrollback.Errorf(scrollback.Unavailable, op, "the database is gone, on purpose")
	}
	if f.calls.Add(1)-1 != f.At {
		return call()
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

// alone is faulty for a call with nothing but an error to answer.
func alone(f *Faulty, op string, call func() error) error {
	_, err := faulty(f, op, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// Create implements [driver.Log].
func (f faultyLog) Create(ctx context.Context, c scrollback.Conversation,
	b scrollback.Branch) (scrollback.Conversation, bool, error) {
	var created bool
	got, err := faulty(f.of, "Create", func() (got scrollback.Conversation, err error) {
		got, created, err = f.d.Create(ctx, c, b)
		return got, err
	})
	return got, created && err == nil, err
}

// Patch implements [driver.Log].
func (f faultyLog) Patch(ctx context.Context, id scrollback.ConversationID, now int64,
	edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	return faulty(f.of, "Patch", func() (scrollback.Conversation, error) { return f.d.Patch(ctx, id, now, edit) })
}

// Entitle implements [driver.Log].
func (f faultyLog) Entitle(ctx context.Context, e driver.Entitle) (bool, error) {
	return faulty(f.of, "Entitle", func() (bool, error) { return f.d.Entitle(ctx, e) })
}

// Append implements [driver.Log].
func (f faultyLog) Append(ctx context.Context, a driver.Append) (driver.Finished, error) {
	return faulty(f.of, "Append", func() (driver.Finished, error) { return f.d.Append(ctx, a) })
}

// Rewind implements [driver.Log].
func (f faultyLog) Rewind(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	return faulty(f.of, "Rewind", func() (driver.Head, error) { return f.d.Rewind(ctx, r) })
}

// Purge implements [driver.Log].
func (f faultyLog) Purge(ctx context.Context, p driver.Purge) (driver.Purged, error) {
	return faulty(f.of, "Purge", func() (driver.Purged, error) { return f.d.Purge(ctx, p) })
}

// Head implements [driver.Log].
func (f faultyLog) Head(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	return faulty(f.of, "Head", func() (driver.Head, error) { return f.d.Head(ctx, id) })
}

// Branch implements [driver.Log].
func (f faultyLog) Branch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	return faulty(f.of, "Branch", func() (scrollback.Branch, error) { return f.d.Branch(ctx, id) })
}

// Branches implements [driver.Log].
func (f faultyLog) Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	return faulty(f.of, "Branches", func() ([]scrollback.Branch, error) { return f.d.Branches(ctx, id) })
}

// Conversations implements [driver.Log].
func (f faultyLog) Conversations(ctx context.Context, q driver.ListQuery) ([]scrollback.Conversation, error) {
	return faulty(f.of, "Conversations", func() ([]scrollback.Conversation, error) {
		return f.d.Conversations(ctx, q)
	})
}

// ListProjects implements [driver.Access].
func (f faultyAccess) ListProjects(ctx context.Context) ([]scrollback.Project, error) {
	return faulty(f.of, "ListProjects", func() ([]scrollback.Project, error) { return f.d.ListProjects(ctx) })
}

// VerifyHashes implements [driver.Admin].
func (f faultyAdmin) VerifyHashes(ctx context.Context, q driver.MessageQuery) (driver.Verified, error) {
	return faulty(f.of, "VerifyHashes", func() (driver.Verified, error) { return f.d.VerifyHashes(ctx, q) })
}

// FillHashes implements [driver.Admin].
func (f faultyAdmin) FillHashes(ctx context.Context, limit int) (driver.Filled, error) {
	return faulty(f.of, "FillHashes", func() (driver.Filled, error) { return f.d.FillHashes(ctx, limit) })
}

// RefillHashes implements [driver.Admin].
func (f faultyAdmin) RefillHashes(ctx context.Context) error {
	return alone(f.of, "RefillHashes", func() error { return f.d.RefillHashes(ctx) })
}

// Messages implements [driver.Log].
func (f faultyLog) Messages(ctx context.Context, q driver.MessageQuery) ([]scrollback.Message, error) {
	return faulty(f.of, "Messages", func() ([]scrollback.Message, error) { return f.d.Messages(ctx, q) })
}

// Begin implements [driver.Turns].
func (f faultyTurns) Begin(ctx context.Context, b driver.Begin) (driver.Begun, error) {
	return faulty(f.of, "Begin", func() (driver.Begun, error) { return f.d.Begin(ctx, b) })
}

// Save implements [driver.Turns].
func (f faultyTurns) Save(ctx context.Context, s driver.Save) (bool, error) {
	return faulty(f.of, "Save", func() (bool, error) { return f.d.Save(ctx, s) })
}

// Finish implements [driver.Turns].
func (f faultyTurns) Finish(ctx context.Context, fin driver.Finish) (driver.Finished, error) {
	return faulty(f.of, "Finish", func() (driver.Finished, error) { return f.d.Finish(ctx, fin) })
}

// Stop implements [driver.Turns].
func (f faultyTurns) Stop(ctx context.Context, id scrollback.TurnID) error {
	return alone(f.of, "Stop", func() error { return f.d.Stop(ctx, id) })
}

// Get implements [driver.Turns].
func (f faultyTurns) Get(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	return faulty(f.of, "Get", func() (scrollback.Turn, error) { return f.d.Get(ctx, id) })
}

// Last implements [driver.Turns].
func (f faultyTurns) Last(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	return faulty(f.of, "Last", func() (scrollback.Turn, error) { return f.d.Last(ctx, id) })
}

// Meta implements [driver.Turns].
func (f faultyTurns) Meta(ctx context.Context,
	ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	return faulty(f.of, "Meta", func() (map[scrollback.TurnID]scrollback.TurnMeta, error) {
		return f.d.Meta(ctx, ids)
	})
}

// Steps implements [driver.Turns].
func (f faultyTurns) Steps(ctx context.Context, id scrollback.TurnID) ([]scrollback.SentRequest, error) {
	return faulty(f.of, "Steps", func() ([]scrollback.SentRequest, error) { return f.d.Steps(ctx, id) })
}

// Texts implements [driver.Turns].
func (f faultyTurns) Texts(ctx context.Context, of scrollback.ConversationID,
	hashes []string) (map[string]string, error) {
	return faulty(f.of, "Texts", func() (map[string]string, error) { return f.d.Texts(ctx, of, hashes) })
}

// Troubled implements [driver.Turns].
func (f faultyTurns) Troubled(ctx context.Context, q driver.TurnQuery) ([]scrollback.Turn, error) {
	return faulty(f.of, "Troubled", func() ([]scrollback.Turn, error) { return f.d.Troubled(ctx, q) })
}

// Commit implements [driver.Views].
func (f faultyViews) Commit(ctx context.Context, c driver.Commit) error {
	return alone(f.of, "Commit", func() error { return f.d.Commit(ctx, c) })
}

// Unfold implements [driver.Views].
func (f faultyViews) Unfold(ctx context.Context, u driver.Unfold) (scrollback.Receipt, error) {
	return faulty(f.of, "Unfold", func() (scrollback.Receipt, error) { return f.d.Unfold(ctx, u) })
}

// Refold implements [driver.Views].
func (f faultyViews) Refold(ctx context.Context, r driver.Refold) (scrollback.Receipt, error) {
	return faulty(f.of, "Refold", func() (scrollback.Receipt, error) { return f.d.Refold(ctx, r) })
}

// Folds implements [driver.Views].
func (f faultyViews) Folds(ctx context.Context, q driver.FoldQuery) ([]driver.Fold, error) {
	return faulty(f.of, "Folds", func() ([]driver.Fold, error) { return f.d.Folds(ctx, q) })
}

// Segments implements [driver.Views].
func (f faultyViews) Segments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	return faulty(f.of, "Segments", func() ([]scrollback.Segment, error) { return f.d.Segments(ctx, ids) })
}

// Receipts implements [driver.Views].
func (f faultyViews) Receipts(ctx context.Context, id scrollback.ConversationID,
	limit int) ([]scrollback.Receipt, error) {
	return faulty(f.of, "Receipts", func() ([]scrollback.Receipt, error) { return f.d.Receipts(ctx, id, limit) })
}

// PutArtifact implements [driver.Log].
func (f faultyLog) PutArtifact(ctx context.Context, a scrollback.Artifact,
	mentionedBy scrollback.ConversationID) error {
	return alone(f.of, "PutArtifact", func() error { return f.d.PutArtifact(ctx, a, mentionedBy) })
}

// Sources implements [driver.Log].
func (f faultyLog) Sources(ctx context.Context, in []scrollback.ConversationID,
	names []string) ([]driver.Source, error) {
	return faulty(f.of, "Sources", func() ([]driver.Source, error) { return f.d.Sources(ctx, in, names) })
}

// Refs implements [driver.Log].
func (f faultyLog) Refs(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	return faulty(f.of, "Refs", func() ([]scrollback.RefEntry, error) { return f.d.Refs(ctx, q) })
}

// faultsKept is faulty for what keeps an index up to date.
func faultsKept[T any](f *Faulty, op string, call func() (T, error)) (T, error) {
	f.note(op)
	if !f.Index {
		return call()
	}
	return faulty(f, op, call)
}

// State implements [driver.Index].
func (f faultyIndex) State(ctx context.Context) (driver.IndexState, error) {
	return faultsKept(f.of, "State", func() (driver.IndexState, error) { return f.d.State(ctx) })
}

// Behind implements [driver.Index].
func (f faultyIndex) Behind(ctx context.Context, q driver.BehindQuery) ([]driver.Numbered, error) {
	return faultsKept(f.of, "Behind", func() ([]driver.Numbered, error) { return f.d.Behind(ctx, q) })
}

// Put implements [driver.Index].
func (f faultyIndex) Put(ctx context.Context, d driver.Documents) (bool, error) {
	return faultsKept(f.of, "Put", func() (bool, error) { return f.d.Put(ctx, d) })
}

// Reset implements [driver.Index].
func (f faultyIndex) Reset(ctx context.Context, cut int) error {
	_, err := faultsKept(f.of, "Reset", func() (struct{}, error) { return struct{}{}, f.d.Reset(ctx, cut) })
	return err
}

// Tend implements [driver.Index].
func (f faultyIndex) Tend(ctx context.Context) (bool, error) {
	return faultsKept(f.of, "Tend", func() (bool, error) { return f.d.Tend(ctx) })
}

// Postings implements [driver.Index].
func (f faultyIndex) Postings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	return faulty(f.of, "Postings", func() ([]driver.Postings, error) { return f.d.Postings(ctx, q) })
}

// Lines implements [driver.Index].
func (f faultyIndex) Lines(ctx context.Context, q driver.LineQuery) (map[int64]driver.Line, error) {
	return faulty(f.of, "Lines", func() (map[int64]driver.Line, error) { return f.d.Lines(ctx, q) })
}

// LinesOf implements [driver.Index].
func (f faultyIndex) LinesOf(ctx context.Context, ids []scrollback.ConversationID) ([]driver.Line, error) {
	return faulty(f.of, "LinesOf", func() ([]driver.Line, error) { return f.d.LinesOf(ctx, ids) })
}

// Worked implements [driver.Index].
func (f faultyIndex) Worked(ctx context.Context, q driver.WorkedQuery) ([]driver.Worked, error) {
	return faulty(f.of, "Worked", func() ([]driver.Worked, error) { return f.d.Worked(ctx, q) })
}

// WorkedLines implements [driver.Index].
func (f faultyIndex) WorkedLines(ctx context.Context, q driver.WorkedQuery) ([]int64, error) {
	return faulty(f.of, "WorkedLines", func() ([]int64, error) { return f.d.WorkedLines(ctx, q) })
}

// Marks implements [driver.Index].
func (f faultyIndex) Marks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	return faulty(f.of, "Marks", func() ([]driver.Mark, error) { return f.d.Marks(ctx, places) })
}

// Located implements [driver.Index].
func (f faultyIndex) Located(ctx context.Context, places []driver.Place) ([]scrollback.Message, error) {
	return faulty(f.of, "Located", func() ([]scrollback.Message, error) { return f.d.Located(ctx, places) })
}

// UsageDays implements [driver.Access].
func (f faultyAccess) UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	return faulty(f.of, "UsageDays", func() ([]scrollback.UsageDay, error) { return f.d.UsageDays(ctx, first, last) })
}

// UsageParts implements [driver.Access].
func (f faultyAccess) UsageParts(ctx context.Context, q driver.UsageParts) ([]scrollback.UsageDay, error) {
	return faulty(f.of, "UsageParts", func() ([]scrollback.UsageDay, error) { return f.d.UsageParts(ctx, q) })
}

// Spent implements [driver.Access].
func (f faultyAccess) Spent(ctx context.Context, q driver.Spending) (scrollback.Usage, error) {
	return faulty(f.of, "Spent", func() (scrollback.Usage, error) { return f.d.Spent(ctx, q) })
}

// CountTally implements [driver.Access].
func (f faultyAccess) CountTally(ctx context.Context, t driver.Tally) (int64, error) {
	return faulty(f.of, "CountTally", func() (int64, error) { return f.d.CountTally(ctx, t) })
}

// Tallied implements [driver.Access].
func (f faultyAccess) Tallied(ctx context.Context, t driver.Tally) (int64, error) {
	return faulty(f.of, "Tallied", func() (int64, error) { return f.d.Tallied(ctx, t) })
}

// KeyLimits implements [driver.Access].
func (f faultyAccess) KeyLimits(ctx context.Context, id scrollback.KeyID) (scrollback.KeyLimits, error) {
	return faulty(f.of, "KeyLimits", func() (scrollback.KeyLimits, error) { return f.d.KeyLimits(ctx, id) })
}

// MadeBy implements [driver.Access].
func (f faultyAccess) MadeBy(ctx context.Context, id scrollback.KeyID) ([]scrollback.KeyID, error) {
	return faulty(f.of, "MadeBy", func() ([]scrollback.KeyID, error) { return f.d.MadeBy(ctx, id) })
}

// SetKeyLimits implements [driver.Access].
func (f faultyAccess) SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.KeyLimits) error {
	return alone(f.of, "SetKeyLimits", func() error { return f.d.SetKeyLimits(ctx, id, l) })
}

// Learned implements [driver.Turns].
func (f faultyTurns) Learned(ctx context.Context, model string) (scrollback.Learned, error) {
	return faulty(f.of, "Learned", func() (scrollback.Learned, error) { return f.d.Learned(ctx, model) })
}

// Teach implements [driver.Turns].
func (f faultyTurns) Teach(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	return alone(f.of, "Teach", func() error { return f.d.Teach(ctx, model, edit) })
}

// Adopt implements [driver.Log].
func (f faultyLog) Adopt(ctx context.Context, a driver.Adopt) error {
	return alone(f.of, "Adopt", func() error { return f.d.Adopt(ctx, a) })
}

// StoredReceipts implements [driver.Views].
func (f faultyViews) StoredReceipts(ctx context.Context, id scrollback.ConversationID,
	skip, limit int) ([]scrollback.StoredReceipt, error) {
	return faulty(f.of, "StoredReceipts", func() ([]scrollback.StoredReceipt, error) {
		return f.d.StoredReceipts(ctx, id, skip, limit)
	})
}

// FirstTaken implements [driver.Log].
func (f faultyLog) FirstTaken(ctx context.Context, ids []scrollback.MessageID) (scrollback.MessageID, error) {
	return faulty(f.of, "FirstTaken", func() (scrollback.MessageID, error) { return f.d.FirstTaken(ctx, ids) })
}

// AddKey implements [driver.Access].
func (f faultyAccess) AddKey(ctx context.Context, k driver.NewKey) error {
	return alone(f.of, "AddKey", func() error { return f.d.AddKey(ctx, k) })
}

// Keys implements [driver.Access].
func (f faultyAccess) Keys(ctx context.Context) ([]scrollback.Key, error) {
	return faulty(f.of, "Keys", func() ([]scrollback.Key, error) { return f.d.Keys(ctx) })
}

// RevokeKey implements [driver.Access].
func (f faultyAccess) RevokeKey(ctx context.Context, id scrollback.KeyID, now int64) (scrollback.Key, error) {
	return faulty(f.of, "RevokeKey", func() (scrollback.Key, error) { return f.d.RevokeKey(ctx, id, now) })
}

// FindKey implements [driver.Access].
func (f faultyAccess) FindKey(ctx context.Context, hash driver.SecretHash) (scrollback.Key, error) {
	return faulty(f.of, "FindKey", func() (scrollback.Key, error) { return f.d.FindKey(ctx, hash) })
}

// UseKey implements [driver.Access].
func (f faultyAccess) UseKey(ctx context.Context, id scrollback.KeyID, now, every int64) error {
	return alone(f.of, "UseKey", func() error { return f.d.UseKey(ctx, id, now, every) })
}

// SignIn implements [driver.Access].
func (f faultyAccess) SignIn(ctx context.Context, s driver.NewSignIn) error {
	return alone(f.of, "SignIn", func() error { return f.d.SignIn(ctx, s) })
}

// SignedIn implements [driver.Access].
func (f faultyAccess) SignedIn(ctx context.Context, hash driver.SecretHash,
	now int64) (k scrollback.Key, ends int64, err error) {
	k, err = faulty(f.of, "SignedIn", func() (scrollback.Key, error) {
		k, ends, err = f.d.SignedIn(ctx, hash, now)
		return k, err
	})
	return k, ends, err
}

// SignOut implements [driver.Access].
func (f faultyAccess) SignOut(ctx context.Context, hash driver.SecretHash) error {
	return alone(f.of, "SignOut", func() error { return f.d.SignOut(ctx, hash) })
}

// Project implements [driver.Access].
func (f faultyAccess) Project(ctx context.Context, name string) (scrollback.Project, error) {
	return faulty(f.of, "Project", func() (scrollback.Project, error) { return f.d.Project(ctx, name) })
}

// PutProject implements [driver.Access].
func (f faultyAccess) PutProject(ctx context.Context, name string, now int64,
	edit func(*scrollback.Project) error) (scrollback.Project, error) {
	return faulty(f.of, "PutProject", func() (scrollback.Project, error) { return f.d.PutProject(ctx, name, now, edit) })
}

// DeleteProject implements [driver.Access].
func (f faultyAccess) DeleteProject(ctx context.Context, name string, judge func(scrollback.Project) error) error {
	return alone(f.of, "DeleteProject", func() error { return f.d.DeleteProject(ctx, name, judge) })
}

// PutOrigin implements [driver.Log].
func (f faultyLog) PutOrigin(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error {
	return alone(f.of, "PutOrigin", func() error { return f.d.PutOrigin(ctx, o, instead) })
}

// Origins implements [driver.Log].
func (f faultyLog) Origins(ctx context.Context, q driver.OriginQuery) ([]scrollback.Origin, error) {
	return faulty(f.of, "Origins", func() ([]scrollback.Origin, error) { return f.d.Origins(ctx, q) })
}

// OriginPurged implements [driver.Log].
func (f faultyLog) OriginPurged(ctx context.Context, tool, id string, projects []string) (bool, error) {
	return faulty(f.of, "OriginPurged", func() (bool, error) { return f.d.OriginPurged(ctx, tool, id, projects) })
}

// Changes implements [driver.Log].
func (f faultyLog) Changes(ctx context.Context, after int64, limit int) ([]driver.Changed, error) {
	return faulty(f.of, "Changes", func() ([]driver.Changed, error) { return f.d.Changes(ctx, after, limit) })
}

// ChangeSpan implements [driver.Log].
func (f faultyLog) ChangeSpan(ctx context.Context) (oldest, newest int64, err error) {
	oldest, err = faulty(f.of, "ChangeSpan", func() (int64, error) {
		oldest, newest, err = f.d.ChangeSpan(ctx)
		return oldest, err
	})
	if err != nil {
		newest = 0
	}
	return oldest, newest, err
}

// Claim implements [driver.Turns].
func (f faultyTurns) Claim(ctx context.Context, c driver.Claim) (bool, error) {
	return faulty(f.of, "Claim", func() (bool, error) { return f.d.Claim(ctx, c) })
}

// Release implements [driver.Turns].
func (f faultyTurns) Release(ctx context.Context, c driver.Claim) error {
	return alone(f.of, "Release", func() error { return f.d.Release(ctx, c) })
}

// TakeOver implements [driver.Turns].
func (f faultyTurns) TakeOver(ctx context.Context, t driver.TakeOver) (scrollback.Turn, error) {
	return faulty(f.of, "TakeOver", func() (scrollback.Turn, error) { return f.d.TakeOver(ctx, t) })
}

// Shape implements [driver.Log].
func (f faultyLog) Shape(ctx context.Context, q driver.ShapeQuery) ([]scrollback.ShapeBin, error) {
	return faulty(f.of, "Shape", func() ([]scrollback.ShapeBin, error) { return f.d.Shape(ctx, q) })
}

// Committed implements [driver.Log].
func (f faultyLog) Committed() <-chan struct{} {
	f.of.note("Committed")
	return f.d.Committed()
}

// Walk implements [driver.Admin].
func (f faultyAdmin) Walk(ctx context.Context, w driver.AuditWalk) error {
	f.of.note("Walk")
	return f.d.Walk(ctx, w)
}

// Copy implements [driver.Admin].
func (f faultyAdmin) Copy(ctx context.Context, path string) error {
	f.of.note("Copy")
	return f.d.Copy(ctx, path)
}

// Mend implements [driver.Admin].
func (f faultyAdmin) Mend(ctx context.Context, m driver.Mend) error {
	f.of.note("Mend")
	return f.d.Mend(ctx, m)
}
