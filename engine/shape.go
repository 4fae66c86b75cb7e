package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/lessons"
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
	modelBudget scrollback.Budget // the same in the model's own tokens, as people are told
	factor      float64           // of the model's tokens an o200k token, for the whole turn
	limitFrom   scrollback.LimitFrom
	thinking    scrollback.Thinking
	learned     scrollback.Learned // of the model, when the shape was made
	over        Overrides          // what the request asked for

	fixed int64 // tokens of instructions, tools, environment, and pinned messages at their most
	asked int64 // tokens of the question that outputs are to stand beside, and of its calls
}

// leaves is how many tokens of the budget are left for what must stand in the window
// beside the fixed layers and the folded past at its biggest, when some are taken.
func (s resolved) leaves(taken int64) int64 {
	return s.budget.Tokens*3/4 - window.FoldTokens - s.fixed - taken
}

// Overrides overrides a conversation's own settings for one request.
type Overrides struct {
	Model  string
	Limit  int64
	Policy string
	// Folding replaces numbers of the policy, by the names of the guide to folding.
	Folding map[string]float64

	Thinking scrollback.Thinking
}

// smallestLimit is the smallest window, in tokens, that the fixed layers leave
// room in.
const smallestLimit = 2000

// resolve resolves what a request is to be: with what was learned of its model.
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

// toolsWeight is what definitions of tools weigh.
func (e *Engine) toolsWeight(ts []scrollback.Tool) scrollback.Weight {
	defs, err := json.Marshal(ts)
	if err != nil {
		return scrollback.Weight{} // a request with them is refused elsewhere
	}
	return e.textWeight(string(defs))
}

// choose finds the model, the policy and the limit, with what is known of the
// model, without reading anything.
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
	if s.model, err = e.find(first(over.Model, c.Model, e.o.Model)); err != nil {
		return s, err
	}
	s.facts = e.factsOf(s.model)
	s.facts.Dialect = window.Strict(s.facts.Dialect, stricter(known.Strict, e.o.Strict[s.facts.Name]))
	if known.MaxOutput > 0 && (s.facts.MaxOutput == 0 || known.MaxOutput < s.facts.MaxOutput) {
		s.facts.MaxOutput = known.MaxOutput
	}
	s.thinking = over.Thinking.Or(c.Settings.ModelThinking())
	if err := s.thinking.Check(); err != nil {
		return s, err
	}
	if s.policy, err = compact.Named(first(over.Policy, c.Policy), !s.facts.NoSummaries,
		e.o.Compaction.Numbers, e.o.Projects[c.Project].Numbers, c.Settings.Compaction, over.Folding); err != nil {
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

// limit is the window of a model in tokens, and how it is known. What a server
// named a moment ago in refusing a request goes before everything.
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

// find makes a model by its name; an error names those that are close to it.
func (e *Engine) find(name string) (model.Model, error) {
	m, err := e.o.Models(name)
	if err != nil {
		return nil, e.lessons.Nearest(name, err)
	}
	return e.lessons.Model(m), nil
}

// ForgetModel lets what a model's server has taught be learned again: its window, the
// parameters that it refused, and how strict its template is.
func (e *Engine) ForgetModel(ctx context.Context, name string) error {
	if _, err := e.find(name); scrollback.CodeOf(err) == scrollback.Invalid {
		return err
	}
	return e.lessons.Forget(ctx, name)
}

// askList asks a model's server how long its windows are, where nobody says so.
func (e *Engine) askList(ctx context.Context, c scrollback.Conversation, over Overrides) {
	sh, err := e.choose(c, over, scrollback.Learned{})
	if err == nil && (sh.limitFrom == scrollback.LimitCatalog || sh.limitFrom == scrollback.LimitAssumed) {
		e.lessons.Ask(ctx, sh.model)
	}
}

// stricter is the stricter of two.
func stricter(a, b scrollback.Strictness) scrollback.Strictness {
	if a == scrollback.StrictNoSystem || b == scrollback.StrictNothing {
		return a
	}
	return b
}

// tools are what the model may call: the recall tools first, always the same, so
// that the beginning of every request is too.
func tools(c scrollback.Conversation) []scrollback.Tool {
	return append(archive.Tools(), c.Settings.Tools...)
}

// assemble lays out the window of a snapshot.
func (e *Engine) assemble(snap store.Snapshot, s resolved, promptSeq int64) scrollback.Window {
	live, unseen := e.verbatim(snap, s)
	in := window.Input{
		Instructions: snap.Instructions, Tools: tools(snap.Conversation), Segments: snap.Segments,
		Live: live, PromptSeq: promptSeq,
		Budget: s.budget, Dialect: s.facts.Dialect,
	}
	if in.Instructions != "" {
		in.InstructionsWeight = e.textWeight(in.Instructions)
	}
	if env := snap.Environment; env != nil {
		in.Environment, in.EnvironmentWeight = env.Text, e.textWeight(env.Text)
	}
	if snap.Summary != nil {
		in.Summary = &window.Summary{ViewSummary: *snap.Branch.View.Summary, Text: snap.Summary.Summary}
	}
	in.ToolsWeight = e.toolsWeight(in.Tools)
	w := window.Assemble(in)
	for _, m := range unseen {
		w.Excluded = append(w.Excluded, scrollback.Excluded{FirstSeq: m.Seq, LastSeq: m.Seq, Reason: "pinned, and no room"})
	}
	return w
}

// verbatim is the messages that a window shows as they are, oldest first: those that
// are live, those that a fold carries, and as many of the pinned ones, the newest
// first, as their share of the budget takes. Unseen are the pinned ones that it does not
// take.
func (e *Engine) verbatim(snap store.Snapshot, s resolved) (shown, unseen []scrollback.Message) {
	out := slices.Clone(snap.Carried)
	room := s.policy.PinnedBound(s.budget.Tokens)
	for _, m := range slices.Backward(snap.Pinned) {
		if m.Weight.Tokens > room {
			unseen = append(unseen, m)
			continue
		}
		room -= m.Weight.Tokens
		out = append(out, m)
	}
	slices.Reverse(unseen)
	slices.SortFunc(out, func(a, b scrollback.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	return append(out, snap.Live...), unseen
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

// Context is the manifest of the window that the next request would begin with.
// It folds nothing and writes nothing.
func (e *Engine) Context(ctx context.Context, id scrollback.ConversationID) (scrollback.Manifest, error) {
	head, err := e.store.Head(ctx, id)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	sh, err := e.resolve(ctx, head.Conversation, Overrides{})
	if err != nil {
		// A model that is not set up here hides nothing of its conversation.
		assumed := head.Conversation
		assumed.Model, assumed.Policy = "", ""
		if sh, err = e.resolve(ctx, assumed, Overrides{}); err != nil {
			return scrollback.Manifest{}, err
		}
		sh.facts.Name = head.Model
	}
	snap, err := e.snapshot(ctx, head, sh)
	if err != nil {
		return scrollback.Manifest{}, err
	}
	var prev *scrollback.WindowMark
	if last, err := e.store.Turns.Last(ctx, id); err == nil {
		prev = last.Window
	} else if scrollback.CodeOf(err) != scrollback.NotFound {
		return scrollback.Manifest{}, err
	}
	m := account(head.Conversation, sh, e.assemble(snap, sh, 0), prev)
	if snap.More {
		last := snap.Live[len(snap.Live)-1].Seq
		m.Excluded = append(m.Excluded, scrollback.Excluded{FirstSeq: last + 1, LastSeq: head.Messages, Reason: "not folded yet"})
	}
	return m, nil
}

// load is what a window carries, and how much of it could be folded.
func load(snap store.Snapshot, w scrollback.Window, sh resolved) compact.Load {
	b := snap.Branch
	return compact.Load{Window: w.Weight, Budget: sh.budget, Tokens: snap.LiveWeight().Tokens,
		Messages: b.HeadSeq - b.View.Boundary, New: b.HeadSeq - max(b.View.Head, b.View.Boundary)}
}

// shown is a snapshot as it will be after a fold.
func shown(snap store.Snapshot, f compact.Fold) store.Snapshot {
	var carried, pinned, rest []scrollback.Message
	for _, m := range slices.Concat(snap.Pinned, snap.Carried, snap.Live) {
		switch {
		case m.Seq > f.View.Boundary:
			rest = append(rest, m)
		case slices.Contains(f.View.Carried, m.Seq):
			carried = append(carried, m)
		case slices.Contains(snap.PinnedSeqs, m.Seq):
			pinned = append(pinned, m)
		}
	}
	snap.Segments, snap.Carried, snap.Pinned, snap.Live = f.Shown, carried, pinned, rest
	snap.Branch.View.Summary = f.View.Summary
	if v := f.View.Summary; v == nil {
		snap.Summary = nil
	} else if i := slices.IndexFunc(f.Leaves, func(s scrollback.Segment) bool { return s.ID == v.Segment }); i >= 0 {
		snap.Summary = &f.Leaves[i]
	}
	return snap
}

// localize makes a conversation's own fields fit this place: no folders, no limit and no
// reach from elsewhere, and only a model, a policy and numbers that are known here.
func (e *Engine) localize(c *scrollback.Conversation, project string) {
	c.Roots, c.Limit, c.DeletedAt, c.PurgedAt, c.Settings.RecallScope = []string{}, 0, 0, 0, ""
	c.Project = cmp.Or(project, c.Project)
	if c.Settings.ModelThinking().Check() != nil {
		c.Settings.ReasoningEffort, c.Settings.Thinking, c.Settings.ThinkingBudget = "", nil, 0
	}
	if _, err := e.find(c.Model); c.Model != "" && err != nil {
		c.Model = ""
	}
	fits := func(c scrollback.Conversation) bool {
		_, err := e.choose(c, Overrides{}, scrollback.Learned{})
		return err == nil
	}
	if fits(*c) {
		return
	}
	numbers := c.Settings.Compaction
	if c.Settings.Compaction = nil; !fits(*c) {
		c.Policy = e.policyOf(c.Project)
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) { // as many as go together
		was := c.Settings.Compaction
		c.Settings.Compaction = maps.Clone(was)
		if c.Settings.Compaction == nil {
			c.Settings.Compaction = map[string]float64{}
		}
		if c.Settings.Compaction[name] = numbers[name]; !fits(*c) {
			c.Settings.Compaction = was
		}
	}
}
