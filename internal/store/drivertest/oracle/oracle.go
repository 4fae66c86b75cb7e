// Package oracle keeps a store's rows in memory: the readable reference of
// the contract in package driver, which others are compared with, and the database of many tests.
//
// One lock is its transaction. A write judges everything first and changes rows
// only once nothing can fail any more, so an error leaves no trace. Rows are
// copied on the way in and on the way out: no caller ever holds what is stored.
//
// Words it adds: thread (a conversation with everything that belongs to it), row (a
// message with the terms it is found by).
//
// Invariants: rows are in the order they were appended, which is what "newest"
// means to a search; a message, a segment and an artifact never change.
//
// It is safe for concurrent use and forgets everything when it is closed. It may
// not know SQL, the clock or how ids are made.
package oracle

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// database is all rows, and what the parts of a driver share.
type database struct {
	mu        sync.RWMutex
	closed    bool
	threads   map[scrollback.ConversationID]*storedConversation
	branches  map[scrollback.BranchID]*branchRow
	turns     map[scrollback.TurnID]*scrollback.Turn
	steps     map[scrollback.TurnID][]scrollback.SentRequest
	segments  map[scrollback.SegmentID]scrollback.Segment
	artifacts map[scrollback.ArtifactID]scrollback.Artifact
	rows      []*messageRow // all messages, in the order they were appended
	kept      []scrollback.Kept
	indexed   indexContent
	vectors   vectorContent

	rowNumbers, branchNumbers int64 // how many were given
	days                      []scrollback.UsageDay
	calls                     []bookedUsage // the records of usage
	imported                  []driver.ImportedCall
	learned                   map[string]scrollback.Learned
	changes                   changeLog
	digests                   digestRows
	met                       []string // the newest last
	projects                  map[string]scrollback.Project
	origins                   []scrollback.Origin // by tool, id and conversation
	purged                    map[[2]string]bool  // by the key of an origin and a project
	aliases                   map[aliasOf]string
	tallies                   map[string]driver.Tally // Most is how much there is
	allowed                   map[scrollback.KeyID]scrollback.KeyLimits
	keys                      []storedKey // in the order they were added
	signIns                   []signIn    // the same
	claims                    map[claimKey]driver.Claim
	readings                  []driver.Reading
	clocks                    map[string]map[string]stamp.Clock // by owner and field
	stones                    map[scrollback.ConversationID]stamp.Stone
	threaded                  *threading.Memory // what requests of clients are matched with
}

// The parts of a driver; each is one of its interfaces over the same rows.
type (
	log    struct{ *database }
	turns  struct{ *database }
	views  struct{ *database }
	index  struct{ *database }
	access struct{ *database }
	admin  struct{ *database }

	threads struct{ *database }
)

// New makes an empty database.
func New() *driver.Driver {
	db := newDatabase()
	return &driver.Driver{Log: log{db}, Turns: turns{db}, Views: views{db}, Index: index{db}, Access: access{db},
		Admin: admin{db}, Threads: threads{db}, Ready: db.checkReady, Close: db.closeDatabase}
}

func newDatabase() *database {
	return &database{
		threads:   map[scrollback.ConversationID]*storedConversation{},
		branches:  map[scrollback.BranchID]*branchRow{},
		turns:     map[scrollback.TurnID]*scrollback.Turn{},
		steps:     map[scrollback.TurnID][]scrollback.SentRequest{},
		segments:  map[scrollback.SegmentID]scrollback.Segment{},
		artifacts: map[scrollback.ArtifactID]scrollback.Artifact{},
		learned:   map[string]scrollback.Learned{},
		changes:   changeLog{committed: make(chan struct{}, 1)},
		digests:   digestRows{},
		projects:  map[string]scrollback.Project{},
		purged:    map[[2]string]bool{},
		aliases:   map[aliasOf]string{},
		tallies:   map[string]driver.Tally{},
		allowed:   map[scrollback.KeyID]scrollback.KeyLimits{},
		claims:    map[claimKey]driver.Claim{},
		clocks:    map[string]map[string]stamp.Clock{},
		stones:    map[scrollback.ConversationID]stamp.Stone{},
		threaded:  threading.NewMemory(),
		indexed:   indexContent{documents: map[driver.Place]driver.Document{}},
		vectors:   vectorContent{at: map[driver.Place]driver.MessageVector{}},
	}
}

// closeDatabase ends the database; every later call is unavailable.
func (db *database) closeDatabase() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.closed = true
	return nil
}

// checkReady implements [driver.Driver]'s Ready.
func (db *database) checkReady(ctx context.Context) error {
	end, err := db.beginWrite(ctx, "oracle.Ready")
	defer end()
	return err
}

// checkUsable says why a call may not continue. The lock is held.
func (db *database) checkUsable(ctx context.Context, op string) error {
	if db.closed {
		return scrollback.Errorf(scrollback.Unavailable, op, "the database is closed")
	}
	return scrollback.Wrap(scrollback.Unavailable, op, ctx.Err())
}

// beginWrite starts a write; the returned function ends it, also after an error.
func (db *database) beginWrite(ctx context.Context, op string) (end func(), err error) {
	db.mu.Lock()
	return func() {
		db.changes.addSilent()
		db.forgetChanged(db.changes.removed)
		db.changes.removed = nil
		db.mu.Unlock()
	}, db.checkUsable(ctx, op)
}

// beginRead starts a read; the returned function ends it, also after an error.
func (db *database) beginRead(ctx context.Context, op string) (end func(), err error) {
	db.mu.RLock()
	return db.mu.RUnlock, db.checkUsable(ctx, op)
}

// changeLog are the newest changes, by number.
type changeLog struct {
	kept      []driver.Change
	committed chan struct{}

	removed       []driver.Change // by this write, because there are too many
	written, told []string        // owners of what this write has written that stores exchange, and those that it tells of
}

// noteWritten notes that this write has written something that stores exchange.
func (cs *changeLog) noteWritten(owner string) { cs.written = append(cs.written, owner) }

// addSilent stores a change for each owner of which this write has written something, and told nothing.
func (cs *changeLog) addSilent() {
	slices.Sort(cs.written)
	for _, owner := range slices.Compact(cs.written) {
		if !slices.Contains(cs.told, owner) {
			cs.addChange(driver.Change{Conversation: scrollback.ConversationID(owner), Kinds: driver.KindSilent})
		}
	}
	cs.written = nil
	cs.told = nil
}

// addChange stores a change, unless it says nothing.
func (cs *changeLog) addChange(c driver.Change) {
	if c.Kinds == 0 {
		return
	}
	if c.N = 1; len(cs.kept) > 0 {
		c.N = cs.kept[len(cs.kept)-1].N + 1
	}
	cs.told = append(cs.told, string(c.Conversation))
	cs.kept = append(cs.kept, c)
	if len(cs.kept) > 2*driver.ChangesKept {
		cs.removed = append(cs.removed, cs.kept[:driver.ChangesKept]...)
		cs.kept = slices.Clone(cs.kept[driver.ChangesKept:])
	}
	select {
	case cs.committed <- struct{}{}:
	default: // the last signal was not read yet
	}
}

// ListChanges implements [driver.Log].
func (db log) ListChanges(ctx context.Context, after int64, limit int) ([]driver.Change, error) {
	end, err := db.beginRead(ctx, "oracle.ListChanges")
	defer end()
	if err != nil {
		return nil, err
	}
	kept := db.changes.kept
	from, found := slices.BinarySearchFunc(kept, after, func(c driver.Change, n int64) int { return cmp.Compare(c.N, n) })
	if found {
		from++
	}
	out := slices.Clone(kept[from:min(len(kept), from+limit)])
	for i := range out {
		if th := db.threads[out[i].Conversation]; th != nil && th.PurgedAt == 0 {
			out[i].Now = &scrollback.ChangedHead{In: th.Project, Title: th.Title, Version: th.Version, Branch: th.Branch,
				Messages: th.Messages, UpdatedAt: th.UpdatedAt, DeletedAt: th.DeletedAt, AgentOf: deepCopy(th.AgentOf)}
		}
	}
	return out, nil
}

// ReadChangeSpan implements [driver.Log].
func (db log) ReadChangeSpan(ctx context.Context) (oldest, newest int64, err error) {
	end, err := db.beginRead(ctx, "oracle.ReadChangeSpan")
	defer end()
	kept := db.changes.kept
	if err != nil || len(kept) == 0 {
		return 0, 0, err
	}
	return kept[0].N, kept[len(kept)-1].N, nil
}

// Committed implements [driver.Log].
func (db log) Committed() <-chan struct{} { return db.changes.committed }
