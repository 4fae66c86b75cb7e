package drivertest

import (
	"context"
	"sync/atomic"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Faulty is a driver whose call number At, counted from 0, fails with an
// unavailable error; a negative At fails none. Normally the call does nothing.
// With Lost it does its work and only the answer is lost, as when a connection
// breaks after a commit. Close is neither counted nor failed.
type Faulty struct {
	driver.Driver
	At    int64
	Lost  bool
	calls atomic.Int64
}

// Calls says how many calls there were, the failed one included.
func (f *Faulty) Calls() int64 { return f.calls.Load() }

// faulty counts a call and makes it, or fails it.
func faulty[T any](f *Faulty, op string, call func() (T, error)) (T, error) {
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
func (f *Faulty) Create(ctx context.Context, c scrollback.Conversation, b scrollback.Branch) (scrollback.Conversation, bool, error) {
	var created bool
	got, err := faulty(f, "Create", func() (got scrollback.Conversation, err error) {
		got, created, err = f.Driver.Create(ctx, c, b)
		return got, err
	})
	return got, created && err == nil, err
}

// Patch implements [driver.Log].
func (f *Faulty) Patch(ctx context.Context, id scrollback.ConversationID, now int64, edit func(*scrollback.Conversation) error) (scrollback.Conversation, error) {
	return faulty(f, "Patch", func() (scrollback.Conversation, error) { return f.Driver.Patch(ctx, id, now, edit) })
}

// Begin implements [driver.Log].
func (f *Faulty) Begin(ctx context.Context, b driver.Begin) (driver.Begun, error) {
	return faulty(f, "Begin", func() (driver.Begun, error) { return f.Driver.Begin(ctx, b) })
}

// Save implements [driver.Log].
func (f *Faulty) Save(ctx context.Context, s driver.Save) (bool, error) {
	return faulty(f, "Save", func() (bool, error) { return f.Driver.Save(ctx, s) })
}

// Finish implements [driver.Log].
func (f *Faulty) Finish(ctx context.Context, fin driver.Finish) (driver.Finished, error) {
	return faulty(f, "Finish", func() (driver.Finished, error) { return f.Driver.Finish(ctx, fin) })
}

// Append implements [driver.Log].
func (f *Faulty) Append(ctx context.Context, a driver.Append) (driver.Finished, error) {
	return faulty(f, "Append", func() (driver.Finished, error) { return f.Driver.Append(ctx, a) })
}

// Stop implements [driver.Log].
func (f *Faulty) Stop(ctx context.Context, id scrollback.TurnID) error {
	return alone(f, "Stop", func() error { return f.Driver.Stop(ctx, id) })
}

// Commit implements [driver.Log].
func (f *Faulty) Commit(ctx context.Context, c driver.Commit) error {
	return alone(f, "Commit", func() error { return f.Driver.Commit(ctx, c) })
}

// Rewind implements [driver.Log].
func (f *Faulty) Rewind(ctx context.Context, r driver.Rewind) (driver.Head, error) {
	return faulty(f, "Rewind", func() (driver.Head, error) { return f.Driver.Rewind(ctx, r) })
}

// Unfold implements [driver.Log].
func (f *Faulty) Unfold(ctx context.Context, u driver.Unfold) (scrollback.Receipt, error) {
	return faulty(f, "Unfold", func() (scrollback.Receipt, error) { return f.Driver.Unfold(ctx, u) })
}

// Purge implements [driver.Log].
func (f *Faulty) Purge(ctx context.Context, p driver.Purge) (driver.Purged, error) {
	return faulty(f, "Purge", func() (driver.Purged, error) { return f.Driver.Purge(ctx, p) })
}

// PutArtifact implements [driver.Log].
func (f *Faulty) PutArtifact(ctx context.Context, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error {
	return alone(f, "PutArtifact", func() error { return f.Driver.PutArtifact(ctx, a, mentionedBy) })
}

// Head implements [driver.Find].
func (f *Faulty) Head(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	return faulty(f, "Head", func() (driver.Head, error) { return f.Driver.Head(ctx, id) })
}

// Branch implements [driver.Find].
func (f *Faulty) Branch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	return faulty(f, "Branch", func() (scrollback.Branch, error) { return f.Driver.Branch(ctx, id) })
}

// Branches implements [driver.Find].
func (f *Faulty) Branches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	return faulty(f, "Branches", func() ([]scrollback.Branch, error) { return f.Driver.Branches(ctx, id) })
}

// Turn implements [driver.Find].
func (f *Faulty) Turn(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	return faulty(f, "Turn", func() (scrollback.Turn, error) { return f.Driver.Turn(ctx, id) })
}

// LastTurn implements [driver.Find].
func (f *Faulty) LastTurn(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	return faulty(f, "LastTurn", func() (scrollback.Turn, error) { return f.Driver.LastTurn(ctx, id) })
}

// Conversations implements [driver.Find].
func (f *Faulty) Conversations(ctx context.Context, q driver.ListQuery) ([]scrollback.Conversation, error) {
	return faulty(f, "Conversations", func() ([]scrollback.Conversation, error) { return f.Driver.Conversations(ctx, q) })
}

// Projects implements [driver.Find].
func (f *Faulty) Projects(ctx context.Context) ([]scrollback.Project, error) {
	return faulty(f, "Projects", func() ([]scrollback.Project, error) { return f.Driver.Projects(ctx) })
}

// Messages implements [driver.Find].
func (f *Faulty) Messages(ctx context.Context, q driver.MessageQuery) ([]scrollback.Message, error) {
	return faulty(f, "Messages", func() ([]scrollback.Message, error) { return f.Driver.Messages(ctx, q) })
}

// Segments implements [driver.Find].
func (f *Faulty) Segments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	return faulty(f, "Segments", func() ([]scrollback.Segment, error) { return f.Driver.Segments(ctx, ids) })
}

// Refs implements [driver.Find].
func (f *Faulty) Refs(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	return faulty(f, "Refs", func() ([]scrollback.RefEntry, error) { return f.Driver.Refs(ctx, q) })
}

// Receipts implements [driver.Find].
func (f *Faulty) Receipts(ctx context.Context, id scrollback.ConversationID, limit int) ([]scrollback.Receipt, error) {
	return faulty(f, "Receipts", func() ([]scrollback.Receipt, error) { return f.Driver.Receipts(ctx, id, limit) })
}

// Search implements [driver.Find].
func (f *Faulty) Search(ctx context.Context, q driver.SearchQuery) (driver.SearchResult, error) {
	return faulty(f, "Search", func() (driver.SearchResult, error) { return f.Driver.Search(ctx, q) })
}

// Adopt implements [driver.Move].
func (f *Faulty) Adopt(ctx context.Context, a driver.Adopt) error {
	return alone(f, "Adopt", func() error { return f.Driver.Adopt(ctx, a) })
}

// Folds implements [driver.Move].
func (f *Faulty) Folds(ctx context.Context, id scrollback.ConversationID, skip, limit int) ([]scrollback.StoredReceipt, error) {
	return faulty(f, "Folds", func() ([]scrollback.StoredReceipt, error) { return f.Driver.Folds(ctx, id, skip, limit) })
}

// Taken implements [driver.Move].
func (f *Faulty) Taken(ctx context.Context, ids []scrollback.MessageID) (scrollback.MessageID, error) {
	return faulty(f, "Taken", func() (scrollback.MessageID, error) { return f.Driver.Taken(ctx, ids) })
}
