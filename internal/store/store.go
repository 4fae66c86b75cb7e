// Package store keeps conversations: it assigns ids and times, validates, pages, and
// turns what the product does into transactions of a driver.
//
// [Store] has conversations and messages; its fields have the rest, by noun:
// s.Turns.Begin, s.Views.CommitFold, s.Refs.List.
//
// Words it adds: incoming (a message before it has a seq), snapshot (what a
// window is made from), live (not yet folded in the current view), cursor (a
// place in a list, opaque to callers).
//
// Invariants: the log is append-only; reading never writes; what a method
// acknowledged is durable; the weight of a message is computed once, here.
//
// It may not know HTTP, models or budgets; it is given a function that counts tokens.
package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/claims"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/feed"
	"github.com/scrollback-ai/scrollback/internal/store/index"
	"github.com/scrollback-ai/scrollback/internal/store/keyring"
	"github.com/scrollback-ai/scrollback/internal/store/search"
	"github.com/scrollback-ai/scrollback/internal/store/vectors"
)

// Defaults of turns.
const (
	Lease          = 15 * time.Second // of an open turn, renewed with every save, and of background work
	IdempotencyAge = 24 * time.Hour   // how long a key is remembered
)

// Store is the store over one database: conversations and their messages, and the
// parts that the rest is in. It is safe for concurrent use.
type Store struct {
	Turns    Turns            // who answers, until when
	Branches Branches         // the ways a conversation went
	Views    Views            // what branches show: folds
	Refs     Refs             // what conversations mention
	Books    Books            // what models cost, and what is known about them
	Audit    Audit            // whether everything stored is sound, and repairs
	Hashes   Hashes           // whether messages are as they were stored
	Kept     Kept             // what is kept of messages word for word
	Vectors  *vectors.Vectors // what messages mean, as a model of embeddings sees it
	Move     Move             // whole histories on their way from database to database
	Projects Projects         // what conversations are grouped by, and inherit from
	Agents   Agents           // conversations that work for others
	Origins  Origins          // where imported conversations come from
	Threads  Threads          // which conversation a client's request goes on with
	Aliases  Aliases          // ids that were given up
	Feed     *feed.Feed       // what is done to conversations, as it is done

	Keys *keyring.Ring // who may come in besides the operator

	Claims *claims.Registry // which server does a piece of background work

	d     *driver.Driver
	index *index.Index
	now   func() time.Time
	newID func() string
	count func(string) int
	image func(width, height int, detail string) int
	lease time.Duration
	learn driver.FactorUpdate
	texts artifactTexts

	replies lastReplies
}

// The parts of a store.
type (
	// Turns opens turns, and keeps them until they have ended.
	Turns struct{ s *Store }

	// Branches goes back in conversations, and on from there another way.
	Branches struct{ s *Store }

	// Views keeps what branches show: which messages are folded into which segments.
	Views struct{ s *Store }

	// Refs keeps what conversations mention: segments and artifacts.
	Refs struct{ s *Store }

	// Books keeps usage by day, and what servers have taught about their models.
	Books struct{ s *Store }

	// Audit checks everything that is stored, and repairs it.
	Audit struct{ s *Store }

	// Move brings in histories that were made elsewhere, and reads what another database
	// needs of them.
	Move struct{ s *Store }

	// Projects keeps what is stored of projects.
	Projects struct{ s *Store }

	// Agents finds sub-agents, which go to the trash and away with whom they work for.
	Agents struct{ s *Store }

	// Origins keeps where imported conversations come from.
	Origins struct{ s *Store }

	// Threads keeps which conversation a client's request goes on with. A thread has the id of its
	// conversation, the request of a turn that of the turn.
	Threads struct{ s *Store }
)

// Options tune a store; the zero value works. Image is called from several
// goroutines.
type Options struct {
	Now   func() time.Time
	NewID func() string                              // UUIDv7 text
	Image func(width, height int, detail string) int // tokens of an image; nil takes 1000 for each
	Lease time.Duration                              // up to a minute; 0 is the default
	// Learn is a model's factor from the one so far (0 for none), the o200k tokens
	// that were sent and those that the provider reported; nil learns nothing.
	Learn func(was float64, sent, reported int64) float64

	// Text reads the beginning of an artifact, at most that number of bytes, for search: empty if
	// it is not text. It is called from several goroutines. Nil: search reads no artifacts.
	Text func(ctx context.Context, id scrollback.ArtifactID, most int64) (string, error)

	// ReadOnly says that nothing may be written: nobody keeps the search index up to date,
	// and searches read what it lacks.
	ReadOnly bool
}

// New makes a store that writes through d, and closes d when it is closed. tokens counts
// the o200k tokens of a text, in several goroutines at once; a message's weight is stored
// for ever, so New is invalid without tokens or d.
func New(d *driver.Driver, tokens func(text string) int, o *Options) (*Store, error) {
	if d == nil || tokens == nil {
		return nil, scrollback.Errorf(scrollback.Invalid, "store.New", i18n.StoreNeedsDriverAndCounter)
	}
	s := &Store{d: d, now: d.Now, count: tokens, lease: Lease, Feed: feed.New(d)}
	s.Turns = Turns{s}
	s.Branches = Branches{s}
	s.Views = Views{s}
	s.Refs = Refs{s}
	s.Books = Books{s}
	s.Audit = Audit{s}
	s.Move = Move{s}
	s.Projects = Projects{s}
	s.Agents = Agents{s}
	s.Origins = Origins{s}
	s.Threads = Threads{s}
	s.Aliases = Aliases{s}
	s.Hashes = Hashes{s}
	s.Kept = Kept{s, new(atomic.Bool)}
	s.newID = func() string { return uuid.Must(uuid.NewV7()).String() }
	s.image = func(int, int, string) int { return 1000 }
	s.Keys = keyring.New(d.Access, func() time.Time { return s.now() }, s.NewID)
	if o == nil {
		o = &Options{}
	}
	if o.Lease > 0 {
		s.lease = min(o.Lease, driver.LeaseMax*time.Millisecond)
	}
	s.Claims = claims.New(d.Turns, s.Now, s.NewID, s.lease)
	s.Vectors = vectors.New(d.Index)
	s.index = index.New(d.Index, s.texts.readTexts).ShareWork(d, s.Claims)
	if o.Now != nil {
		s.now = o.Now
	}
	if o.NewID != nil {
		s.newID = o.NewID
	}
	if o.Image != nil {
		s.image = o.Image
	}
	if o.Learn != nil {
		s.learn = func(was float64, r scrollback.UsageRecord) float64 {
			return o.Learn(was, r.WindowTokens, r.InputTokens)
		}
	}
	if s.texts.read = o.Text; !o.ReadOnly {
		s.index.Follow()
	}
	return s, nil
}

// Close closes the database.
func (s *Store) Close() error {
	s.index.Close()
	return s.d.Close()
}

// CheckReady returns an error if the database cannot be written and read back.
func (s *Store) CheckReady(ctx context.Context) error { return s.d.Ready(ctx) }

// Now returns the store's clock in Unix ms.
func (s *Store) Now() int64 { return s.now().UnixMilli() }

// NewID makes an id.
func (s *Store) NewID() string { return s.newID() }

// Words that the store shares with its drivers.
type (
	// Head is a conversation with its current branch.
	Head = driver.Head

	// Question makes the vector of a question when a search needs it.
	Question = search.Question

	// VectorLookup is the vectors of messages as one question sees them.
	VectorLookup = vectors.Lookup

	// VectorText is what of a message is to be embedded.
	VectorText = vectors.Text

	// Source is the newest version of something that messages refer to.
	Source = driver.SourceVersion

	// BeginResult is what beginning a turn did.
	BeginResult = driver.BeginResult

	// AppendResult is the head after a write, and the messages that it appended.
	AppendResult = driver.AppendResult

	// FoldCommit is a fold to be stored: new segments, and what the branch then shows.
	FoldCommit = driver.FoldCommit

	// PurgeResult is what a purge removed, and what it left.
	PurgeResult = driver.PurgeResult

	// TitleChange moves a conversation's title on.
	TitleChange = driver.TitleChange

	// Adoption is a batch of a history that was made elsewhere.
	Adoption = driver.Adoption

	// Reading says that messages of a branch were written to another one. It is [driver.Reading].
	Reading = driver.Reading
	// Changed is [driver.Changed].
	Changed = driver.Changed
	// Digests are [driver.Digests].
	Digests = driver.Digests
	// StoredDigest is [driver.StoredDigest].
	StoredDigest = driver.StoredDigest

	// OriginQuery pages through origins.
	OriginQuery = driver.OriginQuery

	// AuditWalk receives the rows of an audit.
	AuditWalk = driver.AuditWalk

	// Flaw is something wrong that only the database itself can see.
	Flaw = driver.Flaw

	// Repair repairs one thing.
	Repair = driver.Repair

	// ViewRepair replaces what a branch shows.
	ViewRepair = driver.ViewRepair

	// UsageRepair names the usage of a model on one day.
	UsageRepair = driver.UsageRepair

	// LostRow names a row to bring back.
	LostRow = driver.LostRow

	// StrayRow is a row that may belong to nothing.
	StrayRow = driver.StrayRow
)

// The kinds of flaw.
const (
	FlawDamage = driver.FlawDamage
	FlawOrphan = driver.FlawOrphan
	FlawHash   = driver.FlawHash
	FlawIndex  = driver.FlawIndex
	FlawUsage  = driver.FlawUsage
)
