package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"math"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/intake"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/lessons"
	"github.com/scrollback-ai/scrollback/recall"
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
}

// room is how much of the window what comes in may take.
func (s *resolved) room() intake.Room {
	return intake.Room{Budget: s.budget.Tokens, Fixed: s.fixed, Asked: s.asked}
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
	Compaction map[string]float64

	Thinking scrollback.Thinking
}

// smallestLimit is the smallest window, in tokens, in which the fixed layers leave room.
const smallestLimit = 2000

// resolve resolves a request, with what was learned about its model.
func (e *Engine) resolve(ctx context.Context, c scrollback.Conversation, over Overrides) (resolved, error) {
	s, err := e.choose(c, over, scrollback.Learned{})
	if err != nil {
		return s, err
	}
	known, err := e.store.Books.Learned(ctx, s.facts.Name)
	if err != nil {
		return s, err
	}
	if s, err = e.choose(c, over, known); err != nil {
		return s, err
	}
	s.factor = cmp.Or(known.Factor, e.o.Catalog.Find(s.facts.Name).Factor)
	s.budget = s.modelBudget
	s.budget.Limit = int64(float64(s.modelBudget.Limit) / s.factor)
	s.budget.Tokens = int64(float64(s.modelBudget.Tokens) / s.factor)
	s.fixed = e.toolsWeight(tools(c)).Tokens
	if c.Instructions != "" {
		s.fixed += e.textWeight(c.Instructions).Tokens
	}
	if c.Environment != nil {
		s.fixed += e.textWeight(c.Environment.Text).Tokens
	}
	if len(c.PinnedSeqs) > 0 {
		s.fixed += s.policy.PinnedBound(s.budget.Tokens)
	}
	return s, nil
}

// toolsWeight is the weight of tool definitions.
func (e *Engine) toolsWeight(ts []scrollback.Tool) scrollback.Weight {
	defs, err := json.Marshal(ts)
	if err != nil {
		return scrollback.Weight{} // a request with them is refused elsewhere
	}
	return e.textWeight(string(defs))
}

// choose picks the model, the policy and the limit by what is known about the model,
// without reading anything.
func (e *Engine) choose(c scrollback.Conversation, over Overrides, known scrollback.Learned) (resolved, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if n != "" {
				return n
			}
		}
		return ""
	}
	s := resolved{over: over, learned: known}
	var err error
	if s.model, err = e.models.get(first(over.Model, c.Model, e.o.Model)); err != nil {
		return s, err
	}
	s.facts = e.models.facts(s.model)
	s.facts.Dialect = window.Strict(s.facts.Dialect, stricter(known.Strict, e.o.Strict[s.facts.Name]))
	if known.MaxOutput > 0 && (s.facts.MaxOutput == 0 || known.MaxOutput < s.facts.MaxOutput) {
		s.facts.MaxOutput = known.MaxOutput
	}
	s.thinking = over.Thinking.Or(c.Settings.ModelThinking())
	if err := s.thinking.Check(); err != nil {
		return s, err
	}
	if s.policy, err = compact.Named(first(over.Policy, c.Policy), !s.facts.NoSummaries,
		e.o.Compaction.Numbers, e.o.Projects[c.Project].Numbers, c.Settings.Compaction, over.Compaction); err != nil {
		return s, err
	}
	var limit int64
	limit, s.limitFrom = e.limit(c, &s)
	if limit < smallestLimit || over.Limit < 0 {
		return s, scrollback.ParamErrorf("engine", "limit", "a limit of %d tokens is too small: the least is %d", limit, smallestLimit)
	}
	s.modelBudget = window.NewBudget(limit, s.facts.MaxOutput)
	return s, nil
}

// limit is the window of a model in tokens, and how it is known. What a server named a
// moment ago when it refused a request takes precedence over everything.
func (e *Engine) limit(c scrollback.Conversation, s *resolved) (limit int64, from scrollback.LimitFrom) {
	var known int64
	fresh := false
	if s.learned.Limit > 0 {
		known, fresh = lessons.Window(s.learned, e.store.Now())
	}
	limit, from = token.AssumedLimit, scrollback.LimitAssumed
	for _, l := range []struct {
		tokens int64
		from   scrollback.LimitFrom
	}{{s.over.Limit, scrollback.LimitRequest}, {int64(c.Limit), scrollback.LimitConversation}, {e.o.Limit, scrollback.LimitFlag},
		{e.o.Catalog.Own(s.facts.Name).Limit, scrollback.LimitConfig}, {known, s.learned.LimitFrom}, {s.facts.Limit, scrollback.LimitCatalog}} {
		if l.tokens > 0 {
			limit, from = l.tokens, l.from
			break
		}
	}
	if fresh && known < limit {
		limit, from = known, s.learned.LimitFrom
	}
	return limit, from
}

// stricter returns the stricter of two.
func stricter(a, b scrollback.Strictness) scrollback.Strictness {
	if a == scrollback.StrictNoSystem || b == scrollback.StrictNothing {
		return a
	}
	return b
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

// policyOf is the policy that a conversation of a project gets when it names none.
func (e *Engine) policyOf(project string) string {
	return cmp.Or(e.o.Projects[cmp.Or(project, scrollback.DefaultProject)].Policy, e.o.Compaction.Policy)
}
