// Package engine runs conversations: it is the only place where the store, the
// window, compaction, the archive and the models meet.
//
// A turn begins in one transaction, asks the model with a window that fits,
// stores each step before it reports it, and folds after the reply. It continues when
// its caller goes away, and can be followed again later.
//
// Words it adds: live turn (a turn this process runs, with its events so far).
//
// Invariants: every request to a model passes the lint and fits its budget, or
// is not sent; nothing is written for a turn without its lease; two folds of one
// conversation never run at once in a process, and never both commit; every
// loop has a bound.
//
// It may not know HTTP, SQL, a provider's name or wire JSON.
package engine

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/intake"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// Options configure an engine. The zero value works, and has no model to ask.
type Options struct {
	// Models finds a model by its name; an unknown one is invalid. Nil knows none.
	Models func(name string) (model.Model, error)
	// Model is used by conversations that name none. Limit, in tokens, is the window
	// when neither the request nor the conversation sets one; 0 leaves it to the model.
	Model string
	// Catalog knows limits, prices and factors; nil is the built-in one. ModelNames
	// lists the models that are set up here; nil is the default one.
	Catalog    *token.Catalog
	ModelNames func(context.Context) []string

	SummaryModels []string // asked for summaries when the conversation's own model gives none, in order
	Limit         int64

	// DefaultLimit is the window of models for which the catalog has none of the program's
	// own: unlike Limit, it gives way to what is configured for a model.
	DefaultLimit int64

	// SummaryTimeout is how long a turn whose request does not fit waits for summaries,
	// altogether; then the extract stands. 0 is 30 s, and a negative one waits for none. A
	// request that fits does not wait.
	SummaryTimeout time.Duration

	// Compaction applies to conversations without settings of their own. Projects, by
	// project name, takes precedence over it, and what is stored of a project over both.
	Compaction PolicySettings
	Projects   map[string]PolicySettings

	// SideCalls returns the table by which requests of clients are recognised that are no turns; nil is the built-in one.
	SideCalls func() *threading.Table
	// Keep says how far what is kept of people's words goes ([scrollback.Settings]), by project name; the empty
	// name is for all others. What is stored of a project takes precedence.
	Keep map[string]string

	// Titles says where conversations without a title get one. TitleModel is asked for it in
	// place of the model that answered. With NoTitleCalls none is asked here: a program that
	// goes on running does it after the next answer.
	Titles       Titles
	TitleModel   string
	NoTitleCalls bool
	// SpendLimits returns what projects may use in a day; nil sets no limits.
	SpendLimits SpendLimitLookup

	// Embeddings names the model that makes vectors of what people and models say, by which search finds other
	// wording; empty for none. A program that goes on running makes them with KeepVectors.
	Embeddings string

	// Agents says whether models may start sub-agents, and bounds them.
	Agents AgentOptions

	// Eager writes the file of a segment when it is folded instead of when it is first read.
	Eager bool

	// Roots are the folders that the operator grants, to conversations that are told about
	// them and to others; those of Place are granted too.
	Roots []string

	// Place is what conversations are told about where they work; its Now only sets the time
	// zone. Nil tells them nothing.
	Place *workspace.Place

	// Searcher searches the web for requests that ask for it; nil for nobody. WebSearch
	// says whether it does, or the model's server: WebSearchAuto if it is empty.
	Searcher  Searcher
	WebSearch string

	// Strict says, by model name, whose chat templates are strict; what servers refuse
	// is learned in addition.
	Strict map[string]scrollback.Strictness

	ReplyBounds model.Bounds // of one reply of a model; zero fields are the defaults

	Incoming intake.MessageLimits // of one message; zero fields are the defaults

	// Archive reserves a key for a full copy of a conversation that is to be compacted, and
	// returns what writes it afterwards. Nil writes none, whatever conversations ask for.
	Archive func(id scrollback.ConversationID) (key string, write func(context.Context, *View) error)

	HoldEvents        time.Duration // after a turn's end; 5 minutes unless positive
	SaveEvery         time.Duration // of a running turn's draft; 1 s unless positive
	Log               *slog.Logger  // nil discards
	Attended          bool          // the caller sees each failure of a turn, which is then logged for debugging only
	Watch             *watch.Watch  // nil watches nothing
	NoBackgroundFolds bool          // fold only before a request, which then waits
}

// failure returns the level at which something is logged that the events of a turn say too.
func (o Options) failure() slog.Level {
	if o.Attended {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// PolicySettings names a Policy, and holds Numbers that replace its own, by their names in the
// guide to compaction. It is [request.PolicySettings].
type PolicySettings = request.PolicySettings

// Overrides overrides a conversation's own settings for one request: its Model, Limit (the
// window in tokens), Policy, Compaction (numbers of the policy, by name) and Thinking; NoRecall
// offers no tools that look up what was said. Key is set by the engine. It is [request.Overrides].
type Overrides = request.Overrides

// Engine runs conversations over one store. It is safe for concurrent use; any
// number of processes may run engines over the same data.
type Engine struct {
	store     *store.Store
	archive   *archive.Archive
	resolver  *request.Resolver
	compactor *request.Compactor
	intake    *intake.Intake
	previewer *request.Previewer
	grants    *workspace.Grants
	gate      limitGate
	questions questionVectors
	o         Options

	// base ends when the engine closes; what outlives its caller runs on it.
	base    context.Context
	stop    context.CancelCauseFunc
	running sync.WaitGroup
	aside   sync.WaitGroup // what nobody waits for: it is broken off

	mu     sync.Mutex
	closed bool
	turns  map[scrollback.TurnID]*liveTurn
	titles earlyTitles
}

// New makes an engine. Closing the store and the archive, after the engine, is up to
// the caller; neither may be nil.
func New(s *store.Store, a *archive.Archive, o Options) *Engine {
	if o.HoldEvents <= 0 {
		o.HoldEvents = 5 * time.Minute
	}
	if o.SaveEvery <= 0 {
		o.SaveEvery = time.Second
	}
	if o.SummaryTimeout == 0 {
		o.SummaryTimeout = 30 * time.Second
	}
	if o.Catalog == nil {
		o.Catalog = token.NewCatalog(nil)
	}
	if o.Models == nil {
		o.Models = noModels
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.SideCalls == nil {
		o.SideCalls = threading.BuiltInTable
	}
	o.Agents = o.Agents.Complete()
	e := &Engine{store: s, archive: a, o: o, turns: map[scrollback.TurnID]*liveTurn{}}
	e.resolver = request.NewResolver(s, request.ResolverOptions{Models: e.o.Models, Model: e.o.Model,
		Catalog: e.o.Catalog, Limit: e.o.Limit, DefaultLimit: e.o.DefaultLimit, Compaction: e.o.Compaction,
		Projects: e.o.Projects, Strict: e.o.Strict, ReplyBounds: e.o.ReplyBounds,
		RemoteImages: e.o.Incoming.RemoteImages, Agents: o.Agents.Allowed, Log: e.o.Log})
	e.gate = limitGate{e}
	e.compactor = request.NewCompactor(s, a, e.resolver, requestHost{e}, request.CompactorOptions{
		SummaryModels: o.SummaryModels, Eager: o.Eager, Log: e.o.Log, Watch: o.Watch})
	roots := slices.Clone(o.Roots)
	if o.Place != nil {
		roots = append(roots, o.Place.Roots...)
	}
	e.intake = intake.New(s, a, o.Incoming)
	e.grants = workspace.NewGrants(roots)
	e.previewer = request.NewPreviewer(s, request.PreviewerOptions{Archive: a, Resolver: e.resolver,
		Compactor: e.compactor, Intake: e.intake})
	e.base, e.stop = context.WithCancelCause(context.Background())
	return e
}

// requestHost does for compactions what the operator may: whether a caller may was asked before.
type requestHost struct{ e *Engine }

var _ request.Host = requestHost{}

// OpenHead is [request.Host]'s.
func (h requestHost) OpenHead(ctx context.Context, id scrollback.ConversationID) (store.Head, error) {
	return h.e.As(scrollback.Operator()).door.openHead(ctx, id, scrollback.AccessWrite)
}

// CheckBudget is [request.Host]'s.
func (h requestHost) CheckBudget(ctx context.Context, key scrollback.KeyID, project string) error {
	return h.e.gate.checkBudget(ctx, key, project)
}

// ReserveCopy is [request.Host]'s.
func (h requestHost) ReserveCopy(id scrollback.ConversationID) (string, func(context.Context) error) {
	if h.e.o.Archive == nil {
		return "", nil
	}
	key, write := h.e.o.Archive(id)
	return key, func(ctx context.Context) error { return write(ctx, h.e.As(scrollback.Operator())) }
}

// RunAside is [request.Host]'s.
func (h requestHost) RunAside(do func(context.Context)) { h.e.runBeside(do) }

// Close stops the turns that this engine runs, saves what they have written, and
// waits for them until ctx ends.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop(errShutdown)
	err := waitGroup(ctx, &e.running)
	e.mu.Lock()
	for _, lt := range e.turns {
		lt.releaseEngine()
	}
	e.mu.Unlock()
	return scrollback.Wrap(scrollback.Canceled, "engine.Close", cmp.Or(err, waitGroup(ctx, &e.aside)))
}

// Settle waits until no turn runs and nothing is being compacted; if ctx ends first, it
// returns canceled. A program that ends after one turn calls it before Close, which breaks off compactions.
func (e *Engine) Settle(ctx context.Context) error {
	return scrollback.Wrap(scrollback.Canceled, "engine.Settle", waitGroup(ctx, &e.running))
}

// waitGroup waits for a group until ctx ends.
func waitGroup(ctx context.Context, of *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { of.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter registers something that runs, until leave is called. It fails when the engine
// is closing, so that nothing is begun that cannot be finished.
func (e *Engine) enter() (leave func(), err error) { return e.enterGroup(&e.running) }

// enterGroup is enter for what runs in a group.
func (e *Engine) enterGroup(group *sync.WaitGroup) (leave func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, scrollback.Errorf(scrollback.Unavailable, "engine", i18n.EngineIsClosed).
			WithReason(scrollback.ErrClosing)
	}
	group.Add(1)
	return group.Done, nil
}

// runBeside does something that nobody waits for but Settle, unless the engine is closing.
func (e *Engine) runBeside(do func(ctx context.Context)) {
	if leave, err := e.enter(); err == nil {
		go func() { defer leave(); do(e.base) }()
	}
}

// Ready returns an error if the store cannot be written and read back.
func (e *Engine) Ready(ctx context.Context) error { return e.store.CheckReady(ctx) }
