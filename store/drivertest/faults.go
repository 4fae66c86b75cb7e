package drivertest

import (
	"context"
	"sync/atomic"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
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
}

// Wrap is d with its faults.
func (f *Faulty) Wrap(d *driver.Driver) *driver.Driver {
	return &driver.Driver{Log: faultyLog{d.Log, f}, Read: faultyReader{d.Read, f}, Turns: faultyTurns{d.Turns, f},
		Views: faultyViews{d.Views, f},
		Refs:  faultyRefs{d.Refs, f}, Index: faultyIndex{d.Index, f}, Book: faultyBook{d.Book, f}, Audit: d.Audit,
		Hashes: faultyHashes{d.Hashes, f}, Move: faultyMove{d.Move, f},
		Keys: faultyKeys{d.Keys, f}, Feed: faultyFeed{d.Feed, f}, Limits: faultyLimits{d.Limits, f},
		Projects: faultyProjects{d.Projects, f}, Origins: faultyOrigins{d.Origins, f},
		Claims: faultyClaims{d.Claims, f}, Clock: d.Clock,
		Ready: func(ctx context.Context) error { return alone(f, "Ready", func() error { return d.Ready(ctx) }) },
		Close: d.Close}
}

// The parts of a driver, each with the same faults.
type (
	faultyLog struct {
		driver.Log
		of *Faulty
	}
	faultyReader struct {
		driver.Reader
		of *Faulty
	}
	faultyHashes struct {
		driver.Hashes
		of *Faulty
	}
	faultyTurns struct {
		driver.Turns
		of *Faulty
	}
	faultyViews struct {
		driver.Views
		of *Faulty
	}
	faultyRefs struct {
		driver.Refs
		of *Faulty
	}
	faultyIndex struct {
		driver.Index
		of *Faulty
	}
	faultyBook struct {
		driver.Book
		of *Faulty
	}
	faultyLimits struct {
		driver.Limits
		of *Faulty
	}
	faultyMove struct {
		driver.Move
		of *Faulty
	}
	faultyKeys struct {
		driver.Keys
		of *Faulty
	}
	faultyOrigins struct {
		driver.Origins
		of *Faulty
	}
	faultyProjects struct {
		driver.Projects
		of *Faulty
	}
	faultyFeed struct {
		driver.Feed
		of *Faulty
	}
)

// Calls says how many calls there were, the failed one included.
func (f *Faulty) Calls() int64 { return f.calls.Load() }

// faulty counts a call and makes it, or fails it.
func faulty[T any](f *Faulty, op string, call func() (T, error)) (T, error) {
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
		got, created, err = f.Log.Create(ctx, c, b)
		return got, err
	})
	return got, created && err == nil, err
}

// Patch implements [driver.Log].
func (f faultyLog) Patch(ctx context.Context, id scrollback.ConversationID, now int64,
	edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	return faulty(f.of, "Patch", func() (scrollback.Conversation, error) { return f.Log.Patch(ctx, id, now, edit) })
}

// Entitle implements [driver.Log].
func (f faultyLog) Entitle(ctx context.Context, e driver.Entitle) (bool, error) {
	return faulty(f.of, "Entitle", func() (bool, error) { return f.Log.Entitle(ctx, e) })
}

// Append implements [driver.Log].
func (f faultyLog) Append(ctx context.Context, a driver.Append) (driver.Finished, error) {
	return faulty(f.of, "Append", func() (driver.Finished, error) { return f.Log.Append(ctx, a) })
}

// Rewind implements [driver.Log].
func (f faultyLog) Rewind(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	return faulty(f.of, "Rewind", func() (driver.Head, error) { return f.Log.Rewind(ctx, r) })
}

// Purge implements [driver.Log].
func (f faultyLog) Purge(ctx context.Context, p driver.Purge) (driver.Purged, error) {
	return faulty(f.of, "Purge", func() (driver.Purged, error) { return f.Log.Purge(ctx, p) })
}

// Head implements [driver.Reader].
func (f faultyReader) Head(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	return faulty(f.of, "Head", func() (driver.Head, error) { return f.Reader.Head(ctx, id) })
}

// Branch implements [driver.Reader].
func (f faultyReader) Branch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	return faulty(f.of, "Branch", func() (scrollback.Branch, error) { return f.Reader.Branch(ctx, id) })
}

// Branches implements [driver.Reader].
func (f faultyReader) Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	return faulty(f.of, "Branches", func() ([]scrollback.Branch, error) { return f.Reader.Branches(ctx, id) })
}

// Conversations implements [driver.Reader].
func (f faultyReader) Conversations(ctx context.Context, q driver.ListQuery) ([]scrollback.Conversation, error) {
	return faulty(f.of, "Conversations", func() ([]scrollback.Conversation, error) {
		return f.Reader.Conversations(ctx, q)
	})
}

// Projects implements [driver.Reader].
func (f faultyReader) Projects(ctx context.Context) ([]scrollback.Project, error) {
	return faulty(f.of, "Projects", func() ([]scrollback.Project, error) { return f.Reader.Projects(ctx) })
}

// Verify implements [driver.Hashes].
func (f faultyHashes) Verify(ctx context.Context, q driver.MessageQuery) (driver.Verified, error) {
	return faulty(f.of, "Verify", func() (driver.Verified, error) { return f.Hashes.Verify(ctx, q) })
}

// Fill implements [driver.Hashes].
func (f faultyHashes) Fill(ctx context.Context, limit int) (driver.Filled, error) {
	return faulty(f.of, "Fill", func() (driver.Filled, error) { return f.Hashes.Fill(ctx, limit) })
}

// Refill implements [driver.Hashes].
func (f faultyHashes) Refill(ctx context.Context) error {
	return alone(f.of, "Refill", func() error { return f.Hashes.Refill(ctx) })
}

// Messages implements [driver.Reader].
func (f faultyReader) Messages(ctx context.Context, q driver.MessageQuery) ([]scrollback.Message, error) {
	return faulty(f.of, "Messages", func() ([]scrollback.Message, error) { return f.Reader.Messages(ctx, q) })
}

// Begin implements [driver.Turns].
func (f faultyTurns) Begin(ctx context.Context, b driver.Begin) (driver.Begun, error) {
	return faulty(f.of, "Begin", func() (driver.Begun, error) { return f.Turns.Begin(ctx, b) })
}

// Save implements [driver.Turns].
func (f faultyTurns) Save(ctx context.Context, s driver.Save) (bool, error) {
	return faulty(f.of, "Save", func() (bool, error) { return f.Turns.Save(ctx, s) })
}

// Finish implements [driver.Turns].
func (f faultyTurns) Finish(ctx context.Context, fin driver.Finish) (driver.Finished, error) {
	return faulty(f.of, "Finish", func() (driver.Finished, error) { return f.Turns.Finish(ctx, fin) })
}

// Stop implements [driver.Turns].
func (f faultyTurns) Stop(ctx context.Context, id scrollback.TurnID) error {
	return alone(f.of, "Stop", func() error { return f.Turns.Stop(ctx, id) })
}

// Get implements [driver.Turns].
func (f faultyTurns) Get(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	return faulty(f.of, "Turn", func() (scrollback.Turn, error) { return f.Turns.Get(ctx, id) })
}

// Last implements [driver.Turns].
func (f faultyTurns) Last(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	return faulty(f.of, "LastTurn", func() (scrollback.Turn, error) { return f.Turns.Last(ctx, id) })
}

// Meta implements [driver.Turns].
func (f faultyTurns) Meta(ctx context.Context,
	ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	return faulty(f.of, "Meta", func() (map[scrollback.TurnID]scrollback.TurnMeta, error) {
		return f.Turns.Meta(ctx, ids)
	})
}

// Steps implements [driver.Turns].
func (f faultyTurns) Steps(ctx context.Context, id scrollback.TurnID) ([]scrollback.Sent, error) {
	return faulty(f.of, "Steps", func() ([]scrollback.Sent, error) { return f.Turns.Steps(ctx, id) })
}

// Texts implements [driver.Turns].
func (f faultyTurns) Texts(ctx context.Context, of scrollback.ConversationID,
	hashes []string) (map[string]string, error) {
	return faulty(f.of, "Texts", func() (map[string]string, error) { return f.Turns.Texts(ctx, of, hashes) })
}

// Troubled implements [driver.Turns].
func (f faultyTurns) Troubled(ctx context.Context, q driver.TurnQuery) ([]scrollback.Turn, error) {
	return faulty(f.of, "Troubled", func() ([]scrollback.Turn, error) { return f.Turns.Troubled(ctx, q) })
}

// Commit implements [driver.Views].
func (f faultyViews) Commit(ctx context.Context, c driver.Commit) error {
	return alone(f.of, "Commit", func() error { return f.Views.Commit(ctx, c) })
}

// Unfold implements [driver.Views].
func (f faultyViews) Unfold(ctx context.Context, u driver.Unfold) (scrollback.Receipt, error) {
	return faulty(f.of, "Unfold", func() (scrollback.Receipt, error) { return f.Views.Unfold(ctx, u) })
}

// Refold implements [driver.Views].
func (f faultyViews) Refold(ctx context.Context, r driver.Refold) (scrollback.Receipt, error) {
	return faulty(f.of, "Refold", func() (scrollback.Receipt, error) { return f.Views.Refold(ctx, r) })
}

// Folds implements [driver.Views].
func (f faultyViews) Folds(ctx context.Context, q driver.FoldQuery) ([]driver.Fold, error) {
	return faulty(f.of, "Folds", func() ([]driver.Fold, error) { return f.Views.Folds(ctx, q) })
}

// Segments implements [driver.Views].
func (f faultyViews) Segments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	return faulty(f.of, "Segments", func() ([]scrollback.Segment, error) { return f.Views.Segments(ctx, ids) })
}

// Receipts implements [driver.Views].
func (f faultyViews) Receipts(ctx context.Context, id scrollback.ConversationID,
	limit int) ([]scrollback.Receipt, error) {
	return faulty(f.of, "Receipts", func() ([]scrollback.Receipt, error) { return f.Views.Receipts(ctx, id, limit) })
}

// PutArtifact implements [driver.Refs].
func (f faultyRefs) PutArtifact(ctx context.Context, a scrollback.Artifact,
	mentionedBy scrollback.ConversationID) error {
	return alone(f.of, "PutArtifact", func() error { return f.Refs.PutArtifact(ctx, a, mentionedBy) })
}

// Sources implements [driver.Refs].
func (f faultyRefs) Sources(ctx context.Context, in []scrollback.ConversationID,
	names []string) ([]driver.Source, error) {
	return faulty(f.of, "Sources", func() ([]driver.Source, error) { return f.Refs.Sources(ctx, in, names) })
}

// List implements [driver.Refs].
func (f faultyRefs) List(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	return faulty(f.of, "Refs", func() ([]scrollback.RefEntry, error) { return f.Refs.List(ctx, q) })
}

// faultsKept is faulty for what keeps an index up to date.
func faultsKept[T any](f *Faulty, op string, call func() (T, error)) (T, error) {
	if !f.Index {
		return call()
	}
	return faulty(f, op, call)
}

// State implements [driver.Index].
func (f faultyIndex) State(ctx context.Context) (driver.IndexState, error) {
	return faultsKept(f.of, "State", func() (driver.IndexState, error) { return f.Index.State(ctx) })
}

// Behind implements [driver.Index].
func (f faultyIndex) Behind(ctx context.Context, q driver.BehindQuery) ([]driver.Numbered, error) {
	return faultsKept(f.of, "Behind", func() ([]driver.Numbered, error) { return f.Index.Behind(ctx, q) })
}

// Put implements [driver.Index].
func (f faultyIndex) Put(ctx context.Context, d driver.Documents) (bool, error) {
	return faultsKept(f.of, "Put", func() (bool, error) { return f.Index.Put(ctx, d) })
}

// Reset implements [driver.Index].
func (f faultyIndex) Reset(ctx context.Context, cut int) error {
	_, err := faultsKept(f.of, "Reset", func() (struct{}, error) { return struct{}{}, f.Index.Reset(ctx, cut) })
	return err
}

// Tend implements [driver.Index].
func (f faultyIndex) Tend(ctx context.Context) (bool, error) {
	return faultsKept(f.of, "Tend", func() (bool, error) { return f.Index.Tend(ctx) })
}

// Postings implements [driver.Index].
func (f faultyIndex) Postings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	return faulty(f.of, "Postings", func() ([]driver.Postings, error) { return f.Index.Postings(ctx, q) })
}

// Lines implements [driver.Index].
func (f faultyIndex) Lines(ctx context.Context, q driver.LineQuery) (map[int64]driver.Line, error) {
	return faulty(f.of, "Lines", func() (map[int64]driver.Line, error) { return f.Index.Lines(ctx, q) })
}

// LinesOf implements [driver.Index].
func (f faultyIndex) LinesOf(ctx context.Context, ids []scrollback.ConversationID) ([]driver.Line, error) {
	return faulty(f.of, "LinesOf", func() ([]driver.Line, error) { return f.Index.LinesOf(ctx, ids) })
}

// Worked implements [driver.Index].
func (f faultyIndex) Worked(ctx context.Context, q driver.WorkedQuery) ([]driver.Worked, error) {
	return faulty(f.of, "Worked", func() ([]driver.Worked, error) { return f.Index.Worked(ctx, q) })
}

// WorkedLines implements [driver.Index].
func (f faultyIndex) WorkedLines(ctx context.Context, q driver.WorkedQuery) ([]int64, error) {
	return faulty(f.of, "WorkedLines", func() ([]int64, error) { return f.Index.WorkedLines(ctx, q) })
}

// Marks implements [driver.Index].
func (f faultyIndex) Marks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	return faulty(f.of, "Marks", func() ([]driver.Mark, error) { return f.Index.Marks(ctx, places) })
}

// Located implements [driver.Index].
func (f faultyIndex) Located(ctx context.Context, places []driver.Place) ([]scrollback.Message, error) {
	return faulty(f.of, "Located", func() ([]scrollback.Message, error) { return f.Index.Located(ctx, places) })
}

// UsageDays implements [driver.Book].
func (f faultyBook) UsageDays(ctx context.Context, first, last int64) ([]scrollback.UsageDay, error) {
	return faulty(f.of, "UsageDays", func() ([]scrollback.UsageDay, error) { return f.Book.UsageDays(ctx, first, last) })
}

// UsageParts implements [driver.Book].
func (f faultyBook) UsageParts(ctx context.Context, q driver.UsageParts) ([]scrollback.UsageDay, error) {
	return faulty(f.of, "UsageParts", func() ([]scrollback.UsageDay, error) { return f.Book.UsageParts(ctx, q) })
}

// Spent implements [driver.Book].
func (f faultyBook) Spent(ctx context.Context, q driver.Spending) (scrollback.Usage, error) {
	return faulty(f.of, "Spent", func() (scrollback.Usage, error) { return f.Book.Spent(ctx, q) })
}

// Count implements [driver.Limits].
func (f faultyLimits) Count(ctx context.Context, t driver.Tally) (int64, error) {
	return faulty(f.of, "Count", func() (int64, error) { return f.Limits.Count(ctx, t) })
}

// Counted implements [driver.Limits].
func (f faultyLimits) Counted(ctx context.Context, t driver.Tally) (int64, error) {
	return faulty(f.of, "Counted", func() (int64, error) { return f.Limits.Counted(ctx, t) })
}

// KeyLimits implements [driver.Limits].
func (f faultyLimits) KeyLimits(ctx context.Context, id scrollback.KeyID) (scrollback.Limits, error) {
	return faulty(f.of, "KeyLimits", func() (scrollback.Limits, error) { return f.Limits.KeyLimits(ctx, id) })
}

// MadeBy implements [driver.Limits].
func (f faultyLimits) MadeBy(ctx context.Context, id scrollback.KeyID) ([]scrollback.KeyID, error) {
	return faulty(f.of, "MadeBy", func() ([]scrollback.KeyID, error) { return f.Limits.MadeBy(ctx, id) })
}

// SetKeyLimits implements [driver.Limits].
func (f faultyLimits) SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.Limits) error {
	return alone(f.of, "SetKeyLimits", func() error { return f.Limits.SetKeyLimits(ctx, id, l) })
}

// Learned implements [driver.Book].
func (f faultyBook) Learned(ctx context.Context, model string) (scrollback.Learned, error) {
	return faulty(f.of, "Learned", func() (scrollback.Learned, error) { return f.Book.Learned(ctx, model) })
}

// Teach implements [driver.Book].
func (f faultyBook) Teach(ctx context.Context, model string, edit func(*scrollback.Learned)) error {
	return alone(f.of, "Teach", func() error { return f.Book.Teach(ctx, model, edit) })
}

// Adopt implements [driver.Move].
func (f faultyMove) Adopt(ctx context.Context, a driver.Adopt) error {
	return alone(f.of, "Adopt", func() error { return f.Move.Adopt(ctx, a) })
}

// Folds implements [driver.Move].
func (f faultyMove) Folds(ctx context.Context, id scrollback.ConversationID,
	skip, limit int) ([]scrollback.StoredReceipt, error) {
	return faulty(f.of, "Folds", func() ([]scrollback.StoredReceipt, error) { return f.Move.Folds(ctx, id, skip, limit) })
}

// Taken implements [driver.Move].
func (f faultyMove) Taken(ctx context.Context, ids []scrollback.MessageID) (scrollback.MessageID, error) {
	return faulty(f.of, "Taken", func() (scrollback.MessageID, error) { return f.Move.Taken(ctx, ids) })
}

// Add implements [driver.Keys].
func (f faultyKeys) Add(ctx context.Context, k driver.NewKey) error {
	return alone(f.of, "AddKey", func() error { return f.Keys.Add(ctx, k) })
}

// List implements [driver.Keys].
func (f faultyKeys) List(ctx context.Context) ([]scrollback.Key, error) {
	return faulty(f.of, "Keys", func() ([]scrollback.Key, error) { return f.Keys.List(ctx) })
}

// Revoke implements [driver.Keys].
func (f faultyKeys) Revoke(ctx context.Context, id scrollback.KeyID, now int64) (scrollback.Key, error) {
	return faulty(f.of, "RevokeKey", func() (scrollback.Key, error) { return f.Keys.Revoke(ctx, id, now) })
}

// Find implements [driver.Keys].
func (f faultyKeys) Find(ctx context.Context, hash driver.SecretHash) (scrollback.Key, error) {
	return faulty(f.of, "Key", func() (scrollback.Key, error) { return f.Keys.Find(ctx, hash) })
}

// Use implements [driver.Keys].
func (f faultyKeys) Use(ctx context.Context, id scrollback.KeyID, now, every int64) error {
	return alone(f.of, "UseKey", func() error { return f.Keys.Use(ctx, id, now, every) })
}

// SignIn implements [driver.Keys].
func (f faultyKeys) SignIn(ctx context.Context, s driver.NewSignIn) error {
	return alone(f.of, "SignIn", func() error { return f.Keys.SignIn(ctx, s) })
}

// SignedIn implements [driver.Keys].
func (f faultyKeys) SignedIn(ctx context.Context, hash driver.SecretHash,
	now int64) (k scrollback.Key, ends int64, err error) {
	k, err = faulty(f.of, "SignedIn", func() (scrollback.Key, error) {
		k, ends, err = f.Keys.SignedIn(ctx, hash, now)
		return k, err
	})
	return k, ends, err
}

// SignOut implements [driver.Keys].
func (f faultyKeys) SignOut(ctx context.Context, hash driver.SecretHash) error {
	return alone(f.of, "SignOut", func() error { return f.Keys.SignOut(ctx, hash) })
}

// Get implements [driver.Projects].
func (f faultyProjects) Get(ctx context.Context, name string) (scrollback.Project, error) {
	return faulty(f.of, "Project", func() (scrollback.Project, error) { return f.Projects.Get(ctx, name) })
}

// Put implements [driver.Projects].
func (f faultyProjects) Put(ctx context.Context, name string, now int64,
	edit func(*scrollback.Project) error) (scrollback.Project, error) {
	return faulty(f.of, "PutProject", func() (scrollback.Project, error) { return f.Projects.Put(ctx, name, now, edit) })
}

// Delete implements [driver.Projects].
func (f faultyProjects) Delete(ctx context.Context, name string, judge func(scrollback.Project) error) error {
	return alone(f.of, "DeleteProject", func() error { return f.Projects.Delete(ctx, name, judge) })
}

// Put implements [driver.Origins].
func (f faultyOrigins) Put(ctx context.Context, o scrollback.Origin, instead scrollback.ConversationID) error {
	return alone(f.of, "PutOrigin", func() error { return f.Origins.Put(ctx, o, instead) })
}

// List implements [driver.Origins].
func (f faultyOrigins) List(ctx context.Context, q driver.OriginQuery) ([]scrollback.Origin, error) {
	return faulty(f.of, "Origins", func() ([]scrollback.Origin, error) { return f.Origins.List(ctx, q) })
}

// Purged implements [driver.Origins].
func (f faultyOrigins) Purged(ctx context.Context, tool, id string, projects []string) (bool, error) {
	return faulty(f.of, "PurgedOrigin", func() (bool, error) { return f.Origins.Purged(ctx, tool, id, projects) })
}

// Changes implements [driver.Feed].
func (f faultyFeed) Changes(ctx context.Context, after int64, limit int) ([]driver.Changed, error) {
	return faulty(f.of, "Changes", func() ([]driver.Changed, error) { return f.Feed.Changes(ctx, after, limit) })
}

// Span implements [driver.Feed].
func (f faultyFeed) Span(ctx context.Context) (oldest, newest int64, err error) {
	oldest, err = faulty(f.of, "Span", func() (int64, error) {
		oldest, newest, err = f.Feed.Span(ctx)
		return oldest, err
	})
	if err != nil {
		newest = 0
	}
	return oldest, newest, err
}
