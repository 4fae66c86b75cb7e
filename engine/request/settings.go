package request

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/intake"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/lessons"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// ResolverOptions are the options of the engine that the settings of requests depend on.
type ResolverOptions struct {
	Models  func(name string) (model.Model, error)
	Model   string
	Catalog *token.Catalog
	Limit   int64

	DefaultLimit int64 // of models whose own is not configured
	Compaction   PolicySettings
	Projects     map[string]PolicySettings
	Strict       map[string]scrollback.Strictness
	ReplyBounds  model.Bounds
	Agents       bool // sub-agents may be started
	Log          *slog.Logger

	RemoteImages bool // addresses of images go to models
}

// PolicySettings names the policy of conversations without one of their own, and holds
// numbers that replace a policy's own, by their names in the guide to compaction.
type PolicySettings struct {
	Policy  string
	Numbers map[string]float64
}

// Settings is what a request resolves to before anything is read or written.
type Settings struct {
	Model       model.Model
	Facts       model.Facts
	Policy      compact.Policy
	Budget      scrollback.Budget // what may be sent, in o200k tokens; its Reserve is in the model's own
	ModelBudget scrollback.Budget // the same in the model's own tokens, as people see it
	Factor      float64           // the model's tokens per o200k token, for the whole turn
	LimitFrom   scrollback.LimitFrom
	Thinking    scrollback.Thinking
	Learned     scrollback.Learned // of the model, when this was resolved
	Overrides   Overrides          // what the request asked for
	Project     scrollback.Project // what is stored of the conversation's, when this was resolved

	Asked int64                 // tokens of the question that outputs are to stand beside, and of its calls
	Calls []scrollback.ToolCall // recent ones, to which outputs may belong

	inherited int64 // tokens of the project's instructions

	agents bool // it may offer to start sub-agents

	fixed int64 // tokens of instructions, tools, environment, and pinned messages at their most
}

// IntakeRoom returns how much of the window what comes in may take.
func (s *Settings) IntakeRoom() intake.Room {
	return intake.Room{Budget: s.Budget.Tokens, Fixed: s.fixed, Asked: s.Asked, Calls: s.Calls}
}

// maxCalls bounds how many calls are remembered where whole histories come in.
const maxCalls = 128

// RememberCalls notes the calls of a message, to which the outputs after it may belong.
func (s *Settings) RememberCalls(m scrollback.Message) {
	s.Calls = append(s.Calls, m.Parts.Calls()...)
	s.Calls = s.Calls[max(0, len(s.Calls)-maxCalls):]
}

// ModelTokens returns an o200k weight in the model's own tokens.
func (s *Settings) ModelTokens(tokens int64) int64 {
	return int64(math.Round(float64(tokens) * s.Factor))
}

// Overrides overrides a conversation's own settings for one request. Its names in JSON are part of
// the hash of a request that is sent again (see [TurnRequest] of package engine), and stay as they are.
type Overrides struct {
	Model  string `json:"Model"`
	Limit  int64  `json:"Limit"`
	Policy string `json:"Policy"`
	// Compaction replaces numbers of the policy, by their names in the guide to compaction.
	Compaction map[string]float64 `json:"Folding"`

	Thinking scrollback.Thinking `json:"Thinking"`

	// NoRecall offers no tools that look up what was said.
	NoRecall bool `json:"-"`

	// Key is whose usage the request is. The engine sets it to the caller's.
	Key scrollback.KeyID `json:"-"`
}

// smallestLimit is the smallest window, in tokens, in which the fixed layers leave room.
const smallestLimit = 2000

// Resolver finds what requests resolve to. It is safe for concurrent use.
type Resolver struct {
	store   *store.Store
	lessons *lessons.Keeper
	o       ResolverOptions

	mu      sync.Mutex
	weights map[string]scrollback.Weight // of instructions, by text
}

// NewResolver makes a resolver.
func NewResolver(s *store.Store, o ResolverOptions) *Resolver {
	return &Resolver{store: s, o: o, weights: map[string]scrollback.Weight{},
		lessons: lessons.New(s.Books, lessons.Options{Catalog: o.Catalog, Bounds: o.ReplyBounds, Log: o.Log,
			Least: smallestLimit})}
}

// Resolve resolves a request, with what was learned about its model.
func (rs *Resolver) Resolve(ctx context.Context, c scrollback.Conversation, over Overrides) (Settings, error) {
	s, err := rs.chooseForProject(ctx, c, over)
	if err != nil {
		return s, err
	}
	return rs.applyLearned(ctx, c, s)
}

// ResolveTurn resolves a request that begins a turn: if nobody has set the size of the window,
// the model's server is asked for it first. A model that cannot be asked is an error.
func (rs *Resolver) ResolveTurn(ctx context.Context, c scrollback.Conversation, over Overrides) (Settings, error) {
	s, err := rs.chooseForProject(ctx, c, over)
	if err != nil {
		return s, err
	}
	if s.Facts.Unready != nil {
		return s, s.Facts.Unready
	}
	if set, _ := rs.findSetLimit(c, &s); set <= 0 && over.Limit == 0 {
		rs.lessons.AskWindow(ctx, s.Model)
	}
	return rs.applyLearned(ctx, c, s)
}

// CheckConversation returns an error if a conversation's own model, policy or limit cannot be used
// with what is stored of its project. It reads nothing.
func (rs *Resolver) CheckConversation(c scrollback.Conversation, of scrollback.Project) error {
	s, err := rs.chooseModel(c, of, Overrides{})
	if err != nil {
		return err
	}
	return rs.setSizes(c, &s)
}

// chooseModel picks the model and the policy, without reading anything.
func (rs *Resolver) chooseModel(c scrollback.Conversation, of scrollback.Project, over Overrides) (Settings, error) {
	s := Settings{Overrides: over, Project: of, agents: rs.o.Agents}
	var err error
	if s.Model, err = rs.FindModel(cmp.Or(over.Model, c.Model, of.Model, rs.o.Model)); err != nil {
		return s, err
	}
	s.Facts = rs.findFacts(s.Model)
	s.Thinking = over.Thinking.Or(c.Settings.ModelThinking()).Or(of.Settings.ModelThinking())
	if err := s.Thinking.Check(); err != nil {
		return s, err
	}
	configured := rs.o.Projects[c.Project]
	s.Policy, err = compact.FindPolicy(cmp.Or(over.Policy, c.Policy, of.Policy, configured.Policy, rs.o.Compaction.Policy),
		!s.Facts.NoSummaries,
		rs.o.Compaction.Numbers, configured.Numbers, of.Settings.Compaction, c.Settings.Compaction, over.Compaction)
	return s, err
}

// applyLearned adds what was learned about the model, and the sizes that follow from it.
func (rs *Resolver) applyLearned(ctx context.Context, c scrollback.Conversation, s Settings) (Settings, error) {
	var err error
	if s.Learned, err = rs.store.Books.ReadLearned(ctx, s.Facts.Name); err != nil {
		return s, err
	}
	if err := rs.setSizes(c, &s); err != nil {
		return s, err
	}
	s.Factor = cmp.Or(s.Learned.Factor, rs.o.Catalog.Find(s.Facts.Name).Factor)
	s.Budget = s.ModelBudget
	s.Budget.Limit = int64(float64(s.ModelBudget.Limit) / s.Factor)
	s.Budget.Tokens = int64(float64(s.ModelBudget.Tokens) / s.Factor)
	s.fixed = rs.WeighTools(s.Tools(c)).Tokens
	if text := s.Instructions(c); text != "" {
		s.fixed += rs.WeighText(text).Tokens
	}
	if text := s.Project.Instructions; text != "" {
		s.inherited = rs.WeighText(text).Tokens
	}
	if c.Environment != nil {
		s.fixed += rs.WeighText(c.Environment.WholeText()).Tokens
	}
	if len(c.PinnedSeqs) > 0 {
		s.fixed += s.Policy.MaxPinned(s.Budget.Tokens)
	}
	return s, nil
}

// setSizes sets what the model takes, by what is known about it, and its budget.
func (rs *Resolver) setSizes(c scrollback.Conversation, s *Settings) error {
	s.Facts.Dialect.ImageURLs = s.Facts.Dialect.ImageURLs && rs.o.RemoteImages
	s.Facts.Dialect = window.WithStrictness(s.Facts.Dialect, stricterOf(s.Learned.Strict, rs.o.Strict[s.Facts.Name]))
	if most := s.Learned.MaxOutput; most > 0 && (s.Facts.MaxOutput == 0 || most < s.Facts.MaxOutput) {
		s.Facts.MaxOutput = most
	}
	var limit int64
	if limit, s.LimitFrom = rs.findLimit(c, s); s.Overrides.Limit < 0 {
		limit = s.Overrides.Limit
	}
	if limit < smallestLimit {
		return scrollback.ParamErrorf("engine", "limit", i18n.LimitTooSmall, limit,
			smallestLimit)
	}
	s.ModelBudget = window.NewBudget(limit, s.Facts.MaxOutput)
	return nil
}

// findLimit returns the window of a model in tokens, and how it is known. What a server named a
// moment ago when it refused a request takes precedence over everything.
func (rs *Resolver) findLimit(c scrollback.Conversation, s *Settings) (limit int64, from scrollback.LimitFrom) {
	var known int64
	fresh := false
	if s.Learned.Limit > 0 {
		known, fresh = lessons.LearnedWindow(s.Learned, rs.store.Now())
	}
	limit, from = rs.findSetLimit(c, s)
	switch {
	case limit > 0:
	case known > 0:
		limit = known
		from = s.Learned.LimitFrom
	case s.Facts.Limit > 0:
		limit = s.Facts.Limit
		from = scrollback.LimitCatalog
	default:
		limit = token.AssumedLimit
		from = scrollback.LimitAssumed
	}
	if fresh && known < limit {
		limit = known
		from = s.Learned.LimitFrom
	}
	return limit, from
}

// findSetLimit returns the window that somebody has set, and where; 0 if nobody has.
func (rs *Resolver) findSetLimit(c scrollback.Conversation, s *Settings) (int64, scrollback.LimitFrom) {
	switch own := rs.o.Catalog.OwnFacts(s.Facts.Name).Limit; {
	case s.Overrides.Limit > 0:
		return s.Overrides.Limit, scrollback.LimitRequest
	case c.Limit > 0:
		return int64(c.Limit), scrollback.LimitConversation
	case s.Project.Limit > 0:
		return int64(s.Project.Limit), scrollback.LimitProject
	case rs.o.Limit > 0:
		return rs.o.Limit, scrollback.LimitFlag
	case own > 0:
		return own, scrollback.LimitConfig
	default:
		return rs.o.DefaultLimit, scrollback.LimitConfig
	}
}

// stricterOf returns the stricter of two.
func stricterOf(a, b scrollback.Strictness) scrollback.Strictness {
	if a == scrollback.StrictNoSystem || b == scrollback.StrictNothing {
		return a
	}
	return b
}

// WeighTools returns the weight of tool definitions.
func (rs *Resolver) WeighTools(ts []scrollback.Tool) scrollback.Weight {
	defs, err := json.Marshal(ts)
	if err != nil {
		return scrollback.Weight{} // a request with them is refused elsewhere
	}
	return rs.WeighText(string(defs))
}

// WeighText returns the weight of a text that is not a message: needed often, counted once.
func (rs *Resolver) WeighText(text string) scrollback.Weight {
	rs.mu.Lock()
	w, ok := rs.weights[text]
	rs.mu.Unlock()
	if ok {
		return w
	}
	w = window.WeighText(text, token.Count)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(rs.weights) >= 256 {
		clear(rs.weights)
	}
	rs.weights[text] = w
	return w
}

// Tools returns what the model may call. The recall tools, if it is offered them, come first and never change, so
// that every request begins with the same bytes; the tool that starts sub-agents comes after
// them if the conversation has it.
func (s *Settings) Tools(c scrollback.Conversation) []scrollback.Tool {
	var out []scrollback.Tool
	if !s.Overrides.NoRecall {
		out = recall.Tools()
	}
	if s.agents && OffersAgents(c) {
		out = append(out, AgentTool())
	}
	return append(out, c.Settings.Tools...)
}

// ForgetModel forgets what was learned about a model.
func (rs *Resolver) ForgetModel(ctx context.Context, name string) error {
	return rs.lessons.ForgetModel(ctx, name)
}

// NoteUsage notes how a request's usage compares with what was learned about its model.
func (rs *Resolver) NoteUsage(ctx context.Context, settings Settings, u scrollback.Usage) {
	rs.lessons.ForgetOutgrown(ctx, settings.Facts.Name, settings.Learned, u)
}
