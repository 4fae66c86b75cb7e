package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/intake"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/lessons"
	"github.com/scrollback-ai/scrollback/recall"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// resolved is what a request resolves to before anything is read or written.
type resolved struct {
	model       model.Model
	facts       model.Facts
	policy      compact.Policy
	budget      scrollback.Budget // what may be sent, in o200k tokens; its Reserve is in the model's own
	modelBudget scrollback.Budget // the same in the model's own tokens, as people see it
	factor      float64           // the model's tokens per o200k token, for the whole turn
	limitFrom   scrollback.LimitFrom
	thinking    scrollback.Thinking
	learned     scrollback.Learned // of the model, when this was resolved
	over        Overrides          // what the request asked for

	fixed int64 // tokens of instructions, tools, environment, and pinned messages at their most
	asked int64 // tokens of the question that outputs are to stand beside, and of its calls

	calls []scrollback.ToolCall // recent ones, to which outputs may belong
}

// room is how much of the window what comes in may take.
func (s *resolved) room() intake.Room {
	return intake.Room{Budget: s.budget.Tokens, Fixed: s.fixed, Asked: s.asked, Calls: s.calls}
}

// callsMost bounds how many calls are remembered where whole histories come in.
const callsMost = 128

// remember notes the calls of a message, to which the outputs after it may belong.
func (s *resolved) remember(m scrollback.Message) {
	s.calls = append(s.calls, m.Parts.Calls()...)
	s.calls = s.calls[max(0, len(s.calls)-callsMost):]
}

// modelTokens is an o200k weight in the model's own tokens.
func (s *resolved) modelTokens(tokens int64) int64 {
	return int64(math.Round(float64(tokens) * s.factor))
}

// Overrides overrides a conversation's own settings for one request.
type Overrides struct {
	Model  string
	Limit  int64
	Policy string
	// Compaction replaces numbers of the policy, by their names in the guide to compaction.
	Compaction map[string]float64 `json:"Folding"` // see [TurnRequest]

	Thinking scrollback.Thinking
}

// smallestLimit is the smallest window, in tokens, in which the fixed layers leave room.
const smallestLimit = 2000

// resolver finds what requests resolve to. It is safe for concurrent use.
type resolver struct {
	store   *store.Store
	lessons *lessons.Keeper
	o       *Options

	mu      sync.Mutex
	weights map[string]scrollback.Weight // of instructions, by text
}

func newResolver(s *store.Store, o *Options) *resolver {
	return &resolver{store: s, o: o, weights: map[string]scrollback.Weight{},
		lessons: lessons.New(s.Books, lessons.Options{Catalog: o.Catalog, Bounds: o.ReplyBounds, Log: o.Log, Least: smallestLimit})}
}

// resolve resolves a request, with what was learned about its model.
func (rs *resolver) resolve(ctx context.Context, c scrollback.Conversation, over Overrides) (resolved, error) {
	s, err := rs.choose(c, over)
	if err != nil {
		return s, err
	}
	return rs.learned(ctx, c, s)
}

// begin resolves a request that begins a turn: if nobody has set the size of the window,
// the model's server is asked for it first.
func (rs *resolver) begin(ctx context.Context, c scrollback.Conversation, over Overrides) (resolved, error) {
	s, err := rs.choose(c, over)
	if err != nil {
		return s, err
	}
	if set, _ := rs.limitSet(c, &s); set <= 0 && over.Limit == 0 {
		rs.lessons.Ask(ctx, s.model)
	}
	return rs.learned(ctx, c, s)
}

// check returns an error if a conversation's own model, policy or limit cannot be used.
// It reads nothing.
func (rs *resolver) check(c scrollback.Conversation) error {
	s, err := rs.choose(c, Overrides{})
	if err != nil {
		return err
	}
	return rs.size(c, &s)
}

// choose picks the model and the policy, without reading anything.
func (rs *resolver) choose(c scrollback.Conversation, over Overrides) (resolved, error) {
	s := resolved{over: over}
	var err error
	if s.model, err = rs.get(cmp.Or(over.Model, c.Model, rs.o.Model)); err != nil {
		return s, err
	}
	s.facts = rs.facts(s.model)
	s.thinking = over.Thinking.Or(c.Settings.ModelThinking())
	if err := s.thinking.Check(); err != nil {
		return s, err
	}
	s.policy, err = compact.Named(cmp.Or(over.Policy, c.Policy), !s.facts.NoSummaries,
		rs.o.Compaction.Numbers, rs.o.Projects[c.Project].Numbers, c.Settings.Compaction, over.Compaction)
	return s, err
}

// learned adds what was learned about the model, and the sizes that follow from it.
func (rs *resolver) learned(ctx context.Context, c scrollback.Conversation, s resolved) (resolved, error) {
	var err error
	if s.learned, err = rs.store.Books.Learned(ctx, s.facts.Name); err != nil {
		return s, err
	}
	if err := rs.size(c, &s); err != nil {
		return s, err
	}
	s.factor = cmp.Or(s.learned.Factor, rs.o.Catalog.Find(s.facts.Name).Factor)
	s.budget = s.modelBudget
	s.budget.Limit = int64(float64(s.modelBudget.Limit) / s.factor)
	s.budget.Tokens = int64(float64(s.modelBudget.Tokens) / s.factor)
	s.fixed = rs.toolsWeight(tools(c)).Tokens
	if c.Instructions != "" {
		s.fixed += rs.textWeight(c.Instructions).Tokens
	}
	if c.Environment != nil {
		s.fixed += rs.textWeight(c.Environment.Text).Tokens
	}
	if len(c.PinnedSeqs) > 0 {
		s.fixed += s.policy.PinnedBound(s.budget.Tokens)
	}
	return s, nil
}

// size sets what the model takes, by what is known about it, and its budget.
func (rs *resolver) size(c scrollback.Conversation, s *resolved) error {
	s.facts.Dialect = window.Strict(s.facts.Dialect, stricter(s.learned.Strict, rs.o.Strict[s.facts.Name]))
	if most := s.learned.MaxOutput; most > 0 && (s.facts.MaxOutput == 0 || most < s.facts.MaxOutput) {
		s.facts.MaxOutput = most
	}
	var limit int64
	if limit, s.limitFrom = rs.limit(c, s); s.over.Limit < 0 {
		limit = s.over.Limit
	}
	if limit < smallestLimit {
		return scrollback.ParamErrorf("engine", "limit", "a limit of %d tokens is too small: the least is %d", limit, smallestLimit)
	}
	s.modelBudget = window.NewBudget(limit, s.facts.MaxOutput)
	return nil
}

// limit is the window of a model in tokens, and how it is known. What a server named a
// moment ago when it refused a request takes precedence over everything.
func (rs *resolver) limit(c scrollback.Conversation, s *resolved) (limit int64, from scrollback.LimitFrom) {
	var known int64
	fresh := false
	if s.learned.Limit > 0 {
		known, fresh = lessons.Window(s.learned, rs.store.Now())
	}
	limit, from = rs.limitSet(c, s)
	switch {
	case limit > 0:
	case known > 0:
		limit, from = known, s.learned.LimitFrom
	case s.facts.Limit > 0:
		limit, from = s.facts.Limit, scrollback.LimitCatalog
	default:
		limit, from = token.AssumedLimit, scrollback.LimitAssumed
	}
	if fresh && known < limit {
		limit, from = known, s.learned.LimitFrom
	}
	return limit, from
}

// limitSet is the window that somebody has set, and where; 0 if nobody has.
func (rs *resolver) limitSet(c scrollback.Conversation, s *resolved) (int64, scrollback.LimitFrom) {
	switch own := rs.o.Catalog.Own(s.facts.Name).Limit; {
	case s.over.Limit > 0:
		return s.over.Limit, scrollback.LimitRequest
	case c.Limit > 0:
		return int64(c.Limit), scrollback.LimitConversation
	case rs.o.Limit > 0:
		return rs.o.Limit, scrollback.LimitFlag
	default:
		return own, scrollback.LimitConfig
	}
}

// stricter returns the stricter of two.
func stricter(a, b scrollback.Strictness) scrollback.Strictness {
	if a == scrollback.StrictNoSystem || b == scrollback.StrictNothing {
		return a
	}
	return b
}

// policyOf is the policy that a conversation of a project gets when it names none.
func (rs *resolver) policyOf(project string) string {
	return cmp.Or(rs.o.Projects[cmp.Or(project, scrollback.DefaultProject)].Policy, rs.o.Compaction.Policy)
}

// toolsWeight is the weight of tool definitions.
func (rs *resolver) toolsWeight(ts []scrollback.Tool) scrollback.Weight {
	defs, err := json.Marshal(ts)
	if err != nil {
		return scrollback.Weight{} // a request with them is refused elsewhere
	}
	return rs.textWeight(string(defs))
}

// textWeight is the weight of a text that is not a message: needed often, counted once.
func (rs *resolver) textWeight(text string) scrollback.Weight {
	rs.mu.Lock()
	w, ok := rs.weights[text]
	rs.mu.Unlock()
	if ok {
		return w
	}
	w = scrollback.Weight{Tokens: int64(token.Count(text)) + 4, Bytes: int64(len(text))}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(rs.weights) >= 256 {
		clear(rs.weights)
	}
	rs.weights[text] = w
	return w
}

// tools are what the model may call. The recall tools come first and never change, so
// that every request begins with the same bytes.
func tools(c scrollback.Conversation) []scrollback.Tool {
	return append(recall.Tools(), c.Settings.Tools...)
}

// account is the manifest of a window.
func account(c scrollback.Conversation, s resolved, w scrollback.Window, prev *scrollback.WindowMark) scrollback.Manifest {
	m := window.Account(w)
	m.Limit, m.Budget, m.Tokens = s.modelBudget.Limit, s.modelBudget.Tokens, s.modelTokens(m.Tokens)
	for i := range m.Layers {
		l := &m.Layers[i]
		l.Tokens = s.modelTokens(l.Tokens)
		for k := range l.Items {
			l.Items[k].Tokens = s.modelTokens(l.Items[k].Tokens)
		}
	}
	m.ConversationID, m.Model, m.Policy, m.LimitFrom = c.ID, s.facts.Name, s.policy.Name, s.limitFrom
	m.CacheReuse = window.Reuse(prev, w)
	return m
}
