// Package store keeps conversations: it gives ids and times, validates, pages,
// and turns what the product says into moments that a driver makes durable.
//
// Words it adds: incoming (a message before it has a seq), snapshot (what a
// window is made from), live (not yet folded in the current view), cursor (a
// place in a list, opaque to callers).
//
// Invariants: the log is append-only; reading never writes; what a method
// acknowledged is durable; the weight of a message is computed once, here.
//
// It may not know HTTP, models or budgets; tokens are counted by a function it
// is given.
package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Defaults of turns.
const (
	Lease          = 15 * time.Second // of an open turn; renewed with every save
	IdempotencyAge = 24 * time.Hour   // how long a key is remembered
)

// Store is the store over one database. It is safe for concurrent use.
type Store struct {
	d     driver.Driver
	now   func() time.Time
	newID func() string
	count func(string) int
	image func(width, height int, detail string) int
	lease time.Duration
	learn driver.Learn
}

// Options tune a store; the zero value counts a token every four bytes. Tokens and
// Image are called from several goroutines.
type Options struct {
	Now    func() time.Time
	NewID  func() string // UUIDv7 text
	Tokens func(text string) int
	Image  func(width, height int, detail string) int // tokens of an image
	Lease  time.Duration
	// Learn is a model's factor from the one so far (0 for none), the o200k tokens
	// that were sent and those that the provider reported; nil learns nothing.
	Learn func(was float64, sent, reported int64) float64
}

// New makes a store that writes through d and closes it in the end.
func New(d driver.Driver, o *Options) *Store {
	s := &Store{d: d, now: time.Now, lease: Lease}
	s.newID = func() string { return uuid.Must(uuid.NewV7()).String() }
	s.count = func(t string) int { return (len(t) + 3) / 4 }
	s.image = func(int, int, string) int { return 1000 }
	if o == nil {
		return s
	}
	if o.Now != nil {
		s.now = o.Now
	}
	if o.NewID != nil {
		s.newID = o.NewID
	}
	if o.Tokens != nil {
		s.count = o.Tokens
	}
	if o.Image != nil {
		s.image = o.Image
	}
	if o.Learn != nil {
		s.learn = func(was float64, r scrollback.UsageRecord) float64 {
			return o.Learn(was, r.WindowTokens, r.InputTokens)
		}
	}
	if o.Lease > 0 {
		s.lease = o.Lease
	}
	return s
}

// Close closes the database.
func (s *Store) Close() error { return s.d.Close() }

// Ready says whether the database answers, by a read that finds nothing.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.d.Conversations(ctx, driver.ListQuery{Prefix: "~", Limit: 1})
	return err
}

// Now is the store's clock in Unix ms.
func (s *Store) Now() int64 { return s.now().UnixMilli() }

// NewID makes an id.
func (s *Store) NewID() string { return s.newID() }

// Expired says that a turn is stored open though its owner is gone. Readers show
// it as interrupted; the next turn closes it.
func (s *Store) Expired(t scrollback.Turn) bool {
	return t.State == scrollback.TurnOpen && !driver.Holds(t, s.Now())
}

// Head is a conversation with its current branch.
type Head = driver.Head
